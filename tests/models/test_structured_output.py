"""Answers by a schema, over real HTTP: native structured output, a tool call, and a real model."""

from __future__ import annotations

import json
from typing import Annotated, Any, Literal

import pytest
from pydantic import BaseModel, ConfigDict, Field
from pydantic_ai.messages import ModelMessage, ModelResponse, TextPart
from pydantic_ai.models.function import AgentInfo, FunctionModel

from foreword.errors import AnswerInvalid, ModelFailed, UsageError
from foreword.models import ask
from foreword.testing import Reply, ToolCall, fake_provider
from tests.local_model import local_model
from tests.patience import PATIENCE_SECONDS


class Colour(BaseModel):
    """A colour."""

    model_config = ConfigDict(extra="forbid")
    name: Annotated[str, Field(max_length=20)]
    warm: bool
    kind: Literal["primary", "mixed"]


RED: dict[str, Any] = {"name": "red", "warm": True, "kind": "primary"}
WIRES = ["openai", "openai_responses", "anthropic"]


def filled(wire: str, form: dict[str, Any], beside: str = "") -> Reply:
    """A form as the wire has it: text where the server enforces the schema, else a call."""
    if wire == "openai":
        return Reply(beside + json.dumps(form))
    return Reply(beside, tool_calls=[ToolCall("final_result", form)])


@pytest.mark.parametrize("wire", WIRES)
def test_an_answer_fits_the_schema_or_is_requested_once_more(wire: str) -> None:
    for wrong in (
        "Red, I think.",
        filled(wire, {**RED, "kind": "loud"}),
        filled(wire, {**RED, "more": 1}),
        filled(wire, RED, beside="But not for everybody. "),
        Reply('{"name": "red", "name": "blue", "warm": true, "kind": "primary"}'),
    ):
        with fake_provider([wrong, filled(wire, RED)]) as provider:
            answer = ask(getattr(provider, wire), "", "Name one.", output=Colour)
            assert len(provider.requests) == 2
        assert answer.output == Colour(**RED)
        assert json.loads(answer.text) == RED
        assert answer.first
    with fake_provider(filled(wire, RED)) as provider:
        first_answer = ask(getattr(provider, wire), "", "Name one.", output=Colour)
        (request,) = provider.requests
    assert (first_answer.first, first_answer.tool_calls) == ("", 0)
    assert ("response_format" in request) == (wire == "openai")
    assert ("tools" in request) == (wire != "openai")


@pytest.mark.parametrize("wire", WIRES)
def test_an_answer_that_never_fits_is_an_error_with_its_words(wire: str) -> None:
    cases = {
        "it is not the one JSON object": Reply("Red, I think."),
        "kind: 'loud' is not one of primary, mixed": filled(wire, {**RED, "kind": "loud"}),
    }
    for problem, reply in cases.items():
        with fake_provider(reply) as provider:
            with pytest.raises(AnswerInvalid, match=problem) as caught:
                ask(getattr(provider, wire), "", "Name one.", output=Colour)
            assert len(provider.requests) == 2
        assert "Red" in caught.value.words or "loud" in caught.value.words
    with fake_provider("") as provider, pytest.raises(ModelFailed, match="its answer is empty"):
        ask(getattr(provider, wire), "", "Name one.", output=Colour)


def test_a_model_without_tools_and_schemas_is_asked_by_prompt() -> None:
    asked: list[str] = []

    def respond(messages: list[ModelMessage], info: AgentInfo) -> ModelResponse:
        asked.append(str(info.instructions) + str(info.model_request_parameters))
        return ModelResponse([TextPart(f"```json\n{json.dumps(RED)}\n```")])

    profile: Any = {"supports_tools": False, "default_structured_output_mode": "prompted"}
    model = FunctionModel(respond, profile=profile)
    assert ask(model, "", "Name one.", output=Colour).output == Colour(**RED)
    assert "compatible with this schema" in asked[0]


def test_a_question_has_tools_or_a_schema() -> None:
    with pytest.raises(UsageError, match="not both"):
        ask("test", "", "Name one.", tools=[str.upper], output=Colour)


def test_a_real_model_is_held_to_the_schema_by_its_server() -> None:
    with local_model() as name:
        answer = ask(
            name,
            "Answer with one JSON object.",
            "Name a colour of the rainbow.",
            output=Colour,
            max_output_tokens=200,
            timeout_seconds=PATIENCE_SECONDS,
        )
    assert isinstance(answer.output, Colour)
    assert answer.first == ""
