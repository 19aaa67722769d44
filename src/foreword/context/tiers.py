"""What a recipe with tiers loads when: tier 0 whole in every call, the others within their hard
limits.

Between reading and fitting: anchored text is lifted into tier 0, a persona set too large for its
tier becomes headers, nothing is in twice, and tier 0 above its limit takes its room from the last
tier. What authors should know about their files becomes notes: too large, or naming files that are
not there (all such checks are the business of `foreword lint`).
"""

from __future__ import annotations

from collections import Counter as Tally
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

from foreword.context.inputs import ReadingResult
from foreword.context.tier_personas import fill_persona_room, with_persona_forms, written_size
from foreword.engine.render import TURN, boundary_pattern
from foreword.engine.report import Report
from foreword.errors import TierTooLarge
from foreword.lint import document_checks
from foreword.lint.document_index import DocumentIndex
from foreword.lint.problem import Problem
from foreword.recipe.schema import RecipeSpec
from foreword.recipe.selection import Selection
from foreword.section import Section, Tiers
from foreword.sources import files
from foreword.sources.documents import Document
from foreword.sources.library import Library
from foreword.text import lines, marks, parts
from foreword.text.parts import Part
from foreword.tokens import Counter

# The share of a tier's limit from which the report warns: early enough to make room before the next
# document pushes something out. Lower and every healthy project is warned about.
WARN_AT = 0.8
ALWAYS = 0
# For the line that says what was left out, and rounding: a phase that fills the last tier to its
# limit must not take it from tier 1, which is the same in every phase.
NOTE_TOKENS = 40


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
    gathered: ReadingResult,
    *,
    selection: Selection,
    library: Library,
    budget: int,
    counter: Counter,
    strict: bool,
) -> Tiers:
    """Bring the sections of a recipe with tiers into order; returns the limits that hold for
    them."""
    recipe = selection.recipe
    phase = selection.names.get("phase", "")
    gathered.notes += authors_notes(gathered.sections, library, counter, phase)
    sections = _with_anchors(gathered.sections, selection, library)
    sections = with_persona_forms(
        sections, recipe=recipe, budget=budget, counter=counter, notes=gathered.notes
    )
    gathered.sections = _without_repeats(sections)
    limits = _limits(gathered, recipe, counter, strict)
    in_a_phase = "phase" in selection.names or "agent" in selection.names
    gathered.sections = fill_persona_room(
        gathered.sections, limits, budget if in_a_phase else 0, counter
    )
    return limits


def usage(report: Report, limits: Mapping[int, int]) -> list[TierUse]:
    """How full each tier of a package is; what tier 0 has too much, the last one has less."""
    used = dict.fromkeys(sorted(limits), 0)
    for row in report.sections:
        if row.tier in used and row.tag != "note":
            used[row.tier] += row.tokens
    over = max(0, used.get(ALWAYS, 0) - limits.get(ALWAYS, 0))
    room = dict(limits)
    last = max(limits, default=ALWAYS)
    if last != ALWAYS:
        room[last] = max(0, room[last] - over)
    return [TierUse(tier, tokens, room[tier]) for tier, tokens in used.items()]


def warnings(uses: Iterable[TierUse]) -> list[str]:
    """A line for each tier at 80% or more; for tier 0 above its limit there is a note already."""
    return [str(use) for use in uses if _is_nearly_full(use)]


def _is_nearly_full(use: TierUse) -> bool:
    if use.tier == ALWAYS and use.share > 1:
        return False
    return use.share >= WARN_AT


# --- anchors --------------------------------------------------------------------------------------


def _with_anchors(
    sections: Sequence[Section], selection: Selection, library: Library
) -> list[Section]:
    """The sections without the loader's marks, and what they anchor in a section of its own, in
    reading order."""
    tag = _anchors_tag(selection)
    anchored = list[Section]()
    if tag:
        for path in _anchored_files(sections, library):
            anchored += _anchor_sections(path, tag, selection, library)
    # of anchors that say the same the first one is in, where the last one would be
    unique = dict[str, Section]()
    for section in anchored:
        first = unique.pop(section.text, section)
        unique[section.text] = first
    order = list(selection.sections)
    plain = [section for section in map(_plain, sections) if section.text]
    return sorted([*plain, *unique.values()], key=lambda section: order.index(section.tag))


def _anchors_tag(selection: Selection) -> str:
    """The tag of the section for anchored text, if the selection has one."""
    for tag, spec in selection.sections.items():
        if spec.anchors:
            return tag
    return ""


def _anchor_sections(
    path: str, tag: str, selection: Selection, library: Library
) -> Iterator[Section]:
    """What one file anchors."""
    file = library.file(path)
    if not isinstance(file, files.File) or "ANCHOR" not in file.text.upper():
        return
    for part in parts.anchors(file.text):
        yield Section(
            tag=tag,
            text=lines.with_newlines(marks.plain(part.text).strip()),
            rule=selection.rule(tag),
            rank=selection.rank(tag),
            title=f"{path}:{part.line}",
            source=path,
        )


