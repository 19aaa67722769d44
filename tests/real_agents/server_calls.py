"""Tools of our MCP server as a model calls them through an agent, and what has to come back.

The same scene for every agent: a project with more material than the budgets that are asked for,
a conversation in its store, and a model that calls one tool after another.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from typing import Any

from foreword.testing import Reply, ToolCall
from foreword.tokens import counter
from tests.command import foreword
from tests.real_agents.agents import DONE, Body, RealAgent

# Line breaks, quotes and letters that JSON would have escaped.
RULE = (
    "# Heights\n\n"
    'Heights are "above chart datum", in metres.\n'
    "- Größe — never in feet: C:\\tides\\marks.py\n"
)
WORKFLOW = "tides"
SAID = 'Station 5 stays on "mean sea level",\nsince its gauge was moved — twice.'
CALLS: dict[str, dict[str, Any]] = {
    "lookup": {"wanted": "how are heights measured?", "budget": 400},
    "assemble_context": {"recipe": "coding", "budget": 1_200},
    "recall": {
        "question": "why is station 5 on mean sea level?",
        "workflow": WORKFLOW,
        "budget": 300,
    },
}
EXPECTED = {"lookup": RULE.strip(), "assemble_context": "Tells the tides.", "recall": SAID}


def add_material(agent: RealAgent) -> None:
    """Documents and a conversation, both larger than what is asked of them."""
    folder = agent.project / "docs"
    folder.mkdir()
    (folder / "heights.md").write_text(RULE, "utf-8")
    for number in range(30):
        lines = [f"The gauge of harbour {number} is read every {n} minutes." for n in range(60)]
        text = f"# Harbour {number}\n\n" + "\n".join(lines) + "\n"
        (folder / f"harbour-{number}.md").write_text(text, "utf-8")
    said = [SAID, *(f"Harbour {number} was read, nothing new." for number in range(60))]
    talk = agent.home / "talk.json"
    talk.write_text(json.dumps([{"role": "user", "content": text} for text in said]), "utf-8")
    ran = foreword("session", "import", WORKFLOW, str(talk), cwd=agent.project)
    assert ran.code == 0, ran.err


def script(
    tool_name: Callable[[str], str],
    results: Callable[[Body], Sequence[str]],
    before: Callable[[Body], ToolCall | None] = lambda body: None,
) -> Callable[[Body], str | Reply]:
    """A model that calls the tools one after another and is done then; `before` is a call that
    has to be made first, if any."""

    def reply(body: Body) -> str | Reply:
        if not body.get("tools"):
            return "A title"
        call = before(body)
        if call is None:
            done = len(results(body))
            if done == len(CALLS):
                return DONE
            name = list(CALLS)[done]
            call = ToolCall(tool_name(name), CALLS[name])
        return Reply("", tool_calls=[call])

    return reply


def check(results: Sequence[str]) -> None:
    """Each answer is there as it was written, and within the budget that was asked for."""
    assert len(results) == len(CALLS)
    for (name, arguments), text in zip(CALLS.items(), results, strict=True):
        assert EXPECTED[name] in text, (name, text)
        assert "\\n" not in text, (name, text)
        assert counter("estimate").count(text) <= arguments["budget"], (name, text)
