"""JSON Schema for the tools of models, short: it is in every conversation of an agent that has
them.

Made from the same shapes as the OpenAPI description. Kinds of values, their choices and what is
needed are the same; left out are titles, defaults and examples, the words of single fields, limits
of size, which an error names, and null where a field may as well be away.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from typing import Any

from pydantic import BaseModel, TypeAdapter
from pydantic.json_schema import GenerateJsonSchema, JsonSchemaValue
from pydantic_core import core_schema

Schema = dict[str, Any]
ANY = {"description": "Any JSON."}  # a schema without a word is refused by some hosts
_LEFT_OUT = frozenset(
    (
        "title description default examples additionalProperties pattern minimum maximum minLength"
        " maxLength minItems maxItems"
    ).split()
)


class AnswerSchema(GenerateJsonSchema):
    """The schema of answers: each field is there, but for those that are left out where there is
    nothing to say, and they are never null."""

    def field_is_required(
        self,
        field: core_schema.ModelField | core_schema.DataclassField | core_schema.TypedDictField,
        total: bool,
    ) -> bool:
        if field["type"] == "dataclass-field":
            return field.get("serialization_exclude_if") is None
        return super().field_is_required(field, total)

    def dataclass_field_schema(self, schema: core_schema.DataclassField) -> JsonSchemaValue:
        made = super().dataclass_field_schema(schema)
        made.pop("default", None)  # of a field that is there, it says nothing
        return made if schema.get("serialization_exclude_if") is None else _without_null(made)


def input_schema(shape: type[BaseModel]) -> Schema:
    """What a tool takes."""
    return _input_schema(shape)


@cache  # of its own: to mypy, the classes that callers have are nothing to cache by
def _input_schema(shape: type[BaseModel]) -> Schema:
    return object_schema(shape.model_json_schema())


@cache
def output_schema(answer: Any) -> Schema:
    """What a tool gives: the fields of all forms that its answer may have, each by its type."""
    schema = TypeAdapter(answer).json_schema(mode="serialization", schema_generator=AnswerSchema)
    definitions = schema.get("$defs", {})
    fields = Schema()
    for form in schema.get("anyOf", [schema]):
        written = _resolve(form, definitions)
        for name, field in written["properties"].items():
            fields[name] = _type_alone(_short(field, definitions))
    return {"type": "object", "properties": fields}


def object_schema(schema: Mapping[str, Any]) -> Schema:
    """A mapping with named fields, those that are needed named."""
    definitions = schema.get("$defs", {})
    fields = schema.get("properties", {})
    needed = list(schema.get("required", ()))
    made: Schema = {"type": "object", "properties": _fields(fields, needed, definitions)}
    if needed:
        made["required"] = needed
    return made


def _fields(fields: Mapping[str, Any], needed: list[str], definitions: Mapping[str, Any]) -> Schema:
    made = Schema()
    for name, field in fields.items():
        short = _short(field, definitions)
        made[name] = (short if name in needed else _without_null(short)) or ANY
    return made


def _short(schema: Mapping[str, Any], definitions: Mapping[str, Any]) -> Schema:
    schema = _resolve(schema, definitions)
    if "properties" in schema:
        return object_schema({**schema, "$defs": definitions})
    made = Schema()
    for word, value in schema.items():
        if word == "anyOf":
            made[word] = [_short(form, definitions) for form in value]
        elif word == "items":
            made[word] = _short(value, definitions)
        elif word not in _LEFT_OUT:
            made[word] = value
    if "enum" in made:
        made.pop("type", None)
    return _one_type(made)


def _resolve(schema: Mapping[str, Any], definitions: Mapping[str, Any]) -> Mapping[str, Any]:
    while "$ref" in schema:
        schema = definitions[str(schema["$ref"]).rsplit("/", 1)[-1]]
    return schema


def _one_type(schema: Schema) -> Schema:
    """Alternatives that are nothing but a type each, as a list of types."""
    forms = schema.get("anyOf")
    if not forms or any(form.keys() != {"type"} for form in forms):
        return schema
    others = {word: value for word, value in schema.items() if word != "anyOf"}
    return {**others, "type": [form["type"] for form in forms]}


def _without_null(schema: Schema) -> Schema:
    """A field that may be away has no need of null."""
    made = dict(schema)
    if isinstance(made.get("type"), list):
        types = [name for name in made["type"] if name != "null"]
        made["type"] = types[0] if len(types) == 1 else types
    forms = [form for form in made.get("anyOf", ()) if form != {"type": "null"}]
    if len(forms) == 1:
        del made["anyOf"]
        made |= forms[0]
    elif forms:
        made = _one_type({**made, "anyOf": forms})
    return made


def _type_alone(schema: Schema) -> Schema:
    """The type of a field of an answer: what is inside it is seen when it comes."""
    if "type" in schema:
        return {"type": schema["type"]}
    if "anyOf" in schema:
        return {"type": [form["type"] for form in schema["anyOf"]]}
    return dict(ANY) if "enum" not in schema else {"enum": schema["enum"]}
