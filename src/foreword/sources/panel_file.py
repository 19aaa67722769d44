"""Who sits on a panel, read from its Markdown.

Two kinds of files are known. A round table lists its personas by name, link or path; their texts
come from files of their own, which the caller finds. A review prompt carries its perspectives with
it: headings with a role under `## Perspectives`, or tables of participants and what they look at. A
file that is itself a persona is a panel of one.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace

from foreword.errors import BadSource
from foreword.review.panel import Member, Panel
from foreword.sources.front_matter import front_matter
from foreword.text.markdown import Heading, blocks, headings

Find = Callable[[str], "tuple[str, str] | None"]
"""From a persona's name or path to (source, text), or None."""

MOST_MEMBERS = 100
_HINT = (
    "list personas under `## Participants`, or describe them under `## Perspectives` with a"
    " **Role:** each"
)

_KIND = re.compile(r"^(?:review|panel|round[ -]?table|persona)\s*:\s*", re.IGNORECASE)
_ROSTER = re.compile(
    r"^(?!per\b).*\b(?:perspectives?|participants?|personas?|members?|reviewers?|panelists?|round"
    r" table|roster)$",
    re.IGNORECASE,
)
_NUMBERED = re.compile(r"^(?:\d{1,3}[.):]|[-*])\s+")
_ROLE = re.compile(
    r"^(?:\*\*|__|#{1,6}[ \t]+)\s*(?:role|evaluate for|focus)\b", re.IGNORECASE | re.MULTILINE
)
_GROUPED = re.compile(r"^\w+ \w{1,3}:\s*")
_MARKER = re.compile(r"^\s*(?:[-*+]|\d{1,9}[.)])\s+(?:\[[ xX]\]\s+)?")
_LINK = re.compile(r"\[([^\]\n]{1,200})\]\(<?([^)\s>]{1,400})>?[^)\n]{0,200}\)")
_CODE = re.compile(r"`([^`\n]{1,200})`")
_BOLD = re.compile(r"\*\*([^*\n]{1,200})\*\*|__([^_\n]{1,200})__")
_PATH = re.compile(r"[\w.@-]+(?:/[\w.@-]+)+|[\w@-]+\.md\b")
_PLACE = re.compile(rf"`?(?:{_LINK.pattern}|{_PATH.pattern})`?")
_ASIDE = re.compile(r"\s+(?:--?|[–—])\s+|\s*[:(]\s*|\s*,\s+|[.;]\s")
_RULE = re.compile(r"(?:\s*^\s*(?:-{3,}|\*{3,}|_{3,})[ \t]*$)+\s*\Z", re.MULTILINE)
_WHO = frozenset(
    "participant participants persona personas member members reviewer perspective agent name".split()
)
_NO_ROW = re.compile(r"^[\s|:-]*$")


@dataclass(frozen=True, slots=True)
class _MemberEntry:
    """One place at the table: names to look a persona up by, and what the file itself says about
    it."""

    name: str
    lookups: tuple[str, ...]
    text: str = ""
    group: str = ""


def read_panel(text: str, name: str, source: str, find: Find) -> Panel:
    """The panel that a file describes; `BadSource` where nobody sits on it."""
    title = _KIND.sub("", next((one.title for one in headings(text)), "")) or name
    seats = [seat for seat in _seats(text, title) if seat.name]
    if len(seats) > MOST_MEMBERS:
        raise BadSource(
            source, f"names {len(seats):,} personas; a panel has at most {MOST_MEMBERS}", hint=_HINT
        )
    members, missing = list[Member](), list[str]()
    for seat in _told_apart(seats):
        member = _seated(seat, source, find)
        if member is None:
            missing.append(seat.name)
        elif (member.source, member.text) not in [(one.source, one.text) for one in members]:
            members.append(member)
    if not members and not missing:
        raise BadSource(source, "names no persona", hint=_HINT)
    return Panel(
        name=name,
        title=title,
        source=source,
        members=tuple(members),
        missing=tuple(dict.fromkeys(missing)),
    )


def _seats(text: str, title: str) -> Iterator[_MemberEntry]:
    """Everyone the file names, by the first way of naming them that it uses."""
    fields, body, _ = front_matter(text)
    listed = next(
        (fields[key] for key in ("personas", "participants", "members") if key in fields), None
    )
    if isinstance(listed, list):
        yield from (_MemberEntry(name, (name,)) for name in map(_field_name, listed))
        return
    found = headings(body)
    rosters = [one for one in found if one.level > 1 and _ROSTER.search(_plain(one.title))]
    highest = min((one.level for one in rosters), default=0)
    seats = [
        seat for one in rosters if one.level == highest for seat in _in_roster(body, one, found)
    ]
    if not seats and _is_persona(body):
        seats = [_MemberEntry(title, (), body.strip())]
    yield from (
        seats or list(_rows(body, "")) or (seat for seat in _listed(body) if _names_a_file(seat))
    )


def _field_name(listed: object) -> str:
    """A persona as front matter names it: by a word, or by a mapping with one."""
    if isinstance(listed, dict):
        listed = next((listed[key] for key in ("name", "file", "path") if listed.get(key)), "")
    return listed.strip() if isinstance(listed, str) else ""


