"""Every example that the five documents print, as printed: tool calls, plans, nodes, arguments,
states and policies (SPEC, the table of names and shapes; H4, W6)."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import psycopg
import pytest
import yaml

import foreword
from foreword.browser import Browser
from foreword.demos.site import Site
from foreword.errors import UsageError
from foreword.review.change_facts import MemberResult, Review, ReviewedChange, confidence_of
from foreword.review.policy import Profile, read_policy
from foreword.review.verdict import decide
from foreword.store.locations import state_path
from tests.browser.conftest import (  # noqa: F401
    desk,
    path_with_chromium,
    served_post_office,
    served_shop,
    shared,
    whole_path,
)
from tests.command import foreword as command
from tests.corpus import rows, text_of
from tests.director.scenes import open_director
from tests.faces.behaviour import Refused
from tests.faces.mcp.clients import over_stdio
from tests.postgres import new_database

CALLS = rows("seeds/calls.jsonl")
PLAN = json.loads(text_of("seeds/plan.json"))
NODE = json.loads(text_of("seeds/node.json"))
STATE = json.loads(text_of("seeds/workflow_state.json"))
PHASES = ("planning", "interface", "implementation", "testing")
ITEM = {"kind": "decision", "title": "Use UTC", "text": "All times are kept in UTC."}


def results(root: Path, phase: str, source: Any, *more: str) -> dict[str, Any]:
    """What `phases` returns as JSON for a state in a file."""
    (root / "state.json").write_text(json.dumps(source), "utf-8")
    asked = ("assemble", "phases", "--phase", phase, "--source", "state.json", "--format", "json")
    answer: dict[str, Any] = json.loads(command(*asked, *more, cwd=root).out)
    return answer


# --- 001: tools, plan, nodes ----------------------------------------------------------------------


def test_001_every_tool_call_does_what_it_says(
    shared: Browser,  # noqa: F811
    desk: Site,  # noqa: F811
    tmp_path: Path,
) -> None:
    with open_director(tmp_path, browser=shared) as director:
        for name, arguments in CALLS:
            sent = json.loads(json.dumps(arguments).replace("{site}", desk.url))
            outcome = director.call(name, sent)
            assert not outcome.failed, (name, outcome.text)
            if "nodeId" in sent or sent.get("variableName") == "all":
                assert "ada@harbour.example" in outcome.text


def test_001_the_tools_that_mcp_has_take_the_same_calls(tmp_path: Path) -> None:
    with over_stdio(tmp_path) as client:
        client.call("update_plan", workflowName="letters", plan=PLAN, reason="first")
        for name, arguments in CALLS[:10]:
            client.call(name, workflow="letters", **arguments)
        now = client.call("get_current_plan", workflow="letters")
        assert now["plan"]["phases"] == PLAN["phases"]
        for wrong, problem in (
            ({"varName": "x"}, "varName: unknown name"),
            ({"name": "x", "variableName": "y"}, "'name' and 'variableName' both mean 'name'"),
        ):
            with pytest.raises(Refused) as refused:
                client.call("set_variable", workflow="letters", value=1, reason="no", **wrong)
            assert refused.value.code == "bad_request"
            assert problem in refused.value.message
        assert client.call("get_workflow_variable", workflow="letters", name="all")["value"] == {}


def test_001_a_node_of_a_browser_action_has_the_type_that_its_action_names(tmp_path: Path) -> None:
    with foreword.Session.open(None, "letters", root=tmp_path) as session:
        session.put_node(NODE)
        (node,) = session.snapshot()["nodes"]
        assert node == {**NODE, "type": "navigate", "config": {"url": NODE["config"]["url"]}}
        for config in (
            {"selector": "#a", "selectorType": "css"},
            {"target": "#a", "selectorType": "xpath"},
            {"selector": "#a", "tab": "A", "tabName": "B", "tabId": 7},
        ):
            session.put_node({**NODE, "type": "click", "config": config})
            (node,) = session.snapshot()["nodes"]
            assert node["config"] == config
    with open_director(tmp_path, workflow="built") as director:
        config = {"action": "click", "selector": "#name", "tabName": "Main Tab"}
        created = {"type": "browser_action", "config": config, "description": "Open the name"}
        assert not director.call("create_node", created).failed
        outcome = director.call("update_node", {"nodeId": "node1", "config": {"tabName": "Other"}})
        assert json.loads(outcome.text)["config"] == {"selector": "#name", "tab": "Other"}


def test_001_plans_are_a_view_in_postgresql(tmp_path: Path) -> None:
    url = new_database()
    with foreword.Session.open(url, "letters", root=tmp_path) as session:
        session.update_plan(PLAN, "first")
        session.update_plan(PLAN, "second")
    columns = "id, workflow_id, plan_version, plan_data, created_at, updated_at"
    with psycopg.connect(url) as db:
        question = f"SELECT {columns} FROM foreword.director_plans ORDER BY plan_version"
        first, second = db.execute(question.encode()).fetchall()
    assert first[0] != second[0]
    assert first[1] == second[1]
    assert (first[2], second[2]) == (1, 2)
    assert second[3]["overall_goal"] == PLAN["overall_goal"]
    assert first[4] == second[4] <= second[5]


# --- 002: policies --------------------------------------------------------------------------------


def review(data: dict[str, Any], **stated: float) -> tuple[str, float]:
    """The verdict on a change without findings, and the confidence, by what each member states."""
    members = [
        MemberResult(name=name, status="answered", confidence=confidence)
        for name, confidence in stated.items()
    ]
    policy = read_policy(data, "policy.yaml")
    confidence = confidence_of(members, policy.weighting.weights)
    reviewed = Review(
        panel="code-review",
        findings=(),
        members=members,
        change=ReviewedChange("HEAD", "0"),
        confidence=confidence,
    )
    return decide(reviewed, Profile(name="strict", policy=policy))[0], confidence


def test_002_a_profile_that_requires_a_confidence_of_90_percent_can_approve() -> None:
    data = {
        "weighting": {
            "model": "weighted_average",
            "weights": {"anna": 3, "bert": 1},
            "missing_panel_behavior": "redistribute",
        },
        "auto_merge": {"enabled": True, "conditions": ["aggregate_confidence >= 0.90"]},
    }
    assert review(data, anna=1.0, bert=0.6) == ("approve", 0.9)
    assert review(data, anna=0.6, bert=1.0) == ("human_review", 0.7)
    of_panels = {**data, "weighting": {"weights": {"code-review": 1}}}
    assert review(of_panels, anna=1.0, bert=0.6) == ("human_review", 0.8)


# --- 003: what a package takes and gives ----------------------------------------------------------


@pytest.mark.parametrize(
    "source_context",
    ["All times are kept in UTC.", "Notes\nin lines", ["All times", "in UTC"], [ITEM, "a text"]],
)
def test_003_a_package_takes_a_token_budget_and_a_source_context(
    tmp_path: Path, source_context: Any
) -> None:
    request = {"purpose": "design", "token_budget": 2_000, "source_context": source_context}
    package = foreword.assemble("package", root=tmp_path, **request)
    assert package.report.budget_tokens == 2_000
    assert package.context_package == package.text
    assert package.truncation_report is package.report
    listed = source_context if isinstance(source_context, list) else [source_context]
    for each in listed:
        assert (each["text"] if isinstance(each, dict) else each) in package.text


def test_003_the_json_of_a_package_has_both_names_of_its_results(tmp_path: Path) -> None:
    (tmp_path / "items.json").write_text(json.dumps([ITEM]), "utf-8")
    asked = ("assemble", "package", "--purpose", "design", "--source", "items.json")
    answer = json.loads(command(*asked, "--format", "json", cwd=tmp_path).out)
    assert answer["context_package"] == answer["text"]
    assert answer["truncation_report"] == answer["report"]


def test_003_an_unknown_name_and_two_names_of_one_thing_are_errors(tmp_path: Path) -> None:
    def ask(**more: Any) -> None:
        foreword.assemble("package", root=tmp_path, purpose="design", source=[ITEM], **more)

    with pytest.raises(UsageError, match="'budget' and 'token_budget' both mean 'budget'"):
        ask(budget=100, token_budget=200)
    with pytest.raises(TypeError, match="token_limit"):
        ask(token_limit=100)
    assert not state_path(tmp_path).exists()


# --- 004: the state of a workflow -----------------------------------------------------------------


def test_004_a_workflow_state_is_read_in_every_phase_as_json_and_as_yaml(tmp_path: Path) -> None:
    (tmp_path / "state.yaml").write_text(yaml.safe_dump(STATE), "utf-8")
    for phase in PHASES:
        answer = results(tmp_path, phase, STATE)
        package = foreword.assemble("phases", root=tmp_path, phase=phase, source="state.yaml")
        assert package.text == answer["text"]
        assert answer["systemPrompt"] in answer["text"]
        assert len(answer["systemPrompt"]) > 100
        first, *_, newest = answer["recentMessages"]
        assert first["content"] == STATE["messages"][0]["content"]
        assert newest["content"] == STATE["messages"][-1]["content"]


def test_004_the_json_of_a_phase_is_a_context_window_with_its_usage(tmp_path: Path) -> None:
    answer = results(tmp_path, "implementation", STATE)
    assert answer["designDocument"] == STATE["planning"]["designDocContent"]
    assert answer["typeDefinitions"] == STATE["interface"]["typesContent"]
    assert answer["relevantTests"] == STATE["interface"]["testsContent"]
    assert "createSession" in answer["currentUnit"]
    assert [unit.splitlines()[0] for unit in answer["previousUnits"]] == [
        "// Previously implemented: getOAuthUrl"
    ]
    usage = answer["usage"]
    parts = ("systemPrompt", "designDoc", "types", "currentContext", "messages")
    assert all(usage[part] > 0 for part in parts)
    assert usage["total"] == answer["estimatedTokens"] == answer["report"]["total_tokens"]
    assert usage["phase"] == "implementation"
    assert usage["timestamp"].startswith("20")
    failed = results(tmp_path, "testing", STATE)["relevantTests"]
    assert "Failed test: AuthService > createSession should set expiry" in failed


def test_004_the_feature_is_its_name_or_the_first_message(tmp_path: Path) -> None:
    assert "<feature>\nGoogle OAuth\n" in results(tmp_path, "planning", STATE)["text"]
    messages = {"messages": STATE["messages"]}
    answer = results(tmp_path, "planning", messages)
    assert STATE["messages"][0]["content"] in answer["text"]
    assert answer["report"]["warnings"] == []


@pytest.mark.parametrize(
    ("index", "statuses", "current"),
    [
        (2, ["approved", "needs_review", "pending"], ["handleCallback"]),
        (0, ["approved", "approved", "needs_review"], ["getOAuthUrl"]),
        (None, ["approved", "awaiting_approval", "pending"], ["createSession"]),
        (None, ["approved", "needs_review", "pending"], ["createSession"]),
        (None, ["approved", "in_progress", "pending"], ["createSession"]),
        (3, ["approved", "approved", "current"], ["handleCallback"]),
    ],
)
def test_004_the_current_unit_is_that_of_the_index_else_that_of_its_status(
    tmp_path: Path, index: int | None, statuses: list[str], current: list[str]
) -> None:
    units = STATE["implementation"]["units"]
    marked = [{**unit, "status": status} for unit, status in zip(units, statuses, strict=True)]
    implementation = {"units": marked, "currentUnitIndex": index}
    answer = results(tmp_path, "implementation", {**STATE, "implementation": implementation})
    assert [unit["name"] for unit in units if unit["name"] in answer["currentUnit"]] == current


def test_004_the_exact_key_of_a_part_comes_before_its_other_names(tmp_path: Path) -> None:
    said = [{"role": "user", "content": "exact"}]
    unit = {"name": "u", "status": "current", "file": "exact.py", "fileName": "b", "filePath": "c"}
    state = {
        "featureName": "other",
        "feature": "exact",
        "designDocContent": "other",
        "designDoc": "first synonym",
        "recentMessages": [{"role": "user", "content": "other"}],
        "messages": said,
        "types": "type Unit",
        "units": [unit],
    }
    made = [results(tmp_path, phase, state)["text"] for phase in ("planning", "implementation")]
    text = "".join(made)
    for shown in ("exact", "first synonym", "exact.py"):
        assert shown in text
    assert "other" not in text


def test_004_members_keep_their_own_keys_beside_the_known_names(tmp_path: Path) -> None:
    recipe = tmp_path / "lists.yaml"
    recipe.write_text(
        """
