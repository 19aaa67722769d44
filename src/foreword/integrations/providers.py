"""The SDKs of Anthropic, OpenAI and Google, and a loop of one's own: the arguments of a request in,
the same with a history that fits out.

    client.messages.create(**anthropic_request(session, model=..., messages=messages))

No SDK is imported: requests are dicts, and answers are read as the objects they are. Whatever else
a request has is left alone.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from foreword.engine.package import Package
from foreword.session.session import Session


def anthropic_request(session: Session, **request: Any) -> dict[str, Any]:
    """Arguments of `client.messages.create`."""
    package = _fit(session, request["messages"], request.get("system"), request.get("tools"))
    written = package.to_anthropic()
    if not written["system"]:
        del written["system"]
        request.pop("system", None)
    return {**request, **written}


def openai_request(session: Session, **request: Any) -> dict[str, Any]:
    """Arguments of `client.chat.completions.create`."""
    package = _fit(session, request["messages"], None, request.get("tools"))
    return {**request, "messages": package.to_openai()}


def responses_request(session: Session, **request: Any) -> dict[str, Any]:
    """Arguments of `client.responses.create`."""
    said = request["input"]
    items = [{"role": "user", "content": said}] if isinstance(said, str) else said
    package = _fit(session, items, request.get("instructions"), request.get("tools"))
    request.pop("instructions", None)
    return {**request, **package.to_responses()}


def gemini_request(session: Session, **request: Any) -> dict[str, Any]:
    """Arguments of `client.models.generate_content`; `config` is a dict."""
    config = dict(request.get("config") or {})
    contents = _gemini_contents(request["contents"])
    system = config.pop("system_instruction", None) or config.pop("systemInstruction", None)
    package = _fit(session, contents, system, config.get("tools"))
    written = package.to_gemini()
    if "systemInstruction" in written:
        config["system_instruction"] = written["systemInstruction"]
    return {**request, "contents": written["contents"], "config": config}


def _gemini_contents(given: Any) -> list[Any]:
    """Contents as the SDK takes them: neighbours that are texts and parts are one thing that the
    user says."""
    contents = list[Any]()
    parts = list[Any]()
    for each in given if isinstance(given, list) else [given]:
        if isinstance(each, str):
            parts.append({"text": each})
        elif (isinstance(each, Mapping) and "parts" in each) or hasattr(each, "parts"):
            contents += [{"role": "user", "parts": parts}] if parts else []
            contents.append(each)
            parts = []
        elif hasattr(each, "uri") and hasattr(each, "mime_type"):  # a file that was uploaded
            parts.append({"fileData": {"fileUri": each.uri, "mimeType": each.mime_type}})
        else:
            parts.append(each)
    return contents + ([{"role": "user", "parts": parts}] if parts else [])


def _fit(session: Session, messages: Any, system: Any, tools: Any) -> Package:
    session.sync(messages, system=system)
    return session.context(tools=[tool for tool in tools or () if not callable(tool)])
