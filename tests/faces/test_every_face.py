"""The table of operations, walked: every face has the same names, schemas and words, and says the
same about the same input."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import pytest
from jsonschema import Draft202012Validator
from starlette.testclient import TestClient

from foreword.director.tool_table import TOOLS as DIRECTOR_TOOLS
from foreword.errors import BadRequest, ForewordError
from foreword.faces.http import api
from foreword.faces.http.app import create_app
from foreword.faces.http.endpoint import Endpoint
from foreword.faces.mcp.server_state import ServerState
from foreword.faces.mcp.tools import TOOLS as MCP_TOOLS
from foreword.faces.mcp.tools import McpTool
from foreword.faces.serving.app_state import AppState, Settings
from foreword.operations.operation import AnyOperation, input_example
from foreword.operations.table import OPERATIONS
from foreword.operations.tool_schema import input_schema
from tests.command import foreword
from tests.sessions import plan

WORKFLOW = "kilns"
# What each operation is asked for where it has no example: any value that it takes.
VALID: dict[str, dict[str, Any]] = {
    "get_plan_version": {"version": 1},
    "diff_plan": {"old": 1, "new": 1},
    "get_workflow_variable": {"name": "all"},
    "clear_variable": {"name": "cone", "reason": "done"},
    "clear_all_variables": {"reason": "done"},
    "recall": {"handle": "fw_3f9c01d7ab52e8"},
    "drop_node": {"node": "1"},
    "get_run": {"run": "1"},
    "show_checkpoint": {"task": "FIRE-1"},
    "resume_checkpoint": {"task": "FIRE-1"},
    "get_report": {"number": 1},
    "diff_reports": {"number": 2, "before": 1},
    "get_recipe": {"name": "package"},
    "lint_recipe": {"name": "package"},
}
# Of every kind of JSON one: each field refuses most of them.
KINDS = [None, True, 7, -7, 1.5, "", "tea", "x" * 200_000, [], ["tea"], {}, {"tea": 1}]
BAD_PLANS = [
    {**plan(), "next_actions": "not a list"},
    {**plan(), "blockers": [7]},
    {**plan(), "phases": {}},
    {**plan(), "overall_goal": " "},
    {"overall_goal": "Fire the kiln"},
]
LONG = "x" * 20_000
COMMANDS = {
    ("variable", "set"): OPERATIONS["set_variable"],
    ("variable", "get"): OPERATIONS["get_workflow_variable"],
    ("variable", "clear"): OPERATIONS["clear_variable"],
    ("variable", "clear-all"): OPERATIONS["clear_all_variables"],
    ("plan", "update"): OPERATIONS["update_plan"],
    ("plan", "show"): OPERATIONS["get_plan_version"],
    ("plan", "diff"): OPERATIONS["diff_plan"],
    ("checkpoint", "resume"): OPERATIONS["resume_checkpoint"],
}
TOOLS_OF_ONE = {name: tool for name, tool in MCP_TOOLS.items() if len(tool.operations) == 1}


@pytest.fixture(scope="module")
def root(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("faces")


@pytest.fixture(scope="module")
def http(root: Path) -> Iterator[TestClient]:
    settings = Settings(root=root, hosts=("testserver",), requests_per_minute=10**9)
    with TestClient(create_app(settings)) as client:
        yield client


@pytest.fixture(scope="module")
def mcp(root: Path) -> Iterator[ServerState]:
    app_state = AppState(Settings(root=root))
    yield ServerState(app_state, WORKFLOW)
    app_state.close()


def endpoints_of(operation: AnyOperation) -> list[Endpoint]:
    return [endpoint for endpoint in api.ENDPOINTS if endpoint.operation is operation]


def valid_input(operation: AnyOperation) -> dict[str, Any]:
    return dict(VALID.get(operation.name) or input_example(operation.takes) or {})


def wrong_inputs(operation: AnyOperation) -> Iterator[dict[str, Any]]:
    """The valid input with a field away, one too many, or one of another kind."""
    valid = valid_input(operation)
    yield {**valid, "teapot": 1}
    for name in valid:
        yield {key: value for key, value in valid.items() if key != name}
    for name in operation.takes.model_fields:
        for value in KINDS:
            yield {**valid, name: value}


def python_verdict(operation: AnyOperation, given: dict[str, Any]) -> str:
    try:
        operation.read(given)
    except BadRequest as refused:
        return without_known(refused.message)
    return ""


def without_known(message: str) -> str:
    """What is wrong, without the names that are known in that place."""
    return re.sub(r", known: .*", "", message)


def test_the_table_has_everything_that_the_faces_offer_under_its_own_name() -> None:
    for tool in TOOLS_OF_ONE.values():
        assert tool.operations == (OPERATIONS[tool.name],)
    shared = DIRECTOR_TOOLS.keys() & OPERATIONS.keys()
    assert shared == {
        "update_plan",
        "get_current_plan",
        "get_workflow_variable",
        "set_variable",
        "clear_variable",
        "clear_all_variables",
        "recall",
        "recall_messages",
    }
    for operation in OPERATIONS.values():
        assert endpoints_of(operation), operation.name


def test_every_face_describes_an_operation_in_its_own_words() -> None:
    for operation in OPERATIONS.values():
        assert operation.about.endswith(".")
        for endpoint in endpoints_of(operation):
            described = api.description()["paths"][endpoint.path][endpoint.method.lower()]
            assert described["summary"] == operation.about
        if operation.name in MCP_TOOLS:
            assert MCP_TOOLS[operation.name].about.startswith(operation.about)
        if operation.name in DIRECTOR_TOOLS:
            assert DIRECTOR_TOOLS[operation.name].about.startswith(operation.about)


def test_every_face_has_the_schema_of_the_operation() -> None:
    for operation in OPERATIONS.values():
        short = input_schema(operation.takes)
        if operation.name in DIRECTOR_TOOLS:
            assert DIRECTOR_TOOLS[operation.name].parameters == short["properties"]
        if operation.name in TOOLS_OF_ONE:
            tool = MCP_TOOLS[operation.name]
            offered = {**short["properties"], "workflow": {"type": "string"}}
            for name, schema in tool.input_schema["properties"].items():
                assert schema == offered[name]
        whole = operation.takes.model_json_schema()["properties"]
        for endpoint in endpoints_of(operation):
            for place in (endpoint.query, endpoint.body):
                fields = place.model_json_schema().get("properties", {}) if place else {}
                for name in fields.keys() & whole.keys():
                    assert fields[name] == whole[name], (endpoint.path, name)


def test_http_says_of_a_wrong_body_what_the_operation_says(http: TestClient) -> None:
    for operation in OPERATIONS.values():
        for endpoint in endpoints_of(operation):
            if endpoint.body is None:
                continue
            for given in wrong_inputs(operation):
                in_path = {name: valid_input(operation).get(name) for name in _names(endpoint.path)}
                if any(given.get(name) != value for name, value in in_path.items()):
                    continue  # a path is always a text, and always there
                elsewhere = operation.takes.model_fields.keys() - endpoint.body.model_fields.keys()
                if (given.keys() & elsewhere) - in_path.keys():
                    continue
                verdict = python_verdict(operation, given)
                assert _http_verdict(http, endpoint, given) == verdict, (endpoint.path, given)


def test_http_says_of_a_wrong_query_what_the_operation_says(http: TestClient) -> None:
    for operation in OPERATIONS.values():
        for endpoint in endpoints_of(operation):
            _check_wrong_queries(http, operation, endpoint)


def _check_wrong_queries(http: TestClient, operation: AnyOperation, endpoint: Endpoint) -> None:
    offered = endpoint.query.model_fields.keys() & operation.takes.model_fields.keys()
    in_path = {name: valid_input(operation).get(name, "1") for name in _names(endpoint.path)}
    for name in offered:
        for text in ("tea", "-7", "x" * 2_000):
            given = {**valid_input(operation), **in_path, name: text}
            sent = {key: given[key] for key in offered if key in given}
            path = endpoint.path.replace("{workflow}", WORKFLOW).format(**in_path)
            answer = http.request(endpoint.method, path, params=sent)
            field = operation.takes.model_fields[name].annotation
            value = int(text) if text == "-7" and "int" in str(field) else text
            asked = {key: given[key] for key in given if key in operation.takes.model_fields}
            verdict = python_verdict(operation, {**asked, name: value})
            problem = answer.json()
            is_refused = problem.get("code") == "bad_request"
            said = without_known(problem["title"]) if is_refused else ""
            # which sessions there are is no matter of shape
            assert said in (verdict, "cursor: no page ended there"), (endpoint.path, name, text)


def _names(path: str) -> list[str]:
    return [part[1:-1] for part in path.split("/") if part.startswith("{")]


def _http_verdict(http: TestClient, endpoint: Endpoint, given: Mapping[str, Any]) -> str:
    body = dict(given)
    path = endpoint.path.replace("{workflow}", WORKFLOW)
    for name in _names(path):
        path = path.replace(f"{{{name}}}", str(body.pop(name)))
    answer = http.request(endpoint.method, path, json=body)
    problem = answer.json()
    if answer.status_code != 400 or problem["code"] != "bad_request":
        return ""
    assert problem["problems"]
    return without_known(problem["title"])


def test_mcp_says_of_wrong_arguments_what_the_operation_says(mcp: ServerState) -> None:
    for tool in TOOLS_OF_ONE.values():
        (operation,) = tool.operations
        for given in wrong_inputs(operation):
            if given.keys() & tool.hides:
                continue
            verdict = python_verdict(operation, _with_budget(operation, given))
            assert _mcp_verdict(mcp, tool, given) == verdict, (tool.name, given)


def _mcp_verdict(mcp: ServerState, tool: McpTool, given: dict[str, Any]) -> str:
    try:
        tool.call(mcp, given)
    except ForewordError as error:
        return without_known(error.message) if isinstance(error, BadRequest) else ""
    return ""


def _with_budget(operation: AnyOperation, given: dict[str, Any]) -> dict[str, Any]:
    """As MCP reads it: no budget is the server's own."""
    return {name: value for name, value in given.items() if name != "budget" or value is not None}


