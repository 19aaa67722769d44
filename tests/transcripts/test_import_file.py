"""Files of recorded conversations: each known kind is read, what is left out is counted, bad
lines are named."""

from __future__ import annotations

import io
import json
from collections.abc import Iterable, Iterator
from typing import Any

import pytest
from hypothesis import given

from foreword.errors import BadSource
from foreword.messages.anthropic import from_anthropic, to_anthropic
from foreword.messages.call_pairs import mend
from foreword.messages.message import Message, Part, Text, Thinking, ToolCall, ToolResult
from foreword.messages.openai_chat import from_openai
from foreword.messages.openai_responses import from_responses
from foreword.messages.pydantic_ai import to_pydantic_ai_json
from foreword.transcripts.import_file import read_transcript
from tests.messages.conversation import JSON, NEUTRAL

CALL = {"type": "tool_use", "id": "t1", "name": "read", "input": {"path": "a.py"}}
RESULT = {"type": "tool_result", "tool_use_id": "t1", "content": "print()"}
ANTHROPIC: list[dict[str, Any]] = [
    {"role": "user", "content": [{"type": "text", "text": "Read a.py"}]},
    {"role": "assistant", "content": [CALL]},
    {"role": "user", "content": [RESULT]},
]
OPENAI: list[dict[str, Any]] = [
    {"role": "system", "content": "Be short."},
    {"role": "user", "content": "Hi"},
    {"role": "assistant", "content": "Hello."},
]
ITEMS: list[dict[str, Any]] = [
    {"type": "message", "role": "user", "content": [{"type": "input_text", "text": "Read a.py"}]},
    {"type": "reasoning", "summary": [], "encrypted_content": "gAAAA"},
    {"type": "function_call", "call_id": "c1", "name": "read", "arguments": '{"path":"a.py"}'},
    {"type": "function_call_output", "call_id": "c1", "output": "print()"},
]


def lines(values: Iterable[object], end: str = "\n") -> bytes:
    return "".join(json.dumps(value) + end for value in values).encode()


def read_file(data: bytes, where: str = "talk") -> tuple[list[Message], dict[str, int]]:
    transcript = read_transcript(data, where)
    return list(transcript), dict(transcript.skipped)


# --- documents ------------------------------------------------------------------------------------


@pytest.mark.parametrize("indent", [None, 2])
def test_a_document_of_each_provider_is_recognised(indent: int | None) -> None:
    for document, expected in [
        ({"model": "x", "system": "Be short.", "messages": ANTHROPIC}, None),
        (ANTHROPIC, from_anthropic(ANTHROPIC)),
        ({"messages": OPENAI}, from_openai(OPENAI)),
        (OPENAI, from_openai(OPENAI)),
        ({"input": ITEMS}, from_responses(ITEMS)),
        ({"output": ITEMS[1:3]}, from_responses(ITEMS[1:3])),
        ({"input": "Hi"}, (Message("user", (Text("Hi"),)),)),
        (ITEMS, from_responses(ITEMS)),
        ([], ()),
    ]:
        messages, skipped = read_file(json.dumps(document, indent=indent).encode())
        assert skipped == {}
        if expected is None:
            assert (messages[0].kind, messages[0].text) == ("system_prompt", "Be short.")
            expected = from_anthropic(ANTHROPIC)
            messages = messages[1:]
        assert tuple(messages) == expected


@given(NEUTRAL)
def test_the_json_of_pydantic_ai_is_recognised_whole_and_line_by_line(talk: list[Message]) -> None:
    theirs = to_pydantic_ai_json(talk)
    assert read_file(json.dumps(theirs).encode())[0] == talk
    assert read_file(lines(theirs), "talk.jsonl")[0] == talk


@pytest.mark.parametrize(
    ("data", "problem"),
    [
        (b"", "talk:1:1: not JSON"),
        (b'[\n{"role": "user",\n', "talk:3:1: not JSON: "),
        (b'{"turns": []}', "talk: no messages in it"),
        (b'{\n"turns": []}', "talk: no messages in it"),
        (b"5", "talk: no messages in it"),
        (b'\xff\xfe{"a": 1}', "talk: not UTF-8"),
        (
            b'[{"role": "user", "content": "x"}, {"role": "robot"}]',
            "talk: messages[1].role: 'robot'",
        ),
        (b'{"messages": {}}', "talk: messages: must be a list of messages"),
        (
            b'{"input": [{"type": "function_call", "call_id": 5}]}',
            "talk: input[0].call_id: must be text",
        ),
        (b"[" * 100_000, "talk: not usable JSON: nested too deeply"),
        (
            b'[{"role": "user", "content": "a", "content": "b"}]',
            "talk: not usable JSON: the key 'content' is there twice",
        ),
    ],
)
def test_a_bad_document_is_an_error_before_anything_is_read(data: bytes, problem: str) -> None:
    with pytest.raises(BadSource) as caught:
        list(read_transcript(data, "talk"))
    assert caught.value.message.startswith(problem)


