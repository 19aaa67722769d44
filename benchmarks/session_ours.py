"""Foreword's sessions in the benchmarks: a store on disk, every message a commit of its own.

With a state, plan, nodes, variables and tabs change between two turns, outside the time that is
taken; reading and fitting them is part of the turn.
"""

import json
import tempfile
from itertools import count
from pathlib import Path
from typing import Any

from benchmarks.chatter import SYSTEM, Call, Said
from foreword import Session
from foreword.messages.message import Message
from foreword.messages.parts import Text, ToolCall, ToolResult


class Conversation:
    """One session, opened with its first turn."""

    def __init__(
        self,
        said: list[Said],
        budget: int,
        recipe: str = "workflow-cached",
        *,
        state: bool = True,
        **options: Any,
    ) -> None:
        self._state = state
        self._kept = tempfile.TemporaryDirectory(prefix="foreword-bench-")
        self.folder = Path(self._kept.name)
        self._options = {"auto_compress": False, **options, "recipe": recipe, "budget": budget}
        self.fresh = 0  # messages behind the history that are new at every turn by design
        self.turns = 0
        self._session: Session | None = None
        with self.open(auto_compress=False) as session:
            session.system_prompt = SYSTEM
            if state:
                change(session, 0)
            session.extend(shaped(said))

    def open(self, **options: Any) -> Session:
        """A session on the store as it is."""
        given = {**self._options, **options}
        return Session.open(f"sqlite:///{self.folder}/store.db", "bench", root=self.folder, **given)

    @property
    def session(self) -> Session:
        """The session, opened if it was not yet."""
        if self._session is None:
            self._session = self.open()
        return self._session

    def prepare(self, said: list[Said]) -> list[Any]:
        """The next messages in Anthropic's shape; the state, if there is one, is another from here
        on."""
        if self._session is not None and self._state:
            self.turns += 1
            change(self._session, self.turns)
        return shaped(said)

    def turn(self, messages: list[Any]) -> Any:
        """Append, and make the next context."""
        for message in messages:
            self.session.append(message)
        return self.session.context(browser=self._tabs())

    def _tabs(self) -> list[dict[str, Any]] | None:
        """The tabs of this turn, where there is a state."""
        if not self._state:
            return None
        address = f"https://example.org/records?page={self.turns}"
        return [{"name": "Records", "url": address, "active": True}]

    def sent(self, package: Any) -> list[Said]:
        """What the model reads."""
        return [said for message in package.messages for said in _said(message)]

    def close(self) -> None:
        """Close the session and remove its folder."""
        if self._session is not None:
            self._session.close()
        self._kept.cleanup()


def change(session: Session, turn: int) -> None:
    """Another plan, node and variable than before."""
    tasks = [
        {
            "task_id": f"t{n}",
            "description": f"Connect node {n} to the records",
            "status": _status(n, turn),
        }
        for n in range(12)
    ]
    phases = [{"phase_name": "Build", "status": "in_progress", "tasks": tasks}]
    session.update_plan(
        {"overall_goal": "Mail to records", "phases": phases, "notes": f"turn {turn}"}, "next turn"
    )
    for position in {turn % 12, 0}:
        config = {"query": f"newer than {turn} days", "limit": 20 + turn % 7}
        session.put_node(
            {"id": f"n{position}", "position": position, "type": "mail.search", "config": config}
        )
    session.set_variable(
        f"result_{turn % 15}", {"turn": turn, "rows": list(range(20))}, "the run of this turn"
    )


def _status(task: int, turn: int) -> str:
    done = turn % 12
    return "completed" if task < done else "in_progress" if task == done else "pending"


def shaped(said: list[Said]) -> list[dict[str, Any]]:
    """Messages in Anthropic's shape, each answer with a thought."""
    return [_anthropic(one) for one in said]


_signatures = count()


def _anthropic(said: Said) -> dict[str, Any]:
    if said.answers:
        result = {"type": "tool_result", "tool_use_id": said.answers, "content": said.text}
        return {"role": "user", "content": [result]}
    if said.role != "assistant":
        return {"role": said.role, "content": said.text}
    signature = f"signature-{next(_signatures)}"
    blocks: list[dict[str, Any]] = [
        {"type": "thinking", "thinking": "", "signature": signature},
        {"type": "text", "text": said.text},
    ]
    for call in said.calls:
        arguments = json.loads(call.arguments)
        blocks.append({"type": "tool_use", "id": call.id, "name": call.name, "input": arguments})
    return {"role": "assistant", "content": blocks}


def neutral(said: Said) -> Message:
    """A message as the store takes it."""
    if said.answers:
        return Message("tool", (ToolResult(said.answers, said.text),))
    calls = tuple(ToolCall(call.id, call.name, call.arguments) for call in said.calls)
    return Message("assistant" if said.role == "assistant" else "user", (Text(said.text), *calls))


def _said(message: Message) -> list[Said]:
    texts = [part.text for part in message.parts if isinstance(part, Text)]
    calls = tuple(
        Call(part.id, part.name, part.arguments)
        for part in message.parts
        if isinstance(part, ToolCall)
    )
    results = [
        Said("tool", part.text, answers=part.id)
        for part in message.parts
        if isinstance(part, ToolResult)
    ]
    if results and texts:  # the mark for what was left out
        results[-1] = Said(
            "tool", "\n".join([results[-1].text, *texts]), answers=results[-1].answers
        )
    return results or [Said(message.role, "\n".join(texts), calls)]
