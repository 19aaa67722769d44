"""Which sections a request reads, and under which rules: the recipe as one agent, skill, purpose or
phase sees it.

No I/O: profiles are laid over the recipe, names are checked. What the sections hold is
`context.readers`' business.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from typing import Any, Literal

from foreword.errors import InputMissing, UnknownName
from foreword.recipe.schema import PROFILES, Profile, RecipeSpec, SectionSpec
from foreword.section import DEFAULT_FORMS, Entry, Rank, Rule, Section, Tiers

UNKNOWN_KIND_TIER = 3  # what the purpose does not know, and what has ended, is cut first


@dataclass(frozen=True, slots=True, kw_only=True)
class Selection:
    """The recipe as seen by one request."""

    recipe: RecipeSpec
    sections: dict[str, SectionSpec]  # in reading order
    names: dict[str, str]  # the agent, skill, purpose and phase that were asked for
    required: frozenset[str | tuple[str, ...]]
    optional: frozenset[str]
    gives_way: tuple[str | tuple[str, ...], ...]
    values: dict[str, str]
    when_given: dict[Literal["step"], str] = field(default_factory=dict)
    tiers: Tiers = field(default_factory=Tiers)
    kind_tiers: dict[str, int] = field(default_factory=dict)
    leave_out: dict[str, str] = field(default_factory=dict)
    only_named: frozenset[str] = frozenset()

    def rule(self, tag: str, tier: int | None = None) -> Rule:
        """The engine's rule for a section."""
        spec = self.sections[tag]
        return Rule(
            tier=spec.tier if tier is None else tier,
            essential=spec.essential,
            forms=spec.forms or DEFAULT_FORMS,
            target=spec.target,
            target_group=spec.target_group,
            cap=spec.max,
            floor=spec.min,
            stands_in_for=spec.stands_in_for or "",
        )

    def rank(self, tag: str, order: int = 0) -> Rank:
        """The place in the order of giving way, unlisted: last; with the order among those that
        share it."""
        for place, entry in enumerate(self.gives_way):
            if tag == entry or (isinstance(entry, tuple) and tag in entry):
                return Rank(group=place, order=order)
        return Rank(group=len(self.gives_way), order=order)

    def section(self, tag: str, text: str, *, source: str) -> Section:
        """A text as a section: with its rule and its rank, and the recipe's words around it."""
        spec = self.sections[tag]
        return Section(
            tag=tag,
            text=text,
            rule=self.rule(tag),
            rank=self.rank(tag),
            source=source,
            before=spec.before,
            after=spec.after,
        )

    def line_section(self, tag: str, lines: Iterable[str], *, source: str) -> Section:
        """Lines as a section of which the first stay where there is no room for all."""
        entries = tuple([Entry(line) for line in lines])
        section = self.section(tag, "\n".join([entry.text for entry in entries]), source=source)
        return replace(section, rule=replace(section.rule, newest_first=True), entries=entries)


def select(
    recipe: RecipeSpec, requested: Mapping[str, str], extra_skills: bool = False
) -> Selection:
    """Lay the profiles that were asked for over the recipe; `extra_skills` allows a skill that
    is in no table."""
    names = dict(requested)
    if recipe.default_purpose:
        names.setdefault("purpose", recipe.default_purpose)
    for kind, name in names.items():
        if not name.strip():
            raise InputMissing(
                kind, why="its name is empty", hint=f"name one, or leave --{kind} out"
            )
    _check_needs(recipe, names)
    profiles = {kind: _profile(recipe, kind, name, extra_skills) for kind, name in names.items()}
    skill = profiles.get("skill")
    if skill is not None and skill.agent is not None:
        profiles.setdefault("agent", recipe.agents[skill.agent])
    # an agent's columns come first; a skill adds its own files to them
    overlay = _Overlay(gives_way=recipe.gives_way)
    for kind in PROFILES:
        if kind in profiles:
            overlay.add(profiles[kind])
    return _selection(recipe, names, overlay)


def _check_needs(recipe: RecipeSpec, requested: Mapping[str, str]) -> None:
    for need in recipe.needs:
        kinds = [kind for kind in need.split(" or ") if kind in PROFILES]
        if kinds and not any(kind in requested for kind in kinds):
            known = ", ".join(getattr(recipe, PROFILES[kinds[0]]))
            raise InputMissing(
                need,
                why=f"recipe {recipe.name!r} makes a different context for each",
                hint=f"give --{kinds[0]}, one of: {known}",
            )


