"""The calls of one conversation, one after another: each finds what the last one left in memory and
in the store.

Holds the messages in memory, what has been written of them, where the window begins, and the
fingerprint of the last call. All of it can be made anew from the store; nothing here is known to
this process alone. How one call is made is `next_call`'s business.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from time import perf_counter
from typing import Any

from foreword.engine.package import Package
from foreword.errors import EssentialsTooLarge
from foreword.messages.message import IMAGE_TOKENS, Message
from foreword.prices import cost_of_call
from foreword.recipe.selection import Selection
from foreword.section import Budget
from foreword.session import cache_reuse, call_log
from foreword.session.history_section import HistoryWriter
from foreword.session.message_cache import MessageCache
from foreword.session.next_call import CallInputs, NextCall, PartsMemory, make_call
from foreword.store import compressions, messages, reports
from foreword.store.compressions import Cut, number_of
from foreword.store.database import LARGEST_NUMBER, Database
from foreword.store.messages import Conversation, StoredMessage
from foreword.store.session_stamps import SessionStamps, StampReader

# why a history is not what it was at the call before, in the words of the usage log
COMPRESSED = "compressed"
UNDONE = "compression undone"
HIDDEN = "other secrets are hidden"
REVISED = "messages taken back, or other pins"
# why a request for a summary can't stand behind the last one
TOOLS_CHANGED = "the tools changed"
LEFT_OUT = "the last call left older messages out"


@dataclass(frozen=True, slots=True, kw_only=True)
class RequestSoFar:
    """What a conversation would send now, or why that is not what it sent last and more; neither
    where no call was made before."""

    messages: tuple[Message, ...] = ()
    tokens: int = 0
    problem: str = ""


@dataclass(frozen=True, slots=True)
class _Call:
    """A call by its number, 0 for none, and its line of the usage log."""

    number: int = 0
    usage: Mapping[str, Any] = field(default_factory=dict)


class Calls:
    """Makes the contexts of a conversation."""

    def __init__(
        self,
        db: Database,
        conversation: Conversation,
        writer: HistoryWriter,
        budget: Budget,
        model: str | None = None,
    ) -> None:
        self.db = db
        self._model = model  # whose price a call has
        self.conversation = conversation
        self.writer = writer
        self.message_cache = MessageCache(
            db=db, conversation=conversation, tokens_within=writer.tokens_within
        )
        self.budget = budget  # of the window that is in memory, or will be at the first call
        self._stamps = StampReader(db, conversation.id)
        self._parts_memory = PartsMemory()
        self._digests = cache_reuse.Digests()
        self._is_loaded = False
        self._revision = 0
        self._cut = Cut()
        self._last_call = _Call()

    def stamps(self, budget: Budget) -> SessionStamps:
        """How new everything is that a call within a budget is made from."""
        return self._stamps.read(min(budget.tokens, LARGEST_NUMBER))

    def refresh(self, now: SessionStamps, budget: Budget) -> MessageCache:
        """Take in what has changed since the last call, here or elsewhere."""
        is_same = now.compression == number_of(self.message_cache.compression)
        is_same = is_same and now.revision == self._revision
        if self._is_loaded and self.budget.tokens == budget.tokens and is_same:
            cut = self._current_cut(now)
            if cut.start >= self._cut.start:
                self.message_cache.sync(now.last_message)
                self._adopt(cut)
                return self.message_cache
        self.message_cache.load_compression()
        self._cut = self._current_cut(now)
        self.message_cache.load(self._cut.start, budget.tokens)
        self.writer.forget_all()
        self.budget = budget
        self._revision = now.revision
        self._is_loaded = True
        return self.message_cache

    def _current_cut(self, now: SessionStamps) -> Cut:
        """Where the window begins; a cut from before the compression holds no longer."""
        return now.cut if now.cut.start > self.message_cache.compressed_to else Cut()

    def forget(self) -> None:
        """Read everything anew the next time."""
        self._is_loaded = False
        self._stamps.forget()

    def append(
        self, message: Message, tokens: int, *, pinned: bool, records: Sequence[str] = ()
    ) -> StoredMessage:
        """Keep a message and take it in, unless others came before it: then `refresh` finds them
        all."""
        is_current = self._stamps.is_current()
        rows = [(message, tokens, pinned)]
        (line,) = messages.append(self.db, self.conversation.id, rows, records)
        if is_current and line.kind != "system_prompt":
            self._stamps.note_own_write(last_message=line.seq)
        if self._is_loaded and line.seq == self.message_cache.known + 1:
            self.message_cache.take(line)
        return line

    def next_package(
        self,
        parts: Mapping[str, str],
        *,
        selection: Selection,
        now: SessionStamps,
        budget: Budget,
        workflow: str,
        notes: Sequence[str],
        save: bool,
        tools_digest: str,
        may_fill: bool,
    ) -> Package:
        """The next call; saving keeps its report, what it left out, where its window begins, and
        a usage log line.

        After a compression nothing of it can be in a cache: its window may fill the room, as that
        of a call that nobody sends may. Else it leaves room for what comes.
        """
        began = perf_counter()
        self.refresh(now, budget)
        last_usage = self._last_usage(now.last_call)
        reason = self._rewrite_reason(last_usage)
        if not last_usage and self.message_cache.compression is not None:
            reason = COMPRESSED
        inputs = self._inputs(
            parts,
            selection,
            workflow,
            cached=0 if reason else last_usage.get("messages", 0),
            notes=notes,
            may_fill=may_fill or reason == COMPRESSED,
        )
        call = make_call(inputs, budget)
        reuse = cache_reuse.compare(
            call.stretches,
            last_usage.get("prefix"),
            self._rewrite_reason(last_usage) or call.history.reason,
            self._digests,
        )
        is_same_prefix = cache_reuse.is_extension(call.stretches, last_usage.get("prefix"), reuse)
        is_same_prefix = is_same_prefix and last_usage.get("tools", "") == tools_digest
        is_same_prefix = is_same_prefix and now.last_call == now.newest_call
        if now.newest_call and not is_same_prefix:
            call = call.with_thinking_from(call.history.messages)
        else:  # of a first call, nobody knows what its thinking was produced for
            call = call.with_thinking_from(last_usage.get("thinking_from", 0))
        if save:
            return self._save(call, reuse, last_usage, began, tools_digest)
        return _with_cost(call.package, self._model, 0)

    def request_so_far(
        self,
        parts: Mapping[str, str],
        *,
        selection: Selection,
        now: SessionStamps,
        workflow: str,
        tools_digest: str,
    ) -> RequestSoFar:
        """What the conversation would send now, where it begins with all that it sent last: a
        provider has that in its cache. Nothing is saved."""
        last_usage = self._last_usage(now.last_call)
        if not last_usage:
            return RequestSoFar()
        problem = self._rewrite_reason(last_usage)
        if not problem and last_usage.get("tools", "") != tools_digest:
            problem = TOOLS_CHANGED
        if not problem and self._cut.start > self.message_cache.compressed_to + 1:
            problem = LEFT_OUT
        if problem:
            return RequestSoFar(problem=problem)
        cached = last_usage.get("messages", 0)
        inputs = self._inputs(parts, selection, workflow, cached=cached)
        try:
            call = make_call(inputs, self.budget)
        except EssentialsTooLarge:
            return RequestSoFar(problem=LEFT_OUT)
        reuse = cache_reuse.compare(
            call.stretches, last_usage.get("prefix"), call.history.reason, self._digests
        )
        problem = call.history.reason or reuse.broken_by
        if problem:
            return RequestSoFar(problem=problem)
        call = call.with_thinking_from(last_usage.get("thinking_from", 0))
        beside_text = IMAGE_TOKENS * call.history.images + call.history.data_tokens
        return RequestSoFar(
            messages=tuple(call.package.messages),
            tokens=call.package.report.total_tokens + beside_text,
        )

    def _inputs(
        self,
        parts: Mapping[str, str],
        selection: Selection,
        workflow: str,
        *,
        cached: int,
        notes: Sequence[str] = (),
        may_fill: bool = False,
    ) -> CallInputs:
        """What a call is made of, with what is in memory of the history."""
        return CallInputs(
            selection=selection,
            parts=parts,
            parts_memory=self._parts_memory,
            message_cache=self.message_cache,
            writer=self.writer,
            cut=self._cut,
            workflow=workflow,
            notes=notes,
            cached=cached,
            may_fill=may_fill,
        )

    def _save(
        self,
        call: NextCall,
        reuse: cache_reuse.Reuse,
        last_usage: Mapping[str, Any],
        began: float,
        tools_digest: str,
    ) -> Package:
        history = call.history
        package = _with_cost(call.package, self._model, reuse.tokens)
        entry = call_log.line(
            package.report,
            reuse,
            messages=history.messages,
            image_tokens=IMAGE_TOKENS * history.images,
            milliseconds=(perf_counter() - began) * 1000,
        )
        is_current = self._stamps.is_current()
        if history.cut != self._cut:
            self._adopt(history.cut)
            budget = min(self.budget.tokens, LARGEST_NUMBER)
            compressions.save_window_start(self.db, self.conversation.id, budget, history.cut)
        for_next_call = {
            "compression": number_of(self.message_cache.compression),
            "prefix": cache_reuse.fingerprint(call.stretches, self._digests),
            "hidden": self.writer.secrets.digest,
            "tools": tools_digest,
            "thinking_from": call.package.thinking_from,
        }
        if self._revision:
            for_next_call["revision"] = self._revision
        usage = {**entry, **for_next_call}
        number = reports.save_report(
            self.db,
            package.originals,
            package.report.to_dict(),
            conversation=self.conversation.id,
            usage=usage,
        )
        self._last_call = _Call(number, usage)
        if is_current:
            self._stamps.note_own_write(
                last_call=number,
                newest_call=number,
                last_recipe=package.report.recipe,
                cut=history.cut,
            )
        return package

    def _adopt(self, cut: Cut) -> None:
        """Begin the window where it begins now."""
        if cut.start > self._cut.start:
            self.message_cache.cut(cut.start)
            self.writer.forget(cut.start)
        self._cut = cut

    def _last_usage(self, number: int) -> Mapping[str, Any]:
        """The last call under the same budget, as the usage log has it; empty where
        there was none."""
        if number != self._last_call.number:
            self._last_call = _Call(number, reports.usage_of(self.db, number) if number else {})
        return self._last_call.usage

    def take_log(self, log: Sequence[Mapping[str, Any]]) -> None:
        """Take in the usage log as it was just read, the newest line first: the last call need not
        be read again."""
        if log:
            self._last_call = _Call(log[0]["report"], log[0])

    def _rewrite_reason(self, last_usage: Mapping[str, Any]) -> str:
        """Why the history is not what it was at an earlier call: compressed, a compression
        undone, secrets set. Nothing where it is."""
        before = last_usage.get("compression")
        if before is None:
            return ""
        now = number_of(self.message_cache.compression)
        if now != before:
            return COMPRESSED if now > before else UNDONE
        if last_usage.get("revision", 0) != self._revision:
            return REVISED
        if last_usage.get("hidden", "") != self.writer.secrets.digest:
            return HIDDEN
        return ""


def _with_cost(package: Package, model: str | None, cached_tokens: int) -> Package:
    """The package with what it costs to send, where the model has a price."""
    cost = cost_of_call(model, package.report.total_tokens, cached_tokens)
    if cost is None:
        return package
    return replace(package, report=replace(package.report, cost=cost))
