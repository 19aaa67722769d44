"""The bill: every token of a package, every omission, why, and how to get it back.

Pure. Built from the choices of `fit`; rows are worked out when they are first read, so that a
caller who never asks does not pay for counting what was left out. Drawing the table is `str()` of
the report.
"""

from __future__ import annotations

from collections import Counter as Tally
from collections.abc import Mapping, Sequence, Set
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any, Literal

from foreword.engine import forms
from foreword.engine.render import Scale, pieces_of, total_units, written_units
from foreword.section import STANDS_BY, Absent, Body, Budget, Choice, Section, Share
from foreword.text.lookalikes import Lookalike
from foreword.tokens import counter, estimate_error

GONE = Body(text="", form="gone")
NO_ROOM = "no room left"
# Tags that outlive an omission, before they are only counted: one line of a terminal.
MOST_NAMED = 3


@dataclass(frozen=True, slots=True, kw_only=True)
class Row:
    """One section on the bill."""

    tag: str
    tier: int
    form: str
    tokens: int
    original_tokens: int
    share: float  # of the window
    target: str
    source: str
    title: str = ""
    over_target: bool = False
    target_group: str = ""  # with whom it shares its target
    essential: bool = False
    kind: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Omission:
    """Something that came in and did not go out whole."""

    tag: str
    what: str
    tokens: int
    reason: str
    handle: str


@dataclass(frozen=True, slots=True)
class Check:
    """One line of the self-check: a claim, whether it holds, and the figures behind it."""

    claim: str
    holds: bool
    detail: str = ""


