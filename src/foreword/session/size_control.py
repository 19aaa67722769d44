"""Keep a conversation within its limits: measure it, warn once, compress it in time.

Where the limits are is `limits`' business, how a history is compressed `compaction`'s; this decides
when, and what the caller is told about it.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from foreword.plan import plan as planning
from foreword.session import compaction
from foreword.session.call_memory import Calls
from foreword.session.compaction import Compaction, LastingParts
from foreword.session.part_texts import PartTexts, current_conversation
from foreword.session.session_options import SessionOptions
from foreword.session.workflow_state import WorkflowState
from foreword.store import messages
from foreword.text.identifiers import literals

# After a compression that missed its target or was undone, the history grows by a quarter of
# `compress_at` before the next try. Much less would try at nearly every message, and may ask a
# model each time; much more would let the history grow far past the limit.
GROWTH_DIVISOR = 4


@dataclass(frozen=True, slots=True)
class Room:
    """The size of a context with what is to come, and the compression that made room for it."""

    size_tokens: int
    compaction: Compaction | None = None


class SizeControl:
    """Measures one conversation and compresses it."""

    def __init__(
        self, state: WorkflowState, options: SessionOptions, calls: Calls, parts: PartTexts
    ) -> None:
        self._state = state
        self._options = options
        self._limits = options.limits
        self._calls = calls
        self._parts = parts

    def size_tokens(self) -> int:
        """What the next context would have with the history whole."""
        parts_tokens = self._parts_tokens()
        return parts_tokens + self._calls.refresh(self._options.budget).history_tokens

    def make_room(self, tokens: int) -> Room:
        """Room for so many tokens more, by a compression where that would be past the limit.

        Nothing is compressed while the last try is known to have been no use.
        """
        size = self.size_tokens() + tokens
        if not self._options.auto_compress or size <= self._limits.compress_at:
            return Room(size)
        running = self._calls.message_cache.running
        now = current_conversation(self._calls.db, self._calls.conversation)
        if running < now.quiet_until:
            return Room(size)
        made = self.compress(
            target=self._limits.compress_to, model=self._options.compress_with, strict=False
        )
        if not made.applied:
            self._wait_for_growth(self._calls.message_cache.running)
        return Room(self.size_tokens() + tokens, made)

    def compress(
        self, *, target: int, model: Any, preview: bool = False, strict: bool = True
    ) -> Compaction:
        """Compress the history to about so many tokens, unless it is only a preview."""
        message_cache = self._calls.refresh(self._options.budget)
        made = compaction.plan(
            message_cache,
            target=target,
            counter=self._calls.writer.scale.counter,
            lasting=self._lasting_parts(),
            workflow=self._state.workflow.name,
            model=model,
            timeout_seconds=self._options.compress_timeout_seconds,
            secrets=self._parts.current_secrets(),
            strict=strict,
        )
        if preview or not made.messages:
            return made
        made = compaction.apply(message_cache, made)
        if made.reached:
            self._set_limits(quiet_until=0)
        else:
            self.wait_from_now()
        return made

    def wait_from_now(self) -> None:
        """Compress again only when the history has grown by a good part."""
        extent = messages.up_to(self._calls.db, self._calls.conversation.id)
        self._wait_for_growth(extent.running)

    def notes(self, room: Room) -> tuple[str, ...]:
        """What to tell the caller: of a compression that nobody asked for, and of the size."""
        return (*self._compaction_notes(room.compaction), *self._size_warning(room.size_tokens))

    def _compaction_notes(self, made: Compaction | None) -> tuple[str, ...]:
        if made is None:
            return ()
        if not made.applied:
            return made.notes
        note = (
            f"the history was compressed: {made.messages:,} messages summed up,"
            f" {made.tokens_before:,} tokens to {made.tokens_after:,}; `foreword session undo"
            f" {self._state.workflow.name}` takes it back"
        )
        return (note, *made.notes)

    def _size_warning(self, size: int) -> tuple[str, ...]:
        """A warning, once, when the size reaches the limit for it."""
        if size < self._limits.warn_at:
            return ()
        now = current_conversation(self._calls.db, self._calls.conversation)
        if now.warned:
            return ()
        self._set_limits(warned=size, quiet_until=now.quiet_until)
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

    def _parts_tokens(self) -> int:
        """The tokens of the parts, and of the tags around the history."""
        tagged = {**self._parts.texts(), self._calls.writer.tag: ""}
        count = self._calls.writer.scale.counter.count
        return sum(count(f"<{tag}>\n{text}\n</{tag}>\n\n") for tag, text in tagged.items())

    def _lasting_parts(self) -> LastingParts:
        """What a summary need not repeat, and what it must not lose."""
        parts = list(self._parts.texts().items())
        sections = self._options.selection.sections
        identifiers = set[str]()
        for tag, text in parts:
            if sections[tag].show == "variables":
                identifiers.update(literals(text))
        plan = self._state.plan
        if plan is None:
            return LastingParts(parts, sorted(identifiers))
        identifiers |= planning.identifiers(plan)
        finished = [
            (description, status) for _, description, status in planning.finished_tasks(plan)
        ]
        return LastingParts(parts, sorted(identifiers), finished)
