"""What comes into a window, by where it comes from: each tool, each MCP server, files, hooks, the
user, the model itself; and which turns brought most.

In tokens by characters / 4, of what was said; what an agent sends besides (its own instructions,
the definitions of tools) is in no transcript.
"""

from __future__ import annotations

from collections import Counter

from foreword.agent_sessions import AgentEvent, AttachmentEvent, CompactionEvent, MessageEvent
from foreword.message import Text, Thinking, ToolCall, ToolResult
from foreword.secrets.masking import mask
from foreword.tokens import CHARS_PER_TOKEN

LONGEST_TURN = 70  # characters of a turn's first words
_MCP = "mcp__"


class WindowUse:
    """Sizes by source, and by turn of the user's."""

    def __init__(self) -> None:
        self._sources = Counter[str]()
        self._turns = Counter[str]()
        self._turn = "before the first words"
        self._tools: dict[str, str] = {}  # by the ids of their calls

    def see(self, event: AgentEvent) -> None:
        """Count one event."""
        if isinstance(event, AttachmentEvent):
            self._add(event.source, len(event.text))
        elif isinstance(event, CompactionEvent):
            self._add("summaries", len(event.summary))
        elif isinstance(event, MessageEvent):
            if event.by_user:
                words = " ".join(event.message.text.split())
                self._turn = mask(words[:LONGEST_TURN])
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

    def by_source(self, most: int) -> tuple[tuple[str, int], ...]:
        """The sources in tokens, the largest first."""
        return _in_tokens(self._sources, most)

    def largest(self, most: int) -> tuple[tuple[str, int], ...]:
        """The turns that brought most, in tokens."""
        return _in_tokens(self._turns, most)


def _source(tool: str) -> str:
    """A tool by its name, one of an MCP server by the server's."""
    if tool.startswith(_MCP):
        return f"MCP server {tool.removeprefix(_MCP).partition('__')[0]}"
    return f"tool {tool}"


def _in_tokens(counted: Counter[str], most: int) -> tuple[tuple[str, int], ...]:
    found = list[tuple[str, int]]()
    for name, chars in counted.most_common(most):
        if chars >= CHARS_PER_TOKEN:
            found.append((name, chars // CHARS_PER_TOKEN))
    return tuple(found)
