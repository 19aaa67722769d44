"""Go through a session once, as it happened, and find what each compaction lost, invented and cost.

In memory is what a window holds: the messages since the last compaction, and the names that were
used behind it. Names are looked up as the tuning data has them: what the agent wrote afterwards and
could only know from before.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator

from foreword.agent_sessions import (
    AgentEvent,
    AttachmentEvent,
    CompactionEvent,
    MessageEvent,
    ModelCallEvent,
    SessionFile,
    SessionHead,
)
from foreword.autopsy.aftermath import Aftermath
from foreword.autopsy.autopsy_findings import CompactionFinding, SessionFinding
from foreword.autopsy.cache_breaks import CacheWatch
from foreword.autopsy.window_use import WindowUse
from foreword.message import Message, Text
from foreword.secrets.masking import mask

MOST_FILL = 40  # sources of a window that are named, the largest
MOST_LARGEST = 5  # turns that are named


def examine(session: SessionFile, name: str = "") -> SessionFinding:
    """What is to be found in a session."""
    return _Examination(session, name).run()


def aftermaths(session: SessionFile) -> Iterator[Aftermath]:
    """Each compaction of a session with all that stood before it and came behind it."""
    before = list[Message]()
    notes = list[str]()
    current: Aftermath | None = None
    number = 0
    for event in session.events:
        if isinstance(event, CompactionEvent):
            if current is not None:
                yield current
            number += 1
            current = Aftermath(event, before, notes, number)
            before = [Message("user", (Text(event.summary),), kind="summary")]
            notes = []
        elif isinstance(event, MessageEvent):
            before.append(event.message)
        elif isinstance(event, AttachmentEvent):
            notes.append(event.text)
        if current is not None:
            current.follow(event)
    if current is not None:
        yield current


class _Examination:
    """One session, gone through once."""

    def __init__(self, session: SessionFile, name: str) -> None:
        self.session = session
        self.name = name
        self.head = SessionHead(agent=session.agent)
        self.counts = Counter[str]()
        self.use = WindowUse()
        self.cache = CacheWatch()

    def run(self) -> SessionFinding:
        watched = SessionFile(self.session.agent, self._watch(), self.session.skipped)
        found = list[CompactionFinding]()
        for aftermath in aftermaths(watched):
            found.append(aftermath.finding())
        return SessionFinding(
            agent=self.session.agent,
            name=self.head.session or self.name,
            folder=mask(self.head.folder),
            messages=self.counts["messages"],
            calls=self.counts["calls"],
            prompt_tokens=self.counts["prompt"],
            cached_tokens=self.counts["cached"],
            compactions=tuple(found),
            fill=self.use.by_source(MOST_FILL),
            largest=self.use.largest(MOST_LARGEST),
            cache_breaks=tuple(self.cache.breaks),
            skipped=sum(self.session.skipped.values()),
        )

    def _watch(self) -> Iterator[AgentEvent]:
        """The events, counted as they pass."""
        for event in self.session.events:
            match event:
                case SessionHead():
                    self.head = event
                case ModelCallEvent():
                    self.counts["calls"] += 1
                    self.counts["prompt"] += event.prompt_tokens
                    self.counts["cached"] += event.cache_read_tokens
                case MessageEvent():
                    self.counts["messages"] += 1
            self.use.see(event)
            self.cache.see(event)
            yield event
