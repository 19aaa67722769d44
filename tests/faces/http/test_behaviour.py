"""Over HTTP, every operation does what it does in Python."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any
from urllib.parse import quote

from foreword.faces.serving.app_state import Settings
from tests.faces import behaviour
from tests.faces.behaviour import Refused
from tests.faces.http.running import Address, Reply, running, session_path


class HttpClient:
    """The operations as requests."""

    def __init__(self, root: Path, address: Address) -> None:
        self.root, self.address = root, address

    def call(self, operation: str, /, **given: Any) -> dict[str, Any]:
        way: Callable[..., Reply] = getattr(self, f"_{operation}")
        reply = way(**given)
        answer: dict[str, Any] = reply.json
        if reply.status >= 400:
            raise Refused(answer["code"], answer["title"], answer["hint"])
        return answer

    def _assemble_context(self, **given: Any) -> Reply:
        return self.address.ask("POST", "/v1/assemble", given)

    def _why(self, **given: Any) -> Reply:
        return self.address.ask("POST", "/v1/why", given)

    def _lookup(self, **given: Any) -> Reply:
        return self.address.ask("POST", "/v1/lookup", given)

    def _update_plan(self, workflow: str, **given: Any) -> Reply:
        return self.address.ask("PUT", session_path(workflow, "plan"), given)

    def _get_current_plan(self, workflow: str, **query: Any) -> Reply:
        return self.address.ask("GET", session_path(workflow, "plan"), **query)

    def _get_workflow_variable(
        self, workflow: str, name: str = "", node: str = "", **query: Any
    ) -> Reply:
        path = ("nodes", node, "variables") if node else ("variables", name)
        return self.address.ask("GET", session_path(workflow, *path), **query)

    def _set_variable(self, workflow: str, name: str, **given: Any) -> Reply:
        return self.address.ask("PUT", session_path(workflow, "variables", name), given)

    def _clear_variable(self, workflow: str, name: str, reason: str) -> Reply:
        return self.address.ask("DELETE", session_path(workflow, "variables", name), reason=reason)

    def _clear_all_variables(self, workflow: str, reason: str) -> Reply:
        return self.address.ask("DELETE", session_path(workflow, "variables"), reason=reason)

    def _append_message(self, workflow: str, key: str | None = None, **given: Any) -> Reply:
        headers = {"idempotency-key": key} if key else None
        return self.address.ask("POST", session_path(workflow, "messages"), given, headers=headers)

    def _session_context(self, workflow: str, **given: Any) -> Reply:
        return self.address.ask("POST", session_path(workflow, "context"), given)

    def _recall(self, handle: str, **query: Any) -> Reply:
        return self.address.ask("GET", f"/v1/recall/{quote(handle, safe='')}", **query)

    def _list_checkpoints(self, **query: Any) -> Reply:
        return self.address.ask("GET", "/v1/checkpoints", **query)

    def _show_checkpoint(self, task: str, **query: Any) -> Reply:
        return self.address.ask("GET", f"/v1/checkpoints/{quote(task, safe='')}", **query)

    def _resume_checkpoint(self, task: str, **query: Any) -> Reply:
        return self.address.ask("GET", f"/v1/checkpoints/{quote(task, safe='')}/resume", **query)

    def _write_checkpoint(self, task: str, phase: str, data: Any) -> Reply:
        path = f"/v1/checkpoints/{quote(task, safe='')}/phases/{quote(phase, safe='')}"
        return self.address.ask("PUT", path, {"data": data})


def test_http_does_what_every_face_does(tmp_path: Path) -> None:
    root = behaviour.project(tmp_path)
    with running(Settings(root=root)) as (address, _):
        behaviour.check_every_case(HttpClient(root, address))
