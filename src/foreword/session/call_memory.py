"""The calls of one conversation, one after another: each finds what the last one left in memory and
in the store.

Holds the transcript, what has been written of it, where the window begins, and the fingerprint of
the last call. All of it can be made anew from the store; nothing here is known to this process
alone.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from time import perf_counter
from typing import Any

from foreword.engine.package import Package
from foreword.message import IMAGE_TOKENS
from foreword.recipe.selection import Selection
from foreword.section import Budget
from foreword.session import cache_reuse
from foreword.session.history_section import Writing
from foreword.session.message_cache import MessageCache
from foreword.session.next_call import NextCall, make
from foreword.store import compressions, reports
from foreword.store.compressions import Cut, number_of
from foreword.store.database import Database
from foreword.store.messages import Conversation, StoredMessage

COMPRESSED, UNDONE, HIDDEN = "compressed", "compression undone", "other secrets are hidden"


class Calls:
    """Makes the contexts of a conversation."""

    def __init__(
        self, db: Database, conversation: Conversation, selection: Selection, writing: Writing
    ) -> None:
        self.db, self.conversation, self.selection, self.writing = (
            db,
            conversation,
            selection,
            writing,
        )
        self.transcript = MessageCache(db=db, conversation=conversation)
        self._cut = Cut()
        self._key = ""  # the recipe and budget that is loaded; nothing while nothing is

    def refresh(self, budget: Budget) -> MessageCache:
        """Take in what has changed since the last call, here or elsewhere."""
        key = f"{self.selection.recipe.name} {budget.tokens}"
        current, mine = (
            compressions.current(self.db, self.conversation.id),
            self.transcript.compression,
        )
        cut, same = (
            compressions.cut_for(self.db, self.conversation.id, key),
            number_of(current) == number_of(mine),
        )
        # from before the compression, which begins further on
        if current and cut.start <= current.last:
            cut = Cut()
        if self._key == key and same and cut.start >= self._cut.start:
            self.transcript.sync()
            self._adopt(cut)
            return self.transcript
        self._cut = cut
        self.transcript.load(self._cut.start, budget.tokens)
        self.writing.groups.clear()
        self._key = key
        return self.transcript

    def forget(self) -> None:
        """Read everything anew the next time."""
        self._key = ""

    def take(self, line: StoredMessage) -> None:
        """Take in a message that was just kept, unless others came before it: then `refresh`
        finds them all."""
        if self._key and line.seq == self.transcript.known + 1:
            self.transcript.take(line)

    def make(
        self,
        parts: Mapping[str, str],
        budget: Budget,
        workflow: str,
        notes: Sequence[str],
        *,
        save: bool,
    ) -> Package:
        """The next call; saving keeps its report, what it left out, where its window begins, and
        a usage log line."""
        began = perf_counter()
        self.refresh(budget)
        before = self._before(budget)
        turned = make(
            self.selection,
            parts,
            self.transcript,
            self.writing,
            self._cut,
            budget,
            workflow,
            notes=notes,
            cached=0 if self._recast(before) else before.get("messages", 0),
        )
        if save:
            self._keep(turned, before, began)
        return turned.package

    def _keep(self, turned: NextCall, before: Mapping[str, Any], began: float) -> None:
        package, told = turned.package, turned.told
        reuse = cache_reuse.compare(
            turned.stretches, before.get("prefix"), self._recast(before) or told.reason
        )
        said = sum(len(written.entry.messages) for written in told.written)
        images = IMAGE_TOKENS * told.images
        entry = cache_reuse.entry(
            package.report, reuse, said, images, (perf_counter() - began) * 1000
        )
        if told.cut != self._cut:
            self._adopt(told.cut)
            compressions.save_window_start(self.db, self.conversation.id, self._key, told.cut)
        now = {
            "compression": number_of(self.transcript.compression),
            "prefix": cache_reuse.fingerprint(turned.stretches),
            "hidden": self.writing.secrets.digest,
        }
        report = package.report.to_dict()
        reports.save_report(
            self.db,
            package.originals,
            report,
            conversation=self.conversation.id,
            usage={**entry, **now},
        )

    def _adopt(self, cut: Cut) -> None:
        """Begin the window where it begins now."""
        if cut.start > self._cut.start:
            self.transcript.cut(cut.start)
            self.writing.forget(cut.start)
        self._cut = cut

    def _before(self, budget: Budget) -> dict[str, Any]:
        """The last call under the same recipe and budget, as the usage log has it; empty where
        there was none."""
        return reports.last_usage(
            self.db,
            self.conversation.id,
            recipe=self.selection.recipe.name,
            budget_tokens=budget.tokens,
        )

    def _recast(self, before: Mapping[str, Any]) -> str:
        """Why the history is not what it was at an earlier call: compressed, a compression
        undone, secrets set."""
        number, was = number_of(self.transcript.compression), before.get("compression")
        if was is None:
            return ""
        if was != number:
            return COMPRESSED if number > was else UNDONE
        return HIDDEN if before.get("hidden", "") != self.writing.secrets.digest else ""
