"""What pydantic finds wrong with outside data, in plain words and with the path to each place.

Every shape that comes in is a pydantic model, and this is the one place where its errors become
sentences: of plans, nodes and the inputs of operations. Which error they end in is the caller's
business.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import cache
from typing import Annotated, Any, get_args

from pydantic import (
    AfterValidator,
    BaseModel,
    BeforeValidator,
    ConfigDict,
    Field,
    Strict,
    ValidationError,
)
from pydantic_core import ErrorDetails, PydanticCustomError

from foreword.errors import did_you_mean
from foreword.plan.value_words import LONGEST_NAME, not_one_of, value_in_words

# That are put into words: a guess for an unknown name takes 0.1 ms, and a body of 16 MB may have a
# million of them.
MOST_ERRORS = 1_000
LARGEST = 2**63 - 1  # of a whole number, as databases store them
# Beyond what JSON's readers hold exactly, the limit itself says nothing to a person.
_EXACT = 2**53
_WRONG_TYPE = {
    "model_type": "a mapping",
    "model_attributes_type": "a mapping",
    "dict_type": "a mapping",
    "list_type": "a list",
    "string_type": "text",
    "int_type": "a whole number",
    "int_from_float": "a whole number",
    "float_type": "a number",
    "finite_number": "a number",
    "bool_type": "true or false",
    "wrong_kind": "",  # ours, whose message is the words
}
# How pydantic ends the place of an error where one of several kinds was tried.
_KINDS = frozenset("int float str bool constrained-int constrained-str".split())
_KIND_BEGINNINGS = ("function-", "list[", "dict[")


class DataShape(BaseModel):
    """A shape of data from outside; fields that it does not know are kept by whoever reads it."""

    model_config = ConfigDict(defer_build=True)


def _require_text(text: str) -> str:
    if not text.strip():
        raise PydanticCustomError("empty", "must not be empty")
    return text


Text = Annotated[str, Strict()]
FilledText = Annotated[
    str, Strict(), AfterValidator(_require_text), Field(json_schema_extra={"pattern": r"\S"})
]
Whole = Annotated[int, Strict(), Field(ge=-LARGEST, le=LARGEST)]
Flag = Annotated[bool, Strict()]
# What something is known by: a whole number or a text.
Identity = FilledText | Whole


def wrong_kind(words: str) -> PydanticCustomError:
    """The error of a validator of ours for a value that is not `words`, as in "a number"."""
    return PydanticCustomError("wrong_kind", "{words}", {"words": words})


def one_of(options: Sequence[str]) -> BeforeValidator:
    """Of a field that is one of a few words."""

    def check(value: object) -> object:
        if value not in options:
            raise wrong_word(value, options)
        return value

    return BeforeValidator(check)


def wrong_word(value: object, options: Sequence[str]) -> PydanticCustomError:
    """The error of a validator of ours for a value that is none of a few words."""
    return PydanticCustomError("wrong_word", "{words}", {"words": not_one_of(value, options)})


def problems(shape: type[BaseModel], value: object, place: tuple[int | str, ...] = ()) -> list[str]:
    """What is wrong with a value that stands in a place, a line for each place in it; nothing where
    it has the shape."""
    try:
        shape.model_validate(value)
    except ValidationError as error:
        return list(problem_lines(error, shape, place))
    return []


def problem_lines(
    error: ValidationError,
    shape: type[BaseModel],
    around: tuple[int | str, ...] = (),
    *,
    whole: str = "",
) -> Iterator[str]:
    """What is wrong in each place; where one of several kinds was wanted, they are named together.

    `around` is where the value stands, `whole` what it is called where it stands nowhere.
    """
    for _, path, words in problem_places(error, shape, around):
        path = path or whole
        yield f"{path}: {words}" if path else words


def problem_places(
    error: ValidationError, shape: type[BaseModel], around: tuple[int | str, ...] = ()
) -> Iterator[tuple[tuple[int | str, ...], str, str]]:
    """What is wrong in each place: the place, the same as people write it, and the words."""
    complaints = dict[tuple[int | str, ...], list[ErrorDetails]]()
    for wrong in error.errors(include_url=False)[:MOST_ERRORS]:
        complaints.setdefault(_place(wrong), []).append(wrong)
    for place, together in complaints.items():
        whole_place = (*around, *place)
        yield whole_place, dotted_path(whole_place), _words(together, shape)


def dotted_path(place: Iterable[int | str]) -> str:
    """A place in a value as people write it: `phases[1].tasks[0].status`."""
    path = ""
    for step in place:
        path += f"[{step}]" if isinstance(step, int) else f".{step[:LONGEST_NAME]}"
    return path.lstrip(".")


def _place(wrong: ErrorDetails) -> tuple[int | str, ...]:
    # a validator of ours may say where in its value the problem is
    place = (*wrong["loc"], *wrong.get("ctx", {}).get("place", ()))
    while place and _is_kind(place[-1]):
        place = place[:-1]
    return place


def _is_kind(step: int | str) -> bool:
    return isinstance(step, str) and (step in _KINDS or step.startswith(_KIND_BEGINNINGS))


def _words(together: list[ErrorDetails], shape: type[BaseModel]) -> str:
    """The complaints about one place as one sentence."""
    wanted = [_wanted_type(wrong) for wrong in together]
    if all(wanted):
        kinds = " or ".join(dict.fromkeys(wanted))
        return f"must be {kinds}, not {value_in_words(together[0]['input'])}"
    for wrong in together:
        if not _wanted_type(wrong):  # the kind was right, and this is what is wrong with it
            return _complaint(wrong, shape)
    raise AssertionError("a place without a complaint")


def _wanted_type(wrong: ErrorDetails) -> str:
    if wrong["type"] == "wrong_kind":
        return wrong["msg"]
    return _WRONG_TYPE.get(wrong["type"], "")


def _complaint(wrong: ErrorDetails, shape: type[BaseModel]) -> str:
    kind = wrong["type"]
    facts = wrong.get("ctx", {})
    given = wrong["input"]
    if kind == "missing":
        return f"missing{_mistyped_name(str(wrong['loc'][-1]), given, shape)}"
    if kind == "extra_forbidden":
        return f"unknown name, {_nearest_name(str(wrong['loc'][-1]), wrong['loc'], shape)}"
    if kind == "literal_error":
        # pydantic's words: 'a', 'b' or 'c'
        options = facts["expected"].replace(" or ", ", ").split(", ")
        return not_one_of(given, [option.strip("'") for option in options])
    if kind in ("greater_than_equal", "less_than_equal", "greater_than"):
        return _outside(given, kind, facts)
    if kind in ("string_too_long", "too_long"):
        what = "characters" if kind == "string_too_long" else "elements"
        return f"must have at most {facts['max_length']:,} {what}, not {len(given):,}"
    if kind in ("string_too_short", "too_short"):
        return "must not be empty"
    if kind == "string_pattern_mismatch":
        return f"must match {facts['pattern']}"
    return wrong["msg"].removeprefix("Input should ").removeprefix("Value error, ")


def _outside(given: object, kind: str, facts: Mapping[str, Any]) -> str:
    limit = facts.get("ge", facts.get("le", facts.get("gt")))
    assert isinstance(limit, int | float)
    if abs(limit) > _EXACT:
        return "must be a smaller number"
    rule = {"greater_than_equal": "at least", "greater_than": "more than"}.get(kind, "at most")
    shown = int(limit) if limit == int(limit) else limit
    return f"must be {rule} {shown:,}, not {value_in_words(given)}"


def _mistyped_name(name: str, given: object, shape: type[BaseModel]) -> str:
    """Which of the fields that are there may have been meant for one that is not."""
    if not isinstance(given, Mapping):
        return ""
    known = _all_names(shape)
    strange = [str(key)[:LONGEST_NAME] for key in given if key not in known]
    guess = did_you_mean(name, strange)
    return f", is it {guess!r}?" if guess else ""


def _nearest_name(name: str, place: tuple[int | str, ...], shape: type[BaseModel]) -> str:
    around = _shape_at(shape, place[:-1])
    known = field_names(around) if around else sorted(_all_names(shape))
    guess = did_you_mean(name[:LONGEST_NAME], known)
    return f"did you mean {guess!r}?" if guess else f"known: {', '.join(known) or 'none'}"


def _shape_at(shape: type[BaseModel], place: tuple[int | str, ...]) -> type[BaseModel] | None:
    """The shape that holds in a place; None where it may be one of several."""
    for step in place:
        fields = {field.alias or name: field for name, field in shape.model_fields.items()}
        inner = [shape]
        if step in fields:
            inner = list(_inner_shapes(fields[str(step)].annotation))
        if len(inner) != 1:
            return None
        shape = inner[0]
    return shape


@cache
def _all_names(shape: type[BaseModel]) -> frozenset[str]:
    """The names of all fields of a shape and of those inside it."""
    names = set(field_names(shape))
    for field in shape.model_fields.values():
        for inner in _inner_shapes(field.annotation):
            if inner is not shape:
                names |= _all_names(inner)
    return frozenset(names)


def field_names(shape: type[BaseModel]) -> list[str]:
    """The names of the fields of a shape, as its data has them."""
    return [field.alias or name for name, field in shape.model_fields.items()]


def _inner_shapes(annotation: object) -> Iterator[type[BaseModel]]:
    if isinstance(annotation, type) and issubclass(annotation, BaseModel):
        yield annotation
    for argument in get_args(annotation):
        yield from _inner_shapes(argument)
