"""`foreword.compress`: a summary of any messages within a budget, and its bill.

Uses no store and no files. Reads what the caller has; the summary is made in `extract`.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

from foreword.compression.extract import summarize
from foreword.compression.summary_text import TAGS, read
from foreword.errors import BadBudget, ForewordError
from foreword.messages.fields import FieldPath
from foreword.messages.message import Message
from foreword.messages.parts import Text
from foreword.messages.shapes import read_any
from foreword.recipe.budget import choose_counter, whole_number
from foreword.tokens import Counter


@dataclass(frozen=True, slots=True, kw_only=True)
class CompressionReport:
    """What a compression kept: tokens, and lines by who said them."""

    budget_tokens: int
    total_tokens: int
    counter: str
    messages: int  # that it stands for
    messages_tokens: int
    lines: Mapping[str, int]  # kept, by the tag of their part
    names: int  # in the list of names
    notes: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Compression:
    """A summary of messages. In a later list of messages it stands for them, with its lines under
    the same speakers."""

    text: str
    report: CompressionReport


def compress(
    messages: Iterable[object],
    budget: int | str,
    *,
    question: str = "",
    plan: Mapping[str, Any] | None = None,
    counter: str | Counter | None = None,
) -> Compression:
    """Return a summary of messages in at most `budget` tokens, each line under who said it.

    `messages` are `foreword.Message` values, dicts in any provider's form, texts (of nobody known),
    or an earlier `Compression`. `question` is what the reader will ask; what `plan` refers to is
    kept, and its finished tasks are not opened again. A message that can't be read is data. Raises
    `BadBudget` for a budget that is no number and `BadPlan` for a plan that is none.
    """
    from foreword.plan import plan as planning

    tokens = whole_number(budget, "budget")
    if tokens is None:
        raise BadBudget(budget)
    chosen = choose_counter(counter, None)
    finished = list[tuple[str, str]]()
    keep = list[str]()
    if plan is not None:
        valid_plan = planning.read_plan(plan)
        finished = [(task, status) for _, task, status in planning.finished_tasks(valid_plan)]
        keep = sorted(planning.identifiers(valid_plan))
    given = _read_input(messages)
    text = summarize(
        given.messages,
        tokens,
        chosen,
        earlier=given.earlier,
        keep=keep,
        finished=finished,
        question=question,
    )
    found = read(text)
    counts = dict.fromkeys(TAGS.values(), 0)
    for line in found.lines:
        counts[TAGS[line.part]] += 1
    report = CompressionReport(
        budget_tokens=tokens,
        total_tokens=chosen.count(text),
        counter=chosen.name,
        messages=len(given.messages),
        messages_tokens=sum(chosen.count(message.text) for message in given.messages),
        lines=counts,
        names=len(found.names),
        notes=tuple(given.notes),
    )
    return Compression(text, report)


@dataclass(slots=True)
class _Input:
    """The messages to compress, and summaries that stand for earlier ones."""

    messages: list[Message] = field(default_factory=list)
    earlier: str = ""
    notes: list[str] = field(default_factory=list)


def _read_input(values: Iterable[object]) -> _Input:
    given = _Input()
    single = isinstance(values, str | Mapping)
    for at, value in enumerate([values] if single else values):
        if isinstance(value, Compression):
            given.earlier = f"{given.earlier}\n{value.text}".strip()
            continue
        if isinstance(value, str):
            given.messages.append(_data(value))
            continue
        try:
            given.messages += read_any(value, FieldPath("messages", f"[{at}]"))
        except ForewordError as error:
            given.notes.append(f"message {at} was taken as data: {error.message}")
            given.messages.append(_data(repr(value)))
    return given


def _data(text: str) -> Message:
    """Return a text of nobody known as the output of a tool."""
    return Message("tool", (Text(text),))
