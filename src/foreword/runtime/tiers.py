"""What a recipe with tiers loads when: tier 0 whole in every call, the others within their hard limits.

Between reading and fitting: anchored text is lifted into tier 0, a persona set too large for its tier becomes headers,
nothing is in twice, and tier 0 above its limit takes its room from the last tier. What authors should know about
their files (too large, names of files that are not there) becomes notes.
"""

from __future__ import annotations

from collections import Counter as Tally
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace

from foreword.engine.report import Report
from foreword.errors import TierTooLarge
from foreword.model import Rule, Section, Tiers
from foreword.recipe.schema import RecipeSpec
from foreword.runtime.gather import Gathered
from foreword.runtime.library import Library
from foreword.runtime.selection import Selection
from foreword.sources import files
from foreword.text import markers
from foreword.tokens import Counter

WARN_AT = 0.8
ALWAYS = 0
MARK_TOKENS = 20  # of the line that says what is missing
ANCHORED_KINDS = ("guidance", "workflow")  # their anchors are in whether or not the rest of them is loaded
KINDS = {"instructions": "it", "guidance": "such a file"}


@dataclass(frozen=True, slots=True)
class TierUse:
    """How full one tier is."""

    tier: int
    tokens: int
    limit: int

    @property
    def share(self) -> float:
        """Of its limit; above 1 only for tier 0."""
        return self.tokens / self.limit if self.limit else float(self.tokens > 0)

    def __str__(self) -> str:
        return f"tier {self.tier} is at {self.share:.0%} of its {self.limit:,} tokens"


def settle(
    gathered: Gathered, selection: Selection, library: Library, budget: int, counter: Counter, strict: bool
) -> Tiers:
    """Bring the sections of a recipe with tiers into order; returns the limits that hold for them."""
    recipe = selection.recipe
    if not recipe.tiers:
        return selection.tiers
    gathered.notes += _authors_notes(gathered.sections, library, counter)
    sections = _with_anchors(gathered.sections, selection, library)
    sections = _personas(sections, recipe, budget, counter, gathered.notes)
    gathered.sections = _once(sections)
    limits = _limits(gathered, recipe, counter, strict)
    in_a_phase = not {"phase", "agent"}.isdisjoint(selection.names)
    gathered.sections = _where_room(gathered.sections, limits, budget if in_a_phase else 0, counter)
    return limits


def usage(report: Report, limits: Mapping[int, int]) -> list[TierUse]:
    """How full each tier of a package is; what tier 0 has too much, the last one has less."""
    used = dict.fromkeys(sorted(limits), 0)
    for row in report.sections:
        if row.tier in used and row.tag != "note":
            used[row.tier] += row.tokens
    over = max(0, used.get(ALWAYS, 0) - limits.get(ALWAYS, 0))
    last = max(limits, default=ALWAYS)
    room = {tier: max(0, limit - over) if tier == last != ALWAYS else limit for tier, limit in limits.items()}
    return [TierUse(tier, tokens, room[tier]) for tier, tokens in used.items()]


def warnings(uses: Iterable[TierUse]) -> list[str]:
    """A line for each tier at 80% or more; tier 0 above its limit is told elsewhere."""
    return [str(use) for use in uses if use.share >= WARN_AT and (use.tier != ALWAYS or use.share <= 1)]


# --- anchors ---------------------------------------------------------------------------------------------------


def _with_anchors(sections: Sequence[Section], selection: Selection, library: Library) -> list[Section]:
    """The sections without the loader's marks, and what they anchor in a section of its own, in reading order."""
    tag = next((tag for tag, spec in selection.sections.items() if spec.anchors), "")
    found = list[Section]()
    for path in _anchored_files(sections, library) if tag else ():
        file = files.read(library.root, path)
        for part in (
            markers.anchors(file.text) if isinstance(file, files.File) and "ANCHOR" in file.text.upper() else ()
        ):
            text = markers.plain(part.text).strip()
            found.append(Section(tag, text, selection.rule(tag), selection.rank(tag), f"{path}:{part.line}", path))
    unique = {section.text: section for section in reversed(found)}
    plain = [_plain(section) for section in sections]
    order = list(selection.sections)
    return sorted(
        [*(section for section in plain if section.text), *reversed(unique.values())],
        key=lambda section: order.index(section.tag),
    )


def _anchored_files(sections: Sequence[Section], library: Library) -> list[str]:
    """The files whose anchors count: what is loaded, and instructions that are not; tier 0 is there as it is."""
    loaded = [s.source for s in sections if s.rule.tier != ALWAYS and s.source.endswith(".md")]
    workflows = {section.source for section in sections if section.kind == "workflow"}
    guidance = (
        [document.path for document in library.of_kind("guidance")] if "guidance" in library.recipe.documents else []
    )
    return list(dict.fromkeys([*loaded, *workflows, *guidance]))


def _plain(section: Section) -> Section:
    if not section.source.endswith(".md") or "<!--" not in section.text:
        return section
    text = section.text if section.rule.tier == ALWAYS else markers.without_anchors(section.text)
    return replace(section, text=markers.plain(text).strip("\n"), raw=None)


# --- personas --------------------------------------------------------------------------------------------------


