"""The model `test`: answers by rule, the same every time, without key or network. For
demonstrations and tests.

It reviews a unified diff (JSON findings), writes the artifact of a phase of a flow (after looking
up what the phase is given), and says one line about anything else. It is a pydantic-ai model, so a
call takes the same path as a paid one.
"""

from __future__ import annotations

import asyncio
import json
import re
from collections.abc import AsyncIterator, Iterator, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

from foreword.tokens import counter

if TYPE_CHECKING:
    from pydantic_ai.messages import ModelMessage, ModelResponse
    from pydantic_ai.models.function import AgentInfo, FunctionModel

NAME = "test"
REVIEW = "review"
LOOKUP = "lookup"
LONGEST_LINE = 80
HUNK = re.compile(r"^@@ -\d+(?:,(\d+))? \+(\d+)(?:,(\d+))? @@", re.MULTILINE)
NEW_FILE = re.compile(r"\+\+\+ (?:b/)?([^\t\n]+)")
REFERENCE = re.compile(r"\[([A-Z][A-Z0-9_]{0,19}-\d{1,4}[a-z]?)\]")
GIVEN = re.compile(rf"^{REFERENCE.pattern} ", re.MULTILINE)
HANDED_ON = re.compile(
    r"(?i:\bartifact\b|\boutput\b|\bproduces?\b|\bhands? on\b)[^\[\n]{0,80}" + REFERENCE.pattern
)
PHASE = re.compile(r"\bphase\s+(\d+[a-z]?)\b", re.IGNORECASE)


class ReviewRule(NamedTuple):
    """What an added line must not say, and what a reviewer says to it."""

    pattern: re.Pattern[str]
    severity: str
    title: str
    detail: str


RULES = [
    ReviewRule(re.compile(pattern), severity, title, detail)
    for pattern, severity, title, detail in [
        (
            r"""(?i)\b\w*(?:password|passwd|secret|api_?key|token)\w*["']?\s*[:=]\s*["'][^"']+["']""",
            "critical",
            "Hard-coded secret",
            "Anyone who can read the code can use it: read it from the environment.",
        ),
        (
            r"""(?i)\bf["'].*\b(?:select|insert|update|delete)\b.*\{""",
            "critical",
            "SQL built from a string",
            "A value can change the statement: pass it as a parameter.",
        ),
        (
            r"\beval\(",
            "high",
            "eval of a string",
            "Whatever the string says is run: parse it instead.",
        ),
        (
            r"^\s*except\s*:",
            "high",
            "Bare except",
            "It swallows everything, interrupts too: name the error.",
        ),
        (
            r"[=!]= None\b",
            "medium",
            "Comparison with None",
            "`is None` can't be overridden by an object's own `==`.",
        ),
        (r"\b(?:TODO|FIXME)\b", "low", "Unfinished work", "Finish it, or say where it is tracked."),
        (
            r"(?<![\w.])print\(|\bconsole\.log\(",
            "low",
            "Debug output",
            "Use the logger, or take it out.",
        ),
    ]
]


def rule_based_model(seconds: float = 0) -> FunctionModel:
    """The model, ready to be asked; each of its replies takes so many seconds, as those of a
    real one do."""
    from pydantic_ai.models.function import FunctionModel

    async def reply(messages: list[ModelMessage], info: AgentInfo) -> ModelResponse:
        await asyncio.sleep(seconds)
        return _reply(messages, info)

    async def stream(messages: list[ModelMessage], info: AgentInfo) -> AsyncIterator[Any]:
        await asyncio.sleep(seconds)
        async for piece in _streamed(messages, info):
            yield piece

    return FunctionModel(reply, stream_function=stream, model_name=NAME)


def review(text: str) -> list[dict[str, Any]]:
    """A finding for every added line of the diffs in a text that breaks a rule."""
    return [
        {
            "severity": rule.severity,
            "file": file,
            "line": line,
            "title": rule.title,
            "detail": rule.detail,
        }
        for file, line, added in added_lines(text)
        for rule in RULES
        if rule.pattern.search(added)
    ]


def added_lines(text: str) -> Iterator[tuple[str, int, str]]:
    """File, number and text of every added line; a hunk is as long as its head says, or ends
    where it was cut."""
    file, line, old_left, new_left = "", 0, 0, 0
    for written in text.split("\n"):
        kind = written[:1] or " "
        if (old_left > 0 or new_left > 0) and kind in " +-\\":
            if kind == "+":
                yield file, line, written[1:]
            old_left -= kind in " -"
            new_left -= kind in " +"
            line += kind in " +"
        elif hunk := HUNK.match(written):
            old_left, line, new_left = int(hunk[1] or 1), int(hunk[2]), int(hunk[3] or 1)
        else:
            old_left = new_left = 0
            if named := NEW_FILE.match(written):
                file = named[1].strip()


