"""What every shape needs: fields nobody here reads, blocks of a tool's answer, and where wrong
input stands.

Foreign fields are carried as the JSON of `{shape: fields}` and come back only for that shape. A
tool's answer is one text and the rest; how its blocks stood is such a foreign field, too, unless it
is the usual way. What JSON or UTF-8 can't hold is carried as it came, and replaced where it would
go to a provider.
"""

from __future__ import annotations

import json
import re
from bisect import bisect_left
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from hashlib import sha256
from math import isfinite
from typing import Any

from foreword.errors import BadSource, did_you_mean
from foreword.formats.content_fields import field_says_something, words_in
from foreword.message import (
    CACHE_MARKS,
    KINDS,
    Image,
    Kind,
    Message,
    Opaque,
    Part,
    Role,
    Text,
    Thinking,
    ToolResult,
    part_text,
)
from foreword.pattern import lazy_pattern

Fields = dict[str, Any]
SHORT_ID = lazy_pattern("[^\x00\ud800-\udfff]{1,64}")  # what OpenAI takes for the id of a call
_UNSENT = lazy_pattern("[\x00\ud800-\udfff]")
_HALVES = r"u[dD][89abAB][0-9a-fA-F]{2}\\u[dD][c-fC-F][0-9a-fA-F]{2}"  # two that are one character
_LONE = r"u(?:0000|[dD][89a-fA-F][0-9a-fA-F]{2})"
_ESCAPE = lazy_pattern(rf"\\(?:{_HALVES}|(?P<unsent>{_LONE})|.)", re.DOTALL)
OPENAI_SHAPES = ("openai", "openai_responses")  # its two APIs
# how the blocks of an answer stood: the length of each text, null for anything else
LAYOUT = "blocks"
# a message whose one text came as a list of parts, where a text is the usual form
LISTED = "content_is_list"


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

    def unknown_content(self) -> BadSource:
        """The error for what would be lost if the rest were read."""
        return self.wrong(
            "not understood, and a message is read whole or not at all",
            hint="`foreword session import --help` says what is read",
        )

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

    def missing_type(self, part: Mapping[str, Any], name: str = "type") -> BadSource:
        """The error for a part that has no type."""
        return (self / f".{name}").wrong(f"{part.get(name)!r} is no type of a part")

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

    def one_text(self, value: Mapping[str, Any], *names: str) -> str:
        """The text that stands in one of several fields; an error where another says more."""
        said = ""
        for name in names:
            text = self.text(value, name)
            if said and text not in ("", said):
                raise (self / f".{name}").unknown_content()
            said = said or text
        return said

    def mapping(self, value: object, of: str = "a mapping with a type") -> Mapping[str, Any]:
        """The value as a mapping."""
        if isinstance(value, Mapping):
            return value
        raise self.wrong(f"must be {of}")

    def sequence(self, value: object, of: str = "a list") -> Sequence[Any]:
        """The value as a list."""
        if isinstance(value, Sequence) and not isinstance(value, str | bytes):
            return value
        raise self.wrong(f"must be {of}")


def to_json(value: object) -> str:
    """Compact and unsorted: the order of the keys is the author's."""
    return json.dumps(value, ensure_ascii=False)


def pack_extra(shape: str, fields: Mapping[str, Any]) -> str:
    """Foreign fields as they are carried; nothing for none."""
    return to_json({shape: fields}) if fields else ""


def add_to_extra(extra: str, shape: str, fields: Mapping[str, Any]) -> str:
    """`extra` with the foreign fields of one more shape added."""
    shapes = json.loads(extra) if extra else {}
    return to_json({**shapes, shape: fields})


def unpack_extra(extra: str, shape: str) -> Fields:
    """The foreign fields that belong to this shape."""
    shapes = load_sendable(extra) if extra else None
    fields = shapes.get(shape) if isinstance(shapes, dict) else None
    return fields if isinstance(fields, dict) else {}


def unknown_fields(value: Mapping[str, Any], known: frozenset[str], at: FieldPath) -> Fields:
    """The fields of a mapping that nobody here reads; an error where one says something.

    They are carried along: ids, sizes, marks of a provider. What was said must not be among them,
    since it would never reach a context.
    """
    if value.keys() <= known:  # nearly always
        return {}
    fields = Fields()
    for name, field in value.items():
        if name not in known and field is not None:  # a null says nothing, and no API takes all
            fields[name] = field
    for name, field in fields.items():
        if field_says_something(name, field):
            raise (at / f".{name}").unknown_content()
    return fields


