"""The conversation of the benchmarks in the shape of each program, and back.

Some shapes put the results of one round into one message, others give each a message of its own.
"""

import json
from collections.abc import Callable
from typing import Any

from benchmarks.chatter import Call, Said

Count = Callable[[str], int]


def speaker(said: Said) -> tuple[str, str]:
    """Equal for the results of one round, which some shapes put into one message."""
    return (said.role, "") if said.answers else (said.role, said.text)


def to_langchain(said: Said) -> Any:
    """A message of langchain-core."""
    from langchain_core.messages import AIMessage, HumanMessage, ToolMessage

    if said.answers:
        return ToolMessage(said.text, tool_call_id=said.answers)
    if said.role == "user":
        return HumanMessage(said.text)
    calls = [
        {"id": call.id, "name": call.name, "args": json.loads(call.arguments)}
        for call in said.calls
    ]
    return AIMessage(said.text, tool_calls=calls)


def from_langchain(message: Any) -> Said:
    """The same, read back."""
    roles = {"human": "user", "ai": "assistant"}
    calls = [
        Call(call["id"], call["name"], json.dumps(call["args"]))
        for call in getattr(message, "tool_calls", ())
    ]
    answers = getattr(message, "tool_call_id", "")
    return Said(roles.get(message.type, message.type), str(message.content), tuple(calls), answers)


def langchain_tokens(count: Count, messages: list[Any]) -> int:
    """The exact size of messages of langchain-core."""
    return sum(count(from_langchain(message).words) for message in messages)


def to_llama(said: Said) -> Any:
    """A message of LlamaIndex."""
    from llama_index.core.base.llms.types import ChatMessage, TextBlock, ToolCallBlock

    calls = [
        ToolCallBlock(
            tool_call_id=call.id, tool_name=call.name, tool_kwargs=json.loads(call.arguments)
        )
        for call in said.calls
    ]
    extra = {"tool_call_id": said.answers} if said.answers else {}
    return ChatMessage(
        role=said.role, blocks=[TextBlock(text=said.text), *calls], additional_kwargs=extra
    )


def from_llama(message: Any) -> Said:
    """The same, read back."""
    calls = [
        Call(block.tool_call_id, block.tool_name, json.dumps(block.tool_kwargs))
        for block in message.blocks
        if block.block_type == "tool_call"
    ]
    return Said(
        message.role.value,
        message.content or "",
        tuple(calls),
        message.additional_kwargs.get("tool_call_id", ""),
    )


def to_strands(said: list[Said]) -> dict[str, Any]:
    """One message of strands: of one speaker, or all results of a round."""
    if said[0].answers:
        results = [
            {"toolUseId": one.answers, "status": "success", "content": [{"text": one.text}]}
            for one in said
        ]
        return {"role": "user", "content": [{"toolResult": result} for result in results]}
    calls = [
        {"toolUse": {"toolUseId": call.id, "name": call.name, "input": json.loads(call.arguments)}}
        for one in said
        for call in one.calls
    ]
    return {"role": said[0].role, "content": [*({"text": one.text} for one in said), *calls]}


def from_strands(message: dict[str, Any]) -> list[Said]:
    """The same, read back."""
    results = [block["toolResult"] for block in message["content"] if "toolResult" in block]
    if results:
        return [
            Said("tool", result["content"][0]["text"], answers=result["toolUseId"])
            for result in results
        ]
    used = [block["toolUse"] for block in message["content"] if "toolUse" in block]
    calls = tuple(Call(use["toolUseId"], use["name"], json.dumps(use["input"])) for use in used)
    return [
        Said(
            message["role"],
            "\n".join(block["text"] for block in message["content"] if "text" in block),
            calls,
        )
    ]


def to_pydantic_ai(said: list[Said], names: dict[str, str]) -> Any:
    """One message of pydantic-ai: of one speaker, or all results of a round."""
    from pydantic_ai.messages import (
        ModelRequest,
        ModelResponse,
        TextPart,
        ToolCallPart,
        ToolReturnPart,
        UserPromptPart,
    )

    if said[0].answers:
        return ModelRequest(
            [ToolReturnPart(names.get(one.answers, "tool"), one.text, one.answers) for one in said]
        )
    if said[0].role == "user":
        return ModelRequest([UserPromptPart(one.text) for one in said])
    calls = [ToolCallPart(call.name, call.arguments, call.id) for one in said for call in one.calls]
    return ModelResponse([*(TextPart(one.text) for one in said), *calls])


def from_pydantic_ai(message: Any) -> list[Said]:
    """The same, read back."""
    kinds = {part.part_kind for part in message.parts}
    results = [part for part in message.parts if part.part_kind == "tool-return"]
    if message.kind == "request":
        users = [
            Said("user", str(part.content))
            for part in message.parts
            if part.part_kind == "user-prompt"
        ]
        return [
            *(Said("tool", str(part.content), answers=part.tool_call_id) for part in results),
            *users,
        ]
    assert kinds <= {"text", "tool-call"}, kinds
    calls = [part for part in message.parts if part.part_kind == "tool-call"]
    text = "\n".join(part.content for part in message.parts if part.part_kind == "text")
    return [
        Said(
            "assistant",
            text,
            tuple(Call(call.tool_call_id, call.tool_name, call.args) for call in calls),
        )
    ]
