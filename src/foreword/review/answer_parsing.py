"""Read the findings out of what a member of a panel answered.

The answer should be a JSON object with a list of findings. Models write it in a fence, between
markers, after an introduction, with other names for the fields and other words for the severities:
all that is read. What has no findings that can be read is nonsense and says why; an empty list is
an answer. Whatever is in it, the time and the size are bounded, and secrets are hidden.
"""

from __future__ import annotations

import json
import re
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import chain, islice, pairwise
from math import isfinite
from typing import Any, TypeGuard

from foreword.pattern import lazy_pattern
from foreword.review.findings import SEVERITIES, Finding, Severity
from foreword.secrets.masking import mask

# In one answer; the worst are kept. A review that is meant to be read has a few dozen, so this only
# stops a model that repeats itself, and keeps the merging of a whole panel quick.
MOST_FINDINGS = 200
# Characters that are searched for JSON: several times 200 findings of ordinary length, and a bound
# on the time that an endless answer may take.
LONGEST_ANSWER = 400_000
# Characters of each field. A title is one line in a list, a detail some paragraphs, a file a path.
LONGEST = {"title": 200, "detail": 4_000, "remediation": 2_000, "file": 400}
# No source file has more lines: a larger number is a mistake or a joke, and stands for no line.
LARGEST_LINE = 10_000_000

_LISTS = ("findings", "policy_flags", "issues", "problems", "comments", "violations")
_TITLES = ("title", "flag", "summary", "name", "issue", "message", "problem")
_DETAILS = (
    "detail",
    "details",
    "description",
    "rationale",
    "explanation",
    "reason",
    "message",
    "body",
    "comment",
)
_REMEDIES = (
    "remediation",
    "remedy",
    "fix",
    "suggestion",
    "suggested_fix",
    "recommendation",
    "mitigation",
)
_FILES = ("file", "path", "filename", "file_path", "filepath")
_LINES = (
    "line",
    "line_number",
    "lineno",
    "start_line",
    "line_start",
    "lines",
    "line_range",
    "start",
)
_PLACES = ("location", "evidence", "position")
_SEVERITY_FIELDS = ("severity", "level", "priority", "risk_level")
_SEVERITY_WORDS: Mapping[Severity, str] = {
    "critical": "critical crit blocker blocking severe fatal catastrophic emergency p0 sev0 s0",
    "high": "high major serious important error p1 sev1 s1",
    "medium": "medium med moderate warning warn normal significant p2 sev2 s2",
    "low": "low minor small nit nitpick trivial style cosmetic p3 sev3 s3",
    "info": (
        "info information informational informative note notice suggestion hint none negligible p4"
        " sev4 s4"
    ),
}
_AGAINST = lazy_pattern(r"request|change|block|reject|fail|deny", re.IGNORECASE)

_EMISSION = lazy_pattern(r"<!--[ \t]{0,9}STRUCTURED_EMISSION_(START|END)[ \t]{0,9}-->")
_FENCE = lazy_pattern(r"^[ \t]*```[\w-]*[ \t]*\n(.*?)^[ \t]*```", re.DOTALL | re.MULTILINE)
_OPENING = lazy_pattern(r"[\[{]")
_FILE_LINE = lazy_pattern(r"(?P<file>[^\s:]+\.\w+):L?(?P<line>\d{1,8})(?:[-:,]\S*)?")
_NUMBER = lazy_pattern(r"\d{1,8}")
_CONTROL = lazy_pattern(r"[\x00-\x08\x0b-\x1f\x7f-\x9f\ud800-\udfff]")
_SENTENCE = lazy_pattern(r"(.{15,160}?[.!?])(?:\s|$)", re.DOTALL)
# Brackets that are tried as the beginning of JSON, and answers that are compared: a text of nothing
# but brackets must not take a parse for each of them.
_MOST_TRIES = 200
# Objects around the one that has the list: in `{"result": {"review": {"findings": []}}}` there are
# two. Deeper down, a list of that name is more likely part of what a member quotes.
_DEEPEST = 3
# A title made from a detail that has no short first sentence: one line on a screen.
_TITLE_CHARS = 120


def _severity_by_word() -> dict[str, Severity]:
    severities: dict[str, Severity] = {}
    for severity, words in _SEVERITY_WORDS.items():
        for word in words.split():
            severities[word] = severity
    return severities


_SEVERITY = _severity_by_word()


@dataclass(frozen=True, slots=True)
class ParsedAnswer:
    """What an answer says; `problem` is why there is nothing to read in it, `note` what was left
    out of it."""

    findings: tuple[Finding, ...] = ()
    problem: str = ""
    note: str = ""
    confidence: float | None = None


