"""Where a prompt cache broke: a call that read much less from the cache than the call before it had
sent, and why, as far as the session tells.

A compaction and another model are reasons that a session shows; a pause longer than caches last is
told by the clock of its lines. What remains is a prefix that changed.
"""

from __future__ import annotations

from datetime import datetime

from foreword.agent_sessions import AgentEvent, CompactionEvent, ModelCallEvent
from foreword.autopsy.autopsy_findings import CacheBreak

# Of what the call before had sent: a cache works in blocks, and the newest message is often not in
# it, so a few per cent are always missing.
LEAST_SHARE = 0.8
LEAST_TOKENS = 2_000  # that were read anew, or it is not worth a line
LASTS_SECONDS = 300  # what providers promise; some keep it for an hour, and then there is no break
COMPACTED = "compaction"
EXPIRED = "a pause of more than five minutes"
OTHER_MODEL = "another model"
CHANGED = "the prefix changed"


class CacheWatch:
    """The calls of a session, each compared with the one before it."""

    def __init__(self) -> None:
        self.breaks = list[CacheBreak]()
        self._last: ModelCallEvent | None = None
        self._used = False  # whether any call has read from a cache or written to it
        self._compacted = False

    def see(self, event: AgentEvent) -> None:
        """Look at one event."""
        if isinstance(event, CompactionEvent):
            self._compacted = True
        if not isinstance(event, ModelCallEvent):
            return
        self._used = self._used or bool(event.cache_read_tokens or event.cache_write_tokens)
        last = self._last
        if last is not None and self._used:
            missing = min(last.prompt_tokens, event.prompt_tokens) - event.cache_read_tokens
            is_break = event.cache_read_tokens < LEAST_SHARE * last.prompt_tokens
            if is_break and missing >= LEAST_TOKENS:
                reason = self._reason(last, event)
                self.breaks.append(CacheBreak(time=event.time, reason=reason, tokens=missing))
        self._last = event
        self._compacted = False

    def _reason(self, last: ModelCallEvent, call: ModelCallEvent) -> str:
        if self._compacted:
            return COMPACTED
        if last.model and call.model and last.model != call.model:
            return OTHER_MODEL
        return EXPIRED if _seconds_between(last.time, call.time) > LASTS_SECONDS else CHANGED


def _seconds_between(first: str, second: str) -> float:
    try:
        between = datetime.fromisoformat(second) - datetime.fromisoformat(first)
    except ValueError:
        return 0.0
    return between.total_seconds()
