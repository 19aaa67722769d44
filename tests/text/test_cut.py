"""The three ways to shorten a text, by a count of characters and by a real tokenizer."""

from __future__ import annotations

import json
import random
import re
from itertools import pairwise
from typing import Protocol

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from splintr import Tokenizer

from foreword.text import cut
from tests.corpus import text_of
from tests.examples import examples

TOKENIZER = Tokenizer.from_pretrained("o200k_base")


class Way(Protocol):
    """One of the three ways to shorten a text."""

    def __call__(
        self, text: str, room: int, measure: cut.Measure, mark: cut.Mark, *, query: str = ""
    ) -> str | None: ...


WAYS: list[Way] = [cut.summary, cut.relevant, cut.excerpt]
QUERY = "why does the harbour pump report E-77"


def tokens(text: str) -> int:
    return len(TOKENIZER.encode_ordinary(text))


def mark(lines: int, units: int) -> str:
    return f"[... {lines} lines, {units} tokens left out: recall fw_1]"


def prose(sections: int = 40, seed: int = 1) -> str:
    pick = random.Random(seed)
    nouns = "harbour pump valve ledger sensor crane permit tide crew engine report budget".split()
    verbs = "needs moves blocks requires delays replaces records checks repairs ignores".split()

    def sentence() -> str:
        words = [
            pick.choice(nouns),
            pick.choice(verbs),
            "the",
            pick.choice(nouns),
            str(pick.randint(2, 99)),
        ]
        return " ".join(["The", *words, *pick.sample(nouns, pick.randint(0, 6))]) + "."

    parts = ["# Port"]
    for number in range(sections):
        parts += [f"## Part {number}", " ".join(sentence() for _ in range(pick.randint(2, 6)))]
        parts += ["\n".join(f"- {sentence()}" for _ in range(pick.randint(1, 5)))]
    return "\n\n".join(parts) + "\n"


PICK = random.Random(7)
TEXTS = {
    "prose": prose(),
    "one line": prose().replace("\n", " "),
    "json": json.dumps(
        [{"id": n, "name": f"item {n}", "tags": ["a", "b"], "at": n * 1.5} for n in range(400)],
        indent=1,
    ),
    "json line": json.dumps(
        [{"id": n, "name": f"item {n}", "deep": {"x": [n, n + 1]}} for n in range(400)]
    ),
    "hex": PICK.randbytes(12_000).hex(),
    "cjk": "".join(f"港口第{n}号泵需要检查，因为传感器报告了错误。" for n in range(600)),
    "code": "".join(f"def step_{n}(value):\n    return value + {n}\n\n\n" for n in range(300)),
    "windows": prose(seed=3).replace("\n", "\r\n"),
}
ROWS = [
    "# Top",
    "## Sub",
    "A sentence. Another one, longer than the first!",
    "- item with `code`",
    "  - sub item",
    "```",
    "x = 1\n",
    "> quoted",
    "漢字です。二つ目。",
    "---",
    "<!-- note -->",
    "</TAG>",
    "",
]
MARKDOWN = st.lists(
    st.sampled_from([*ROWS, "| a | b |", "|---|---|", "| 1 | 2 |", "word " * 40]),
    max_size=60,
).map("\n".join)


@pytest.mark.parametrize("way", WAYS)
@given(
    text=MARKDOWN | st.text(max_size=400),
    room=st.integers(-5, 300),
    exactly=st.booleans(),
    query=st.sampled_from(["", QUERY]),
)
@settings(max_examples=examples(25), deadline=None)
def test_a_cut_is_never_larger_than_its_room(
    way: Way, text: str, room: int, exactly: bool, query: str
) -> None:
    measure = tokens if exactly else len
    short = way(text, room, measure, mark, query=query)
    if measure(text) <= max(0, room):
        assert short is text
    elif short is not None:
        assert 0 < measure(short) <= room
        assert mark(0, 0)[:5] in short
    assert short == way(text, room, measure, mark, query=query)


PIECE = 45  # tokens: a member, a function or a sentence is not torn to use what is left


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("name", TEXTS)
@pytest.mark.parametrize("room", [200, 1000])
def test_the_room_is_filled(way: Way, name: str, room: int) -> None:
    for query in ("", QUERY):
        short = way(TEXTS[name], room, tokens, mark, query=query)
        assert short is not None
        assert room - max(0.1 * room, PIECE) <= tokens(short) <= room


@pytest.mark.parametrize("way", WAYS)
def test_what_the_query_names_survives(way: Way) -> None:
    needle = "Error E-77 means the inlet is dry."
    text = TEXTS["prose"].replace("## Part 31", f"## Part 31\n\n{needle}")
    assert needle in (way(text, 250, tokens, mark, query=QUERY) or "")


def test_a_summary_keeps_headings_only_with_something_under_them() -> None:
    short = cut.summary(TEXTS["prose"], 400, tokens, mark) or ""
    lines = [line for line in short.splitlines() if line]
    assert lines[0] == "# Port"
    assert lines[-1].startswith("[... ")
    assert not any(
        one.startswith("## ") and two.startswith(("## ", "[... ")) for one, two in pairwise(lines)
    )


