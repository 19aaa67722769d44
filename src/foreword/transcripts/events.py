"""What a session of a coding agent consists of, whichever agent wrote it: plain values, in the
order of the conversation.

A reader yields every line of a file as an event. Everything else is a projection: `import_file`
takes the messages as they were recorded, `reader` gives autopsy, handoff, hooks and search what was
said and by whom.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Protocol

from foreword.errors import BadSource
from foreword.messages.message import Message

Values = Mapping[str, Any]  # a line or a document of a session
Line = tuple[int, Values]  # its number, and its object
REWOUND = "rewound"
DUPLICATE = "duplicate"
AGENT_NOTES = "notes of the agent"  # where the agent does not name the source of its words


@dataclass(frozen=True, slots=True, kw_only=True)
class SessionHead:
    """Which session it is, as far as the file says."""

    agent: str
    session: str = ""
    folder: str = ""  # the directory in which the agent worked


@dataclass(frozen=True, slots=True, kw_only=True)
class MessageEvent:
    """A message of the conversation, or one piece of a reply; `by_user` where a person typed it."""

    message: Message
    by_user: bool = False
    time: str = ""
    reply: str = ""  # the id of the reply that it is a piece of
    mark: str = ""  # the id of its line
    source: str = ""  # the part of the agent's program that wrote it; empty for a speaker's words
    is_plumbing: bool = False  # recorded as a message, and said elsewhere: the text of a summary


@dataclass(frozen=True, slots=True, kw_only=True)
class NoteEvent:
    """A line that is no message: instructions, files and hooks that the agent's program put beside
    the conversation (`text`), or a record that no model ever read (`is_plumbing`)."""

    kind: str  # by which an import counts it; empty where it is not counted
    source: str = ""
    text: str = ""
    is_plumbing: bool = True
    mark: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class CompactionEvent:
    """The conversation up to here was replaced by a summary."""

    summary: str
    kind: str = ""  # by which an import counts it, where it is recorded as no message
    trigger: str = ""
    tokens_before: int = 0
    tokens_after: int = 0
    time: str = ""
    message: Message | None = None  # as it was recorded
    mark: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class ModelCallEvent:
    """One call of the model: what it read anew, from the cache and into it, and what it wrote."""

    model: str = ""
    input_tokens: int = 0
    cache_read_tokens: int = 0
    cache_write_tokens: int = 0
    output_tokens: int = 0
    time: str = ""

    @property
    def prompt_tokens(self) -> int:
        """All that it read."""
        return self.input_tokens + self.cache_read_tokens + self.cache_write_tokens


@dataclass(frozen=True, slots=True, kw_only=True)
class BadLineEvent:
    """A line that could not be read as a message. An import raises the error, others count it."""

    error: BadSource


@dataclass(frozen=True, slots=True, kw_only=True)
class AgentUsage:
    """What an agent's provider counted over a session: thinking, tools and prompts of the agent's
    own among it, which are not all in its file."""

    calls: int = 0
    prompt_tokens: int = 0  # all that was read
    cached_tokens: int = 0  # of those, from a cache
    output_tokens: int = 0  # with what was thought

    def plus(self, call: ModelCallEvent) -> AgentUsage:
        """Return the sums with one call added."""
        return AgentUsage(
            calls=self.calls + 1,
            prompt_tokens=self.prompt_tokens + call.prompt_tokens,
            cached_tokens=self.cached_tokens + call.cache_read_tokens,
            output_tokens=self.output_tokens + call.output_tokens,
        )


AgentEvent = (
    SessionHead | MessageEvent | NoteEvent | CompactionEvent | ModelCallEvent | BadLineEvent
)


class SessionReader(Protocol):
    """A module that reads the sessions of one coding agent."""

    def is_session(self, value: Values) -> bool:
        """Return whether a line or a document is one of this agent's."""

    def read(self, lines: Iterable[Line], where: str, *, whole: bool) -> Iterator[AgentEvent]:
        """Yield what happened. With `whole`, all lines are read first and what was rewound or
        replaced is left out; else the events come as the lines do, rewound branches among them."""


def mapping_or_empty(value: object) -> Values:
    """Return a mapping in outside data; an empty one for anything else."""
    return value if isinstance(value, Mapping) else {}


def token_number(value: object) -> int:
    """Return a count of tokens in outside data; 0 for anything else."""
    if isinstance(value, bool) or not isinstance(value, int | float):
        return 0
    return int(value) if 0 < value < 10**12 else 0


def bad_line(error: BadSource, number: int) -> BadLineEvent:
    """Return the event of a line that could not be read, with its number."""
    source = BadSource(error.path, error.problem, line=number, hint=error.command_hint)
    return BadLineEvent(error=source)


def call_of_totals(
    usage: Values, names: tuple[str, str, str], *, model: str, time: str
) -> ModelCallEvent:
    """Return the call of a usage whose input counts what came from the cache, by the names of its
    input, of what came from the cache and of its output."""
    total, cached, output = [token_number(usage.get(name)) for name in names]
    return ModelCallEvent(
        model=model,
        input_tokens=max(0, total - cached),
        cache_read_tokens=cached,
        output_tokens=output,
        time=time,
    )
