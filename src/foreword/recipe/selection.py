"""Which sections a request reads, and under which rules: the recipe as one agent, skill, purpose or
phase sees it.

No I/O: profiles are laid over the recipe, names are checked. What the sections hold is `gather`'s
business.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from foreword.errors import InputMissing, UnknownName
from foreword.recipe.schema import PROFILES, Profile, RecipeSpec, SectionSpec
from foreword.section import DEFAULT_FORMS, Rule, Tiers


@dataclass(frozen=True, slots=True, kw_only=True)
class Selection:
    """The recipe as seen by one request."""

    recipe: RecipeSpec
    sections: dict[str, SectionSpec]  # in reading order
    names: dict[str, str]  # the agent, skill, purpose and phase that were asked for
    required: frozenset[str]
    optional: frozenset[str]
    gives_way: tuple[str | tuple[str, ...], ...]
    values: dict[str, str]
    tiers: Tiers = field(default_factory=Tiers)
    kind_tiers: dict[str, int] = field(default_factory=dict)
    leave_out: dict[str, str] = field(default_factory=dict)

    def rule(self, tag: str, tier: int | None = None) -> Rule:
        """The engine's rule for a section."""
        spec = self.sections[tag]
        return Rule(
            tier=spec.tier if tier is None else tier,
            essential=spec.essential,
            forms=spec.forms or DEFAULT_FORMS,
            target=spec.target,
            cap=spec.max,
            stands_in_for=spec.stands_in_for or "",
        )

    def rank(self, tag: str) -> float:
        """The place in the order of giving way, spaced so that members of a section fit between;
        unlisted: last."""
        for place, entry in enumerate(self.gives_way):
            if tag in ((entry,) if isinstance(entry, str) else entry):
                return 10_000.0 * place
        return 10_000.0 * len(self.gives_way)


def select(recipe: RecipeSpec, asked: Mapping[str, str], extra_skills: bool = False) -> Selection:
    """Lay the profiles that were asked for over the recipe; `extra_skills` allows a skill that
    is in no table."""
    if recipe.default_purpose and "purpose" not in asked:
        asked = {**asked, "purpose": recipe.default_purpose}
    for kind in (kind for kind, name in asked.items() if not name.strip()):
        raise InputMissing(kind, "its name is empty", hint=f"name one, or leave --{kind} out")
    _check_needs(recipe, asked)
    profiles = {kind: _profile(recipe, kind, name, extra_skills) for kind, name in asked.items()}
    skill = profiles.get("skill")
    if skill is not None and "agent" not in profiles and skill.agent is not None:
        profiles = {"agent": recipe.agents[skill.agent], **profiles}
    # an agent's columns come first; a skill adds its own files to them
    ordered = [profiles[kind] for kind in PROFILES if kind in profiles]
    return _overlaid(recipe, ordered, dict(asked))


def _check_needs(recipe: RecipeSpec, asked: Mapping[str, str]) -> None:
    for need in recipe.needs:
        kinds = [kind for kind in need.split(" or ") if kind in PROFILES]
        if kinds and not any(kind in asked for kind in kinds):
            known = ", ".join(getattr(recipe, PROFILES[kinds[0]]))
            raise InputMissing(
                need,
                f"recipe {recipe.name!r} makes a different context for each",
                hint=f"give --{kinds[0]}, one of: {known}",
            )


def _profile(recipe: RecipeSpec, kind: str, name: str, extra_skills: bool) -> Profile:
    table: dict[str, Profile] = getattr(recipe, PROFILES[kind])
    if not table and _is_asked_for(recipe, kind):
        return Profile(values={kind: name})
    if name in table:
        return table[name]
    same = [
        known
        for known in table
        if known.replace("_", "-").lower() == name.replace("_", "-").replace(" ", "-").lower()
    ]
    if same:
        return table[same[0]]
    if kind == "skill" and extra_skills and recipe.other_skills is not None:
        return recipe.other_skills
    raise UnknownName(kind, name, table, where=f"in recipe {recipe.name!r}")


def _is_asked_for(recipe: RecipeSpec, kind: str) -> bool:
    """Whether a recipe without a table for a kind takes any name of it, as a value."""
    blank = f"{{{kind}}}"
    return any(
        blank in text
        for spec in recipe.sections.values()
        for text in (spec.named, spec.phase or "")
    )


def _overlaid(recipe: RecipeSpec, profiles: list[Profile], asked: dict[str, str]) -> Selection:
    chosen: list[str] | None = None
    changes: dict[str, dict[str, object]] = {}
    required, optional, gives_way = set[str](), set[str](), recipe.gives_way
    values, kind_tiers, leave_out = dict[str, str](), dict[str, int](), dict[str, str]()
    split = None
    for profile in profiles:
        if chosen is None and profile.sections is not None:
            chosen = list(profile.sections)
        if chosen is not None or profile.add:
            chosen = [tag for tag in [*(chosen or ()), *profile.add] if tag not in profile.without]
        required = (required | set(profile.required)) - set(profile.optional)
        optional |= set(profile.optional)
        gives_way = profile.gives_way or gives_way
        values |= profile.values
        split = profile.split or split
        kind_tiers |= {kind: tier for tier, kinds in profile.tiers.items() for kind in kinds}
        leave_out |= profile.leave_out
        for tag, fields in profile.change.items():
            changes[tag] = {**changes.get(tag, {}), **fields}
    wanted = set(recipe.sections) if chosen is None else set(chosen)
    sections = {
        tag: _changed(spec, changes.get(tag))
        for tag, spec in recipe.sections.items()
        if tag in wanted
    }
    sections = {
        tag: spec for tag, spec in sections.items() if (spec.stands_in_for or tag) in sections
    }
    return Selection(
        recipe=recipe,
        sections=sections,
        names=asked,
        required=frozenset(required),
        optional=frozenset(optional),
        gives_way=gives_way,
        values=values,
        tiers=_tiers(split),
        kind_tiers=kind_tiers,
        leave_out=leave_out,
    )


def _changed(spec: SectionSpec, fields: Mapping[str, object] | None) -> SectionSpec:
    if not fields:
        return spec
    kept = {name: getattr(spec, name) for name in spec.model_fields_set}
    return SectionSpec.model_validate({**kept, **fields})


def _tiers(split: str | None) -> Tiers:
    if split is None:
        return Tiers()
    shares = [int(part) for part in split.split("/")]
    return Tiers({tier: share / sum(shares) for tier, share in enumerate(shares, 1)})