@given(JSON)
def test_json_of_any_form_is_read_or_refused(value: object) -> None:
    for data in (json.dumps(value).encode(), lines([value, value])):
        try:
            list(read_transcript(data, "talk"))
        except BadSource as error:
            assert error.path == "talk"  # noqa: PT017


# --- Claude Code ----------------------------------------------------------------------------------


def claude(kind: str, uuid: str, message: dict[str, Any], **more: Any) -> dict[str, Any]:
    return {
        "type": kind,
        "uuid": uuid,
        "parentUuid": None,
        "sessionId": "s",
        "message": message,
        **more,
    }


def reply(*content: dict[str, Any], name: str = "msg_1") -> dict[str, Any]:
    return {
        "id": name,
        "type": "message",
        "role": "assistant",
        "model": "m",
        "content": list(content),
    }


CLAUDE = [
    {"type": "summary", "summary": "Reading a file", "leafUuid": "x"},
    {"type": "file-history-snapshot", "messageId": "m", "snapshot": {}},
    claude("user", "u0", {"role": "user", "content": "<command-name>"}, isMeta=True),
    claude("user", "u1", {"role": "user", "content": "Read both."}),
    claude("assistant", "u2", reply({"type": "thinking", "thinking": "Two.", "signature": "sig"})),
    claude("assistant", "u3", reply(CALL)),
    claude(
        "assistant", "u9", reply({"type": "text", "text": "aside"}, name="msg_9"), isSidechain=True
    ),
    claude("assistant", "u4", reply(CALL | {"id": "t2"})),
    claude("user", "u5", {"role": "user", "content": [RESULT | {"tool_use_id": "t2"}]}),
    claude("user", "u6", {"role": "user", "content": [RESULT]}),
    claude("user", "u6", {"role": "user", "content": [RESULT]}),
    {"type": "system", "subtype": "compact_boundary", "uuid": "u7", "content": "Compacted"},
    claude("user", "u8", {"role": "user", "content": "So far: read."}, isCompactSummary=True),
    claude("assistant", "u10", reply({"type": "text", "text": "Done."}, name="msg_2")),
]


def test_the_lines_of_one_reply_are_one_message_and_notes_are_counted() -> None:
    messages, skipped = read_file(lines(CLAUDE), "session.jsonl")
    assert [message.role for message in messages] == [
        "user",
        "assistant",
        "user",
        "user",
        "user",
        "assistant",
    ]
    assert [type(part) for part in messages[1].parts] == [Thinking, ToolCall, ToolCall]
    assert [message.kind for message in messages] == [
        *["conversation"] * 4,
        "summary",
        "conversation",
    ]
    assert skipped == {
        "summary": 1,
        "file-history-snapshot": 1,
        "meta": 1,
        "sidechain": 1,
        "duplicate": 1,
        "system": 1,
    }
    assert mend(messages)[1] == []
    assert [block["type"] for block in to_anthropic(messages)[1]["content"]] == [
        "thinking",
        "tool_use",
        "tool_use",
    ]


def test_a_reply_whose_results_came_in_between_keeps_its_pairs() -> None:
    talk = [
        claude("assistant", "u1", reply(CALL)),
        claude("user", "u2", {"role": "user", "content": [RESULT]}),
        claude("assistant", "u3", reply(CALL | {"id": "t2"})),
        claude("user", "u4", {"role": "user", "content": [RESULT | {"tool_use_id": "t2"}]}),
    ]
    messages, _ = read_file(lines(talk))
    assert [message.role for message in messages] == ["assistant", "user", "assistant", "user"]
    assert mend(messages)[1] == []


def claude_line(
    uuid: str, parent: str | None, text: str, kind: str = "user", **more: Any
) -> dict[str, Any]:
    content = [{"type": "text", "text": text}]
    message = {"role": kind, "content": content}
    if kind == "assistant":
        message["id"] = f"msg_{uuid}"
    return claude(kind, uuid, message, **{"parentUuid": parent, **more})


