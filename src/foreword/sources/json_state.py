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

from foreword import aliases
from foreword.errors import BadSource
from foreword.messages.call_pairs import group_by_calls, mend
from foreword.messages.message import Message
from foreword.pattern import lazy_pattern
from foreword.section import Entry
from foreword.sources import front_matter, source_argument
from foreword.sources.python_data import plain_data, type_name
from foreword.text.names import parts

_HINT = "give a JSON or YAML file with --source, or - for standard input"
BLANK = lazy_pattern(r"\{(\w+)(!?)\}")
# Fields of a unit or a failed test, each of which may have another name in `aliases`.
MEMBER_FIELDS = (
    "name file status description implementation test error expected received stack unit".split()
)
# Where programs that keep their state by phase have what recipes read, if not at the top.
PHASE_STATES = {
    "design_document": ("planning",),
    "feature": ("planning",),
    "types": ("interface",),
    "tests": ("interface",),
    "units": ("implementation",),
    "current_unit_index": ("implementation",),
    "failures": ("testing.last_test_run", "testing"),
}
# What the status of the unit says that is being worked on.
WORKED_ON = ("current", "in_progress", "awaiting_approval", "needs_review")


def read_state(where: str, root: Path, stdin: Callable[[], bytes]) -> dict[str, Any]:
    """The mapping in a JSON or YAML file, or on standard input (`-`), where JSON begins with a
    bracket."""
    if where == "-":
        raw = stdin()
        name = "standard input"
    else:
        raw = source_argument.read(source_argument.locate(where, root, _HINT), where)
        name = where
    try:
        text = raw.decode("utf-8-sig")
        if _is_yaml(where, text):
            return _yaml_mapping(text, name)
        return mapping_in(json.loads(text), name)
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


def _is_yaml(where: str, text: str) -> bool:
    if where == "-":
        return text.lstrip()[:1] not in ("", "{", "[")
    return where.lower().endswith((".yaml", ".yml"))


def _yaml_mapping(text: str, name: str) -> dict[str, Any]:
    data, problem = front_matter.mapping(text)
    if problem:
        raise BadSource(name, problem)
    return mapping_in(plain_data(data), name)


def mapping_in(data: object, name: str) -> dict[str, Any]:
    """The data, which has to be a mapping; `name` is what an error calls it."""
    if not isinstance(data, dict):
        raise BadSource(
            name,
            f"must be a JSON object, not {type_name(data)}",
            hint="docs/recipe-sources.md shows the keys a recipe reads",
        )
    return data


def state_at(data: Mapping[str, Any], path: str) -> Any:
    """The value at `a.b.c`, under any of its names, or where the state of a phase has it; of the
    units, none but that of the current index is being worked on."""
    for place in ("", *PHASE_STATES.get(path, ())):
        value: Any = data
        for step in f"{place}.{path}".strip(".").split("."):
            value = _member(value, step) if isinstance(value, Mapping) else None
        if value is not None:
            return _with_current_unit(value, data) if path == "units" else value
    return None


def _member(mapping: Mapping[str, Any], name: str) -> Any:
    return mapping.get(aliases.other_keys(mapping, (name,)).get(name, name))


def _with_current_unit(units: Any, data: Mapping[str, Any]) -> Any:
    current = state_at(data, "current_unit_index")
    is_index = isinstance(current, int) and not isinstance(current, bool) and current >= 0
    if not is_index or not isinstance(units, list) or current >= len(units):
        return units
    marked = list[object]()
    for index, unit in enumerate(units):
        if isinstance(unit, Mapping) and index == current:
            marked.append({**unit, "status": "current"})
        elif isinstance(unit, Mapping) and unit.get("status") in WORKED_ON:
            marked.append({**unit, "status": "pending"})
        else:
            marked.append(unit)
    return marked


def members(value: object, where: str, path: str) -> list[Mapping[str, Any]]:
    """A list of mappings with their fields under the names that recipes use, or an error that
    names the wrong one."""
    if not isinstance(value, list):
        raise BadSource(where, f"{path}: must be a list, not {type_name(value)}")
    for index, member in enumerate(value):
        if not isinstance(member, Mapping):
            problem = f"must be a mapping, not {type_name(member)}"
            raise BadSource(where, f"{path}[{index}]: {problem}")
    return [_with_fields(member) for member in value]


def _with_fields(member: Mapping[str, Any]) -> Mapping[str, Any]:
    """The member, and beside its own keys the fields that it has under other names alone."""
    keys = aliases.other_keys(member, MEMBER_FIELDS)
    return {**member, **{field: member[key] for field, key in keys.items()}}


