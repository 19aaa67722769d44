"""Session files ("rollouts") of Codex: items of the Responses API, each in a line with its kind.

What Codex itself says in the user's name (AGENTS.md, the environment, a summary) is marked by the
kinds that newer versions write beside each text, in older files by how it begins.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace

from foreword.errors import BadSource
from foreword.messages import openai_responses
from foreword.messages.fields import FieldPath
from foreword.transcripts import events
from foreword.transcripts.plumbing import is_typed

AGENT = "codex"
ITEM = "item"  # the reply of every item: `openai_responses.join` says which are one message
_ABOUT = "internal_chat_message_metadata_passthrough"
_TYPED = "user."  # begins the kind of what a person gave
# Before a summary, in Codex's own words.
_SUMMARY_LEAD = "use the information in this summary to assist with your own analysis:"
_TOKENS = ("input_tokens", "cached_input_tokens", "output_tokens")
_KINDS = ("session_meta", "response_item", "event_msg", "turn_context", "compacted")


def is_session(value: events.Values) -> bool:
    """Return whether a line is one of Codex's."""
    has_payload = "payload" in value and value.get("type") in _KINDS
    return has_payload or ("instructions" in value and "id" in value and "role" not in value)


def read(lines: Iterable[events.Line], where: str, *, whole: bool) -> Iterator[events.AgentEvent]:
    """Yield what happened, in order."""
    model = ""
    total = -1  # of the tokens counted so far: the same count is often written twice
    held: events.MessageEvent | None = (
        None  # the newest words of the model, perhaps the summary itself
    )
    for number, line in lines:
        payload = events.mapping_or_empty(line.get("payload", line))
        time = str(line.get("timestamp", ""))
        kind = _kind_of(line)
        if kind == "turn_context":
            model = str(payload.get("model", model))
        event: events.AgentEvent
        if kind == "session_meta":
            name = str(payload.get("id") or payload.get("session_id") or "")
            yield events.SessionHead(agent=AGENT, session=name, folder=str(payload.get("cwd", "")))
            event = events.NoteEvent(kind=kind)
        elif kind == "compacted":
            event = events.CompactionEvent(summary=_summary_text(payload), kind=kind, time=time)
        elif kind:
            event = events.NoteEvent(kind=kind)
        else:
            event = _item_event(line.get("payload", line), number, where, time)
        if held is not None and isinstance(event, events.CompactionEvent):
            held = replace(held, is_plumbing=held.message.text.strip() in event.summary)
        if held is not None and isinstance(event, events.MessageEvent | events.CompactionEvent):
            yield held
            held = None
        if isinstance(event, events.MessageEvent) and event.message.role == "assistant":
            held = event
        else:
            yield event
        call = _model_call(payload, model, time)
        if call is not None and call[0] != total:
            total = call[0]
            yield call[1]
    if held is not None:
        yield held


def _kind_of(line: events.Values) -> str:
    """Return the kind of a line that is no item; nothing for an item."""
    kind = line.get("type")
    if not isinstance(kind, str):
        return "session_meta" if "instructions" in line else str(line.get("record_type", ""))
    is_item = kind == "response_item" or "payload" not in line
    return "" if is_item else kind


def _item_event(item: object, number: int, where: str, time: str) -> events.AgentEvent:
    try:
        message = openai_responses.read_message(item, FieldPath(where, "message"))
    except BadSource as error:
        return events.bad_line(error, number)
    kinds = list[str]()
    listed = events.mapping_or_empty(events.mapping_or_empty(item).get(_ABOUT)).get(
        "content_item_kinds"
    )
    if isinstance(listed, list):
        kinds = [str(kind) for kind in listed]
    by_agent = message.role == "system"
    if message.role == "user":
        by_agent = not (any(map(_is_typed_kind, kinds)) if kinds else is_typed(message))
    source = ""
    if by_agent:
        source = kinds[0].partition(".")[0].replace("_", " ") if kinds else events.AGENT_NOTES
    by_user = message.role == "user" and not by_agent
    return events.MessageEvent(
        message=message, by_user=by_user, time=time, reply=ITEM, source=source
    )


def _is_typed_kind(kind: str) -> bool:
    return kind.startswith(_TYPED)


def _summary_text(payload: events.Values) -> str:
    text = str(payload.get("message") or "")
    _, lead, summary = text.partition(_SUMMARY_LEAD)
    return summary.strip() if lead else text.strip()


def _model_call(
    payload: events.Values, model: str, time: str
) -> tuple[int, events.ModelCallEvent] | None:
    """Return a count of tokens, with the total up to it."""
    info = events.mapping_or_empty(payload.get("info"))
    last = info.get("last_token_usage")
    total = info.get("total_token_usage")
    is_count = payload.get("type") == "token_count"
    if not is_count or not isinstance(last, Mapping) or not isinstance(total, Mapping):
        return None
    call = events.call_of_totals(last, _TOKENS, model=model, time=time)
    return events.token_number(total.get("total_tokens")), call
