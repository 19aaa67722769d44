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
from foreword.messages.anthropic import to_anthropic
from foreword.messages.message import Message
from foreword.messages.openai_responses import from_responses
from foreword.messages.parts import Part, Text
from foreword.messages.pydantic_ai import to_pydantic_ai_json
from foreword.transcripts.import_file import read_transcript
from tests.corpus import check_each, rows
from tests.messages.conversation import JSON, NEUTRAL, from_anthropic, from_openai

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


def test_what_can_not_be_read_is_refused_by_its_path_before_anything_is_stored() -> None:
    def is_refused(case: dict[str, Any]) -> None:
        data = case["data"].encode("latin-1") * case.get("times", 1)
        with pytest.raises(BadSource) as caught:
            list(read_transcript(data, case["file"]))
        assert caught.value.message.startswith(case["error"])

    check_each(rows("transcripts/refused.jsonl"), is_refused)


@given(JSON)
def test_json_of_any_form_is_read_or_refused(value: object) -> None:
    for data in (json.dumps(value).encode(), lines([value, value])):
        try:
            list(read_transcript(data, "talk"))
        except BadSource as error:
            assert error.path == "talk"  # noqa: PT017


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


def test_another_conversation_with_the_same_words_in_it_is_imported_whole() -> None:
    known = set[str]()
    import_new(OPENAI, known)
    assert len(import_new([OPENAI[1], OPENAI[2]], known)[0]) == 2


def test_what_was_rewound_after_it_was_imported_is_told_apart() -> None:
    def line(name: str, role: str, text: str) -> dict[str, Any]:
        parent = {"parentUuid": "u1" if name != "u1" else None, "sessionId": "s"}
        return {"type": role, "uuid": name, **parent, "message": {"role": role, "content": text}}

    known = set[str]()
    first = [line("u1", "user", "Go."), line("a1", "assistant", "Left.")]
    import_new(first, known)
    messages, skipped = import_new([*first, line("a2", "assistant", "Right.")], known)
    assert [message.text for message in messages] == ["Right."]
    assert skipped == {"rewound since": 1, "there": 1}


def test_marks_go_to_no_provider() -> None:
    assert to_anthropic(import_new(ANTHROPIC, set())[0]) == ANTHROPIC


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


@pytest.mark.parametrize(
    ("document", "texts"),
    [
        ({"method": "POST", "path": "/v1/x", "body": {"messages": ANTHROPIC}}, 3),
        ({"contents": [{"parts": [{"text": "Hi"}]}], "systemInstruction": "Be short."}, 2),
        ({"candidates": [{"content": {"role": "model", "parts": [{"text": "Hi"}]}}]}, 1),
        ({"choices": [{"index": 0, "message": OPENAI[2]}], "usage": {}}, 1),
        ({"model": "m", "message": OPENAI[2], "done": True}, 1),
        ({"message": OPENAI[2], "raw": None}, 1),
        ({"instructions": "Be short.", "messages": OPENAI[1:]}, 3),
    ],
)
def test_requests_and_responses_of_every_api_are_recognised(
    document: dict[str, Any], texts: int
) -> None:
    assert len(read_file(json.dumps(document).encode(), "a.json")[0]) == texts


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