def _names_a_file(seat: _MemberEntry) -> bool:
    return any(way.endswith(".md") for way in seat.lookups)


def _in_roster(text: str, roster: Heading, found: list[Heading]) -> Iterator[_MemberEntry]:
    """The seats under a heading: each heading below it, or the lists and tables in them."""
    inside = [one for one in found if roster.start < one.start < roster.end]
    highest = min((one.level for one in inside), default=0)
    below = [one for one in inside if one.level == highest]
    start = roster.body
    for heading in below:
        yield from _listed(text[start : heading.start])
        part, start = text[heading.start : heading.end], heading.end
        name = _NUMBERED.sub("", _plain(heading.title))
        if _ROLE.search(part):
            yield _MemberEntry(name, (), _RULE.sub("", part).strip())
        elif rows := list(_rows(text[heading.body : heading.end], _GROUPED.sub("", name))):
            yield from rows
        elif not text[heading.body : heading.end].strip() or _LINK.search(part):
            yield _MemberEntry(name, (*_ways(part), name))
    yield from _listed(text[start : roster.end])


def _listed(text: str) -> Iterator[_MemberEntry]:
    """One seat for each item of a list and each row of a table of participants."""
    for block in blocks(text):
        if block.kind == "item" and block.level == 0:
            line = _MARKER.sub("", text[block.start : block.end]).splitlines()[0]
            yield _MemberEntry(_spoken(line), (*_ways(line), _spoken(line)))
    yield from _rows(text, "")


def _rows(text: str, group: str) -> Iterator[_MemberEntry]:
    """The rows of every table whose first column says who."""
    who = False
    for block in blocks(text):
        if block.kind != "table":
            who = False
        elif not block.level:
            cells = _cells(text[block.start : block.end].splitlines()[0])
            who = bool(cells) and _plain(cells[0]).casefold() in _WHO
        elif who and not _NO_ROW.match(row := text[block.start : block.end]):
            first, *rest = _cells(row)
            places = [cell for cell in rest if _PLACE.fullmatch(cell)]
            name = _spoken(first) if _PLACE.fullmatch(first) else _plain(first)
            focus = ". ".join(cell for cell in rest if cell and cell not in places)
            yield _MemberEntry(name, (*_ways(" ".join([first, *places])), name), focus, group)


def _cells(row: str) -> list[str]:
    return [cell.strip() for cell in row.strip().strip("|").split("|")]


def _ways(text: str) -> tuple[str, ...]:
    """What a persona might be found under, the surest first: the target of a link, a path, a
    word in code."""
    links = [target.split("#")[0] for _, target in _LINK.findall(text)]
    return tuple(
        dict.fromkeys(way for way in [*links, *_PATH.findall(text), *_CODE.findall(text)] if way)
    )


def _spoken(line: str) -> str:
    """The name in a line: what is linked or bold, else what stands in front of an aside."""
    if link := _LINK.search(line):
        return _plain(link[1])
    if bold := _BOLD.search(line):
        return _plain(bold[1] or bold[2]).rstrip(" :")
    if path := _PATH.match(line.strip("`* ")):
        return path[0].rsplit("/", 1)[-1].removesuffix(".md")
    return _ASIDE.split(_plain(line), maxsplit=1)[0].strip(" .:@")


def _plain(text: str) -> str:
    return re.sub(r"[*`]+", "", text).strip()


def _is_persona(text: str) -> bool:
    return any(
        _plain(one.title).casefold() in ("role", "evaluate for") for one in headings(text)
    ) or bool(_ROLE.search(text))


def _told_apart(seats: list[_MemberEntry]) -> list[_MemberEntry]:
    """The seats with names that differ: the same name in two groups has the group behind it, or
    else a number."""
    names = [seat.name for seat in seats]
    taken, apart = set[str](), list[_MemberEntry]()
    for seat in seats:
        name = (
            f"{seat.name} ({seat.group})"
            if names.count(seat.name) > 1 and seat.group
            else seat.name
        )
        if name in taken and not seat.text:
            continue  # the same persona, listed twice
        unique = next(
            each
            for each in (name, *(f"{name} {n}" for n in range(2, len(seats) + 2)))
            if each not in taken
        )
        taken.add(unique)
        apart.append(replace(seat, name=unique))
    return apart


def _seated(seat: _MemberEntry, source: str, find: Find) -> Member | None:
    """The member for a seat: by a file of its own, else by what the panel says; None where there
    is neither."""
    found = next((persona for way in seat.lookups if (persona := find(way))), None)
    if found:
        where, text = found
        return Member(
            seat.name, f"{text.rstrip()}\n\nFocus: {seat.text}" if seat.text else text, where
        )
    if not seat.text:
        return None
    return Member(seat.name, seat.text if not seat.lookups else _described(seat), source)


def _described(seat: _MemberEntry) -> str:
    """A persona of which the panel says only what it looks at."""
    where = f" in the track {seat.group}" if seat.group else ""
    return (
        f"## Role\n\n{seat.name.removesuffix(f' ({seat.group})')}{where}.\n\n## Evaluate"
        f" For\n\n{seat.text}"
    )
