"""Whatever stands on standard input, a hook and a status line end well: properties over JSON of
every kind."""

from __future__ import annotations

import io
import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from foreword.coding_agents import hooks, long_results, window_fill
from foreword.coding_agents.hook_events import HookEvent, read_object
from tests.coding_agents.agent import DATA, CodingAgent, set_up
from tests.command import foreword
from tests.examples import examples
from tests.messages.conversation import JSON

pytestmark = pytest.mark.attack

KEYS = [
    "hook_event_name",
    "session_id",
    "cwd",
    "transcript_path",
    "source",
    "trigger",
    "tool_name",
    "tool_input",
    "tool_response",
    "custom_instructions",
]
WORDS = [
    "SessionStart",
    "PreCompact",
    "PostToolUse",
    "compact",
    "resume",
    "Bash",
    "Grep",
    "mcp__a__b",
    "/etc/passwd",
    "/proc/self/mem",
    "..",
    "\ud800",
    "a\0b",
    "x" * 5_000,
]
VALUES = st.one_of(JSON, st.sampled_from(WORDS))
EVENTS = st.one_of(JSON, st.dictionaries(st.sampled_from(KEYS), VALUES))
NUMBERS = st.one_of(JSON, st.integers(), st.floats(), st.sampled_from([10**400, -1, True]))
CONTEXT = st.fixed_dictionaries(
    {},
    optional={
        "context_window_size": NUMBERS,
        "used_percentage": NUMBERS,
        "current_usage": st.one_of(
            JSON, st.dictionaries(st.sampled_from(window_fill.INPUT), NUMBERS)
        ),
    },
)
STATUSES = st.one_of(
    JSON,
    st.fixed_dictionaries(
        {}, optional={"context_window": st.one_of(JSON, CONTEXT), "transcript_path": VALUES}
    ),
)
quick = settings(
    max_examples=examples(12),
    suppress_health_check=[HealthCheck.function_scoped_fixture],
    deadline=None,
)


