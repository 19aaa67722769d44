"""Read whatever somebody has, texts, dicts, messages or paths, into units in one order.

A `str` is a text, however much it looks like a path: what people said is never opened as a file.
Only a `Path` is read, a folder with all text files below it.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from foreword.errors import BadSource
from foreword.messages.fields import FieldPath
from foreword.messages.message import Message, Role
from foreword.messages.objects import is_plain
from foreword.messages.openai_responses import from_responses
from foreword.messages.parts import Text
from foreword.messages.shapes import is_message, read_any
from foreword.origin import Speakers
from foreword.sources import files
from foreword.sources.items import iso

# Characters: a longer text is a document and has neighbours only inside itself; a list of shorter
# ones is a conversation. Turns of the longest speeches in meetings have about 2,000.
LONGEST_TURN = 4_000
_WHERE = "material"
_ITEM_KEYS = ("text", "body", "message", "description")  # no message has its words here
_TEXT_KEYS = ("text", "content", "body", "message", "description")
_SPEAKER_KEYS = ("speaker", "author", "sender", "from", "user")
_DATE_KEYS = ("date", "timestamp", "created_at", "created", "datetime", "time")
_SESSION_KEYS = ("session", "session_id", "conversation_id", "thread_id", "thread")
# A number between these, of 1990 and of 2100, is a moment in seconds and no other number.
_EPOCH_SECONDS = 631_152_000
_LATEST_SECONDS = 4_102_444_800
_TITLE_KEYS = ("title", "subject")
_SOURCE_KEYS = ("path", "source", "url", "file", "filename")
_OWN_KEYS = frozenset((*_SPEAKER_KEYS, *_DATE_KEYS, *_SESSION_KEYS, "id", "text", "kind", "title"))
_ROLES: Mapping[str, Role] = {
    "user": "user",
    "human": "user",
    "assistant": "assistant",
    "ai": "assistant",
    "model": "assistant",
    "system": "system",
    "tool": "tool",
}
# A message with one of these is more than its words.
_CALL_KEYS = ("tool_calls", "function_call", "tool_call_id", "name")


@dataclass(frozen=True, slots=True, kw_only=True)
class MaterialUnit:
    """One piece of the material as it came: a text, an item, a message or a file."""

    text: str
    label: str = ""  # who says it
    session: str = ""
    date: str = ""
    title: str = ""
    source: str = ""
    message: Message | None = None
    raw: bytes | None = None  # the author's bytes, where they differ from the text

    @property
    def is_document(self) -> bool:
        """Whether it stands for itself, with neighbours only inside it."""
        return bool(self.source) or len(self.text) > LONGEST_TURN


@dataclass(slots=True)
class Material:
    """All units in their order, notes on the reading, and what has nothing to show."""

    units: list[MaterialUnit] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)
    left_out: list[files.Skip] = field(default_factory=list)
    speakers: Speakers = field(default_factory=Speakers)


def read_material(given: object) -> Material:
    """The units of what was given; a `BadSource` for what is none of the known kinds."""
    material = Material()
    if isinstance(given, str):
        _note_path(given, material)
    for at, value in enumerate(_values(given)):
        _add(value, material, f"[{at}]")
    is_named = any(skip.reason == files.EMPTY for skip in material.left_out)
    if not is_named and not any(unit.text.strip() for unit in material.units):
        reasons = [*material.notes, *files.skip_notes(material.left_out)]
        why = f" ({'; '.join(reasons)})" if reasons else ""
        raise BadSource(
            _WHERE, f"has no text in it{why}", hint="give texts, messages, items or paths"
        )
    return material


def _values(given: object) -> Iterable[object]:
    """What was given as a list: of messages or items where a dict names them."""
    if isinstance(given, Mapping):
        for key in ("messages", "items", "documents"):
            if isinstance(given.get(key), Sequence):
                return _values(given[key])
        if isinstance(given.get("input"), list):  # a request of OpenAI's Responses API
            return from_responses(given, _WHERE)
        return [given]
    if isinstance(given, str | Path | Message):
        return [given]
    if isinstance(given, Iterable) and not isinstance(given, bytes | bytearray):
        return given
    raise BadSource(
        _WHERE,
        f"is {type(given).__name__}, which holds no text",
        hint="give a str, a Path, a dict, a foreword.Message, or a list of these",
    )


def _note_path(text: str, material: Material) -> None:
    """A note where a text is the path of something: it was most likely meant to be read."""
    if not text or len(text) > 255 or "\n" in text or "\x00" in text:
        return
    try:
        is_path = Path(text).exists()
    except OSError:
        return
    if is_path:
        material.notes.append(
            f"{text!r} was taken as a text; give pathlib.Path({text!r}) to read it"
        )


def _add(value: object, material: Material, at: str) -> None:
    match value:
        case str():
            _add_units([MaterialUnit(text=value)], material, at)
        case Path():
            _add_path(value, material)
        case Message():
            _add_units([_message_unit(value, {}, material.speakers)], material, at)
        case Mapping():
            _add_units(_mapping_units(value, at, material.speakers), material, at)
        case _ if not is_plain(value):
            messages = read_any(value, FieldPath(_WHERE, at))
            units = [_message_unit(message, {}, material.speakers) for message in messages]
            _add_units(units, material, at)
        case _:
            raise BadSource(
                _WHERE,
                f"{at} is {type(value).__name__}, which is no text, dict, message or path",
                hint="give str, dict, foreword.Message or pathlib.Path",
            )


def _add_units(units: Iterable[MaterialUnit], material: Material, at: str = "") -> None:
    """Add units, and the name of each that has nothing to show. One between texts stays, so that
    `recall` brings back what was given."""
    for unit in units:
        parts = unit.message.parts if unit.message is not None else ()
        is_empty = not unit.text.strip() and all(isinstance(part, Text) for part in parts)
        if is_empty:
            material.left_out.append(files.Skip(f"{at} {unit.source}".strip(), files.EMPTY))
        if not is_empty or not unit.source:
            material.units.append(unit)


def _add_path(path: Path, material: Material) -> None:
    """A file, or every text file below a folder but hidden ones and what tools fill."""
    if not path.is_dir():
        _add_file(path, material)
        return
    read, unread = files.read_folder(path)
    _add_units([_file_unit(file, file.path) for file in read], material)
    material.left_out += unread


def _add_file(path: Path, material: Material) -> None:
    """A file that was named. One without words is left out with a note, as in a folder: a shell
    writes all names for `docs/*`, pictures included."""
    found = files.read(path.parent, path.name)
    if isinstance(found, files.Skip) and found.reason in files.NO_WORDS:
        material.left_out.append(files.Skip(str(path), found.reason))
        return
    file = files.read(path.parent, path.name, must=True)
    _add_units([_file_unit(file, str(path))], material)


def _file_unit(file: files.File, name: str) -> MaterialUnit:
    return MaterialUnit(text=file.text, source=name, session=name, raw=file.raw)


def _mapping_units(value: Mapping[str, Any], at: str, speakers: Speakers) -> list[MaterialUnit]:
    """The units of a dict: of a message in any shape that is read, of an answer, or of an item."""
    if "role" not in value and (_first(value, _ITEM_KEYS) or not is_message(value)):
        return [_item_unit(value, at)]
    if _is_plain(value):
        role = _ROLES[str(value["role"]).lower()]
        message = Message(role, (Text(_first(value, ("text", "content"))),))
        return [_message_unit(message, value, speakers)]
    foreign = dict(value)
    if not value.keys().isdisjoint(("role", "type")):  # what people add their own fields to
        own = _OWN_KEYS - {"id"} if value.keys() & {"tool_call_id", "type"} else _OWN_KEYS
        foreign = {key: part for key, part in value.items() if key not in own}
    messages = read_any(foreign, FieldPath(_WHERE, at))
    return [_message_unit(message, value, speakers) for message in messages]


def _is_plain(value: Mapping[str, Any]) -> bool:
    """Whether a message has nothing but words, so that it need not be any provider's."""
    if str(value.get("role")).lower() not in _ROLES or not value.keys().isdisjoint(_CALL_KEYS):
        return False
    return isinstance(value.get("content", value.get("text")), str)