@dataclass(frozen=True, kw_only=True)
class Report:
    """What a package is made of and what it left out."""

    recipe: str
    budget: Budget
    total_tokens: int
    scale: Scale = field(repr=False)
    came_in: Sequence[Section] = field(repr=False)
    decided: dict[int, Choice] = field(repr=False)
    absent: tuple[Absent, ...] = ()
    notes: tuple[str, ...] = ()
    profile: dict[str, str] = field(default_factory=dict)
    tier_shares: dict[int, float] = field(default_factory=dict)
    note: str = ""  # the last line, on what is gone
    checks: tuple[Check, ...] = ()
    shortcomings: tuple[str, ...] = ()  # why a context that is whole is still not what it should be
    # inside sections that are in: a message that was shortened, a stretch summed up
    cuts: tuple[Omission, ...] = ()
    cost: Mapping[str, Any] | None = None  # of sending it, by a model's price; none is known

    @cached_property
    def choices(self) -> tuple[Choice, ...]:
        """What became of every section that came in, in reading order."""
        tags = {section.tag for section in self.came_in}
        choices: list[Choice] = []
        for index, section in enumerate(self.came_in):
            choice = self.decided.get(index)
            if choice is None:
                choice = Choice(section, GONE, 0, _absence_reason(section, tags))
            choices.append(choice)
        return tuple(choices)

    @property
    def note_tokens(self) -> int:
        """The tokens of the note."""
        return self.scale.counter.count(self.note)

    @property
    def budget_tokens(self) -> int:
        """The most tokens the package may have."""
        return self.budget.tokens

    @property
    def status(self) -> Literal["within", "trimmed"]:
        """Whether everything that came in is in, whole."""
        for choice in self.choices:
            if choice.is_cut and not choice.section.rule.excluded:
                return "trimmed"
        return "within"

    @cached_property
    def sections(self) -> tuple[Row, ...]:
        """One row for each section that came in, in reading order; the tokens add up to the
        total."""
        rows: list[Row] = []
        for choice, tokens in zip(self.choices, self._tokens_by_choice(), strict=True):
            if choice.reason != STANDS_BY:
                rows.append(self._row(choice, tokens))
        rows = self._with_target_marks(rows)
        if self.note_tokens:
            rows.append(
                Row(
                    tag="note",
                    tier=0,
                    form="full",
                    tokens=self.note_tokens,
                    original_tokens=self.note_tokens,
                    share=self.note_tokens / self.budget.window_tokens,
                    target="",
                    source="foreword",
                )
            )
        return tuple(rows)

    def _tokens_by_choice(self) -> list[int]:
        """The tokens of each choice as it is written, its share of the tags included; together
        they are the total."""
        counter = self.scale.counter
        tokens: list[int] = []
        units = 0
        for size in written_units(self.choices, counter):
            tokens.append(counter.tokens(units + size) - counter.tokens(units))
            units += size
        if tokens:  # the end of the text, and tokens that joined across pieces
            tokens[tokens.index(max(tokens))] += self.total_tokens - self.note_tokens - sum(tokens)
        return tokens

    @cached_property
    def omissions(self) -> tuple[Omission, ...]:
        """One entry for each section that is not whole."""
        omissions: list[Omission] = []
        rows = iter(self.sections)
        for choice in self.choices:
            if choice.reason == STANDS_BY:  # it has no row
                continue
            row = next(rows)
            if choice.is_cut:
                omission = self._omission(choice, row)
                if omission.tokens or not self.cuts:
                    omissions.append(omission)
        return (*omissions, *self.cuts)

    @property
    def kept_tokens(self) -> int:
        """The tokens of what is in."""
        return sum(row.tokens for row in self.sections)

    def tokens_by_tag(self) -> dict[str, int]:
        """The tokens of every tag, in reading order."""
        sizes = dict[str, int]()
        for row in self.sections:
            sizes[row.tag] = sizes.get(row.tag, 0) + row.tokens
        return sizes

    @property
    def omitted_tokens(self) -> int:
        """The tokens of what is not: kept and omitted together are what came in."""
        return sum(omission.tokens for omission in self.omissions)

    @property
    def original_tokens(self) -> int:
        """The tokens of everything that came in, whole."""
        return sum(row.original_tokens for row in self.sections)

    @property
    def rest(self) -> tuple[int, int] | None:
        """Where targets are tokens: what they leave of the budget, and how much of that is used."""
        targets: dict[str, float] = {}
        for section in self.came_in:
            target = section.rule.target
            if target and target.of == "tokens":
                targets[section.tag] = target.value
        if not targets:
            return None
        used = sum(row.tokens for row in self.sections if row.tag not in targets)
        return self.budget.tokens - int(sum(targets.values())), used

    @cached_property
    def warnings(self) -> tuple[str, ...]:
        """What a person should know before the text is sent."""
        warnings = list(self.notes)
        for name, done in self.scale.cleaned.items():
            warnings.append(f"{name}: {done}")
        for name, forgery in self.scale.forged.items():
            warnings.append(
                f"{name}: contains {forgery!r}, which reads as a boundary tag; it was made harmless"
            )
        for name, found in self.scale.alike.items():
            warnings.append(f"{name}: contains {_describe_lookalike(found)}")
        if self.scale.counter.name == "estimate":
            exact = total_units([*pieces_of(self.choices), self.note], counter())
            warnings.append(estimate_error(self.total_tokens, exact))
        if self._was_cut_to_budget():
            warnings.append(
                f"{self.original_tokens:,} tokens came in, over the budget of"
                f" {self.budget.tokens:,}: cut to {self.total_tokens:,}"
            )
        return tuple(warnings)

    def _was_cut_to_budget(self) -> bool:
        """Whether more came in than the budget has room for, in this call and not before it."""
        if self.status == "within" or self.original_tokens <= self.budget.tokens:
            return False
        for choice in self.choices:
            if choice.is_cut and (choice.body.lost or not choice.section.known_as):
                return True
        return False

    def _row(self, choice: Choice, tokens: int) -> Row:
        section = choice.section
        rule = section.rule
        original = tokens + choice.body.lost_tokens + self._tokens_cut_inside(section.tag)
        if choice.body.form != "full" and not section.known_as:
            whole = forms.units(section, forms.full(section, self.scale), self.scale)
            original = self.scale.counter.tokens(whole)
        return Row(
            tag=section.tag,
            tier=rule.tier,
            form=choice.body.form,
            tokens=tokens,
            original_tokens=max(original, tokens),
            share=tokens / self.budget.window_tokens,
            target=describe_target(rule.target),
            source=section.source,
            title=section.title,
            target_group=rule.target_group,
            essential=rule.essential,
            kind=section.kind,
        )

    def _tokens_cut_inside(self, tag: str) -> int:
        return sum(cut.tokens for cut in self.cuts if cut.tag == tag)

    def _with_target_marks(self, rows: list[Row]) -> list[Row]:
        """Rows with a mark where their tag or their group is over its target; all of a tag or a
        group share it."""
        targets = dict[str, Share | None]()
        groups = dict[str, str]()
        for section in self.came_in:
            group = section.rule.target_group or section.tag
            groups[section.tag] = group
            targets[group] = section.rule.target
        tokens = Tally[str]()
        for row in rows:
            tokens[groups[row.tag]] += row.tokens
        over = set[str]()
        for group, total in tokens.items():
            if _is_over(targets[group], total, self.budget.window_tokens):
                over.add(group)
        marked = list[Row]()
        for row in rows:
            is_over = groups[row.tag] in over and row.tokens > 0
            marked.append(replace(row, over_target=True) if is_over else row)
        return marked

    def _omission(self, choice: Choice, row: Row) -> Omission:
        section = choice.section
        reason = choice.reason
        if not section.rule.excluded:
            where = f"in tier {section.rule.tier}" if self.tier_shares else self.outlived_by(choice)
            reason = ", ".join([part for part in (choice.reason, where) if part])
        return Omission(
            tag=section.tag,
            what=_omitted_part(choice),
            tokens=row.original_tokens - row.tokens - self._tokens_cut_inside(section.tag),
            reason=reason,
            handle=section.handle,
        )

    def outlived_by(self, choice: Choice) -> str:
        """`gives way before a, b`: the tags that are kept longer than this one, the next in
        order first."""
        if choice.section.rule.excluded:
            return ""
        own = choice.section.gives_way_at
        later: list[str] = []
        for key, tag in reversed(self._keep_order):
            if key < own and tag != choice.section.tag:
                later.append(tag)
        if not later:
            return ""
        more = f" and {len(later) - MOST_NAMED} more" if len(later) > MOST_NAMED else ""
        return f"gives way before {', '.join(later[:MOST_NAMED])}{more}"

    @cached_property
    def _keep_order(self) -> list[tuple[tuple[int, int, int], str]]:
        """Every tag that may give way with its best place in the order, the longest kept first."""
        best: dict[str, tuple[int, int, int]] = {}
        for section in self.came_in:
            rule = section.rule
            if not (rule.essential or rule.excluded or rule.stands_in_for):
                key = section.gives_way_at
                best[section.tag] = min(best.get(section.tag, key), key)
        return sorted((key, tag) for tag, key in best.items())

    def to_dict(self) -> dict[str, Any]:
        """The report as JSON-ready data."""
        rest: dict[str, Any] = {}
        if self.rest:
            target, tokens = self.rest
            rest["rest"] = {"target": target, "tokens": tokens}
        return {
            "recipe": self.recipe,
            **self.profile,
            "budget_tokens": self.budget.tokens,
            "total_tokens": self.total_tokens,
            "window_tokens": self.budget.window_tokens if self.budget.has_window else None,
            "counter": self.scale.counter.name,
            "exact": self.scale.counter.exact,
            "status": self.status,
            "kept_tokens": self.kept_tokens,
            "omitted_tokens": self.omitted_tokens,
            "original_tokens": self.original_tokens,
            "free_tokens": self.budget.tokens - self.total_tokens,
            **rest,
            "budget_calculation": [
                {"what": what, "tokens": tokens} for what, tokens in self.budget.steps
            ],
            "sections": [_fields(row) for row in self.sections],
            "omissions": [_fields(omission) for omission in self.omissions],
            "absent": [_fields(absent) for absent in self.absent],
            "tiers": self._tier_rows(),
            "self_check": [_fields(check) for check in self.checks],
            "cost": dict(self.cost) if self.cost else "unknown",
            "warnings": list(self.warnings),
        }

    def _tier_rows(self) -> list[dict[str, Any]]:
        used = Tally[int]()
        for row in self.sections:
            used[row.tier] += row.tokens
        rows = list[dict[str, Any]]()
        for tier, share in sorted(self.tier_shares.items()):
            allotted = int(share * self.budget.tokens)
            rows.append(
                {"tier": tier, "share": share, "allotted_tokens": allotted, "tokens": used[tier]}
            )
        return rows

    def __str__(self) -> str:
        from foreword.engine.report_table import draw

        return draw(self)


