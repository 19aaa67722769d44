"""What every shape needs to read: where wrong input stands, arguments and ids of calls, addresses
of pictures, and characters that no provider takes."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from hashlib import sha256
from math import isfinite
from typing import Any

from foreword.errors import BadSource, did_you_mean
from foreword.messages.message import KINDS, ROLES, Kind, Role
from foreword.messages.parts import Image
from foreword.pattern import lazy_pattern

Fields = dict[str, Any]
# The roles of shapes that call them as we do; in many a result is no message of its own.
SPEAKERS: dict[str, Role] = {role: role for role in ROLES if role != "tool"}
SAME_ROLES: dict[str, Role] = {role: role for role in ROLES}
SHORT_ID = lazy_pattern("[^\x00\ud800-\udfff]{1,64}")  # what OpenAI takes for the id of a call
_UNSENT = lazy_pattern("[\x00\ud800-\udfff]")


@dataclass(slots=True)
class FieldPath:
    """A place in the input, for errors."""

    where: str
    path: str

    def __truediv__(self, step: str) -> FieldPath:
        return FieldPath(self.where, self.path + step)

    def wrong(self, problem: str, *, hint: str = "") -> BadSource:
        """The error that names this place."""
        return BadSource(self.where, f"{self.path}: {problem}", hint=hint)

    def none_of(self, value: object, known: Iterable[str]) -> BadSource:
        """The error that names this place and what could stand there."""
        known = tuple(known)
        problem = f"{value!r} is not one of {', '.join(known)}"
        guess = did_you_mean(value, known) if isinstance(value, str) else ""
        if guess:
            problem += f", did you mean {guess!r}?"
        return self.wrong(problem)

    def role(self, value: Mapping[str, Any], roles: Mapping[str, Role]) -> Role:
        """Who says a message, by what its shape calls the roles."""
        role = roles.get(str(value.get("role")))
        if role is None:
            raise (self / ".role").none_of(value.get("role"), roles)
        return role

    def text(self, value: Mapping[str, Any], name: str) -> str:
        """The field of that name as text, nothing for null."""
        text = value.get(name)
        if isinstance(text, str):
            return text
        if text is None:
            return ""
        raise (self / f".{name}").wrong(f"must be text, not {type(text).__name__}")

    def needed_text(self, value: Mapping[str, Any], name: str) -> str:
        """The field of that name as text; an error where it is not there."""
        if value.get(name) is None:
            raise (self / f".{name}").wrong("is missing")
        return self.text(value, name)

    def first_text(self, value: Mapping[str, Any], *names: str) -> str:
        """The text of the first of these fields that has one; an error where none has."""
        for name in names:
            text = self.text(value, name)
            if text:
                return text
        return self.needed_text(value, names[0])

    def mapping(self, value: object, of: str = "a mapping with a type") -> Mapping[str, Any]:
        """The value as a mapping."""
        if type(value) is dict or isinstance(value, Mapping):
            return value
        raise self.wrong(f"must be {of}")

    def sequence(self, value: object, of: str = "a list") -> Sequence[Any]:
        """The value as a list."""
        if isinstance(value, Sequence) and not isinstance(value, str | bytes):
            return value
        raise self.wrong(f"must be {of}")

    def each(self, value: object, of: str = "a list") -> list[tuple[Any, FieldPath]]:
        """The items of a list, each with its place."""
        return [(item, self / f"[{index}]") for index, item in enumerate(self.sequence(value, of))]

    def items(self, value: Mapping[str, Any], name: str) -> list[tuple[Any, FieldPath]]:
        """The items of a list in a field, each with its place; none where it is not set."""
        return (self / f".{name}").each(value.get(name) or ())

    def only(self, value: Mapping[str, Any], name: str) -> tuple[Any, FieldPath]:
        """The one item of a list of replies, with its place."""
        replies = self.items(value, name)
        if len(replies) != 1:
            problem = f"there are {len(replies)} replies, and one can be read"
            raise (self / f".{name}").wrong(problem)
        return replies[0]


def part_types(content: object) -> set[str]:
    """The types of the blocks in a content."""
    parts = content if isinstance(content, list) else ()
    return {str(part.get("type")) for part in parts if isinstance(part, dict)}


def has_field(content: object, name: str) -> bool:
    """Whether a block of a content has this field."""
    parts = content if isinstance(content, list) else ()
    return any(isinstance(part, dict) and name in part for part in parts)


def kind_of(value: Mapping[str, Any], at: FieldPath) -> Kind:
    """What a message says it is."""
    kind = value.get("kind", "conversation")
    if kind not in KINDS:
        raise (at / ".kind").none_of(kind, KINDS)
    return kind  # type: ignore[no-any-return]


def without_kind(value: Mapping[str, Any]) -> Mapping[str, Any]:
    """A message without what it says it is here, which is no field of any provider's."""
    if "kind" not in value:
        return value
    return {name: value[name] for name in value if name != "kind"}


def as_object(arguments: str) -> Fields:
    """The arguments of a call as the object that they should be."""
    if not arguments.strip():
        return {}
    value = json_or_text(replace_unsent(arguments))
    return value if isinstance(value, dict) else {"arguments": value}


def json_or_text(text: str) -> Any:
    """The value of a JSON text; a text that is no JSON as it is."""
    try:
        return json.loads(text)
    except (ValueError, RecursionError):
        return text


def as_arguments(arguments: str) -> str:
    """The arguments of a call as JSON: as the model wrote them, but for what no provider takes."""
    try:
        text = replace_unsent(arguments)
        value = json.loads(text)
        clean = sendable(value)
    except (ValueError, RecursionError):
        return arguments
    return text if clean == value else json.dumps(clean, ensure_ascii=False)


def sendable(value: Any) -> Any:
    """Return a copy of a JSON value that every provider takes: U+FFFD for NUL and half characters,
    null for a number that JSON does not have."""
    if isinstance(value, str):
        return replace_unsent(value)
    if isinstance(value, dict):
        return {replace_unsent(name): sendable(member) for name, member in value.items()}
    if isinstance(value, list | tuple):
        return [sendable(member) for member in value]
    return None if isinstance(value, float) and not isfinite(value) else value


def replace_unsent(text: str) -> str:
    """The text with U+FFFD for NUL and half characters."""
    if text.isascii() and "\x00" not in text:
        return text
    return _UNSENT.sub("\ufffd", text)


def id_for(call: str, allowed: re.Pattern[str]) -> str:
    """The id of a call as a provider takes it; in place of any other one that is made from it,
    the same every time."""
    if allowed.fullmatch(call):
        return call
    return f"call_{sha256(call.encode('utf-8', 'surrogatepass')).hexdigest()[:32]}"


def image_from_address(address: str) -> Image:
    """The image behind an address, which may hold the image itself."""
    head, found, data = address.partition(";base64,")
    if found and head.startswith("data:") and "," not in head:
        return Image(head[5:], data)
    return Image(url=address)


def address_of(image: Image) -> str:
    """One address for an image, whether it is here or elsewhere."""
    return f"data:{image.media_type};base64,{image.data}" if image.data else image.url
