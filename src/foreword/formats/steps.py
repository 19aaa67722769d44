"""One message that holds several steps of an agent, as the messages it was made of.

Interfaces keep a whole turn in one message: words, a call with its result, more words. For a
provider that is a reply, the result, and another reply, in this order.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import KW_ONLY, dataclass, field

from foreword.message import Kind, Message, Part, Role, ToolResult


@dataclass(slots=True)
class Steps:
    """Collects the parts of a turn, and the results of its calls."""

    role: Role
    _: KW_ONLY
    kind: Kind = "conversation"
    extra: str = ""
    _messages: list[Message] = field(default_factory=list)
    _parts: list[Part] = field(default_factory=list)
    _results: list[Part] = field(default_factory=list)

    def add(self, part: Part) -> None:
        """Say something; where a result came before it, this is the next step."""
        if self._results:
            self.next_step()
        self._parts.append(part)

    def add_call(self, call: Part, result: ToolResult | None) -> None:
        """Make a call, together with those in front of it, and keep its result for the end."""
        self._parts.append(call)
        if result is not None:
            self._results.append(result)

    def next_step(self) -> None:
        """What follows is said after the results so far."""
        if self._parts:
            extra = self.extra if not self._messages else ""
            self._messages.append(Message(self.role, tuple(self._parts), self.kind, extra=extra))
        if self._results:
            self._messages.append(Message("tool", tuple(self._results)))
        self._parts = []
        self._results = []

    def messages(self) -> Sequence[Message]:
        """All of them; one without parts where nothing was said."""
        self.next_step()
        return self._messages or [Message(self.role, (), self.kind, extra=self.extra)]