def kind_of(value: Mapping[str, Any], at: FieldPath) -> Kind:
    """What a message says it is."""
    kind = value.get("kind", "conversation")
    if kind not in KINDS:
        raise (at / ".kind").none_of(kind, KINDS)
    return kind  # type: ignore[no-any-return]


def openai_role(message: Message) -> str:
    """Who says a message for both APIs of OpenAI: what a developer said in one of them, a
    developer says in the other."""
    if message.role == "tool":
        return "user"
    if message.role == "system" and '"developer"' in message.extra:
        for shape in OPENAI_SHAPES:
            if unpack_extra(message.extra, shape).get("role") == "developer":
                return "developer"
    return message.role


def listed_mark(content: object, parts: Sequence[Part]) -> Fields:
    """The mark of content that is a list of one plain text."""
    is_plain = len(parts) == 1 and isinstance(parts[0], Text) and not parts[0].extra
    return {LISTED: True} if isinstance(content, list) and is_plain else {}


def opaque(block: Mapping[str, Any], shape: str, kind: str = "type") -> Opaque:
    """A block that is carried as it is, with the words in it."""
    name = str(block.get(kind, ""))
    words = words_in({key: block[key] for key in block if key != kind})
    return Opaque(to_json(block), shape, name, words)


def arguments_of(value: object) -> str:
    """The arguments of a call: text as the model wrote it, anything else as JSON."""
    if isinstance(value, str):
        return value
    return "" if value is None else to_json(value)


def as_object(arguments: str) -> dict[str, Any]:
    """The arguments of a call as the object that they should be."""
    if not arguments.strip():
        return {}
    try:
        value = load_sendable(arguments)
    except (ValueError, RecursionError):
        return {"arguments": replace_unsent(arguments)}
    return value if isinstance(value, dict) else {"arguments": value}


def as_arguments(arguments: str) -> str:
    """The arguments of a call as JSON: as the model wrote them, but for what no provider takes."""
    text = _without_unsent(arguments)
    not_in_json = list[str]()  # NaN, Infinity
    try:
        json.loads(text, parse_constant=not_in_json.append)
    except (ValueError, RecursionError):
        return replace_unsent(arguments)
    return to_json(load_sendable(arguments)) if not_in_json else text


def load_sendable(text: str) -> Any:
    """The value of a JSON text; NUL and half characters in it are U+FFFD, and numbers that JSON
    does not have null."""
    return _DECODER.decode(_without_unsent(text))


def _finite(digits: str) -> float | None:
    number = float(digits)
    return number if isfinite(number) else None


_DECODER = json.JSONDecoder(parse_constant=lambda _: None, parse_float=_finite)


def _without_unsent(text: str) -> str:
    """The JSON text with U+FFFD for NUL and half characters, plain or escaped."""
    if "\\u" in text:
        text = _ESCAPE.sub(lambda found: "\\ufffd" if found["unsent"] else found[0], text)
    return replace_unsent(text)


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


def parts_for_shape(message: Message, shape: str) -> list[Part]:
    """The parts of a message as this shape can take them.

    In place of what the provider can't take stand its words, or a mark; no marks in the assistant's
    own messages, where a model would learn to write them. Thinking goes to nobody but its own
    provider. A speaker's name is words where the shape has no field for it.
    """
    parts = [part_for_shape(part, shape) for part in message.parts]
    if message.role == "assistant":
        said = list[Part]()
        for part, own in zip(parts, message.parts, strict=True):
            has_words = isinstance(own, Opaque) and own.text
            if part is not None and (part is own or has_words):
                said.append(part)
        return said
    said = list[Part]()
    for part in parts:
        if part is not None and not isinstance(part, Thinking):
            said.append(part)
    has_name_field = "name" in unpack_extra(message.extra, shape)
    if message.speaker and not has_name_field:
        return _with_speaker(said, message.speaker)
    return said


def _with_speaker(parts: list[Part], speaker: str) -> list[Part]:
    """The parts with the name of who says them in front, as in the text of a message."""
    if all(isinstance(part, Text) and not part.text.strip() for part in parts):
        return parts
    first = parts[0]
    if isinstance(first, Text):
        return [replace(first, text=f"{speaker}: {first.text}"), *parts[1:]]
    return [Text(f"{speaker}:"), *parts]


