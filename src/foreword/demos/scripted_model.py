"""A model that plays the director by rule, for the demonstration and the tests: the same every
time, without a key.

It is a script for `foreword.testing.fake_provider`, asked by OpenAI's chat completions: a function
of the request alone, so it goes on in another process where the plan and the nodes in the request
say. It knows Harbour Desk (`foreword.demos.site`) only by what its tools answer: selectors come
from its scout's report and `inspect_tab`.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Mapping, Sequence
from typing import Any, NamedTuple

from foreword.testing import Reply, ToolCall

TASK = (
    "Log in with my credentials, read the list of letters page by page, and register every letter"
    " with the form. Never tick Urgent, and leave the note empty."
)
CONSTRAINTS = ["never tick Urgent", "leave the note empty", "register each letter once"]
GUESS = "#sign-in"  # nobody has reported the button: the test finds out
FINISHED = "Done: every letter is registered."

_PART = r"<{0}>\n(.*?)\n</{0}>"
_FOUND = re.compile(r"^- ([\w ]+): `(.+)`$", re.MULTILINE)
_LEFT = re.compile(r"run_workflow with resume (run-\w+) goes on")
_TASKS = {
    "scout": "Scout the pages and their selectors",
    "build": "Build and test the nodes",
    "run": "Run it whole",
}


class ModelRequest(NamedTuple):
    """What a request says."""

    plan: dict[str, Any]
    nodes: list[dict[str, Any]]
    is_scout: bool
    results: list[tuple[str, str]]  # of tools, in order: the tool's name, and what it answered
    is_answer: bool  # whether the last message is such a result


def scripted_model(url: str, pages: int = 3) -> Callable[[Mapping[str, Any]], Reply]:
    """A director that builds the job for the site at this address, for so many pages of its
    list."""
    return lambda body: (
        _scout(url, asked) if (asked := read(body)).is_scout else _director(url, asked, pages)
    )


def read(body: Mapping[str, Any]) -> ModelRequest:
    """A request of OpenAI's chat completions."""
    messages: Sequence[Mapping[str, Any]] = body["messages"]
    system = str(messages[0]["content"])
    names = {
        call["id"]: call["function"]["name"]
        for message in messages
        for call in message.get("tool_calls") or ()
    }
    results = [
        (names.get(message["tool_call_id"], ""), str(message["content"]))
        for message in messages
        if message["role"] == "tool"
    ]
    plan, snapshot = _part(system, "current_plan"), _part(system, "workflow_snapshot")
    is_scout = "<current_plan>" not in system
    return ModelRequest(
        plan, snapshot.get("nodes", []), is_scout, results, messages[-1]["role"] == "tool"
    )


def _part(system: str, tag: str) -> dict[str, Any]:
    found = re.search(_PART.format(tag), system, re.DOTALL)
    return _json(found[1]) if found else {}


def _json(text: str) -> dict[str, Any]:
    try:
        value = json.loads(text)
    except ValueError:  # a few words, or a failure
        return {}
    return value if isinstance(value, dict) else {}


def _call(text: str, name: str, **arguments: Any) -> Reply:
    return Reply(text, tool_calls=[ToolCall(name, arguments)])


# --- the director ---------------------------------------------------------------------------------


def _director(url: str, asked: ModelRequest, pages: int) -> Reply:
    """The next step, by the plan and the nodes."""
    if not asked.plan:
        return _planned("I plan first.", "first plan", {"scout": "in_progress"})
    done = {
        task["task_id"]: task["status"] for phase in asked.plan["phases"] for task in phase["tasks"]
    }
    if done["scout"] != "completed":
        return _scouting(url, asked)
    selectors = asked.plan["selectors"]
    if done["build"] != "completed":
        step = _building(asked, _wanted(url, selectors, pages))
        now = {"scout": "completed", "build": "completed", "run": "in_progress"}
        return step or _planned("Every node is built.", "the nodes are built", now, selectors)
    return _running(asked, done["run"], selectors)


