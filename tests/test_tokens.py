"""Counting: what each counter promises, and that nothing is counted twice."""

from __future__ import annotations

import json
import math
import subprocess
import sys
import tracemalloc
from pathlib import Path

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

import foreword
from foreword.errors import UnknownName
from foreword.tokens import (
    COUNTERS,
    ENCODINGS,
    Counter,
    calibrated,
    counter,
    default_window,
    estimate_error,
    for_model,
    model_table,
    new_counter,
    pieces,
    remember_counts,
)
from tests.attacks import sample
from tests.patience import PATIENCE_SECONDS

PROSE = (
    "The tide comes in twice a day, and the boats that were left on the sand are lifted one after"
    " the other. " * 20
)
CODE = (
    """
def window(messages: list[Message], room: int) -> list[Message]:
    \"\"\"The newest messages that fit, whole.\"\"\"
    kept = []
    for message in reversed(messages):
        size = measure(message.text)
        if size > room:
            break
        kept.append(message)
        room -= size
    return list(reversed(kept))

class Window(Section):
    limit = 20

    def __init__(self, name, limit=None):
        super().__init__(name)
        self.limit = limit or self.limit
"""
    * 5
)
JSON = json.dumps(
    [{"id": n, "at": [n * 7, n * 13], "ok": n % 2 == 0, "sku": f"A-{n:05}"} for n in range(200)]
)
CHINESE = "潮水每天来两次,留在沙滩上的船只一艘接一艘地被托起来。渔民在岸边等待。" * 20
KOREAN = "하루에 두 번 밀물이 들어오고 모래 위에 남겨진 배들이 하나씩 떠오른다. " * 20
HEX = " ".join(f"{n * 2654435761 % 2**32:08x}" for n in range(300))


# --- the counters ---------------------------------------------------------------------------------


@given(st.text())
def test_h1_the_estimate_is_characters_by_four_rounded_up(text: str) -> None:
    assert counter("estimate").count(text) == math.ceil(len(text) / 4)


@pytest.mark.parametrize(
    ("text", "o200k", "cl100k"),
    [
        ("", 0, 0),
        ("hello world", 2, 2),
        ("tiktoken is great!", 6, 6),
        ("antidisestablishmentarianism", 6, 6),
        ("2 + 2 = 4", 7, 7),
        ("お誕生日おめでとう", 8, 9),
    ],
)
def test_the_exact_counters_agree_with_published_counts(text: str, o200k: int, cl100k: int) -> None:
    assert (counter("o200k").count(text), counter("cl100k").count(text)) == (o200k, cl100k)
    assert counter("o200k").exact
    assert counter("cl100k").exact


def test_only_the_estimate_says_that_it_is_one() -> None:
    assert not counter("estimate").exact
    assert "estimate" in counter("estimate").describe()
    assert counter("o200k").describe() == "o200k"
    assert "estimate" in counter("o200k").with_margin(1.3).describe()


def test_an_unknown_counter_is_an_error_with_a_suggestion() -> None:
    with pytest.raises(UnknownName, match="did you mean 'o200k'"):
        counter("o20k")


def test_text_that_looks_like_a_special_token_is_only_text() -> None:
    for name in ("o200k", "cl100k"):
        assert counter(name).count("<|endoftext|>") > 1


@pytest.mark.parametrize("name", COUNTERS)
@pytest.mark.parametrize("text", ["a \ud800 b", "\udfff" * 50, "x\x00y" * 50, "\x00"], ids=repr)
def test_lone_surrogates_and_nuls_are_counted(name: str, text: str) -> None:
    assert 0 < new_counter(name).count(text) <= 4 * len(text)


@pytest.mark.parametrize("name", COUNTERS)
@pytest.mark.parametrize("char", ["a", " ", "\n", "=", "界", "\ud800", "\x00"], ids=repr)
def test_a_megabyte_of_one_character_is_counted(name: str, char: str) -> None:
    assert new_counter(name).count(char * 1_000_000) > 1000


# --- units and tokens -----------------------------------------------------------------------------

