"""Who sits on a panel, read from its Markdown.

Two kinds of files are known. A round table lists its personas by name, link or path; their texts
come from files of their own, which the caller finds. A review prompt carries its perspectives with
it: headings with a role under `## Perspectives`, or tables of participants and what they look at. A
file that is itself a persona is a panel of one.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

from foreword.errors import BadSource
from foreword.pattern import lazy_pattern
from foreword.review.panel import Member, Panel
from foreword.sources.front_matter import front_matter
from foreword.text.markdown import Heading, blocks, headings

Find = Callable[[str], "tuple[str, str] | None"]
"""From a persona's name or path to (source, text), or None."""

# Each member is a call to a model: a file that names more of them is a mistake, or an attack on the
# bill.
MOST_MEMBERS = 100
_HINT = (
    "list personas under `## Participants`, or describe them under `## Perspectives` with a"
    " **Role:** each"
)

_KIND = lazy_pattern(r"^(?:review|panel|round[ -]?table|persona)\s*:\s*", re.IGNORECASE)
_ROSTER = lazy_pattern(
    r"^(?!per\b).*\b(?:perspectives?|participants?|personas?|members?|reviewers?|panelists?|round"
    r" table|roster)$",
    re.IGNORECASE,
)
_NUMBERED = lazy_pattern(r"^(?:\d{1,3}[.):]|[-*])\s+")
_ROLE = lazy_pattern(
    r"^(?:\*\*|__|#{1,6}[ \t]+)\s*(?:role|evaluate for|focus)\b", re.IGNORECASE | re.MULTILINE
)
_GROUPED = lazy_pattern(r"^\w+ \w{1,3}:\s*")
_MARKER = lazy_pattern(r"^\s*(?:[-*+]|\d{1,9}[.)])\s+(?:\[[ xX]\]\s+)?")
_LINK = lazy_pattern(r"\[([^\]\n]{1,200})\]\(<?([^)\s>]{1,400})>?[^)\n]{0,200}\)")
_CODE = lazy_pattern(r"`([^`\n]{1,200})`")
_BOLD = lazy_pattern(r"\*\*([^*\n]{1,200})\*\*|__([^_\n]{1,200})__")
_PATH = lazy_pattern(r"[\w.@-]+(?:/[\w.@-]+)+|[\w@-]+\.md\b")
_PLACE = lazy_pattern(rf"`?(?:{_LINK.pattern}|{_PATH.pattern})`?")
_ASIDE = lazy_pattern(r"\s+(?:--?|[–—])\s+|\s*[:(]\s*|\s*,\s+|[.;]\s")
_RULE = lazy_pattern(r"(?:\s*^\s*(?:-{3,}|\*{3,}|_{3,})[ \t]*$)+\s*\Z", re.MULTILINE)
_COMMENT = lazy_pattern(r"<!--.*?-->", re.DOTALL)
_NAME_COLUMNS = frozenset(
    (
        "participant",
        "participants",
        "persona",
        "personas",
        "member",
        "members",
        "reviewer",
        "perspective",
        "agent",
        "name",
    )
)
_NO_ROW = lazy_pattern(r"^[\s|:-]*$")


@dataclass(frozen=True, slots=True, kw_only=True)
class _RosterEntry:
    """One member as the file lists it: names to look a persona up by, and what the file itself
    says about it."""

    name: str
    lookups: tuple[str, ...]
    text: str = ""
    group: str = ""
    is_heading: bool = False  # with words under it that may be a member's, or about the panel


