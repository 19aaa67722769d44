"""What a recipe with tiers loads when: tier 0 whole in every call, the others within their hard
limits.

Between reading and fitting: anchored text is lifted into tier 0, a persona set too large for its
tier becomes headers, nothing is in twice, and tier 0 above its limit takes its room from the last
tier. What authors should know about their files (too large, names of files that are not there)
becomes notes.
"""

from __future__ import annotations

from collections import Counter as Tally
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

from foreword.context.readers import SectionsRead
from foreword.engine.render import TURN, boundary_pattern
from foreword.engine.report import Report
from foreword.errors import TierTooLarge
from foreword.lint import document_checks
from foreword.lint.document_index import DocumentIndex
from foreword.lint.problem import Problem
from foreword.recipe.schema import RecipeSpec
from foreword.recipe.selection import Selection
from foreword.section import Rule, Section, Tiers
from foreword.sources import files
from foreword.sources.documents import Document
from foreword.sources.library import Library
from foreword.text import lines, marks, parts
from foreword.text.parts import Part
from foreword.tokens import Counter

WARN_AT = 0.8
ALWAYS = 0
# the forms of what is in where there is room, besides its header in tier 1
AGAIN = {"full", "core", "gone"}
MARK_TOKENS = 20  # of the line that says what is missing
# their anchors are in whether or not the rest of them is loaded
ANCHORED_KINDS = ("guidance", "workflow")


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


def apply_tiers(
    gathered: SectionsRead,
    selection: Selection,
    library: Library,
    budget: int,
    counter: Counter,
    strict: bool,
) -> Tiers:
    """Bring the sections of a recipe with tiers into order; returns the limits that hold for
    them."""
    recipe = selection.recipe
    gathered.notes += library.notes
    if not recipe.tiers:
        return selection.tiers
    gathered.notes += _authors_notes(
        gathered.sections, library, counter, selection.names.get("phase", "")
    )
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
    room = {
        tier: max(0, limit - over) if tier == last != ALWAYS else limit
        for tier, limit in limits.items()
    }
    return [TierUse(tier, tokens, room[tier]) for tier, tokens in used.items()]


def warnings(uses: Iterable[TierUse]) -> list[str]:
    """A line for each tier at 80% or more; tier 0 above its limit is told elsewhere."""
    return [
        str(use) for use in uses if use.share >= WARN_AT and (use.tier != ALWAYS or use.share <= 1)
    ]


# --- anchors --------------------------------------------------------------------------------------


def _with_anchors(
    sections: Sequence[Section], selection: Selection, library: Library
) -> list[Section]:
    """The sections without the loader's marks, and what they anchor in a section of its own, in
    reading order."""
    tag = next((tag for tag, spec in selection.sections.items() if spec.anchors), "")
    found = list[Section]()
    for path in _anchored_files(sections, library) if tag else ():
        file = files.read(library.root, path)
        for part in (
            parts.anchors(file.text)
            if isinstance(file, files.File) and "ANCHOR" in file.text.upper()
            else ()
        ):
            text = lines.with_newlines(marks.plain(part.text).strip())
            found.append(
                Section(
                    tag=tag,
                    text=text,
                    rule=selection.rule(tag),
                    rank=selection.rank(tag),
                    title=f"{path}:{part.line}",
                    source=path,
                )
            )
    unique = {section.text: section for section in reversed(found)}
    plain = [_plain(section) for section in sections]
    order = list(selection.sections)
    return sorted(
        [*(section for section in plain if section.text), *reversed(unique.values())],
        key=lambda section: order.index(section.tag),
    )


def _anchored_files(sections: Sequence[Section], library: Library) -> list[str]:
    """The files whose anchors count: what is loaded, and instructions that are not; tier 0 is
    there as it is."""
    loaded = [s.source for s in sections if s.rule.tier != ALWAYS and s.source.endswith(".md")]
    workflows = {section.source for section in sections if section.kind == "workflow"}
    guidance = (
        [document.path for document in library.of_kind("guidance")]
        if "guidance" in library.recipe.documents
        else []
    )
    return list(dict.fromkeys([*loaded, *workflows, *guidance]))