def _anchored_files(sections: Sequence[Section], library: Library) -> list[str]:
    """The files whose anchors count: what is loaded, and instructions that are not; tier 0 is
    there as it is."""
    paths = list[str]()
    for section in sections:
        if section.rule.tier != ALWAYS and section.source.endswith(".md"):
            paths.append(section.source)
    paths += [section.source for section in sections if section.kind == "workflow"]
    if "guidance" in library.recipe.documents:
        paths += [document.path for document in library.of_kind("guidance")]
    return list(dict.fromkeys(paths))


def _plain(section: Section) -> Section:
    if not section.source.endswith(".md") or "<!--" not in section.text:
        return section
    text = section.text if section.rule.tier == ALWAYS else parts.without_anchors(section.text)
    return replace(section, text=marks.plain(text).strip("\n"), raw=None)


def _without_repeats(sections: Sequence[Section]) -> list[Section]:
    """Without what would be whole a second time."""
    whole = set[tuple[str, str]]()
    unique = list[Section]()
    for section in sections:
        key = (section.source, section.text)
        if section.kind and key in whole:
            continue
        unique.append(section)
        if section.rule.forms[0] == "full" or section.rule.essential:
            whole.add(key)
    return unique


# --- limits ---------------------------------------------------------------------------------------


def _limits(gathered: ReadingResult, recipe: RecipeSpec, counter: Counter, strict: bool) -> Tiers:
    """The limits of the tiers above 0; what tier 0 has too much, the last one has less."""
    limits = {tier: tokens for tier, tokens in recipe.tiers.items() if tier != ALWAYS}
    if len(limits) > 1:
        last = max(limits)
        limits[last] = max(0, limits[last] - NOTE_TOKENS)
    allowed = recipe.tiers.get(ALWAYS)
    always = [section for section in gathered.sections if section.rule.tier == ALWAYS]
    total = _written_size(always, recipe, counter)
    if allowed is None or total <= allowed:
        return Tiers(limits=limits)
    sizes = _sizes_by_source(always, counter)
    largest = max(sizes, key=sizes.__getitem__)
    if strict:
        raise TierTooLarge(
            tier=ALWAYS, needed=total, limit=allowed, largest=largest, tokens=sizes[largest]
        )
    gathered.shortcomings.append(f"tier 0 has {total:,} of {allowed:,} tokens")
    last = max(limits, default=ALWAYS)
    limits[last] = max(0, limits.get(last, 0) - (total - allowed))
    gathered.notes.insert(
        0,
        f"tier 0 needs {total:,} tokens, its limit is {allowed:,}: the largest is {largest}"
        f" ({sizes[largest]:,}); tier {last} has {limits[last]:,} left",
    )
    return Tiers(limits=limits)


def _written_size(sections: Iterable[Section], recipe: RecipeSpec, counter: Counter) -> int:
    """What reads as a tag is written longer than it is."""
    forged_tag = boundary_pattern(frozenset((*recipe.sections, TURN)))
    total = 0
    for section in sections:
        text = forged_tag.escape(section.text)
        total += written_size(replace(section, text=text), counter)
    return total


def _sizes_by_source(sections: Iterable[Section], counter: Counter) -> Tally[str]:
    """The tokens of each file; what is in no file goes by its tag."""
    sizes = Tally[str]()
    for section in sections:
        is_file = "/" in section.source or "." in section.source
        sizes[section.source if is_file else section.tag] += counter.count(section.text.strip())
    return sizes


def authors_notes(
    sections: Sequence[Section], library: Library, counter: Counter, phase: str
) -> list[str]:
    """What `lint` would say about the files that are in, as far as it is about size and names; a
    line for each file."""
    index = DocumentIndex(library=library, counter=counter)
    known = {document.path: document for document in library.documents}
    messages = dict[str, list[str]]()
    for section in sections:
        path = section.source
        if path in messages or not path.endswith(".md"):
            continue
        document = known.get(path) or Document(section.kind or section.tag, path, path)
        problems = [
            *_size_problems(index, document, section, phase),
            *document_checks.references(index, document, section.text),
        ]
        messages[path] = [problem.message for problem in problems]
    notes = list[str]()
    for path, found in messages.items():
        if found:
            notes.append(f"{path}: {'; '.join(dict.fromkeys(found))}")
    return notes


def _size_problems(
    index: DocumentIndex, document: Document, section: Section, phase: str
) -> Iterator[Problem]:
    """A file over the limit of its kind; of a workflow, the phase that is in."""
    if document.kind == "workflow":
        return document_checks.phase_size(
            index, document, Part(name=phase, title="", text=section.text, line=0)
        )
    return document_checks.size(index, document, index.text(document.path))
