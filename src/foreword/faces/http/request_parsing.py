"""Read what a request carries: JSON that means one thing only, parameters, names in the path.
All else is refused."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterable, Mapping
from typing import Annotated, Any, NoReturn, TypeVar, get_args
from urllib.parse import unquote

from pydantic import BaseModel, ConfigDict, ValidationError, WithJsonSchema
from pydantic_core import ErrorDetails
from starlette.requests import Request

from foreword.errors import did_you_mean
from foreword.faces.http.problems import ProblemResponse
from foreword.pattern import lazy_pattern
from foreword.recipe.schema import LARGEST_AMOUNT
from foreword.store.database import LARGEST_NUMBER

Model = TypeVar("Model", bound=BaseModel)
MOST_DEPTH = 100  # of nested JSON: far from where Python's own recursion ends, and no data has it
MOST_PROBLEMS = 20  # of a body that are named: enough to mend it, and an answer that stays short
DESCRIBED = "GET /openapi.json describes what every route takes"
# Characters of a problem's title, and of a name in it: what a client sent is repeated, not echoed
# at any length.
LONGEST_TITLE = 300
LONGEST_NAME = 60
PLAIN_WORDS = {  # where pydantic's words would name our own types, or Python's
    "model_type": "must be an object, as in {...}",
    "dict_type": "must be an object, as in {...}",
    "list_type": "must be a list, as in [...]",
    "string_type": "must be text",
    "int_type": "must be a whole number",
    "bool_type": "must be true or false",
    "missing": "is missing",
}
# how pydantic ends the place of an error where one of several kinds was tried
KINDS = frozenset(("int", "str", "constrained-str", "dict[str,any]", "list[any]"))
_WHOLE = lazy_pattern(r"-?[0-9]{1,19}")


# How many tokens; what is none is the runtime's to refuse, in the words that it has everywhere.
Tokens = Annotated[
    int, WithJsonSchema({"type": "integer", "minimum": 1, "maximum": LARGEST_AMOUNT})
]


class RequestInput(BaseModel):
    """What a body or a query may have: these fields, each of its own type, and no others."""

    model_config = ConfigDict(extra="forbid", strict=True)


def example(value: dict[str, Any]) -> ConfigDict:
    """The configuration of a body that has an example; the description shows it, and so does a
    refusal."""
    return ConfigDict(json_schema_extra={"examples": [value]})


async def json_bytes(request: Request) -> bytes:
    """The body, if it says that it is JSON."""
    kind = request.headers.get("content-type", "").partition(";")[0].strip().lower()
    if kind != "application/json":
        raise ProblemResponse(
            415,
            "wrong_content_type",
            "the body must be JSON",
            "send it with Content-Type: application/json",
        )
    if request.headers.get("content-encoding", "identity").strip().lower() != "identity":
        raise ProblemResponse(
            415,
            "wrong_content_type",
            "the body is compressed",
            "send it as it is, without Content-Encoding",
        )
    return await request.body()


def parse_json(body: bytes) -> Any:
    """The value of a JSON text in UTF-8: no key twice, no number that JSON does not know, not
    nested without end."""
    try:
        value = json.loads(
            body.decode(), object_pairs_hook=_without_repeats, parse_constant=_no_constant
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
        400, "not_json", f"the body can't be read as JSON: {why}"[:LONGEST_TITLE], DESCRIBED
    )


def _without_repeats(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    made = dict(pairs)
    if len(made) != len(pairs):
        raise ValueError(f"the key {_first_repeated(pairs)[:LONGEST_NAME]!r} is there twice")
    return made


def _first_repeated(pairs: Iterable[tuple[str, Any]]) -> str:
    """The name that comes first of those that are there more than once; one must be."""
    counts = Counter(name for name, _ in pairs)
    return next(name for name, count in counts.items() if count > 1)


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


def query(request: Request, model: type[Model]) -> Model:
    """The parameters as the model has them; each may be there once."""
    pairs = request.query_params.multi_items()
    if len({name for name, _ in pairs}) != len(pairs):
        title = f"the parameter {_first_repeated(pairs)[:LONGEST_NAME]!r} is there twice"
        raise ProblemResponse(400, "bad_request", title)
    if any("\0" in value for _, value in pairs):
        raise ProblemResponse(400, "bad_request", "a parameter has a NUL in it")
    kinds = {field.alias or name: field.annotation for name, field in model.model_fields.items()}
    values = {name: _convert(value, kinds.get(name)) for name, value in pairs}
    return validate(model, values, "query")


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


def validate(model: type[Model], value: object, where: str) -> Model:
    """The value as the model has it, or a refusal that names every place that is wrong."""
    try:
        return model.model_validate(value)
    except ValidationError as error:
        problems = [line[:LONGEST_TITLE] for line in _problem_lines(error, model, where)]
        title = problems[0]
        if len(problems) > 1:
            title = f"{len(problems)} problems, the first: {title}"
        raise ProblemResponse(
            400, "bad_request", title, _hint(model), problems=problems[:MOST_PROBLEMS]
        ) from None


def _hint(model: type[BaseModel]) -> str:
    extra = model.model_config.get("json_schema_extra")
    if not isinstance(extra, dict):
        return DESCRIBED
    return f"for example {json.dumps(extra['examples'][0])}"  # type: ignore[index]


def _problem_lines(error: ValidationError, model: type[BaseModel], where: str) -> list[str]:
    """What is wrong, a line for each place; where one of several kinds is wanted, they are named
    together."""
    complaints_by_place = dict[str, list[str]]()
    for wrong in error.errors(include_url=False):
        place, _, complaint = _problem_line(wrong, model, where).partition(": ")
        complaints_by_place.setdefault(place, []).append(complaint)
    lines = list[str]()
    for place, complaints in complaints_by_place.items():
        alternatives = " or ".join(complaints).replace(" or must be ", " or ")
        lines.append(f"{place}: {alternatives}")
    return lines


def _problem_line(wrong: ErrorDetails, model: type[BaseModel], where: str) -> str:
    """What is wrong in one place, in words that name nothing of ours."""
    kind = wrong["type"]
    path = wrong["loc"]
    if path and path[-1] in KINDS:
        path = path[:-1]
    if kind == "extra_forbidden" and len(path) == 1:
        known = [field.alias or name for name, field in model.model_fields.items()]
        guess = did_you_mean(str(path[0])[:LONGEST_NAME], known)
        also = f"did you mean {guess!r}?" if guess else f"known: {', '.join(known) or 'none'}"
        return f"{_place(where, path)[:LONGEST_NAME]}: unknown name, {also}"
    return f"{_place(where, path)}: {PLAIN_WORDS.get(kind, wrong['msg'])}"


def _place(where: str, path: tuple[int | str, ...]) -> str:
    place = where
    for step in path:
        place += f"[{step}]" if isinstance(step, int) else f".{step}"
    return place


def path_of(params: Mapping[str, str]) -> dict[str, str]:
    """The names in a path, decoded here: routes are found by the raw path, so that a name may
    have a slash in it."""
    try:
        names = {name: unquote(value, errors="strict") for name, value in params.items()}
    except UnicodeDecodeError:
        raise ProblemResponse(400, "bad_request", "a name in the path is not UTF-8") from None
    if any("\0" in name for name in names.values()):
        raise ProblemResponse(400, "bad_request", "a name in the path has a NUL in it")
    return names