@pytest.fixture
def agent(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> CodingAgent:
    coding_agent = set_up(tmp_path / "ada")
    monkeypatch.setenv("HOME", str(coding_agent.home))
    monkeypatch.chdir(coding_agent.project)
    return coding_agent


@quick
@given(EVENTS)
def test_a_hook_answers_with_one_object_or_with_nothing(agent: CodingAgent, event: Any) -> None:
    out = io.BytesIO()
    hooks.respond(
        hooks.Options(startup=True, budget_tokens=50, timeout_seconds=600),
        io.BytesIO(json.dumps(event).encode()),
        out,
    )
    answer = json.loads(out.getvalue()) if out.getvalue() else {"hookSpecificOutput": {}}
    assert answer.keys() == {"hookSpecificOutput"}
    assert answer["hookSpecificOutput"].keys() <= {
        "hookEventName",
        "additionalContext",
        "updatedToolOutput",
    }


@quick
@given(st.binary(max_size=200))
def test_bytes_that_are_no_json_are_answered_with_nothing(agent: CodingAgent, raw: bytes) -> None:
    out = io.BytesIO()
    hooks.respond(hooks.Options(timeout_seconds=600), io.BytesIO(raw), out)
    assert out.getvalue() == b""


@quick
@given(STATUSES)
def test_a_status_line_is_one_line_whatever_is_said(agent: CodingAgent, status: Any) -> None:
    line = window_fill.line(status) if isinstance(status, dict) else window_fill.NOTHING
    assert line.startswith("[")
    assert line.isprintable()
    assert len(line) < 120


@settings(max_examples=examples(12), deadline=None)
@given(st.lists(st.text(max_size=400), max_size=6), st.integers(1, 200))
def test_texts_never_get_more_room_than_there_is(texts: list[str], room: int) -> None:
    sizes: dict[long_results.Place, int] = {(at,): len(text) for at, text in enumerate(texts)}
    rooms = long_results._rooms(sizes, room)
    assert sum(rooms.values()) <= room
    is_all_used = sum(rooms.values()) == min(room, sum(sizes.values()))
    assert is_all_used or max(sizes.values()) > room // len(sizes)
    assert all(rooms[place] <= sizes[place] for place in sizes)


@settings(max_examples=examples(40), deadline=None)
@given(VALUES, st.sampled_from(["Bash", "Grep", "WebFetch", "mcp__a__b", "Read", ""]))
def test_looking_for_texts_in_a_response_never_fails(response: Any, tool: str) -> None:
    found = long_results.texts_of(HookEvent(name="PostToolUse", tool=tool, tool_response=response))
    assert all(isinstance(text, str) for text in found.values())


# --- the status line ------------------------------------------------------------------------------


def status_line(agent: CodingAgent, name: str) -> str:
    data = (DATA / f"{name}.json").read_text("utf-8").replace("/home/ada", str(agent.home))
    ran = foreword("statusline", cwd=agent.project, stdin=data.encode(), HOME=str(agent.home))
    assert (ran.code, ran.err) == (0, "")
    return ran.out


def test_the_status_line_shows_the_fill_that_the_agent_tells(agent: CodingAgent) -> None:
    assert status_line(agent, "status_line") == "[#####-----] 46%  92K of 200K\n"


def test_before_the_agent_tells_it_the_last_call_of_the_transcript_does(agent: CodingAgent) -> None:
    assert (
        status_line(agent, "status_line_before_the_first_call") == "[#---------] 13%  25K of 200K\n"
    )


def test_right_after_a_compaction_the_line_shows_what_is_left(agent: CodingAgent) -> None:
    boundary = {"type": "system", "subtype": "compact_boundary", "uuid": "b"}
    left = {"compactMetadata": {"preTokens": 25_000, "postTokens": 4_000}}
    summary = {"role": "user", "content": "So far: read."}
    shown = ("[----------] 2%  4K of 200K", window_fill.NOTHING)  # older versions do not say it
    for name, metadata, line in zip("st", (left, {}), shown, strict=True):
        compacted = {"type": "user", "isCompactSummary": True, "uuid": name, "message": summary}
        with agent.transcript.open("a", encoding="utf-8") as transcript:
            transcript.write(f"{json.dumps(boundary | metadata)}\n{json.dumps(compacted)}\n")
        assert status_line(agent, "status_line_before_the_first_call") == f"{line}\n"


@pytest.mark.parametrize(
    ("used", "size", "line"),
    [
        (159_999, 200_000, "[########--] 80%  160K of 200K"),
        (160_000, 200_000, "[########--] 80%  160K of 200K  filling up"),
        (180_000, 200_000, "[#########-] 90%  180K of 200K  nearly full: compaction is close"),
        (240_000, 200_000, "[##########] 120%  240K of 200K  nearly full: compaction is close"),
        (250_000, 1_000_000, "[##--------] 25%  250K of 1M"),
        (900, 200_000, "[----------] 0%  900 of 200K"),
    ],
)
def test_the_line_warns_where_sessions_warn(used: int, size: int, line: str) -> None:
    window = {"context_window_size": size, "current_usage": {"input_tokens": used}}
    assert window_fill.line({"context_window": window}) == line


@pytest.mark.parametrize(
    "stdin", [b"", b"{", b"[]", b"\xff", b"[" * 100_000, b'{"transcript_path": "/etc/passwd"}']
)
def test_a_status_line_without_figures_says_so(stdin: bytes) -> None:
    ran = foreword("statusline", "--colour", stdin=stdin)
    assert (ran.code, ran.out, ran.err) == (0, f"{window_fill.NOTHING}\n", "")


def test_a_transcript_outside_of_home_is_not_read_for_the_status_line(
    agent: CodingAgent, tmp_path: Path
) -> None:
    outside = tmp_path / "outside.jsonl"
    outside.write_bytes(agent.transcript.read_bytes())
    assert window_fill.line({"transcript_path": str(outside)}) == window_fill.NOTHING
    assert window_fill.line({"transcript_path": str(agent.transcript)}) != window_fill.NOTHING


def test_a_json_object_is_needed_and_a_large_one_is_refused() -> None:
    assert read_object(b'{"a": 1}') == {"a": 1}
