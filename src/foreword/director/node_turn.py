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

from foreword.browser.side_events import DialogAnswer
from foreword.errors import BrowserFailed, ForewordError, UsageError, each_problem
from foreword.plan import condition, node, value_schema
from foreword.plan.templates import Scope, fill
from foreword.plan.variables import display
from foreword.secrets.known_values import KnownValues
from foreword.secrets.masking import hide, is_array
from foreword.store.node_results import FAILED, SUCCESS

if TYPE_CHECKING:
    from foreword.browser import Browser

# A node may wait longer than the browser waits at once, so it waits in pieces; this is well below
# the browser's own limit.
PIECE_SECONDS = 5.0
NO_BROWSER = "there is no browser to do it in"


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


def take(
    one: Mapping[str, Any], scope: Scope, browser: Browser | None, secrets: KnownValues
) -> NodeOutcome:
    """Carry out a node once; of a loop or a condition, only its own part."""
    secrets.learn([one.get("config"), dict(scope.loops)])
    began = monotonic()
    try:
        outcome = _success(_carry_out(one, scope, browser, secrets), secrets)
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
        output["variables"] = {
            name: display(name, secrets.value(value)) for name, value in made.variables.items()
        }
    return NodeOutcome(SUCCESS, output, variables=made.variables, value=made.value)


def _carry_out(
    one: Mapping[str, Any], scope: Scope, browser: Browser | None, secrets: KnownValues
) -> _NodeResult:
    kind = str(one["type"])
    config = node.validate_node(
        kind, one.get("config"), one.get("description") or "", str(one["id"])
    )
    # A schema may have braces of its own, which are no templates.
    templates = {name: value for name, value in config.items() if name != "schema"}
    filled_in = fill(templates, scope)
    if "schema" in config:
        filled_in = {**filled_in, "schema": config["schema"]}
    filled = node.validate_filled(kind, filled_in)
    if kind in _IN_BROWSER:
        if browser is None:
            raise BrowserFailed(NO_BROWSER, hint="start or attach one")
        tab = filled.get("tab") or browser.workflow_tab()
        made = _IN_BROWSER[kind](browser, str(one["id"]), {**filled, "tab": tab})
        browser.follow_node(made.result)
        if kind == "type" and made.result.get("password"):
            secrets.learn_texts([filled["text"]])
        return made
    return _ELSEWHERE[kind](filled, secrets)


def _navigate(browser: Browser, name: str, config: Mapping[str, Any]) -> _NodeResult:
    return _NodeResult(browser.navigate(config["url"], tab=config.get("tab")))


def _click(browser: Browser, name: str, config: Mapping[str, Any]) -> _NodeResult:
    dialog = dialog_answer(config)
    return _NodeResult(browser.click(config["selector"], tab=config.get("tab"), dialog=dialog))


def _press(browser: Browser, name: str, config: Mapping[str, Any]) -> _NodeResult:
    result = browser.press(
        config["keys"],
        config.get("selector"),
        tab=config.get("tab"),
        dialog=dialog_answer(config),
    )
    return _NodeResult(result)


def dialog_answer(config: Mapping[str, Any]) -> DialogAnswer:
    """What a node or a debug action answers to the questions of a page."""
    return DialogAnswer(accept=config.get("dialog") == "accept", text=config.get("dialog_text"))


def _type(browser: Browser, name: str, config: Mapping[str, Any]) -> _NodeResult:
    return _NodeResult(browser.type(config["selector"], config["text"], tab=config.get("tab")))


def _wait(browser: Browser, name: str, config: Mapping[str, Any]) -> _NodeResult:
    tab = config.get("tab")
    seconds_left = float(config.get("seconds") or 0)
    result: Mapping[str, Any] = {}
    while seconds_left > 0:
        result = browser.wait(seconds=min(seconds_left, PIECE_SECONDS), tab=tab)
        seconds_left -= PIECE_SECONDS
    awaited = {key: config[key] for key in ("selector", "url") if config.get(key) is not None}
    if awaited:
        result = browser.wait(**awaited, tab=tab)
    return _NodeResult(result)


def _extract(browser: Browser, name: str, config: Mapping[str, Any]) -> _NodeResult:
    many = bool(config.get("many"))
    found = browser.extract(
        config["selector"], fields=config.get("fields"), many=many, tab=config.get("tab")
    )
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


def _condition(config: Mapping[str, Any], secrets: KnownValues) -> _NodeResult:
    outcome = condition.holds(config["left"], config["operator"], config.get("right"))
    return _NodeResult({"holds": outcome}, value=outcome)


def _loop(config: Mapping[str, Any], secrets: KnownValues) -> _NodeResult:
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


def _set_variable(config: Mapping[str, Any], secrets: KnownValues) -> _NodeResult:
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


_IN_BROWSER: dict[str, Callable[[Any, str, Mapping[str, Any]], _NodeResult]] = {
    "navigate": _navigate,
    "click": _click,
    "press": _press,
    "type": _type,
    "wait": _wait,
    "extract": _extract,
}
_ELSEWHERE: dict[str, Callable[[Mapping[str, Any], KnownValues], _NodeResult]] = {
    "condition": _condition,
    "loop": _loop,
    "set_variable": _set_variable,
}