def test_a_director_says_of_wrong_arguments_what_the_operation_says() -> None:
    for name in sorted(DIRECTOR_TOOLS.keys() & OPERATIONS.keys()):
        for given in wrong_inputs(OPERATIONS[name]):
            try:
                DIRECTOR_TOOLS[name].read(given)
                verdict = ""
            except BadRequest as refused:
                verdict = without_known(refused.message)
            assert verdict == python_verdict(OPERATIONS[name], given), (name, given)


@pytest.mark.parametrize(
    ("command", "given"),
    [
        (("variable", "set", WORKFLOW, LONG, "1", "--reason", "try"), {"name": LONG, "value": 1}),
        (("variable", "get", WORKFLOW, LONG), {"name": LONG}),
        (("variable", "clear", WORKFLOW, LONG, "--reason", "try"), {"name": LONG}),
        (("variable", "clear-all", WORKFLOW, "--reason", LONG), {"reason": LONG}),
        (("plan", "update", WORKFLOW, "plan.json", "--reason", LONG), {"reason": LONG}),
        (("plan", "show", WORKFLOW, "--version", "-7"), {"version": -7}),
        (("plan", "diff", WORKFLOW, "0", "1"), {"old": 0, "new": 1}),
        (("checkpoint", "resume", LONG), {"task": LONG}),
    ],
    ids=lambda value: " ".join(value[:2]) if isinstance(value, tuple) else "",
)
def test_a_command_says_of_wrong_words_what_the_operation_says(
    command: tuple[str, ...], given: dict[str, Any], root: Path
) -> None:
    (root / "plan.json").write_text(json.dumps(plan()))
    operation = COMMANDS[command[0], command[1]]
    verdict = python_verdict(operation, {**valid_input(operation), **given})
    foreword("variable", "set", WORKFLOW, "cone", "4", "--reason", "makes the workflow", cwd=root)
    ran = foreword(*command, cwd=root)
    assert (ran.code, ran.out) == (2, "")
    assert ran.err.startswith(f"error: {verdict}")