def part_for_shape(part: Part, shape: str) -> Part | None:
    """The part itself, words in its place, or nothing."""
    match part:
        case Text("", extra) if extra:  # a signature that only its own provider reads
            return part if unpack_extra(extra, shape) else None
        case Thinking():
            return part if part.shape == shape else None
        case Opaque(name=name) if name in CACHE_MARKS:
            return part if part.shape == shape else None
        case Opaque():
            return part if part.shape == shape else Text(part_text(part))
        case Image(_, "", ""):
            return part if unpack_extra(part.extra, shape) else Text(part_text(part))
        case _:
            return part


# --- images ---------------------------------------------------------------------------------------


def image_from_address(address: str) -> Image:
    """The image behind an address, which may hold the image itself."""
    head, found, data = address.partition(";base64,")
    if found and head.startswith("data:") and "," not in head:
        return Image(head[5:], data)
    return Image(url=address)


def address_of(image: Image) -> str:
    """One address for an image, whether it is here or elsewhere."""
    return f"data:{image.media_type};base64,{image.data}" if image.data else image.url


# --- the answer of a tool -------------------------------------------------------------------------


def read_answer(
    content: object, read: Callable[[Any, int], Part]
) -> tuple[str, tuple[Image | Opaque, ...], Fields]:
    """The words of an answer, the rest of it, and how they stood, if not as `write_answer` would
    put them."""
    if isinstance(content, str):
        return content, (), {}
    if content is None:
        return "", (), {}
    if not isinstance(content, list):
        return to_json(content), (), {}
    parts = [read(block, index) for index, block in enumerate(content)]
    texts = [part for part in parts if isinstance(part, Text)]
    rest = tuple(part for part in parts if isinstance(part, Image | Opaque))
    text = "\n".join(part.text for part in texts)
    if parts == _usual_parts(text, rest):
        return text, rest, {}
    layout = list[list[Any] | None]()
    for part in parts:
        layout.append([len(part.text), part.extra] if isinstance(part, Text) else None)
    return text, rest, {LAYOUT: layout}


def _usual_parts(text: str, rest: Iterable[Image | Opaque]) -> list[Part]:
    """An answer in the usual order: its words, then the rest."""
    return [Text(text), *rest] if text else list(rest)


def write_answer(
    result: ToolResult, layout: Any, shape: str, write: Callable[[Part], Any]
) -> str | list[Any]:
    """The content of an answer: as it stood if it still can, else the words and then the rest."""
    parts = _parts_by_layout(result, layout) if isinstance(layout, list) else None
    if parts is None:
        if not result.rest:
            return result.text
        parts = _usual_parts(result.text, result.rest)
    parts = [part_for_shape(part, shape) or part for part in parts]
    if len(parts) == 1 and isinstance(parts[0], Text) and not unpack_extra(parts[0].extra, shape):
        return parts[0].text
    return [write(part) for part in parts]


def _parts_by_layout(result: ToolResult, layout: list[Any]) -> list[Part] | None:
    """The parts as they once stood; None where the answer has changed since."""
    lengths = [entry[0] for entry in layout if entry is not None]
    line_ends = max(0, len(lengths) - 1)
    if sum(lengths) + line_ends != len(result.text):
        return None
    if layout.count(None) != len(result.rest):
        return None
    if any(result.text[end] != "\n" for end in _joints(lengths)):
        return None
    parts = list[Part]()
    rest = iter(result.rest)
    start = 0
    for entry in layout:
        if entry is None:
            parts.append(next(rest))
            continue
        end = start + entry[0]
        parts.append(Text(result.text[start:end], entry[1]))
        start = end + 1
    return parts


def resized_layout(extra: str, places: Sequence[int], more: int) -> str:
    """`extra` of an answer whose text has grown by `more` characters at each of these places, in
    order."""
    try:
        shapes = json.loads(extra)
    except (ValueError, RecursionError):
        return extra
    for fields in shapes.values() if isinstance(shapes, dict) else ():
        layout = fields.get(LAYOUT) if isinstance(fields, dict) else None
        if isinstance(layout, list):
            _resize_layout(layout, places, more)
    return to_json(shapes)


def _resize_layout(layout: list[Any], places: Sequence[int], more: int) -> None:
    start = 0
    for entry in layout:
        if entry is None:
            continue
        end = start + entry[0]
        growths = bisect_left(places, end) - bisect_left(places, start)
        entry[0] += more * growths
        start = end + 1


def _joints(lengths: Sequence[int]) -> list[int]:
    """Where the line ends stand that join texts of these lengths."""
    ends = list[int]()
    end = -1
    for length in lengths[:-1]:
        end += length + 1
        ends.append(end)
    return ends
