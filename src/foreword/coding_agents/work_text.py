"""Where the work stands, as a model reads it: in so many characters, and beside what it already
has.

What the reader knows from elsewhere (the summary that its agent wrote, say) is not said again: the
room goes to the rest. First every part has a share, then names take what is left, then the lines
that found no place.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

from foreword.coding_agents.work_state import AgentWork
from foreword.text.words import STOP_WORDS, is_literal, names, occurs, words

# Of the room, for each part at first. Judged on the development compactions beside the summaries
# written then: with names at half of it 84% of what was needed later is there, at a third of it as
# much, but hardly a line; what a part leaves goes to the names.
# In the order of a handoff: where it stands, what is open, decided, learnt, how it is checked.
SHARES = {
    "user_words": 0.12,
    "open": 0.1,
    "decisions": 0.1,
    "errors": 0.08,
    "findings": 0.06,
    "commands": 0.05,
    "files": 0.14,
}
TITLES = {
    "user_words": "In the user's words",
    "open": "Open, and what comes next",
    "decisions": "Decided",
    "errors": "Errors and their fixes",
    "findings": "Found",
    "commands": "Commands",
    "files": "Files, and what was done to them",
}
NAMES = "Names in play"
SAID = 0.75  # of a line's words, in what the reader has, for it to be said there already
PER_NAME = 2.0  # what a new name is worth beside the line itself
OVERHEAD = 40  # characters added to the length of every line: a short one is not better for it
SHORTEST_NAME = 4  # characters: a shorter one is in any text
ROW = 4  # characters around the names of a row
_SEPARATOR = ", "


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


def work_text(state: AgentWork, room: int, known: str = "") -> str:
    """The state in at most so many characters, without what is known."""
    known_words = frozenset(words(known.lower()))
    writer = _Writer(known, known_words, room)
    head = _head(state, writer)
    writer.left -= sum(len(title) + 3 for title in (*TITLES.values(), NAMES))
    taken: dict[str, dict[int, str]] = {part: {} for part in SHARES}
    for part, share in SHARES.items():
        _take(taken[part], getattr(state, part), writer, int(share * room))
    files = _take_names(state, writer)
    for part in SHARES:
        _take(taken[part], getattr(state, part), writer, writer.left)
    blocks = list(head)
    for part, lines in taken.items():
        if lines:
            rows = [f"- {lines[at]}" for at in sorted(lines)]
            blocks.append("\n".join([f"{TITLES[part]}:", *rows]))
    if files:
        blocks.append("\n".join([f"{NAMES}:", *(f"- {row}" for row in files)]))
    return "\n".join(blocks)


def whole_text(state: AgentWork) -> str:
    """All of the state, for a reader who has nothing else: as a summary it was made to size, and a
    line that is left out takes its names along."""
    blocks = list(_head_lines(state))
    for part, title in TITLES.items():
        lines = getattr(state, part)
        if lines:
            blocks.append("\n".join([f"{title}:", *(f"- {line}" for line in lines)]))
    rows = [*state.ledger, _SEPARATOR.join(state.names)]
    if any(rows):
        blocks.append("\n".join([f"{NAMES}:", *(f"- {row}" for row in rows if row)]))
    return "\n".join(blocks)


def _head(state: AgentWork, writer: _Writer) -> list[str]:
    """The lines that are always there, where there is room."""
    lines = []
    for line in _head_lines(state):
        if len(line) < writer.left // 3:
            writer.add(line)
            lines.append(line)
    return lines


def _head_lines(state: AgentWork) -> Iterator[str]:
    for label, text in (
        ("Objective", state.objective),
        ("Asked last", state.asked if state.asked != state.objective else ""),
        ("Said last", state.replied),
    ):
        if text:
            yield f"{label}: {text}"


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


def _take_names(state: AgentWork, writer: _Writer) -> list[str]:
    """Rows of names: beside the file they are in where that is known, the others in one row."""
    rows = list[str]()
    for row in state.ledger:
        writer.left -= ROW
        file, colon, names = row.partition(": ")
        new = _new_names([file, *names.split(_SEPARATOR)] if colon else [row], writer)
        if new and file in new and len(new) > 1:
            rows.append(f"{file}: {_SEPARATOR.join(new[1:])}")
        elif new:
            rows.append(_SEPARATOR.join(new))
        else:
            writer.left += ROW
    writer.left -= ROW
    others = _new_names(state.names, writer)
    if others:
        rows.append(_SEPARATOR.join(others))
    return rows


def _new_names(names: Iterable[str], writer: _Writer) -> list[str]:
    new = list[str]()
    for name in names:
        if name.strip() and len(name) + 3 <= writer.left and not writer.has(name):
            writer.known += f"\n{name}"
            writer.left -= len(name) + len(_SEPARATOR)
            new.append(name)
    return new
