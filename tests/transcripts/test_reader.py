"""Sessions of the four coding agents, as their files look: who said what, calls, compactions."""

from __future__ import annotations

import gzip
import json
from io import BytesIO
from pathlib import Path
from typing import Any

from foreword.transcripts.events import (
    AgentEvent,
    CompactionEvent,
    MessageEvent,
    ModelCallEvent,
    NoteEvent,
    SessionHead,
)
from foreword.transcripts.reader import open_session, read_session


def read(*lines: Any) -> tuple[str, list[AgentEvent]]:
    raw = "".join(json.dumps(line) + "\n" for line in lines).encode()
    session = read_session(BytesIO(raw))
    assert session is not None
    return session.agent, list(session.events)


def texts(events: list[AgentEvent]) -> list[str]:
    return [event.message.text for event in events if isinstance(event, MessageEvent)]


def claude(role: str, text: str, **more: Any) -> dict[str, Any]:
    message = {"role": role, "content": [{"type": "text", "text": text}]}
    return {"type": role, "sessionId": "s", "cwd": "/home/ada", "message": message, **more}


def item(role: str, *texts: str, kinds: tuple[str, ...] = ()) -> dict[str, Any]:
    content = [{"type": "input_text", "text": text} for text in texts]
    payload: dict[str, Any] = {"type": "message", "role": role, "content": content}
    if kinds:
        payload["internal_chat_message_metadata_passthrough"] = {"content_item_kinds": list(kinds)}
    return {"type": "response_item", "payload": payload}


def test_lines_of_claude_code_are_read_in_the_order_in_which_they_follow_each_other() -> None:
    lines = [
        claude("user", "one", uuid="1", parentUuid=None),
        claude("user", "three", uuid="3", parentUuid="2"),
        claude("assistant", "two", uuid="2", parentUuid="1"),
        claude("assistant", "five", uuid="5", parentUuid="gone"),
    ]
    agent, events = read(*lines)
    assert agent == "claude-code"
    assert texts(events) == ["one", "two", "three", "five"]


def test_a_compaction_of_claude_code_has_its_summary_and_its_sizes() -> None:
    about = {"trigger": "auto", "preTokens": 160_000, "postTokens": 9_000}
    _, events = read(
        claude("user", "Begin."),
        {"type": "system", "subtype": "compact_boundary", "compactMetadata": about, "cwd": "/x"},
        claude("user", "What was done.", isCompactSummary=True),
        claude("user", "<system-reminder>not me</system-reminder>\nGo on."),
        claude("user", "<command-name>/compact</command-name>"),
        claude("assistant", "of a helper", isSidechain=True),
    )
    (compaction,) = [event for event in events if isinstance(event, CompactionEvent)]
    assert (compaction.summary, compaction.trigger) == ("What was done.", "auto")
    assert compaction.tokens_before == 160_000
    typed = [
        event.message.text for event in events if isinstance(event, MessageEvent) and event.by_user
    ]
    assert typed == ["Begin.", "Go on."]


def test_one_reply_in_several_lines_is_one_call_of_the_model() -> None:
    def reply(text: str, name: str, read: int) -> dict[str, Any]:
        line = claude("assistant", text)
        usage = {"input_tokens": 10, "cache_read_input_tokens": read, "output_tokens": 5}
        line["message"] |= {"id": name, "usage": usage, "model": "m"}
        return line

    _, events = read(reply("a", "1", 100), reply("b", "1", 100), reply("c", "2", 200))
    calls = [event for event in events if isinstance(event, ModelCallEvent)]
    assert [call.prompt_tokens for call in calls] == [110, 210]


def test_in_codex_only_what_a_person_typed_is_the_users() -> None:
    agent, events = read(
        {"type": "session_meta", "payload": {"id": "c", "cwd": "/home/ada"}},
        item("developer", "Obey."),
        item("user", "# AGENTS.md instructions for /x\n\n<INSTRUCTIONS>a</INSTRUCTIONS>"),
        item("user", "rules", "where", kinds=("agents_md.instructions", "environments.x")),
        item("user", "Look at it.", kinds=("user.text",)),
        {"type": "compacted", "payload": {"message": "Looked."}},
        item("user", "<b>bold</b> is broken"),
    )
    assert agent == "codex"
    assert events[0] == SessionHead(agent="codex", session="c", folder="/home/ada")
    typed = [
        event.message.text for event in events if isinstance(event, MessageEvent) and event.by_user
    ]
    assert typed == ["Look at it.", "<b>bold</b> is broken"]
    assert sum(isinstance(event, NoteEvent) for event in events) == 3
    assert [event.summary for event in events if isinstance(event, CompactionEvent)] == ["Looked."]


