"""Summarize a conversation by its own lines, each under the name of who said it: the one path.

One mechanism: coverage. Names, words and lines have a value, and the order of what adds most for
its size does not depend on the budget. An earlier summary is folded in, so that compressing again
and again neither grows nor forgets what was decided. Pure: no model, no clock, no store, the same
messages give the same bytes.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from functools import cache

from foreword.compression.attribution import attributed
from foreword.compression.candidate_lines import CandidateLine, find_lines
from foreword.compression.coverage import Coverage
from foreword.compression.plan_status import mark_finished_tasks, reopens
from foreword.compression.remarks import LONGEST_SUMMARY, cap_text, remarks, summaries
from foreword.compression.summary_text import read
from foreword.compression.worth import content_words, name_values, word_values
from foreword.messages.message import Message
from foreword.messages.parts import part_text
from foreword.text.names import literals
from foreword.tokens import Counter

ASKED_NAME = 1.5  # what a name is multiplied by when the question names it
LONGEST_QUESTION = 4_000  # characters in which names are looked for: a bound on work


def summarize(
    messages: Sequence[Message],
    room: int,
    counter: Counter,
    *,
    earlier: str = "",
    keep: Iterable[str] = (),
    finished: Sequence[tuple[str, str]] = (),
    question: str = "",
    beside: str = "",
    only_names: bool = False,
) -> str:
    """Return what stands in for the messages and the earlier summary, at most `room` tokens.

    `earlier` is a summary that Foreword wrote or attributed. `keep` are names to have in it where
    they occur, `finished` the descriptions and statuses of tasks that are over by the plan,
    `question` what the reader will ask. `beside` is a text that the reader has anyway: what it says
    is not repeated. `only_names` leaves the lines away.
    """
    others = [attributed(text, messages) for text in summaries(messages)]
    before = read(cap_text("\n".join([earlier, *others]), LONGEST_SUMMARY))
    said = remarks(messages)
    names_in = cache(literals)  # finding names is the dearest step
    named_before = list(before.names)
    for line in before.lines:
        named_before += names_in(line.text)
    names = name_values(said, len(messages), names_in, named_before)
    for name in literals(question[:LONGEST_QUESTION]):
        if name in names:
            names[name] *= ASKED_NAME
    lines = list[CandidateLine]()
    if not only_names:
        lines = find_lines(said, before.lines, len(messages), names_in)
        lines = _without_finished_tasks(lines, finished)
    if beside:
        lines = [each for each in lines if each.text not in beside]
        names = {name: value for name, value in names.items() if name not in beside}
    spoken = [each for each in lines if each.words]
    values = word_values(
        [each.words for each in spoken],
        [bool(each.names) for each in spoken],
        content_words(question[:LONGEST_QUESTION]),
    )
    coverage = Coverage(
        lines=lines,
        names=names,
        words=values,
        first=[name for name in _occurring(keep, messages, earlier) if name not in beside],
        room=max(0, counter.room(room)),
        counter=counter,
    )
    return coverage.text()


def _without_finished_tasks(
    lines: Iterable[CandidateLine], finished: Sequence[tuple[str, str]]
) -> list[CandidateLine]:
    """Return the lines; those that speak of a task of the plan that is over as open say so."""
    kept = list[CandidateLine]()
    for line in lines:
        is_task = line.part == "call" and line.text.startswith("[") and reopens(line.text, finished)
        if not is_task:
            line.text = mark_finished_tasks(line.text, finished)
            kept.append(line)
    return kept


def _occurring(keep: Iterable[str], messages: Sequence[Message], earlier: str) -> list[str]:
    """Return the wanted names that occur, each once; one that spans lines can't be listed."""
    wanted = [name for name in dict.fromkeys(name.strip() for name in keep) if name]
    if not wanted:
        return []
    texts = [earlier, *(part_text(part) for message in messages for part in message.parts)]
    text = "\n".join(texts)
    return [name for name in wanted if "\n" not in name and name in text]
