"""The items a package is made of: from JSON, from a folder of files of any kind, or from one file
or standard input.

Reads and checks; it ranks nothing. JSON of the wrong shape is an error that names the place; front
matter that lies costs its fields and leaves a note, since the text is still good. What a file is,
where its front matter does not say so, is decided by its name and its type
(`context.item_sections`).
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from datetime import UTC, date, datetime
from pathlib import Path, PurePosixPath

from foreword.errors import BadSource
from foreword.pattern import lazy_pattern
from foreword.sources import files, source_argument
from foreword.sources.front_matter import front_matter
from foreword.sources.python_data import type_name
from foreword.text import lines
from foreword.text.clean import clean
from foreword.text.content_type import content_type
from foreword.text.document_blocks import DOCUMENTS, document_blocks
from foreword.text.markdown import under_heading

_STDIN = "standard input"
_HINT = "give a folder, a file, or - for a diff, a text or JSON on standard input"
_DATES = ("created", "created_at", "date", "timestamp")
_KEYS = frozenset(("kind", "title", "text", "status", "validated", "source", *_DATES))
_WORDS = ("content", "body", "description", "details", "notes", "rationale", "reason", "summary")
LONGEST_TITLE = 200  # characters: nobody gives a longer name
LONGEST_LABEL = 80  # characters: an owner, a link or some tags are shorter than a sentence or two
_STOCK_NAMES = ("skill", "agent", "agents", "claude", "readme", "index")  # the folder tells more
_SHAPE = '{"items": [{"kind": "decision", "title": "...", "text": "..."}]}'
MOST_ITEMS = 100_000  # of JSON: 40 s and 380 MB on two busy cores; a million take more than 1.4 GB
_DAY = lazy_pattern(r"(\d{4})[-/](\d{1,2})[-/](\d{1,2})")
# JSON, whatever its file is called: `[INFO]` begins a log, and `[a](b)` a text.
_BEGINS_AS_JSON = lazy_pattern(r"\s*(?:\{|\[\s*[\[{\"\]])")
_MOST_NAMED = 3  # files that an error names as not read; it is one line


@dataclass(frozen=True, slots=True, kw_only=True)
class Item:
    """One piece of source material; `created` is an ISO date or time (UTC where a zone was
    given) or empty."""

    kind: str  # empty where neither JSON nor front matter states it
    title: str
    text: str
    created: str = ""
    status: str = ""
    validated: bool | None = None
    source: str = ""
    path: str = ""  # of a file, inside the source
    content_type: str = ""  # of a file or a text
    is_kind_stated: bool = True


@dataclass(frozen=True, slots=True)
class SourceItems:
    """The items of a source, what to know about them, and what is in the source and no item."""

    items: list[Item]
    notes: list[str]
    left_out: list[files.Skip] = field(default_factory=list)


def read_items(where: str, root: Path, stdin: Callable[[], bytes]) -> SourceItems:
    """The items in a folder, in a file, or (`-`) on standard input."""
    if where == "-":
        return _from_bytes(stdin(), _STDIN, "")
    path = source_argument.locate(where, root, _HINT)
    if path.is_dir():
        return _from_folder(path, where)
    return _from_bytes(source_argument.read(path, where), where, path.name)


def iso(value: str) -> str:
    """A date or time as ISO text, in UTC where it names a zone; empty where it is no date."""
    text = value.strip()
    try:
        day = _DAY.fullmatch(text)
        if day:
            return date(int(day[1]), int(day[2]), int(day[3])).isoformat()
        moment = datetime.fromisoformat(re.sub(r"\s+(?=[+-]\d|Z)", "", text))
        if len(text) <= len("2024-01-01"):
            return moment.date().isoformat()
        if moment.tzinfo:
            moment = moment.astimezone(UTC)
        return moment.isoformat()
    except (ValueError, OverflowError):
        return ""


# --- JSON -----------------------------------------------------------------------------------------


def items_in(data: object, name: str) -> SourceItems:
    """The items that data holds; `name` is what errors and notes call it."""
    entries = _entries(data, name)
    found = list[Item]()
    notes = list[str]()
    if not entries:
        notes.append(f"{name}: holds no items")
    for index, entry in enumerate(entries[:MOST_ITEMS]):
        place = f"items[{index}]"
        if isinstance(entry, str):
            item = _from_text(clean(entry)[0], PurePosixPath(), f"{name} {place}", notes)
        else:
            item = _from_entry(entry, place, name, notes)
        if item.text.strip():
            found.append(item)
        else:
            notes.append(f"{name}: {place} is empty and left out")
    if len(entries) > MOST_ITEMS:
        more = len(entries) - MOST_ITEMS
        notes.insert(
            0,
            f"{name}: {more:,} items are left out, for at most {MOST_ITEMS:,} are read: bring"
            " fewer",
        )
    return SourceItems(found, notes)


def _load_json(text: str, name: str) -> object:
    try:
        return json.loads(text)
    except json.JSONDecodeError as problem:
        raise BadSource(
            name, f"not valid JSON: {problem.msg}", line=problem.lineno, column=problem.colno
        ) from problem
    except (ValueError, RecursionError) as problem:
        reason = "it is nested too deeply" if isinstance(problem, RecursionError) else str(problem)
        raise BadSource(name, f"not usable JSON: {reason}") from problem


def _entries(loaded: object, name: str) -> list[object]:
    entries = loaded.get("items") if isinstance(loaded, dict) else loaded
    if isinstance(entries, list):
        return entries
    problem = f"items: must be a list, not {type_name(entries)}"
    if isinstance(loaded, dict) and "items" not in loaded:
        problem = "items: is missing"
    raise BadSource(name, problem, hint=f"it takes the form {_SHAPE}, or the list alone")


def _from_entry(entry: object, place: str, name: str, notes: list[str]) -> Item:
    if not isinstance(entry, dict):
        raise BadSource(
            name,
            f"{place}: must be an object or a text, not {type_name(entry)}",
            hint=f"it takes the form {_SHAPE}",
        )
    text = _string(entry, "text", place, name, missing=None)
    kind = _string(entry, "kind", place, name).strip().lower() or "doc"
    validated = entry.get("validated")
    if not isinstance(validated, bool | None):
        raise BadSource(
            name, f"{place}.validated: must be true or false, not {type_name(validated)}"
        )
    dates = [key for key in _DATES if entry.get(key) is not None]
    created = _string(entry, dates[0] if dates else "created", place, name)
    if created.strip() and not iso(created):
        notes.append(f"{name}: {place}.{dates[0]}: {created!r} is not a date")
    unread = [key for key in entry if key not in _KEYS and _is_said(key, entry[key])]
    if unread:
        notes.append(f"{name}: {place}: nobody reads {', '.join(map(repr, unread))}")
    return Item(
        kind=kind,
        title=_one_line(_string(entry, "title", place, name)) or _heading(text),
        text=text,
        created=iso(created),
        status=_string(entry, "status", place, name).strip(),
        validated=validated,
        source=_string(entry, "source", place, name) or f"{name} {place}",
    )


def _is_said(key: str, value: object) -> bool:
    """Whether a key that is not read holds words of the item rather than a label."""
    if not isinstance(value, str) or not value.strip():
        return False
    return key in _WORDS or len(value) > LONGEST_LABEL or "\n" in value.strip()


def _string(
    entry: Mapping[str, object], key: str, place: str, name: str, missing: str | None = ""
) -> str:
    value = entry.get(key)
    if value is None and missing is not None:
        return missing
    if not isinstance(value, str):
        problem = f"must be text, not {type_name(value)}" if key in entry else "is missing"
        raise BadSource(name, f"{place}.{key}: {problem}", hint=f"it takes the form {_SHAPE}")
    return clean(value)[0]


# --- files and texts ------------------------------------------------------------------------------


def _from_bytes(raw: bytes, where: str, name: str) -> SourceItems:
    """The items of one file, or of standard input, which has no name."""
    try:
        text, repairs = files.decode(raw)
    except UnicodeDecodeError:
        raise BadSource(where, "binary, not text", hint=_HINT) from None
    if not text.strip():
        raise BadSource(where, "is empty", hint=_HINT)
    if _BEGINS_AS_JSON.match(text) or name.lower().endswith(".json"):
        return items_in(_load_json(text, where), where)
    notes = list(repairs)
    item = _from_text(text, PurePosixPath(name), where, notes)
    return SourceItems([item], [f"{where}: {note}" for note in notes])


def _from_folder(folder: Path, where: str) -> SourceItems:
    read, unread = files.read_folder(folder)
    found = list[Item]()
    notes = list[str]()
    left_out = [files.Skip(_source_path(where, skip.path), skip.reason) for skip in unread]
    # collections ship the same file for several agents, in a folder for each
    first_of = dict[Item, str]()
    for file in read:
        source = _source_path(where, file.path)
        file_notes = list(file.notes)
        item = _from_text(file.text, PurePosixPath(file.path), source, file_notes)
        first = first_of.setdefault(replace(item, source="", path=""), source)
        if first != source:
            left_out.append(files.Skip(source, f"says what {first} says"))
        elif not item.text.strip():
            left_out.append(files.Skip(source, "nothing but front matter"))
        else:
            found.append(item)
        notes += [f"{source}: {note}" for note in file_notes]
    if not found:
        reasons = [f"{skip.path}: {skip.reason}" for skip in left_out[:_MOST_NAMED]]
        raise BadSource(where, "; ".join(["the folder holds no text file", *reasons]), hint=_HINT)
    return SourceItems(found, notes, left_out)


def _source_path(where: str, path: str) -> str:
    return (PurePosixPath(where) / path).as_posix()


def _from_text(text: str, path: PurePosixPath, source: str, notes: list[str]) -> Item:
    """A text as an item; only a document has front matter and a title of its own."""
    kind_of_text = content_type(text, path.name)
    fields: Mapping[str, object] = {}
    title = path.as_posix() if path.name else ""
    if kind_of_text in DOCUMENTS:
        fields, text, problem = front_matter(text)
        if problem:
            notes.append(f"{problem}; the file is used as a whole")
        text = lines.strip_blank_lines(text)
        title = _field(fields, "title", notes) or _title_of(text, fields, path, kind_of_text)
    kind = _field(fields, "kind", notes, numbers=False).lower()
    return Item(
        kind=kind,
        title=_one_line(title),
        text=text,
        created=_creation_date(fields, notes),
        status=_field(fields, "status", notes) or _status_in(text, kind_of_text),
        validated=_validated_flag(fields, notes),
        source=source,
        path=path.as_posix() if path.name else "",
        content_type=kind_of_text,
        is_kind_stated=bool(kind),
    )


def _one_line(title: str) -> str:
    return " ".join(title.split())[:LONGEST_TITLE]


def _status_in(text: str, kind_of_text: str) -> str:
    """What a Markdown document says under its heading `Status`, as records of decisions do."""
    if kind_of_text != "markdown" or "Status" not in text:
        return ""
    return (under_heading(text, "Status") or "").strip(" \t\r\n*_").split("\n", 1)[0]


def _title_of(
    body: str, fields: Mapping[str, object], path: PurePosixPath, kind_of_text: str
) -> str:
    """What a file without a title is called: by its own first line, else by the name in its front
    matter, else by its first heading or its path."""
    is_markdown = kind_of_text == "markdown"
    heading = _heading(body) if is_markdown else _first_title(body, kind_of_text)
    if heading and (body.startswith("# ") or not is_markdown):
        return heading
    name = fields.get("name")
    if isinstance(name, str) and name.strip():
        return clean(name)[0].strip()
    is_stock_name = path.stem.lower() in _STOCK_NAMES
    return heading or (path.parent.name if is_stock_name else "") or path.stem


def _field(
    fields: Mapping[str, object], key: str, notes: list[str], *, numbers: bool = True
) -> str:
    value = fields.get(key)
    if value is None or isinstance(value, str):
        return clean(value or "")[0].strip()
    if numbers and isinstance(value, int | float) and not isinstance(value, bool):
        return str(value)
    notes.append(f"{key}: must be text, not {type_name(value)}; ignored")
    return ""


def _creation_date(fields: Mapping[str, object], notes: list[str]) -> str:
    dates = [key for key in _DATES if fields.get(key) is not None]
    created = _field(fields, dates[0] if dates else "created", notes)
    if created and not iso(created):
        notes.append(f"created: {created!r} is not a date; ignored")
    return iso(created)


def _validated_flag(fields: Mapping[str, object], notes: list[str]) -> bool | None:
    value = fields.get("validated")
    if isinstance(value, bool | None):
        return value
    notes.append(f"validated: must be true or false, not {type_name(value)}; ignored")
    return None


def _first_title(text: str, kind: str) -> str:
    """The first title of a text in another markup, without its signs."""
    for block in document_blocks(text, kind):
        if block.kind == "heading":
            words = re.findall(r"\w.*", text[block.start : block.end])
            return words[-1].strip() if words else ""  # labels stand in front of it
    return ""


def _heading(text: str) -> str:
    """The first heading of a Markdown text, without its marks."""
    for kind, first, _, _ in lines.scan(text):
        if kind == "heading":
            begin = lines.starts(text)[first]
            line = re.match(r"[^\r\n]*", text[begin:])
            return line[0].strip().strip("#").strip() if line else ""
    return ""
