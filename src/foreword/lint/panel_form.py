"""Rewrite a panel whose members are not named in one of its two forms: the front matter gets their
names, and nothing else of the file changes.

Three other forms are known: headings with a `**Role:**` below them, tables of participants, and a
file that is itself a persona. Pure.
"""

from __future__ import annotations

import re
from collections import Counter

from foreword.lint.repair import Repair
from foreword.pattern import lazy_pattern
from foreword.sources.front_matter import front_matter
from foreword.sources.panel_file import FIELD, heading_name
from foreword.text.markdown import blocks, headings

CODE = "panel-form"

_ROLE = lazy_pattern(r"^\*\*Role:\*\*", re.MULTILINE)
_NAME_COLUMNS = ("participant", "persona", "reviewer", "perspective")
_DIVIDER = lazy_pattern(r"^[\s|:-]*$")
_GROUP = lazy_pattern(r"^\w+ \w{1,3}:\s*")  # Track 1: Infrastructure Security
_OPENING = lazy_pattern(r"---[ \t]*(?:\r\n?|\n)")


def panel_repair(text: str) -> Repair | None:
    """Return the front matter that names the members of a panel; None where it names them already,
    or where nothing says who they are."""
    import yaml

    fields, body, problem = front_matter(text)
    if problem or FIELD in fields:
        return None
    personas = _headings_with_roles(body) or _table_rows(body) or _persona_itself(body)
    if not personas:
        return None
    listed = yaml.safe_dump({FIELD: personas}, allow_unicode=True, sort_keys=False, width=10_000)
    opening = _OPENING.match(text)
    place = opening.end() if opening and fields else 0
    right = listed if place else f"---\n{listed}---\n\n"
    return Repair(at=0, line=1, code=CODE, start=place, end=place, right=right)


def _headings_with_roles(body: str) -> list[object]:
    """Return the headings right below which a role stands."""
    found = headings(body)
    names = list[object]()
    for number, heading in enumerate(found):
        end = found[number + 1].start if number + 1 < len(found) else len(body)
        if _ROLE.search(body[heading.body : end]):
            names.append(heading_name(heading))
    return names


def _table_rows(body: str) -> list[object]:
    """Return the rows of tables of participants, each with what it looks at; a name that is there
    twice has the heading of its table behind it."""
    rows = list[tuple[str, str, str]]()
    names_members = False
    group = ""
    for block in blocks(body):
        text = body[block.start : block.end]
        if block.kind == "heading":
            group = _GROUP.sub("", text.lstrip("# ").strip())
        if block.kind != "table":
            names_members = False
        elif not block.level:  # the head of a table
            names_members = _cells(text.splitlines()[0])[0].casefold() in _NAME_COLUMNS
        elif names_members and not _DIVIDER.match(text):
            name, *focus = _cells(text)
            rows.append((name, group, ". ".join(filter(None, focus))))
    times = Counter(name for name, _, _ in rows)
    return [
        {f"{name} ({group})" if times[name] > 1 else name: focus} for name, group, focus in rows
    ]


def _cells(row: str) -> list[str]:
    return [cell.strip(" *`") for cell in row.strip().strip("|").split("|")]


def _persona_itself(body: str) -> list[object]:
    """Return the title of a file that is a persona."""
    names = [heading_name(heading) for heading in headings(body)]
    return [names[0]] if "Role" in names[1:] else []
