"""The forms of personas in a recipe with tiers: marked parts or headers in tier 1, more of them
where their phase has room.

What tier 1 has of a persona is the same in every phase. Which section is in which tier, and the
limits, are `tiers`'; cutting a persona to its header or its core is `document_sections`'.
"""

from __future__ import annotations

from collections import Counter as Tally
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace

from foreword.recipe.schema import RecipeSpec
from foreword.section import Form, Section, Tiers
from foreword.tokens import Counter

# the forms of what is in where there is room, besides its header in tier 1
FORMS_IN_PHASE = {"full", "core", "gone"}
# Of the line that says what is missing under a header: a persona that is longer than its header by
# less than that costs no more whole.
MARK_TOKENS = 20


def with_persona_forms(
    sections: list[Section],
    *,
    recipe: RecipeSpec,
    budget: int,
    counter: Counter,
    notes: list[str],
) -> list[Section]:
    """Tier 1 has what the authors marked for it; where even that is too much, headers, and the
    whole is for tier 2."""
    personas = [section for section in sections if _has_header(section)]
    size = sum(counter.count(persona.core or persona.text) for persona in personas)
    room = max(0, _persona_room(sections, recipe, budget, counter))
    if not personas or size <= room:
        return [_with_core_first(section) for section in sections]
    notes.append(
        f"the {len(personas)} personas need {size:,} tokens, tier 1 has {room:,} for them:"
        " headers only, whole in tier 2 as far as there is room"
    )
    return [_as_header(section, counter) for section in sections]


def _persona_room(
    sections: list[Section], recipe: RecipeSpec, budget: int, counter: Counter
) -> int:
    """What tier 0 and the rest of tier 1 leave of tier 1 for personas; below 0 where it is full."""
    always = 0
    others = 0
    for section in sections:
        if section.rule.tier == 0:
            always += written_size(section, counter)
        elif section.rule.tier == 1 and not _has_header(section) and section.kind != "plan":
            others += counter.count(section.text)
    return min(recipe.tiers.get(1, 0), budget - always) - others


def _has_header(section: Section) -> bool:
    return section.rule.tier == 1 and "header" in section.rule.forms


def _with_core_first(section: Section) -> Section:
    """A persona as what its author marked for tier 1, where something is marked."""
    if not _has_header(section) or not section.core:
        return section
    return _with_forms(section, ("core", "header", "reference", "gone"))


def _as_header(section: Section, counter: Counter) -> Section:
    """A persona as its header, and whole where that is hardly longer: a header has a mark for
    what is missing."""
    if not _has_header(section):
        return section
    if counter.count(section.text) <= counter.count(section.header) + MARK_TOKENS:
        return section
    return _with_forms(section, ("header", "reference", "gone"))


def _with_forms(section: Section, forms: tuple[Form, ...]) -> Section:
    return replace(section, rule=replace(section.rule, forms=forms))


# --- personas of a phase --------------------------------------------------------------------------


def fill_persona_room(
    sections: Sequence[Section], limits: Tiers, budget: int, counter: Counter
) -> list[Section]:
    """More of a persona in its phase's tier, as far as there is room. What it is in tier 1 stays:
    tier 1 is the session's, and the same in every phase.

    What a header leaves out is on the bill already; a second line for the same words would only be
    noise.
    """
    headers = {section.source: section for section in sections if _is_header_in_tier_1(section)}
    second = [section for section in sections if _is_second(section, headers)]
    added = _personas_of_phase_tier(sections, headers, second, room=_Room(limits, budget, counter))
    result = list[Section]()
    for section in sections:
        if section in second:
            if section.source in added:
                result.append(added[section.source])
        elif _is_named_by_phase(section, headers):
            result.append(_without_header(section))
        else:
            result.append(section)
    return result


def _without_header(section: Section) -> Section:
    """A persona that the phase names, whose header is in tier 1 already."""
    forms = tuple(form for form in section.rule.forms if form != "header")
    return _with_forms(section, forms)


def _is_header_in_tier_1(section: Section) -> bool:
    return section.rule.tier == 1 and section.rule.forms[0] in ("header", "core")


def _is_second(section: Section, headers: Mapping[str, Section]) -> bool:
    """Whether a persona that has its header in tier 1 is in again, if there is room for it."""
    is_again = section.source in headers and section.rule.tier > 1
    return is_again and set(section.rule.forms) <= FORMS_IN_PHASE


def _is_named_by_phase(section: Section, headers: Mapping[str, Section]) -> bool:
    """Whether a persona that has its header in tier 1 is in again because the phase names it."""
    is_again = section.source in headers and section.rule.tier > 1
    return is_again and not set(section.rule.forms) <= FORMS_IN_PHASE


class _Room:
    """What the tiers and the budget have left for personas of a phase."""

    def __init__(self, limits: Tiers, budget: int, counter: Counter) -> None:
        self.limits = limits.limits
        self.budget = budget
        self.counter = counter
        self.used = Tally[int]()
        self.left = budget

    def take(self, sections: Iterable[Section]) -> None:
        """Set aside what these sections need; a tier never takes more than its limit."""
        for section in sections:
            self.used[section.rule.tier] += self.size(section)
        sizes = [min(size, self.limits.get(tier, size)) for tier, size in self.used.items()]
        self.left = self.budget - sum(sizes)

    def size(self, section: Section) -> int:
        return written_size(_with_loaded_part(section), self.counter)

    def of_tier(self, tier: int) -> int:
        if tier not in self.limits:
            return 0
        return self.limits[tier] - self.used[tier]


def _personas_of_phase_tier(
    sections: Sequence[Section],
    headers: Mapping[str, Section],
    second: Sequence[Section],
    room: _Room,
) -> dict[str, Section]:
    """By source, the personas that are in their phase's tier besides tier 1."""
    room.take(section for section in sections if section not in second)
    named = {section.source for section in sections if _is_named_by_phase(section, headers)}
    added = dict[str, Section]()
    for section in second:
        tier = section.rule.tier
        for larger in _larger_forms(section, headers[section.source]):
            size = room.size(larger)
            fits = size <= min(room.left, room.of_tier(tier))
            if fits and section.source not in (*added, *named):
                room.used[tier] += size
                room.left -= size
                added[section.source] = larger
    return added


def _larger_forms(section: Section, header: Section) -> Iterator[Section]:
    """The ways to have more of a persona than its header, the best first."""
    persona = replace(section, core=header.core, header=header.header)
    yield _with_forms(persona, ("full", "gone"))
    if header.core and header.rule.forms[0] == "header":
        yield _with_forms(persona, ("core", "header", "gone"))


def _with_loaded_part(section: Section) -> Section:
    """A section that is in as its header or its core, with only that."""
    part = {"header": section.header, "core": section.core}.get(section.rule.forms[0], "")
    return replace(section, text=part) if part else section


def written_size(section: Section, counter: Counter) -> int:
    """The tokens of a section with its tags."""
    return counter.count(
        f"<{section.tag}>\n{section.before}{section.text}{section.after}\n</{section.tag}>\n\n"
    )