def _planned(
    text: str, reason: str, statuses: Mapping[str, str], selectors: Mapping[str, str] | None = None
) -> Reply:
    """A new version of the plan; the task that nothing is said of is pending."""
    phases = [
        {
            "phase_name": name.title(),
            "status": statuses.get(name, "pending"),
            "tasks": [
                {"task_id": name, "description": about, "status": statuses.get(name, "pending")}
            ],
        }
        for name, about in _TASKS.items()
    ]
    found = {"selectors": dict(selectors)} if selectors else {}
    plan = {
        "overall_goal": "Register every letter",
        "phases": phases,
        "constraints": CONSTRAINTS,
        **found,
    }
    return _call(text, "update_plan", plan=plan, reason=reason)


def _scouting(url: str, asked: ModelRequest) -> Reply:
    name, answer = asked.results[-1]
    if asked.is_answer and name == "deploy_scout" and (report := _json(answer).get("report")):
        found = {element.lower(): selector for element, selector in _FOUND.findall(report)}
        return _planned(
            "The scout is back.", "scouted", {"scout": "completed", "build": "in_progress"}, found
        )
    reason = "see that the site is there"
    instruction = (
        "Sign in with {{creds.name}} and {{creds.password}}. Report the fields of the login, the"
        " rows of the list at /list with their parts, and the fields and the button of the form at"
        " /form."
    )
    return Reply(
        "I have a look and send a scout.",
        tool_calls=[
            ToolCall("debug_navigate", {"url": f"{url}/login", "reason": reason}),
            ToolCall("deploy_scout", {"instruction": instruction, "url": f"{url}/login"}),
        ],
    )


class PlannedNode(NamedTuple):
    """A node that the job needs."""

    type: str
    config: dict[str, Any]
    about: str
    parent: int = 0  # its place among the wanted, counted from 1
    is_tested: bool = True


def _wanted(url: str, found: Mapping[str, str], pages: int) -> list[PlannedNode]:
    fields = {name: found[name] for name in ("number", "subject", "sender", "kind")}
    return [
        PlannedNode("navigate", {"url": f"{url}/login"}, "Open the login"),
        PlannedNode(
            "type", {"selector": found["name field"], "text": "{{creds.name}}"}, "Type the name"
        ),
        PlannedNode(
            "type",
            {"selector": found["password field"], "text": "{{creds.password}}"},
            "Type the password",
        ),
        PlannedNode("click", {"selector": GUESS}, "Sign in"),
        PlannedNode(
            "loop", {"over": [*range(1, pages + 1)], "as": "page"}, "For each page of the list"
        ),
        PlannedNode("navigate", {"url": f"{url}/list?page={{{{page}}}}"}, "Open the page", 5),
        PlannedNode(
            "extract",
            {"selector": found["rows"], "variable": "letters", "many": True, "fields": fields},
            "Read its letters",
            5,
        ),
        PlannedNode("loop", {"over": "{{node7.letters}}", "as": "letter"}, "For each letter", 5),
        PlannedNode("navigate", {"url": f"{url}/form"}, "Open the form", 8),
        PlannedNode(
            "type",
            {"selector": found["subject field"], "text": "{{letter.subject}}"},
            "Fill in the subject",
            8,
        ),
        PlannedNode(
            "type",
            {"selector": found["from field"], "text": "{{letter.sender}}"},
            "Fill in the sender",
            8,
        ),
        PlannedNode(
            "type",
            {"selector": found["kind field"], "text": "{{letter.kind}}"},
            "Choose the kind",
            8,
        ),
        PlannedNode(
            "click", {"selector": found["register button"]}, "Register it", 8, is_tested=False
        ),
    ]


def _building(asked: ModelRequest, wanted: Sequence[PlannedNode]) -> Reply | None:
    """Create the next node, test it, or repair it; nothing where all are there."""
    for number, want in enumerate(wanted, 1):
        node = next((node for node in asked.nodes if node["id"] == f"node{number}"), None)
        if node is None:
            parent = {"parent": f"node{want.parent}"} if want.parent else {}
            said = (
                f"{want.about}."
                if want.is_tested
                else f"{want.about}: it can't be undone, so the run will test it."
            )
            return _call(
                said,
                "create_node",
                type=want.type,
                config=want.config,
                description=want.about,
                **parent,
            )
        if want.is_tested and node.get("status") != "success":
            return _tested(asked, node, want)
    return None


