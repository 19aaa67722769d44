"""The hooks of coding agents, answered by a server that is up already, so that the agent waits
less.

The root is named only to be told apart: a server answers for its own project and reads no file that
a request names.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated, Any

from pydantic import Field

from foreword.coding_agents import hooks, long_results, server_file
from foreword.coding_agents.hook_events import event_of
from foreword.errors import UnknownName
from foreword.faces.http.endpoint import ApiRequest, Nothing, function_endpoint
from foreword.faces.http.request_parsing import RequestInput
from foreword.operations.context_operations import recipe_inside
from foreword.operations.operation import example

MOST_TOKENS = 1_000_000  # of a tool's result: beyond any window, so nothing is shortened


class HookBody(RequestInput):
    """An event of a coding agent."""

    model_config = example(
        {
            "root": "/home/me/kilns",
            "event": {"hook_event_name": "SessionStart", "source": "compact"},
        }
    )

    root: str = Field(
        max_length=4_096,
        description="The project it happened in: this server's, or the answer is 404.",
    )
    event: dict[str, Any] = Field(description="What the agent gave its hook, as it is.")
    recipe: str = Field(
        "", max_length=200, description="Whose tier 0 comes back; else the project's own."
    )
    budget_tokens: int = Field(
        long_results.BUDGET_TOKENS, ge=1, le=MOST_TOKENS, description="Of a tool's result."
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class HookAnswer:
    """What the hook is to print."""

    output: Annotated[dict[str, Any] | None, Field(description="Null where the event passes.")]


def hook(request: ApiRequest[Nothing, HookBody]) -> HookAnswer:
    """Answer an event of a coding agent: what a session begins with again, or a shorter result."""
    settings = request.app_state.settings
    body = request.body
    if body.root != str(settings.root) or settings.db is not None:
        raise UnknownName("root", body.root[:200], ())
    recipe = recipe_inside(settings.root, body.recipe)
    event = event_of(body.event)
    if event.name not in hooks.BY_SERVER:
        return HookAnswer(output=None)
    options = hooks.Options(recipe=recipe, budget_tokens=body.budget_tokens)
    return HookAnswer(output=hooks.answer(event, settings.root, options))


ENDPOINTS = (
    function_endpoint(
        hook,
        tag="hooks",
        method="POST",
        path=server_file.PATH,
        body=HookBody,
        problems=(404, 422),
        lane="computing",
    ),
)