def _reply(messages: list[ModelMessage], info: AgentInfo) -> ModelResponse:
    from pydantic_ai.messages import ModelResponse, TextPart, ToolCallPart
    from pydantic_ai.usage import RequestUsage

    request, found = _request(messages), _found(messages)
    task = _task(info.instructions or "", request)
    wanted = [] if found else _to_look_up(task, request, info)
    text = "" if wanted else _written(task, request, found)
    calls = [ToolCallPart(LOOKUP, {parameter: name}, f"call_{name}") for parameter, name in wanted]
    count = counter("estimate").count
    usage = RequestUsage(
        input_tokens=count(f"{info.instructions}\n{request}"), output_tokens=max(1, count(text))
    )
    return ModelResponse([*calls, *([] if calls else [TextPart(text)])], usage=usage)


async def _streamed(messages: list[ModelMessage], info: AgentInfo) -> AsyncIterator[Any]:
    """The same reply word by word."""
    from pydantic_ai.messages import TextPart, ToolCallPart
    from pydantic_ai.models.function import DeltaToolCall

    for number, part in enumerate(_reply(messages, info).parts):
        if isinstance(part, TextPart):
            for word in re.findall(r"\s*\S+|\s+$", part.content):
                yield word
        elif isinstance(part, ToolCallPart):
            arguments = part.args_as_json_str()
            yield {number: DeltaToolCall(part.tool_name, arguments, tool_call_id=part.tool_call_id)}


def _task(instructions: str, request: str) -> str:
    """`review`, the artifact to write, or nothing in particular."""
    artifact, phase = HANDED_ON.search(request), PHASE.search(request)
    if HUNK.search(request) and (artifact is None or "findings" in instructions):
        return REVIEW
    return artifact[1] if artifact else phase[0].capitalize() if phase else ""


def _to_look_up(task: str, request: str, info: AgentInfo) -> list[tuple[str, str]]:
    """The parameter and the value of every lookup that a phase needs: what it names, and what it
    was given."""
    tool = next((tool for tool in info.function_tools if tool.name == LOOKUP), None)
    if tool is None or task in ("", REVIEW):
        return []
    parameter = next(iter(tool.parameters_json_schema.get("properties", {})), "name")
    named = dict.fromkeys([*REFERENCE.findall(request), *GIVEN.findall(info.instructions or "")])
    return [(parameter, reference) for reference in named if reference != task]


def _written(task: str, request: str, found: Sequence[tuple[str, str]]) -> str:
    if task == REVIEW:
        return json.dumps({"findings": review(request)}, indent=2)
    if task:
        return _artifact(task, request, found)
    first = next((line for line in request.splitlines() if line.strip()), "nothing")
    return f"The model `{NAME}` answers by rule and was asked: {_short(first)}"


def _artifact(name: str, request: str, found: Sequence[tuple[str, str]]) -> str:
    phase, tag = PHASE.search(request), f"[{name}]"
    title = (
        f"# {name}"
        if not REFERENCE.match(tag)
        else f"# {tag} written in {phase[0].lower()}"
        if phase
        else f"# {tag}"
    )
    given = [f"- [{reference}]: {_short(text)}" for reference, text in found]
    return "\n".join(
        [title, "", *(["Looked up:", *given] if given else ["Nothing was looked up."])]
    )


def _request(messages: Sequence[ModelMessage]) -> str:
    from pydantic_ai.messages import UserPromptPart

    parts = (part for message in messages for part in message.parts)
    return "\n".join(str(part.content) for part in parts if isinstance(part, UserPromptPart))


def _found(messages: Sequence[ModelMessage]) -> list[tuple[str, str]]:
    """What was looked up: the reference and the answer."""
    from pydantic_ai.messages import ToolReturnPart

    parts = (part for message in messages for part in message.parts)
    return [
        (part.tool_call_id.removeprefix("call_"), part.model_response_str())
        for part in parts
        if isinstance(part, ToolReturnPart)
    ]


def _short(text: str) -> str:
    line = " ".join(text.split())
    return line if len(line) <= LONGEST_LINE else f"{line[:LONGEST_LINE]} ..."