def _tested(asked: ModelRequest, node: Mapping[str, Any], want: PlannedNode) -> Reply:
    if node.get("status") != "failed":
        return _call("", "test_single_node", node=node["id"])
    name, answer = asked.results[-1] if asked.is_answer else ("", "")
    if name != "inspect_tab":
        return _call(
            "That failed; I look at the page.",
            "inspect_tab",
            inspection="lightweight_exploration",
            instruction=f"which button or field is for: {want.about}?",
        )
    selector = _named(_json(answer), want.about)
    config = {**node["config"], "selector": selector}
    return _call(
        f"The page has {selector}; I repair the node.",
        "update_node",
        node=node["id"],
        config=config,
    )


def _running(asked: ModelRequest, status: str, selectors: Mapping[str, str]) -> Reply:
    if status == "completed":
        return Reply(FINISHED)
    answer = next(
        (answer for name, answer in reversed(asked.results) if name == "run_workflow"), ""
    )
    if not answer:
        return _call("Now the whole.", "run_workflow")
    if left := _LEFT.search(answer):
        return _call("The run was broken off; it goes on.", "run_workflow", resume=left[1])
    if '"status": "success"' not in answer:
        return Reply(f"The run did not come to its end: {answer[:300]}")
    return _planned(
        "It ran to its end.", "the run succeeded", dict.fromkeys(_TASKS, "completed"), selectors
    )


# --- its scout ------------------------------------------------------------------------------------


def _scout(url: str, asked: ModelRequest) -> Reply:
    """The next step, by how many answers there are."""
    seen = [_json(answer) for _, answer in asked.results]
    look = {"inspection": "lightweight_exploration"}
    match len(seen):
        case 0:
            return _call(
                "", "inspect_tab", **look, instruction="which fields and which button sign in?"
            )
        case 1:
            name, password, button = (
                _named(seen[0], one) for one in ("Name", "Password", "Sign in")
            )
            typed = {"action": "type", "reason": "sign in"}
            return Reply(
                tool_calls=[
                    ToolCall("debug_action", {**typed, "selector": name, "text": "{{creds.name}}"}),
                    ToolCall(
                        "debug_action",
                        {**typed, "selector": password, "variable": "creds.password"},
                    ),
                    ToolCall(
                        "debug_action", {"action": "click", "selector": button, "reason": "sign in"}
                    ),
                ]
            )
        case 4:
            return _visit(
                f"{url}/list",
                {**look, "instruction": "the rows of the list of letters and their parts"},
            )
        case 6:
            return _visit(
                f"{url}/form", {**look, "instruction": "the fields of the form, and its button"}
            )
        case _:
            return Reply(_report(seen[0], seen[5], seen[7]))


def _visit(url: str, look: Mapping[str, Any]) -> Reply:
    go = ToolCall("debug_navigate", {"url": url, "reason": "explore"})
    return Reply(tool_calls=[go, ToolCall("inspect_tab", look)])


def _report(login: Mapping[str, Any], letters: Mapping[str, Any], form: Mapping[str, Any]) -> str:
    rows = next(row for row in letters["rows"] if row.get("cells"))
    cells = {
        cell["selector"].partition(".")[2]: cell["selector"]
        for cell in rows["cells"]
        if "." in cell["selector"]
    }
    found = {
        **{f"{name} field": _named(login, name) for name in ("Name", "Password")},
        "Rows": rows["selector"],
        **cells,
        **{f"{name} field": _named(form, name) for name in ("Subject", "From", "Kind")},
        "Register button": _named(form, "Register", "button"),
    }
    lines = [f"- {name.capitalize()}: `{selector}`" for name, selector in found.items()]
    return "\n".join(
        [
            "Signing in leads on to the page that was asked for. The list has pages (?page=2).",
            *lines,
        ]
    )


def _named(seen: Mapping[str, Any], name: str, role: str = "") -> str:
    """The selector of the element of that name on a page that was looked at."""
    elements = [one for one in seen.get("elements", ()) if not role or one["role"] == role]
    return str(next((one["selector"] for one in elements if one["name"] == name), f"text={name}"))
