"""What tests of the director share: how one is opened, and what its model was sent."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from foreword.director import Director
from foreword.testing import Reply, ToolCall
from foreword.testing.state_reader import is_state

PARTS = (
    "system_prompt",
    "current_plan",
    "workflow_snapshot",
    "workflow_variables",
    "browser_state",
)
Open = Callable[..., Director]


def open_director(
    folder: Path, model: Any = None, workflow: str = "letters", **options: Any
) -> Director:
    """A director on a store of that folder."""
    return Director.open(
        f"sqlite:///{folder}/state.db", workflow, root=folder, model=model, **options
    )


def called(director: Director, tool: str, **given: Any) -> dict[str, Any]:
    """What a tool of the director's answers."""
    answer: dict[str, Any] = json.loads(director.call(tool, given).text.partition("\n")[0])
    return answer


def spoken_in(body: Mapping[str, Any]) -> list[dict[str, Any]]:
    """The messages of a request in OpenAI's format without the state."""
    return [message for message in body["messages"] if not is_state(message)]


def system_of(body: Mapping[str, Any]) -> str:
    """The system's message of a request in OpenAI's format, and the state, whole and changed."""
    said = [message for message in body["messages"] if is_state(message)]
    first = body["messages"][0]
    if first["role"] in ("system", "developer"):
        said.insert(0, first)
    return "\n\n".join(str(message["content"]) for message in said)


def parts_of(body: Mapping[str, Any]) -> list[str]:
    """The names of the parts around the conversation, in their order."""
    names = dict.fromkeys(re.findall(r"^<(\w+)>$", system_of(body), re.MULTILINE))
    return [name for name in names if name != "state_changes"]


def calls(text: str = "", **wanted: Mapping[str, Any]) -> Reply:
    """A reply that calls each of these tools once."""
    return Reply(text, tool_calls=[ToolCall(name, arguments) for name, arguments in wanted.items()])


def results_in(body: Mapping[str, Any]) -> list[str]:
    """The results of tools in a request."""
    found = [str(message["content"]) for message in body["messages"] if message["role"] == "tool"]
    return [json.loads(text)["error"] if text.startswith('{"error":') else text for text in found]
