"""Keep a conversation within its limits: measure it, warn once, compress it in time.

Where the limits are is `limits`' business, how a history is compressed `compaction`'s; this decides
when, and what the caller is told about it.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from shlex import quote
from typing import Any

from foreword.messages.message import Message
from foreword.plan import plan as planning
from foreword.recipe.selection import Selection
from foreword.section import Budget
from foreword.session import compaction
from foreword.session.call_memory import TOOLS_CHANGED, Calls
from foreword.session.call_tools import NOT_KNOWN, CallTools
from foreword.session.checked_summary import check_incoming, is_checkable
from foreword.session.compaction import Compaction, ConversationRequest, LastingParts
from foreword.session.part_texts import PartTexts
from foreword.session.session_options import SessionOptions
from foreword.session.workflow_state import WorkflowState
from foreword.store import compressions, messages
from foreword.store.session_stamps import SessionStamps
from foreword.text.names import literals
from foreword.text.quantity import quantity

# After a compression that missed its target or was undone, the history grows by a quarter of
# `compress_at` before the next try. Much less would try at nearly every message, and may ask a
# model each time; much more would let the history grow far past the limit.
GROWTH_DIVISOR = 4
# A preview writes the summary, which takes a second for 200,000 tokens. A history is compressed
# soon after it is past the limit, so that one of twice its size was brought from elsewhere; of that
# the size after compressing is estimated.
EXACT_PREVIEWS = 2
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
    parts: Mapping[str, str]  # all but the history, by tag
    tools: CallTools  # that go with it
    compaction: Compaction | None = None


class SizeControl:
    """Measures one conversation and compresses it."""

    def __init__(
        self,
        state: WorkflowState,
        options: SessionOptions,
        calls: Calls,
        parts: PartTexts,
        tools: CallTools,
    ) -> None:
        self._state = state
        self._options = options
        self._limits = options.limits
        self._calls = calls
        self._parts = parts
        self.tools = tools  # of the last call
        self._last_browser: object = None  # its tabs at the last call
        self._part_sizes = dict[str, tuple[str, int]]()  # by tag: its text, and the tokens
        self._last_parts: tuple[Mapping[str, str], int] = ({}, 0)  # and the tokens of all
        # the compression that was due, and when
        self._due: tuple[SessionStamps | None, Compaction | None] = (None, None)

    def measure(
        self,
        budget: Budget | None = None,
        *,
        more: int = 0,
        browser: object = None,
        tools: CallTools | None = None,
    ) -> Room:
        """What the next call would have with nothing left out, its tools included, and so many
        tokens more.

        What is in memory of the history is that of the budget from now on; without one, it is as it
        was. A browser's tabs count where they are given, and tools are those of the last call where
        none are.
        """
        budget = budget or self._calls.budget
        now = self._calls.stamps(budget)
        history_tokens = self._calls.refresh(now, budget).history_tokens
        parts = self._parts.texts(now, browser)
        if browser is not None:
            self._last_browser = browser
        tools = tools or self.tools
        size = self._parts_tokens(parts) + tools.tokens + history_tokens + more
        selection = self._options.selection_for(now, browser)
        return Room(size_tokens=size, now=now, selection=selection, parts=parts, tools=tools)

    def make_room(
        self,
        budget: Budget | None = None,
        *,
        more: int = 0,
        browser: object = None,
        tools: CallTools | None = None,
    ) -> Room:
        """Room for so many tokens more, by a compression where that would be past the limit.

        Nothing is compressed while the last try is known to have been no use.
        """
        if tools is not None:
            self.tools = tools
        room = self.measure(budget, more=more, browser=browser)
        self._keep_left_out()
        if not self.is_compression_due(room):
            return room
        made = self._compress(
            room.now,
            target=self._target(room),
            model=self._options.compress_with,
            strict=False,
            browser=browser,
        )
        after = self.measure(budget, more=more, browser=browser)
        if not made.applied or after.size_tokens > self._limits.compress_at:
            self._wait_for_growth(self._calls.message_cache.running)
        if after.size_tokens > self._limits.compress_at:
            made = replace(made, notes=(*made.notes, self._remaining_note(after.size_tokens)))
        return replace(after, compaction=made)

    def is_compression_due(self, room: Room) -> bool:
        """Whether the next context is made of a compressed history."""
        if not self._options.auto_compress or room.size_tokens <= self._limits.compress_at:
            return False
        return self._calls.message_cache.running >= room.now.quiet_until

    def preview_due_compression(self, room: Room) -> Compaction | None:
        """What the compression before the next context comes to by the built-in compressor, if one
        is due; nothing is changed. Of a history far past the limit it is an estimate."""
        if not self.is_compression_due(room) or self._calls.db.read_only:
            return None
        known_for, known = self._due
        if known_for == room.now:
            return known
        target = self._target(room)
        due: Compaction | None
        if room.size_tokens > EXACT_PREVIEWS * self._limits.compress_at:
            due = compaction.estimate(
                self._calls.message_cache,
                target=target,
                parts_tokens=self._parts_tokens(room.parts) + room.tools.tokens,
            )
        else:
            made = self._compress(room.now, target=target, model=None, strict=False, preview=True)
            due = made if made.summary else None
        self._due = (room.now, due)
        return due

    def _target(self, room: Room) -> int:
        """What the next call is compressed to unasked. Where the other parts and the tools take
        nearly all of that, the history has a share of what they leave below the limit instead: it
        can be compressed, and would else only be cut."""
        limits = self._limits
        others = self._parts_tokens(room.parts) + room.tools.tokens
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
        now = self._calls.stamps(self._calls.budget)
        self._calls.refresh(now, self._calls.budget)
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
        message_cache = self._calls.message_cache
        so_far = None
        if model is not None and not preview:
            so_far = self._request_so_far(now)
        texts = self._parts.texts(now, browser)
        made = compaction.plan(
            message_cache,
            self._calls.writer,
            target=target,
            parts_tokens=self._parts_tokens(texts) + self.tools.tokens,
            lasting=self._lasting_parts(texts),
            workflow=self._state.workflow.name,
            question=question,
            model=model,
            so_far=so_far,
            timeout_seconds=self._options.compress_timeout_seconds,
            secrets=self._parts.secrets,
            strict=strict,
        )
        if preview or not made.summary:
            return made
        made = compaction.apply(message_cache, made)
        self.measure_left_out()
        if made.reached:
            self._set_limits(quiet_until=0)
        else:
            self.wait_from_now()
        return made

    def measure_left_out(self) -> None:
        """Keep by how much a history that has just become another one is smaller than all that was
        said."""
        self._calls.refresh(self._calls.stamps(self._calls.budget), self._calls.budget)
        self._keep_left_out()

    def _keep_left_out(self) -> None:
        """A list of sessions reads it, and no messages."""
        message_cache = self._calls.message_cache
        made = message_cache.compression
        if made is None:
            return
        left_out = message_cache.running - message_cache.history_tokens
        if left_out != made.left_out:
            conversation = message_cache.conversation.id
            compressions.set_left_out(self._calls.db, conversation, made.number, left_out)
            message_cache.compression = replace(made, left_out=left_out)

    def check_summaries(
        self, new: Sequence[Message], kept: Sequence[Message], warn: Callable[[str], None]
    ) -> list[Message]:
        """New messages, each summary among them checked against what is kept, what is new in front
        of it, and the fresh parts; `warn` is told what was found."""
        parts = self._parts.texts(self._calls.stamps(self._calls.budget), None)
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

    def _request_so_far(self, now: SessionStamps) -> ConversationRequest:
        """The request that a summary is asked for behind, with the browser as the last call had
        it."""
        found = self._calls.request_so_far(
            self._parts.texts(now, self._last_browser),
            selection=self._options.selection_for(now, self._last_browser),
            now=now,
            workflow=self._state.workflow.name,
            tools_digest=self.tools.digest,
        )
        problem = found.problem or self.tools.problem
        if found.problem == TOOLS_CHANGED and not self.tools.digest and self.tools.tokens:
            problem = NOT_KNOWN
        return ConversationRequest(
            messages=found.messages,
            tools=self.tools.specs,
            tokens=found.tokens + self.tools.tokens,
            window=self._limits.window,
            problem=problem,
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

    def _parts_tokens(self, parts: Mapping[str, str]) -> int:
        """The tokens of the parts, and of the tags around the history; a part that is the same text
        as before is not counted again."""
        if self._last_parts[0] is parts:
            return self._last_parts[1]
        scale = self._calls.writer.scale
        sizes = dict[str, tuple[str, int]]()
        for tag, text in {**parts, self._calls.writer.tag: ""}.items():
            known = self._part_sizes.get(tag)
            if known is None or known[0] is not text:
                # as the engine weighs it, so that a tokenizer sees it once
                known = (text, scale.counter.tokens(scale.units(tag, text)))
            sizes[tag] = known
        self._part_sizes = sizes
        total = sum(tokens for _, tokens in sizes.values())
        self._last_parts = (parts, total)
        return total

    def _lasting_parts(self, texts: Mapping[str, str]) -> LastingParts:
        """What a summary need not repeat, and what it must not lose."""
        parts = list(texts.items())
        sections = self._options.selection.sections
        identifiers = set[str]()
        for tag, text in parts:
            if sections[tag].show == "variables":
                identifiers.update(literals(text))
        plan = self._state.get_current_plan()
        if plan is None:
            return LastingParts(parts, sorted(identifiers))
        identifiers |= planning.identifiers(plan)
        tasks = planning.finished_tasks(plan)
        finished = [(description, status) for _, description, status in tasks]
        return LastingParts(parts, sorted(identifiers), finished)
