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
from foreword.session.message_cache import MessageCache, size_of, summary_message
from foreword.session.secret_messages import without_secrets
from foreword.session.summary import summary_prompt
from foreword.session.summary.compress import compress
from foreword.session.summary.plan_status import mark_finished_tasks
from foreword.session.timeline import Group, TimelineMessage, group_messages
from foreword.store import compressions, messages
from foreword.store.compressions import number_of
from foreword.store.messages import Range
from foreword.tokens import Counter

NEWEST_SHARE = 0.4  # of the target, for messages that stay whole
LEAST_SUMMARY_TOKENS = 200
HEAD_TOKENS = 60  # the line that says what a summary stands for
REACHED = 1.1  # "about": up to a tenth over the target
MOST_KEPT = 300  # identifiers
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
    settled: Sequence[tuple[str, str]] = ()  # tasks that are over: description and status


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
    transcript: MessageCache,
    target: int,
    counter: Counter,
    known: LastingParts,
    workflow: str,
    model: Any = None,
    timeout_seconds: float = MODEL_SECONDS,
    *,
    secrets: KnownValues,
    strict: bool = True,
) -> Compaction:
    """What compressing to about so many tokens comes to; nothing is changed yet. No secret goes
    into a summary.

    A model that can't be asked at all (no such model, no key) is an error if `strict`; else a note,
    as any failure.
    """
    where = Range(transcript.conversation.id, transcript.compressed_to + 1, transcript.known)
    turns = [
        TimelineMessage(line.seq, line.message, line.tokens, line.pinned)
        for line in messages.between(transcript.db, where)
    ]
    old, newest = _split(group_messages(turns), round(NEWEST_SHARE * target))
    before = transcript.history_tokens
    if not old:
        note = (
            "there is nothing to compress: what is there fits already, or is the newest message"
            " alone"
        )
        return Compaction(
            last=transcript.compressed_to,
            messages=0,
            kept_messages=len(turns),
            tokens_before=before,
            tokens_after=before,
            target_tokens=target,
            summary="",
            summary_tokens=0,
            method=EXTRACT,
            notes=(note,),
        )
    last = old[-1].last
    stays = [turn for group in transcript.in_front_of(last + 1) for turn in group.turns]
    staying = {turn.seq for turn in stays}
    gone = [turn.message for group in old for turn in group.turns if turn.seq not in staying]
    said = [without_secrets(message, secrets) for message in gone]
    kept = sum(turn.tokens for turn in stays) + sum(group.tokens for group in newest)
    room = max(LEAST_SUMMARY_TOKENS, target - kept - HEAD_TOKENS)
    earlier = secrets.known(transcript.compression.summary) if transcript.compression else ""
    summary, method, notes = _summary(
        said, room, counter, known, earlier, model, timeout_seconds, strict=strict
    )
    size = counter.count(turn_text("user", summary_message(summary, last, workflow).text) + "\n")
    made = Compaction(
        last=last,
        messages=len(said),
        kept_messages=len(stays) + sum(len(group.turns) for group in newest),
        tokens_before=before,
        tokens_after=kept + size,
        target_tokens=target,
        summary=summary,
        summary_tokens=size,
        method=method,
        notes=notes,
    )
    return made if made.reached else _short_of_target(made, kept)


def apply(transcript: MessageCache, made: Compaction) -> Compaction:
    """Put the summary in place of what it stands for; the originals stay where they are.

    Where somebody else has compressed the history or undone a compression since it was planned, it
    is dropped.
    """
    if not made.messages:
        return made
    staying = size_of(transcript.in_front_of(made.last + 1))
    originals = (
        messages.up_to(transcript.db, transcript.conversation.id, made.last).running - staying
    )
    kept = compressions.add(
        transcript.db,
        transcript.conversation.id,
        after=number_of(transcript.compression),
        last=made.last,
        summary=made.summary,
        method=made.method,
        note="; ".join(made.notes),
        tokens_before=originals,
        tokens_after=made.summary_tokens,
    )
    return replace(made, applied=True) if kept else replace(made, messages=0, notes=(OVERTAKEN,))


def _split(groups: Sequence[Group], room: int) -> tuple[list[Group], list[Group]]:
    """The older groups, and the newest that fit the room; the very newest stays whatever its
    size."""
    kept, size = min(1, len(groups)), groups[-1].tokens if groups else 0
    for group in reversed(groups[:-1]):
        if size + group.tokens > room:
            break
        kept, size = kept + 1, size + group.tokens
    return list(groups[: len(groups) - kept]), list(groups[len(groups) - kept :])


def _summary(
    said: Sequence[Message],
    room: int,
    counter: Counter,
    known: LastingParts,
    earlier: str,
    model: Any,
    timeout_seconds: float,
    *,
    strict: bool,
) -> tuple[str, str, tuple[str, ...]]:
    """The text of the summary, who wrote it, and notes."""
    notes: tuple[str, ...] = ()
    if model is not None:
        words = "\n".join([earlier, *(message.text for message in said)])
        keep = [name for name in known.identifiers[:MOST_KEPT] if name in words]
        try:
            asked = (
                summary_prompt.instructions(room, keep),
                summary_prompt.request(known.parts, earlier, said),
            )
            answer = ask(model, *asked, timeout_seconds=timeout_seconds).text
            problem = summary_prompt.problem_with(answer, room, keep, counter)
        except (ModelFailed, UsageError) as failed:
            if strict and isinstance(failed, UsageError):
                raise
            answer, problem = "", failed.message
        if not problem:
            return mark_finished_tasks(answer, known.settled), _name(model), ()
        notes = (f"{problem}: the built-in compressor was used",)
    made = compress(
        said,
        room,
        counter,
        earlier=earlier,
        keep=known.identifiers[:MOST_KEPT],
        settled=known.settled,
    )
    return made.text, EXTRACT, notes


def _short_of_target(made: Compaction, kept: int) -> Compaction:
    note = (
        f"the target of {made.target_tokens:,} tokens can't be reached: {kept:,} are in messages"
        " that stay whole (the first, the pinned, the newest)"
    )
    return replace(made, notes=(*made.notes, note))


def _name(model: Any) -> str:
    return (
        model if isinstance(model, str) else str(getattr(model, "model_name", type(model).__name__))
    )
