"""What coding agents really send, read and written again: the same JSON.

`requests.jsonl` has what Claude Code, Codex, Gemini CLI and opencode sent to their providers, with
long texts cut short. Through the readers of their own shape nothing changes. Through detection and
the store one thing may: a text is what a list of one block of text is, for each of these APIs.
"""

from __future__ import annotations

import json
from typing import Any

from foreword.messages.anthropic import to_anthropic_request
from foreword.messages.gemini import from_gemini, to_gemini_request
from foreword.messages.message import Message
from foreword.messages.openai_chat import to_openai
from foreword.messages.openai_responses import from_responses, to_responses
from foreword.messages.record import from_record, to_record
from foreword.transcripts.import_file import read_transcript
from tests.corpus import rows
from tests.messages.conversation import from_anthropic, from_openai

REQUESTS: list[dict[str, Any]] = rows("requests.jsonl")


def read(request: dict[str, Any]) -> tuple[Message, ...]:
    body = request["body"]
    if "contents" in body:
        return from_gemini(body)
    if "input" in body:
        return from_responses(body)
    if request["path"].endswith("/chat/completions"):
        return from_openai(body)
    return from_anthropic(body)


def write(request: dict[str, Any], messages: tuple[Message, ...]) -> dict[str, Any]:
    body = request["body"]
    if "contents" in body:
        return to_gemini_request(messages)
    if "input" in body:
        return {"input": to_responses(messages)}
    if request["path"].endswith("/chat/completions"):
        return {"messages": to_openai(messages)}
    return to_anthropic_request(messages)


def text_as_block(value: Any) -> Any:
    """The request with a block in place of every content that is a text."""
    if isinstance(value, list):
        return [text_as_block(each) for each in value]
    if not isinstance(value, dict):
        return value
    changed = {name: text_as_block(member) for name, member in value.items()}
    if "role" in value and isinstance(value.get("content"), str):
        changed["content"] = [{"type": "text", "text": value["content"]}]
    return changed


def test_a_real_request_is_the_same_json_once_it_is_written_again() -> None:
    for request in REQUESTS:
        assert write(request, read(request)) == request["body"], request["name"]


def test_a_real_request_is_recognised_and_survives_the_store() -> None:
    for request in REQUESTS:
        data = json.dumps(request["body"]).encode()
        kept = tuple(from_record(to_record(message)) for message in read_transcript(data, "a.json"))
        written = write(request, kept)
        assert text_as_block(written) == text_as_block(request["body"]), request["name"]


def test_messages_alone_are_told_by_what_is_marked_for_the_cache() -> None:
    """Claude Code's first request: what the system says behind the user is no new system prompt,
    and no word of the user's."""
    words = {"type": "text", "text": "Build it.", "cache_control": {"type": "ephemeral"}}
    values = [
        {"role": "user", "content": [words]},
        {"role": "system", "content": "Agents that you may start: none."},
    ]
    messages = read_transcript(json.dumps(values).encode(), "a.json")
    assert to_anthropic_request(messages)["messages"] == values
