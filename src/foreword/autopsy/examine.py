"""Go through a session once, as it happened, and find what each compaction lost, invented and cost.

In memory is what a window holds: the messages since the last compaction, and the names that were
used behind it. Names are looked up as the tuning data has them: what the agent wrote afterwards and
could only know from before. Beside that: what came into the window and from where (in tokens by
characters / 4, of what was said), and where a prompt cache broke, as far as the session tells.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from datetime import datetime

from foreword.autopsy.aftermath import Aftermath
from foreword.autopsy.autopsy_findings import (
    BEGINNING,
    CacheBreak,
    SessionFinding,
)
from foreword.messages.message import Message
from foreword.messages.parts import Text, Thinking, ToolCall, ToolResult
from foreword.prices import cost_of_reading_anew
from foreword.secrets.masking import mask
from foreword.tokens import CHARS_PER_TOKEN
from foreword.transcripts.events import (
    AgentEvent,
    CompactionEvent,
    MessageEvent,
    ModelCallEvent,
    NoteEvent,
    SessionHead,
)
from foreword.transcripts.reader import SessionFile

MOST_FILL = 40  # sources of a window that are named, the largest
MOST_LARGEST = 5  # turns that are named
# Of what the call before had sent: a cache works in blocks, and the newest message is often not in
# it, so a few per cent are always missing.
LEAST_SHARE = 0.8
LEAST_TOKENS = 2_000  # that were read anew, or it is not worth a line
LASTS_SECONDS = 300  # what providers promise; some keep it for an hour, and then there is no break
COMPACTED = "compaction"
EXPIRED = "a pause of more than five minutes"
OTHER_MODEL = "another model"
# the session tells neither a pause nor a compaction nor another model
CHANGED = "the beginning of the request changed, or the provider had dropped it"
LONGEST_TURN = 70  # characters of a turn's first words
# Of a turn, to find secrets in its first words: one that is cut in two no longer looks like one.
MASKED_CHARS = 1_000
_MCP = "mcp__"


def examine(session: SessionFile, name: str = "") -> SessionFinding:
    """What is to be found in a session."""
    return _Examination(session, name).run()


def aftermaths(session: SessionFile) -> Iterator[Aftermath]:
    """Each compaction of a session with all that stood before it and came behind it."""
    before = list[Message]()
    notes = list[str]()
    current: Aftermath | None = None
    number = 0
    folder = ""
    for event in session.events:
        if isinstance(event, CompactionEvent):
            if current is not None:
                yield current
            number += 1
            current = Aftermath(event, before, notes, number, folder)
            before = [Message("user", (Text(event.summary),), kind="summary")]
            notes = []
        elif isinstance(event, SessionHead):
            folder = event.folder
        elif isinstance(event, MessageEvent):
            before.append(event.message)
        elif isinstance(event, NoteEvent):
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
        found = [aftermath.finding() for aftermath in aftermaths(watched)]
        return SessionFinding(
            agent=self.session.agent,
            name=self.head.session or self.name,
            folder=mask(self.head.folder),
            messages=self.counts["messages"],
            calls=self.counts["calls"],
            prompt_tokens=self.counts["prompt"],
            cached_tokens=self.counts["cached"],
            compactions=tuple(found),
            fill=self.use.by_source(),
            largest=self.use.largest(),
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
                cost = cost_of_reading_anew(event.model, missing)
                found = CacheBreak(time=event.time, reason=reason, tokens=missing, cost=cost)
                self.breaks.append(found)
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


class WindowUse:
    """Sizes by source, and by turn of the user's."""

    def __init__(self) -> None:
        self._sources = Counter[str]()
        self._turns = Counter[str]()
        self._turn = BEGINNING
        self._tools: dict[str, str] = {}  # by the ids of their calls

    def see(self, event: AgentEvent) -> None:
        """Count one event."""
        if isinstance(event, NoteEvent):
            self._add(event.source, len(event.text))
        elif isinstance(event, CompactionEvent):
            self._add("summaries", len(event.summary))
        elif isinstance(event, MessageEvent):
            if event.by_user:
                words = " ".join(event.message.text.split())
                self._turn = _first_words(words)
            for part in event.message.parts:
                self._see_part(part, event.message.role)

    def _see_part(self, part: object, role: str) -> None:
        match part:
            case ToolCall(id=call, name=name, arguments=arguments):
                self._tools[call] = _source(name)
                self._add("what the model wrote", len(arguments))
            case ToolResult(id=call, text=text):
                self._add(self._tools.get(call, "tools"), len(text))
            case Text(text):
                source = "what the model wrote" if role == "assistant" else "the user"
                self._add(source, len(text))
            case Thinking(text=text):
                self._add("thinking", len(text))

    def _add(self, source: str, chars: int) -> None:
        self._sources[source] += chars
        self._turns[self._turn] += chars

    def by_source(self) -> tuple[tuple[str, int], ...]:
        """The sources in tokens, the largest first."""
        return _in_tokens(self._sources, MOST_FILL)

    def largest(self) -> tuple[tuple[str, int], ...]:
        """The turns that brought most, in tokens."""
        return _in_tokens(self._turns, MOST_LARGEST)


def _source(tool: str) -> str:
    """A tool by its name, one of an MCP server by the server's."""
    if tool.startswith(_MCP):
        return f"MCP server {tool.removeprefix(_MCP).partition('__')[0]}"
    return f"tool {tool}"


def _first_words(words: str) -> str:
    """How a turn begins, with dots where it goes on."""
    shown = mask(words[:MASKED_CHARS])
    if len(shown) <= LONGEST_TURN:
        return shown
    return f"{shown[: LONGEST_TURN - 3].rstrip()}..."


def _in_tokens(counted: Counter[str], most: int) -> tuple[tuple[str, int], ...]:
    found = list[tuple[str, int]]()
    for name, chars in counted.most_common(most):
        if chars >= CHARS_PER_TOKEN:
            found.append((name, chars // CHARS_PER_TOKEN))
    return tuple(found)