def _plain(section: Section) -> Section:
    if not section.source.endswith(".md") or "<!--" not in section.text:
        return section
    text = section.text if section.rule.tier == ALWAYS else parts.without_anchors(section.text)
    return replace(section, text=marks.plain(text).strip("\n"), raw=None)


# --- personas -------------------------------------------------------------------------------------


def _personas(
    sections: list[Section], recipe: RecipeSpec, budget: int, counter: Counter, notes: list[str]
) -> list[Section]:
    """Tier 1 has what the authors marked for it; where even that is too much, headers, and the
    whole is for tier 2."""
    mine = [section for section in sections if _has_header(section)]
    others = [s for s in sections if s.rule.tier == 1 and not _has_header(s) and s.kind != "plan"]
    size = sum(counter.count(section.core or section.text) for section in mine)
    always = sum(_size(section, counter) for section in sections if section.rule.tier == ALWAYS)
    room = min(recipe.tiers.get(1, 0), budget - always) - sum(
        counter.count(section.text) for section in others
    )
    if not mine or size <= max(room, 0):
        return [
            _marked_for_tier_1(section) if _has_header(section) else section for section in sections
        ]
    notes.append(
        f"the {len(mine)} personas need {size:,} tokens, tier 1 has {max(room, 0):,} for them:"
        " headers only, whole in tier 2 as far as there is room"
    )
    return [_headed(section, counter) if _has_header(section) else section for section in sections]


def _has_header(section: Section) -> bool:
    return section.rule.tier == 1 and "header" in section.rule.forms


def _marked_for_tier_1(section: Section) -> Section:
    return (
        _with_forms(section, ("core", "header", "reference", "gone")) if section.core else section
    )


def _headed(section: Section, counter: Counter) -> Section:
    """The section as its header, and whole where that is hardly longer: a header has a mark for
    what is missing."""
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


def _where_room(
    sections: Sequence[Section], limits: Tiers, budget: int, counter: Counter
) -> list[Section]:
    """Every persona once: in its phase's tier whole or as its core, as far as there is room, else
    as it is in tier 1.

    What a header leaves out is on the bill already; a second line for the same words would only be
    noise.
    """
    headed = {
        s.source: s for s in sections if s.rule.tier == 1 and s.rule.forms[0] in ("header", "core")
    }
    again = [
        s for s in sections if s.source in headed and s.rule.tier > 1 and set(s.rule.forms) <= AGAIN
    ]
    used = Tally[int]()
    for section in sections:
        if section not in again:
            used[section.rule.tier] += _size(_as_loaded(section), counter)
    room = {tier: limit - used[tier] for tier, limit in limits.limits.items()}
    left = budget - sum(min(size, limits.limits.get(tier, size)) for tier, size in used.items())
    moved = {
        s.source: s
        for s in sections
        if _speaks(s, headed) and min(left, room.get(s.rule.tier, 0)) >= 0
    }
    for section in again:
        header = headed[section.source]
        freed = _size(_as_loaded(header), counter)
        for chosen in _larger(section, header):
            size = _size(_as_loaded(chosen), counter)
            if section.source not in moved and size <= min(
                left + freed, room.get(section.rule.tier, 0)
            ):
                room[section.rule.tier] -= size
                left -= size - freed
                moved[section.source] = chosen
    kept = [
        section
        for section in sections
        if section is not headed.get(section.source) or section.source not in moved
    ]
    return [
        moved.get(s.source, s) if s in again else s
        for s in kept
        if s not in again or s.source in moved
    ]


