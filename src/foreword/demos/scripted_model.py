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
from dataclasses import KW_ONLY, dataclass
from operator import itemgetter
from typing import Any

from foreword.pattern import lazy_pattern
from foreword.testing import Reply, ToolCall
from foreword.testing.state_reader import is_state, state_in

TASK = (
    "Log in with my credentials, read the list of letters page by page, and register every letter"
    " with the form. Never tick Urgent, and leave the note empty."
)
CONSTRAINTS = ["never tick Urgent", "leave the note empty", "register each letter once"]
GUESS = "#sign-in"  # nobody has reported the button: the test finds out
FINISHED = "Done: every letter is registered."

_FOUND = lazy_pattern(r"^- ([\w ]+): `(.+)`$", re.MULTILINE)
_UNFINISHED_RUN = lazy_pattern(r"run_workflow with resume (run-\w+) goes on")
_LONGEST_QUOTE = 300  # characters of a failure in the last answer: its beginning says why
_TASKS = {
    "scout": "Scout the pages and their selectors",
    "build": "Build and test the nodes",
    "run": "Run it whole",
}


@dataclass(frozen=True, slots=True, kw_only=True)
class ModelRequest:
    """What a request says."""

    plan: dict[str, Any]
    nodes: list[dict[str, Any]]
    is_scout: bool
    results: list[tuple[str, str]]  # of tools, in order: the tool's name, and what it answered
    is_answer: bool  # whether the last message is such a result


def scripted_model(url: str, pages: int = 3) -> Callable[[Mapping[str, Any]], Reply]:
    """A director that builds the job for the site at this address, for so many pages of its
    list."""

    def reply(body: Mapping[str, Any]) -> Reply:
        request = parse_request(body)
        if request.is_scout:
            return _scout_reply(url, request)
        return _director_reply(url, request, pages)

    return reply


def parse_request(body: Mapping[str, Any]) -> ModelRequest:
    """A request of OpenAI's chat completions."""
    state = state_in(body)
    messages = [message for message in body["messages"] if not is_state(message)]
    tool_names = dict[str, str]()  # by the id of the call
    results = list[tuple[str, str]]()
    for message in messages:
        for call in message.get("tool_calls") or ():
            tool_names[call["id"]] = call["function"]["name"]
        if message["role"] == "tool":
            name = tool_names.get(message["tool_call_id"], "")
            results.append((name, str(message["content"])))
    nodes = (state.get("workflow_snapshot") or {}).get("nodes", {})
    return ModelRequest(
        plan=state.get("current_plan") or {},
        nodes=sorted(nodes.values(), key=itemgetter("position")),
        is_scout="current_plan" not in state,
        results=results,
        is_answer=messages[-1]["role"] == "tool",
    )


def _parse_object(text: str) -> dict[str, Any]:
    try:
        value = json.loads(text)
    except ValueError:  # a few words, or a failure
        return {}
    return value if isinstance(value, dict) else {}


def _call(text: str, name: str, **arguments: Any) -> Reply:
    return Reply(text, tool_calls=[ToolCall(name, arguments)])


# --- the director ---------------------------------------------------------------------------------


def _director_reply(url: str, request: ModelRequest, pages: int) -> Reply:
    """The next step, by the plan and the nodes."""
    if not request.plan:
        return _update_plan("I plan first.", reason="first plan", statuses={"scout": "in_progress"})
    statuses = dict[str, str]()
    for phase in request.plan["phases"]:
        for task in phase["tasks"]:
            statuses[task["task_id"]] = task["status"]
    if statuses["scout"] != "completed":
        return _scout_step(url, request)
    selectors = request.plan["selectors"]
    if statuses["build"] != "completed":
        step = _build_step(request, _planned_nodes(url, selectors, pages))
        return step or _update_plan(
            "Every node is built.",
            reason="the nodes are built",
            statuses={"scout": "completed", "build": "completed", "run": "in_progress"},
            selectors=selectors,
        )
    return _run_step(request, statuses["run"], selectors)


