"""One turn of one node: its templates are filled, it is carried out, and its outcome is returned.

Nothing that goes wrong escapes: it is a turn that failed, with the reason and how the page stands.
The `output` is for reading, so that no secret is in it; the values for other nodes are apart from
it. The order of turns is the business of `node_walk`.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from time import monotonic
from typing import TYPE_CHECKING, Any

from foreword.browser.page_actions import PAGE_ACTIONS
from foreword.browser.side_events import DialogAnswer
from foreword.director.run_files import RunFiles
from foreword.errors import BrowserFailed, ForewordError, UsageError, each_problem
from foreword.plan import condition_operators, node, value_schema
from foreword.plan.templates import Scope, fill
from foreword.plan.variable_text import display
from foreword.secrets.known_values import KnownValues
from foreword.secrets.masking import hide, is_array
from foreword.store.node_runs import FAILED, SUCCESS

if TYPE_CHECKING:
    from foreword.browser import Browser

# A node may wait longer than the browser waits at once, so it waits in pieces; this is well below
# the browser's own limit.
PIECE_SECONDS = 5.0
NO_BROWSER = "there is no browser to do it in"
NEXT_PAGE = "next_page"  # what a loop over pages does between two turns; no type of node
_NOT_FILLED = ("schema", "while", "until")
_KEEP_FILES = ("download", "screenshot")


@dataclass(frozen=True, slots=True)
class NodeOutcome:
    """What came of one turn."""

    status: str
    output: dict[str, Any]  # result, variables, error, hint, page, may_have_happened, seconds
    variables: Mapping[str, Any] = field(default_factory=dict)  # as they are, for other nodes
    value: Any = None  # of a condition, whether it holds; of a loop, the list


@dataclass(frozen=True, slots=True)
class _NodeResult:
    """What a node gave, before secrets are hidden."""

    result: Any
    variables: Mapping[str, Any] = field(default_factory=dict)
    value: Any = None


@dataclass(frozen=True, slots=True, kw_only=True)
class TurnResources:
    """What nodes are carried out with."""

    browser: Browser | None
    secrets: KnownValues
    files: RunFiles


def take(one: Mapping[str, Any], scope: Scope, resources: TurnResources) -> NodeOutcome:
    """Carry out a node once; of a loop or a condition, only its own part."""
    secrets = resources.secrets
    secrets.learn([one.get("config"), dict(scope.loops)])
    began = monotonic()
    try:
        outcome = _success(_carry_out(one, scope, resources), secrets)
    except ForewordError as error:
        outcome = NodeOutcome(FAILED, _failure_output(error))
    except Exception as error:  # noqa: BLE001 - a run goes on to say where it stopped
        outcome = NodeOutcome(FAILED, {"error": f"{type(error).__name__}: {error}"})
    output = secrets.value(outcome.output)
    assert isinstance(output, dict)
    output["seconds"] = round(monotonic() - began, 3)
    return replace(outcome, output=output)


def _success(made: _NodeResult, secrets: KnownValues) -> NodeOutcome:
    output: dict[str, Any] = {}
    if made.result:
        output["result"] = made.result
    if made.variables:
        shown = dict[str, Any]()
        for name, value in made.variables.items():
            shown[name] = display(name, secrets.value(value))
        output["variables"] = shown
    return NodeOutcome(SUCCESS, output, variables=made.variables, value=made.value)


def _carry_out(one: Mapping[str, Any], scope: Scope, resources: TurnResources) -> _NodeResult:
    kind = str(one["type"])
    if kind == NEXT_PAGE:
        return _next_page(fill(one["config"], scope), resources)
    _, config = node.validate_node(
        kind, one.get("config"), one.get("description") or "", str(one["id"])
    )
    # A schema may have braces of its own, which are no templates; what a loop asks in each turn is
    # filled then.
    kept = {name: value for name, value in config.items() if name in _NOT_FILLED}
    templates = {name: value for name, value in config.items() if name not in _NOT_FILLED}
    filled = node.validate_filled(kind, {**fill(templates, scope), **kept})
    if kind in PAGE_ACTIONS:
        return _in_browser(kind, str(one["id"]), filled, resources)
    return _ELSEWHERE[kind](filled, resources)


def _in_browser(
    kind: str, name: str, config: Mapping[str, Any], resources: TurnResources
) -> _NodeResult:
    """Carry out an action on a page."""
    browser = _needed_browser(resources)
    tab = config.get("tab") or browser.workflow_tab()
    if kind == "wait" and config.get("seconds"):
        result = _wait_seconds(browser, float(config["seconds"]), tab)
    else:
        result = perform(browser, kind, config, tab=tab, resources=resources)
    browser.follow_node(result)
    if kind == "type" and result.get("password"):
        resources.secrets.learn_texts([config["text"]])
    if kind == "extract":
        return _extract_result(name, config, result)
    if "path" in result and config.get("variable"):
        return _NodeResult(result, {f"{name}.{config['variable']}": result["path"]})
    return _NodeResult(result)


def perform(
    browser: Browser,
    kind: str,
    config: Mapping[str, Any],
    *,
    tab: str | None,
    resources: TurnResources,
) -> dict[str, Any]:
    """Do on a page what a node or a debug action says; files are those of the run."""
    secrets = resources.secrets
    given = dict(config)
    folder = None
    if kind == "upload":
        given["files"] = resources.files.find_all(map(str, config["files"]))
    if kind in _KEEP_FILES:
        folder = resources.files.folder()
    result = browser.perform(
        kind,
        given,
        tab=tab,
        dialog=dialog_answer(config),
        folder=folder,
        has_secret=lambda text: secrets.hide_known_values(text) != text,
    )
    if "path" in result:
        result["path"] = resources.files.name_of(result["path"])
    return result


def _next_page(config: Mapping[str, Any], resources: TurnResources) -> _NodeResult:
    browser = _needed_browser(resources)
    result = browser.perform(NEXT_PAGE, config, tab=browser.workflow_tab())
    browser.follow_node(result)
    return _NodeResult(result)


def _needed_browser(resources: TurnResources) -> Browser:
    if resources.browser is None:
        raise BrowserFailed(NO_BROWSER, hint="start or attach one")
    return resources.browser


def dialog_answer(config: Mapping[str, Any]) -> DialogAnswer:
    """What a node or a debug action answers to the questions of a page."""
    return DialogAnswer(accept=config.get("dialog") == "accept", text=config.get("dialog_text"))


def _wait_seconds(browser: Browser, seconds: float, tab: str | None) -> dict[str, Any]:
    result = dict[str, Any]()
    left = seconds
    while left > 0:
        result = browser.wait(seconds=min(left, PIECE_SECONDS), tab=tab)
        left -= PIECE_SECONDS
    return result


def _extract_result(name: str, config: Mapping[str, Any], found: Mapping[str, Any]) -> _NodeResult:
    value, problems = fit_to_schema(found["found"], config)
    if problems:
        page = {str(key): found[key] for key in ("tab", "url", "title") if key in found}
        raise BrowserFailed(
            f"what was extracted does not fit the schema: {each_problem(problems)}", state=page
        )
    return _NodeResult({**found, "found": value}, {f"{name}.{config['variable']}": value})


def fit_to_schema(value: Any, config: Mapping[str, Any]) -> tuple[Any, list[str]]:
    """An extracted value as the schema wants it, and where it does not fit; a schema of one row
    is that of each."""
    wanted = config.get("schema")
    if not wanted:
        return value, []
    if config.get("many") and wanted.get("type", "object") != "array":
        wanted = {"type": "array", "items": wanted}
    return value_schema.fit_value(value, wanted, str(config["variable"]))


def holds(config: Mapping[str, Any], resources: TurnResources) -> bool:
    """Whether a comparison holds, whose templates are filled: of two values, or of what is on the
    page as it stands."""
    if config.get("operator") is not None:
        return condition_operators.holds(
            config.get("left"), config["operator"], config.get("right")
        )
    browser = _needed_browser(resources)
    is_present_wanted = config.get("present") is not None
    selector = str(config["present"] if is_present_wanted else config["absent"])
    is_present = browser.is_present(selector, tab=browser.workflow_tab())
    return is_present == is_present_wanted


def _condition(config: Mapping[str, Any], resources: TurnResources) -> _NodeResult:
    outcome = holds(config, resources)
    return _NodeResult({"holds": outcome}, value=outcome)


def _loop(config: Mapping[str, Any], resources: TurnResources) -> _NodeResult:
    if config.get("over") is None:
        return _NodeResult({}, value=None)  # how many turns there are is found out by taking them
    values = config["over"]
    most = config.get("most")
    if not is_array(values):
        raise UsageError(
            "config.over: must be a list", hint="give the name of a variable that is one"
        )
    if most is None and len(values) > node.MOST_TURNS:
        raise UsageError(
            f"config.over: has {len(values):,} elements, a loop has at most {node.MOST_TURNS:,}"
            " turns unless told",
            hint="give most, the number of turns it may have",
        )
    elements = list(values[:most])
    result = {"turns": len(elements)}
    if len(elements) < len(values):
        result["of"] = len(values)
    return _NodeResult(result, value=elements)


def _break(config: Mapping[str, Any], resources: TurnResources) -> _NodeResult:
    return _NodeResult({})


def _set_variable(config: Mapping[str, Any], resources: TurnResources) -> _NodeResult:
    secrets = resources.secrets
    name = str(config["variable"])
    value = config["value"]
    if secrets.value({name: value}) != hide({name: value}):
        raise UsageError(
            f"config.value: a secret can't be kept as {name!r}, where it would be shown",
            hint=f"give it a name that says what it is, such as {name}_secret",
        )
    return _NodeResult(None, {name: value})


def side_event_notes(output: Mapping[str, Any]) -> list[str]:
    """What happened beside what a turn was to do, or not as it was meant, a line for each."""
    page = {**(output.get("page") or {}), **(output.get("result") or {})}
    dialogs = page.get("dialogs", ())
    notes = [f"{one['type']} {one['message']!r} was answered: {one['answer']}" for one in dialogs]
    refused = page.get("downloads_refused", ())
    notes += [f"the download {name!r} was refused" for name in refused]
    notes += [str(page[name]) for name in ("note", "loading") if page.get(name)]
    return notes


def _failure_output(error: ForewordError) -> dict[str, Any]:
    page = error.state if isinstance(error, BrowserFailed) else {}
    unclear = isinstance(error, BrowserFailed) and error.may_have_happened
    output = {
        "error": error.message,
        "hint": error.hint,
        "page": page,
        "may_have_happened": unclear,
    }
    return {name: value for name, value in output.items() if value}


_ELSEWHERE: dict[str, Callable[[Mapping[str, Any], TurnResources], _NodeResult]] = {
    "condition": _condition,
    "loop": _loop,
    "break": _break,
    "set_variable": _set_variable,
}
