"""`foreword.fit`: any material within a budget, by a question.

The path on one screen: material, passages, ranking, choice, text, report. Nothing is rephrased, the
order stays, every gap has a mark, and what was left out comes back by its handle.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import groupby
from pathlib import Path

from foreword.aliases import by_any_name
from foreword.compression.remarks import remarks
from foreword.compression.worth import name_values
from foreword.context.assemble import keep
from foreword.context.inputs import ReadingResult
from foreword.engine.package import CONVERSATION, Package
from foreword.engine.render import Scale, pieces_of, scale_of_tags, total_units
from foreword.engine.report import Report
from foreword.errors import BadBudget
from foreword.messages.message import Message
from foreword.questions.material import Material, MaterialUnit, read_material
from foreword.questions.passage_choice import SlotChoice, by_names, fill
from foreword.questions.passages import CRUMBS, TALK, WORK, PassageSlot, passages, slots_of
from foreword.questions.write import TurnWriter, kept_entries
from foreword.recipe.budget import choose_counter, whole_number
from foreword.relevance import best_first, rank
from foreword.section import Body, Budget, Choice, Form, Rule, Section
from foreword.sources.project_root import project_root
from foreword.text import weight
from foreword.text.names import literals
from foreword.text.omission_mark import cut_mark
from foreword.text.pieces import Piece
from foreword.tokens import Counter

# Names in 1,000 characters from which on a conversation is an agent's work and no talk. Meetings
# have at most 0.6, dialogues with tools and sessions of coding agents at least 8.
WORK_NAMES = 3
# Of the room, what the question gets and what names do, where a conversation is an agent's work:
# what is needed next is mostly what was named, whatever was asked. Measured on sessions of coding
# agents at 2,000 tokens: names kept are 52% by the question alone, 91% so, 92% at 1 to 8.
QUESTION_SHARE = 1
NAMES_SHARE = 4
DOCUMENT = "document"
NOT_ASKED = "other passages answer better"
_LONGEST_TOKEN = 60  # characters, about: what is longer than so many for each token can't fit
_GUARD_ROUNDS = 40  # times the last passages are taken out again where the text measures otherwise


@by_any_name
def fit(
    material: object,
    *,
    budget: int | str,
    question: str | None = None,
    counter: str | Counter | None = None,
    model: str | None = None,
    root: str | Path = ".",
    db: str | None = None,
    save: bool = True,
) -> Package:
    """What of the material answers the question, within a budget of tokens.

    `material` is a string, a dict (an item or a message), a `foreword.Message`, a `pathlib.Path`
    (a file, or a folder with all its text files), or a list of these. The package keeps their
    order and marks every gap; `report.omissions` says what was left out, and `foreword.recall`
    brings it back from the store `db` (an address), else that of `root`; with `save=False` nothing
    is kept. Without a question it keeps what carries most. `counter` is `o200k`, `cl100k`,
    `estimate` or a `Counter`; without it, it is that of `model`, else `o200k`.
    """
    tokens = whole_number(budget, "budget")
    if tokens is None:
        raise BadBudget(budget)
    read = read_material(material)
    fitting = _QuestionFit(
        material=read,
        question=(question or "").strip(),
        tokens=tokens,
        counter=choose_counter(counter, model),
    )
    package = fitting.package()
    return keep(package, project_root(root), url=db) if save else package


@dataclass(frozen=True, slots=True, kw_only=True)
class _MaterialGroup:
    """Units that share a section: a conversation, a list of texts, or one document."""

    first: int  # of its units among all
    units: Sequence[MaterialUnit]
    section: Section
    writer: TurnWriter

    @property
    def is_conversation(self) -> bool:
        """Whether it has messages to give back."""
        return self.section.tag == CONVERSATION


@dataclass(frozen=True, slots=True, kw_only=True)
class _QuestionFit:
    """One call of `fit`."""

    material: Material
    question: str
    tokens: int
    counter: Counter

    def package(self) -> Package:
        """The package: never over the budget, or an error."""
        units = self.material.units
        groups = _groups(units)
        scale = scale_of_tags({group.section.tag for group in groups}, self.counter)
        if not any(unit.text.strip() for unit in units):
            return self._package([], scale)
        is_work = self._is_work()
        for grain in (WORK if is_work else TALK, CRUMBS):
            slots = slots_of(units, self.question, grain)
            choices = self._fitting_choices(groups, slots, scale, is_work)
            if choices:
                return self._package(choices, scale)
        raise BadBudget(
            self.tokens,
            problem=f"nothing of the material fits {self.tokens:,} tokens",
            hint="give a larger budget",
        )

    def _fitting_choices(
        self,
        groups: Sequence[_MaterialGroup],
        slots: Sequence[PassageSlot],
        scale: Scale,
        is_work: bool,
    ) -> list[Choice]:
        """What becomes of each section within the budget; nothing where no passage fits."""
        if self._may_be_whole():
            whole = self._choices(groups, slots, range(len(slots)), scale)
            if self._total(whole) <= self.tokens:
                return whole
        choice = SlotChoice(
            slots=slots,
            measure=self.counter.measure,
            room=self.counter.room(self.tokens),
            openings=self._openings(groups),
        )
        fill(choice, self._streams(slots, choice, is_work))
        fill(choice, [(reversed(range(len(slots))), 1)])
        for _ in range(_GUARD_ROUNDS):
            choices = self._choices(groups, slots, choice.kept, scale)
            over = self._total(choices) - self.tokens
            if over <= 0 and choice.kept:
                return choices
            if not choice.give_back(self.counter.room(max(1, over))):
                break
        return []

    def _may_be_whole(self) -> bool:
        """Whether everything together could fit: no token is longer than a long word."""
        chars = sum(len(unit.text) for unit in self.material.units)
        return chars <= _LONGEST_TOKEN * self.tokens

    def _is_work(self) -> bool:
        """Whether it is a conversation in which an agent works: with tools, and with much that is
        named. Somebody who talks about code asks for what was said, as in any other talk."""
        said = remarks([unit.message for unit in self.material.units if unit.message])
        if not any(remark.voice in ("call", "printed") for remark in said):
            return False
        chars = names = 0
        for unit in self.material.units:
            chars += len(unit.text)
            names += len(literals(unit.text))
        return 1_000 * names >= WORK_NAMES * chars

    def _streams(
        self, slots: Sequence[PassageSlot], choice: SlotChoice, is_work: bool
    ) -> list[tuple[Iterable[int], int]]:
        """In which orders passages are tried, each with its share of the room."""
        units = self.material.units
        streams: list[tuple[Iterable[int], int]] = []
        if self.question:
            scores = rank(passages(units, slots), self.question)
            streams.append((best_first(scores), QUESTION_SHARE))
        if is_work:
            messages = [unit.message or Message("user", ()) for unit in units]
            values = name_values(remarks(messages), len(messages), literals)
            names = [literals(slot.text) for slot in slots]
            streams.append((by_names(slots, names, values, choice), NAMES_SHARE))
        elif not self.question:
            streams.append((_by_weight(slots), 1))
        return streams

    def _openings(self, groups: Sequence[_MaterialGroup]) -> list[int]:
        """What the first passage of each unit costs besides its words: its label, and of a document
        its name and the mark with the handle."""
        measure = self.counter.measure
        openings: list[int] = []
        for group in groups:
            section = group.section
            mark = cut_mark(tokens=self.tokens, handle=section.handle)
            frame = measure(f"<{section.tag}>\n{section.before}\n</{section.tag}>\n\n\n{mark}")
            for unit in group.units:
                label = measure(f"{unit.label}: ") if unit.label else 0
                openings.append(label if group.is_conversation else label + frame)
        return openings

    def _choices(
        self,
        groups: Sequence[_MaterialGroup],
        slots: Sequence[PassageSlot],
        kept: Iterable[int],
        scale: Scale,
    ) -> list[Choice]:
        """What becomes of each section when these passages are in."""
        by_unit: dict[int, list[PassageSlot]] = {}
        for at in sorted(kept):
            by_unit.setdefault(slots[at].unit, []).append(slots[at])
        choices: list[Choice] = []
        for group in groups:
            own: dict[int, list[PassageSlot]] = {}
            for at in range(len(group.units)):
                if group.first + at in by_unit:
                    own[at] = by_unit[group.first + at]
            choices.append(self._choice(group, own, scale))
        return choices

    def _choice(
        self, group: _MaterialGroup, own: Mapping[int, Sequence[PassageSlot]], scale: Scale
    ) -> Choice:
        """One section with these passages of its units."""
        section = group.section
        if not own:
            return Choice(section, Body(text="", form="gone"), 0, NOT_ASKED)
        text = group.writer.text(group.units, own)
        form: Form = "full" if text == section.text else "relevant"
        if form == "relevant":
            left_out = self.counter.count(section.text) - self.counter.count(text)
            mark = cut_mark(tokens=max(1, left_out), handle=section.handle)
            text = f"{text}\n{mark}"
        entries = kept_entries(group.units, own) if group.is_conversation else ()
        body = Body(
            text=scale.with_frame(section, scale.safe(text, section.origin)),
            form=form,
            kept_entries=entries,
        )
        reason = "" if form == "full" else NOT_ASKED
        return Choice(section, body, scale.units(section.tag, body.text), reason)

    def _total(self, choices: Sequence[Choice]) -> int:
        return self.counter.tokens(total_units(_written_pieces(choices), self.counter))

    def _package(self, choices: Sequence[Choice], scale: Scale) -> Package:
        reading = ReadingResult()
        reading.add_left_out(self.material.left_out)
        report = Report(
            recipe="fit",
            budget=Budget(self.tokens, window_tokens=self.tokens, has_window=False),
            total_tokens=self._total(choices),
            scale=scale,
            came_in=tuple(choice.section for choice in choices),
            decided=dict(enumerate(choices)),
            absent=tuple(reading.absent),
            notes=tuple(self.material.notes),
            shortcomings=tuple(reading.shortcomings),
        )
        return Package("".join(_written_pieces(choices)), report)


def _written_pieces(choices: Iterable[Choice]) -> list[str]:
    return pieces_of([choice for choice in choices if choice.body.form != "gone"])


def _groups(units: Sequence[MaterialUnit]) -> list[_MaterialGroup]:
    """The sections: documents each for itself, what stands between them together."""
    groups: list[_MaterialGroup] = []
    first = 0
    for is_document, run in groupby(units, key=lambda unit: bool(unit.source)):
        for members in [[unit] for unit in run] if is_document else [list(run)]:
            groups.append(_group(members, first))
            first += len(members)
    return groups


def _group(units: Sequence[MaterialUnit], first: int) -> _MaterialGroup:
    writer = TurnWriter(units)
    title = units[0].source
    is_talk = any(unit.message or unit.label for unit in units) and not title
    tag = CONVERSATION if is_talk else DOCUMENT if title else "text"
    section = Section(
        tag=tag,
        text=writer.whole_text(units),
        rule=Rule(forms=("full", "relevant", "gone")),
        title=title,
        source=title,
        kind=CONVERSATION if is_talk else "",
        before=f"# {title}" if title else "",
        raw=_original(units),
    )
    return _MaterialGroup(first=first, units=units, section=section, writer=writer)


def _original(units: Sequence[MaterialUnit]) -> bytes | None:
    """The bytes that `recall` brings back: texts as they came, with the blank lines around them.
    Several turns are brought back as they are written, with who said them and when."""
    if len(units) == 1:
        only = units[0]
        return only.raw if only.raw is not None else _as_bytes(only.text)
    if any(unit.label or unit.date for unit in units):
        return None
    return _as_bytes("\n".join(unit.text for unit in units))


def _as_bytes(text: str) -> bytes:
    return text.encode("utf-8", "surrogatepass")


def _by_weight(slots: Sequence[PassageSlot]) -> list[int]:
    """What carries most, without a question."""
    weights = weight.carry([Piece(text=slot.text, kind="paragraph") for slot in slots])
    return sorted(range(len(slots)), key=lambda at: (-weights[at], at))
