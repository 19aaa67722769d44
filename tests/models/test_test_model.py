"""The model `test`: reviews by rule, writes artifacts, says one line; the same every time, over
the whole path."""

from __future__ import annotations

import difflib
import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from foreword.models import ask
from foreword.models.review_rules import added_lines, review
from tests.corpus import text_of

DIFF = text_of("git/change.diff")


def test_every_line_that_breaks_a_rule_is_a_finding_with_its_place_in_the_new_file() -> None:
    answer = ask("test", "You sit on a panel.", DIFF)
    found = json.loads(answer.text)["findings"]
    assert [(one["severity"], one["file"], one["line"], one["title"]) for one in found] == [
        ("critical", "src/kiln.py", 41, "Hard-coded secret"),
        ("critical", "src/kiln.py", 42, "SQL built from a string"),
        ("high", "src/kiln.py", 43, "eval of a string"),
        ("low", "src/kiln.py", 44, "Unfinished work"),
        ("high", "web/fetch.py", 1, "TLS check switched off"),
    ]
    assert all(one["reason"] for one in found)
    assert answer.input_tokens > 100


def test_a_change_without_faults_has_an_empty_list_of_findings() -> None:
    diff = "--- a/a.py\n+++ b/a.py\n@@ -1 +1 @@\n-print(1)\n+value = 1\n"
    assert json.loads(ask("test", "Report findings.", diff).text)["findings"] == []


def test_the_answer_is_the_same_every_time_and_the_same_when_streamed() -> None:
    heard: list[str] = []
    answers = {
        ask("test", "", DIFF).text,
        ask("test", "", DIFF).text,
        ask("test", "", DIFF, on_text=heard.append).text,
    }
    assert answers == {"".join(heard)}
    assert len(heard) > 20


def test_a_hunk_that_was_cut_does_not_swallow_what_follows_it() -> None:
    diff = (
        "--- a/a.py\n+++ b/a.py\n@@ -1,90 +1,90 @@\n-a\n+eval(a)\n[... 88 more lines of this hunk"
        " left out]\n--- a/b.py\n+++ b/b.py\n@@ -5 +7 @@\n-b\n+eval(b)\n"
    )
    assert [(one["file"], one["line"]) for one in review(diff)] == [("a.py", 1), ("b.py", 7)]


HARMLESS = """\
password = os.environ["PASSWORD"]
token = 16
cursor.execute("SELECT * FROM kilns WHERE id = %s", (kiln,))
model.eval()
verify = True
"""


def test_what_only_looks_like_a_fault_is_no_finding() -> None:
    lines = HARMLESS.splitlines()
    added = "\n".join(f"+{line}" for line in lines)
    assert review(f"--- a/kiln.py\n+++ b/kiln.py\n@@ -0,0 +1,{len(lines)} @@\n{added}\n") == []


words = st.lists(
    st.sampled_from(["keep", "", "+", "-", "++ b", "TODO", "--- a/x", "@@ -1 +1 @@", "\\"]),
    max_size=12,
)


@given(before=words, after=words)
def test_the_lines_that_a_diff_adds_are_those_of_the_new_file(
    before: list[str], after: list[str]
) -> None:
    diff = "\n".join(difflib.unified_diff(before, after, "a/x.py", "b/x.py", lineterm="", n=1))
    for file, line, text in added_lines(f"{diff}\n+ and what follows it"):
        assert (file, text) == ("x.py", after[line - 1])
    assert sum(finding["title"] == "Unfinished work" for finding in review(diff)) <= after.count(
        "TODO"
    )


def lookup(name: str) -> str:
    """Find an artifact by its reference."""
    return f"the text of {name}"


PHASES = [
    (
        "",
        "## Phase 3a: Build\nArtifact `[BUILD-1]`. From [FEAT-1] and [DSG-2]; see [FEAT-1] again.",
        "# [BUILD-1] written in phase 3a",
        ["FEAT-1", "DSG-2"],
    ),
    (
        "As in [ABC-9].\n<artifacts>\n[FEAT-1] Requirements, 412 tokens\n</artifacts>",
        "Do phase 2. Answer with what the phase hands on as [FEAT-2].",
        "# [FEAT-2] written in phase 2",
        ["FEAT-1"],
    ),
    ("", "Phase 1: write the artifact [FEAT-1].", "# [FEAT-1] written in phase 1", []),
    ("", "Do phase 3a of this work, after [FEAT-1].", "# Phase 3a", ["FEAT-1"]),
]


def test_a_phase_looks_up_what_it_is_given_once_and_writes_its_artifact() -> None:
    for instructions, request, title, names in PHASES:
        for listener in (None, lambda text: None):
            answer = ask("test", instructions, request, tools=[lookup], on_text=listener)
            looked_up = ["Looked up:", *(f"- [{name}]: the text of {name}" for name in names)]
            assert answer.text.splitlines() == [
                title,
                "",
                *(looked_up if names else ["Nothing was looked up."]),
            ]
            assert answer.tool_calls == len(names)
    assert "[FEAT-2]" in ask("test", "", "Phase 2 produces [FEAT-2] from [FEAT-1].").text


@pytest.mark.parametrize(
    "request_", ["Which port?\nAnd why?", "", "word " * 500], ids=["two lines", "none", "long"]
)
def test_anything_else_gets_one_line(request_: str) -> None:
    answer = ask("test", "Be brief.", request_)
    assert answer.text.startswith("The model `test` answers by rule and was asked: ")
    assert "\n" not in answer.text
    assert len(answer.text) < 200