def _speaks(section: Section, headed: Mapping[str, Section]) -> bool:
    """Whether a persona that has its header in tier 1 is in again because the phase names it."""
    return (
        section.source in headed and section.rule.tier > 1 and not set(section.rule.forms) <= AGAIN
    )


def _larger(section: Section, header: Section) -> Iterator[Section]:
    """The ways to have more of a persona than its header, the best first; each can still become
    the header."""
    known = replace(section, core=header.core, header=header.header)
    yield _with_forms(known, ("full", "header", "reference", "gone"))
    if header.core and header.rule.forms[0] == "header":
        yield _with_forms(known, ("core", "header", "reference", "gone"))


def _as_loaded(section: Section) -> Section:
    """A section that is in as its header or its core, with only that."""
    part = {"header": section.header, "core": section.core}.get(section.rule.forms[0], "")
    return replace(section, text=part) if part else section


def _size(section: Section, counter: Counter) -> int:
    return counter.count(
        f"<{section.tag}>\n{section.before}{section.text}{section.after}\n</{section.tag}>\n\n"
    )


# --- limits ---------------------------------------------------------------------------------------


def _limits(gathered: SectionsRead, recipe: RecipeSpec, counter: Counter, strict: bool) -> Tiers:
    """The limits of the tiers above 0; what tier 0 has too much, the last one has less."""
    limits = {tier: tokens for tier, tokens in recipe.tiers.items() if tier != ALWAYS}
    allowed, sizes = recipe.tiers.get(ALWAYS), dict[str, int]()
    always = [section for section in gathered.sections if section.rule.tier == ALWAYS]
    for section in always:
        name = section.source if "/" in section.source or "." in section.source else section.tag
        sizes[name] = sizes.get(name, 0) + counter.count(section.text.strip())
    # what reads as a tag is written longer than it is
    forged = boundary_pattern(frozenset((*recipe.sections, TURN)))
    total = sum(
        _size(replace(section, text=forged.sub("&lt;", section.text)), counter)
        for section in always
    )
    if allowed is None or total <= allowed:
        return Tiers(limits=limits)
    largest = max(sizes, key=sizes.__getitem__)
    if strict:
        raise TierTooLarge(ALWAYS, total, allowed, largest, sizes[largest])
    gathered.shortcomings.append(f"tier 0 has {total:,} of {allowed:,} tokens")
    last = max(limits, default=ALWAYS)
    limits[last] = max(0, limits.get(last, 0) - (total - allowed))
    gathered.notes.insert(
        0,
        f"tier 0 needs {total:,} tokens, its limit is {allowed:,}: the largest is {largest}"
        f" ({sizes[largest]:,}); tier {last} has {limits[last]:,} left",
    )
    return Tiers(limits=limits)


# --- what authors should know ---------------------------------------------------------------------


def _authors_notes(
    sections: Sequence[Section], library: Library, counter: Counter, phase: str
) -> list[str]:
    """What `lint` would say about the files that are in, as far as it is about size and names; a
    line for each file."""
    reading, problems = DocumentIndex(library=library, counter=counter), dict[str, list[str]]()
    kinds = {document.path: document for document in library.documents}
    for section in sections:
        path = section.source
        if path in problems or not path.endswith(".md"):
            continue
        document = kinds.get(path, Document(section.kind or section.tag, path, path))
        found = [
            *_sizes(reading, document, section, phase),
            *document_checks.references(reading, document, section.text),
        ]
        problems[path] = [problem.message for problem in found]
    return [f"{path}: {'; '.join(dict.fromkeys(said))}" for path, said in problems.items() if said]


def _sizes(
    reading: DocumentIndex, document: Document, section: Section, phase: str
) -> Iterator[Problem]:
    """A file over the limit of its kind; of a workflow, the phase that is in."""
    if document.kind == "workflow":
        return document_checks.phase_size(
            reading, document, Part(name=phase, title="", text=section.text, line=0)
        )
    return document_checks.size(reading, document, reading.text(document.path))