def read_panel(text: str, name: str, source: str, find: Find) -> Panel:
    """The panel that a file describes; `BadSource` where nobody sits on it."""
    title = _title(text) or name
    entries = [entry for entry in _entries(text, title) if entry.name]
    if len(entries) > MOST_MEMBERS:
        raise BadSource(
            source,
            f"names {len(entries):,} personas; a panel has at most {MOST_MEMBERS}",
            hint=_HINT,
        )
    found = list[tuple[_RosterEntry, Member | None]]()
    has_files = has_roles = False
    for entry in _with_unique_names(entries):
        member = _member(entry, source, find)
        found.append((entry, member))
        if member is not None and member.source != source:
            has_files = True
        elif member is not None and not entry.is_heading:
            has_roles = True
    members = dict[tuple[str, str], Member]()  # by source and text: nobody sits there twice
    missing = list[str]()
    unclear = list[str]()
    for entry, member in found:
        is_without_file = member is None or member.source == source
        if entry.is_heading and is_without_file and has_roles:
            unclear.append(entry.name)  # beside members with roles: words about the panel
        elif member is None or (entry.is_heading and is_without_file and has_files):
            missing.append(entry.name)  # beside members with files: its own is gone, or misspelt
        else:
            members.setdefault((member.source, member.text), member)
    if not members and not missing:
        raise BadSource(source, "names no persona", hint=_HINT)
    return Panel(
        name=name,
        title=title,
        source=source,
        members=tuple(members.values()),
        missing=tuple(dict.fromkeys(missing)),
        unclear=tuple(unclear),
    )


def _title(text: str) -> str:
    """The first heading, without the word that says what kind of file it is."""
    found = headings(text)
    return _KIND.sub("", found[0].title) if found else ""


def _entries(text: str, title: str) -> Iterable[_RosterEntry]:
    """Everyone the file names, by the first way of naming them that it uses."""
    fields, body, _ = front_matter(text)
    listed = _first_value(fields, ("personas", "participants", "members"))
    if isinstance(listed, list):
        return [_RosterEntry(name=name, lookups=(name,)) for name in map(_field_name, listed)]
    entries = _roster_entries(body)
    if not entries and _is_persona(body):
        entries = [_RosterEntry(name=title, lookups=(), text=body.strip())]
    entries = entries or list(_table_entries(body, ""))
    return entries or [entry for entry in _list_entries(body) if _names_a_file(entry)]


def _first_value(fields: Mapping[str, object], keys: Sequence[str]) -> object:
    for key in keys:
        if key in fields:
            return fields[key]
    return None


def _roster_entries(body: str) -> list[_RosterEntry]:
    """Everyone under the headings that announce a roster, those of the highest level."""
    found = headings(body)
    rosters = [one for one in found if _is_roster(one)]
    highest = min((roster.level for roster in rosters), default=0)
    entries = list[_RosterEntry]()
    for roster in rosters:
        if roster.level == highest:
            entries += _in_roster(body, roster, found)
    return entries


def _field_name(listed: object) -> str:
    """A persona as front matter names it: by a word, or by a mapping with one."""
    if isinstance(listed, dict):
        listed = listed.get("name") or listed.get("file") or listed.get("path")
    return listed.strip() if isinstance(listed, str) else ""


def _names_a_file(entry: _RosterEntry) -> bool:
    return any(name.endswith(".md") for name in entry.lookups)


def _is_roster(heading: Heading) -> bool:
    return heading.level > 1 and _ROSTER.search(_plain(heading.title)) is not None


def _in_roster(text: str, roster: Heading, found: list[Heading]) -> Iterator[_RosterEntry]:
    """The members under a heading: each heading below it, or the lists and tables in them."""
    inside = [heading for heading in found if roster.start < heading.start < roster.end]
    highest = min((heading.level for heading in inside), default=0)
    start = roster.body
    for heading in inside:
        if heading.level == highest:
            yield from _list_entries(text[start : heading.start])
            yield from _heading_entries(text, heading)
            start = heading.end
    yield from _list_entries(text[start : roster.end])


def _heading_entries(text: str, heading: Heading) -> Iterator[_RosterEntry]:
    """The member that a heading describes, or the rows of the table under it."""
    part = text[heading.start : heading.end]
    body = text[heading.body : heading.end]
    name = _NUMBERED.sub("", _plain(heading.title))
    if _ROLE.search(part):
        yield _RosterEntry(name=name, lookups=(), text=_RULE.sub("", part).strip())
        return
    rows = list(_table_entries(body, _GROUPED.sub("", name)))
    if rows:
        yield from rows
        return
    lookups = _lookups(part)
    focus = "" if _LINK.search(part) else _COMMENT.sub("", body).strip()
    names_file = any(lookup.endswith(".md") for lookup in lookups)
    yield _RosterEntry(
        name=name,
        lookups=(*lookups, name),
        text="" if names_file else focus,
        is_heading=bool(focus),
    )