def _fields(value: Row | Omission | Absent | Check) -> dict[str, Any]:
    """The fields of a value that holds texts and numbers; `asdict` looks for more in each of them,
    and takes ten times as long."""
    return {name: getattr(value, name) for name in value.__slots__}


def _describe_lookalike(found: Lookalike) -> str:
    more = f", and {found.count - 1:,} more of the kind" if found.count > 1 else ""
    return (
        f"{found.found!a}, which looks like the boundary tag <{found.tag}>{more}; it was left as"
        " it is"
    )


def _absence_reason(section: Section, tags: Set[str]) -> str:
    """Why a section nothing was decided for is not in; one that stands in for nothing was wanted
    for itself."""
    if section.rule.excluded:
        return section.rule.excluded
    return STANDS_BY if section.rule.stands_in_for in tags else NO_ROOM


def _omitted_part(choice: Choice) -> str:
    section = choice.section
    body = choice.body
    if body.lost:
        entries = forms.members(section.entries) + (body.lost if section.known_as else 0)
        return f"{body.lost:,} of {entries:,} entries of {section.name}"
    if body.form in ("gone", "reference"):
        return f"all of {section.name}"
    return f"part of {section.name}"


def describe_target(target: Share | None) -> str:
    """A target as people write it: `5-10%` or `500`."""
    if target is None:
        return ""
    if target.of == "tokens":
        return f"{target.value:,.0f}"
    low = f"{target.low * 100:.0f}-" if target.low else ""
    return f"{low}{target.value:.0%}"


def _is_over(target: Share | None, tokens: int, window_tokens: int) -> bool:
    if target is None:
        return False
    most = target.value if target.of == "tokens" else target.value * window_tokens
    return tokens > most
