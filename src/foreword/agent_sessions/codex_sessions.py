"""Session files ("rollouts") of Codex: items of the Responses API, each in a line with its kind.

What Codex itself says in the user's name (AGENTS.md, the environment, a summary) is told by the
kinds that newer versions write beside each text, in older files by how it begins.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping

from foreword.agent_sessions.events import (
    UNREADABLE,
    AgentEvent,
    AttachmentEvent,
    CompactionEvent,
    MessageEvent,
    ModelCallEvent,
    SessionHead,
    Values,
    mapping_or_empty,
    number,
    typed_message,
)
from foreword.errors import BadSource
from foreword.formats import openai_responses
from foreword.formats.fields import FieldPath

AGENT = "codex"
_ABOUT = "internal_chat_message_metadata_passthrough"
_TYPED = "user."  # opens the kind of what a person gave
# In front of a summary, in Codex's own words.
_SUMMARY_LEAD = "use the information in this summary to assist with your own analysis:"
_KINDS = ("session_meta", "response_item", "event_msg", "turn_context", "compacted")


def is_session(value: Values) -> bool:
    """Whether a line is one of Codex's."""
    has_payload = isinstance(value.get("payload"), Mapping) and value.get("type") in _KINDS
    return has_payload or ("instructions" in value and "id" in value and "role" not in value)


def events(lines: Iterable[Values], skipped: Counter[str]) -> Iterator[AgentEvent]:
    """What happened, in order."""
    model = ""
    total = -1  # of the tokens counted so far: the same count is often written twice
    # the newest words of the model, which may be the summary itself
    held: MessageEvent | None = None
    for line in lines:
        payload = _payload(line)
        time = str(line.get("timestamp", ""))
        kind = line.get("type")
        if kind == "compacted":
            summary = _summary_text(payload)
            if held is not None and held.message.text.strip() not in summary:
                yield held
            held = None
            yield CompactionEvent(summary=summary, time=time)
            continue
        if kind == "turn_context":
            model = str(payload.get("model", model))
        found = _events_of(line, payload, time, skipped)
        call = _model_call(payload, model, time)
        if call is not None and call[0] != total:
            total = call[0]
            found = [*found, call[1]]
        for event in found:
            if isinstance(event, MessageEvent):
                if held is not None:
                    yield held
                held = event if event.message.role == "assistant" else None
                if held is not None:
                    continue
            yield event
    if held is not None:
        yield held


def _payload(line: Values) -> Values:
    payload = line.get("payload")
    return payload if isinstance(payload, Mapping) else line


def _events_of(line: Values, payload: Values, time: str, skipped: Counter[str]) -> list[AgentEvent]:
    kind = line.get("type")
    if kind == "session_meta":
        name = payload.get("id") or payload.get("session_id") or ""
        folder = str(payload.get("cwd", ""))
        return [SessionHead(agent=AGENT, session=str(name), folder=folder)]
    if kind == "response_item" or "payload" not in line:
        return _item_events(payload, time, skipped)
    return []


def _item_events(item: Values, time: str, skipped: Counter[str]) -> list[AgentEvent]:
    if item.get("type") == "reasoning" or not openai_responses.is_item(item):
        return []
    try:
        message = openai_responses.read_item(item, FieldPath(where="session", path="item"))
    except BadSource:
        skipped[UNREADABLE] += 1
        return []
    kinds = _content_kinds(item)
    by_agent = message.role == "system" or (message.role == "user" and not _is_typed(kinds))
    if message.role == "user" and not kinds:
        by_agent = typed_message(message) is None
    if by_agent:
        source = kinds[0].partition(".")[0].replace("_", " ") if kinds else "notes of the agent"
        return [AttachmentEvent(source=source, text=message.text)]
    return [MessageEvent(message=message, by_user=message.role == "user", time=time)]


def _content_kinds(item: Values) -> list[str]:
    kinds = mapping_or_empty(item.get(_ABOUT)).get("content_item_kinds")
    return [str(kind) for kind in kinds] if isinstance(kinds, list) else []


def _is_typed(kinds: list[str]) -> bool:
    return any(kind.startswith(_TYPED) for kind in kinds)


def _summary_text(payload: Values) -> str:
    text = str(payload.get("message") or "")
    _, lead, summary = text.partition(_SUMMARY_LEAD)
    return summary.strip() if lead else text.strip()


def _model_call(payload: Values, model: str, time: str) -> tuple[int, ModelCallEvent] | None:
    """A count of tokens, with the total up to it."""
    info = payload.get("info")
    if payload.get("type") != "token_count" or not isinstance(info, Mapping):
        return None
    last = info.get("last_token_usage")
    total = info.get("total_token_usage")
    if not isinstance(last, Mapping) or not isinstance(total, Mapping):
        return None
    cached = number(last.get("cached_input_tokens"))
    call = ModelCallEvent(
        model=model,
        input_tokens=max(0, number(last.get("input_tokens")) - cached),
        cache_read_tokens=cached,
        output_tokens=number(last.get("output_tokens")),
        time=time,
    )
    return number(total.get("total_tokens")), call
