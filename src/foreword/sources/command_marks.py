"""Find the commands that a Markdown text asks to have run, and leave alone whatever merely looks
like one.

Sure marks are `` !`command` ``. Loose ones have no such frame (`State: !cat STATE.md` at a line's
end, or a code span `` `!cat STATE.md` `` alone on its line): whoever runs them must see first
whether they name a program at all. Fenced code and quoted code spans hold no marks. Pure; running
is the business of `commands`.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

from foreword.pattern import lazy_pattern

_LEAD = r"[ \t>]*(?:(?:[-*+]|\d{1,9}[.)])[ \t]+)*"
_FENCE = lazy_pattern(rf"{_LEAD}(?P<fence>`{{3,}}|~{{3,}})(?P<info>.*)")
_ALONE = lazy_pattern(rf"(?P<lead>{_LEAD})(?P<ticks>`+)!(?P<command>[^`]+)(?P=ticks)\s*")
_AT_END = lazy_pattern(rf"(?:^{_LEAD}|:[*_]*[ \t]+)!(?P<command>[\w./][^`!]*)$")
_PROSE = lazy_pattern(r".*[^\W\d_][.,;:?]")
_TICKS = lazy_pattern(r"`+")
_BEFORE = lazy_pattern(r"[\w\\!`]")


@dataclass(frozen=True, slots=True, kw_only=True)
class CommandMark:
    """A command and the stretch of text its output takes the place of; `loose` where it may be
    mere prose."""

    command: str
    line: int
    start: int
    end: int
    loose: bool = False


def marks(text: str) -> Iterator[CommandMark]:
    """The commands of a text, in order."""
    offset = 0
    fence = ""
    for number, line in enumerate(text.split("\n"), 1):
        found = _FENCE.match(line)
        if fence:
            if found and _closes(found, fence):
                fence = ""
        elif found and not (found["fence"][0] == "`" and "`" in found["info"]):
            fence = found["fence"]
        elif "!" in line:
            yield from _in_line(line, number, offset)
        offset += len(line) + 1


def _closes(found: re.Match[str], fence: str) -> bool:
    return found["fence"].startswith(fence) and not found["info"].strip()


def _in_line(line: str, number: int, offset: int) -> Iterator[CommandMark]:
    alone = _ALONE.fullmatch(line)
    if alone and _is_plausible(alone["command"]):
        end = alone.end("command") + len(alone["ticks"])
        yield CommandMark(
            command=alone["command"].strip(),
            line=number,
            start=offset + alone.end("lead"),
            end=offset + end,
            loose=True,
        )
        return
    after = 0
    for start, inner, inner_end, end in _spans(line):
        after = end
        command = line[inner:inner_end].strip()
        is_marked = line[start - 1 : start] == "!"
        if command and is_marked and not _BEFORE.match(line[max(0, start - 2) : start - 1]):
            yield CommandMark(
                command=command, line=number, start=offset + start - 1, end=offset + end
            )
    bare = _AT_END.search(line, after)
    if bare and _is_plausible(bare["command"]):
        command = bare["command"].rstrip()
        start = offset + bare.start("command")
        yield CommandMark(
            command=command, line=number, start=start - 1, end=start + len(command), loose=True
        )


def _is_plausible(command: str) -> bool:
    """Whether it could be a command at all: it begins like a word and does not end like a
    sentence."""
    return re.match(r"[\w./]", command) is not None and not _PROSE.fullmatch(command.rstrip())


def _spans(line: str) -> Iterator[tuple[int, int, int, int]]:
    """The code spans of a line, as Markdown pairs its backquotes: outer start, inner start,
    inner end, outer end."""
    runs = list(_TICKS.finditer(line))
    partner: dict[int, int] = {}
    nearest: dict[int, int] = {}
    for index in reversed(range(len(runs))):
        length = len(runs[index][0])
        if length in nearest:
            partner[index] = nearest[length]
        nearest[length] = index
    index = 0
    while index < len(runs):
        begin = runs[index].start()
        if line[begin - 1 : begin] == "\\" or index not in partner:
            index += 1
            continue
        closing = partner[index]
        yield begin, runs[index].end(), runs[closing].start(), runs[closing].end()
        index = closing + 1