def test_what_was_rewound_is_left_out_and_counted() -> None:
    talk = [
        claude_line("u1", None, "Build it."),
        claude_line("a1", "u1", "Built.", "assistant"),
        claude_line("u2", "a1", "Paint it red."),
        claude_line("a2", "u2", "Red.", "assistant"),
        claude(
            "assistant",
            "s1",
            reply({"type": "text", "text": "aside"}),
            parentUuid="a2",
            isSidechain=True,
        ),
        claude_line("u3", "a1", "Paint it blue."),
        claude_line("a3", "u3", "Blue.", "assistant"),
        {"type": "last-prompt", "sessionId": "s"},
    ]
    messages, skipped = read_file(lines(talk), "session.jsonl")
    assert [message.text for message in messages] == [
        "Build it.",
        "Built.",
        "Paint it blue.",
        "Blue.",
    ]
    assert skipped == {"rewound": 2, "sidechain": 1, "last-prompt": 1}


def queue(operation: str, content: str = "") -> dict[str, Any]:
    time = "2026-02-15T09:57:26.572Z"
    line = {"type": "queue-operation", "operation": operation, "content": content}
    return line | {"timestamp": time, "sessionId": "s"}


def typed_in_mid_turn() -> list[dict[str, Any]]:
    """Words that wait while a call is made; the queue says that they were taken in before the
    results of that reply are written."""
    return [
        queue("enqueue", "Read both."),
        queue("dequeue"),
        claude_line("u1", None, "Read both."),
        queue("enqueue", "And c.py."),
        queue("enqueue", "Be quick."),
        claude("assistant", "a1", reply(CALL), parentUuid="u1"),
        queue("remove"),
        claude("assistant", "a2", reply(CALL | {"id": "t2"}), parentUuid="a1"),
        queue("remove"),
        claude("user", "r1", {"role": "user", "content": [RESULT]}, parentUuid="a1"),
        claude(
            "user",
            "r2",
            {"role": "user", "content": [RESULT | {"tool_use_id": "t2"}]},
            parentUuid="a2",
        ),
        claude_line("a3", "r1", "Done.", "assistant"),
        queue("enqueue", "No, wait."),
        queue("popAll"),
        queue("remove"),
    ]


def spoken(messages: list[Message]) -> list[str]:
    return [part.text for part in all_parts(messages) if isinstance(part, Text)]


def test_words_typed_in_mid_turn_are_the_users_and_stand_behind_the_results() -> None:
    messages, skipped = read_file(lines(typed_in_mid_turn()), "session.jsonl")
    assert spoken(messages) == ["Read both.", "And c.py.", "Be quick.", "Done."]
    assert mend(messages)[1] == []
    assert skipped == {"queue-operation": 7}


def test_words_typed_in_mid_turn_are_imported_once_wherever_the_file_ended() -> None:
    talk = typed_in_mid_turn()
    for end in range(3, len(talk)):
        known = set[str]()
        words = list[str]()
        for told in (talk[:end], talk, talk):
            words += spoken(import_new(told, known)[0])
        assert sorted(words) == ["And c.py.", "Be quick.", "Done.", "Read both."]


def test_words_typed_in_mid_turn_are_rewound_with_the_turn() -> None:
    talk = [
        claude_line("u1", None, "Build it."),
        claude_line("a1", "u1", "Built.", "assistant"),
        claude_line("u2", "a1", "Paint it red."),
        queue("enqueue", "Dark red!"),
        claude_line("a2", "u2", "Red.", "assistant"),
        queue("remove"),
        claude_line("u3", "a1", "Paint it blue."),
    ]
    messages, skipped = read_file(lines(talk), "session.jsonl")
    assert [message.text for message in messages] == ["Build it.", "Built.", "Paint it blue."]
    assert skipped == {"rewound": 3, "queue-operation": 1}


