"""Make the history of a conversation smaller: a summary for the older messages, the newest whole.

The originals stay in the store; a summary names what it stands for, and the next one folds it in. A
model may write it; where its answer will not do, the built-in compressor does, and the note says
so.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from foreword.compression import prompt
from foreword.compression.attribution import attributed
from foreword.compression.check import evidence_of
from foreword.compression.checked_summary import (
    JOINED_TOKENS,
    CheckedSummary,
    mark_or_strike,
    with_missing_names,
)
from foreword.compression.extract import summarize
from foreword.compression.plan_status import mark_finished_tasks
from foreword.engine.render import turn_text
from foreword.errors import ModelFailed, UsageError
from foreword.messages.message import Message
from foreword.messages.parts import Text
from foreword.models import ToolSpec, ask, reply
from foreword.session.cut_plan import LITTLE
from foreword.session.history import History, size_within, summary_message
from foreword.session.history_split import HistorySplit, current_question, split_history
from foreword.session.message_writer import MessageWriter
from foreword.session.secret_messages import without_secrets
from foreword.store import compressions, messages
from foreword.store.compressions import Compression, number_of
from foreword.tokens import Counter

# Of the room for the history, for the newest messages; the rest is the summary's. They are what the
# agent is working on. On 17 real compactions 0.1 keeps one name in 100 more of those that are
# needed later than 0.15, but then a part that grows a little takes the summary's room.
NEWEST_SHARE = 0.12
# In a small room they get a fifth of it, up to so many tokens: with less, the message before the
# newest is a stub where two of a usual size would stay whole. On the same compactions 400 loses one
# name in 100 of those that are needed later, and 270 none.
LEAST_NEWEST_TOKENS = 270
SMALL_ROOM_SHARE = 0.2
# A summary gets at least so much, even where what stays beside it has taken the target: with less
# it would hold its headings and little else. In a small room it is a share of that.
LEAST_SUMMARY_TOKENS = 200
LEAST_SUMMARY_SHARE = 0.2
MOST_IDENTIFIERS = 300  # that a model is told to keep: the list is part of its prompt
# A model that writes a summary of a long history takes a while; after this the built-in compressor
# does it, so that no call waits for ever.
MODEL_SECONDS = 120.0
EXTRACT = "extract"
ASKED_BY_ITSELF = "the summary was asked for by itself, not behind the last call"
NOTHING_TO_COMPRESS = (
    "there is nothing to compress: what is there fits already, or is the newest message alone"
)
NO_SMALLER = "nothing was compressed: a summary would save nothing"
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
class ConversationRequest:
    """What the conversation would send now, where it begins with what it sent last; a problem where
    it does not, and neither where it has sent nothing."""

    messages: tuple[Message, ...] = ()
    tools: tuple[ToolSpec, ...] = ()
    tokens: int = 0  # with the tools
    window: int = 0  # of the model
    problem: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Compaction:
    """What a compression did, or would do."""

    last: int  # the summary stands for the messages up to this one
    messages: int = 0  # how many it takes out of sight
    kept_messages: int = 0  # that stay whole
    tokens_before: int  # of the history
    tokens_after: int
    parts_tokens: int  # of the fresh parts beside it, and of the tools
    target_tokens: int  # of the whole next call
    summary: str = ""
    summary_tokens: int = 0
    method: str = EXTRACT
    notes: tuple[str, ...] = ()
    applied: bool = False
    # of the first, a pinned or the newest message where it is shown in part: tokens, by its number
    excerpts: Mapping[int, int] = field(default_factory=dict)

    @property
    def reached(self) -> bool:
        """Whether the target was reached."""
        return self.parts_tokens + self.tokens_after <= self.target_tokens


def plan(
    history: History,
    writer: MessageWriter,
    *,
    target: int,
    parts_tokens: int,
    lasting: LastingParts,
    workflow: str,
    question: str = "",
    model: Any = None,
    so_far: ConversationRequest | None = None,
    timeout_seconds: float = MODEL_SECONDS,
    strict: bool = True,
) -> Compaction:
    """What compressing comes to, so that the next call has so many tokens, the fresh parts
    included; nothing is changed yet. No secret goes into a summary.

    The question of the moment is the one given, else the user's last words. A model that can't be
    asked at all (no such model, no key) is an error if `strict`; else a note, as any failure.
    """
    secrets = writer.secrets
    groups = history.groups_from(history.compressed_to + 1)
    earlier = history.compression.summary if history.compression else ""
    room = max(0, target - parts_tokens)
    newest_room = _room_for_newest(room)
    least = min(LEAST_SUMMARY_TOKENS, round(LEAST_SUMMARY_SHARE * room))
    # where the other parts take most, little is for the first message
    split_target = min(target, 2 * room)

    def size_with(text: str, last: int) -> int:
        words = summary_message(text, last, workflow).text
        return writer.scale.counter.count(turn_text("user", words) + "\n")

    for is_retry in (False, True):
        split = split_history(
            history,
            writer,
            groups,
            target=split_target,
            newest_room=newest_room,
            fill=is_retry,
        )
        is_small = parts_tokens + history.tokens <= target
        if not split.last or (is_small and not split.summed_up):
            return _no_compaction(
                history,
                split,
                target=target,
                parts_tokens=parts_tokens,
                note=NOTHING_TO_COMPRESS,
            )
        frame = size_with("", split.last) + JOINED_TOKENS
        request = _SummaryRequest(
            messages=[without_secrets(message, secrets) for message in split.old_messages],
            earlier=secrets.hide_known_values(earlier),
            room=max(least, room - split.shown_tokens - frame),
            lasting=lasting,
            counter=writer.scale.counter,
            question=secrets.hide_known_values(question or current_question(groups)),
            beside=split.shown_text,
            so_far=so_far or ConversationRequest(),
        )
        summary = _write_summary(request, model, timeout_seconds, strict=strict)
        size = size_with(summary.text, split.last)
        # what a summary had nothing for is the newest messages'
        unused = room - split.shown_tokens - size
        most_newest = room - (split.shown_tokens - split.newest_tokens) - frame - least
        if model is not None or unused <= LITTLE * target or newest_room >= most_newest:
            break
        newest_room = min(newest_room + unused, most_newest)
    if not summary.text or split.shown_tokens + size >= history.tokens:
        return _no_compaction(
            history, split, target=target, parts_tokens=parts_tokens, note=NO_SMALLER
        )
    made = Compaction(
        last=split.last,
        messages=split.summed_up,
        kept_messages=split.shown_messages,
        tokens_before=history.tokens,
        tokens_after=split.shown_tokens + size,
        parts_tokens=parts_tokens,
        target_tokens=target,
        summary=summary.text,
        summary_tokens=size,
        method=summary.method,
        notes=summary.notes,
        excerpts=split.excerpts,
    )
    return made if made.reached else _with_target_note(made, split.shown_tokens)


def _room_for_newest(room: int) -> int:
    """Of the room for the history, what the newest messages may have at first."""
    in_a_small_room = min(LEAST_NEWEST_TOKENS, round(SMALL_ROOM_SHARE * room))
    return max(round(NEWEST_SHARE * room), in_a_small_room)


def apply(history: History, writer: MessageWriter, made: Compaction) -> Compaction:
    """Put the summary in place of what it stands for; the originals stay where they are.

    Where somebody else has compressed the history or undone a compression since it was planned, it
    is dropped.
    """
    if not made.summary:
        return made
    extent = messages.up_to(history.db, history.conversation.id, made.last)
    new = Compression(
        last=made.last,
        summary=made.summary,
        method=made.method,
        note="; ".join(made.notes),
        summary_tokens=made.summary_tokens,
        tokens_before=made.tokens_before,
        tokens_after=made.tokens_after,
        excerpts=made.excerpts,
    )
    compressed = replace(history, compression=new, compressed=extent)
    in_front = compressed.in_front_of(made.last + 1)
    staying = size_within(in_front, made.excerpts, writer.tokens_within)
    new = replace(
        new,
        replaced_tokens=extent.running - staying,
        left_out=compressed.left_out(writer.tokens_within),
    )
    before = number_of(history.compression)
    added = compressions.add(history.db, history.conversation.id, new, after=before)
    if added is None:
        return replace(made, messages=0, notes=(OVERTAKEN,))
    return replace(made, applied=True)


def _no_compaction(
    history: History,
    split: HistorySplit,
    *,
    target: int,
    parts_tokens: int,
    note: str,
) -> Compaction:
    """The history as it is, and why."""
    return Compaction(
        last=history.compressed_to,
        kept_messages=split.shown_messages,
        tokens_before=history.tokens,
        tokens_after=history.tokens,
        parts_tokens=parts_tokens,
        target_tokens=target,
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
    question: str  # of the moment
    beside: str  # what is shown anyway
    so_far: ConversationRequest


@dataclass(frozen=True, slots=True)
class _SummaryText:
    """A summary, who wrote it, and notes."""

    text: str
    method: str
    notes: tuple[str, ...] = ()


def _write_summary(
    request: _SummaryRequest, model: Any, timeout_seconds: float, *, strict: bool
) -> _SummaryText:
    """The summary by a model, where there is one to ask, else by the built-in compressor."""
    if model is None:
        return _extract(request)
    return _ask_model(request, model, timeout_seconds, strict=strict)


def _extract(request: _SummaryRequest, *, only_names: bool = False) -> _SummaryText:
    """The summary of the built-in compressor, or its ledger alone."""
    made = summarize(
        request.messages,
        request.room,
        request.counter,
        earlier=request.earlier,
        keep=request.lasting.identifiers[:MOST_IDENTIFIERS],
        finished=request.lasting.finished,
        question=request.question,
        beside=request.beside,
        only_names=only_names,
    )
    return _SummaryText(made, EXTRACT)


def _ask_model(
    request: _SummaryRequest, model: Any, timeout_seconds: float, *, strict: bool
) -> _SummaryText:
    """The summary that the model wrote; where it will not do, the built-in one and a note."""
    words = "\n".join([request.earlier, *(message.text for message in request.messages)])
    identifiers = request.lasting.identifiers[:MOST_IDENTIFIERS]
    keep = [name for name in identifiers if name in words]
    asking_notes: tuple[str, ...] = ()
    try:
        answer, asking_notes = _ask_behind(request, model, timeout_seconds, keep)
        if not answer:
            answer = ask(
                model,
                prompt.instructions(request.room, keep),
                prompt.request(request.lasting.parts, request.earlier, request.messages),
                timeout_seconds=timeout_seconds,
            ).text
        problem = prompt.problem_with(
            answer, request.room, request.counter, stands_for=request.counter.count(words)
        ) or prompt.problem_with_names(answer, keep)
    except (ModelFailed, UsageError) as failed:
        if strict and isinstance(failed, UsageError):
            raise
        answer = ""
        problem = failed.message
    if problem:
        note = f"{problem}: the built-in compressor was used"
        return replace(_extract(request), notes=(note, *asking_notes))
    text, notes = _checked_answer(request, answer)
    return _SummaryText(text, _model_name(model), (*notes, *asking_notes))


def _ask_behind(
    request: _SummaryRequest, model: Any, timeout_seconds: float, keep: Sequence[str]
) -> tuple[str, tuple[str, ...]]:
    """The summary asked for by one message behind the conversation's request, which the provider
    has in its cache; nothing where that can't be, with a note on why."""
    so_far = request.so_far
    instruction = prompt.instruction_behind(request.room, keep)
    problem = so_far.problem
    if not problem:
        asked = so_far.tokens + request.counter.count(instruction)
        if asked + request.room > so_far.window:
            problem = (
                f"{asked:,} tokens and a summary of {request.room:,} are more than the window of"
                f" {so_far.window:,}"
            )
    if problem:
        return "", (f"{ASKED_BY_ITSELF}: {problem}",)
    if not so_far.messages:
        return "", ()
    answer = reply(
        model,
        [*so_far.messages, Message("user", (Text(instruction),))],
        so_far.tools,
        timeout_seconds=timeout_seconds,
    )
    if answer.message.calls:
        return "", (f"{ASKED_BY_ITSELF}: the model called a tool instead of answering",)
    note = (
        f"the summary was asked for behind the last call: {answer.cached_tokens:,} of"
        f" {answer.input_tokens:,} tokens were read from the provider's cache"
    )
    return answer.message.text, (note,)