def _profile(recipe: RecipeSpec, kind: str, name: str, extra_skills: bool) -> Profile:
    table: dict[str, Profile] = getattr(recipe, PROFILES[kind])
    if not table and _is_value(recipe, kind):
        return Profile(values={kind: name})
    if name in table:
        return table[name]
    for known, profile in table.items():
        if _spelling(known) == _spelling(name.replace(" ", "-")):
            return profile
    if kind == "skill" and extra_skills and recipe.other_skills is not None:
        return recipe.other_skills
    raise UnknownName(kind, name, table, where=f"in recipe {recipe.name!r}")


def _spelling(name: str) -> str:
    """A name without the differences that nobody means."""
    return name.replace("_", "-").lower()


def _is_value(recipe: RecipeSpec, kind: str) -> bool:
    """Whether a recipe without a table for a kind takes any name of it, as a value."""
    blank = f"{{{kind}}}"
    for spec in recipe.sections.values():
        if blank in spec.named or blank in (spec.phase or ""):
            return True
    return False


@dataclass(slots=True, kw_only=True)
class _Overlay:
    """Profiles laid over each other: what comes later adds to what was before, or replaces it."""

    gives_way: tuple[str | tuple[str, ...], ...]
    sections: list[str] | None = None  # None: all that the recipe has
    changes: dict[str, dict[str, Any]] = field(default_factory=dict)
    required: set[str | tuple[str, ...]] = field(default_factory=set)
    optional: set[str] = field(default_factory=set)
    values: dict[str, str] = field(default_factory=dict)
    when_given: dict[Literal["step"], str] = field(default_factory=dict)
    split: str | None = None
    kind_tiers: dict[str, int] = field(default_factory=dict)
    leave_out: dict[str, str] = field(default_factory=dict)
    only_named: set[str] = field(default_factory=set)

    def add(self, profile: Profile) -> None:
        if self.sections is None and profile.sections is not None:
            self.sections = list(profile.sections)
        if self.sections is not None or profile.add:
            wanted = [*(self.sections or ()), *profile.add]
            self.sections = [tag for tag in wanted if tag not in profile.without]
        self.required |= set(profile.required)
        self.required -= set(profile.optional)
        self.optional |= set(profile.optional)
        self.gives_way = profile.gives_way or self.gives_way
        self.values |= profile.values
        self.when_given |= profile.when_given
        self.split = profile.split or self.split
        for tier, kinds in profile.tiers.items():
            self.kind_tiers |= dict.fromkeys(kinds, tier)
        self.leave_out |= profile.leave_out
        self.only_named |= set(profile.only_named)
        for tag, fields in profile.change.items():
            self.changes[tag] = {**self.changes.get(tag, {}), **fields}


def _selection(recipe: RecipeSpec, names: dict[str, str], overlay: _Overlay) -> Selection:
    wanted = set(recipe.sections) if overlay.sections is None else set(overlay.sections)
    changed = dict[str, SectionSpec]()
    for tag, spec in recipe.sections.items():
        if tag in wanted:
            changed[tag] = replace(spec, **overlay.changes.get(tag, {}))
    # what stands in for a section is of no use without it
    sections = dict[str, SectionSpec]()
    for tag, spec in changed.items():
        if (spec.stands_in_for or tag) in changed:
            sections[tag] = spec

    def tier(tag: str) -> int:
        """The first tier that a section of items has something of."""
        kinds = sections[tag].items or ()
        return min([overlay.kind_tiers.get(kind, UNKNOWN_KIND_TIER) for kind in kinds], default=0)

    return Selection(
        recipe=recipe,
        sections={tag: sections[tag] for tag in sorted(sections, key=tier)},
        names=names,
        required=frozenset(overlay.required),
        optional=frozenset(overlay.optional),
        gives_way=overlay.gives_way,
        values=overlay.values,
        when_given=overlay.when_given,
        tiers=_tiers(overlay.split),
        kind_tiers=overlay.kind_tiers,
        leave_out=overlay.leave_out,
        only_named=frozenset(overlay.only_named),
    )


def _tiers(split: str | None) -> Tiers:
    if split is None:
        return Tiers()
    shares = [int(part) for part in split.split("/")]
    total = sum(shares)
    return Tiers({tier: share / total for tier, share in enumerate(shares, 1)})
