"""The OpenAPI description, written from the table of endpoints: nothing about an address is said
twice."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from pydantic import BaseModel
from pydantic.json_schema import models_json_schema

from foreword import __version__
from foreword.faces.http.endpoint import JSON, Endpoint
from foreword.faces.http.problems import MEANINGS, MEDIA
from foreword.store.database import LARGEST_NUMBER

ABOUT = "Contexts for models within a hard token budget, and what was left out of them."
ANY_REQUEST = (400, 401, 403, 421, 429, 500, 503, 504)
WITH_BODY = (413, 415)
_NAME = re.compile(r"\{(\w+)\}")
_TEXT = {"type": "string", "minLength": 1}
_NUMBER = {"type": "integer", "minimum": 0, "maximum": LARGEST_NUMBER}
PATH: dict[str, tuple[dict[str, Any], str]] = {
    "workflow": (_TEXT, "The name of a workflow."),
    "name": (_TEXT, "A name."),
    "node": (_TEXT, "The id of a node."),
    "tool": (_TEXT, "The name of a tool."),
    "run": (_TEXT, "The name of a run."),
    "task": (_TEXT, "The name of a task."),
    "phase": (_TEXT, "The name of a phase."),
    "handle": (_TEXT, "A handle, as in `fw_3f9c01d7ab52e8`, or its beginning."),
    "version": (_NUMBER, "The number of a version."),
    "number": (_NUMBER, "The number of a report."),
}


class ProblemDetails(BaseModel):
    """What went wrong (RFC 9457); some have more facts."""

    type: str
    title: str
    status: int
    code: str
    hint: str


def document(endpoints: Iterable[Endpoint]) -> dict[str, Any]:
    """The whole description."""
    table = list(endpoints)
    models = {model for one in table for model in (one.answer, one.body, one.query) if model} | {
        ProblemDetails
    }
    ordered = sorted(models, key=lambda model: (model.__name__, model.__module__))
    refs, schemas = models_json_schema(
        [(model, "validation") for model in ordered], ref_template="#/components/schemas/{model}"
    )
    known = {model: refs[model, "validation"] for model in ordered}
    paths = dict[str, dict[str, Any]]()
    for one in table:
        paths.setdefault(one.path, {})[one.method.lower()] = _operation(
            one, known, schemas["$defs"]
        )
    queries = {_ref_name(known[one.query]) for one in table}
    kept = {name: schema for name, schema in schemas["$defs"].items() if name not in queries}
    return {
        "openapi": "3.1.0",
        "info": {"title": "Foreword", "version": __version__, "summary": ABOUT},
        "paths": paths,
        "components": {
            "schemas": kept,
            "securitySchemes": {
                "token": {"type": "http", "scheme": "bearer", "description": "Off loopback only."}
            },
        },
        "security": [{}, {"token": []}],
    }


def _operation(
    one: Endpoint, known: Mapping[type[BaseModel], Any], schemas: Mapping[str, Any]
) -> dict[str, Any]:
    made: dict[str, Any] = {
        "operationId": (
            f"{one.method.lower()}_{one.run.__module__.rsplit('.', 1)[-1]}_{one.run.__name__}"
        ),
        "tags": [one.run.__module__.rsplit(".", 1)[-1]],
        "summary": one.about,
        "parameters": list(_parameters(one, schemas[_ref_name(known[one.query])])),
        "responses": dict(_responses(one, known)),
    }
    if one.body:
        made["requestBody"] = {"required": True, "content": {JSON: {"schema": known[one.body]}}}
    return made


def _parameters(one: Endpoint, query: Mapping[str, Any]) -> Iterator[dict[str, Any]]:
    for name in _NAME.findall(one.path):
        schema, about = PATH[name]
        yield {"name": name, "in": "path", "required": True, "description": about, "schema": schema}
    for name, about in one.takes.items():
        yield {
            "name": name,
            "in": "header",
            "required": False,
            "description": about,
            "schema": {"type": "string"},
        }
    needed = query.get("required", ())
    for name, field in query.get("properties", {}).items():
        schema = _without_null(
            {key: value for key, value in field.items() if key not in ("description", "title")}
        )
        described = {"description": field["description"]} if "description" in field else {}
        yield {
            "name": name,
            "in": "query",
            "required": name in needed,
            **described,
            "schema": schema,
        }


def _without_null(schema: dict[str, Any]) -> dict[str, Any]:
    """A parameter is there or not; it can't be null."""
    kinds = [kind for kind in schema.get("anyOf", ()) if kind.get("type") != "null"]
    rest = {
        key: value
        for key, value in schema.items()
        if key not in ("anyOf", "default") or value is not None
    }
    return (
        {**{key: value for key, value in rest.items() if key != "anyOf"}, **kinds[0]}
        if len(kinds) == 1
        else rest
    )


def _responses(
    one: Endpoint, known: Mapping[type[BaseModel], Any]
) -> Iterator[tuple[str, dict[str, Any]]]:
    schema = _content(one, known)
    headers = {
        name: {"description": about, "schema": {"type": "string"}}
        for name, about in one.gives.items()
    }
    about = (one.answer.__doc__ if one.answer else None) or one.about
    yield (
        str(one.status),
        {"description": about, "headers": headers, "content": {one.media: {"schema": schema}}},
    )
    if "if-none-match" in one.takes:
        yield "304", {"description": "It is still that version.", "headers": headers}
    named = {404} if _NAME.search(one.path) else set()
    for status in sorted({*ANY_REQUEST, *one.problems, *named, *(WITH_BODY if one.body else ())}):
        yield (
            str(status),
            {
                "description": MEANINGS[status],
                "content": {MEDIA: {"schema": known[ProblemDetails]}},
            },
        )


def _content(one: Endpoint, known: Mapping[type[BaseModel], Any]) -> dict[str, Any]:
    """The schema of an answer; of a stream, that of each event."""
    if one.answer is None:
        return {"type": "string"}
    if one.media == JSON:
        return dict(known[one.answer])
    data = {"type": "string", "contentMediaType": JSON, "contentSchema": known[one.answer]}
    return {
        "type": "object",
        "properties": {"id": {"type": "string"}, "event": {"type": "string"}, "data": data},
    }


def _ref_name(ref: Mapping[str, Any]) -> str:
    return str(ref["$ref"]).rsplit("/", 1)[-1]
