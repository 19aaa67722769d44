"""Keep a conversation within its limits: measure it, warn once, compress it in time.

Where the limits are is `limits`' business, how a history is compressed `compaction`'s; this decides
when, and what the caller is told about it.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from shlex import quote
from typing import Any

from foreword.compression.checked_summary import check_incoming, is_checkable
from foreword.messages.message import Message
from foreword.plan import plan as planning
from foreword.recipe.selection import Selection
from foreword.secrets.known_values import KnownValues
from foreword.section import Budget
from foreword.session import compaction
from foreword.session.call_tools import NOT_KNOWN, CallTools
from foreword.session.calls import Calls
from foreword.session.compaction import Compaction, ConversationRequest, LastingParts
from foreword.session.cut_call import CallInputs
from foreword.session.session_options import SessionOptions
from foreword.session.state_parts import State, StateReader
from foreword.session.workflow_state import WorkflowState
from foreword.store import compressions, messages
from foreword.store.session_stamps import SessionStamps, read_stamps
from foreword.text.names import literals
from foreword.text.quantity import quantity

# After a compression that missed its target or was undone, the history grows by a quarter of
# `compress_at` before the next try. Much less would try at nearly every message, and may ask a
# model each time; much more would let the history grow far past the limit.
GROWTH_DIVISOR = 4
# Of what a call is compressed to, the least that is worth compressing a history to; and of what the
# other parts leave below `compress_at`, since four times as much is then free to grow.
LEAST_HISTORY_SHARE = 0.2


@dataclass(frozen=True, slots=True, kw_only=True)
class Room:
    """The size of a context with what is to come, what it was worked out from, and the compression
    that made room for it."""

    size_tokens: int
    now: SessionStamps
    selection: Selection  # the recipe as it holds now
    state: State
    tools: CallTools  # that go with it
    compaction: Compaction | None = None


class SizeControl:
    """Measures one conversation and compresses it."""

    def __init__(
        self,
        state: WorkflowState,
        options: SessionOptions,
        calls: Calls,
        states: StateReader,
        tools: CallTools,
    ) -> None:
        self._state = state
        self._options = options
        self._limits = options.limits
        self._calls = calls
        self._states = states
        self.tools = tools  # of the last call
        self._last_state: tuple[State | None, int] = (None, 0)  # and the tokens of its parts

    def measure(
        self, *, more: int = 0, browser: object = None, tools: CallTools | None = None
    ) -> Room:
        """What the next call would have with nothing left out, its tools included, and so many
        tokens more.

        A browser's tabs count where they are given, and tools are those of the last call where none
        are.
        """
        now = read_stamps(self._calls.db, self._calls.conversation.id)
        state = self._states.read(now, browser)
        tools = tools or self.tools
        selection = self._options.selection_for(now, browser)
        size = self._parts_tokens(state) + now.history_tokens
        if now.call_tokens and not selection.recipe.rebuild_state:
            appended = now.running - now.call_running + self._calls.appended_tokens(now, state)
            size = max(size, now.call_tokens + appended)
        size += tools.tokens + more
        return Room(size_tokens=size, now=now, selection=selection, state=state, tools=tools)

    def size_tokens(self) -> int:
        """What the next call would have with nothing left out."""
        return self.measure().size_tokens

    def make_room(
        self, *, more: int = 0, browser: object = None, tools: CallTools | None = None
    ) -> Room:
        """Room for so many tokens more, by a compression where that would be past the limit.

        Nothing is compressed while the last try is known to have been no use.
        """
        if tools is not None:
            self.tools = tools
        room = self.measure(more=more, browser=browser)
        if not self.is_compression_due(room):
            return room
        made = self._compress(
            room.now,
            target=self.target(room),
            model=self._options.compress_with,
            strict=False,
            browser=browser,
        )
        after = self.measure(more=more, browser=browser)
        if not made.applied or after.size_tokens > self._limits.compress_at:
            self._wait_for_growth(after.now.running)
        if after.size_tokens > self._limits.compress_at:
            made = replace(made, notes=(*made.notes, self._remaining_note(after.size_tokens)))
        return replace(after, compaction=made)

    def is_compression_due(self, room: Room) -> bool:
        """Whether the next context is made of a compressed history."""
        if not self._options.auto_compress or room.size_tokens <= self._limits.compress_at:
            return False
        return room.now.running >= room.now.quiet_until and not self._calls.db.read_only

    def target(self, room: Room) -> int:
        """What the next call is compressed to unasked. Where the other parts and the tools take
        nearly all of that, the history has a share of what they leave below the limit instead: it
        can be compressed, and would else only be cut."""
        limits = self._limits
        others = self._parts_tokens(room.state) + room.tools.tokens
        if limits.compress_to - others >= LEAST_HISTORY_SHARE * limits.compress_to:
            return limits.compress_to
        left = max(0, limits.compress_at - others)
        return max(limits.compress_to, others + round(LEAST_HISTORY_SHARE * left))

    def _remaining_note(self, size: int) -> str:
        return (
            f"the context still has {size:,} tokens, past {self._limits.compress_at:,}, and can't"
            " be compressed any further for now: the other parts, the first, the pinned and the"
            " newest messages stay, and are shortened where they have to be"
        )

    def compress(
        self, *, target: int, model: Any, question: str = "", preview: bool = False
    ) -> Compaction:
        """Compress the history so that the next call has so many tokens, unless it is only a
        preview."""
        now = read_stamps(self._calls.db, self._calls.conversation.id)
        return self._compress(
            now, target=target, model=model, question=question, preview=preview, strict=True
        )

    def _compress(
        self,
        now: SessionStamps,
        *,
        target: int,
        model: Any,
        strict: bool,
        question: str = "",
        preview: bool = False,
        browser: object = None,
    ) -> Compaction:
        state = self._states.read(now, browser)
        so_far = None
        if model is not None and not preview:
            so_far = self._request_so_far(now, state, browser)
        history = self._calls.history()
        writer = self._calls.writer.hiding(state.secrets)
        made = compaction.plan(
            history,
            writer,
            target=target,
            parts_tokens=self._parts_tokens(state) + self.tools.tokens,
            lasting=self._lasting_parts(state),
            workflow=self._state.workflow.name,
            question=question,
            model=model,
            so_far=so_far,
            timeout_seconds=self._options.compress_timeout_seconds,
            strict=strict,
        )
        if preview or not made.summary:
            return made
        made = compaction.apply(history, writer, made)
        if made.reached:
            self._set_limits(quiet_until=0)
        else:
            self.wait_from_now()
        return made

    def measure_left_out(self) -> None:
        """Keep by how much a history that has just become another one is smaller than all that was
        said: the size of a session is told by it, without its messages."""
        history = self._calls.history()
        made = history.compression
        if made is not None:
            left_out = history.left_out(self._calls.writer.hiding(KnownValues()).tokens_within)
            compressions.set_left_out(
                self._calls.db, self._calls.conversation.id, made.number, left_out
            )

    def check_summaries(
        self, new: Sequence[Message], kept: Sequence[Message], warn: Callable[[str], None]
    ) -> list[Message]:
        """New messages, each summary among them checked against what is kept, what is new in front
        of it, and the fresh parts; `warn` is told what was found."""
        now = read_stamps(self._calls.db, self._calls.conversation.id)
        parts = self._states.read(now).texts
        checked = list[Message]()
        for message in new:
            if is_checkable(message):
                message, notes = check_incoming(
                    message,
                    [*kept, *checked],
                    also=parts.values(),
                    counter=self._calls.writer.scale.counter,
                )
                for note in notes:
                    warn(note)
            checked.append(message)
        return checked

    def inputs(self, room: Room, budget: Budget, notes: Sequence[str] = ()) -> CallInputs:
        """What a call within a budget is made of."""
        return CallInputs(
            state=room.state,
            selection=room.selection,
            tools=room.tools,
            budget=budget,
            workflow=self._state.workflow.name,
            notes=notes,
        )

    def _request_so_far(
        self, now: SessionStamps, state: State, browser: object
    ) -> ConversationRequest:
        """The request that a summary is asked for behind: what the conversation would send now, if
        that goes on from what it sent last, which a provider has in its cache."""
        selection = self._options.selection_for(now, browser)
        room = Room(size_tokens=0, now=now, selection=selection, state=state, tools=self.tools)
        whole_window = replace(self._options.budget, tokens=self._limits.window)
        inputs = self.inputs(room, whole_window)
        said, tokens, problem = self._calls.goes_on(inputs)
        if not self.tools.is_known and self.tools.tokens:
            problem = problem or NOT_KNOWN
        return ConversationRequest(
            messages=tuple(said),
            tools=self.tools.specs,
            tokens=tokens + self.tools.tokens,
            window=self._limits.window,
            problem=problem or self.tools.problem,
        )

    def wait_from_now(self) -> None:
        """Compress again only when the history has grown by a good part."""
        extent = messages.up_to(self._calls.db, self._calls.conversation.id)
        self._wait_for_growth(extent.running)

    def notes(self, room: Room) -> tuple[str, ...]:
        """What to tell the caller: of a compression that nobody asked for, and of the size."""
        return (*self._compaction_notes(room.compaction), *self._size_warning(room))

    def _compaction_notes(self, made: Compaction | None) -> tuple[str, ...]:
        if made is None:
            return ()
        if not made.applied:
            return made.notes
        note = (
            f"the history was compressed: {quantity(made.messages, 'message')} summed up,"
            f" {made.tokens_before:,} tokens to {made.tokens_after:,}; `foreword session undo"
            f" {quote(self._state.workflow.name)}` takes it back"
        )
        return (note, *made.notes)

    def _size_warning(self, room: Room) -> tuple[str, ...]:
        """A warning, once, when the size reaches the limit for it."""
        size = room.size_tokens
        if size < self._limits.warn_at or room.now.warned:
            return ()
        self._set_limits(warned=size, quiet_until=room.now.quiet_until)
        return (
            f"the context has {size:,} tokens, past {self._limits.warn_at:,}; "
            f"its history is compressed before {self._limits.compress_at:,}",
        )

    def _wait_for_growth(self, running: int) -> None:
        """Compress again only when the history has grown from so many tokens; from 0, whenever
        it has to be."""
        growth = self._limits.compress_at // GROWTH_DIVISOR
        self._set_limits(quiet_until=running + growth if running else 0)

    def _set_limits(self, *, warned: int = 0, quiet_until: int) -> None:
        messages.set_limits(
            self._calls.db, self._calls.conversation.id, warned=warned, quiet_until=quiet_until
        )

    def _parts_tokens(self, state: State) -> int:
        """The tokens of the parts, and of the tags around the history."""
        if self._last_state[0] is not state:
            scale = self._calls.writer.scale
            texts = {**state.texts, self._calls.writer.tag: ""}
            # as the engine weighs it, so that a tokenizer sees it once
            sizes = [scale.counter.tokens(scale.units(tag, text)) for tag, text in texts.items()]
            self._last_state = (state, sum(sizes))
        return self._last_state[1]

    def _lasting_parts(self, state: State) -> LastingParts:
        """What a summary need not repeat, and what it must not lose."""
        parts = list(state.texts.items())
        sections = self._options.selection.sections
        identifiers = set[str]()
        for tag, text in parts:
            if sections[tag].show == "variables":
                identifiers.update(literals(text))
        plan = state.plan
        if plan is None:
            return LastingParts(parts, sorted(identifiers))
        identifiers |= planning.identifiers(plan)
        tasks = planning.finished_tasks(plan)
        finished = [(description, status) for _, description, status in tasks]
        return LastingParts(parts, sorted(identifiers), finished)
