"""A replaced result of a tool takes no more tokens than the agent would have shown, beyond the
documented limits."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from foreword.coding_agents.hook_events import event_of
from foreword.coding_agents.long_results import may_be_large, shorten_result, texts_of
from foreword.store import originals
from foreword.store.urls import open_database
from foreword.tokens import counter

BUDGET = 3_000
SAVED = 1_000
SHOWN_CHARS = 2_000  # what Claude Code shows of a result that it saves
SIZES = (0, 100, 4_000, 7_990, 8_100, 12_000, 20_000, 29_900, 30_100, 45_000, 400_000)
MATERIAL: dict[str, Callable[[int], str]] = {
    "log": lambda number: f"2026-11-18 12:00:{number % 60:02} reading {number} was taken\n",
    "hex": lambda number: f"{number * 2654435761 % 2**32:08x}{number * 40503 % 2**16:04x}\n",
    "chinese": lambda number: f"\u7b2c{number}\u6b21\u70e7\u5236\u6e29\u5ea6\u4e0a\u5347\u3002\n",
    "one line": lambda number: f"{number} words in a line that never ends, ",
    "spaces": lambda number: " " * 200 + "x\n",
    "json": lambda number: json.dumps({"id": number, "text": 'a "quoted"\ttext'}) + "\n",
}


def text_of(kind: str, chars: int) -> str:
    parts = list[str]()
    size = 0
    while size < chars:
        parts.append(MATERIAL[kind](len(parts)))
        size += len(parts[-1])
    return "".join(parts)[:chars]


def responses(text: str) -> dict[str, tuple[str, Any]]:
    """The shapes in which a text comes, with the tool that answers so."""
    blocks = [text[at : at + 400] for at in range(0, len(text), 400)]
    return {
        "stdout": ("Bash", {"stdout": text, "stderr": "", "interrupted": False}),
        "both": ("Bash", {"stdout": text[::2], "stderr": text[1::2], "interrupted": False}),
        "content": ("Grep", {"mode": "content", "content": text}),
        "text": ("mcp__big__text", text),
        "typed": ("mcp__big__typed", json.dumps({"count": 1, "result": text})),
        "blocks": ("mcp__big__blocks", [{"type": "text", "text": part} for part in blocks]),
    }


def tokens_of(tool: str, response: Any) -> int:
    event = event_of({"tool_name": tool, "tool_response": response})
    return sum(map(counter("o200k").count, texts_of(event).values()))


@pytest.mark.parametrize("kind", MATERIAL)
def test_a_replacement_is_within_its_limit_and_small_results_are_untouched(
    tmp_path: Path, kind: str
) -> None:
    replaced = 0
    for size in SIZES:
        text = text_of(kind, size)
        for shape, (tool, response) in responses(text).items():
            event = event_of({"tool_name": tool, "tool_response": response})
            chars = sum(map(len, texts_of(event).values()))
            answer = None
            if may_be_large(event, BUDGET):
                answer = shorten_result(event, tmp_path, BUDGET)
            if answer is None:
                continue
            replaced += 1
            was = tokens_of(tool, response)
            now = tokens_of(tool, answer["updatedToolOutput"])
            assert was > BUDGET or chars > 28_000, (shape, size)
            assert now < was, (shape, size)
            assert now <= (SAVED if chars > 30_000 else BUDGET), (shape, size)
    assert replaced


@pytest.mark.parametrize("kind", MATERIAL)
def test_a_result_that_the_agent_has_saved_takes_little_more_than_what_it_shows(
    tmp_path: Path, kind: str
) -> None:
    text = text_of(kind, 60_000)
    saved = tmp_path / "out.txt"
    saved.write_text(text, "utf-8")
    response = {"stdout": text[:SHOWN_CHARS], "stderr": "", "persistedOutputPath": str(saved)}
    event = event_of({"tool_name": "Bash", "tool_response": response})
    assert may_be_large(event, BUDGET)
    answer = shorten_result(event, tmp_path, BUDGET)
    assert answer is not None
    assert 0 < tokens_of("Bash", answer["updatedToolOutput"]) <= SAVED
    assert str(saved) in answer["updatedToolOutput"]["stdout"]


@pytest.mark.parametrize("kind", MATERIAL)
def test_only_a_result_within_its_limit_is_called_small(kind: str) -> None:
    for size in (0, 100, 2_000, 2_900, 5_000, 8_000):
        response = {"stdout": text_of(kind, size), "stderr": ""}
        event = event_of({"tool_name": "Bash", "tool_response": response})
        if not may_be_large(event, BUDGET):
            assert tokens_of("Bash", response) <= BUDGET
        else:
            assert size > 1_000


def test_few_characters_of_many_tokens_are_large(tmp_path: Path) -> None:
    text = "".join(chr(0x20000 + number * 7919 % 42_000) for number in range(1_990))
    response = {"stdout": text, "stderr": ""}
    assert tokens_of("Bash", response) > BUDGET
    event = event_of({"tool_name": "Bash", "tool_response": response})
    assert may_be_large(event, BUDGET)
    answer = shorten_result(event, tmp_path, BUDGET)
    assert answer is not None
    assert tokens_of("Bash", answer["updatedToolOutput"]) <= BUDGET


@pytest.mark.parametrize(("count", "words"), [(60, 60), (300, 30), (2_000, 10)])
def test_of_too_many_texts_for_marks_one_excerpt_is_left_with_the_whole_behind_it(
    tmp_path: Path, count: int, words: int
) -> None:
    texts = [f"line {number} " + "abc def ghi " * words for number in range(count)]
    response = [{"type": "text", "text": text} for text in texts]
    event = event_of({"tool_name": "mcp__big__blocks", "tool_response": response})
    answer = shorten_result(event, tmp_path, BUDGET)
    assert answer is not None
    updated = answer["updatedToolOutput"]
    assert [block["type"] for block in updated] == ["text"] * count
    assert {block["text"] for block in updated[1:]} == {""}
    assert tokens_of("mcp__big__blocks", updated) <= SAVED
    (handle,) = set(re.findall(r"fw_\w+", updated[0]["text"]))
    with closing(open_database(None, tmp_path)) as db:
        assert originals.read_one(db, handle).decode() == "\n".join(texts)
        assert db.rows("SELECT count(*) FROM originals")[0][0] == 1


def test_a_typed_answer_of_which_more_than_one_field_is_long_is_cut_as_text(
    tmp_path: Path,
) -> None:
    text = json.dumps({"content": "word \n" * 9_000, "lines": list(range(1_500))})
    event = event_of({"tool_name": "mcp__big__typed", "tool_response": text})
    answer = shorten_result(event, tmp_path, BUDGET)
    assert answer is not None
    assert tokens_of("mcp__big__typed", answer["updatedToolOutput"]) <= SAVED


def test_nothing_is_stored_where_a_mark_is_longer_than_the_text(tmp_path: Path) -> None:
    response = {"stdout": "a b c d e f g h i j k l", "stderr": ""}
    event = event_of({"tool_name": "Bash", "tool_response": response})
    assert shorten_result(event, tmp_path, 10) is None
    assert not list(tmp_path.iterdir())
