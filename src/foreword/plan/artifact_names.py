"""Which artifact each phase of a workflow hands on, and which ones it takes, by what its author
wrote.

People say it in many ways: a line under `### Output`, `**Artifact `[INC-1]: Triage`**`, "Hand on
[ST-1]", an overview with arrows above the phases. A mention alone is no claim: most phases name
what they were given. Pure; `work.factory_project` reads the phases, lint tells what is amiss.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass

from foreword.pattern import lazy_pattern

# `FEAT-1`, `ST-3A`, `REL-2b`, and `MIG-4.N`: one for each step of a phase.
NAME = r"[A-Z][A-Z0-9_]{0,19}-(?:\d{1,4}|N)(?:\.(?:\d{1,4}|N))?[A-Za-z]?"
# `[FEAT-1]`, also as `[FEAT-1: Requirements]`; a link's text is none.
REFERENCE = rf"\[(?P<name>{NAME})(?::[^\]\n]{{0,80}})?\](?!\()"

_REFERENCE = lazy_pattern(REFERENCE)
_HEADING = lazy_pattern(
    r"^ {0,3}(?:#{1,6}[ \t]+(?P<hashed>[^\n]+)|\*\*(?P<bold>[^*\n]{1,60})\*\*:?[ \t]*$)"
)
_GIVING = lazy_pattern(
    r"\b(?:outputs?|artifacts?|deliverables?|produces?|results?|hand[- ]?(?:off|over|on)|emits?)\b",
    re.IGNORECASE,
)
_TAKING = lazy_pattern(
    r"\b(?:inputs?|requires?|required|prerequisites?|context|given|reads?|depends?|needs?|takes?)\b",
    re.IGNORECASE,
)
# What stands before a reference on its line. Of the words that give, the nearest must not be
# followed by one that takes: "Output: based on [FEAT-1]" hands on nothing of that name.
_GIVING_WORDS = (
    r"\b(?:artifacts?|outputs?|deliverables?|produc(?:e|es|ing)|emits?|delivers?|creates?|returns?"
    r"|writes?|saves?|stores?|keeps?|records?|publish(?:es)?|call it|be called|named? (?:it )?as"
    r"|hands? (?:it )?(?:on|over|off))\b"
    r"|→|->|=>"
)
_GIVES = lazy_pattern(_GIVING_WORDS, re.IGNORECASE)
_TAKES = lazy_pattern(
    r"\b(?:from|based on|per|see|given|using|uses?|inputs?|reads?|with|of|in|against|by|after"
    r"|reviews?|present|re-present|checks?|verify|compare|follows?|all"
    r"|(?:refer|respond|according|compared|due|returns?|back|goes?|stick|add|adds) to)\b",
    re.IGNORECASE,
)
# `Output: FEAT-1`, or `- FEAT-1: the plan` under a heading for outputs: a name without brackets.
_BARE = rf"[`*]{{0,3}}(?P<name>{NAME})(?![\w-]|\.\w)"
_BARE_ITEM = lazy_pattern(rf"^\s*(?:[-*+]\s+|\d{{1,2}}[.)]\s+)?{_BARE}")
_BARE_LABEL = lazy_pattern(
    r"^[\s>*_|-]{0,8}(?i:outputs?|artifacts?|deliverables?|produces?|hands? on)\b[^:\n]{0,20}:"
    rf"[\s*|]*{_BARE}"
)
# `publish FEAT-1`, `<!-- ARTIFACT: FEAT-1 -->`: right behind a word that gives.
_BARE_BEHIND = lazy_pattern(rf"(?i:{_GIVING_WORDS})[\s:*]{{1,4}}{_BARE}")
# `an artifact named "FEAT-1"`: in quotes or as code, anywhere behind a word that gives.
_QUOTED = lazy_pattern(rf"[`\"'“‘]\*{{0,2}}(?P<name>{NAME})\*{{0,2}}[`\"'”’]")
_HANDED_ON_BEHIND = lazy_pattern(
    r"^`?\*{0,2}\s*(?:is|are)?\s*"
    r"(?:handed (?:on|over|off)|produced|written|the (?:output|result|artifact))",
    re.IGNORECASE,
)
_OVERVIEW = lazy_pattern(
    r"^\s*(?:phase\s+)?(?P<phase>\d{1,3}(?:\.\d{1,3})?[a-z]?)[.):]?\s[^\n]*?(?:→|->|=>)[^\n]*",
    re.IGNORECASE,
)
# `Outputs:`, with a list under it
_LABEL = lazy_pattern(r"^ {0,3}(?:[-*+][ \t]+)?(?P<label>[^\W\d_][^:\n\[]{1,40}):[ \t]*$")
_ITEM = lazy_pattern(r"^\s*(?:[-*+|]|\d{1,2}[.)])\s")
_EMPHASIS = lazy_pattern(r"(?<!\w)_+(?=\w)|(?<=\w)_+(?!\w)")  # `_Output_`
_TABLE_PHASE = lazy_pattern(
    r"[\s*`]*(?:phase\s+)?(?P<phase>\d{1,3}(?:\.\d{1,3})?[a-z]?)\b[^|]*", re.IGNORECASE
)
_NUMBER = lazy_pattern(r"-(?:(\d+)(?:\.\w+)?([A-Za-z]?))$")

# How sure a claim is: a line that says so, a place under a heading for outputs, a row of the
# overview, a mention under the phase's own number. A number that fits decides among the first
# three.
_SAYS_SO, _UNDER_OUTPUT, _IN_OVERVIEW, _MENTIONED = 4, 3, 2, 1


@dataclass(frozen=True, slots=True, kw_only=True)
class Handover:
    """What a phase takes and gives; `gives` is empty where it names nothing of its own, `also`
    are other names that it gives to the same."""

    gives: str = ""
    also: tuple[str, ...] = ()
    takes: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class _ArtifactClaim:
    phase: str
    artifact: str
    strength: int
    place: int  # in the text: the first of equals is meant


def handovers(phases: Mapping[str, str], before: str = "") -> dict[str, Handover]:
    """What each phase takes and gives, from the texts of the phases by name, in their order, and
    what stands before the first of them."""
    claims: list[_ArtifactClaim] = []
    for phase, text in phases.items():
        claims += _claims(phase, text)
    claims += _overview_claims(before, phases)
    gives: dict[str, str] = {}
    also: dict[str, list[str]] = {phase: [] for phase in phases}
    taken: set[str] = set()
    order = list(phases)
    claims.sort(key=lambda claim: _preference(claim, order))
    for claim in claims:
        if claim.phase not in gives and claim.artifact not in taken:
            gives[claim.phase] = claim.artifact
            taken.add(claim.artifact)
    for claim in claims:
        if claim.strength >= _UNDER_OUTPUT and claim.artifact not in taken:
            also[claim.phase].append(claim.artifact)
            taken.add(claim.artifact)
    found = {}
    earlier: list[str] = []
    for phase, text in phases.items():
        takes = _mentions(text, earlier)
        given = gives.get(phase, "")
        found[phase] = Handover(gives=given, also=tuple(also[phase]), takes=takes)
        earlier += [name for name in (given, *also[phase]) if name]
    return found


def _mentions(text: str, names: Sequence[str]) -> tuple[str, ...]:
    """Those of the names that a text mentions, in its order."""
    places: dict[str, int] = {}
    for name in names:
        match = re.search(rf"(?<![\w-]){re.escape(name)}(?![\w-]|\.\w)", text)
        if match:
            places[name] = match.start()
    return tuple(sorted(places, key=places.__getitem__))


def repeated_artifacts(phases: Mapping[str, str]) -> Iterator[tuple[str, str]]:
    """(phase, artifact) of every phase that says it hands on what an earlier one says, too."""
    seen: set[str] = set()
    for phase, text in phases.items():
        for claim in _claims(phase, text):
            if claim.strength == _SAYS_SO and claim.artifact in seen:
                yield phase, claim.artifact
        seen.update(claim.artifact for claim in _claims(phase, text) if claim.strength == _SAYS_SO)


def missing_artifacts(
    phases: Mapping[str, str], given: Collection[str]
) -> Iterator[tuple[str, str]]:
    """(phase, artifact) of what a phase names in the manner of its flow and no phase hands on."""
    families = {name.rpartition("-")[0] for name in given if name}
    for phase, text in phases.items():
        for name in dict.fromkeys(match["name"] for match in _REFERENCE.finditer(text)):
            if name.rpartition("-")[0] in families and name not in given:
                yield phase, name


def _preference(claim: _ArtifactClaim, order: Sequence[str]) -> tuple[bool, bool, int, int, int]:
    return (
        claim.strength == _MENTIONED,
        not _fits(claim.artifact, claim.phase),
        -claim.strength,
        order.index(claim.phase),
        claim.place,
    )


def _fits(artifact: str, phase: str) -> bool:
    plain = phase.casefold()
    # `FEAT-3.5` is phase 3.5's, and `MIG-4.1` phase 4's where there is no 4.1
    return _number_of(artifact) == plain or artifact.casefold().endswith(f"-{plain}")


def _number_of(artifact: str) -> str:
    """`3a` of `ST-3A`: which phase it is named after."""
    match = _NUMBER.search(artifact)
    return f"{match[1]}{match[2]}".casefold() if match else ""


@dataclass(slots=True, kw_only=True)
class _LineContext:
    """What the lines above say of a line: whether it is about outputs or inputs, by the heading or
    the label that it stands under, and which table it is in."""

    is_output: bool = False
    is_input: bool = False
    is_label: bool = False  # of the two above: by a label, which ends with its list
    titles: Sequence[str] = ()  # of the columns of the table

    def read(self, line: str) -> None:
        """Go on to the next line."""
        is_row = line.lstrip().startswith("|")
        self.titles = (self.titles or line.split("|")) if is_row else ()
        heading = _HEADING.match(line) or _LABEL.match(line)
        if self.is_label and line.strip() and not heading and not _ITEM.match(line):
            self.is_output = self.is_input = self.is_label = False
        if heading and not _REFERENCE.search(line):
            title = str(heading[heading.lastgroup or 0])
            self.is_label = heading.lastgroup == "label"
            self.is_input = _TAKING.search(title) is not None
            self.is_output = _is_for_giving(title)


def _claims(phase: str, text: str) -> Iterator[_ArtifactClaim]:
    """The artifacts that a phase says or seems to hand on."""
    context = _LineContext()
    place = 0
    for written in text.splitlines(keepends=True):
        line = _EMPHASIS.sub(lambda mark: " " * len(mark[0]), written)
        context.read(line)
        if not context.is_input:
            for match, strength in _names_in_line(phase, line, context):
                yield _ArtifactClaim(
                    phase=phase,
                    artifact=match["name"],
                    strength=strength,
                    place=place + match.start("name"),
                )
        place += len(line)


def _names_in_line(
    phase: str, line: str, context: _LineContext
) -> Iterator[tuple[re.Match[str], int]]:
    """The names in a line that may be handed on, and how sure that is."""
    for match in _REFERENCE.finditer(line):
        title = _column_title(context.titles, line[: match.start()])
        if _TAKING.search(title):
            continue
        is_output = context.is_output or _is_for_giving(title)
        strength = _strength(line, match, is_output=is_output)
        if not strength and _fits(match["name"], phase):
            strength = _MENTIONED
        if strength:
            yield match, strength
    bare = _BARE_LABEL.match(line) or (_BARE_ITEM.match(line) if context.is_output else None)
    bare = bare or _BARE_BEHIND.search(line) or _quoted_name(line)
    # without brackets many a word looks like a name (UTF-8), unless its number is the phase's
    if bare and _fits(bare["name"], phase):
        yield bare, _UNDER_OUTPUT


def _column_title(titles: Sequence[str], before: str) -> str:
    """The title of the column behind these cells of a row; nothing outside of tables, and of the
    first row."""
    column = before.count("|")
    return titles[column] if column < len(titles) and titles[column] not in before else ""


def _quoted_name(line: str) -> re.Match[str] | None:
    """A name in quotes that the line says is handed on."""
    for match in _QUOTED.finditer(line):
        if _strength(line, match, is_output=False):
            return match
    return None


def _strength(line: str, match: re.Match[str], *, is_output: bool) -> int:
    before = line[: match.start()]
    given = [found.end() for found in _GIVES.finditer(before)]
    taken = [found.end() for found in _TAKES.finditer(before)]
    if given and (not taken or taken[-1] <= given[-1]):
        return _SAYS_SO
    if _HANDED_ON_BEHIND.match(line[match.end() :]):
        return _SAYS_SO
    return _UNDER_OUTPUT if is_output and not taken else 0


def _overview_claims(before: str, phases: Mapping[str, str]) -> Iterator[_ArtifactClaim]:
    """`1. **Triage** → `[INC-1]`` above the phases, or a table with a column for what each hands
    on."""
    place = 0
    columns: list[int] | None = None  # of the table that the line is in, those of what is given
    for line in before.splitlines(keepends=True):
        cells = line.strip().strip("|").split("|") if line.lstrip().startswith("|") else []
        row = _OVERVIEW.match(line) or (_TABLE_PHASE.fullmatch(cells[0]) if cells else None)
        given = line
        if not cells:
            columns = None
        elif columns is None:
            columns = [number for number, cell in enumerate(cells) if _is_for_giving(cell)]
        else:
            given = " ".join(cells[number] for number in columns if number < len(cells))
        found = _REFERENCE.search(given) if row else None
        if row and found and row["phase"].lower() in phases:
            yield _ArtifactClaim(
                phase=row["phase"].lower(),
                artifact=found["name"],
                strength=_IN_OVERVIEW,
                place=place,
            )
        place += len(line)


def _is_for_giving(title: str) -> bool:
    return _GIVING.search(title) is not None and _TAKING.search(title) is None
