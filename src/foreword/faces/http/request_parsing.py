"""Read what a request carries: JSON that means one thing only, parameters, names in the path.
All else is refused."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any, NoReturn, TypeVar, get_args
from urllib.parse import unquote

from pydantic import BaseModel
from starlette.requests import Request

from foreword import aliases
from foreword.errors import BadRequest
from foreword.faces.serving.problem_response import ProblemResponse
from foreword.json_object import LONGEST_NAME, first_repeated, without_repeats
from foreword.operations.operation import OperationInput, input_example, read_input
from foreword.pattern import lazy_pattern
from foreword.store.database import LARGEST_NUMBER

Input = TypeVar("Input", bound=OperationInput)
MOST_DEPTH = 100  # of nested JSON: far from where Python's own recursion ends, and no data has it
DESCRIBED = "GET /openapi.json describes what every route takes"
# Characters of a problem's title: what a client sent is repeated, not echoed at any length.
LONGEST_TITLE = 300
_WHOLE = lazy_pattern(r"-?[0-9]{1,19}")


class RequestInput(OperationInput):
    """What a body or a query may have: these fields, each of its own type, and no others."""


async def json_bytes(request: Request) -> bytes:
    """The body, if it says that it is JSON."""
    kind = request.headers.get("content-type", "").partition(";")[0].strip().lower()
    if kind != "application/json":
        raise ProblemResponse(
            415,
            code="wrong_content_type",
            title="the body must be JSON",
            hint="send it with Content-Type: application/json",
        )
    if request.headers.get("content-encoding", "identity").strip().lower() != "identity":
        raise ProblemResponse(
            415,
            code="wrong_content_type",
            title="the body is compressed",
            hint="send it as it is, without Content-Encoding",
        )
    return await request.body()


def parse_json(body: bytes) -> Any:
    """The value of a JSON text in UTF-8: no key twice, no number that JSON does not know, not
    nested without end."""
    try:
        value = json.loads(
            body.decode(), object_pairs_hook=without_repeats, parse_constant=_no_constant
        )
    except UnicodeDecodeError:
        raise _not_json("it is not UTF-8") from None
    except RecursionError:
        raise _not_json(f"it is nested more than {MOST_DEPTH} deep") from None
    except ValueError as error:  # a number of thousands of digits is one, too
        raise _not_json(str(error)) from None
    if _depth(value) > MOST_DEPTH:
        raise _not_json(f"it is nested more than {MOST_DEPTH} deep")
    return value


def _not_json(why: str) -> ProblemResponse:
    return ProblemResponse(
        400,
        code="not_json",
        title=f"the body can't be read as JSON: {why}"[:LONGEST_TITLE],
        hint=DESCRIBED,
    )


def _no_constant(name: str) -> NoReturn:
    raise ValueError(f"{name} is no JSON")


def _depth(value: object) -> int:
    """How deep a value is nested; counting ends beyond what is allowed."""
    depth = 0
    level = [value]
    while level and depth <= MOST_DEPTH:
        depth += 1
        deeper = list[object]()
        for member in level:
            if isinstance(member, dict):
                deeper += member.values()
            elif isinstance(member, list):
                deeper += member
        level = deeper
    return depth


def query(request: Request, shape: type[Input]) -> Input:
    """The parameters as the shape has them; each may be there once."""
    pairs = request.query_params.multi_items()
    if len({name for name, _ in pairs}) != len(pairs):
        title = f"the parameter {first_repeated(pairs)[:LONGEST_NAME]!r} is there twice"
        raise ProblemResponse(400, code="bad_request", title=title)
    if any("\0" in value for _, value in pairs):
        raise ProblemResponse(400, code="bad_request", title="a parameter has a NUL in it")
    kinds = {field.alias or name: field.annotation for name, field in shape.model_fields.items()}
    values = dict[str, object]()
    for name, value in pairs:
        values[name] = _convert(value, kinds.get(aliases.field_name(name, kinds) or ""))
    return validate(shape, values)


def _convert(value: str, kind: object) -> object:
    """A parameter as its field wants it, where it can be read so; else as it is, to be refused."""
    if _is_of(kind, int) and _WHOLE.fullmatch(value):
        return int(value)
    if _is_of(kind, bool):
        return {"true": True, "false": False}.get(value, value)
    return value


def _is_of(kind: object, wanted: type) -> bool:
    """Whether an annotation has that type in it, as `int | None` has `int`."""
    return kind is wanted or any(_is_of(part, wanted) for part in get_args(kind))


def whole(text: str) -> int | None:
    """A whole number that a store can hold, of digits alone."""
    number = int(text) if _WHOLE.fullmatch(text) else -1
    return number if 0 <= number <= LARGEST_NUMBER else None


def path_value(name: str, text: str, shape: type[BaseModel]) -> str | int:
    """A name in the path as its field wants it; a number that is none leads nowhere."""
    kind = shape.model_fields[name].annotation
    if not _is_of(kind, int) or _is_of(kind, str):
        return text
    found = whole(text)
    if found is None:
        title = f"{name} {text[:LONGEST_NAME]!r} is no whole number"
        raise ProblemResponse(404, code="unknown_name", title=title, hint="for example 1")
    return found


def validate(shape: type[Input], value: object) -> Input:
    """The value as the shape has it, or a refusal that names every place that is wrong."""
    try:
        return read_input(shape, value)
    except BadRequest as refused:
        if input_example(shape) is None:
            refused.hint = DESCRIBED
        raise


def path_of(params: Mapping[str, str]) -> dict[str, str]:
    """The names in a path, decoded here: routes are found by the raw path, so that a name may
    have a slash in it."""
    try:
        names = {name: unquote(value, errors="strict") for name, value in params.items()}
    except UnicodeDecodeError:
        raise ProblemResponse(
            400, code="bad_request", title="a name in the path is not UTF-8"
        ) from None
    if any("\0" in name for name in names.values()):
        raise ProblemResponse(400, code="bad_request", title="a name in the path has a NUL in it")
    return names