def test_the_results_of_several_calls_are_no_branches_although_each_follows_its_own_call() -> None:
    talk = [
        claude_line("u1", None, "Read both."),
        claude("assistant", "a1", reply(CALL), parentUuid="u1"),
        claude("assistant", "a2", reply(CALL | {"id": "t2"}), parentUuid="a1"),
        claude("user", "r1", {"role": "user", "content": [RESULT]}, parentUuid="a1"),
        claude(
            "user",
            "r2",
            {"role": "user", "content": [RESULT | {"tool_use_id": "t2"}]},
            parentUuid="a2",
        ),
        claude_line("a3", "r1", "Done.", "assistant"),
    ]
    for told in (talk, talk[:-1], [*talk[:3], talk[4], talk[3]]):
        messages, skipped = read_file(lines(told))
        assert skipped == {}
        assert mend(messages)[1] == []


def test_what_was_said_before_a_compaction_was_not_rewound() -> None:
    talk = [
        claude_line("u1", None, "Build it."),
        claude_line("a1", "u1", "Built.", "assistant"),
        {
            "type": "system",
            "uuid": "c1",
            "parentUuid": None,
            "logicalParentUuid": "a1",
            "sessionId": "s",
        },
        claude_line("u2", "c1", "So far: built.", isCompactSummary=True),
        claude_line("u3", None, "A root of its own."),
        claude_line("a3", "u3", "So be it.", "assistant"),
    ]
    messages, skipped = read_file(lines(talk))
    assert (len(messages), skipped) == (5, {"system": 1})


def test_the_error_of_an_api_is_not_the_assistants_word() -> None:
    failed = claude_line(
        "a1", "u1", "API Error: 529 Overloaded", "assistant", isApiErrorMessage=True
    )
    messages, skipped = read_file(
        lines([claude_line("u1", None, "Go."), failed, claude_line("u2", "a1", "Again.")])
    )
    assert [message.text for message in messages] == ["Go.", "Again."]
    assert skipped == {"API error": 1}


# --- again ----------------------------------------------------------------------------------------


def import_new(
    talk: list[Any], known: set[str], document: bool = False
) -> tuple[list[Message], dict[str, int]]:
    """What is new in a file, and what was left out; `known` grows."""
    data = json.dumps(talk).encode() if document else lines(talk)
    transcript = read_transcript(data, "talk", known)
    messages = list(transcript)
    for message in messages:
        known.update(message.marks)
    return messages, dict(transcript.skipped)


def all_parts(messages: list[Message]) -> list[Part]:
    parts = list[Part]()
    for message in messages:
        parts += message.parts
    return parts


@pytest.mark.parametrize("document", [True, False])
@pytest.mark.parametrize("talk", [ANTHROPIC, OPENAI, ITEMS, [OPENAI[1]] * 5])
def test_a_file_that_has_grown_adds_what_is_new_wherever_it_was_cut(
    talk: list[dict[str, Any]], document: bool
) -> None:
    whole = all_parts(import_new(talk, set(), document)[0])
    # a document holds whole turns
    cuts = [1, 3] if talk is ITEMS and document else range(1, len(talk))
    for cut in cuts:
        known = set[str]()
        first = import_new(talk[:cut], known, document)[0]
        second = import_new(talk, known, document)[0]
        assert all_parts(first + second) == whole
        assert import_new(talk, known, document)[0] == []


def test_a_reply_that_was_imported_half_gets_its_other_half() -> None:
    known = set[str]()
    assert len(import_new(CLAUDE[:5], known)[0]) == 2
    messages, skipped = import_new(CLAUDE, known)
    assert [type(part) for part in messages[0].parts] == [ToolCall, ToolCall]
    assert (len(messages), skipped["there"]) == (5, 1)
    assert import_new(CLAUDE, known)[1]["there"] == 6


def test_lines_with_names_are_known_by_them_and_not_by_their_words() -> None:
    known = set[str]()
    talk = [claude_line("u1", None, "yes"), claude_line("u2", "u1", "yes")]
    assert len(import_new(talk, known)[0]) == 2
    messages, _ = import_new([*talk, claude_line("u3", "u2", "yes")], known)
    assert [message.text for message in messages] == ["yes"]


def test_another_conversation_with_the_same_words_in_it_is_imported_whole() -> None:
    known = set[str]()
    import_new(OPENAI, known)
    assert len(import_new([OPENAI[1], OPENAI[2]], known)[0]) == 2


def test_what_was_rewound_after_it_was_imported_is_told_apart() -> None:
    known = set[str]()
    first = [claude_line("u1", None, "Go."), claude_line("a1", "u1", "Left.", "assistant")]
    import_new(first, known)
    messages, skipped = import_new([*first, claude_line("a2", "u1", "Right.", "assistant")], known)
    assert [message.text for message in messages] == ["Right."]
    assert skipped == {"rewound since": 1, "there": 1}


