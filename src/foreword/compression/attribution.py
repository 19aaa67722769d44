"""Who said the lines of a summary that somebody else wrote.

A model, another program or a file may claim that the user said something. A line stands under the
user only where it occurs in the user's messages, else under whoever said or printed it; what nobody
said is the summary's author's own, and marked where it was claimed for the user.
"""

from __future__ import annotations

from collections.abc import Sequence

from foreword.compression.remarks import remarks
from foreword.compression.summary_text import (
    CUT,
    TAGS,
    Part,
    SummaryLine,
    bare,
    bullet,
    escape,
    opening,
    read,
    write,
)
from foreword.messages.message import Message

UNPROVEN = "[unproven]"
SHORTEST = 8  # characters of a line that is looked for: fewer occur anywhere


class SpokenText:
    """All that was said in a conversation, by who said it."""

    def __init__(self, messages: Sequence[Message], earlier: str = "") -> None:
        texts: dict[Part, list[str]] = {"user": [], "assistant": [], "call": [], "printed": []}
        for line in read(earlier).lines:
            texts[line.part].append(line.text)
        for remark in remarks(messages):
            texts[remark.part].append(remark.text)
        self._texts = {part: _plain(" ".join(texts[part])) for part in texts}

    def speaker(self, line: str) -> Part | None:
        """Return who said a line, of several the one that is trusted most; None for nobody."""
        words = _plain(line.replace(UNPROVEN, "").removesuffix(CUT))
        if len(words) < SHORTEST:
            return None
        for part, text in self._texts.items():
            if words in text:
                return part
        return None


def attributed(summary: str, messages: Sequence[Message], earlier: str = "") -> str:
    """Return a summary in our parts, each line under who said it in these messages or in an earlier
    summary that is attributed already."""
    spoken = SpokenText(messages, earlier)
    found = read(summary)
    own = list[str]()  # as its author wrote it
    lines = list[SummaryLine]()
    for row in found.other.splitlines():
        if spoken.speaker(row) == "printed":
            lines.append(SummaryLine("printed", " ".join(bare(row).split())))
        else:
            own.append(escape(row))
    for line in found.lines:
        made = _attributed_line(line, spoken)
        if made.part == "assistant" and own:
            own.append(bullet(made.text).rstrip("\n"))
        else:
            lines.append(made)
    others = write(lines, found.names)
    if not any(row.strip() for row in own):
        return others
    text = "\n".join(own).strip("\n")
    return f"{opening('assistant')}{text}\n</{TAGS['assistant']}>\n{others}".rstrip("\n")


def _attributed_line(line: SummaryLine, spoken: SpokenText) -> SummaryLine:
    speaker = spoken.speaker(line.text)
    if speaker is None and line.part == "user":
        is_marked = UNPROVEN in line.text
        return SummaryLine("assistant", line.text if is_marked else f"{line.text} {UNPROVEN}")
    if speaker is None:
        return line
    return SummaryLine(speaker, line.text)


def _plain(text: str) -> str:
    return " ".join(bare(row) for row in text.split("\n")).casefold()
