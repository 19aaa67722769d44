"""Whether a summary says only what was said, seen through `check_against`."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from foreword.compression.check import check_against, evidence_of, mark_unproven, strike_unproven
from foreword.compression.extract import summarize
from foreword.messages.message import Message
from foreword.messages.parts import Text, ToolCall, ToolResult
from foreword.tokens import counter
from tests.corpus import rows

HISTORY = [
    Message("user", (Text("Please don't amend commits - it messes with the workflows."),)),
    Message(
        "assistant",
        (
            Text("The cache in /work/app/src/cache/store.go loses entries."),
            ToolCall("1", "Bash", '{"command": "go test ./src/cache -run TestEvict\\necho done"}'),
        ),
    ),
    Message("tool", (ToolResult("1", "--- FAIL: TestEvict (0.02s)\n  1,482 entries, 91.5% full"),)),
    Message("assistant", (Text("evictOldest() never runs; commit 23c05e9d41 removed the call."),)),
]
EVIDENCE = evidence_of(HISTORY)


def unproven(summary: str) -> list[tuple[str, str]]:
    return [(claim.kind, claim.text) for claim in check_against(summary, EVIDENCE).unproven]


@pytest.mark.parametrize(
    "summary",
    [
        "- `src/cache/store.go` loses entries, and so does store.go elsewhere",
        "- TestEvict fails, `evictOldest()` is never called since 23c05e9",
        "- 1482 entries, 91.5% full",
        "- ran `go test ./src/cache -run TestEvict && echo done`",
        '- The user said "don\'t amend commits ... it messes with the workflows"',
        '- The user: "Please don\'t amend [any] commits"',
        "- 7 files in 2 folders were looked at",
    ],
)
def test_what_was_said_is_proven_in_whatever_form_it_is_repeated(summary: str) -> None:
    assert unproven(summary) == []


@pytest.mark.parametrize(("summary", "kind", "text"), rows("messages/invented.jsonl"))
def test_what_occurs_nowhere_is_named(summary: str, kind: str, text: str) -> None:
    assert unproven(summary) == [(kind, text)]


def test_a_plan_beside_the_history_proves_what_it_says() -> None:
    summary = "- next is `evictNewest`"
    with_plan = evidence_of(HISTORY, ["3. write evictNewest"])
    assert check_against(summary, EVIDENCE).unproven
    assert not check_against(summary, with_plan).unproven


def test_a_mark_stands_behind_what_is_unproven_and_a_struck_line_is_gone() -> None:
    summary = "- `TestEvict` fails\n- `evictNewest` was added"
    found = check_against(summary, EVIDENCE)
    assert found.names == ("evictNewest",)
    marked = "- `TestEvict` fails\n- `evictNewest` [unproven] was added"
    assert mark_unproven(summary, found) == marked
    assert strike_unproven(summary, found) == "- `TestEvict` fails"


@given(st.lists(st.text(min_size=1, max_size=200), max_size=6))
def test_a_summary_in_the_words_of_the_history_is_proven(texts: list[str]) -> None:
    history = [Message("user", (Text(text),)) for text in texts]
    assert check_against("\n".join(texts), evidence_of(history)).unproven == ()


def test_nothing_that_the_built_in_compressor_writes_is_unproven() -> None:
    made = summarize(HISTORY, 200, counter("estimate"))
    assert "TestEvict" in made
    assert check_against(made, EVIDENCE).unproven == ()


def test_what_stands_beside_a_summary_is_not_repeated_in_it() -> None:
    written = "- TestEvict fails in /work/app/src/cache/store.go"
    alone = summarize(HISTORY, 200, counter("estimate"))
    beside = summarize(HISTORY, 200, counter("estimate"), beside=written)
    assert "/work/app/src/cache/store.go" in alone
    assert "/work/app/src/cache/store.go" not in beside.partition("<names_mentioned>")[2]
    assert "23c05e9d41" in alone
    assert "23c05e9d41" in beside


@pytest.mark.parametrize(
    "summary",
    [
        "The fix is in src/ghost.py.",
        'The user said "never touch the golden door of it".',
        "Run `git push ghost-origin ghost-main` then.",
        "- `make_ghost` ran 4,711 times in src/ghost.py, see `make_ghost`.",
    ],
)
def test_what_is_marked_in_an_earlier_summary_proves_nothing(summary: str) -> None:
    said = [Message("user", (Text("Look at src/real.py."),))]
    found = check_against(summary, evidence_of(said))
    earlier = mark_unproven(
        f"See src/real.py.\n{summary}", check_against(f"\n{summary}", evidence_of(said))
    )
    again = check_against(f"{summary}\nSee src/real.py.", evidence_of((), [earlier]))
    assert found.unproven
    assert again.names == found.names