def test_a_summary_ends_with_the_mark_that_says_how_much_is_missing() -> None:
    short = cut.summary(TEXTS["prose"], 400, tokens, mark) or ""
    assert short.count("left out") == 1
    assert short.splitlines()[-1].startswith("[... ")


def test_an_excerpt_opens_and_closes_like_the_text() -> None:
    text = TEXTS["prose"]
    short = cut.excerpt(text, 600, tokens, mark) or ""
    opening, rest = short.split("\n[... ", 1)
    assert text.startswith(opening)
    assert 0.25 <= tokens(opening) / 600 <= 0.4
    closing = rest.rsplit("[...]\n", 1)[1]
    assert text.endswith(closing)
    assert 0.14 <= tokens(closing) / 600 <= 0.35


def test_the_mark_says_how_much_is_missing() -> None:
    arguments: list[tuple[int, int]] = []

    def recording_mark(lines: int, units: int) -> str:
        arguments.append((lines, units))
        return mark(lines, units)

    cut.summary(TEXTS["prose"], 300, tokens, recording_mark)
    lines, units = arguments[-1]
    assert units == pytest.approx(tokens(TEXTS["prose"]) - 300, abs=60)
    assert 0 < lines < TEXTS["prose"].count("\n")


def test_relevant_passages_bring_their_heading_and_the_head_of_their_table() -> None:
    rows = "".join(f"| part {n} | {n * 7} |\n" for n in range(200))
    text = (
        f"# Stock\n\n## Spare parts\n\n| Name | Count |\n|------|-------|\n{rows}\n##"
        f" Other\n\n{TEXTS['prose']}"
    )
    short = cut.relevant(text, 120, tokens, mark, query="how many of part 133") or ""
    assert short.startswith("# Stock\n\n## Spare parts\n\n| Name | Count |\n|------|-------|\n")
    assert "| part 133 | 931 |" in short


def test_part_of_a_code_block_wears_its_fences() -> None:
    text = (
        "# Setup\n\n```sh\n"
        + "".join(f"run step-{n} --fast\n" for n in range(300))
        + "```\n\nThe end.\n"
    )
    short = cut.relevant(text, 150, tokens, mark, query="step-250") or ""
    assert "run step-250 --fast" in short
    assert short.count("```") == 2


def test_without_a_query_relevant_is_the_summary() -> None:
    assert cut.relevant(TEXTS["prose"], 300, tokens, mark) == cut.summary(
        TEXTS["prose"], 300, tokens, mark
    )


def test_a_room_for_no_more_than_the_mark_gives_nothing() -> None:
    assert all(way(TEXTS["prose"], 12, tokens, mark, query=QUERY) is None for way in WAYS)


def test_a_text_of_many_megabytes_keeps_its_opening_its_needle_and_its_closing() -> None:
    line = "nothing of note happened on this day at the port\n"
    text = "FIRST\n" + line * 40_000 + "pump E-77 failed\n" + line * 40_000 + "LAST\n"
    short = cut.excerpt(text, 1500, len, mark, query=QUERY) or ""
    assert short.startswith("FIRST\n")
    assert "pump E-77 failed" in short
    assert short.endswith("LAST\n")


