"""What agents are told of the tools, resources and prompts: short, true, and enough."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from anyio import fail_after, to_thread
from jsonschema import Draft202012Validator
from mcp.shared.exceptions import MCPError
from mcp.shared.subscriptions import ResourceUpdated

from foreword.extras import install_command, requirement
from foreword.faces.mcp.tools import TOOLS
from foreword.session.session import Session
from foreword.tokens import counter
from tests.command import foreword
from tests.corpus import rows
from tests.faces.behaviour import ITEMS, PythonClient, Refused, project
from tests.faces.mcp.clients import McpClient, answer_of, over_stdio
from tests.patience import PATIENCE_SECONDS
from tests.sessions import plan

MOST_TOKENS, MOST_TOOLS = 2_000, 12
NAMED_BY_OTHERS = {
    "update_plan",
    "get_current_plan",
    "get_workflow_variable",
    "set_variable",
    "clear_variable",
    "clear_all_variables",
    "assemble_context",
    "recall",
    "lookup",
    "checkpoint",
}


@pytest.fixture(scope="module")
def client(tmp_path_factory: pytest.TempPathFactory) -> Iterator[McpClient]:
    with over_stdio(
        project(tmp_path_factory.mktemp("mcp")), "--workflow", "kilns", mode="auto"
    ) as client:
        yield client


def tool_definitions(client: McpClient) -> list[dict[str, Any]]:
    """The definitions of the tools, as they come over the wire."""
    return [
        tool.model_dump(by_alias=True, exclude_none=True) for tool in client.ask("list_tools").tools
    ]


def test_the_definitions_of_all_tools_have_less_than_2000_tokens(client: McpClient) -> None:
    tools = tool_definitions(client)
    assert len(tools) <= MOST_TOOLS
    assert counter("o200k").count(json.dumps(tools, separators=(",", ":"))) < MOST_TOKENS
    assert {tool["name"] for tool in tools} >= NAMED_BY_OTHERS


def test_every_tool_says_what_it_takes_gives_and_does(client: McpClient) -> None:
    for tool in tool_definitions(client):
        for schema in (tool["inputSchema"], tool.get("outputSchema", {"type": "object"})):
            Draft202012Validator.check_schema(schema)
            assert schema["type"] == "object"
        assert tool["description"].endswith((".", ").", "..."))
        assert tool["annotations"]["openWorldHint"] is False
        assert tool["annotations"].keys() & {"readOnlyHint", "destructiveHint"}
    hints = {tool.name: tool.hints for tool in TOOLS.values()}
    assert hints["clear_all_variables"]["destructiveHint"]
    assert not hints["update_plan"]["destructiveHint"]
    assert hints["recall"]["readOnlyHint"]


def test_an_answer_is_a_text_as_well(client: McpClient) -> None:
    made = client.ask("call_tool", "set_variable", {"name": "cone", "value": "04", "reason": "try"})
    assert (
        json.loads(made.content[0].text)
        == made.structured_content
        == {"name": "cone", "shown": '"04"'}
    )
    found = client.ask("call_tool", "lookup", {"wanted": "potter"})
    assert found.structured_content is None  # a model would be shown that, as escaped JSON
    assert found.content[0].text.strip() == answer_of(found)["text"].strip()


def test_a_context_reaches_a_model_as_it_is_and_within_its_budget(client: McpClient) -> None:
    asked = {"recipe": "package", "purpose": "handoff", "source": ITEMS, "budget": 800}
    found = client.ask("call_tool", "assemble_context", asked)
    (content,) = found.content
    assert found.structured_content is None
    assert "\\n" not in content.text
    assert counter("o200k").count(content.text) <= 800


def test_a_warning_is_shown_only_where_the_budget_has_room(client: McpClient) -> None:
    long = " ".join(f"kiln{number}" for number in range(3_000))
    client.call("append_message", workflow="full", message={"role": "user", "content": long})
    items = [{"kind": "doc", "title": "Kilns", "text": long}]
    package = {"recipe": "package", "purpose": "handoff", "source": {"items": items}}
    for tool, asked in (
        ("session_context", {"workflow": "full", "budget": 900}),
        ("assemble_context", {**package, "tokenBudget": 900}),
    ):
        shown = client.ask("call_tool", tool, asked)
        assert answer_of(shown)["warnings"]
        assert counter("o200k").count(shown.content[0].text) <= 900


def test_a_session_without_a_budget_keeps_one_that_hosts_accept(
    client: McpClient, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("XDG_DATA_HOME", str(client.root.parent / "data"))
    for turn in range(30):
        words = " ".join(f"glaze{turn}x{number}" for number in range(250))
        client.call("append_message", workflow="own", message={"role": "user", "content": words})
    made = client.call("session_context", workflow="own")
    assert made["budget_tokens"] == 20_000
    assert made["tokens"] <= 20_000
    assert not [warning for warning in made["warnings"] if "preview" in warning]
    for omission in made["omissions"]:
        assert client.call("recall", handle=omission["handle"])["text"]
    with Session.open(workflow="own", root=client.root, create=False) as session:
        assert session.budget == 20_000
        assert session.usage()["calls"] == 1


def test_a_hidden_field_is_refused_in_any_case(client: McpClient) -> None:
    message = {"role": "user", "content": "Fire the kiln."}
    for tool, given in (
        ("append_message", {"message": message, "Kind": "plan"}),
        ("session_context", {"Save": False}),
        ("lookup", {"wanted": "potter", "COUNTER": "estimate"}),
    ):
        with pytest.raises(Refused, match="unknown name") as refused:
            client.call(tool, **given)
        assert refused.value.args[0] == "bad_request"


def test_a_page_says_where_the_next_one_begins(client: McpClient) -> None:
    asked = {"recipe": "package", "purpose": "handoff", "source": ITEMS, "budget": 800}
    handle = client.call("assemble_context", **asked)["omissions"][0]["handle"]
    page = client.ask("call_tool", "recall", {"handle": handle, "budget": 500})
    assert page.content[0].text.endswith(f"\n[goes on at offset {answer_of(page)['next_offset']}]")
    for budget in (60, 200, 500):
        page = client.ask("call_tool", "recall", {"handle": handle, "budget": budget})
        assert counter("o200k").count(page.content[0].text) <= budget


def test_the_workflow_of_the_command_line_is_meant_where_none_is_named(client: McpClient) -> None:
    assert client.call("get_current_plan")["version"] in (0, 1)
    client.call("update_plan", plan=plan(), reason="first")
    assert client.call("get_current_plan", workflow="kilns")["version"] == 1


def test_who_names_no_workflow_is_told_which_there_are(client: McpClient) -> None:
    client.call("set_variable", name="cone", value=1, reason="try", workflow="glazes")
    assert "glazes" in client.call("get_current_plan")["workflows"]
    assert "workflows" not in client.call("get_current_plan", workflow="glazes")
    (listed,) = client.ask("read_resource", "foreword://workflows").contents
    (glazes,) = [one for one in json.loads(listed.text) if one["name"] == "glazes"]
    assert (glazes["variables"], glazes["plan_version"]) == (1, 0)


def test_reading_makes_no_workflow_and_no_store(tmp_path: Path) -> None:
    root = project(tmp_path)
    with over_stdio(root) as fresh:
        assert fresh.call("get_current_plan") == {"version": 0, "plan": None, "workflows": []}
        assert json.loads(fresh.ask("read_resource", "foreword://workflows").contents[0].text) == []
        assert fresh.call("list_checkpoints")["checkpoints"] == []
        for tool, given in (
            ("get_current_plan", {"workflow": "kilns"}),
            ("get_workflow_variable", {"name": "all"}),
            ("session_context", {}),
            ("clear_all_variables", {"reason": "none"}),
        ):
            with pytest.raises(Refused) as refused:
                fresh.call(tool, **given)
            assert refused.value.args[0] == "unknown_name"
            assert "update_plan, set_variable and append_message make" in refused.value.args[2]
        assert not list(root.rglob("state.db"))
        fresh.call("set_variable", name="cone", value=1, reason="try", workflow="glazes")
        assert fresh.call("get_current_plan")["workflows"] == ["glazes"]


def test_recipes_plans_and_reports_are_resources(client: McpClient) -> None:
    client.call("update_plan", plan=plan(), reason="first", workflow="a plan/of mine")
    number = client.call("lookup", wanted="potter")["report"]
    listed = {str(one.uri): one for one in client.ask("list_resources").resources}
    assert {
        "foreword://recipe/package",
        "foreword://plan/a%20plan%2Fof%20mine",
        f"foreword://report/{number}",
    } <= {*listed}
    for uri, one in listed.items():
        (content,) = client.ask("read_resource", uri).contents
        assert content.mime_type == one.mime_type
        assert content.text
    (mine,) = client.ask("read_resource", "foreword://plan/a%20plan%2Fof%20mine/1").contents
    assert json.loads(mine.text)["overall_goal"] == plan()["overall_goal"]
    templates = {
        one.uri_template for one in client.ask("list_resource_templates").resource_templates
    }
    assert "foreword://plan/{workflow}/{version}" in templates


def test_a_client_is_told_when_another_process_has_changed_the_plan_it_watches(
    client: McpClient, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("XDG_DATA_HOME", str(client.root.parent / "data"))

    async def watch() -> object:
        async with client.client.listen(
            resource_subscriptions=["foreword://plan/watched"]
        ) as changes:
            await to_thread.run_sync(others.call_update, "unwatched")
            await to_thread.run_sync(others.call_update, "watched")
            with fail_after(PATIENCE_SECONDS):
                return await anext(changes)

    others = Others(client.root)
    assert client.portal.call(watch) == ResourceUpdated("foreword://plan/watched")


class Others(PythonClient):
    """Another process, as far as the server can tell."""

    def call_update(self, workflow: str) -> None:
        self.call("update_plan", plan=plan(), reason="elsewhere", workflow=workflow)


@pytest.mark.parametrize("uri", rows("mcp/no_resources.jsonl"))
def test_what_is_no_resource_is_an_error_with_a_hint(client: McpClient, uri: str) -> None:
    client.call("set_variable", name="x", value=1, reason="makes the workflow")
    with pytest.raises(MCPError) as error:
        client.ask("read_resource", uri)
    assert error.value.code == -32602
    assert "root:" not in error.value.message


def test_many_resources_come_in_pages(client: McpClient) -> None:
    for number in range(101):
        client.call("update_plan", plan=plan(), reason="many", workflow=f"w{number}")
    first = client.ask("list_resources")
    second = client.ask("list_resources", cursor=first.next_cursor)
    assert len(first.resources) == 100
    assert not {one.uri for one in first.resources} & {one.uri for one in second.resources}
    with pytest.raises(MCPError, match="cursor"):
        client.ask("list_resources", cursor="over there")


def test_there_is_a_prompt_for_each_purpose_and_phase(client: McpClient) -> None:
    names = [prompt.name for prompt in client.ask("list_prompts").prompts]
    assert names == [
        "design",
        "implementation",
        "review",
        "handoff",
        "subagent",
        "phase-planning",
        "phase-interface",
        "phase-implementation",
        "phase-testing",
    ]
    made = client.ask("get_prompt", "handoff", {"source": "items.json", "budget": "800"})
    assert "Cone 04 it is" in made.messages[0].content.text


@pytest.mark.parametrize(
    ("name", "arguments", "said"),
    [
        ("handof", {"source": "items.json"}, "did you mean 'handoff'?"),
        ("handoff", {}, "'source' is missing"),
        ("handoff", {"source": "../outside.json"}, "leads outside the root"),
        ("handoff", {"source": "items.json", "budget": "much"}, "budget"),
        ("handoff", {"source": "items.json", "root": "/"}, "unknown argument 'root'"),
    ],
)
def test_a_prompt_that_can_not_be_made_says_why(
    client: McpClient, name: str, arguments: dict[str, str], said: str
) -> None:
    with pytest.raises(MCPError, match=said.replace("?", r"\?")):
        client.ask("get_prompt", name, arguments)


def test_without_the_extra_one_line_says_what_to_install(tmp_path: Path) -> None:
    (tmp_path / "mcp_types.py").write_text("raise ModuleNotFoundError('no', name='mcp_types')\n")
    ran = foreword("mcp", cwd=tmp_path, PYTHONPATH=str(tmp_path))
    assert ran.code == 2
    assert ran.err.splitlines() == [
        "error: this needs the extra 'mcp': mcp_types is not installed",
        f"hint: {install_command('mcp')}",
    ]
    assert ran.out == ""


def test_an_older_library_that_another_package_asks_for_is_named(tmp_path: Path) -> None:
    (tmp_path / "mcp_types.py").write_text("raise ModuleNotFoundError('no', name='mcp_types')\n")
    about = tmp_path / "mcp-1.9.4.dist-info"
    about.mkdir()
    (about / "METADATA").write_text("Metadata-Version: 2.1\nName: mcp\nVersion: 1.9.4\n")
    ran = foreword("mcp", cwd=tmp_path, PYTHONPATH=str(tmp_path))
    assert ran.code == 2
    assert "needs mcp 2 or newer, and mcp 1.9.4 is installed" in ran.err
    assert "langchain-mcp-adapters" in ran.err
    assert f"an environment of its own (`pipx install '{requirement('mcp')}'`)" in ran.err


def test_other_commands_do_not_load_the_sdk() -> None:
    code = (
        "import sys, foreword.faces.cli.main, foreword.faces.cli.mcp; print('mcp' in sys.modules)"
    )
    assert (
        subprocess.run([sys.executable, "-c", code], capture_output=True, check=True).stdout
        == b"False\n"
    )