def matching_members(
    found: Iterable[Mapping[str, Any]], where: Mapping[str, Sequence[str]]
) -> list[Mapping[str, Any]]:
    """The members whose fields have one of the wanted values."""
    return [member for member in found if _matches(member, where)]


def _matches(member: Mapping[str, Any], where: Mapping[str, Sequence[str]]) -> bool:
    return all(str(member.get(field, "")) in wanted for field, wanted in where.items())


def members_named_by(
    found: Iterable[Mapping[str, Any]],
    others: Sequence[Mapping[str, Any]],
    where: str,
    path: str,
) -> list[Mapping[str, Any]]:
    """The members that the others name: in their `unit` field, by words of their `test` name, or
    by their file in the stack, or in the error where a runner puts both into one."""
    for index, other in enumerate(others):
        for key in ("unit", "units"):
            if not _is_text_or_texts(other.get(key)):
                raise BadSource(where, f"{path}[{index}].{key}: must be text or a list of texts")
    return [member for member in found if _is_named(member, others)]


def _is_named(member: Mapping[str, Any], others: Sequence[Mapping[str, Any]]) -> bool:
    name = str(member.get("name") or "")
    file = str(member.get("file") or "").strip().removeprefix("./")
    # `a.ts` is not in `data.ts`, and `src/a.ts` is in `/home/me/src/a.ts:22`
    place = re.compile(rf"(?<![\w.-]){re.escape(file)}(?![\w-])") if file else None
    for other in others:
        if _names(other, name):
            return True
        if place and not _units_of(other):
            said = (_text(other.get("stack")), _text(other.get("error")))
            if any(map(place.search, said)):
                return True
    return False


def _units_of(other: Mapping[str, Any]) -> str | list[str]:
    units: str | list[str] = other.get("unit") or other.get("units") or ""
    return units


def _is_text_or_texts(value: object) -> bool:
    if isinstance(value, list):
        return all(isinstance(member, str) for member in value)
    return isinstance(value, str | None)


def _names(other: Mapping[str, Any], name: str) -> bool:
    if not name:
        return False
    units = _units_of(other)
    if units:
        return name in ([units] if isinstance(units, str) else units)
    test = str(other.get("test") or "")
    if name.lower() in re.findall(r"\w+", test.lower()):
        return True
    words = _words(name)
    test_words = _words(test)
    if not words:
        return False
    starts = range(len(test_words))
    return any(test_words[start : start + len(words)] == words for start in starts)


def _words(name: str) -> list[str]:
    """`test_pdfExport` as test, pdf, export."""
    words = list[str]()
    for word in re.findall(r"\w+", name):
        words += [part.lower() for part in parts(word) or [word]]
    return words


def fill_template(template: str, values: Mapping[str, Any]) -> str:
    """The template with its blanks filled; a line with a blank that has no value is left out.

    `{name!}` takes an empty value or null for a value, too.
    """

    def fill(blank: re.Match[str]) -> str:
        return _text(values[blank[1]], even_empty=bool(blank[2]))

    lines = template.split("\n")
    return "\n".join(BLANK.sub(fill, line) for line in lines if _has_values(line, values))


def _has_values(line: str, values: Mapping[str, Any]) -> bool:
    """Whether there is a value for every blank of a line; a name that is there twice counts as its
    last."""
    blanks = dict(BLANK.findall(line))
    for name, even_empty in blanks.items():
        if name not in values or not (even_empty or _text(values[name])):
            return False
    return True


def _text(value: object, even_empty: bool = False) -> str:
    if isinstance(value, str) and (value or not even_empty):
        return value
    if value is None and not even_empty:
        return ""
    return json.dumps(value, ensure_ascii=False)


def conversation_entries(value: object, where: str) -> tuple[tuple[Entry, ...], str, list[str]]:
    """A conversation as entries, the first one pinned; the old system prompts in it; notes on
    what was mended."""
    from foreword.messages.shapes import read_messages  # a dozen modules, for a conversation alone

    messages = read_messages(value, where)
    prompts = [message.text for message in messages if message.role == "system"]
    mended, repairs = mend([message for message in messages if message.role != "system"])
    groups = list(group_by_calls(mended))
    # the only message is the newest, too, and may be shortened as that
    has_more = len(groups) > 1
    entries = [_entry(group, pinned=has_more and place == 0) for place, group in enumerate(groups)]
    return tuple(entries), "\n\n".join(prompts), [f"messages: {repair}" for repair in repairs]


def _entry(group: tuple[Message, ...], pinned: bool) -> Entry:
    return Entry("\n".join(message.text for message in group), group, pinned)