def test_marks_go_to_no_provider() -> None:
    assert to_anthropic(import_new(ANTHROPIC, set())[0]) == ANTHROPIC


# --- Codex CLI ------------------------------------------------------------------------------------


def test_the_items_of_codex_are_read_and_its_events_counted() -> None:
    talk = [
        {"timestamp": "t", "type": "session_meta", "payload": {"id": "s", "cwd": "/"}},
        {"timestamp": "t", "type": "turn_context", "payload": {"model": "m"}},
        *[{"timestamp": "t", "type": "response_item", "payload": item} for item in ITEMS[:2]],
        {
            "timestamp": "t",
            "type": "event_msg",
            "payload": {"type": "agent_reasoning", "text": "hm"},
        },
        *[{"timestamp": "t", "type": "response_item", "payload": item} for item in ITEMS[2:]],
    ]
    messages, skipped = read_file(lines(talk))
    assert tuple(messages) == from_responses(ITEMS)
    assert skipped == {"session_meta": 1, "turn_context": 1, "event_msg": 1}


def test_the_bare_items_of_an_older_codex_are_read_too() -> None:
    talk = [{"id": "s", "timestamp": "t", "instructions": None}, {"record_type": "state"}, *ITEMS]
    messages, skipped = read_file(lines(talk))
    assert tuple(messages) == from_responses(ITEMS)
    assert skipped == {"session_meta": 1, "state": 1}


# --- any lines ------------------------------------------------------------------------------------


@pytest.mark.parametrize("talk", [ANTHROPIC, OPENAI, OPENAI[1:2]])
@pytest.mark.parametrize("end", ["\n", "\r\n", "\n\n"])
def test_one_message_per_line_is_read(talk: list[dict[str, Any]], end: str) -> None:
    data = b"\xef\xbb\xbf" + lines(talk, end)
    expected = from_anthropic(talk) if talk is ANTHROPIC else from_openai(talk)
    messages, _ = read_file(data)
    assert [message.text for message in messages] == [message.text for message in expected]


def test_a_last_line_that_was_not_finished_is_left_out_and_counted() -> None:
    data = lines(OPENAI) + b'{"role": "user", "content": "\xc3'
    messages, skipped = read_file(data, "session.jsonl")
    assert len(messages) == 3
    assert skipped == {"truncated line": 1}


@pytest.mark.parametrize(
    ("bad", "problem"),
    [
        (b'{"role": "us\n', "session.jsonl:4: not JSON: "),
        (b"[]\n", "session.jsonl:4: must be a JSON object"),
        (b'{"role": "robot"}\n', "session.jsonl:4: message.role: 'robot'"),
        (b'{"a": 1}\n', "session.jsonl:4: message.role: None"),
        (b'{"type": "user", "message": 5}\n', "session.jsonl:4: message: must be a mapping"),
        (
            b'{"type": "response_item", "payload": 5}\n',
            "session.jsonl:4: message: must be a mapping",
        ),
        (b'{"role": "user", "content": "\xff"}\n', "session.jsonl:4: not UTF-8"),
        (b'{"a": ' + b"9" * 5000 + b"}\n", "session.jsonl:4: not usable JSON"),
    ],
)
def test_a_bad_line_is_an_error_with_its_number(bad: bytes, problem: str) -> None:
    with pytest.raises(BadSource) as caught:
        read_file(lines(OPENAI) + bad + lines(OPENAI), "session.jsonl")
    assert caught.value.message.startswith(problem)
    assert caught.value.line == 4


def test_a_first_line_that_is_bad_is_named_where_the_file_says_it_has_lines() -> None:
    with pytest.raises(BadSource, match=r"^session\.jsonl:1: not JSON"):
        read_file(b'{"role": "us\n' + lines(OPENAI), "session.jsonl")