def test_the_middle_of_a_book_comes_from_all_of_it_and_what_answers_is_found_anywhere() -> None:
    book = prose(1_000)
    needles = [f"At dawn pump E-77 tripped breaker {number}." for number in range(1, 8)]
    parts = book.split("\n\n## ")
    for number, needle in enumerate(needles, 1):
        parts[number * len(parts) // 8] += f"\n\n{needle}"
    book = "\n\n## ".join(parts)
    assert len(book) > 300_000
    answer = cut.excerpt(book, 20_000, len, mark, query=QUERY) or ""
    assert [needle for needle in needles if needle not in answer] == []
    excerpt = cut.excerpt(book, 20_000, len, mark) or ""
    chapters = {int(number) * 8 // 1_000 for number in re.findall(r"## Part (\d+)", excerpt)}
    assert chapters == set(range(8))


WRAPPED = text_of("forms/wrapped.md")
BEGINNINGS = (
    "## ",
    "- Built",
    "- Pinned",
    "Litestream",
    "On the",
    "Restoring",
    "It converts",
    "Exported",
    "The lock",
    "It was",
)


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("query", ["", "tables, packages and the result for Renske"])
def test_a_kept_piece_begins_where_the_author_began_a_sentence(way: Way, query: str) -> None:
    flat = " ".join(WRAPPED.split())
    for room in range(60, 800, 7):
        short = way(WRAPPED, room, len, mark, query=query) or ""
        unmarked = re.sub(r"\[\.\.\.[^\]\n]*\]| \.\.\.(?=\s)", "\0", short)
        for run in filter(str.strip, re.split(r"\0|\n\n", unmarked)):
            kept = " ".join(run.split())
            assert kept.startswith(BEGINNINGS)
            assert kept in flat or all(
                part in flat for part in re.split(r"(?<=\.) (?=[A-Z-])", kept)
            )


@pytest.mark.parametrize("way", WAYS)
def test_a_later_sentence_of_a_list_item_comes_with_the_first(way: Way) -> None:
    seen = set()
    for room in range(60, 800, 7):
        short = way(WRAPPED, room, len, mark, query="tables, packages and a clean machine") or ""
        for later, first in [
            ("keeps their tables", "- Built"),
            ("35 packages", "- Pinned"),
            ("clean", "- Pinned"),
        ]:
            if later in short:
                assert first in short[: short.index(later)]
                seen.add(later)
    assert len(seen) == 3


def test_a_sentence_larger_than_the_room_is_left_out_and_not_torn() -> None:
    text = "The pump " + "and the valve " * 60 + "failed. The crane waits for the tide. " * 3
    short = cut.summary(text, 60, tokens, mark) or ""
    assert "The pump and" not in short
    assert "The crane waits for the tide." in short


def test_a_sentence_is_not_cut_short_inside_code_or_brackets() -> None:
    text = (
        "Call the function `reserve(quarters, member, clock)` once (and never `twice in a row`) for"
        " each request. " * 9
    )
    for room in range(70, 400, 3):
        for part in re.findall(r"[^.]+(?= \.\.\.)", cut.summary(text, room, len, mark) or ""):
            assert part.count("`") % 2 == 0
            assert part.count("(") == part.count(")")


def test_a_part_of_an_endless_line_comes_with_the_head_of_the_line() -> None:
    line = "start of the line; " + "".join(f"field {n} holds {n * 7}; " for n in range(400))
    short = cut.relevant(line, 150, tokens, mark, query="what does field 333 hold") or ""
    assert short.startswith("start of the line;")
    assert "[...]" in short[: short.index("field 333 holds 2331")]


def test_a_sentence_of_a_few_words_comes_with_the_one_before_it() -> None:
    text = (
        "The deploy builds in a container, copies the folder and moves the link. 1.5 s in all. "
        + WRAPPED
    )
    shorts = [
        cut.summary(text, room, len, mark, query="how many s in all") or ""
        for room in range(70, 600, 7)
    ]
    assert any("1.5 s in all." in short for short in shorts)
    assert all("moves the link. 1.5 s" in short for short in shorts if "1.5 s in all." in short)


def test_the_summary_of_a_test_run_says_what_failed_where_there_is_room_for_a_line_or_two() -> None:
    passed = "\n".join([f"tests/test_{at}.py ....... [{at}%]" for at in range(1, 90)])
    log = (
        f"===== test session starts =====\nplatform linux -- Python 3.11\n{passed}\n"
        "===== short test summary info =====\n"
        "FAILED tests/test_pdf.py::test_table - assert 2 == 1\n1 failed, 890 passed in 12.1s\n"
    )
    short = cut.summary(log, 260, len, mark, query="write the README for the linux tests")
    assert short is not None
    assert "FAILED tests/test_pdf.py::test_table - assert 2 == 1" in short


def test_the_outline_of_a_module_begins_with_what_it_says_of_itself_and_what_others_may_call() -> (
    None
):
    body = "    total = 0\n    for each in range(9):\n        total += each\n    return total\n"
    private = "".join([f'def _step_{at}() -> int:\n    """Sum up."""\n{body}\n' for at in range(9)])
    module = (
        '"""Bills, in cents."""\n\n'
        "# What the tax office asks for: a bill over this needs a name, and one below it none,\n"
        "# but it may have one.\n"
        f'LIMIT = 250_00\n\n{private}def bill() -> int:\n    """What is to be paid."""\n{body}'
    )
    short = cut.summary(module, 240, len, mark, name="bills.py")
    assert short is not None
    assert short.startswith('"""Bills, in cents."""')
    assert "def bill() -> int:" in short
    assert "LIMIT" not in short


def test_sources_and_licenses_come_last_in_a_summary() -> None:
    paragraph = "The pump {} must be opened with key {} before the valve is closed.\n\n"
    parts = [f"## Part {at}\n\n{paragraph.format(at, at)}" for at in range(1, 9)]
    sources = "## Sources\n\n### Primary\n\n" + "".join(
        [f"- `docs/pump-{at}.md`: PUMP-{at} must never fail, error {at}00\n" for at in range(1, 9)]
    )
    text = f"# Pumps\n\n{''.join(parts)}{sources}"
    short = cut.summary(text, len("".join(parts)), len, mark)
    assert short is not None
    assert "## Sources" not in short


def test_a_summary_says_what_was_decided_before_it_repeats_or_announces() -> None:
    decision = "The cache must never hold more than 512 entries because `evict_oldest` is linear."
    announced = "In this section we will look at the cache."
    liked = "People like caches, and they say so on many a day of the week."
    text = f"# Cache\n\n{announced}\n\n{liked}\n\n{decision}\n\n{liked}\n\n{decision}\n"
    short = cut.summary(text, len(f"# Cache\n\n{decision}") + 75, len, mark) or ""
    assert short.count(decision) == 1
    assert announced not in short