def _update_plan(
    text: str,
    *,
    reason: str,
    statuses: Mapping[str, str],
    selectors: Mapping[str, str] | None = None,
) -> Reply:
    """A new version of the plan; the task that nothing is said of is pending."""
    phases = []
    for name, about in _TASKS.items():
        status = statuses.get(name, "pending")
        task = {"task_id": name, "description": about, "status": status}
        phases.append({"phase_name": name.title(), "status": status, "tasks": [task]})
    plan: dict[str, Any] = {
        "overall_goal": "Register every letter",
        "phases": phases,
        "constraints": CONSTRAINTS,
    }
    if selectors:
        plan["selectors"] = dict(selectors)
    return _call(text, name="update_plan", plan=plan, reason=reason)


def _scout_step(url: str, request: ModelRequest) -> Reply:
    name, answer = request.results[-1]
    report = ""
    if request.is_answer and name == "deploy_scout":
        report = _parse_object(answer).get("report") or ""
    if report:
        selectors = {element.lower(): selector for element, selector in _FOUND.findall(report)}
        return _update_plan(
            "The scout is back.",
            reason="scouted",
            statuses={"scout": "completed", "build": "in_progress"},
            selectors=selectors,
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


@dataclass(frozen=True, slots=True)
class PlannedNode:
    """A node that the job needs."""

    type: str
    config: dict[str, Any]
    about: str
    _: KW_ONLY
    parent: int = 0  # its place in the list of nodes, counted from 1
    is_tested: bool = True


def _planned_nodes(url: str, found: Mapping[str, str], pages: int) -> list[PlannedNode]:
    fields = {name: found[name] for name in ("number", "subject", "sender", "kind")}
    return [
        PlannedNode("navigate", {"url": f"{url}/login"}, "Open the login"),
        _typing(found["name field"], "{{creds.name}}", "Type the name"),
        _typing(found["password field"], "{{creds.password}}", "Type the password"),
        PlannedNode("click", {"selector": GUESS}, "Sign in"),
        PlannedNode(
            "loop", {"over": [*range(1, pages + 1)], "as": "page"}, "For each page of the list"
        ),
        PlannedNode(
            "navigate", {"url": f"{url}/list?page={{{{page}}}}"}, "Open the page", parent=5
        ),
        PlannedNode(
            "extract",
            {"selector": found["rows"], "variable": "letters", "many": True, "fields": fields},
            "Read its letters",
            parent=5,
        ),
        PlannedNode(
            "loop", {"over": "{{node7.letters}}", "as": "letter"}, "For each letter", parent=5
        ),
        PlannedNode("navigate", {"url": f"{url}/form"}, "Open the form", parent=8),
        _typing(found["subject field"], "{{letter.subject}}", "Fill in the subject", parent=8),
        _typing(found["from field"], "{{letter.sender}}", "Fill in the sender", parent=8),
        _typing(found["kind field"], "{{letter.kind}}", "Choose the kind", parent=8),
        PlannedNode(
            "click",
            {"selector": found["register button"]},
            "Register it",
            parent=8,
            is_tested=False,
        ),
    ]


def _typing(selector: str, text: str, about: str, *, parent: int = 0) -> PlannedNode:
    return PlannedNode("type", {"selector": selector, "text": text}, about, parent=parent)


def _build_step(request: ModelRequest, planned: Sequence[PlannedNode]) -> Reply | None:
    """Create the next node, test it, or repair it; nothing where all are there."""
    nodes = {node["id"]: node for node in request.nodes}
    for number, plan in enumerate(planned, 1):
        node = nodes.get(f"node{number}")
        if node is None:
            return _create_node(plan)
        if plan.is_tested and node.get("status") != "success":
            return _test_node(request, node, plan)
    return None


def _create_node(plan: PlannedNode) -> Reply:
    text = f"{plan.about}."
    if not plan.is_tested:
        text = f"{plan.about}: it can't be undone, so the run will test it."
    arguments = {"type": plan.type, "config": plan.config, "description": plan.about}
    if plan.parent:
        arguments["parent"] = f"node{plan.parent}"
    return _call(text, name="create_node", **arguments)


def _test_node(request: ModelRequest, node: Mapping[str, Any], plan: PlannedNode) -> Reply:
    """Test a node; where that has failed, look at the page, and then repair the node."""
    if node.get("status") != "failed":
        return _call("", name="test_single_node", node=node["id"])
    name, answer = request.results[-1] if request.is_answer else ("", "")
    if name != "inspect_tab":
        return _call(
            "That failed; I look at the page.",
            name="inspect_tab",
            inspection="lightweight_exploration",
            instruction=f"which button or field is for: {plan.about}?",
        )
    selector = _selector(_parse_object(answer), plan.about)
    config = {**node["config"], "selector": selector}
    return _call(
        f"The page has {selector}; I repair the node.",
        name="update_node",
        node=node["id"],
        config=config,
    )


def _run_step(request: ModelRequest, status: str, selectors: Mapping[str, str]) -> Reply:
    if status == "completed":
        return Reply(FINISHED)
    answers = [answer for name, answer in request.results if name == "run_workflow"]
    if not answers or not answers[-1]:
        return _call("Now the whole.", name="run_workflow")
    answer = answers[-1]
    unfinished = _UNFINISHED_RUN.search(answer)
    if unfinished:
        return _call(
            "The run was broken off; it goes on.", name="run_workflow", resume=unfinished[1]
        )
    if '"status": "success"' not in answer:
        return Reply(f"The run did not come to its end: {answer[:_LONGEST_QUOTE]}")
    return _update_plan(
        "It ran to its end.",
        reason="the run succeeded",
        statuses=dict.fromkeys(_TASKS, "completed"),
        selectors=selectors,
    )


# --- its scout ------------------------------------------------------------------------------------


def _scout_reply(url: str, request: ModelRequest) -> Reply:
    """The next step, by how many answers there are."""
    answers = [_parse_object(answer) for _, answer in request.results]
    match len(answers):
        case 0:
            return Reply("", tool_calls=[_look("which fields and which button sign in?")])
        case 1:
            return Reply(tool_calls=_sign_in_calls(answers[0]))
        case 4:
            return _visit(
                f"{url}/list", instruction="the rows of the list of letters and their parts"
            )
        case 6:
            return _visit(f"{url}/form", instruction="the fields of the form, and its button")
        case _:
            return Reply(_report(login=answers[0], letters=answers[5], form=answers[7]))


def _look(instruction: str) -> ToolCall:
    arguments = {"inspection": "lightweight_exploration", "instruction": instruction}
    return ToolCall("inspect_tab", arguments)


def _visit(url: str, instruction: str) -> Reply:
    go = ToolCall("debug_navigate", {"url": url, "reason": "explore"})
    return Reply(tool_calls=[go, _look(instruction)])


def _sign_in_calls(page: Mapping[str, Any]) -> list[ToolCall]:
    typing = {"action": "type", "reason": "sign in"}
    name = {**typing, "selector": _selector(page, "Name"), "text": "{{creds.name}}"}
    password = {
        **typing,
        "selector": _selector(page, "Password"),
        "variable": "creds.password",
    }
    click = {"action": "click", "selector": _selector(page, "Sign in"), "reason": "sign in"}
    return [ToolCall("debug_action", arguments) for arguments in (name, password, click)]


def _report(
    *, login: Mapping[str, Any], letters: Mapping[str, Any], form: Mapping[str, Any]
) -> str:
    """What the scout found on the three pages: an element a line, with its selector."""
    found = dict[str, str]()
    for name in ("Name", "Password"):
        found[f"{name} field"] = _selector(login, name)
    rows = [row for row in letters["rows"] if row.get("cells")]
    found["Rows"] = rows[0]["selector"]
    for cell in rows[0]["cells"]:
        _, dot, class_name = cell["selector"].partition(".")
        if dot:
            found[class_name] = cell["selector"]
    for name in ("Subject", "From", "Kind"):
        found[f"{name} field"] = _selector(form, name)
    found["Register button"] = _selector(form, "Register", role="button")
    lines = ["Signing in leads on to the page that was asked for. The list has pages (?page=2)."]
    lines += [f"- {name.capitalize()}: `{selector}`" for name, selector in found.items()]
    return "\n".join(lines)


def _selector(page: Mapping[str, Any], name: str, role: str = "") -> str:
    """The selector of the element of that name on a page that was looked at."""
    for element in page.get("elements", ()):
        if element["name"] == name and (not role or element["role"] == role):
            return str(element["selector"])
    return f"text={name}"
