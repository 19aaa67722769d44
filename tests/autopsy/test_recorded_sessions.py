"""`foreword autopsy` on real sessions: its figures against the lines of the files themselves, read
here with nothing of Foreword's."""

from __future__ import annotations

import gzip
import json
import re
from collections import Counter
from pathlib import Path
from typing import Any

import pytest

from tests.command import run_in_process

RECORDED = Path(__file__).parents[2].parent / "shared" / "recorded" / "transcripts"
# Tokens at the compaction, names that were needed afterwards, those of them that the summary has
# not, and what it says that nobody had said. Each of the last two is looked up in the lines below;
# how many were needed is what it counted. In the first, words that the summary quotes of the user
# are in the result of a tool alone, which proves nothing about the user.
FIGURES = {
    "full-0": (170_485, 44, 27, 4),
    "full-1": (167_091, 88, 30, 2),
    "full-2": (157_692, 27, 10, 0),
}

pytestmark = pytest.mark.skipif(not RECORDED.is_dir(), reason="needs the recordings beside it")


def strings(value: object) -> list[str]:
    """Every text in a value."""
    if isinstance(value, str):
        return [value]
    if isinstance(value, dict):
        value = list(value.values())
    return [text for one in value for text in strings(one)] if isinstance(value, list) else []


def said(rows: list[dict[str, Any]]) -> str:
    """What stands in the messages of some lines, and what was queued for the model."""
    texts = [strings(row["message"].get("content")) for row in rows if "message" in row]
    texts += [strings(row.get("content")) for row in rows if row["type"] == "queue-operation"]
    return "\n".join(text for each in texts for text in each)


def occurs(name: str, text: str) -> bool:
    """Whether a name is in a text, and not inside a longer one."""
    return re.search(rf"(?<!\w){re.escape(name)}(?!\w)", text) is not None


def reads(rows: list[dict[str, Any]]) -> Counter[str]:
    """How often each file was read."""
    found = Counter[str]()
    for row in rows:
        content = row.get("message", {}).get("content")
        for block in content if isinstance(content, list) else []:
            if block.get("type") == "tool_use" and block["name"] == "Read":
                found[block["input"]["file_path"]] += 1
    return found


@pytest.mark.parametrize("name", FIGURES)
def test_its_figures_are_those_of_the_file(name: str) -> None:
    file = RECORDED / f"{name}.jsonl.gz"
    with gzip.open(file, "rt") as lines:
        rows = [json.loads(line) for line in lines]
    at = next(i for i, row in enumerate(rows) if row.get("subtype") == "compact_boundary")
    summary = next(row for row in rows if row.get("isCompactSummary"))["message"]["content"]
    before, after = rows[:at], rows[at + 2 :]
    ran = run_in_process("autopsy", file, "--format", "json")
    (found,) = json.loads(ran.out)["sessions"][0]["compactions"]
    tokens, needed, lost, invented = FIGURES[name]
    assert found["tokens_before"] == rows[at]["compactMetadata"]["preTokens"] == tokens
    assert (found["needed"], len(found["losses"])) == (needed, lost)
    assert found["kept"] == needed - lost
    for loss in found["losses"]:
        text = loss["text"].removesuffix("()")
        assert occurs(text, said(before)), loss
        assert not occurs(text, summary), loss
        assert occurs(text, said(after)), loss
    assert len(found["invented"]) == invented
    for claim in found["invented"]:
        assert claim in summary
        assert claim not in said(before) or " " in claim  # of the user, in a tool's result
    again = {each["path"]: each["times"] for each in found["reread"]}
    known = reads(before)
    assert again == {path: times for path, times in reads(after).items() if path in known}