RATES = st.floats(min_value=0.05, max_value=50, allow_nan=False)


@given(st.integers(0, 10**7), RATES)
@example(3, 1 / 1.1)
@example(10, 1 / 1.6)
@example(7, 4 / 1.3)
def test_room_is_the_most_units_that_still_count_as_so_many_tokens(
    tokens: int, rate: float
) -> None:
    scale = Counter("any", len, units_per_token=rate)
    room = scale.room(tokens)
    assert scale.tokens(room) <= tokens < scale.tokens(room + 1)


@given(st.integers(0, 10**6), st.integers(0, 10**6), RATES)
def test_more_units_are_never_fewer_tokens(units: int, more: int, rate: float) -> None:
    scale = Counter("any", len, units_per_token=rate)
    assert scale.tokens(units) <= scale.tokens(units + more)


@given(st.integers(0, 10**6), st.floats(1.0, 3.0))
def test_a_margin_counts_at_least_that_many_times_more(units: int, margin: float) -> None:
    plain = counter("o200k")
    assert plain.with_margin(margin).tokens(units) >= math.floor(plain.tokens(units) * margin)


# --- learning from usage --------------------------------------------------------------------------


def test_a_calibrated_counter_learns_the_ratio() -> None:
    learnt = calibrated(counter("estimate"), [(1000, 1300), (2000, 2600), (500, 650)])
    assert 1300 <= learnt.tokens(4000) <= 1300 * 1.05
    assert learnt.name == "calibrated"
    assert not learnt.exact


def test_a_calibrated_counter_also_learns_that_the_base_counts_too_much() -> None:
    learnt = calibrated(counter("estimate"), [(1000, 700), (3000, 2100)])
    assert 700 <= learnt.tokens(4000) <= 750


@pytest.mark.parametrize("usage", [[], [(0, 100)], [(100, 0)], [(-5, 3)]])
def test_without_usable_usage_the_base_stays_as_it_is(usage: list[tuple[int, int]]) -> None:
    assert calibrated(counter("o200k"), usage) == counter("o200k")


@given(st.lists(st.tuples(st.integers(1, 10**6), st.integers(1, 10**6)), min_size=1, max_size=20))
@example([(100, 100), (100, 300)])
@example([(100_000, 100_000), (1000, 2000)])
def test_a_calibrated_counter_never_undercounts_what_it_saw(usage: list[tuple[int, int]]) -> None:
    learnt = calibrated(counter("o200k"), usage)
    for counted, reported in usage:
        assert learnt.tokens(counted) >= reported


def test_a_calibrated_counter_keeps_a_package_within_what_the_provider_will_report(
    tmp_path: Path,
) -> None:
    source = tmp_path / "items.json"
    items = [{"kind": "doc", "title": f"d{n}", "text": PROSE} for n in range(10)]
    source.write_text(json.dumps({"items": items}))
    learnt = calibrated(counter("o200k"), [(1000, 1400), (5000, 7000)])
    package = foreword.assemble(
        "package",
        root=tmp_path,
        purpose="design",
        source=source,
        budget=2000,
        counter=learnt,
        save=False,
    )
    assert counter("o200k").count(package.text) * 1.4 <= 2000
    assert package.report.to_dict()["counter"] == "calibrated"


# --- remembering ----------------------------------------------------------------------------------


def test_a_remembered_measure_holds_only_so_many_bytes_however_much_it_is_asked() -> None:
    measure = remember_counts(len, most_bytes=1_000_000)
    tracemalloc.start()
    try:
        for number in range(20_000):
            measure(f"{number} " + "ü\u4e00" * 100)  # two bytes for each character
        held, _ = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert held < 1_500_000


