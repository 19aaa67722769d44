"""What tests of a served director share: a model that does what it is told, and how its work is
waited for."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from foreword.testing import Reply, ToolCall
from tests.director.scenes import spoken_in
from tests.faces.http.running import Address, events, session_path, wait_until
from tests.sessions import plan

ENDLESS = "on and on "


def obedient_model(body: Mapping[str, Any]) -> str | Reply:
    """A model that knows four words: plan, keep, talk (without end), break; to all else it
    answers at once."""
    messages = [message for message in spoken_in(body) if message["role"] in ("user", "tool")]
    if messages[-1]["role"] == "tool":
        return "That is done."
    words = str(messages[-1]["content"])
    if "plan" in words:
        return Reply(
            "I plan it.", [ToolCall("update_plan", {"plan": plan(), "reason": "it was wanted"})]
        )
    if "keep" in words:
        return Reply(
            "I keep it.",
            [ToolCall("set_variable", {"name": "kept", "value": 7, "reason": "it was wanted"})],
        )
    if "talk" in words:
        return Reply(ENDLESS, endless=True, drip_seconds=0.01)
    if "break" in words:
        return Reply("no such model here", status=404)
    return f"You said: {words}"


def tool(address: Address, workflow: str, name: str, /, **arguments: Any) -> Any:
    """Call a tool by hand; its answer."""
    path = session_path(workflow, "director", "tools", name)
    reply = address.ask("POST", path, {"arguments": arguments})
    assert reply.status == 200, reply.body
    return reply.json


def director_events(address: Address, workflow: str, last: str = "") -> list[dict[str, Any]]:
    """Every event of the work that runs or ran last, to its end."""
    headers = {"last-event-id": last} if last else {}
    with address.open(
        "GET", session_path(workflow, "director", "events"), headers=headers
    ) as answer:
        assert answer.status == 200, answer.read()
        return [{"at": told.id, **told.data} for told in events(answer)]


def director_state(address: Address, workflow: str) -> Any:
    """How the director stands."""
    return address.ask("GET", session_path(workflow, "director")).json


def wait_until_over(address: Address, workflow: str) -> Any:
    """How the director stands once it is at nothing any more."""

    def state_if_over() -> Any:
        state = director_state(address, workflow)
        return state if state["work"]["over"] else None

    return wait_until(state_if_over)