def test_the_words_that_codex_keeps_as_its_summary_are_not_said_twice() -> None:
    content = [{"type": "output_text", "text": "SUMMARY of it"}]
    reply = {"type": "message", "role": "assistant", "content": content}
    lead = "use the information in this summary to assist with your own analysis:"
    _, events = read(
        item("user", "Look."),
        {"type": "response_item", "payload": reply},
        {"type": "compacted", "payload": {"message": f"Hello, {lead}\nSUMMARY of it"}},
    )
    assert texts(events) == ["Look."]
    assert isinstance(events[-1], CompactionEvent)
    assert events[-1].summary == "SUMMARY of it"


def test_a_compression_of_gemini_replaces_what_stood_before() -> None:
    snapshot = {"id": "n", "type": "user", "content": "<state_snapshot>All.</state_snapshot>"}
    tokens = {"input": 900, "cached": 400, "output": 3}
    agent, events = read(
        {"sessionId": "g", "projectHash": "h"},
        {"id": "1", "type": "user", "content": [{"text": "Look."}]},
        {"id": "2", "type": "gemini", "content": "Yes.", "tokens": tokens, "model": "m"},
        {"id": "2", "type": "gemini", "content": "Yes.", "tokens": tokens, "model": "m"},
        {"$set": {"messages": [snapshot]}},
        {"id": "3", "type": "user", "content": [{"text": "Go on."}]},
    )
    assert agent == "gemini"
    assert texts(events) == ["Look.", "Yes.", "Go on."]
    (call,) = [event for event in events if isinstance(event, ModelCallEvent)]
    assert (call.input_tokens, call.cache_read_tokens) == (500, 400)
    assert sum(isinstance(event, CompactionEvent) for event in events) == 1


def test_an_export_of_opencode_is_one_document_and_may_be_compressed(tmp_path: Path) -> None:
    def message(role: str, text: str, **info: Any) -> dict[str, Any]:
        parts = [{"type": "text", "text": text}]
        return {"info": {"role": role, **info}, "parts": parts}

    export = {
        "info": {"id": "o", "directory": "/home/ada"},
        "messages": [message("user", "Look."), message("assistant", "Looked.", summary=True)],
    }
    path = tmp_path / "export.json.gz"
    path.write_bytes(gzip.compress(json.dumps(export, indent=1).encode()))
    with open_session(path) as session:
        assert session is not None
        events = list(session.events)
    assert texts(events) == ["Look."]
    assert [event.summary for event in events if isinstance(event, CompactionEvent)] == ["Looked."]


def test_what_can_not_be_read_is_counted_and_a_file_that_is_no_session_is_none() -> None:
    good = json.dumps(claude("user", "Hello.")).encode()
    bad = json.dumps({"type": "user", "sessionId": "s", "message": {"role": "user", "content": 3}})
    session = read_session(BytesIO(b"\n".join([good, b"{broken", bad.encode()])))
    assert session is not None
    assert texts(list(session.events)) == ["Hello."]
    assert sum(session.skipped.values()) == 2
    for raw in (b"", b"hello", b"[1, 2]", b'{"a": 1}', b"\x1f\x8bbroken"):
        assert read_session(BytesIO(raw)) is None


def test_words_that_were_typed_in_the_middle_of_a_turn_are_the_users() -> None:
    def queue(operation: str, content: str = "") -> dict[str, str]:
        return {"type": "queue-operation", "operation": operation, "content": content}

    _, events = read(
        claude("user", "Begin."),
        queue("enqueue", "Not the blue one!"),
        queue("remove"),
        queue("enqueue", "The red one."),
        queue("dequeue"),
        claude("user", "The red one."),
        queue("enqueue", "Never mind."),
        queue("popAll"),
        queue("remove"),
    )
    assert texts(events) == ["Begin.", "Not the blue one!", "The red one."]


def test_what_claude_code_writes_behind_a_summary_is_no_part_of_it() -> None:
    told = "Done.\n\nIf you need specific details from before compaction, read: /home/ada/s.jsonl"
    _, events = read(claude("user", told, isCompactSummary=True))
    (compaction,) = [event for event in events if isinstance(event, CompactionEvent)]
    assert compaction.summary == "Done."
