"""Compress a conversation into a summary of its own words: the one path.

Lines that decide, ask, find, fail or fix, and a ledger of what is in play, inside a room that is
never exceeded. An earlier summary is folded in, so that compressing again and again neither grows
nor forgets what was decided. Pure: no model, no clock, the same messages give the same bytes.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace

from foreword.message import Message, Text, ToolCall, ToolResult
from foreword.session.summary.candidate_lines import MANY, CandidateLine, lines
from foreword.session.summary.draft import Draft
from foreword.session.summary.ledger import entry, named_before
from foreword.session.summary.name_weights import Mention, find_mentions, literals, worth
from foreword.session.summary.plan_status import mark_finished_tasks, reopens
from foreword.session.summary.remarks import LONGEST_SUMMARY, cap_text, remarks, summaries
from foreword.session.summary.summary_text import Summary, read
from foreword.text import relevance
from foreword.tokens import CHARS_PER_TOKEN, Counter

ASKED_LINE = 2.5  # what the query adds to the line that answers it best
ASKED_NAME = 1.5  # what a name is multiplied by when the query names it
PLENTY = 1.5  # times the room in lines to choose from, or more of each result is looked at
BEFORE = 0.3  # what a mention in an earlier summary weighs


def compress(
    messages: Sequence[Message],
    room: int,
    counter: Counter,
    *,
    earlier: str = "",
    keep: Iterable[str] = (),
    settled: Sequence[tuple[str, str]] = (),
    query: str = "",
) -> Summary:
    """What stands in for the messages and the earlier summary, at most `room` tokens by the
    counter."""
    before_text = "\n".join([earlier, *summaries(messages)]).strip()
    before, said = read(cap_text(before_text, LONGEST_SUMMARY)), remarks(messages)
    names_before = named_before(before)
    found = _with_before(find_mentions(said, len(messages)), names_before)
    candidates = lines(said, found, before, len(messages))
    if sum(len(line.text) for line in candidates) < PLENTY * room * CHARS_PER_TOKEN:
        candidates = lines(said, found, before, len(messages), MANY)
    candidates = _unsettled(candidates, settled)
    draft = Draft(
        _answering(candidates, query),
        found,
        _asked(worth(found), query),
        names_before,
        [entry(name) for name in _occurring(keep, messages, before_text)],
        max(0, counter.room(room)),
        counter,
    )
    text = draft.settle()
    return Summary(
        text=text,
        tokens=counter.count(text),
        kept=len(draft.taken),
        dropped=len(candidates) - len(draft.taken),
        names=len(draft.entries),
    )


def _with_before(found: dict[str, Mention], names: Iterable[str]) -> dict[str, Mention]:
    """The names in play, with those of an earlier summary among them."""
    for name in names:
        mention = found.setdefault(name, Mention(last=-1))
        mention.weight += BEFORE
        mention.voices.add("before")
    return found


def _unsettled(
    candidates: Iterable[CandidateLine], settled: Sequence[tuple[str, str]]
) -> list[CandidateLine]:
    """The lines without those that would reopen what the plan has settled; others that mention
    it say so."""
    if not settled:
        return list(candidates)
    still = [
        line
        for line in candidates
        if line.kind != "open" or not reopens(line.text, settled, among_open=True)
    ]
    return [replace(line, text=mark_finished_tasks(line.text, settled)) for line in still]


def _answering(candidates: Sequence[CandidateLine], query: str) -> list[CandidateLine]:
    if not query.strip():
        return list(candidates)
    scores = relevance.rank([line.text for line in candidates], query)
    top = max(scores, default=0.0) or 1.0
    return [
        replace(line, weight=line.weight + ASKED_LINE * (score / top) ** 2)
        for line, score in zip(candidates, scores, strict=True)
    ]


def _asked(values: dict[str, float], query: str) -> Mapping[str, float]:
    return values | {
        name: ASKED_NAME * values[name] for name in literals(query[:4_000]) if name in values
    }


def _occurring(keep: Iterable[str], messages: Sequence[Message], before: str) -> list[str]:
    """The wanted names that really occur, each once; one that spans lines can't stand in a
    ledger."""
    texts = [before, *(_whole(part) for message in messages for part in message.parts)]
    wanted = dict.fromkeys(name.strip() for name in keep)
    return [
        name for name in wanted if name and "\n" not in name and any(name in text for text in texts)
    ]


def _whole(part: object) -> str:
    match part:
        case Text(text) | ToolResult(text=text):
            return text
        case ToolCall(arguments=arguments):
            return arguments
        case _:
            return ""
