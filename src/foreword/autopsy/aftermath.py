"""One compaction with what stood before it and what came behind it: what was needed, what was not
in the summary, what was invented, what was read again.

Needed is a name, number or command that the agent wrote behind the compaction and that nobody had
said since, but that stood before it. What a tool or the user says again in between no longer tells
anything about the summary, except where the agent had it looked up: that is a loss found again.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from foreword.autopsy.autopsy_findings import CompactionFinding, Loss, Reread
from foreword.compression.check import check_against, evidence_of
from foreword.compression.claims import is_file_like
from foreword.compression.extract import summarize
from foreword.compression.remarks import cap_text
from foreword.messages.message import Message
from foreword.messages.parts import Text, ToolCall, ToolResult
from foreword.pattern import lazy_pattern
from foreword.secrets.masking import mask
from foreword.text.names import literals
from foreword.text.words import occurs
from foreword.tokens import CHARS_PER_TOKEN, counter
from foreword.transcripts.events import AgentEvent, CompactionEvent, MessageEvent, NoteEvent
from foreword.transcripts.file_actions import actions_of, arguments_of, command_texts

LEAST_SUMMARY = 50  # tokens: a smaller one is nothing that anything could be compared with
LONGEST_COMMAND = 300  # characters: a longer one is a script
_NUMBER = lazy_pattern(r"(?<![\w.])\d[\d,]*\.?\d+(?![\w.])")
# Arguments that set how a tool works: their values are the tool's own words.
_SETTINGS = frozenset(("output_mode", "status", "type", "subagent_type", "mode"))
SHORTEST_FILE = 5  # characters: a shorter name of a file stands in any text
LEAST_DIGITS = 3  # a number with fewer is nobody's to remember


@dataclass(slots=True)
class _Use:
    """A name that was used behind a compaction."""

    kind: str
    found_again: bool


class Aftermath:
    """A compaction, and what followed it up to the next one."""

    def __init__(
        self,
        compaction: CompactionEvent,
        before: Sequence[Message],
        notes: Sequence[str],
        number: int,
        folder: str = "",
    ) -> None:
        self.compaction = compaction
        self.before = before
        self.number = number
        self._notes = notes
        self._text = "\n".join(_texts(before))
        self._names = _names(self._text)
        self._read_before = _paths_read(before)
        self._folder = folder  # in which the agent works, as it is told with every request
        self._since = set[str]()  # names that somebody said since
        self._by_tools = set[str]()  # of those, by tools
        self._uses: dict[str, _Use] = {}
        self._calls: dict[str, list[str]] = {}  # paths that a call reads, by its id
        self._reread: dict[str, list[int]] = {}

    def follow(self, event: AgentEvent) -> None:
        """What came behind it."""
        if isinstance(event, NoteEvent):
            self._since |= _names(event.text)
        if not isinstance(event, MessageEvent):
            return
        for part in event.message.parts:
            if isinstance(part, ToolResult):
                self._see_result(part)
            elif event.message.role == "assistant":
                self._see_use(part)
            elif isinstance(part, Text):
                self._since |= _names(part.text)

    def _see_result(self, result: ToolResult) -> None:
        names = _names(cap_text(result.text))
        self._by_tools |= names - self._since
        self._since |= names
        for path in self._calls.pop(result.id, ()):
            self._reread.setdefault(path, []).append(len(result.text) // CHARS_PER_TOKEN)

    def _see_use(self, part: object) -> None:
        if isinstance(part, ToolCall):
            arguments = arguments_of(part)
            texts = list[str]()
            for key, value in arguments.items():
                if isinstance(value, str) and key not in _SETTINGS:
                    texts.append(value)
            for path, action in actions_of(part):
                if action == "read" and path in self._read_before:
                    self._calls.setdefault(part.id, []).append(path)
            for command in command_texts(arguments):
                self._use(command.strip(), "command")
        elif isinstance(part, Text):
            texts = [part.text]
            for number in _numbers(part.text):
                self._use(number, "number")
        else:
            return
        for text in texts:
            for name in literals(cap_text(text)):
                self._use(name, "path" if "/" in name else "name")
            self._since |= _names(cap_text(text))

    def _use(self, name: str, kind: str) -> None:
        if name in self._uses or not name or name.rstrip("/") == self._folder:
            return
        stood_before = name in self._names
        if kind == "command":
            stood_before = len(name) <= LONGEST_COMMAND and "\n" not in name and name in self._text
        is_known_since = name in self._since and name not in self._by_tools
        if stood_before and not is_known_since:
            self._uses[name] = _Use(kind, name in self._by_tools)

    # --- what is found ---

    @property
    def size_tokens(self) -> int:
        """The size of the summary."""
        return counter("estimate").count(self.compaction.summary)

    def foreword_text(self) -> str:
        """What Foreword makes of the same messages at the same size."""
        room = max(LEAST_SUMMARY, self.size_tokens)
        return summarize(self.before, room, counter("estimate"))

    def finding(self) -> CompactionFinding:
        """What is to be said about it, secrets hidden."""
        summary = self.compaction.summary
        own = self.foreword_text() if self._uses else ""
        kept = 0
        restored = 0
        losses = list[Loss]()
        for name, use in self._uses.items():
            is_restored = _says(own, name, use.kind)
            restored += is_restored
            if _says(summary, name, use.kind):
                kept += 1
                continue
            losses.append(
                Loss(
                    text=mask(name),
                    kind="name" if use.kind == "path" and not is_file_like(name) else use.kind,
                    restored=is_restored,
                    found_again=use.found_again,
                )
            )
        checked = check_against(summary, evidence_of(self.before, self._notes))
        return CompactionFinding(
            number=self.number,
            time=self.compaction.time,
            trigger=self.compaction.trigger,
            tokens_before=self.compaction.tokens_before or len(self._text) // CHARS_PER_TOKEN,
            summary_tokens=self.size_tokens,
            needed=len(self._uses),
            kept=kept,
            foreword_kept=restored,
            losses=tuple(losses),
            invented=tuple(mask(name) for name in checked.names),
            claims=len(checked.claims),
            reread=tuple(self._reread_files()),
        )

    def _reread_files(self) -> Iterator[Reread]:
        for path, sizes in self._reread.items():
            yield Reread(path=mask(path), times=len(sizes), tokens=sum(sizes))


def _says(text: str, name: str, kind: str) -> bool:
    """Whether a text has a name; of a path its last two parts will do, or the name of its file, and
    a function is named with its brackets or without."""
    if occurs(text, name) or occurs(text, name.removesuffix("()")):
        return True
    steps = [step for step in name.split("/") if step]
    if kind != "path" or len(steps) < 2:
        return False
    is_file = "." in steps[-1] and len(steps[-1]) > SHORTEST_FILE
    return occurs(text, "/".join(steps[-2:])) or (is_file and occurs(text, steps[-1]))


def _texts(messages: Sequence[Message]) -> Iterator[str]:
    for message in messages:
        for part in message.parts:
            if isinstance(part, Text):
                yield part.text
            elif isinstance(part, ToolResult):
                yield cap_text(part.text)
            elif isinstance(part, ToolCall):
                for value in arguments_of(part).values():
                    yield cap_text(value if isinstance(value, str) else str(value))


def _names(text: str) -> set[str]:
    return {*literals(text), *_numbers(text)}


def _numbers(text: str) -> Iterator[str]:
    for match in _NUMBER.finditer(text):
        if sum(char.isdigit() for char in match[0]) >= LEAST_DIGITS:
            yield match[0]


def _paths_read(messages: Sequence[Message]) -> set[str]:
    paths = set[str]()
    for message in messages:
        for part in message.parts:
            if isinstance(part, ToolCall):
                paths |= {path for path, action in actions_of(part) if action == "read"}
    return paths
