"""One turn of one node: its templates are filled, it is carried out, and what came of it is told.

Nothing that goes wrong escapes: it is a turn that failed, with the reason and how the page stands.
What is told is for reading, so that no secret is in it; the values for other nodes are apart from
it.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from time import monotonic
from typing import TYPE_CHECKING, Any

from foreword.errors import BrowserFailed, ForewordError, UsageError, each_problem
from foreword.plan import condition, node, value_schema
from foreword.plan.templates import Scope, fill
from foreword.plan.variables import display
from foreword.secrets.known_values import KnownValues
from foreword.secrets.masking import hide, is_array
from foreword.store.node_results import FAILED, SUCCESS

if TYPE_CHECKING:
    from foreword.browser import Browser

PIECE_SECONDS = 5.0  # of a wait
NO_BROWSER = "there is no browser to do it in"


@dataclass(frozen=True, slots=True)
class NodeOutcome:
    """What came of one turn."""

    status: str
    told: dict[str, Any]  # result, variables, error, hint, page, seconds
    variables: Mapping[str, Any] = field(default_factory=dict)  # as they are, for other nodes
    value: Any = None  # of a condition, whether it holds; of a loop, the list


@dataclass(frozen=True, slots=True)
class _Made:
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
        made = _carried_out(one, scope, browser, secrets)
        shown = {
            name: display(name, secrets.value(value)) for name, value in made.variables.items()
        }
        told = {"result": made.result, "variables": shown}
        turn = NodeOutcome(
            SUCCESS, {name: part for name, part in told.items() if part}, made.variables, made.value
        )
    except ForewordError as error:
        turn = NodeOutcome(FAILED, _failure(error))
    except Exception as error:  # noqa: BLE001 - a run goes on to say where it stopped
        turn = NodeOutcome(FAILED, {"error": f"{type(error).__name__}: {error}"})
    hidden = secrets.value(turn.told)
    assert isinstance(hidden, dict)
    return NodeOutcome(
        turn.status,
        {**hidden, "seconds": round(monotonic() - began, 3)},
        turn.variables,
        turn.value,
    )


def _carried_out(
    one: Mapping[str, Any], scope: Scope, browser: Browser | None, secrets: KnownValues
) -> _Made:
    kind = str(one["type"])
    config = node.validate_node(
        kind, one.get("config"), one.get("description") or "", str(one["id"])
    )
    kept = {name: config[name] for name in ("schema",) if name in config}
    filled = node.ready(
        kind, {**fill({k: v for k, v in config.items() if k not in kept}, scope), **kept}
    )
    if kind in _IN_BROWSER:
        if browser is None:
            raise BrowserFailed(NO_BROWSER, hint="start or attach one")
        made = _IN_BROWSER[kind](browser, str(one["id"]), filled)
        if kind == "type" and made.result.get("password"):
            secrets.learn_texts([filled["text"]])
        return made
    return _ELSEWHERE[kind](filled, secrets)


def _navigate(browser: Browser, name: str, config: Mapping[str, Any]) -> _Made:
    return _Made(browser.navigate(config["url"], tab=config.get("tab")))


def _click(browser: Browser, name: str, config: Mapping[str, Any]) -> _Made:
    return _Made(browser.click(config["selector"], tab=config.get("tab")))


def _type(browser: Browser, name: str, config: Mapping[str, Any]) -> _Made:
    return _Made(browser.type(config["selector"], config["text"], tab=config.get("tab")))


def _wait(browser: Browser, name: str, config: Mapping[str, Any]) -> _Made:
    wanted = {key: config[key] for key in ("selector", "url") if config.get(key) is not None}
    left, told = float(config.get("seconds") or 0), {}
    while left > 0:  # piece by piece: a browser gives no single wait as long as a node may
        told = browser.wait(seconds=min(left, PIECE_SECONDS), tab=config.get("tab"))
        left -= PIECE_SECONDS
    return _Made(browser.wait(**wanted, tab=config.get("tab")) if wanted else told)


def _extract(browser: Browser, name: str, config: Mapping[str, Any]) -> _Made:
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
    return _Made({**found, "found": value}, {f"{name}.{config['variable']}": value})


def fit_to_schema(value: Any, config: Mapping[str, Any]) -> tuple[Any, list[str]]:
    """An extracted value as the schema wants it, and where it does not fit; a schema of one row
    is that of each."""
    wanted = config.get("schema")
    if not wanted:
        return value, []
    if config.get("many") and wanted.get("type", "object") != "array":
        wanted = {"type": "array", "items": wanted}
    return value_schema.fit_value(value, wanted, str(config["variable"]))


def _condition(config: Mapping[str, Any], secrets: KnownValues) -> _Made:
    outcome = condition.holds(config["left"], config["operator"], config.get("right"))
    return _Made({"holds": outcome}, value=outcome)


def _loop(config: Mapping[str, Any], secrets: KnownValues) -> _Made:
    values, most = config["over"], config.get("most")
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
    taken = list(values[:most])
    left = {"of": len(values)} if len(taken) < len(values) else {}
    return _Made({"turns": len(taken), **left}, value=taken)


def _set_variable(config: Mapping[str, Any], secrets: KnownValues) -> _Made:
    name, value = str(config["variable"]), config["value"]
    if secrets.value({name: value}) != hide({name: value}):
        raise UsageError(
            f"config.value: a secret can't be kept as {name!r}, where it would be shown",
            hint=f"give it a name that says what it is, such as {name}_secret",
        )
    return _Made(None, {name: value})


def _failure(error: ForewordError) -> dict[str, Any]:
    page = error.state if isinstance(error, BrowserFailed) else {}
    told = {"error": error.message, "hint": error.hint, "page": page}
    return {name: value for name, value in told.items() if value}


_IN_BROWSER: dict[str, Callable[[Any, str, Mapping[str, Any]], _Made]] = {
    "navigate": _navigate,
    "click": _click,
    "type": _type,
    "wait": _wait,
    "extract": _extract,
}
_ELSEWHERE: dict[str, Callable[[Mapping[str, Any], KnownValues], _Made]] = {
    "condition": _condition,
    "loop": _loop,
    "set_variable": _set_variable,
}
