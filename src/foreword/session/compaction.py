"""Make the history of a conversation smaller: a summary for the older messages, the newest whole.

The originals stay in the store; a summary names what it stands for, and the next one folds it in. A
model may write it; where its answer will not do, the built-in compressor does, and the note says
so.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

from foreword.engine.render import turn_text
from foreword.errors import ModelFailed, UsageError
from foreword.message import Message
from foreword.models import ask
from foreword.secrets.known_values import KnownValues
from foreword.session.message_cache import (
    MessageCache,
    size_of,
    summary_message,
    timeline_message,
)
from foreword.session.secret_messages import without_secrets
from foreword.session.summary import summary_prompt
from foreword.session.summary.compress import compress
from foreword.session.summary.plan_status import mark_finished_tasks
from foreword.session.timeline import Group, group_messages
from foreword.store import compressions, messages
from foreword.store.compressions import number_of
from foreword.store.messages import Range
from foreword.tokens import Counter

# Of the target, for messages that stay whole; the rest is the summary's. The newest messages are
# what the agent is working on; more for them leaves less for everything before.
NEWEST_SHARE = 0.4
# A summary gets at least so much, even where what stays whole has taken the target: with less it
# would hold its headings and little else.
LEAST_SUMMARY_TOKENS = 200
HEAD_TOKENS = 60  # room for the line that says what a summary stands for; it is counted afterwards
REACHED = 1.1  # "about": up to a tenth over the target
MOST_IDENTIFIERS = 300  # that a model is told to keep: the list is part of its prompt
# A model that writes a summary of a long history takes a while; after this the built-in compressor
# does it, so that no call waits for ever.
MODEL_SECONDS = 120.0
EXTRACT = "extract"
OVERTAKEN = (
    "the history was compressed, or a compression undone, by somebody else meanwhile: this one was"
    " dropped"
)


@dataclass(frozen=True, slots=True)
class LastingParts:
    """What survives a compression by itself, and so need not be in the summary."""

    parts: Sequence[tuple[str, str]] = ()  # tag and text of every fresh part
    identifiers: Sequence[str] = ()  # that the plan and the variables refer to
    finished: Sequence[tuple[str, str]] = ()  # tasks of the plan: description and status


@dataclass(frozen=True, slots=True, kw_only=True)
class Compaction:
    """What a compression did, or would do."""

    last: int  # the summary stands for the messages up to this one
    messages: int  # how many it takes out of sight
    kept_messages: int  # that stay whole
    tokens_before: int  # of the history
    tokens_after: int
    target_tokens: int
    summary: str
    summary_tokens: int
    method: str
    notes: tuple[str, ...] = ()
    applied: bool = False

    @property
    def reached(self) -> bool:
        """Whether the target was reached."""
        return self.tokens_after <= REACHED * self.target_tokens


def plan(
    message_cache: MessageCache,
    *,
    target: int,
    counter: Counter,
    lasting: LastingParts,
    workflow: str,
    model: Any = None,
    timeout_seconds: float = MODEL_SECONDS,
    secrets: KnownValues,
    strict: bool = True,
) -> Compaction:
    """What compressing to about so many tokens comes to; nothing is changed yet. No secret goes
    into a summary.

    A model that can't be asked at all (no such model, no key) is an error if `strict`; else a note,
    as any failure.
    """
    split = _split_history(message_cache, target)
    if not split.last:
        return _nothing_to_compress(message_cache, split, target)
    earlier = message_cache.compression.summary if message_cache.compression else ""
    request = _SummaryRequest(
        messages=[without_secrets(message, secrets) for message in split.old_messages],
        earlier=secrets.hide_known(earlier),
        room=max(LEAST_SUMMARY_TOKENS, target - split.whole_tokens - HEAD_TOKENS),
        lasting=lasting,
        counter=counter,
    )
    if model is None:
        summary = _extract(request)
    else:
        summary = _ask_model(request, model, timeout_seconds, strict=strict)
    message = summary_message(summary.text, split.last, workflow)
    size = counter.count(turn_text("user", message.text) + "\n")
    made = Compaction(
        last=split.last,
        messages=len(split.old_messages),
        kept_messages=split.whole_messages,
        tokens_before=message_cache.history_tokens,
        tokens_after=split.whole_tokens + size,
        target_tokens=target,
        summary=summary.text,
        summary_tokens=size,
        method=summary.method,
        notes=summary.notes,
    )
    return made if made.reached else _with_target_note(made, split.whole_tokens)


def apply(message_cache: MessageCache, made: Compaction) -> Compaction:
    """Put the summary in place of what it stands for; the originals stay where they are.

    Where somebody else has compressed the history or undone a compression since it was planned, it
    is dropped.
    """
    if not made.messages:
        return made
    staying = size_of(message_cache.in_front_of(made.last + 1))
    extent = messages.up_to(message_cache.db, message_cache.conversation.id, made.last)
    added = compressions.add(
        message_cache.db,
        message_cache.conversation.id,
        after=number_of(message_cache.compression),
        last=made.last,
        summary=made.summary,
        method=made.method,
        note="; ".join(made.notes),
        replaced_tokens=extent.running - staying,
        summary_tokens=made.summary_tokens,
        tokens_before=made.tokens_before,
        tokens_after=made.tokens_after,
    )
    if added is None:
        return replace(made, messages=0, notes=(OVERTAKEN,))
    return replace(made, applied=True)


@dataclass(frozen=True, slots=True, kw_only=True)
class _HistorySplit:
    """What a summary is to stand for, and what stays whole: the first message, the pinned, the
    newest."""

    last: int  # the summary stands for the messages up to this one; 0 where there is none
    old_messages: Sequence[Message]
    whole_messages: int
    whole_tokens: int


def _split_history(message_cache: MessageCache, target: int) -> _HistorySplit:
    where = Range(
        message_cache.conversation.id, message_cache.compressed_to + 1, message_cache.known
    )
    lines = messages.between(message_cache.db, where)
    groups = group_messages(map(timeline_message, lines))
    newest_from = _newest_start(groups, round(NEWEST_SHARE * target))
    newest = groups[newest_from:]
    if newest_from == 0:
        return _HistorySplit(
            last=0, old_messages=(), whole_messages=len(lines), whole_tokens=size_of(newest)
        )
    old = groups[:newest_from]
    last = old[-1].last
    staying = message_cache.in_front_of(last + 1)
    staying_numbers = set[int]()
    for group in staying:
        staying_numbers.update(turn.seq for turn in group.turns)
    old_messages = list[Message]()
    for group in old:
        old_messages += [turn.message for turn in group.turns if turn.seq not in staying_numbers]
    return _HistorySplit(
        last=last,
        old_messages=old_messages,
        whole_messages=_message_count(staying) + _message_count(newest),
        whole_tokens=size_of(staying) + size_of(newest),
    )


def _newest_start(groups: Sequence[Group], room: int) -> int:
    """Where the newest groups that fit the room begin; the very newest stays whatever its size."""
    if not groups:
        return 0
    start = len(groups) - 1
    size = groups[start].tokens
    while start > 0 and size + groups[start - 1].tokens <= room:
        start -= 1
        size += groups[start].tokens
    return start


def _message_count(groups: Sequence[Group]) -> int:
    return sum(len(group.turns) for group in groups)


def _nothing_to_compress(
    message_cache: MessageCache, split: _HistorySplit, target: int
) -> Compaction:
    note = (
        "there is nothing to compress: what is there fits already, or is the newest message alone"
    )
    return Compaction(
        last=message_cache.compressed_to,
        messages=0,
        kept_messages=split.whole_messages,
        tokens_before=message_cache.history_tokens,
        tokens_after=message_cache.history_tokens,
        target_tokens=target,
        summary="",
        summary_tokens=0,
        method=EXTRACT,
        notes=(note,),
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class _SummaryRequest:
    """What a summary is made of, and how large it may be."""

    messages: Sequence[Message]
    earlier: str
    room: int
    lasting: LastingParts
    counter: Counter


@dataclass(frozen=True, slots=True)
class _SummaryText:
    """A summary, who wrote it, and notes."""

    text: str
    method: str
    notes: tuple[str, ...] = ()


def _extract(request: _SummaryRequest) -> _SummaryText:
    """The summary of the built-in compressor."""
    made = compress(
        request.messages,
        request.room,
        request.counter,
        earlier=request.earlier,
        keep=request.lasting.identifiers[:MOST_IDENTIFIERS],
        finished=request.lasting.finished,
    )
    return _SummaryText(made.text, EXTRACT)


def _ask_model(
    request: _SummaryRequest, model: Any, timeout_seconds: float, *, strict: bool
) -> _SummaryText:
    """The summary that the model wrote; where it will not do, the built-in one and a note."""
    words = "\n".join([request.earlier, *(message.text for message in request.messages)])
    identifiers = request.lasting.identifiers[:MOST_IDENTIFIERS]
    keep = [name for name in identifiers if name in words]
    try:
        answer = ask(
            model,
            summary_prompt.instructions(request.room, keep),
            summary_prompt.request(request.lasting.parts, request.earlier, request.messages),
            timeout_seconds=timeout_seconds,
        ).text
        problem = summary_prompt.problem_with(answer, request.room, keep, request.counter)
    except (ModelFailed, UsageError) as failed:
        if strict and isinstance(failed, UsageError):
            raise
        answer = ""
        problem = failed.message
    if problem:
        note = f"{problem}: the built-in compressor was used"
        return replace(_extract(request), notes=(note,))
    text = mark_finished_tasks(answer, request.lasting.finished)
    return _SummaryText(text, _model_name(model))


def _with_target_note(made: Compaction, whole_tokens: int) -> Compaction:
    note = (
        f"the target of {made.target_tokens:,} tokens can't be reached: {whole_tokens:,} are in"
        " messages that stay whole (the first, the pinned, the newest)"
    )
    return replace(made, notes=(*made.notes, note))


def _model_name(model: Any) -> str:
    if isinstance(model, str):
        return model
    return str(getattr(model, "model_name", type(model).__name__))