@pytest.mark.parametrize("bad", BAD_PLANS, ids=lambda bad: json.dumps(bad)[-40:])
def test_a_plan_that_is_none_is_invalid_in_every_face_and_in_every_description(
    bad: dict[str, Any], http: TestClient, mcp: ServerState, root: Path
) -> None:
    given = {"plan": bad, "reason": "try"}
    path = f"/v1/sessions/{WORKFLOW}/plan"
    refused = http.put(path, json=given)
    assert (refused.status_code, refused.json()["code"]) == (422, "bad_plan")
    with pytest.raises(ForewordError) as by_mcp:
        MCP_TOOLS["update_plan"].call(mcp, given)
    assert by_mcp.value.message == refused.json()["title"]
    (root / "bad.json").write_text(json.dumps(bad))
    by_command = foreword("plan", "update", WORKFLOW, "bad.json", "--reason", "try", cwd=root)
    assert by_command.code == 2
    for problem in refused.json()["problems"]:
        assert problem in by_command.err

    described = api.description()
    operation = described["paths"]["/v1/sessions/{workflow}/plan"]
    body = operation["put"]["requestBody"]["content"]["application/json"]["schema"]
    answer = operation["get"]["responses"]["200"]["content"]["application/json"]["schema"]
    components = {"components": described["components"]}
    assert not Draft202012Validator({**body, **components}).is_valid(given)
    assert not Draft202012Validator({**answer, **components}).is_valid({"version": 1, "plan": bad})
    for schema in (
        MCP_TOOLS["update_plan"].input_schema,
        DIRECTOR_TOOLS["update_plan"].schema,
    ):
        # limits of size are not in the schemas of tools; an error names them
        assert bad["overall_goal"] == " " or not Draft202012Validator(schema).is_valid(given)
