"""The OpenAPI description is of everything there is, and what it promises is kept."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import schemathesis
from hypothesis import HealthCheck, Phase, settings
from schemathesis.specs.openapi.checks import positive_data_acceptance
from starlette.routing import Route

from foreword.faces.http import api
from foreword.faces.http.app import create_app
from foreword.faces.http.problems import MEANINGS
from tests.attacks import AT_LENGTH
from tests.faces.http.running import running, settings_for

STREAMS = r"/events$"  # they do not end

# Operation ids begin with them, and both come from the names of modules, so moving one shows here.
TAGS = """
    api checkpoints contexts conversations director events health node_runs plans recipes
    reports sessions variables
    """.split()


def _operations() -> Iterator[tuple[str, str, dict[str, Any]]]:
    for path, methods in api.description()["paths"].items():
        for method, operation in methods.items():
            yield path, method, operation


def test_every_route_is_described_and_nothing_else() -> None:
    served = {route.path for route in api.routes() if isinstance(route, Route)} - {
        "/v1/{rest:path}"
    }
    assert set(api.description()["paths"]) == served
    described = {(method.upper(), path) for path, method, _ in _operations()}
    assert described == {(endpoint.method, endpoint.path) for endpoint in api.ENDPOINTS}


def test_every_route_parameter_and_problem_has_words() -> None:
    for path, method, operation in _operations():
        assert operation["summary"].endswith("."), (method, path)
        assert all(one["description"] for one in operation["responses"].values())
        for parameter in operation["parameters"]:
            named = parameter["name"] in ("old", "new")  # the words would be the same
            assert named or parameter["description"].endswith((".", "`.")), (
                method,
                path,
                parameter,
            )


def test_every_operation_has_a_name_of_its_own() -> None:
    names = [operation["operationId"] for _, _, operation in _operations()]
    assert len(set(names)) == len(names)


def test_clients_that_were_generated_find_their_groups_of_operations_again() -> None:
    tags = set[str]()
    for _, _, operation in _operations():
        tags.update(operation["tags"])
    assert sorted(tags) == TAGS


def test_every_problem_that_is_listed_has_its_meaning() -> None:
    statuses = set[int]()
    for _, _, operation in _operations():
        statuses.update(map(int, operation["responses"]))
    assert {status for status in statuses if status >= 400} <= set(MEANINGS)


def test_every_example_is_taken_as_it_is(tmp_path: Path) -> None:
    endpoints = [endpoint for endpoint in api.ENDPOINTS if endpoint.body is not None]
    with running(settings_for(tmp_path)) as (address, _):
        assert address.ask("POST", "/v1/sessions", {"name": "one"}).status == 201
        for endpoint in endpoints:
            assert endpoint.body is not None
            (example,) = endpoint.body.model_json_schema()["examples"]
            path = re.sub(r"{\w+}", "one", endpoint.path)
            reply = address.ask(endpoint.method, path, example)
            # documents, a model, a tool of that name
            needs_more = endpoint.path == "/v1/lookup" or "/director/" in endpoint.path
            assert reply.status == endpoint.status or needs_more, (endpoint.path, reply.body)
            wrong = address.ask(endpoint.method, path, []).json
            assert json.loads(wrong["hint"].removeprefix("for example ")) == example


def _schema(folder: Path) -> Any:
    app = create_app(
        settings_for(folder, requests_per_minute=10**9, timeout_seconds=30.0, hosts=("testserver",))
    )
    return schemathesis.openapi.from_asgi("/openapi.json", app)


@pytest.fixture(scope="session")
def api_schema(tmp_path_factory: pytest.TempPathFactory) -> Any:
    return _schema(tmp_path_factory.mktemp("api"))


schema = schemathesis.pytest.from_fixture("api_schema").exclude(path_regex=STREAMS)


@pytest.mark.attack
@schema.parametrize()
@settings(
    max_examples=20 if AT_LENGTH else 6,
    deadline=None,
    suppress_health_check=list(HealthCheck),
    derandomize=True,
    # The explicit ones are every edge of every field: 2,500 requests.
    phases=[Phase.explicit, Phase.generate] if AT_LENGTH else [Phase.generate],
)
def test_no_request_finds_anything_that_is_not_described(case: schemathesis.Case[Any]) -> None:
    # A request of the right shape may still be refused: there may be no such recipe, task or
    # budget.
    case.call_and_validate(excluded_checks=[positive_data_acceptance])
