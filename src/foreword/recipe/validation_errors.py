"""What pydantic says about a recipe, as a person would put it.

The place is written as in the recipe, and a misspelt field comes with the one that was probably
meant. Which file and line the place is in is `document`'s business.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import fields, is_dataclass
from typing import Any, get_args, get_type_hints

from foreword.errors import did_you_mean
from foreword.pattern import lazy_pattern
from foreword.recipe.schema import RecipeSpec

PLAIN_WORDS = {
    "a valid tuple": "a list",
    "a valid list": "a list",
    "a valid dictionary": "a mapping",
    "a dictionary": "a mapping",
    "a valid string": "text",
    "a valid integer": "a whole number",
    "a valid boolean": "true or false",
    "a valid number": "a number",
    "String should have at least 1 character": "must not be empty",
    "True": "true",
}
# Of a name that is no field, for a guess: comparing takes the square of its length.
LONGEST_NAME = 100
_QUOTED = lazy_pattern(r"'([^']*)'")


def problem_in_words(error: Mapping[str, Any], place: tuple[str | int, ...]) -> str:
    """A problem of pydantic's as a person would put it, with what was probably meant."""
    path = dotted_path(place)
    if error["type"] == "unexpected_keyword_argument":
        return f"unknown field {path!r}{_suggestion(place[-1], _fields_at(place))}"
    if error["type"] == "missing":
        return f"{path!r} is missing"
    message = str(error["msg"]).removeprefix("Value error, ").removeprefix("Input should be ")
    if error["type"] == "literal_error":
        guess = _suggestion(error["input"], _QUOTED.findall(error["ctx"]["expected"]))
        return f"{path}: must be {PLAIN_WORDS.get(message, message)}{guess}"
    plain = _plain_words(message)
    return f"{path}: {plain if plain.startswith('must') else 'must be ' + plain}"


def _plain_words(message: str) -> str:
    for beginning, words in PLAIN_WORDS.items():
        if message.startswith(beginning):
            return words
    return message


def _suggestion(name: object, known: list[str]) -> str:
    guess = did_you_mean(str(name)[:LONGEST_NAME], known)
    return f", did you mean {guess!r}?" if guess else ""


def dotted_path(place: tuple[str | int, ...]) -> str:
    """A place in a recipe as people write it: `sections.vision.forms[1]`."""
    path = ""
    for step in place:
        if isinstance(step, int):
            path += f"[{step}]"
        elif step not in ("str", "tuple[str, ...]"):  # the branches of a union
            path += f".{step}"
    return path.lstrip(".")


def _fields_at(place: tuple[str | int, ...]) -> list[str]:
    """The fields that the part of a recipe at a place has."""
    part: Any = RecipeSpec
    for step in place[:-1]:
        if isinstance(step, str) and is_dataclass(part):
            part = get_type_hints(part).get(step, part)
        part = _inner_part(part)
    return [field.name for field in fields(part)] if is_dataclass(part) else []


def _inner_part(annotation: Any) -> Any:
    """The part inside `dict[str, Part]` or `Part | None`; anything else as it is."""
    for argument in get_args(annotation):
        if is_dataclass(argument):
            return argument
    return annotation