def parse_answer(answer: str, member: str, files: Collection[str] = ()) -> ParsedAnswer:
    """The findings in the answer of `member`; `files` are those of the change, to know `b/x.py`
    for `x.py`."""
    if not answer.strip():
        return ParsedAnswer(problem="the answer is empty")
    text = answer[:LONGEST_ANSWER]
    found = _find_entries(text)
    if found is None:
        return ParsedAnswer(problem=_why_unreadable(answer, text))
    entries, whole = found
    claims = _without_votes(entries)
    findings = []
    # The worst are chosen from more than are kept, but an answer of thousands is not read whole.
    for entry in claims[: 5 * MOST_FINDINGS]:
        finding = _parse_finding(entry, member, files)
        if finding is not None:
            findings.append(finding)
    if claims and not findings:
        return ParsedAnswer(problem="none of its findings has a title or a description")
    findings.sort(key=lambda finding: SEVERITIES.index(finding.severity))
    worst = tuple(findings[:MOST_FINDINGS])
    left_out = len(claims) - len(worst)
    note = f"{left_out:,} of {len(claims):,} findings were left out" if left_out else ""
    return ParsedAnswer(worst, note=note, confidence=_confidence(whole))


def _without_votes(entries: Sequence[object]) -> list[object]:
    """The entries that are findings; of votes, those against the change, where there is nothing
    more to the point."""
    claims = [entry for entry in entries if not _is_vote(entry)]
    if claims:
        return claims
    votes = [entry for entry in entries if _is_vote(entry)]
    return [vote for vote in votes if _AGAINST.search(vote["verdict"])]


# ---- finding the JSON ----


def _find_entries(text: str) -> tuple[list[object], object] | None:
    """(entries, the JSON they are in) of the answer in a text: the whole of it where that is one,
    else the first that has a finding, else an empty one.

    What a member quotes may look like an answer, and a change that is reviewed may have been
    written to be quoted.
    """
    whole = _parse_json(text.strip())
    entries = _entries(whole, bare=True)
    if entries is not None:
        return entries, whole
    empty = None
    for answer in islice(_answers(text), _MOST_TRIES):
        entries, _ = answer
        if entries:
            return answer
        if empty is None:
            empty = answer
    return empty


def _answers(text: str) -> Iterator[tuple[list[object], object]]:
    """(entries, the JSON they are in) of every answer in the text: marked ones first, and the
    last before others."""
    for marked in [*_between_markers(text), *reversed(_FENCE.findall(text))]:
        whole = _parse_json(_without_fence(marked))
        entries = _entries(whole, bare=True)
        if entries is not None:
            yield entries, whole
    for whole in reversed(list(_embedded_json(text))):
        entries = _entries(whole)
        if entries is not None:
            yield entries, whole


def _between_markers(text: str) -> Iterator[str]:
    """What stands between a start and the end that follows it, the last first."""
    marks = list(_EMISSION.finditer(text))
    for start, end in reversed(list(pairwise(marks))):
        if (start[1], end[1]) == ("START", "END"):
            yield text[start.end() : end.start()]


def _without_fence(text: str) -> str:
    """What is inside a fence, or the text where there is none."""
    inner = _FENCE.search(text)
    return (inner[1] if inner else text).strip()


def _parse_json(text: str) -> object:
    """The JSON value that a text is, or None; raw line breaks inside strings are allowed."""
    if not text:
        return None
    try:
        return json.loads(text, strict=False)
    except (ValueError, RecursionError):
        return None


def _embedded_json(text: str) -> Iterator[object]:
    """Every JSON value with brackets that stands anywhere in the text; a value inside another is
    not given again."""
    decoder = json.JSONDecoder(strict=False)
    at = 0
    for _ in range(_MOST_TRIES):
        opening = _OPENING.search(text, at)
        if opening is None:
            return
        try:
            value, at = decoder.raw_decode(text, opening.start())
            yield value
        except (ValueError, RecursionError):
            at = opening.start() + 1


def _entries(value: object, depth: int = 0, *, bare: bool = False) -> list[object] | None:
    """The list of findings in a JSON value, or None. A bare `[]` counts only where nothing else
    is said."""
    if isinstance(value, list):
        return value if _is_list_of_findings(value, bare=bare) else None
    if not isinstance(value, Mapping) or depth > _DEEPEST:
        return None
    fields = _by_lower_case(value)
    lists = [fields[name] for name in _LISTS if isinstance(fields.get(name), list)]
    if lists:
        return list(chain.from_iterable(lists))
    for field in value.values():
        if isinstance(field, Mapping):
            entries = _entries(field, depth + 1)
            if entries is not None:
                return entries
    return None


def _is_list_of_findings(value: list[object], *, bare: bool) -> bool:
    if not value:
        return bare
    if not all(isinstance(entry, Mapping) for entry in value):
        return False
    return any(_is_finding(entry) for entry in value)


def _is_finding(entry: object) -> bool:
    if not isinstance(entry, Mapping):
        return False
    return any(name in entry for name in ("severity", *_TITLES, *_DETAILS))


def _by_lower_case(value: Mapping[object, object]) -> dict[str, Any]:
    return {str(name).casefold(): field for name, field in value.items()}


def _why_unreadable(answer: str, text: str) -> str:
    if len(answer) > len(text):
        return (
            f"the answer has {len(answer):,} characters and no findings in the first {len(text):,}"
        )
    if _OPENING.search(text) and "findings" in text:
        return "the answer has findings, but not as JSON that can be read"
    return "the answer has no findings in it"


# ---- one finding ----


