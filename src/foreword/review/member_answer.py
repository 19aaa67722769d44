"""The form in which the members of a panel answer, and why a human has to read an answer.

Nothing is read out of prose: `models.ask` requests an answer that fits, once more where it does
not, and after that the member counts as not answered. Pure.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Collection, Iterator
from typing import Annotated

from pydantic import AfterValidator, BaseModel, ConfigDict, Field

from foreword.json_object import without_repeats
from foreword.review.findings import Finding, Severity
from foreword.secrets.masking import mask
from foreword.text.boundary_pattern import BoundaryPattern

# Of one answer. Reviews have a handful of findings with a sentence or two each; a small local model
# that may write more runs out of room before its object is closed.
MOST_FINDINGS = 20
# Characters of a member's words that a human is shown: two or three sentences, on one screen with
# those of the others.
LONGEST_QUOTE = 400
_MOST_MASKED = 10 * LONGEST_QUOTE  # searched for secrets before the cut: a key lies well inside
# The tags between which a member is shown its material.
_TAGS = frozenset(("diff", "instructions", "persona", "profile", "project", "task"))


def _one_line(words: str) -> str:
    return " ".join(mask(words).split())


Line = Annotated[str, AfterValidator(_one_line)]
Text = Annotated[str, AfterValidator(mask)]


class FindingAnswer(BaseModel):
    """One thing that is wrong with the change."""

    model_config = ConfigDict(extra="forbid")
    severity: Severity
    file: Line = Field(max_length=400, description="as in the diff, or empty")
    line: int = Field(ge=0, le=10_000_000, description="in the new version of the file, or 0")
    title: Line = Field(max_length=200, description="the claim in one short sentence")
    reason: Text = Field(max_length=600, description="how it goes wrong, and what to change")
    flag: str = Field(
        default="",
        max_length=60,
        pattern=r"^([a-z0-9]+(_[a-z0-9]+)*)?$",
        description="a policy flag, such as pii_exposure, or empty",
    )


class MemberAnswer(BaseModel):
    """The whole review of one member."""

    model_config = ConfigDict(extra="forbid")
    saw_everything: bool = Field(description="false if any of the change could not be judged")
    confidence: float = Field(ge=0, le=1, description="how sure you are of no other finding")
    findings: list[FindingAnswer] = Field(max_length=MOST_FINDINGS)


def findings_of(answer: MemberAnswer, member: str) -> list[Finding]:
    """Return the findings of a member's answer."""
    findings = list[Finding]()
    for finding in answer.findings:
        fields = finding.model_dump(exclude={"flag"})
        flags = (finding.flag,) if finding.flag else ()
        findings.append(Finding(**fields, said_by=(member,), flags=flags))
    return findings


def remarks_on(answer: MemberAnswer, first: str, files: Collection[str]) -> Iterator[str]:
    """Yield why a human has to read an answer; `first` is what the member answered before it was
    asked again, `files` are those of the change."""
    if not answer.saw_everything:
        yield "did not see all of the change"
    strange = {finding.file for finding in answer.findings if finding.file} - set(files)
    if strange:
        yield f"names files that are not in the change: {quoted(', '.join(sorted(strange)))}"
    if BoundaryPattern(_TAGS).search(answer.model_dump_json()):
        yield "writes tags of the request that it was sent"
    if first and not _repeats(answer, first):
        yield f"first gave an answer of which a part is missing now: {quoted(first)}"


def quoted(words: str) -> str:
    """Return the words of a member in quotes, on one line, without secrets."""
    line = _one_line(words[:_MOST_MASKED])
    if len(line) > LONGEST_QUOTE:
        line = f"{line[:LONGEST_QUOTE]} ..."
    return f'"{line}"'


def _repeats(answer: MemberAnswer, first: str) -> bool:
    """Return whether an answer has all that the first one said, which must be JSON for that."""
    try:
        earlier = json.loads(first, object_pairs_hook=without_repeats)
        return Counter(_values(earlier)) <= Counter(_values(answer.model_dump()))
    except (ValueError, RecursionError):
        return False


def _values(answer: object, name: str = "") -> Iterator[tuple[str, str]]:
    """Yield every plain value in an answer with its name."""
    if isinstance(answer, dict):
        for key, member in answer.items():
            yield from _values(member, key)
    elif isinstance(answer, list):
        for member in answer:
            yield from _values(member, name)
    else:
        yield name, str(answer).strip().casefold()
