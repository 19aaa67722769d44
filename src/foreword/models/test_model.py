"""The model `test`: answers by rule, the same every time, without key or network. For
demonstrations and tests.

It reviews a unified diff by `review_rules` (findings as JSON), writes the artifact of a phase of a
flow (after looking up what the phase is given), and says one line about anything else. It is a
pydantic-ai model, so a call takes the same path as a paid one.
"""

from __future__ import annotations

import asyncio
import json
import re
from collections.abc import AsyncIterator, Mapping, Sequence
from itertools import chain
from typing import TYPE_CHECKING, Any

from foreword.models.review_rules import HUNK, review
from foreword.pattern import lazy_pattern
from foreword.plan import artifact_names
from foreword.tokens import counter

if TYPE_CHECKING:
    from pydantic_ai.messages import ModelMessage, ModelResponse
    from pydantic_ai.models.function import AgentInfo, FunctionModel

NAME = "test"
REVIEW = "review"
CONFIDENCE = 0.95  # of its own five rules it is as sure as a profile may require
LOOKUP = "lookup"
LONGEST_LINE = 80  # characters of what it was asked or found, as it repeats them
REFERENCE = lazy_pattern(rf"\[({artifact_names.NAME}|phase \d{{1,4}}[a-z]?)\]")
LISTED_REFERENCE = lazy_pattern(rf"^{REFERENCE.pattern} ", re.MULTILINE)
ARTIFACT_TO_WRITE = lazy_pattern(
    r"(?i:\bartifact\b|\boutput\b|\bproduces?\b|\bhands? on\b)[^\[\n]{0,80}" + REFERENCE.pattern
)
PHASE = lazy_pattern(r"\bphase\s+(\d+[a-z]?)\b", re.IGNORECASE)


def rule_based_model(seconds: float) -> FunctionModel:
    """The model, ready to be asked; each of its replies takes so many seconds, as those of a
    real one do."""
    from pydantic_ai.models.function import FunctionModel

    async def reply(messages: list[ModelMessage], info: AgentInfo) -> ModelResponse:
        await asyncio.sleep(seconds)
        return _reply(messages, info)

    async def stream(messages: list[ModelMessage], info: AgentInfo) -> AsyncIterator[Any]:
        await asyncio.sleep(seconds)
        async for piece in _stream_reply(messages, info):
            yield piece

    return FunctionModel(reply, stream_function=stream, model_name=NAME)


def _reply(messages: list[ModelMessage], info: AgentInfo) -> ModelResponse:
    from pydantic_ai.messages import ModelResponse, TextPart, ToolCallPart
    from pydantic_ai.usage import RequestUsage

    request = _request(messages)
    found = _lookup_results(messages)
    task = _task(request)
    lookups = [] if found else _lookups(task, request, info)
    text = "" if lookups else _answer_text(task, request, found)
    parts = list[ToolCallPart | TextPart]()
    for parameter, name in lookups:
        parts.append(ToolCallPart(LOOKUP, {parameter: name}, f"call_{name}"))
    for form in info.output_tools:
        text = _filled_form(form.parameters_json_schema, request)
        parts.append(ToolCallPart(form.name, text, "call_form"))
    if not parts:
        parts.append(TextPart(text))
    count = counter().count
    usage = RequestUsage(
        input_tokens=count(f"{info.instructions}\n{request}"), output_tokens=max(1, count(text))
    )
    return ModelResponse(parts, usage=usage)


async def _stream_reply(messages: list[ModelMessage], info: AgentInfo) -> AsyncIterator[Any]:
    """The same reply in pieces."""
    from pydantic_ai.messages import TextPart, ToolCallPart
    from pydantic_ai.models.function import DeltaToolCall

    for number, part in enumerate(_reply(messages, info).parts):
        if isinstance(part, TextPart):
            for word in re.findall(r"\s*\S+|\s+$", part.content):
                yield word
        elif isinstance(part, ToolCallPart):
            arguments = part.args_as_json_str()
            yield {number: DeltaToolCall(part.tool_name, arguments, tool_call_id=part.tool_call_id)}


def _filled_form(schema: Mapping[str, Any], request: str) -> str:
    """The answer to a question with a schema: the review of a change, or groups of findings, of
    which it sees none."""
    return _review(request) if "findings" in schema["properties"] else '{"groups": []}'


def _review(request: str) -> str:
    findings = review(request)
    answer = {"saw_everything": True, "confidence": CONFIDENCE, "findings": findings}
    return json.dumps(answer, indent=2)


def _task(request: str) -> str:
    """`review`, the artifact to write, or nothing in particular."""
    artifact = ARTIFACT_TO_WRITE.search(request)
    phase = PHASE.search(request)
    if HUNK.search(request) and artifact is None:
        return REVIEW
    if artifact:
        return artifact[1]
    return phase[0].capitalize() if phase else ""


def _lookups(task: str, request: str, info: AgentInfo) -> list[tuple[str, str]]:
    """The parameter and the value of every lookup that a phase needs: what it names, and what it
    was given."""
    tools = [tool for tool in info.function_tools if tool.name == LOOKUP]
    if not tools or task in ("", REVIEW):
        return []
    parameters = list(tools[0].parameters_json_schema.get("properties", {})) or ["name"]
    references = REFERENCE.findall(request) + LISTED_REFERENCE.findall(info.instructions or "")
    return [(parameters[0], name) for name in dict.fromkeys(references) if name != task]


def _answer_text(task: str, request: str, found: Sequence[tuple[str, str]]) -> str:
    if task == REVIEW:
        return _review(request)
    if task:
        return _artifact(task, request, found)
    first = next(filter(str.strip, request.splitlines()), "nothing")
    return f"The model `{NAME}` answers by rule and was asked: {_short(first)}"


def _artifact(name: str, request: str, found: Sequence[tuple[str, str]]) -> str:
    title = _artifact_title(name, PHASE.search(request))
    if not found:
        return "\n".join([title, "", "Nothing was looked up."])
    lines = [f"- [{reference}]: {_short(text)}" for reference, text in found]
    return "\n".join([title, "", "Looked up:", *lines])


def _artifact_title(name: str, phase: re.Match[str] | None) -> str:
    tag = f"[{name}]"
    if not REFERENCE.match(tag):
        return f"# {name}"
    return f"# {tag} written in {phase[0].lower()}" if phase else f"# {tag}"


def _request(messages: Sequence[ModelMessage]) -> str:
    from pydantic_ai.messages import UserPromptPart

    parts = chain.from_iterable(message.parts for message in messages)
    return "\n".join(str(part.content) for part in parts if isinstance(part, UserPromptPart))


def _lookup_results(messages: Sequence[ModelMessage]) -> list[tuple[str, str]]:
    """What was looked up: the reference and the answer."""
    from pydantic_ai.messages import ToolReturnPart

    results = list[tuple[str, str]]()
    for part in chain.from_iterable(message.parts for message in messages):
        if isinstance(part, ToolReturnPart):
            reference = part.tool_call_id.removeprefix("call_")
            results.append((reference, part.model_response_str()))
    return results


def _short(text: str) -> str:
    line = " ".join(text.split())
    return line if len(line) <= LONGEST_LINE else f"{line[:LONGEST_LINE]} ..."