def _is_vote(entry: object) -> TypeGuard[Mapping[str, str]]:
    """Whether an entry is an opinion on the whole: `{"persona", "verdict": "approve",
    "rationale", ...}`."""
    if not isinstance(entry, Mapping) or "severity" in entry:
        return False
    return isinstance(entry.get("verdict"), str)


def _parse_finding(entry: object, member: str, files: Collection[str]) -> Finding | None:
    """A finding out of an entry, or None where it says nothing."""
    if not isinstance(entry, Mapping):
        return None
    fields = _by_lower_case(entry)
    detail = _text(fields, _DETAILS, "detail")
    title = " ".join(_text(fields, _TITLES, "title").split())
    if not title:
        title = _first_sentence(detail)
    if not re.search(r"\w", title):
        return None
    if "_" in title and " " not in title:
        title = title.replace("_", " ")
    file, line = _place(fields, files)
    return Finding(
        severity=_severity(fields),
        title=title,
        detail="" if detail == title else detail,
        file=file,
        line=line,
        said_by=(member,),
        remediation=_text(fields, _REMEDIES, "remediation"),
    )


def _text(fields: Mapping[str, object], names: Sequence[str], kind: str) -> str:
    """The first field that has words in it, without secrets and controls, and no longer than it
    may be."""
    words = _first_text(fields, names)
    limit = LONGEST[kind]
    # Twice the limit, because what is hidden may become shorter; all of it could be megabytes.
    text = _CONTROL.sub("", mask(words[: 2 * limit])).strip()
    return _shorten(text, limit)


def _first_text(fields: Mapping[str, object], names: Sequence[str]) -> str:
    for name in names:
        value = fields.get(name)
        if isinstance(value, str) and value.strip():
            return value
    return ""


def _first_sentence(detail: str) -> str:
    flat = " ".join(detail.split())
    sentence = _SENTENCE.match(flat)
    return _shorten(sentence[1] if sentence else flat, _TITLE_CHARS)


def _shorten(text: str, limit: int) -> str:
    return text if len(text) <= limit else f"{text[: limit - 4].rstrip()} ..."


def _severity(fields: Mapping[str, object]) -> Severity:
    """The severity by any of its names; medium where none is given or it is no word we know."""
    severity = _first_field(fields, _SEVERITY_FIELDS)
    if isinstance(severity, str):
        for word in re.findall(r"[a-z]+\d?", severity[:80].casefold()):
            if word in _SEVERITY:
                return _SEVERITY[word]
        return "medium"
    counts = fields.get("findings_count")
    if isinstance(counts, Mapping):
        return next((severity for severity in SEVERITIES if counts.get(severity)), "info")
    return "medium"


def _first_field(fields: Mapping[str, object], names: Sequence[str]) -> object:
    """The first field that is there, whatever it holds."""
    return next((fields[name] for name in names if name in fields), None)


def _place(fields: Mapping[str, object], files: Collection[str]) -> tuple[str, int]:
    """File and line, wherever they stand: in fields of their own, in a location, or as
    `file:line`."""
    for name in _PLACES:
        location = fields.get(name)
        if isinstance(location, Mapping):
            fields = {**_by_lower_case(location), **fields}
        elif isinstance(location, str):
            fields = {"file": location, **fields}
    file = _text(fields, _FILES, "file")
    line = _first_line_number(fields)
    file_and_line = _FILE_LINE.fullmatch(file)
    if file_and_line:
        file = file_and_line["file"]
        line = line or _line(file_and_line["line"])
    return _name_in_change(file.replace("\\", "/").removeprefix("./"), files), line


def _name_in_change(file: str, files: Collection[str]) -> str:
    """The file by the name it has in the change: `b/x.py` and `/x.py` are `x.py` where there is
    one."""
    if file in files or not files:
        return file
    shorter = [file.removeprefix("a/"), file.removeprefix("b/"), file.lstrip("/")]
    return next((name for name in shorter if name in files), file)


def _first_line_number(fields: Mapping[str, object]) -> int:
    for name in _LINES:
        line = _line(fields.get(name))
        if line:
            return line
    return 0


def _line(value: object) -> int:
    """The first line of `12`, `"12-14"`, `"L12"`, `[12, 14]`, `{"start": 12}`; 0 for anything
    else."""
    if isinstance(value, bool):
        return 0
    if isinstance(value, float):
        value = int(value) if isfinite(value) else 0
    if isinstance(value, str):
        digits = _NUMBER.search(value[:80])
        value = int(digits[0]) if digits else 0
    if isinstance(value, list) and value and not isinstance(value[0], list | dict):
        return _line(value[0])
    if isinstance(value, Mapping) and not isinstance(value.get("start"), list | dict):
        return _line(value.get("start"))
    return value if isinstance(value, int) and 0 < value <= LARGEST_LINE else 0


def _confidence(whole: object) -> float | None:
    """How sure the member says it is, from 0 to 1."""
    if not isinstance(whole, Mapping):
        return None
    for name in ("confidence", "confidence_score"):
        value = whole.get(name)
        if isinstance(value, int | float) and not isinstance(value, bool):
            return float(value) if 0 <= value <= 1 else None
    return None
