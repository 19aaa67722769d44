"""The calls of one conversation, one after another: each finds what the last one left in memory and
in the store.

Holds the messages in memory, what has been written of them, where the window begins, and the
fingerprint of the last call. All of it can be made anew from the store; nothing here is known to
this process alone. How one call is made is `next_call`'s business.
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
from foreword.session.history_section import HistoryWriter
from foreword.session.message_cache import MessageCache
from foreword.session.next_call import CallInputs, NextCall, make_call
from foreword.store import compressions, reports
from foreword.store.compressions import Cut, number_of
from foreword.store.database import Database
from foreword.store.messages import Conversation, StoredMessage

# why a history is not what it was at the call before, in the words of the usage log
COMPRESSED = "compressed"
UNDONE = "compression undone"
HIDDEN = "other secrets are hidden"


class Calls:
    """Makes the contexts of a conversation."""

    def __init__(
        self, db: Database, conversation: Conversation, selection: Selection, writer: HistoryWriter
    ) -> None:
        self.db = db
        self.conversation = conversation
        self.selection = selection
        self.writer = writer
        self.message_cache = MessageCache(db=db, conversation=conversation)
        self._cut = Cut()
        self._key = ""  # the recipe and budget that is loaded; nothing while nothing is

    def refresh(self, budget: Budget) -> MessageCache:
        """Take in what has changed since the last call, here or elsewhere."""
        key = f"{self.selection.recipe.name} {budget.tokens}"
        compression = compressions.current(self.db, self.conversation.id)
        cut = compressions.cut_for(self.db, self.conversation.id, key)
        # from before the compression, which begins further on
        if compression and cut.start <= compression.last:
            cut = Cut()
        is_same = number_of(compression) == number_of(self.message_cache.compression)
        if self._key == key and is_same and cut.start >= self._cut.start:
            self.message_cache.sync()
            self._adopt(cut)
            return self.message_cache
        self._cut = cut
        self.message_cache.load(cut.start, budget.tokens)
        self.writer.texts.clear()
        self._key = key
        return self.message_cache

    def forget(self) -> None:
        """Read everything anew the next time."""
        self._key = ""

    def take(self, line: StoredMessage) -> None:
        """Take in a message that was just kept, unless others came before it: then `refresh`
        finds them all."""
        if self._key and line.seq == self.message_cache.known + 1:
            self.message_cache.take(line)

    def next_package(
        self,
        parts: Mapping[str, str],
        *,
        budget: Budget,
        workflow: str,
        notes: Sequence[str],
        save: bool,
    ) -> Package:
        """The next call; saving keeps its report, what it left out, where its window begins, and
        a usage log line."""
        began = perf_counter()
        self.refresh(budget)
        last_usage = self._last_usage(budget)
        inputs = CallInputs(
            selection=self.selection,
            parts=parts,
            message_cache=self.message_cache,
            writer=self.writer,
            cut=self._cut,
            workflow=workflow,
            notes=notes,
            cached=0 if self._rewrite_reason(last_usage) else last_usage.get("messages", 0),
        )
        call = make_call(inputs, budget)
        if save:
            self._save(call, last_usage, began)
        return call.package

    def _save(self, call: NextCall, last_usage: Mapping[str, Any], began: float) -> None:
        history = call.history
        entry = cache_reuse.entry(
            call.package.report,
            cache_reuse.compare(
                call.stretches,
                last_usage.get("prefix"),
                self._rewrite_reason(last_usage) or history.reason,
            ),
            messages=sum(len(text.entry.messages) for text in history.texts),
            image_tokens=IMAGE_TOKENS * history.images,
            milliseconds=(perf_counter() - began) * 1000,
        )
        if history.cut != self._cut:
            self._adopt(history.cut)
            compressions.save_window_start(self.db, self.conversation.id, self._key, history.cut)
        for_next_call = {
            "compression": number_of(self.message_cache.compression),
            "prefix": cache_reuse.fingerprint(call.stretches),
            "hidden": self.writer.secrets.digest,
        }
        reports.save_report(
            self.db,
            call.package.originals,
            call.package.report.to_dict(),
            conversation=self.conversation.id,
            usage={**entry, **for_next_call},
        )

    def _adopt(self, cut: Cut) -> None:
        """Begin the window where it begins now."""
        if cut.start > self._cut.start:
            self.message_cache.cut(cut.start)
            self.writer.forget(cut.start)
        self._cut = cut

    def _last_usage(self, budget: Budget) -> dict[str, Any]:
        """The last call under the same recipe and budget, as the usage log has it; empty where
        there was none."""
        return reports.last_usage(
            self.db,
            self.conversation.id,
            recipe=self.selection.recipe.name,
            budget_tokens=budget.tokens,
        )

    def _rewrite_reason(self, last_usage: Mapping[str, Any]) -> str:
        """Why the history is not what it was at an earlier call: compressed, a compression
        undone, secrets set. Nothing where it is."""
        before = last_usage.get("compression")
        if before is None:
            return ""
        now = number_of(self.message_cache.compression)
        if now != before:
            return COMPRESSED if now > before else UNDONE
        if last_usage.get("hidden", "") != self.writer.secrets.digest:
            return HIDDEN
        return ""
