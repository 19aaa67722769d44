"""The calls of one conversation: each is the one before with more after it, or begins with a cut.

Whether a call goes on or is cut is decided here, and what it adds is recorded, under the lock of
the conversation. In memory is the call so far, nothing else; it is read from the store again where
another process has made a call since. How a cut is made is `cut_call`'s business.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from time import perf_counter
from typing import Any

from foreword.engine.conversation_text import ConversationText
from foreword.engine.package import Package
from foreword.errors import EssentialsTooLarge
from foreword.messages.call_pairs import group_by_calls
from foreword.messages.message import (
    IMAGE_TOKENS,
    Message,
    bound_thinking,
    without_bound_thinking,
)
from foreword.prices import cost_of_call
from foreword.section import STATE
from foreword.session import call_log
from foreword.session.call_log import Reuse
from foreword.session.call_text import (
    CallText,
    call_of,
    entry_text,
    package_of,
    read_head,
    total_tokens,
)
from foreword.session.call_tools import CallTools
from foreword.session.cut_call import CallInputs, make_cut
from foreword.session.history import History, group_messages
from foreword.session.message_writer import MessageWriter
from foreword.session.session_options import PLAIN_RECIPE, STATE_RECIPE
from foreword.session.state_entries import (
    NewEntry,
    differs,
    logged_state,
    state_entries,
    whole_state,
)
from foreword.session.state_parts import State, with_logged_parts
from foreword.store import cuts, messages, reports
from foreword.store.cuts import FIRST, CallRecord, Cut, CutReason, LogEntry, NewestCall
from foreword.store.database import Database, stamp
from foreword.store.messages import AnswerTo, Conversation, Range, StoredMessage
from foreword.store.session_stamps import SessionStamps
from foreword.tokens import accepts_system_messages

# Of a cut for one of these reasons, calls go on with the messages that they had; after any other,
# older messages may come back.
_SAME_START = frozenset(
    (
        "no room",
        "the system prompt changed",
        "the tools changed",
        "the state changed",
        "the recipe changed",
        "a placeholder was sent for what came later",
        "a secret became known",
    )
)
# The state is written whole again where the lines that changed since are so many times as long.
# With a variable that changes at every turn, 4.2% more tokens are sent than with a state that is
# rebuilt (`benchmarks.prefix_checks`); at 1 it is 5.7%, at 4 3.5% and twice as much to read.
OUTGROWN = 2
THINKING_UNKNOWN = "{:,} thinking blocks are not sent: what was sent before them is not known"
THINKING_LOST = "{:,} thinking blocks are not sent any more: what was sent before them has changed"


@dataclass(frozen=True, slots=True, kw_only=True)
class SentCall:
    """The call that was made last."""

    text: CallText
    cut: Cut
    entries: Sequence[LogEntry]
    last: int  # the newest message in it
    tags: frozenset[str]  # that nothing in it may open or close
    is_intact: bool = True  # else what is known by now to be secret was in it


@dataclass(frozen=True, slots=True, kw_only=True)
class NextCall:
    """The next call: one that goes on, or one that begins with a cut."""

    text: CallText
    lines: Sequence[StoredMessage] = ()  # that it goes on with
    entries: Sequence[NewEntry] = ()
    entry_texts: Sequence[ConversationText] = ()
    reason: CutReason | None = None
    detail: str = ""
    start: int = 0  # the first message after the head of a cut
    thinking: int = 0  # blocks that a cut omits
    last: int  # the newest message in it


class Calls:
    """Makes the calls of a conversation."""

    def __init__(
        self, db: Database, conversation: Conversation, writer: MessageWriter, model: str | None
    ) -> None:
        self.db = db
        self.conversation = conversation
        self.writer = writer
        self._model = model
        self._sent: SentCall | None = None
        self._hidden = ""  # the digest of the secrets that are hidden in it
        self._answer_to = AnswerTo()
        # the tokens of what changed from a call to a state
        self._appended: tuple[str, State | None, int] = ("", None, 0)

    # --- messages ---------------------------------------------------------------------------------

    def append(
        self, rows: Sequence[tuple[Message, int, bool]], records: Sequence[str] = ()
    ) -> list[StoredMessage]:
        """Keep messages, each with its tokens and whether it is pinned."""
        lines = messages.append(
            self.db, self.conversation.id, rows, records, answer_to=self._answer_to
        )
        goes_on = lines[-1].seq if lines and lines[-1].answers else 0
        self._answer_to = replace(self._answer_to, goes_on=goes_on)
        return lines

    def history(self) -> History:
        """The history as a cut would read it."""
        return History.load(self.db, self.conversation, self.writer.tokens_of)

    def omits(self, seq: int) -> bool:
        """Return whether calls do not have a message of the history."""
        cut = cuts.newest_cut(self.db, self.conversation.id)
        if cut is None or seq >= cut.start:
            return False
        return all(seq < group.first or seq > group.last for group in self.history().staying)

    # --- the next call ----------------------------------------------------------------------------

    def preview(self, inputs: CallInputs, *, may_fill: bool = False) -> Package:
        """The next call, of which nothing is recorded; one that may fill its budget is cut."""
        log = cuts.newest_call(self.db, self.conversation.id)
        inputs, writer = self._with_log(inputs, log)
        before = self._last_call(inputs, writer, log)
        if may_fill:
            call = self._cut(inputs, writer, before, "requested", may_fill=True)
        else:
            call = self._next(inputs, writer, before, log)
        return self._package(call, inputs, writer, before)

    def make(self, inputs: CallInputs) -> Package:
        """Make the next call and record it: its report, what it left out, what it adds to the
        log."""
        began = perf_counter()
        with messages.write_lock(self.db, self.conversation.id):
            log = cuts.newest_call(self.db, self.conversation.id)
            inputs, writer = self._with_log(inputs, log)
            before = self._last_call(inputs, writer, log)
            call = self._next(inputs, writer, before, log)
            package = self._package(call, inputs, writer, before)
            self._record(call, inputs, package, before, log, began)
        return package

    def appended_tokens(self, now: SessionStamps, state: State) -> int:
        """The tokens that the next call has besides messages and what the last one had: what
        changed of the state. Nothing where it begins with a cut."""
        if not now.call_tokens:
            return 0
        sent, known_state, known = self._appended
        if sent != now.sent or known_state is not state:
            log = cuts.newest_call(self.db, self.conversation.id)
            entries = state_entries(
                log.state, with_logged_parts(state, log.state), self.writer.scale, is_first=False
            )
            known = sum(self.writer.scale.counter.count(entry.written) for entry in entries)
            self._appended = (now.sent, state, known)
        return known

    def goes_on(self, inputs: CallInputs) -> tuple[Sequence[Message], int, str]:
        """The messages of the next call and its tokens where it goes on from the last one, else
        why it does not; neither where no call was made."""
        log = cuts.newest_call(self.db, self.conversation.id)
        inputs, writer = self._with_log(inputs, log)
        before = self._last_call(inputs, writer, log)
        if before is None:
            return (), 0, ""
        try:
            call = self._next(inputs, writer, before, log)
        except EssentialsTooLarge:
            return (), 0, "no room"
        if call.reason is not None:
            return (), 0, call.reason
        package = self._package(call, inputs, writer, before)
        beside = sum(IMAGE_TOKENS * text.images + text.data_tokens for text in call.text.written)
        return package.messages, package.report.total_tokens + beside, ""

    def _with_log(self, inputs: CallInputs, log: NewestCall) -> tuple[CallInputs, MessageWriter]:
        """The inputs with what nobody said as the log has it, and a writer that hides secrets."""
        state = with_logged_parts(inputs.state, log.state)
        return replace(inputs, state=state), self.writer.hiding(state.secrets)

    def _next(
        self,
        inputs: CallInputs,
        writer: MessageWriter,
        before: SentCall | None,
        log: NewestCall,
    ) -> NextCall:
        reason, detail = self._cut_reason(inputs, before, log)
        if reason is None:
            assert before is not None
            call = self._extended(inputs, writer, before, log)
            if isinstance(call, NextCall):
                return call
            reason = call
        return self._cut(inputs, writer, before, reason, detail=detail)

    def _cut_reason(
        self, inputs: CallInputs, before: SentCall | None, log: NewestCall
    ) -> tuple[CutReason | None, str]:
        """Why the next call begins with a cut, if it does for another reason than its size."""
        if before is None:
            return FIRST, ""
        if log.cut_due:
            reason: Any = log.cut_due[0]
            return reason, log.cut_due[1]
        recipe = inputs.selection.recipe
        gets_state = (before.cut.recipe, recipe.name) == (PLAIN_RECIPE, STATE_RECIPE)
        is_same = recipe.name == before.cut.recipe or gets_state
        if not is_same or before.tags != self.writer.scale.tags:
            return "the recipe changed", ""
        if not before.is_intact:
            return "a secret became known", ""
        if inputs.tools.is_known and inputs.tools.digest != before.cut.tools:
            return "the tools changed", ""
        if self._came_later(log):
            return "a placeholder was sent for what came later", ""
        prompt_tag = inputs.state.prompt_tag
        prompt = log.state.get(prompt_tag, {"text": ""})["text"]
        if prompt_tag and prompt != inputs.state.system_prompt:
            is_shown = bool(prompt and inputs.state.system_prompt)
            if not (is_shown and self._model and accepts_system_messages(self._model)):
                return "the system prompt changed", ""
        tags = [tag for tag in inputs.state.parts if tag != prompt_tag]
        if recipe.rebuild_state and differs(log.state, inputs.state, tags):
            return "the state changed", ""
        return None, ""

    def _came_later(self, log: NewestCall) -> bool:
        """Return whether something was said for which the call before had a placeholder."""
        if not log.call_open:
            return False
        for line in messages.after(self.db, self.conversation.id, log.call_last):
            if "" in log.call_open or not set(log.call_open).isdisjoint(line.message.results):
                return True
            if line.message.role == "assistant":
                return False
        return False

    def _placeholders(self, call: NextCall, log: NewestCall) -> list[str]:
        """The tool calls that have no result in a call and may still get one; "" where nothing
        was said."""
        said = [message for text in call.text.written for message in text.entry.messages]
        has_state = any(choice.section.kind == STATE for choice in call.text.head.parts)
        if not has_state and not any(message.text.strip() for message in said):
            return [""]
        is_cut = call.reason is not None
        waiting = [] if is_cut else list(log.call_open)
        lines = call.lines
        if is_cut:
            lines = messages.after(self.db, self.conversation.id, call.start - 1)
        speaker = ""
        for line in lines:
            if line.message.role == "assistant" != speaker:
                waiting = []  # what was called before is not answered any more
            speaker = line.message.role
            answered = line.message.results
            waiting = [name for name in (*waiting, *line.message.calls) if name not in answered]
        return waiting

    def _extended(
        self, inputs: CallInputs, writer: MessageWriter, before: SentCall, log: NewestCall
    ) -> NextCall | CutReason:
        """The call before with what is new after it, or why there is a cut instead."""
        lines = messages.after(self.db, self.conversation.id, log.call_last)
        texts = _written(lines, writer)
        text_before = before.text
        if lines and log.call_open:
            text_before = text_before.with_closed_calls(writer)
        last = max(log.call_last, messages.up_to(self.db, self.conversation.id).seq)
        for may_be_whole in (True, False):
            entries = self._new_entries(inputs, writer, before, log, may_be_whole=may_be_whole)
            entry_texts = [entry_text(each.kind, each.written, writer.scale) for each in entries]
            new = [*texts, *entry_texts]
            if _is_system_misplaced(before.text, new):
                return "the system prompt changed"
            text = text_before.with_texts(new)
            if total_tokens(text, writer) <= inputs.budget.tokens:
                return NextCall(
                    text=text, lines=lines, entries=entries, entry_texts=entry_texts, last=last
                )
        return "no room"

    def _new_entries(
        self,
        inputs: CallInputs,
        writer: MessageWriter,
        before: SentCall,
        log: NewestCall,
        *,
        may_be_whole: bool,
    ) -> list[NewEntry]:
        """What to append of the state: changed lines, or all of it where the lines since it was
        last whole have outgrown it."""
        since_whole = 0
        is_first = True
        for entry in before.entries:
            since_whole = 0 if entry.kind == "state" else since_whole + entry.tokens
            is_first = is_first and entry.kind != "changes"
        entries = state_entries(log.state, inputs.state, writer.scale, is_first=is_first)
        count = writer.scale.counter.count
        is_removed = any(tag not in inputs.state.parts for tag in log.state)
        is_changed = any(each.kind == "changes" for each in entries)
        if is_changed and may_be_whole and not is_removed:
            parts = {tag: inputs.state.parts[tag] for tag in inputs.state.parts}
            parts.pop(inputs.state.prompt_tag, None)
            whole = whole_state(parts, writer.scale)
            new = sum(count(each.written) for each in entries)
            if since_whole + new > OUTGROWN * count(whole):
                prompts = [each for each in entries if each.kind == "system"]
                return [NewEntry(kind="state", written=whole), *prompts]
        return entries

    def _cut(
        self,
        inputs: CallInputs,
        writer: MessageWriter,
        before: SentCall | None,
        reason: CutReason,
        *,
        detail: str = "",
        may_fill: bool = False,
    ) -> NextCall:
        start = before.cut.start if before is not None and reason in _SAME_START else 0
        history = self.history()
        text, start = make_cut(
            history,
            writer,
            inputs,
            start=start,
            fill="all" if may_fill else "low" if reason == "no room" else "fit",
        )
        return NextCall(
            text=text,
            start=start,
            reason=reason,
            detail=detail,
            thinking=self._thinking(before, start),
            last=history.extent.seq,
        )

    def _thinking(self, before: SentCall | None, start: int) -> int:
        """How many blocks of thinking a cut omits: those that a call would have that goes on; of a
        first call, all that came from elsewhere."""
        if before is None:
            said = messages.after(self.db, self.conversation.id, start - 1)
            return sum(bound_thinking(line.message) for line in said)
        behind = messages.after(self.db, self.conversation.id, before.last)
        answers = [line.message for line in behind if line.answers]
        return before.text.thinking + sum(map(bound_thinking, answers))

    # --- the call before --------------------------------------------------------------------------

    def _last_call(
        self, inputs: CallInputs, writer: MessageWriter, log: NewestCall
    ) -> SentCall | None:
        """The call that was made last, from memory or from the store."""
        if not log.call:
            return None
        known = self._sent
        if known is None or known.text.sent != log.sent or writer.secrets.digest != self._hidden:
            known = self._read_sent(inputs, writer, log)
            self._sent = known if known.is_intact else None
            self._hidden = writer.secrets.digest
        return known

    def _read_sent(self, inputs: CallInputs, writer: MessageWriter, log: NewestCall) -> SentCall:
        cut = cuts.newest_cut(self.db, self.conversation.id)
        assert cut is not None
        head = read_head(cut.head, inputs.selection, writer)
        lines = messages.between(self.db, Range(self.conversation.id, cut.start, log.call_last))
        old = [line for line in lines if line.seq <= cut.last]
        texts = list[ConversationText]()
        groups = group_messages(old, writer.tokens_of)
        for place, group in enumerate(groups, 1):
            shortened = head.shortened.get(group.first)
            texts.append(shortened or writer.text_of(group, newest=place == len(groups)))
        entries = cuts.entries_of(self.db, self.conversation.id, cut.number)
        behind = [line for line in lines if line.seq > cut.last]
        start = 0
        for entry in entries:
            end = start
            while end < len(behind) and behind[end].seq <= entry.place:
                end += 1
            texts += _written(behind[start:end], writer)
            written = writer.secrets.hide_known_values(entry.written)
            texts.append(entry_text(entry.kind, written, writer.scale))
            start = end
        texts += _written(behind[start:], writer)
        text = call_of(head, texts, writer)
        return SentCall(
            text=text,
            cut=cut,
            entries=entries,
            last=log.call_last,
            tags=frozenset(cut.head["tags"]),
            is_intact=text.sent == log.sent,
        )

    # --- the outcome ------------------------------------------------------------------------------

    def _package(
        self, call: NextCall, inputs: CallInputs, writer: MessageWriter, before: SentCall | None
    ) -> Package:
        notes = list(inputs.notes)
        if call.thinking:
            words = THINKING_UNKNOWN if call.reason == FIRST else THINKING_LOST
            notes.append(words.format(call.thinking))
        profile = {"workflow": inputs.workflow}
        if call.reason not in (None, FIRST):
            profile["cut"] = f"({call.reason})"
        package = package_of(
            call.text,
            writer,
            recipe=inputs.selection.recipe.name,
            budget=inputs.budget,
            profile=profile,
            notes=notes,
            cached=before.text.messages if before is not None and call.reason is None else 0,
        )
        reuse = _reuse(call, before, package)
        cost = cost_of_call(self._model, package.report.total_tokens, reuse.tokens)
        if cost is None:
            return package
        return replace(package, report=replace(package.report, cost=cost))

    def _record(
        self,
        call: NextCall,
        inputs: CallInputs,
        package: Package,
        before: SentCall | None,
        log: NewestCall,
        began: float,
    ) -> None:
        number = log.call + 1
        entry_number = log.call_entry
        reuse = _reuse(call, before, package)
        cut = before.cut if before is not None else None
        entries = list(before.entries) if before is not None else []
        new = list[LogEntry]()
        if call.reason is not None:
            cut = self._new_cut(call, inputs, package, before, number, reuse)
            entries = []
        assert cut is not None
        counter = self.writer.scale.counter
        for entry, text in zip(call.entries, call.entry_texts, strict=True):
            entry_number += 1
            new.append(
                LogEntry(
                    cut=cut.number,
                    number=entry_number,
                    place=call.last,
                    kind=entry.kind,
                    tokens=counter.tokens(text.units),
                    written=entry.written,
                )
            )
        newest = NewestCall(
            call=number,
            call_last=call.last,
            call_tokens=package.report.total_tokens,
            call_running=messages.up_to(self.db, self.conversation.id).running,
            call_entry=entry_number,
            call_open=self._placeholders(call, log),
            call_again=call.last == log.call_last and call.text.sent != log.sent,
            cut_due=(),
            state=logged_state(inputs.state),
            sent=call.text.sent,
        )
        is_cut = call.reason is not None
        cuts.record(
            self.db,
            self.conversation.id,
            CallRecord(call=newest, cut=cut if is_cut else None, entries=new),
        )
        line = call_log.line(
            package.report,
            reuse,
            call=number,
            messages=call.text.messages,
            image_tokens=sum(IMAGE_TOKENS * text.images for text in call.text.written),
            milliseconds=(perf_counter() - began) * 1000,
        )
        reports.save_report(
            self.db,
            package.originals,
            package.report.to_dict(),
            conversation=self.conversation.id,
            usage=line,
        )
        self._sent = SentCall(
            text=call.text,
            cut=cut,
            entries=[*entries, *new],
            last=call.last,
            tags=self.writer.scale.tags,
        )
        self._hidden = inputs.state.secrets.digest
        self._answer_to = AnswerTo(sent=call.text.sent)

    def _new_cut(
        self,
        call: NextCall,
        inputs: CallInputs,
        package: Package,
        before: SentCall | None,
        number: int,
        reuse: Reuse,
    ) -> Cut:
        assert call.reason is not None
        total = package.report.total_tokens
        gap = call.text.head.gap
        return Cut(
            number=before.cut.number + 1 if before is not None else 1,
            created=stamp(),
            call=number,
            reason=call.reason,
            detail=call.detail,
            recipe=inputs.selection.recipe.name,
            tools=_tools_digest(inputs.tools, before),
            start=call.start,
            last=call.last,
            head={**call.text.head.to_dict(), "tags": sorted(self.writer.scale.tags)},
            total_tokens=total,
            omitted_messages=gap.messages if gap else 0,
            omitted_tokens=gap.tokens if gap else 0,
            reread_tokens=_reread(total, reuse, before, self.writer),
            thinking=call.thinking,
        )


def _reread(total: int, reuse: Reuse, before: SentCall | None, writer: MessageWriter) -> int:
    """Return the tokens that the call before had, too, and that a provider reads again."""
    had_before = total_tokens(before.text, writer) if before is not None else 0
    return max(0, min(total, had_before) - reuse.tokens)


def _written(lines: Sequence[StoredMessage], writer: MessageWriter) -> list[ConversationText]:
    """Return messages as a call of this cut has them: thinking goes along with an answer to one."""
    said = list[Message]()
    for line in lines:
        said.append(line.message if line.answers else without_bound_thinking(line.message))
    groups = group_by_calls(said)
    return [writer.write(group, newest=group is groups[-1]) for group in groups]


def _is_system_misplaced(before: CallText, new: Sequence[ConversationText]) -> bool:
    """Return whether a system message would not stand between the user and an answer, or at the
    end: providers take one in the middle nowhere else."""
    known = before.texts or before.head.front
    for older, newer in pairwise([*known[-1:], *new]):
        if _is_system(older) and newer.entry.messages[0].role != "assistant":
            return True
        if _is_system(newer) and older.entry.messages[-1].role not in ("user", "tool"):
            return True
    return not known and any(map(_is_system, new[:1]))


def _is_system(text: ConversationText) -> bool:
    return text.entry.is_own and text.entry.messages[0].role == "system"


def _tools_digest(tools: CallTools, before: SentCall | None) -> str:
    return tools.digest if tools.is_known or before is None else before.cut.tools


def _reuse(call: NextCall, before: SentCall | None, package: Package) -> Reuse:
    """How much of the call begins as the call before did."""
    total = package.report.total_tokens
    if before is None:
        return Reuse(0, total, FIRST)
    if call.reason is None:
        counter = package.report.scale.counter
        history = counter.tokens(before.text.parts_units + before.text.units)
        return Reuse(min(total, history), total, "")
    old = _whole_text(before.text)
    new = _whole_text(call.text)
    same = _common_length(old, new)
    return Reuse(round(total * same / max(1, len(new))), total, call.reason)


def _whole_text(call: CallText) -> str:
    parts = [choice.body.text for choice in call.head.parts]
    front = [text.entry.text for text in call.head.front]
    return "\n".join([*parts, *front, call.mark, *(text.entry.text for text in call.texts)])


def _common_length(one: str, other: str) -> int:
    """Return how many characters two texts begin with in common."""
    low, high = 0, min(len(one), len(other))
    while low < high:
        middle = (low + high + 1) // 2
        if one[low:middle] == other[low:middle]:
            low = middle
        else:
            high = middle - 1
    return low