def _personas(
    sections: list[Section], recipe: RecipeSpec, budget: int, counter: Counter, notes: list[str]
) -> list[Section]:
    """Tier 1 has what the authors marked for it; where even that is too much, headers, and the whole is for tier 2."""
    mine = [section for section in sections if _has_header(section)]
    others = [s for s in sections if s.rule.tier == 1 and not _has_header(s) and s.kind != "plan"]
    size = sum(counter.count(section.core or section.text) for section in mine)
    always = sum(_size(section, counter) for section in sections if section.rule.tier == ALWAYS)
    room = min(recipe.tiers.get(1, 0), budget - always) - sum(counter.count(section.text) for section in others)
    if not mine or size <= max(room, 0):
        return [_marked_for_tier_1(section) if _has_header(section) else section for section in sections]
    notes.append(
        f"the {len(mine)} personas need {size:,} tokens, tier 1 has {max(room, 0):,} for them: headers only, "
        "whole in tier 2 as far as there is room"
    )
    return [_headed(section, counter) if _has_header(section) else section for section in sections]


def _has_header(section: Section) -> bool:
    return section.rule.tier == 1 and "header" in section.rule.forms


def _marked_for_tier_1(section: Section) -> Section:
    return _with_forms(section, ("core", "header", "reference", "gone")) if section.core else section


def _headed(section: Section, counter: Counter) -> Section:
    """The section as its header, and whole where that is hardly longer: a header has a mark for what is missing."""
    if counter.count(section.text) <= counter.count(section.header) + MARK_TOKENS:
        return section
    return _with_forms(section, ("header", "reference", "gone"))


def _with_forms(section: Section, forms: tuple[str, ...]) -> Section:
    rule: Rule = replace(section.rule, forms=forms)  # type: ignore[arg-type]
    return replace(section, rule=rule)


def _once(sections: Sequence[Section]) -> list[Section]:
    """Without what would be whole a second time."""
    whole, kept = set[tuple[str, str]](), list[Section]()
    for section in sections:
        key = (section.source, section.text)
        if section.kind and key in whole:
            continue
        kept.append(section)
        if section.rule.forms[0] == "full" or section.rule.essential:
            whole.add(key)
    return kept


def _where_room(sections: Sequence[Section], limits: Tiers, budget: int, counter: Counter) -> list[Section]:
    """Without the whole text of personas that have their header in tier 1 and no room in their own tier or at all.

    What the header leaves out is on the bill already; a second line for the same words would only be noise.
    """
    headed = {section.source for section in sections if section.rule.forms[0] in ("header", "core")}
    again = [section for section in sections if section.source in headed and section.rule.forms == ("full", "gone")]
    used = Tally[int]()
    for section in sections:
        if section not in again:
            used[section.rule.tier] += _size(_as_loaded(section), counter)
    room = {tier: limit - used[tier] for tier, limit in limits.limits.items()}
    left = budget - sum(min(size, limits.limits.get(tier, size)) for tier, size in used.items())
    for section in again:
        size = _size(section, counter)
        if size <= min(left, room.get(section.rule.tier, 0)):
            room[section.rule.tier] -= size
            left -= size
            headed.discard(section.source)
    return [section for section in sections if section not in again or section.source not in headed]


def _as_loaded(section: Section) -> Section:
    """A section that is in as its header or its core, with only that."""
    part = {"header": section.header, "core": section.core}.get(section.rule.forms[0], "")
    return replace(section, text=part) if part else section


def _size(section: Section, counter: Counter) -> int:
    return counter.count(f"<{section.tag}>\n{section.before}{section.text}{section.after}\n</{section.tag}>\n\n")


# --- limits ----------------------------------------------------------------------------------------------------


def _limits(gathered: Gathered, recipe: RecipeSpec, counter: Counter, strict: bool) -> Tiers:
    """The limits of the tiers above 0; what tier 0 has too much, the last one has less."""
    limits = {tier: tokens for tier, tokens in recipe.tiers.items() if tier != ALWAYS}
    allowed, sizes = recipe.tiers.get(ALWAYS), dict[str, int]()
    for section in gathered.sections:
        if section.rule.tier == ALWAYS:
            name = section.source if "/" in section.source or "." in section.source else section.tag
            sizes[name] = sizes.get(name, 0) + _size(section, counter)
    total = sum(sizes.values())
    if allowed is None or total <= allowed:
        return Tiers(limits=limits)
    largest = max(sizes, key=sizes.__getitem__)
    if strict:
        raise TierTooLarge(ALWAYS, total, allowed, largest, sizes[largest])
    last = max(limits, default=ALWAYS)
    limits[last] = max(0, limits.get(last, 0) - (total - allowed))
    gathered.notes.insert(
        0,
        f"tier 0 needs {total:,} tokens, its limit is {allowed:,}: the largest is {largest} ({sizes[largest]:,}); "
        f"tier {last} has {limits[last]:,} left",
    )
    return Tiers(limits=limits)


# --- what authors should know ----------------------------------------------------------------------------------


def _authors_notes(sections: Sequence[Section], library: Library, counter: Counter) -> list[str]:
    """Files that are larger than they should be, and files that they name in vain, each file once."""
    notes, seen = list[str](), set[str]()
    for section in sections:
        if section.source in seen or not section.source.endswith(".md"):
            continue
        seen.add(section.source)
        notes += _too_large(section, library, counter)
        notes += _dangling(section, library)
    return notes


def _too_large(section: Section, library: Library, counter: Counter) -> list[str]:
    kind = "phase" if section.kind == "workflow" else section.kind or section.tag
    limit = library.recipe.lint.limits.get(kind)
    tokens = counter.count(section.text) if limit else 0
    if limit is None or tokens <= limit.tokens:
        return []
    return [f"{section.source}: {tokens:,} tokens, {KINDS.get(kind, f'a {kind}')} should have at most {limit.tokens:,}"]


def _dangling(section: Section, library: Library) -> list[str]:
    gone = library.dangling(section.text, section.source)
    if not gone:
        return []
    what = "a file that is" if len(gone) == 1 else f"{len(gone)} files that are"
    return [f"{section.source} names {what} not there: {', '.join(gone)}"]
