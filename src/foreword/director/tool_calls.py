"""Do what a tool was called for, and tell what came of it: checked before, fitted and without
secrets after.

Whatever happens is an answer: an error of ours is told with its hint and, where a browser had a
part in it, with how the page stands. Nothing a tool does can end the conversation it was called in.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from foreword.director.tool import DirectorTool
from foreword.director.tool_context import ToolContext
from foreword.errors import BrowserFailed, ForewordError, UnknownName, UsageError
from foreword.operations import fitted_values
from foreword.operations.arguments import validate_arguments
from foreword.secrets.masking import HIDDEN, hide
from foreword.secrets.placeholders import is_placeholder

FAILED = "failed"
# as it is: others get no secret
KEEPING = frozenset({"create_node", "update_node", "set_variable", "debug_action"})
BY_REFERENCE = "name the variable that holds it, such as {{creds.password}}"


@dataclass(frozen=True, slots=True)
class Outcome:
    """What came of a call, as it is told."""

    text: str
    failed: bool = False


def perform(
    desk: ToolContext, tools: Mapping[str, DirectorTool], name: str, arguments: object
) -> Outcome:
    """Run a tool on the desk."""
    try:
        tool = _named(tools, name)
        given = validate_arguments(_mapping(arguments), tool.schema)
        shown = shown_arguments(desk, given)
        if name in KEEPING:
            _refuse_misplaced(desk, name, given)
        try:
            answer = tool.run(desk, given if name in KEEPING else _mapping(shown))
        finally:
            if not tool.reads:
                desk.save()
            desk.keep_blocked()
        desk.learn()
        return Outcome(_told(desk, name, answer), answer.get("status") == FAILED)
    except ForewordError as error:
        return Outcome(_problem(desk, error), failed=True)
    except Exception as error:  # noqa: BLE001 - whatever breaks a tool, the conversation goes on
        return Outcome(
            desk.secrets.text(f"{FAILED}: {name} broke: {type(error).__name__}: {error}"),
            failed=True,
        )


def shown_arguments(desk: ToolContext, arguments: object) -> object:
    """The arguments of a call as they are kept and told: without secrets, which are known from
    now on."""
    desk.learn()
    desk.secrets.learn([arguments])
    if not isinstance(arguments, dict):
        return desk.secrets.value(arguments)
    text = arguments.get("text")
    if arguments.get("secret") is True and isinstance(text, str) and not is_placeholder(text):
        desk.secrets.learn_texts([text])
        arguments = {**arguments, "text": HIDDEN}
    return desk.secrets.value(arguments)


def _named(tools: Mapping[str, DirectorTool], name: str) -> DirectorTool:
    if name not in tools:
        raise UnknownName("tool", name[:80], tools)
    return tools[name]


def _mapping(arguments: object) -> dict[str, Any]:
    if not isinstance(arguments, dict):
        raise UsageError(
            "the arguments of a tool must be a JSON object", hint='for example {"node": "node1"}'
        )
    return arguments


def _refuse_misplaced(desk: ToolContext, name: str, given: Mapping[str, Any]) -> None:
    """A secret is kept where it is known to be one, and `[hidden]` is none: typed, it would be
    those very words."""
    kept = {key: value for key, value in given.items() if key != "reason"}
    if HIDDEN in json.dumps(kept, ensure_ascii=False):
        raise UsageError(f"{HIDDEN} is not a value", hint=BY_REFERENCE)
    if name != "debug_action" and desk.secrets.value(kept) != hide(kept):
        raise UsageError("a secret can't be kept where it would be shown", hint=BY_REFERENCE)


def _told(desk: ToolContext, name: str, answer: Mapping[str, Any]) -> str:
    """The answer without secrets, within the room for a result; what has a `text` was fitted
    where it was made."""
    shown = desk.secrets.value(answer)
    assert isinstance(shown, dict)
    if isinstance(shown.get("text"), str):
        return _with_text(shown)
    fitted = fitted_values.fit_value(desk.session.db, name, shown, desk.result_tokens)
    return _written(fitted["value"]) if "value" in fitted else _with_text(fitted)


def _with_text(answer: dict[str, Any]) -> str:
    """A long text as it is, behind what is said about it: as JSON every line end in it would
    cost a token more."""
    about = {name: value for name, value in answer.items() if name != "text" and value != []}
    return f"{_written(about)}\n{answer['text']}" if about else str(answer["text"])


def _problem(desk: ToolContext, error: ForewordError) -> str:
    hint = f" ({error.hint})" if error.hint else ""
    state = getattr(error, "state", None) if isinstance(error, BrowserFailed) else None
    page = f"\npage: {_written(desk.secrets.value(dict(state)))}" if state else ""
    return desk.secrets.text(f"{FAILED}: {error.message}{hint}") + page


def _written(value: object) -> str:
    return json.dumps(fitted_values.encodable(value), ensure_ascii=False)
