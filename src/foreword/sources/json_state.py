"""Read a JSON source and pick members out of it: the units that are approved, the tests that
failed.

What to pick and how to write it is the recipe's (`state`, `where`, `last`, `named_in`, `each`).
Conversations are turned into entries that keep tool calls with their results.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

from foreword.errors import BadSource
from foreword.formats import read_messages
from foreword.message import Message, mend, together
from foreword.section import Entry
from foreword.sources import source_argument
from foreword.text.words import parts

_HINT = "give a JSON file with --source, or - for standard input"
BLANK = re.compile(r"\{(\w+)(!?)\}")


def read_json(where: str, root: Path, stdin: Callable[[], bytes]) -> dict[str, Any]:
    """The mapping in a JSON file or on standard input (`-`)."""
    raw = (
        stdin()
        if where == "-"
        else source_argument.read(source_argument.locate(where, root, _HINT), where)
    )
    name = "standard input" if where == "-" else where
    try:
        data = json.loads(raw.decode("utf-8-sig"))
    except UnicodeDecodeError:
        raise BadSource(name, "not UTF-8", hint="save it as UTF-8 JSON") from None
    except json.JSONDecodeError as error:
        raise BadSource(
            name, f"not valid JSON: {error.msg}", line=error.lineno, column=error.colno
        ) from None
    except RecursionError:
        raise BadSource(name, "not usable JSON: nested too deeply") from None
    except ValueError as error:  # a number of thousands of digits
        raise BadSource(name, f"not usable JSON: {error}") from None
    if not isinstance(data, dict):
        raise BadSource(
            name, "must be a JSON object", hint="docs/recipes.md shows the keys a recipe reads"
        )
    return data


def value_at(data: Mapping[str, Any], path: str) -> Any:
    """The value at `a.b.c`, or None."""
    value: Any = data
    for step in path.split("."):
        value = value.get(step) if isinstance(value, Mapping) else None
    return value


def members(value: object, where: str, path: str) -> list[Mapping[str, Any]]:
    """A list of mappings, or an error that names the wrong one."""
    if not isinstance(value, list):
        raise BadSource(where, f"{path}: must be a list")
    for index, member in enumerate(value):
        if not isinstance(member, Mapping):
            raise BadSource(where, f"{path}[{index}]: must be a mapping")
    return value


def matching_members(
    found: Iterable[Mapping[str, Any]], where: Mapping[str, Sequence[str]]
) -> list[Mapping[str, Any]]:
    """The members whose fields have one of the wanted values."""
    return [
        m for m in found if all(str(m.get(field, "")) in wanted for field, wanted in where.items())
    ]


def named_in(
    found: Iterable[Mapping[str, Any]],
    others: Sequence[Mapping[str, Any]],
    where: str = "source",
    path: str = "failures",
) -> list[Mapping[str, Any]]:
    """The members that the others name: in their `unit` field, or by words of their `test` name."""
    for index, other in enumerate(others):
        for key in ("unit", "units"):
            if not _is_text_or_texts(other.get(key)):
                raise BadSource(where, f"{path}[{index}].{key}: must be text or a list of texts")
    return [
        member
        for member in found
        if any(_names(other, str(member.get("name", ""))) for other in others)
    ]


def _is_text_or_texts(value: object) -> bool:
    if isinstance(value, list):
        return all(isinstance(one, str) for one in value)
    return isinstance(value, str | None)


def _names(other: Mapping[str, Any], name: str) -> bool:
    if not name:
        return False
    stated = other.get("unit") or other.get("units")
    if stated:
        return name in ([stated] if isinstance(stated, str) else stated)
    test = str(other.get("test") or other.get("name") or "")
    wanted, said = _words(name), _words(test)
    in_words = bool(wanted) and any(said[i : i + len(wanted)] == wanted for i in range(len(said)))
    return in_words or name.lower() in re.findall(r"\w+", test.lower())


def _words(name: str) -> list[str]:
    return [part.lower() for word in re.findall(r"\w+", name) for part in (parts(word) or [word])]


def fill_template(template: str, values: Mapping[str, Any]) -> str:
    """The template with its blanks filled; a line with a blank that has no value is left out.

    `{name!}` takes an empty value or null for a value, too.
    """
    lines = []
    for line in template.split("\n"):
        blanks = {name: bool(even_empty) for name, even_empty in BLANK.findall(line)}
        if all(
            name in values and (even_empty or _text(values[name]))
            for name, even_empty in blanks.items()
        ):
            lines.append(
                BLANK.sub(lambda found: _text(values[found[1]], even_empty=bool(found[2])), line)
            )
    return "\n".join(lines)


def _text(value: object, even_empty: bool = False) -> str:
    if isinstance(value, str) and (value or not even_empty):
        return value
    return "" if value is None and not even_empty else json.dumps(value, ensure_ascii=False)


def conversation(value: object, where: str) -> tuple[tuple[Entry, ...], str, list[str]]:
    """A conversation as entries, the first one pinned; the old system prompts in it; notes on
    what was mended."""
    messages = read_messages(value, where)
    prompts = "\n\n".join(message.text for message in messages if message.role == "system")
    spoken, mended = mend([message for message in messages if message.role != "system"])
    entries = tuple(
        _entry(group, pinned=index == 0) for index, group in enumerate(together(spoken))
    )
    return entries, prompts, [f"messages: {what}" for what in mended]


def _entry(group: tuple[Message, ...], pinned: bool) -> Entry:
    return Entry("\n".join(message.text for message in group), group, pinned)
