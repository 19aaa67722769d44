"""Where the work stands, as a model reads it: in so many characters, and beside what it already
has.

What the reader knows from elsewhere (the summary that its agent wrote, say) is not said again: the
room goes to the rest. First every part has a share, then names take what is left, then the lines
that found no place.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import chain

from foreword.coding_agents.work_parts import HEADS, LISTS, NAMES, Work, head_of
from foreword.compression.summary_text import (
    NAMES_TAG,
    SEPARATOR,
    TAGS,
    Part,
    SummaryLine,
    escape,
    write,
)
from foreword.text.names import is_literal, names
from foreword.text.words import STOP_WORDS, occurs, words

SAID = 0.75  # of a line's words, in what the reader has, for it to be said there already
PER_NAME = 2.0  # what a new name is worth beside the line itself
OVERHEAD = 40  # characters added to the length of every line: a short one is not better for it
SHORTEST_NAME = 4  # characters: a shorter one is in any text
TAG_CHARS = 180  # of all tags together


@dataclass(slots=True)
class _Writer:
    """What is known or written, and the room that is left."""

    known: str
    words: frozenset[str]
    left: int

    def has(self, name: str) -> bool:
        return occurs(self.known, name)

    def add(self, text: str) -> None:
        self.known += f"\n{text}"
        self.left -= len(text) + 3  # its bullet and the end of the line


def work_text(work: Work, room: int, known: str = "", *, is_own: bool = True) -> str:
    """Return the work in at most so many characters, without what is known. Where it is not our
    own, all of it is what a file says, whoever it names."""
    known_words = frozenset(words(known.lower()))
    writer = _Writer(known, known_words, room - TAG_CHARS)
    heads = dict[str, str]()
    for name, text in _heads(work).items():
        if len(text) < writer.left // 3:
            writer.add(text)
            heads[name] = text
    writer.left -= sum(len(part.title) + 3 for part in LISTS)
    taken: dict[str, dict[int, str]] = {part.name: {} for part in LISTS}
    for part in LISTS:
        _take(taken[part.name], work.get(part.name, ()), writer, int(part.share * room))
    names = _new_names(work.get(NAMES, ()), writer)
    for part in LISTS:
        _take(taken[part.name], work.get(part.name, ()), writer, writer.left)
    lines = {name: [rows[at] for at in sorted(rows)] for name, rows in taken.items()}
    return _write(heads, lines, names) if is_own else _write_as_file(heads, lines, names)


def whole_text(work: Work) -> str:
    """Return all of the work, for a reader who has nothing else: as a summary it was made to size,
    and a line that is left out takes its names along."""
    return _write(_heads(work), work, work.get(NAMES, ()))


def _heads(work: Work) -> dict[str, str]:
    """Return the heads by their names, each text once."""
    heads = dict[str, str]()
    for part in HEADS:
        text = head_of(work, part.name)
        if text and text not in heads.values():
            heads[part.name] = text
    return heads


def _write(heads: Mapping[str, str], lines: Work, names: Sequence[str]) -> str:
    """Return the parts, each inside the tag that names who said it."""
    rows: dict[Part, list[str]] = {part: [] for part in TAGS}
    for part in HEADS:
        if part.name in heads:
            rows[part.said_by].append(f"{part.title}: {escape(heads[part.name])}")
    for part in LISTS:
        if lines.get(part.name):
            rows[part.said_by].append(f"{part.title}:")
            rows[part.said_by] += [f"- {escape(line)}" for line in lines[part.name]]
    blocks = list[str]()
    for said_by, tag in TAGS.items():
        if rows[said_by]:
            blocks.append("\n".join([f"<{tag}>", *rows[said_by], f"</{tag}>"]))
    if names:
        listed = escape(SEPARATOR.join(names))
        blocks.append(f"<{NAMES_TAG}>\n{listed}\n</{NAMES_TAG}>")
    return "\n".join(blocks)


def _write_as_file(
    heads: Mapping[str, str], lines: Mapping[str, Sequence[str]], names: Sequence[str]
) -> str:
    texts = chain(heads.values(), *lines.values())
    return write([SummaryLine("printed", text) for text in texts], names)


def _take(taken: dict[int, str], lines: Sequence[str], writer: _Writer, room: int) -> None:
    """Take lines for a part, those first that name most that is new for their length."""
    ranks = dict[int, float]()
    for at, line in enumerate(lines):
        if at in taken:
            continue
        new = [name for name in _names_in(line) if not writer.has(name)]
        if not new and _is_said(line, writer):
            continue
        ranks[at] = (1 + PER_NAME * len(new)) / (len(line) + OVERHEAD)
    used = 0
    for at in sorted(ranks, key=lambda at: (-ranks[at], -at)):
        size = len(lines[at]) + 3
        if used + size <= min(room, writer.left) and lines[at] not in writer.known:
            taken[at] = lines[at]
            used += size
            writer.add(lines[at])


def _names_in(line: str) -> list[str]:
    """The names in a line, each once."""
    found = dict.fromkeys(name for name in names(line) if is_literal(name))
    return [name for name in found if len(name) >= SHORTEST_NAME]


def _is_said(line: str, writer: _Writer) -> bool:
    content = [word for word in words(line.lower()) if word not in STOP_WORDS]
    said = [word for word in content if word in writer.words]
    return bool(writer.words) and len(said) >= SAID * len(content)


def _new_names(names: Iterable[str], writer: _Writer) -> list[str]:
    new = list[str]()
    for name in names:
        if name.strip() and len(name) + 3 <= writer.left and not writer.has(name):
            writer.known += f"\n{name}"
            writer.left -= len(name) + len(SEPARATOR)
            new.append(name)
    return new