class Endless(io.RawIOBase):
    """A file that never ends, to see that nobody waits for its end."""

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: Any) -> int:
        line = lines([OPENAI[1]])
        size = len(buffer) // len(line) * len(line)
        buffer[:size] = line * (size // len(line))
        return size


def test_lines_are_read_as_they_are_wanted() -> None:
    messages: Iterator[Message] = iter(
        read_transcript(io.BufferedReader(Endless()), "session.jsonl")
    )
    assert [next(messages).text for _ in range(1000)] == ["Hi"] * 1000


def test_a_result_stays_a_result_in_every_kind_of_file() -> None:
    for data in (lines(CLAUDE), lines(ITEMS), lines(ANTHROPIC)):
        messages, _ = read_file(data)
        assert any(isinstance(part, ToolResult) for part in all_parts(messages))


# --- sessions of Gemini CLI and opencode ----------------------------------------------------------


def gemini_reply(**more: Any) -> dict[str, Any]:
    return {"id": "g1", "type": "gemini", "content": "", "thoughts": [], **more}


ANSWER = {"functionResponse": {"id": "c1", "name": "read", "response": {"output": "06:12"}}}
GEMINI_CALL = {"id": "c1", "name": "read", "args": {"path": "tide.csv"}, "result": [ANSWER]}
GEMINI: list[dict[str, Any]] = [
    {"sessionId": "s", "projectHash": "h", "startTime": "2026-11-16T09:14:09Z", "kind": "main"},
    {"$set": {"messages": [{"id": "u0", "type": "user", "content": [{"text": "Context."}]}]}},
    {"id": "u1", "type": "user", "content": [{"text": "When is low water?"}]},
    {"id": "i1", "type": "info", "content": "Signed in."},
    gemini_reply(),
    gemini_reply(toolCalls=[GEMINI_CALL]),
    {"id": "u2", "type": "user", "content": [ANSWER]},
    {"$set": {"lastUpdated": "2026-11-16T09:14:14Z"}},
    {"id": "g2", "type": "gemini", "content": "At 06:12.", "thoughts": [{"subject": "Tables"}]},
]


def test_a_session_of_gemini_cli_is_replayed_and_a_result_is_read_once() -> None:
    messages, skipped = read_file(lines(GEMINI), "session.jsonl")
    assert [message.role for message in messages] == [
        "user",
        "user",
        "assistant",
        "user",
        "assistant",
    ]
    assert [message.text for message in messages] == [
        "Context.",
        "When is low water?",
        '[calls read({"path": "tide.csv"})]',
        "06:12",
        "At 06:12.",
    ]
    assert messages[2].calls == messages[3].results
    assert skipped == {"info": 1}
    document = {**GEMINI[0], "messages": [GEMINI[2], *GEMINI[5:7], GEMINI[8]]}
    assert len(read_file(json.dumps(document, indent=1).encode())[0]) == 4


def test_a_result_that_gemini_cli_has_only_beside_its_call_is_there_too() -> None:
    messages, _ = read_file(lines([*GEMINI[:6], GEMINI[8]]), "session.jsonl")
    assert [message.role for message in messages][2:] == ["assistant", "tool", "assistant"]
    assert messages[2].calls == messages[3].results


def test_what_gemini_cli_took_back_is_left_out_and_counted() -> None:
    messages, skipped = read_file(lines([*GEMINI, {"$rewindTo": "u2"}]), "session.jsonl")
    assert messages[-2].calls == messages[-1].results == ("c1",)
    assert skipped == {"info": 1, "rewound": 2}
    replaced = {"$set": {"messages": [GEMINI[2]]}}
    messages, skipped = read_file(lines([*GEMINI, replaced]), "session.jsonl")
    assert [message.text for message in messages] == ["When is low water?"]
    assert skipped == {"replaced": 5}


def test_a_session_of_gemini_cli_that_has_grown_adds_what_is_new() -> None:
    known = set[str]()
    assert len(import_new(GEMINI[:5], known)[0]) == 2
    messages, skipped = import_new(GEMINI, known)
    assert messages[0].text == '[calls read({"path": "tide.csv"})]'
    assert (len(messages), skipped["there"]) == (3, 2)


def test_a_part_that_says_nothing_is_refused_with_its_line_and_path() -> None:
    strange = {"id": "u3", "type": "user", "content": [{"functionCall": {"args": {}}}]}
    with pytest.raises(BadSource, match=r"line 10\.content\.parts\[0\]\.functionCall\.name: is"):
        read_file(lines([*GEMINI, strange]), "session.jsonl")


def tool_part(call: str, **state: Any) -> dict[str, Any]:
    return {"type": "tool", "tool": "bash", "callID": call, "id": "p", "state": state}


def test_an_export_of_opencode_is_read_step_by_step() -> None:
    done = tool_part("c1", status="completed", input={"command": "ls"}, output="a.py")
    failed = tool_part("c2", status="error", input={"command": "cat b"}, error="no such file")
    export = {
        "info": {"id": "ses_1", "title": "tides"},
        "messages": [
            {"info": {"role": "user"}, "parts": [{"type": "text", "text": "Look."}]},
            {
                "info": {"role": "assistant"},
                "parts": [
                    {"type": "step-start", "snapshot": "95957"},
                    {"type": "text", "text": "I look."},
                    done,
                    {"type": "step-finish", "cost": 0, "tokens": {"input": 3}},
                    {"type": "step-start"},
                    failed,
                    {"type": "text", "text": "There is no b."},
                ],
            },
        ],
    }
    messages, _ = read_file(json.dumps(export).encode(), "export.json")
    assert [message.role for message in messages] == [
        "user",
        "assistant",
        "tool",
        "assistant",
        "tool",
        "assistant",
    ]
    assert messages[4].parts == (ToolResult("c2", "no such file", failed=True),)
    assert mend(messages)[1] == []


@pytest.mark.parametrize(
    "line",
    [
        {"type": "human", "content": "Mind the bar."},
        {"type": "ai", "data": {"content": "Mind the bar."}},
        {"role": "user", "parts": [{"text": "Mind the bar."}]},
        {"role": "user", "blocks": [{"block_type": "text", "text": "Mind the bar."}]},
    ],
)
def test_lines_of_frameworks_are_messages_and_no_notes(line: dict[str, Any]) -> None:
    messages, skipped = read_file(lines([line, line]), "talk.jsonl")
    assert [message.text for message in messages] == ["Mind the bar."] * 2
    assert skipped == {}


def test_a_line_that_says_something_in_a_way_nobody_knows_is_refused() -> None:
    strange = {"type": "TextMessage", "source": "user", "content": "Mind the bar."}
    with pytest.raises(BadSource, match=r"talk\.jsonl:2: message\.role"):
        read_file(lines([ANTHROPIC[0], strange]), "talk.jsonl")


@pytest.mark.parametrize(
    ("document", "texts"),
    [
        ({"method": "POST", "path": "/v1/x", "body": {"messages": ANTHROPIC}}, 3),
        ({"contents": [{"parts": [{"text": "Hi"}]}], "systemInstruction": "Be short."}, 2),
        ({"candidates": [{"content": {"role": "model", "parts": [{"text": "Hi"}]}}]}, 1),
        ({"choices": [{"index": 0, "message": OPENAI[2]}], "usage": {}}, 1),
        ({"model": "m", "message": OPENAI[2], "done": True}, 1),
        ({"instructions": "Be short.", "messages": OPENAI[1:]}, 3),
    ],
)
def test_requests_and_responses_of_every_api_are_recognised(
    document: dict[str, Any], texts: int
) -> None:
    assert len(read_file(json.dumps(document).encode(), "a.json")[0]) == texts


def test_two_conversations_in_one_document_are_refused() -> None:
    with pytest.raises(BadSource, match="input: a second conversation"):
        read_file(json.dumps({"messages": ANTHROPIC, "input": "Hi"}).encode(), "a.json")


def test_the_form_in_which_something_was_said_makes_it_nothing_new() -> None:
    known = set[str]()
    call = {"role": "assistant", "content": [CALL]}
    told = {"role": "system", "content": "Be brief."}
    first = [{"role": "user", "content": "Read a.py"}, call, {"role": "user", "content": [RESULT]}]
    assert len(import_new([*first, told], known, document=True)[0]) == 4
    failed = {"role": "user", "content": [{**RESULT, "is_error": False}]}
    other_form = [
        *ANTHROPIC[:2],
        failed,
        {**told, "content": [{"type": "text", "text": "Be brief."}]},
    ]
    assert import_new(other_form, known, document=True) == ([], {"there": 4})


@pytest.mark.parametrize("grown", [ANTHROPIC, OPENAI[1:]])
def test_a_document_whose_provider_is_known_only_after_it_has_grown_adds_what_is_new(
    grown: list[dict[str, Any]],
) -> None:
    known = set[str]()
    text = [{"type": "text", "text": "Mind the bar.", "cache_control": {"type": "ephemeral"}}]
    first = [{"role": "system", "content": "Be brief."}, {"role": "user", "content": text}]
    assert len(import_new(first, known, document=True)[0]) == 2
    messages, skipped = import_new([*first, *grown], known, document=True)
    assert (len(messages), skipped) == (len(grown), {"there": 2})