# --- models ---------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("model", "window", "name"),
    [
        ("gpt-4o-mini-2024-07-18", 128_000, "o200k"),
        ("GPT-4O", 128_000, "o200k"),
        ("gpt-4-0613", 8_192, "cl100k"),
        ("gpt-4-turbo-preview", 128_000, "cl100k"),
        ("gpt-4.1-nano", 1_047_576, "o200k"),
        ("openai/gpt-5", 400_000, "o200k"),
        ("openai:o3", 200_000, "o200k"),
        ("anthropic/claude-3-5-sonnet-latest", 200_000, "o200k"),
        ("claude-sonnet-4", 200_000, "o200k"),
    ],
)
def test_a_model_picks_its_window_and_its_counter_by_the_longest_known_beginning(
    model: str, window: int, name: str
) -> None:
    found, counting = for_model(model)
    assert (found, counting.name) == (window, name)


def test_claude_is_counted_with_a_margin_over_o200k() -> None:
    old, new = for_model("claude-3-haiku")[1], for_model("claude-opus-4-1")[1]
    assert 1300 <= old.tokens(1000) < new.tokens(1000) <= 1601
    assert not new.exact


def test_every_model_of_the_table_can_be_used() -> None:
    assert default_window() == 200_000
    for model, row in model_table()["models"].items():
        window, counting = for_model(model)
        assert window == row["window"] > 0
        assert counting.tokens(1000) >= 1000


def test_an_unknown_model_is_an_error_that_says_what_to_give_instead() -> None:
    with pytest.raises(UnknownName, match="--window") as caught:
        for_model("gpt4o")
    assert "gpt-4o" in caught.value.message


# --- the default, and how far the estimate is from it ---------------------------------------------


def test_x1_without_a_name_the_counter_is_exact() -> None:
    assert counter() is counter("o200k")
    assert foreword.fit("Hi", budget=50, save=False).report.to_dict()["counter"] == "o200k"


@pytest.mark.parametrize(
    ("estimated", "exact", "difference"), [(100, 136, "+36%"), (1_000, 980, "-2%"), (0, 0, "+0%")]
)
def test_the_error_of_an_estimate_is_stated_in_percent(
    estimated: int, exact: int, difference: str
) -> None:
    said = estimate_error(estimated, exact)
    assert f"by o200k it is {exact:,} tokens and not {estimated:,} ({difference})" in said


@pytest.mark.parametrize("text", [JSON, CHINESE, KOREAN, HEX, PROSE, CODE])
def test_x1_the_report_of_an_estimate_states_the_exact_count(text: str) -> None:
    budget = counter().count(text) // 3
    estimated = foreword.fit(text, budget=budget, counter="estimate", save=False)
    total, exact = estimated.report.total_tokens, counter().count(estimated.text)
    assert estimate_error(total, exact) in estimated.report.warnings
    assert estimate_error(total, exact) in str(estimated.report)
    assert "estimate" not in str(foreword.fit(text, budget=budget, save=False).report.warnings)


@pytest.mark.parametrize("encoding", ["o200k", "cl100k"])
def test_a_long_text_is_counted_in_pieces_and_comes_to_the_same(encoding: str) -> None:
    from splintr import Tokenizer

    lines = [
        f"def step_{number}(value):  # {number:x}\n    return value * {number} / 7\n\n"
        for number in range(12_000)
    ]
    text = "".join(lines)
    assert len(list(pieces(text))) > 2
    assert "".join(pieces(text)) == text
    whole = Tokenizer.from_pretrained(ENCODINGS[encoding]).encode_ordinary(text)
    assert new_counter(encoding).count(text) == len(whole)


@pytest.mark.attack
@pytest.mark.parametrize("letter", sample(["a", " ", "-", "\n", "漢"], 2))
def test_one_letter_without_an_end_does_not_take_all_memory(letter: str) -> None:
    """A tokenizer takes 75 times the memory of a run without a break, and ends the process where
    there is no more."""
    code = (
        "import resource; resource.setrlimit(resource.RLIMIT_AS, (1 << 30, 1 << 30)); from"
        f" foreword.tokens import new_counter; print(new_counter('o200k').count({letter!r} *"
        " 16_000_000))"
    )
    ran = subprocess.run(
        [sys.executable, "-c", code],
        capture_output=True,
        text=True,
        timeout=PATIENCE_SECONDS,
        check=False,
    )
    assert ran.returncode == 0, ran.stderr[-500:]
    assert int(ran.stdout) > 100_000
