"""The blanks of a recipe's paths: the task that was given, and the step or task that has to be
found.

Where to look is the recipe's (`locate`); looking is `sources.locate`'s. Only what the selection
needs is looked for.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from pathlib import Path, PurePosixPath

from foreword.recipe.schema import Locate
from foreword.recipe.selection import Selection
from foreword.sources import files, locate
from foreword.text import markdown

BLANK = re.compile(r"\{(\w+)\}")
OBJECTIVES = ("Objective", "Goal", "What To Do", "Summary")
LONGEST_OBJECTIVE = 200  # characters; about the 50 tokens it should have
_ID = re.compile(r"\b[A-Z][A-Z0-9]{1,9}-\d{1,7}\b|(?<!\w)#\d{1,7}\b")
_LABELLED = re.compile(
    r"^[>\s*_-]{0,8}(?:objective|goal)\b[*_]*[ \t]*:[*_ \t]*(?P<words>\S[^\r\n]*)", re.I | re.M
)


def fill(template: str, values: Mapping[str, str]) -> str:
    """The template with its blanks filled in."""
    return BLANK.sub(lambda found: values.get(found[1], ""), template)


def first_blank(template: str, values: Mapping[str, str]) -> str:
    """The first blank there is no value for, or nothing."""
    return next((name for name in BLANK.findall(template) if not values.get(name)), "")


def task_reference(path: str, text: str) -> str:
    """A task in one line: what it is called and what it is for."""
    title = markdown.first_title(text)
    named = _ID.search(title) or _ID.search(path)
    name = named[0] if named else PurePosixPath(path).name.removesuffix(".md")
    labelled = _LABELLED.search(text)
    sections = (markdown.under_heading(text, heading) for heading in OBJECTIVES)
    objective = (
        labelled["words"]
        if labelled
        else next((found for found in sections if found), "") or title or text
    )
    first = " ".join(re.split(r"\n\s*\n", objective.strip(), maxsplit=1)[0].split())
    if len(first) > LONGEST_OBJECTIVE:
        first = first[:LONGEST_OBJECTIVE].rsplit(" ", 1)[0] + " ..."
    return first if name in first else f"{name}: {first}"


def find_places(
    selection: Selection, root: Path, task: str | None
) -> tuple[dict[str, str], list[str]]:
    """A value for every blank the selection needs (empty where nothing was found), and notes on
    how."""
    values, notes = dict[str, str](), list[str]()
    if task is not None:
        values["task"] = _given(root, task)
    for name, how in selection.recipe.locate.items():
        if name not in values and _is_needed(name, selection):
            found = _find(how, root, values)
            values[name] = found.path
            notes += [f"{name}: {found.note}"] if found.note else []
    return values, notes


def _given(root: Path, path: str) -> str:
    """A path the user gave, relative to the root or to where they are; it must be a file inside
    the root."""
    here = Path(path).expanduser()
    if not (root / path).exists() and here.exists():
        path = str(here.resolve())
    return files.read(root, path, must=True).path


def _is_needed(name: str, selection: Selection) -> bool:
    """Whether a section needs this place, or another place that a section needs does."""
    blank, places = f"{{{name}}}", selection.recipe.locate.items()
    if any(blank in (spec.file or "") for spec in selection.sections.values()):
        return True
    return any(
        blank in (how.among or "") and _is_needed(other, selection)
        for other, how in places
        if other != name
    )


def _find(how: Locate, root: Path, values: Mapping[str, str]) -> locate.LocatedName:
    if how.above_task and values.get("task"):
        return locate.nearest_above(root, values["task"], how.above_task)
    if first_blank(how.among or "", values):
        return locate.LocatedName()
    among = fill(how.among or "", values)
    if how.pending:
        return locate.current_folder(root, among, how.named_in, how.pending, how.leave_out)
    return locate.first_pending(root, among, how.named_in, how.leave_out)