def _message_unit(message: Message, value: Mapping[str, Any], speakers: Speakers) -> MaterialUnit:
    origin = speakers.of(message)
    named = "" if origin.is_low_trust else _first(value, _SPEAKER_KEYS) or message.speaker
    text = message.text
    if message.speaker:
        text = text.removeprefix(f"{message.speaker}: ")
    return MaterialUnit(
        text=text,
        label=_one_line(named) or str(origin),
        session=_first(value, _SESSION_KEYS),
        date=_date(value),
        message=message,
    )


def _item_unit(value: Mapping[str, Any], at: str) -> MaterialUnit:
    text = _first(value, _TEXT_KEYS)
    title = _one_line(_first(value, _TITLE_KEYS))
    given = [value[key] for key in _TEXT_KEYS if key in value]
    is_empty = bool(given) and all(isinstance(part, str | None) for part in given)
    if not text and not title and not is_empty:
        raise BadSource(
            _WHERE,
            f"{at} has no text: its keys are {', '.join(map(str, value)) or 'none'}",
            hint='an item is {"text": "..."}, a message {"role": "user", "content": "..."}',
        )
    source = _one_line(_first(value, _SOURCE_KEYS))
    session = _first(value, _SESSION_KEYS)
    return MaterialUnit(
        text=text,
        label=_one_line(_first(value, (*_SPEAKER_KEYS, "name"))),
        session=session or source or (f"{at} {title}" if title else ""),
        date=_date(value),
        title=title,
        source=source or title,
    )


def _first(value: Mapping[str, Any], keys: Sequence[str]) -> str:
    for key in keys:
        found = value.get(key)
        if isinstance(found, str) and found.strip():
            return found
        if isinstance(found, int) and not isinstance(found, bool):
            return str(found)
    return ""


def _date(value: Mapping[str, Any]) -> str:
    """A date as ISO text, or in the words it was given in."""
    for key in _DATE_KEYS:
        seconds = value.get(key)
        if isinstance(seconds, int | float) and _EPOCH_SECONDS < seconds < _LATEST_SECONDS:
            return datetime.fromtimestamp(seconds, UTC).isoformat()
    found = _one_line(_first(value, _DATE_KEYS))
    return iso(found) or found[:40]


def _one_line(text: str) -> str:
    return " ".join(text.split())[:80]
