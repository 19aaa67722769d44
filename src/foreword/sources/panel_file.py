"""Who sits on a panel, read from its Markdown, which has one form: names.

They stand in the front matter, `personas: [Code Reviewer, compliance/security-auditor]`, or as the
items of one list under `## Participants`. A name is that of a heading in the file itself, whose
section is the persona, or of a persona's file, which the caller finds. An entry of the front matter
may say what its persona looks at, `- Code Reviewer: migrations`. `lint.panel_form` rewrites other
forms.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass

from foreword.errors import BadSource
from foreword.pattern import lazy_pattern
from foreword.review.panel import Member, Panel
from foreword.sources.front_matter import front_matter
from foreword.text.markdown import Heading, headings

Find = Callable[[str], "tuple[str, str] | None"]
"""From a persona's name or path to (source, text), or None."""

# Each member is a call to a model: a file that names more of them is a mistake, or an attack on the
# bill.
MOST_MEMBERS = 100
FIELD = "personas"
_LIST_TITLE = "participants"
_HINT = (
    "name them in the front matter, personas: [NAME, NAME], or in one list under `## Participants`;"
    " `foreword lint --fix` rewrites other forms"
)

# Of a heading, before the name: what kind of file it is, or a number.
_BEFORE_NAME = lazy_pattern(
    r"^(?:(?:review|panel|round[ -]?table|persona)\s*:|\d{1,3}[.):])\s*", re.IGNORECASE
)
_ITEM = lazy_pattern(
    r"^(?:[-*+]|\d{1,9}[.)])[ \t]+"
    r"(?:\[(?P<title>[^\]\n]{1,200})\]\((?P<path>[^)\s]{1,400})\)|(?P<name>[^:\n]{1,200}))",
    re.MULTILINE,
)
_RULE = lazy_pattern(r"(?:\s*^\s*(?:-{3,}|\*{3,}|_{3,})[ \t]*$)+\s*\Z", re.MULTILINE)


@dataclass(frozen=True, slots=True)
class _Entry:
    """A member as the file names it, where to find it, and what it looks at."""

    name: str
    lookups: tuple[str, ...]
    focus: str = ""


def read_panel(text: str, name: str, source: str, find: Find) -> Panel:
    """Return the panel that a file describes; BadSource where it names no persona."""
    fields, body, problem = front_matter(text)
    if problem:
        raise BadSource(source, problem, hint=_HINT)
    found = headings(body)
    entries = list(
        _field_entries(fields[FIELD], source) if FIELD in fields else _list_entries(body)
    )
    if len(entries) > MOST_MEMBERS:
        problem = f"names {len(entries):,} personas; a panel has at most {MOST_MEMBERS}"
        raise BadSource(source, problem, hint=_HINT)
    members = dict[str, Member]()
    missing = list[str]()
    for entry in entries:
        member = _own_member(entry, body, found, source) or _member(entry, source, find)
        if member is None:
            missing.append(entry.name)
        elif members.setdefault(member.name, member) != member:
            raise BadSource(source, f"names two personas {member.name!r}", hint=_HINT)
    unique = dict[tuple[str, str], Member]()
    for each in members.values():
        unique.setdefault((each.source, each.text), each)  # nobody sits there twice
    if not entries:
        raise BadSource(source, "names no persona in a form that is read", hint=_HINT)
    return Panel(
        name=name,
        title=heading_name(found[0]) if found else name,
        source=source,
        members=tuple(unique.values()),
        missing=tuple(dict.fromkeys(missing)),
    )


def heading_name(heading: Heading) -> str:
    """Return what a heading names, without the kind of file or the number before it."""
    return _BEFORE_NAME.sub("", heading.title.strip())


def _field_entries(listed: object, source: str) -> Iterator[_Entry]:
    """Yield the personas of the front matter: names, or mappings of one name to a text."""
    if not isinstance(listed, list):
        raise BadSource(source, f"{FIELD} must be a list of names", hint=_HINT)
    for entry in listed:
        pairs = list(entry.items()) if isinstance(entry, dict) else [(entry, "")]
        if len(pairs) != 1 or not all(isinstance(each, str) for each in pairs[0]):
            problem = f"{FIELD} must be names, or NAME: what it looks at, not {entry!r}"
            raise BadSource(source, problem, hint=_HINT)
        name, focus = (part.strip() for part in pairs[0])
        if name:
            yield _Entry(name, (name,), focus)


def _list_entries(body: str) -> Iterator[_Entry]:
    """Yield the personas of the one list under `## Participants`."""
    for heading in headings(body):
        if heading.title.strip().casefold() != _LIST_TITLE:
            continue
        for item in _ITEM.finditer(body[heading.body : heading.end]):
            if item["path"]:
                name = item["title"].strip()
                yield _Entry(name, (item["path"].partition("#")[0], name))
            else:
                name = item["name"].strip(" *`.")
                yield _Entry(name, (name,))
        return


def _last_part(name: str) -> str:
    """Return the name of a persona that is named by its path."""
    return name.rsplit("/", 1)[-1].removesuffix(".md")


def _own_member(entry: _Entry, body: str, found: list[Heading], source: str) -> Member | None:
    """Return the member whose persona is a section of the panel's own file."""
    for heading in found:
        if heading_name(heading) == entry.name:
            section = _RULE.sub("", body[heading.start : heading.end]).strip()
            return Member(entry.name, section, source)
    return None


def _member(entry: _Entry, source: str, find: Find) -> Member | None:
    """Return the member of a persona's file, or one of which the panel says what it looks at."""
    for lookup in entry.lookups:
        persona = find(lookup)
        if persona is not None:
            path, text = persona
            focus = f"\n\nFocus: {entry.focus}" if entry.focus else ""
            name = _last_part(entry.name)
            return Member(name, f"{text.rstrip()}{focus}" if focus else text, path)
    if not entry.focus:
        return None
    text = f"## Role\n\n{entry.name}.\n\n## Evaluate For\n\n{entry.focus}"
    return Member(entry.name, text, source)
