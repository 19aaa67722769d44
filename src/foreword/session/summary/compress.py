"""Compress a conversation into a summary of its own words: the one path.

Lines that decide, ask, find, fail or fix, and a ledger of what is in play, inside a room that is
never exceeded. An earlier summary is folded in, so that compressing again and again neither grows
nor forgets what was decided. Pure: no model, no clock, the same messages give the same bytes.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace

from foreword.message import Message, Text, ToolCall, ToolResult
from foreword.session.summary.candidate_lines import CandidateLine, find_lines
from foreword.session.summary.draft import Draft
from foreword.session.summary.ledger import entry, named_before
from foreword.session.summary.name_weights import (
    Mention,
    RowNames,
    find_mentions,
    literals,
    worth,
)
from foreword.session.summary.plan_status import mark_finished_tasks, reopens
from foreword.session.summary.remarks import LONGEST_SUMMARY, cap_text, remarks, summaries
from foreword.session.summary.summary_text import read
from foreword.text import relevance
from foreword.tokens import Counter

# What the query adds to the line that answers it best: more than a likely name. The others get the
# eighth power of their share, next to nothing: with the fourth, two of 100 whole lines that are
# needed later are lost. By the fit half of it is +0.2 on all 99 cases and chosen by one fold of
# four; half as much again changes nothing.
ASKED_LINE = 30.0
RULE_LINE = 12.0  # the same for a rule of the user's: no question may push it out
ASKED_NAME = 1.5  # what a name is multiplied by when the query names it
BEFORE = 0.3  # what a mention in an earlier summary weighs: a tenth of one by the user
OPENING_CHARS = 6  # of a text that is looked for: few that begin alike are not the same
LONGEST_QUERY = 4_000  # characters of a query in which names are looked for: a bound on work


def compress(
    messages: Sequence[Message],
    room: int,
    counter: Counter,
    *,
    earlier: str = "",
    keep: Iterable[str] = (),
    finished: Sequence[tuple[str, str]] = (),
    query: str = "",
    beside: str = "",
    only_names: bool = False,
) -> str:
    """What stands in for the messages and the earlier summary, at most `room` tokens by the
    counter.

    `keep` are names to have in it where they occur, `finished` the descriptions and statuses of
    tasks that are over by the plan; `query` says what the reader will ask. `beside` is a text that
    the reader has anyway, such as a summary that somebody else wrote: what it says is not repeated.
    `only_names` leaves the lines away, for a text that has its own.
    """
    before_text = "\n".join([earlier, *summaries(messages)]).strip()
    before = read(cap_text(before_text, LONGEST_SUMMARY))
    said = remarks(messages)
    names_before = named_before(before)
    row_names = RowNames()
    found = _with_before(find_mentions(said, len(messages), row_names), names_before)
    candidates = list[CandidateLine]()
    if not only_names:
        candidates = find_lines(said, found, before, length=len(messages), row_names=row_names)
    candidates = _without_finished_tasks(candidates, finished)
    values = _worth_by_query(worth(found), query)
    required = _occurring_names(keep, messages, before_text)
    if beside:
        shown = _ShownText(beside)
        candidates = [line for line in candidates if line.text not in shown]
        found = {name: found[name] for name in found if name not in shown}
        values = {name: values[name] for name in found}
        names_before = [name for name in names_before if name not in shown]
        required = [name for name in required if name not in shown]
    draft = Draft(
        lines=_weighted_by_query(candidates, query),
        found=found,
        worth=values,
        names_before=names_before,
        required=[entry(name) for name in required],
        room=max(0, counter.room(room)),
        counter=counter,
    )
    return draft.write()


class _ShownText:
    """A text in which many others are looked for: most are not in it, and their first letters say
    so."""

    def __init__(self, text: str) -> None:
        self._text = text
        self._openings = {text[at : at + OPENING_CHARS] for at in range(len(text))}

    def __contains__(self, wanted: str) -> bool:
        is_long = len(wanted) >= OPENING_CHARS
        if is_long and wanted[:OPENING_CHARS] not in self._openings:
            return False
        return wanted in self._text


def _with_before(found: dict[str, Mention], names: Iterable[str]) -> dict[str, Mention]:
    """The names in play, with those of an earlier summary among them."""
    for name in names:
        mention = found.setdefault(name, Mention(last=-1))
        mention.weight += BEFORE
        mention.voices.add("before")
    return found


def _without_finished_tasks(
    candidates: Iterable[CandidateLine], finished: Sequence[tuple[str, str]]
) -> list[CandidateLine]:
    """The lines without those that would reopen what the plan has finished; others that mention
    it say so."""
    if not finished:
        return list(candidates)
    lines = list[CandidateLine]()
    for line in candidates:
        if line.kind == "open" and reopens(line.text, finished):
            continue
        lines.append(replace(line, text=mark_finished_tasks(line.text, finished)))
    return lines


def _weighted_by_query(candidates: Sequence[CandidateLine], query: str) -> list[CandidateLine]:
    if not query.strip():
        return list(candidates)
    scores = relevance.rank([line.text for line in candidates], query)
    top = max(scores, default=0.0) or 1.0
    lines = list[CandidateLine]()
    for line, score in zip(candidates, scores, strict=True):
        more = ASKED_LINE * (score / top) ** 8
        if line.kind == "constraint":
            more = max(more, RULE_LINE)
        lines.append(replace(line, weight=line.weight + more) if more else line)
    return lines


def _worth_by_query(values: Mapping[str, float], query: str) -> Mapping[str, float]:
    weighted = dict(values)
    for name in literals(query[:LONGEST_QUERY]):
        if name in values:
            weighted[name] = ASKED_NAME * values[name]
    return weighted


def _occurring_names(keep: Iterable[str], messages: Sequence[Message], before: str) -> list[str]:
    """The wanted names that really occur, each once; one that spans lines can't stand in a
    ledger."""
    texts = [before]
    for message in messages:
        texts += [_part_text(part) for part in message.parts]
    names = list[str]()
    for name in dict.fromkeys(name.strip() for name in keep):
        fits_line = name and "\n" not in name
        if fits_line and any(name in text for text in texts):
            names.append(name)
    return names


def _part_text(part: object) -> str:
    match part:
        case Text(text) | ToolResult(text=text):
            return text
        case ToolCall(arguments=arguments):
            return arguments
        case _:
            return ""
