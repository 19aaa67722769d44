"""Do what a tool was called for, and tell what came of it: checked before, fitted and without
secrets after.

Whatever happens is an answer: an error of ours is told with its hint and, where a browser had a
part in it, with how the page stands. Nothing a tool does can end the conversation it was called in.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import Any

from foreword import aliases
from foreword.director.tool import DirectorTool
from foreword.director.tool_context import ToolContext
from foreword.errors import BrowserFailed, ForewordError, UnknownName, UsageError
from foreword.messages.parts import Image
from foreword.operations import fitted_values
from foreword.operations.fitted_values import WholeValue
from foreword.secrets.masking import HIDDEN, hide
from foreword.secrets.placeholders import is_placeholder

FAILED = "failed"
PICTURE = "picture"  # of an answer: an image for a model that sees
# The tools that are given their arguments as they are; all others get them without secrets.
TAKE_SECRETS = frozenset({"create_node", "update_node", "set_variable", "debug_action"})
_SECRET_FIELDS = ("text", "secret", "name", "value")  # of a tool that is unknown
_LONGEST_NAME = 80  # characters of a name that a model made up, in an error
BY_REFERENCE = "name the variable that holds it, such as {{creds.password}}"


@dataclass(frozen=True, slots=True)
class Outcome:
    """What came of a call, as it is told."""

    text: str
    failed: bool = False
    picture: Image | None = None  # that the tool was asked to show


def perform(
    context: ToolContext, tools: Mapping[str, DirectorTool], name: str, arguments: object
) -> Outcome:
    """Run a tool; an unknown one, or arguments that don't fit, are an outcome too."""
    try:
        tool = _find_tool(tools, name)
        given = tool.read(arguments)
        without_secrets = arguments_without_secrets(context, tool, given)
        if name in TAKE_SECRETS:
            _refuse_misplaced(context, name, given)
        else:
            assert isinstance(without_secrets, dict)
            given = without_secrets
        try:
            answer = tool.run(context, given)
        finally:
            if not tool.reads:
                context.save()
            context.resources.remember_blocked_origins()
        context.resources.learn()
        picture = answer.get(PICTURE)
        shown = {key: value for key, value in answer.items() if key != PICTURE}
        text = _answer_text(context, name, shown)
        return Outcome(text, failed=answer.get("status") == FAILED, picture=picture)
    except ForewordError as error:
        return Outcome(_error_text(context, error), failed=True)
    except Exception as error:  # noqa: BLE001 - whatever breaks a tool, the conversation goes on
        text = f"{FAILED}: {name} broke: {type(error).__name__}: {error}"
        return Outcome(context.secrets.text(text), failed=True)


def arguments_without_secrets(
    context: ToolContext, tool: DirectorTool | None, arguments: object
) -> object:
    """Return the arguments of a call as they are kept and told: under the names of the tool's
    fields and without secrets, which are known from now on.

    Where two names mean one field the call is refused, and no value of it is told.
    """
    context.resources.learn()
    if not isinstance(arguments, dict):
        context.secrets.learn([arguments])
        return context.secrets.value(arguments)
    try:
        named = aliases.rename(arguments, tool.takes.model_fields if tool else _SECRET_FIELDS)
    except ValueError:
        return context.secrets.value(dict.fromkeys(arguments, HIDDEN))
    context.secrets.learn([arguments, named])
    text = named.get("text")
    if named.get("secret") is True and isinstance(text, str) and not is_placeholder(text):
        context.secrets.learn_texts([text])
        named["text"] = HIDDEN
    return context.secrets.value(named)


def _find_tool(tools: Mapping[str, DirectorTool], name: str) -> DirectorTool:
    if name not in tools:
        raise UnknownName("tool", name[:_LONGEST_NAME], tools)
    return tools[name]


def _refuse_misplaced(context: ToolContext, name: str, given: Mapping[str, Any]) -> None:
    """A secret is kept where it is known to be one, and `[hidden]` is none: typed, it would be
    those very words."""
    values = {key: value for key, value in given.items() if key != "reason"}
    if HIDDEN in json.dumps(values, ensure_ascii=False):
        raise UsageError(f"{HIDDEN} is not a value", hint=BY_REFERENCE)
    if name != "debug_action" and context.secrets.value(values) != hide(values):
        raise UsageError("a secret can't be kept where it would be shown", hint=BY_REFERENCE)


def _answer_text(context: ToolContext, name: str, answer: Mapping[str, Any]) -> str:
    """The answer without secrets, within the room for a result; what has a `text` was fitted
    where it was made."""
    without_secrets = context.secrets.value(answer)
    assert isinstance(without_secrets, dict)
    if isinstance(without_secrets.get("text"), str):
        return _with_text(without_secrets)
    fitted = fitted_values.fit_value(
        context.session.db, name, without_secrets, context.result_tokens
    )
    if isinstance(fitted, WholeValue):
        return _json_text(fitted.value)
    return _with_text({name: value for name, value in asdict(fitted).items() if value is not None})


def _with_text(answer: dict[str, Any]) -> str:
    """A long text as it is, behind what is said about it: as JSON every line end in it would
    cost a token more."""
    about = dict[str, Any]()
    for name, value in answer.items():
        if name != "text" and value != []:
            about[name] = value
    return f"{_json_text(about)}\n{answer['text']}" if about else str(answer["text"])


def _error_text(context: ToolContext, error: ForewordError) -> str:
    hint = f" ({error.hint})" if error.hint else ""
    text = context.secrets.text(f"{FAILED}: {error.message}{hint}")
    if isinstance(error, BrowserFailed) and error.state:
        text += f"\npage: {_json_text(context.secrets.value(dict(error.state)))}"
    return text


def _json_text(value: object) -> str:
    return json.dumps(fitted_values.encodable(value), ensure_ascii=False)
