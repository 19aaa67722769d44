"""The items a package is made of: from JSON, or from a folder of documents, most often Markdown
with front matter.

Reads and checks; it ranks nothing. JSON of the wrong shape is an error that names the place; front
matter that lies costs its fields and leaves a note, since the text is still good. Which kinds
matter is the recipe's business.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from datetime import UTC, date, datetime
from pathlib import Path, PurePosixPath

from foreword.errors import BadSource
from foreword.pattern import lazy_pattern
from foreword.sources import files, source_argument
from foreword.sources.front_matter import front_matter
from foreword.sources.python_data import type_name
from foreword.text import lines
from foreword.text.clean import clean
from foreword.text.content_type import type_of_name
from foreword.text.document_blocks import document_blocks

_STDIN = "standard input"
_HINT = "give a JSON file, a folder of Markdown or other documents, or - for JSON on standard input"
_DATES = ("created", "created_at", "date", "timestamp")
_KEYS = frozenset(("kind", "title", "text", "status", "validated", "source", *_DATES))
_WORDS = ("content", "body", "description", "details", "notes", "rationale", "reason", "summary")
LONGEST_LABEL = 80  # characters: an owner, a link or some tags are shorter than a sentence or two
_STOCK_NAMES = ("skill", "agent", "agents", "claude", "readme", "index")  # the folder tells more
_SHAPE = '{"items": [{"kind": "decision", "title": "...", "text": "..."}]}'
_MOST_UNREAD = 3  # folders that an error names as not looked into; it is one line
MOST_ITEMS = 100_000  # of JSON: 40 s and 380 MB on two busy cores; a million take more than 1.4 GB
# A plain `.txt` is as often a list for a program (requirements, words) as something to read.
_DOCUMENTS = (".md", ".markdown", ".mdx", ".rst", ".adoc", ".asciidoc", ".org")
_DAY = lazy_pattern(r"(\d{4})[-/](\d{1,2})[-/](\d{1,2})")
# Front matter of the prompts that coding agents offer as `/name`.
_OF_A_PROMPT = frozenset(("allowed-tools", "argument-hint", "description"))
_SINGULARS = {
    "criteria": "criterion",
    "analyses": "analysis",
    "hypotheses": "hypothesis",
    "feedback": "feedback",
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Item:
    """One piece of source material; `created` is an ISO date or time (UTC where a zone was
    given) or empty."""

    kind: str
    title: str
    text: str
    created: str = ""
    status: str = ""
    validated: bool | None = None
    source: str = ""
    is_kind_by_folder: bool = False  # the author may have meant a subject by the folder's name


def read_items(where: str, root: Path, stdin: Callable[[], bytes]) -> tuple[list[Item], list[str]]:
    """The items in a JSON file, a folder of documents, or (`-`) JSON on standard input; and what
    to know."""
    if where == "-":
        return _from_json(stdin(), _STDIN)
    path = source_argument.locate(where, root, _HINT)
    if path.is_dir():
        return _from_folder(path, where)
    if path.suffix.lower() in _DOCUMENTS:
        return _from_files(path.parent, [path.name], str(PurePosixPath(where).parent))
    return _from_json(source_argument.read(path, where), where)


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


def _from_json(raw: bytes, name: str) -> tuple[list[Item], list[str]]:
    return items_in(_load_json(raw, name), name)


def items_in(data: object, name: str) -> tuple[list[Item], list[str]]:
    """The items that data holds, and what to know; `name` is what errors and notes call it."""
    entries = _entries(data, name)
    found = list[Item]()
    notes = list[str]()
    if not entries:
        notes.append(f"{name}: holds no items")
    for index, entry in enumerate(entries[:MOST_ITEMS]):
        item = _from_entry(entry, f"items[{index}]", name, notes)
        if item.text.strip():
            found.append(item)
        else:
            notes.append(f"{name}: items[{index}] is empty and left out")
    if len(entries) > MOST_ITEMS:
        more = len(entries) - MOST_ITEMS
        notes.insert(
            0,
            f"{name}: {more:,} items are left out, for at most {MOST_ITEMS:,} are read: bring"
            " fewer",
        )
    return found, notes


def _load_json(raw: bytes, name: str) -> object:
    try:
        text, _ = files.decode(raw)
        if not text.strip():
            raise BadSource(name, "is empty, not JSON", hint=f"it takes the form {_SHAPE}")
        return json.loads(text)
    except json.JSONDecodeError as problem:
        raise BadSource(
            name, f"not valid JSON: {problem.msg}", line=problem.lineno, column=problem.colno
        ) from problem
    except UnicodeDecodeError as problem:
        raise BadSource(name, "binary, not JSON", hint=_HINT) from problem
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
            f"{place}: must be an object, not {type_name(entry)}",
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
        title=_string(entry, "title", place, name).strip() or _heading(text),
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


# --- Markdown -------------------------------------------------------------------------------------


def _from_folder(folder: Path, where: str) -> tuple[list[Item], list[str]]:
    unread = list[files.Skip]()
    found = set[str]()
    for suffix in _DOCUMENTS:
        found.update(files.find(folder, f"**/*{suffix}", unread))
    paths = sorted(found, key=files.natural)
    left_out = files.skip_notes(
        [files.Skip(_source_path(where, skip.path), skip.reason) for skip in unread]
    )
    hidden = _hidden_folders(folder)
    if hidden:
        shown = ", ".join(hidden[:_MOST_UNREAD])
        left_out.append(f"{shown}: hidden, so not looked into: give such a folder by its own name")
    if not paths:
        problem = "; ".join(
            ["the folder holds no Markdown or other document", *left_out[:_MOST_UNREAD]]
        )
        raise BadSource(where, problem, hint=_HINT)
    items, notes = _from_files(folder, paths, where)
    return items, [*left_out, *notes]


def _hidden_folders(folder: Path) -> list[str]:
    """The hidden folders that have documents in them, as `.claude` has."""
    found = dict[str, None]()
    for suffix in _DOCUMENTS:
        for path in files.find(folder, f"**/.*/**/*{suffix}"):
            parents = PurePosixPath(path).parents
            hidden = [parent for parent in parents if parent.name.startswith(".")]
            found[hidden[-1].as_posix()] = None
    return sorted(found, key=files.natural)


def _from_files(folder: Path, paths: list[str], where: str) -> tuple[list[Item], list[str]]:
    found: list[Item] = []
    notes: list[str] = []
    allowance = files.Allowance()
    left_out = 0
    prompt_folders = _prompt_folders(folder, paths)
    # collections ship the same file for several agents, in a folder for each
    first_of = dict[Item, str]()
    copies = list[tuple[str, str]]()
    for path in paths:
        file = allowance.read(folder, path)
        source = _source_path(where, path)
        if isinstance(file, files.Skip):
            if file.reason == files.PAST_LIMIT:
                left_out += 1
            else:
                notes.append(f"{source}: {file.reason}, left out")
            continue
        file_notes = list(file.notes)
        is_prompt = PurePosixPath(path).parent in prompt_folders
        item = _from_document(file.text, PurePosixPath(path), source, file_notes, is_prompt)
        first = first_of.setdefault(replace(item, source=""), source)
        if first != source:
            copies.append((source, first))
            continue
        if item.text.strip():
            found.append(item)
        else:
            file_notes.append("nothing but front matter, left out")
        notes += [f"{source}: {note}" for note in file_notes]
    if copies:
        copy, first = copies[0]
        what = "1 file is" if len(copies) == 1 else f"{len(copies):,} files are"
        notes.append(
            f"{where}: {what} left out as a copy of another: {copy} says what {first} says"
        )
    if left_out:
        limit = f"at most {files.MOST_FILES:,} files and {files.MOST_BYTES // 1024**2} MiB are read"
        notes.insert(
            0,
            f"{where}: {left_out:,} of {len(paths):,} files are left out, for {limit}: bring fewer",
        )
    return found, notes


def _source_path(where: str, path: str) -> str:
    return (PurePosixPath(where) / path).as_posix()


def _prompt_folders(folder: Path, paths: list[str]) -> set[PurePosixPath]:
    """The `commands/` of coding agents, whose files are prompts that are called by name: one that
    says so by its front matter or takes `$ARGUMENTS` says it of all."""
    found = set[PurePosixPath]()
    for path in map(PurePosixPath, paths):
        if path.parent in found or _kind_of(path.parent.name) != "command":
            continue
        file = files.read(folder, path.as_posix())
        if isinstance(file, files.File) and _is_prompt(file.text):
            found.add(path.parent)
    return found


def _is_prompt(text: str) -> bool:
    return not _OF_A_PROMPT.isdisjoint(front_matter(text)[0]) or "$ARGUMENTS" in text


def _from_document(
    text: str, path: PurePosixPath, source: str, notes: list[str], is_prompt: bool
) -> Item:
    fields, body, problem = front_matter(text)
    if problem:
        notes.append(f"{problem}; the file is used as a whole")
    body = lines.strip_blank_lines(body)
    kind = _field(fields, "kind", notes, numbers=False).lower()
    return Item(
        kind=kind or ("doc" if is_prompt else _kind_of(path.parent.name)),
        is_kind_by_folder=not kind,
        title=_field(fields, "title", notes) or _title_of(body, fields, path),
        text=body,
        created=_creation_date(fields, notes),
        status=_field(fields, "status", notes),
        validated=_validated_flag(fields, notes),
        source=source,
    )


def _title_of(body: str, fields: Mapping[str, object], path: PurePosixPath) -> str:
    """What a file without a title is called: by its own first line, else by the name in its front
    matter, else by its first heading or its path."""
    kind = type_of_name(path.name)
    is_markdown = kind == "markdown"
    heading = _heading(body) if is_markdown else _first_title(body, kind)
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


# --- both -----------------------------------------------------------------------------------------


def _kind_of(folder: str) -> str:
    """The singular of a folder's name where that is one word, else `doc`; the source's own
    folder names no kind."""
    name = folder.lower()
    if not (name.isascii() and name.isalpha()):
        return "doc"
    if name in _SINGULARS:
        return _SINGULARS[name]
    if name.endswith("ies"):
        return f"{name[:-3]}y"
    if re.search(r"(?:ss|x|ch|sh)es$", name):
        return name[:-2]
    return name[:-1] if re.search(r"[^sui]s$", name) else name


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
