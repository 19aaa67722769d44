"""The OpenAPI description, written from the table of endpoints: nothing about an address is said
twice."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from pydantic import TypeAdapter
from pydantic.json_schema import JsonSchemaMode

from foreword import __version__
from foreword.faces.http.endpoint import JSON, Endpoint
from foreword.faces.http.problems import MEANINGS, MEDIA, ProblemDetails
from foreword.operations.tool_schema import AnswerSchema
from foreword.pattern import lazy_pattern
from foreword.store.database import LARGEST_NUMBER

Schemas = Mapping[tuple[Any, JsonSchemaMode], dict[str, Any]]
TAKEN: JsonSchemaMode = "validation"
GIVEN: JsonSchemaMode = "serialization"
ABOUT = "Contexts for models within a hard token budget, and what was left out of them."
ANY_REQUEST = (400, 401, 403, 421, 429, 500, 503, 504)
WITH_BODY = (413, 415)
_NAME = lazy_pattern(r"\{(\w+)\}")
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


def document(endpoints: Iterable[Endpoint]) -> dict[str, Any]:
    """The whole description."""
    table = list(endpoints)
    schemas, definitions = _schemas(table)
    paths = dict[str, dict[str, Any]]()
    for endpoint in table:
        methods = paths.setdefault(endpoint.path, {})
        methods[endpoint.method.lower()] = _operation(endpoint, schemas, definitions)
    # the parameters of a query are written out with each operation, so nothing refers to them
    queries = {_ref_name(schemas[endpoint.query, TAKEN]) for endpoint in table}
    components = {name: schema for name, schema in definitions.items() if name not in queries}
    return {
        "openapi": "3.1.0",
        "info": {"title": "Foreword", "version": __version__, "summary": ABOUT},
        "paths": paths,
        "components": {
            "schemas": components,
            "securitySchemes": {
                "token": {"type": "http", "scheme": "bearer", "description": "Off loopback only."}
            },
        },
        "security": [{}, {"token": []}],
    }


def _schemas(endpoints: Iterable[Endpoint]) -> tuple[Schemas, dict[str, Any]]:
    """The schema of every type that goes in or out, and the definitions that they refer to."""
    types = dict[tuple[Any, JsonSchemaMode], None]()  # each once, in the order of the table
    types[ProblemDetails, GIVEN] = None
    for endpoint in endpoints:
        types[endpoint.query, TAKEN] = None
        if endpoint.body:
            types[endpoint.body, TAKEN] = None
        types[endpoint.answer, GIVEN] = None
    adapters = [(kind, mode, TypeAdapter(kind)) for kind, mode in types]
    schemas, shared = TypeAdapter.json_schemas(
        adapters,
        ref_template="#/components/schemas/{model}",
        schema_generator=AnswerSchema,
    )
    return schemas, shared["$defs"]


def _operation(
    endpoint: Endpoint, schemas: Schemas, definitions: Mapping[str, Any]
) -> dict[str, Any]:
    query = definitions[_ref_name(schemas[endpoint.query, TAKEN])]
    operation: dict[str, Any] = {
        "operationId": f"{endpoint.method.lower()}_{endpoint.tag}_{endpoint.name}",
        "tags": [endpoint.tag],
        "summary": endpoint.about,
        "parameters": list(_parameters(endpoint, query)),
        "responses": dict(_responses(endpoint, schemas)),
    }
    if endpoint.body:
        content = {JSON: {"schema": schemas[endpoint.body, TAKEN]}}
        operation["requestBody"] = {"required": True, "content": content}
    return operation


def _parameters(endpoint: Endpoint, query: Mapping[str, Any]) -> Iterator[dict[str, Any]]:
    for name in _NAME.findall(endpoint.path):
        schema, about = PATH[name]
        yield {"name": name, "in": "path", "required": True, "description": about, "schema": schema}
    for name, about in endpoint.takes.items():
        yield {
            "name": name,
            "in": "header",
            "required": False,
            "description": about,
            "schema": {"type": "string"},
        }
    needed = query.get("required", ())
    for name, field in query.get("properties", {}).items():
        parameter = {"name": name, "in": "query", "required": name in needed}
        if "description" in field:
            parameter["description"] = field["description"]
        schema = {key: field[key] for key in field if key not in ("description", "title")}
        parameter["schema"] = _without_null(schema)
        yield parameter


def _without_null(schema: dict[str, Any]) -> dict[str, Any]:
    """A parameter is there or not; it can't be null."""
    made = dict(schema)
    if "default" in made and made["default"] is None:
        del made["default"]
    kinds = [kind for kind in schema.get("anyOf", ()) if kind.get("type") != "null"]
    if len(kinds) == 1:
        del made["anyOf"]
        made |= kinds[0]
    return made


def _responses(endpoint: Endpoint, schemas: Schemas) -> Iterator[tuple[str, dict[str, Any]]]:
    headers = dict[str, Any]()
    for name, about in endpoint.gives.items():
        headers[name] = {"description": about, "schema": {"type": "string"}}
    answer = {
        "description": _answer_words(endpoint),
        "headers": headers,
        "content": {endpoint.media: {"schema": _answer_schema(endpoint, schemas)}},
    }
    yield str(endpoint.status), answer
    problem = {MEDIA: {"schema": schemas[ProblemDetails, GIVEN]}}
    for status in _problem_statuses(endpoint):
        yield str(status), {"description": MEANINGS[status], "content": problem}


def _problem_statuses(endpoint: Endpoint) -> list[int]:
    statuses = {*ANY_REQUEST, *endpoint.problems}
    if _NAME.search(endpoint.path):
        statuses.add(404)
    if endpoint.body:
        statuses.update(WITH_BODY)
    return sorted(statuses)


def _answer_words(endpoint: Endpoint) -> str:
    """What the answer is; one of several forms has no words of its own."""
    if isinstance(endpoint.answer, type):
        return " ".join((endpoint.answer.__doc__ or "").split())
    return endpoint.about


def _answer_schema(endpoint: Endpoint, schemas: Schemas) -> dict[str, Any]:
    """The schema of an answer; of a stream, that of each event."""
    ref = schemas[endpoint.answer, GIVEN]
    if endpoint.media == JSON:
        return dict(ref)
    data = {"type": "string", "contentMediaType": JSON, "contentSchema": ref}
    return {
        "type": "object",
        "properties": {"id": {"type": "string"}, "event": {"type": "string"}, "data": data},
    }


def _ref_name(ref: Mapping[str, Any]) -> str:
    return str(ref["$ref"]).rsplit("/", 1)[-1]