def _checked_answer(request: _SummaryRequest, answer: str) -> tuple[str, tuple[str, ...]]:
    """A model's summary with what is nowhere in the history marked, or struck where there is no
    room for marks, and with names that it misses added as far as there is room; and notes on
    both."""
    parts = [text for _, text in request.lasting.parts]
    evidence = evidence_of(request.messages, [request.earlier, request.beside, *parts])
    answer = attributed(answer, request.messages, request.earlier)
    marked = mark_or_strike(answer, evidence, room=request.room, counter=request.counter)
    text = mark_finished_tasks(marked.text, request.lasting.finished)
    if request.counter.count(text) > request.room:  # by its tags
        text = summarize((), request.room, request.counter, earlier=text)

    def names_in(room: int) -> str:
        more = replace(request, room=room, beside=f"{request.beside}\n{text}")
        return _extract(more, only_names=True).text

    made = with_missing_names(
        CheckedSummary(text, marked.notes), names_in, room=request.room, counter=request.counter
    )
    return made.text, made.notes


def _with_target_note(made: Compaction, shown_tokens: int) -> Compaction:
    note = (
        f"the target of {made.target_tokens:,} tokens can't be reached:"
        f" {made.parts_tokens:,} are in the other parts, {shown_tokens:,} in messages that stay"
        " (the first, the pinned, the newest)"
    )
    return replace(made, notes=(*made.notes, note))


def _model_name(model: Any) -> str:
    if isinstance(model, str):
        return model
    return str(getattr(model, "model_name", type(model).__name__))