def _list_entries(text: str) -> Iterator[_RosterEntry]:
    """One member for each item of a list and each row of a table of participants."""
    for block in blocks(text):
        if block.kind == "item" and block.level == 0:
            line = _MARKER.sub("", text[block.start : block.end]).splitlines()[0]
            name = _name_in(line)
            yield _RosterEntry(name=name, lookups=(*_lookups(line), name))
    yield from _table_entries(text, "")


def _table_entries(text: str, group: str) -> Iterator[_RosterEntry]:
    """The rows of every table whose first column says who."""
    names_members = False
    for block in blocks(text):
        row = text[block.start : block.end]
        if block.kind != "table":
            names_members = False
        elif not block.level:  # the head of a table
            cells = _cells(row.splitlines()[0])
            names_members = bool(cells) and _plain(cells[0]).casefold() in _NAME_COLUMNS
        elif names_members and not _NO_ROW.match(row):
            yield _row_entry(row, group)


def _row_entry(row: str, group: str) -> _RosterEntry:
    """A row: who in the first cell; in the others a file to find them by, and what they look at."""
    first, *rest = _cells(row)
    places = [cell for cell in rest if _PLACE.fullmatch(cell)]
    name = _name_in(first) if _PLACE.fullmatch(first) else _plain(first)
    focus = ". ".join(cell for cell in rest if cell and cell not in places)
    lookups = (*_lookups(" ".join([first, *places])), name)
    return _RosterEntry(name=name, lookups=lookups, text=focus, group=group)


def _cells(row: str) -> list[str]:
    return [cell.strip() for cell in row.strip().strip("|").split("|")]


def _lookups(text: str) -> tuple[str, ...]:
    """What a persona might be found under, the surest first: the target of a link, a path, a
    word in code."""
    names = [target.split("#")[0] for _, target in _LINK.findall(text)]
    names += _PATH.findall(text)
    names += _CODE.findall(text)
    return tuple(dict.fromkeys(name for name in names if name))


def _name_in(line: str) -> str:
    """The name in a line: what is linked or bold, else what stands in front of an aside."""
    link = _LINK.search(line)
    if link:
        return _plain(link[1])
    bold = _BOLD.search(line)
    if bold:
        return _plain(bold[1] or bold[2]).rstrip(" :")
    path = _PATH.match(line.strip("`* "))
    if path:
        return path[0].rsplit("/", 1)[-1].removesuffix(".md")
    return _ASIDE.split(_plain(line), maxsplit=1)[0].strip(" .:@")


def _plain(text: str) -> str:
    return re.sub(r"[*`]+", "", text).strip()


def _is_persona(text: str) -> bool:
    titles = {_plain(heading.title).casefold() for heading in headings(text)}
    return "role" in titles or "evaluate for" in titles or bool(_ROLE.search(text))


def _with_unique_names(entries: list[_RosterEntry]) -> list[_RosterEntry]:
    """The entries with names that differ: the same name in two groups has the group behind it, or
    else a number."""
    times = Counter(entry.name for entry in entries)
    unique = dict[str, _RosterEntry]()
    for entry in entries:
        name = entry.name
        if times[name] > 1 and entry.group:
            name = f"{name} ({entry.group})"
        if name in unique and not entry.text:
            continue  # the same persona, listed twice
        numbered = name
        number = 2
        while numbered in unique:
            numbered = f"{name} {number}"
            number += 1
        unique[numbered] = replace(entry, name=numbered)
    return list(unique.values())


def _member(entry: _RosterEntry, source: str, find: Find) -> Member | None:
    """The member for an entry: by a file of its own, else by what the panel says; None where
    there is neither."""
    for lookup in entry.lookups:
        found = find(lookup)
        if found:
            persona_source, text = found
            if entry.text:
                text = f"{text.rstrip()}\n\nFocus: {entry.text}"
            return Member(entry.name, text, persona_source)
    if not entry.text:
        return None
    text = _persona_text(entry) if entry.lookups else entry.text
    return Member(entry.name, text, source)


def _persona_text(entry: _RosterEntry) -> str:
    """A persona of which the panel says only what it looks at."""
    name = entry.name.removesuffix(f" ({entry.group})")
    track = f" in the track {entry.group}" if entry.group else ""
    return f"## Role\n\n{name}{track}.\n\n## Evaluate For\n\n{entry.text}"