name: lists
about: lists
needs: [source]
sections:
  problems: {state: problems, where: {code: [E101]}, each: "{code}: {message}"}
  settings: {state: settings, each: "{variable} = {value}"}
  files: {state: files, each: "{file_path} by {owner}"}
  failures: {state: failures, each: "{title} {message} {test} {error}"}
"""
    )
    state = {
        "problems": [{"code": "E101", "message": "bad indent"}],
        "settings": [{"variable": "TZ", "value": "UTC"}],
        "files": [{"file_path": "a.py", "owner": "me"}],
        "failures": [{"title": "t1", "message": "boom"}],
    }
    text = foreword.assemble(str(recipe), root=tmp_path, source=state, save=False).text
    for line in ("E101: bad indent", "TZ = UTC", "a.py by me", "t1 boom t1 boom"):
        assert line in text


def test_a_session_takes_its_budget_under_any_name(tmp_path: Path) -> None:
    named: dict[str, Any] = {"tokenBudget": 900}
    with foreword.Session.open(root=tmp_path, **named) as session:
        session.append({"role": "user", "content": "Fire the kiln."})
        named = {"token_budget": 900}
        assert session.context(**named).report.warnings == ()
        with pytest.raises(UsageError, match="both mean 'budget'"):
            session.context(budget=800, **named)
