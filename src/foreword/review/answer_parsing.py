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
from itertools import islice, pairwise
from math import isfinite

from foreword.review.findings import SEVERITIES, Finding, Severity
from foreword.secrets.masking import mask

MOST_FINDINGS = 200  # in one answer
LONGEST_ANSWER = 400_000  # characters
LONGEST = {"title": 200, "detail": 4_000, "remediation": 2_000, "file": 400}
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
_WORDS: Mapping[Severity, str] = {
    "critical": "critical crit blocker blocking severe fatal catastrophic emergency p0 sev0 s0",
    "high": "high major serious important error p1 sev1 s1",
    "medium": "medium med moderate warning warn normal significant p2 sev2 s2",
    "low": "low minor small nit nitpick trivial style cosmetic p3 sev3 s3",
    "info": (
        "info information informational informative note notice suggestion hint none negligible p4"
        " sev4 s4"
    ),
}
_SEVERITY = {word: severity for severity, words in _WORDS.items() for word in words.split()}
_AGAINST = re.compile(r"request|change|block|reject|fail|deny", re.IGNORECASE)

_EMISSION = re.compile(r"<!--[ \t]{0,9}STRUCTURED_EMISSION_(START|END)[ \t]{0,9}-->")
_FENCE = re.compile(r"^[ \t]*```[\w-]*[ \t]*\n(.*?)^[ \t]*```", re.DOTALL | re.MULTILINE)
_OPENING = re.compile(r"[\[{]")
_FILE_LINE = re.compile(r"(?P<file>[^\s:]+\.\w+):L?(?P<line>\d{1,8})(?:[-:,]\S*)?")
_NUMBER = re.compile(r"\d{1,8}")
_CONTROL = re.compile(r"[\x00-\x08\x0b-\x1f\x7f-\x9f\ud800-\udfff]")
_SENTENCE = re.compile(r"(.{15,160}?[.!?])(?:\s|$)", re.DOTALL)
_MOST_TRIES = 200
_DEEPEST = 3
_TITLE_CHARS = 120


@dataclass(frozen=True, slots=True)
class ParsedAnswer:
    """What an answer says; `problem` is why there is nothing to read in it, `note` what was left
    out of it."""

    findings: tuple[Finding, ...] = ()
    problem: str = ""
    note: str = ""
    confidence: float | None = None


def read_answer(answer: str, who: str, files: Collection[str] = ()) -> ParsedAnswer:
    """The findings in an answer, said by `who`; `files` are those of the change, to know
    `b/x.py` for `x.py`."""
    if not answer.strip():
        return ParsedAnswer(problem="the answer is empty")
    text = answer[:LONGEST_ANSWER]
    found = _chosen(text)
    if found is None:
        return ParsedAnswer(problem=_why_unreadable(answer, text))
    entries, whole = found
    claims = _claims(entries)
    readable = [
        finding for entry in claims[: 5 * MOST_FINDINGS] if (finding := _finding(entry, who, files))
    ]
    if claims and not readable:
        return ParsedAnswer(problem="none of its findings has a title or a description")
    kept = sorted(readable, key=lambda finding: SEVERITIES.index(finding.severity))[:MOST_FINDINGS]
    lost = len(claims) - len(kept)
    note = f"{lost:,} of {len(claims):,} findings were left out" if lost else ""
    return ParsedAnswer(tuple(kept), note=note, confidence=_confidence(whole))


def _claims(entries: Sequence[object]) -> list[object]:
    """The entries that are findings; of votes, those against the change, where there is nothing
    more to the point."""
    claims = [entry for entry in entries if not _is_vote(entry)]
    return claims or [
        entry
        for entry in entries
        if isinstance(entry, Mapping) and _AGAINST.search(entry["verdict"])
    ]


# ---- finding the JSON ----


def _chosen(text: str) -> tuple[list[object], object] | None:
    """The answer in a text: the whole of it where that is one, else the first that has a finding,
    else an empty one.

    What a member quotes may look like an answer, and a change that is reviewed may have been
    written to be quoted.
    """
    whole = _loaded(text.strip())
    if (entries := _entries(whole, bare=True)) is not None:
        return entries, whole
    found = list(islice(_answers(text), _MOST_TRIES))
    return next((one for one in found if one[0]), found[0] if found else None)


def _answers(text: str) -> Iterator[tuple[list[object], object]]:
    """(entries, the JSON they are in) of every answer in the text: marked ones first, and the
    last before others."""
    for marked in [*_marked(text), *reversed(_FENCE.findall(text))]:
        whole = _loaded(_unfenced(marked))
        if (entries := _entries(whole, bare=True)) is not None:
            yield entries, whole
    for whole in reversed(list(_embedded(text))):
        if (entries := _entries(whole)) is not None:
            yield entries, whole


def _marked(text: str) -> Iterator[str]:
    """What stands between a start and the end that follows it, the last first."""
    marks = list(_EMISSION.finditer(text))
    for start, end in reversed(list(pairwise(marks))):
        if (start[1], end[1]) == ("START", "END"):
            yield text[start.end() : end.start()]


def _unfenced(text: str) -> str:
    """What is inside a fence, or the text where there is none."""
    inner = _FENCE.search(text)
    return (inner[1] if inner else text).strip()


def _loaded(text: str) -> object:
    try:
        return json.loads(text, strict=False) if text else None
    except (ValueError, RecursionError):
        return None


def _embedded(text: str) -> Iterator[object]:
    """Every JSON value with brackets that stands anywhere in the text; values inside values are
    not told apart."""
    decoder, at = json.JSONDecoder(strict=False), 0
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
        fits = all(isinstance(entry, Mapping) for entry in value) and (value or bare)
        return (
            value if fits and depth == 0 and (not value or any(map(_is_finding, value))) else None
        )
    if not isinstance(value, Mapping) or depth > _DEEPEST:
        return None
    named = {str(name).casefold(): member for name, member in value.items()}
    lists = [named[name] for name in _LISTS if isinstance(named.get(name), list)]
    if lists:
        return [entry for entries in lists for entry in entries]
    inside = (
        _entries(member, depth + 1) for member in value.values() if isinstance(member, Mapping)
    )
    return next((entries for entries in inside if entries is not None), None)


def _is_finding(entry: object) -> bool:
    return isinstance(entry, Mapping) and any(
        name in entry for name in ("severity", *_TITLES, *_DETAILS)
    )


def _why_unreadable(answer: str, text: str) -> str:
    if len(answer) > len(text):
        return (
            f"the answer has {len(answer):,} characters and no findings in the first {len(text):,}"
        )
    if _OPENING.search(text) and "findings" in text:
        return "the answer has findings, but not as JSON that can be read"
    return "the answer has no findings in it"


# ---- one finding ----


def _is_vote(entry: object) -> bool:
    """Whether an entry is an opinion on the whole: `{"persona", "verdict": "approve",
    "rationale", ...}`."""
    return (
        isinstance(entry, Mapping)
        and "severity" not in entry
        and isinstance(entry.get("verdict"), str)
    )


def _finding(entry: object, who: str, files: Collection[str]) -> Finding | None:
    """A finding out of an entry, or None where it says nothing."""
    if not isinstance(entry, Mapping):
        return None
    fields = {str(name).casefold(): value for name, value in entry.items()}
    detail = _text(fields, _DETAILS, "detail")
    title = " ".join(_text(fields, _TITLES, "title").split()) or _first_sentence(detail)
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
        said_by=(who,),
        remediation=_text(fields, _REMEDIES, "remediation"),
    )


def _text(fields: Mapping[str, object], names: Sequence[str], kind: str) -> str:
    """The first field that has words in it, without secrets and controls, and no longer than it
    may be."""
    said = (fields.get(name) for name in names)
    words = next((value for value in said if isinstance(value, str) and value.strip()), "")
    limit = LONGEST[kind]
    shown = _CONTROL.sub("", mask(words[: 2 * limit])).strip()
    return shown if len(shown) <= limit else f"{shown[: limit - 4].rstrip()} ..."


def _first_sentence(detail: str) -> str:
    flat = " ".join(detail.split())
    sentence = _SENTENCE.match(flat)
    title = sentence[1] if sentence else flat
    return title if len(title) <= _TITLE_CHARS else f"{title[: _TITLE_CHARS - 4].rstrip()} ..."


def _severity(fields: Mapping[str, object]) -> Severity:
    """The severity by any of its names; medium where none is given or it is no word we know."""
    said = next(
        (
            fields[name]
            for name in ("severity", "level", "priority", "risk_level")
            if name in fields
        ),
        None,
    )
    if isinstance(said, str):
        words = re.findall(r"[a-z]+\d?", said[:80].casefold())
        return next((_SEVERITY[word] for word in words if word in _SEVERITY), "medium")
    counts = fields.get("findings_count")
    if isinstance(counts, Mapping):
        return next((severity for severity in SEVERITIES if counts.get(severity)), "info")
    return "medium"


def _place(fields: Mapping[str, object], files: Collection[str]) -> tuple[str, int]:
    """File and line, wherever they stand: in fields of their own, in a location, or as
    `file:line`."""
    for name in _PLACES:
        inside = fields.get(name)
        if isinstance(inside, Mapping):
            fields = {**{str(key).casefold(): value for key, value in inside.items()}, **fields}
        elif isinstance(inside, str):
            fields = {"file": inside, **fields}
    file = _text(fields, _FILES, "file")
    line = next((number for name in _LINES if (number := _line(fields.get(name)))), 0)
    if both := _FILE_LINE.fullmatch(file):
        file, line = both["file"], line or _line(both["line"])
    return _known(file.replace("\\", "/").removeprefix("./"), files), line


def _known(file: str, files: Collection[str]) -> str:
    """The file by the name it has in the change: `b/x.py` and `/x.py` are `x.py` where there is
    one."""
    if file in files or not files:
        return file
    shorter = [file.removeprefix("a/"), file.removeprefix("b/"), file.lstrip("/")]
    return next((name for name in shorter if name in files), file)


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
    said = (
        (whole.get(name) for name in ("confidence", "confidence_score"))
        if isinstance(whole, Mapping)
        else ()
    )
    sure = next(
        (value for value in said if isinstance(value, int | float) and not isinstance(value, bool)),
        None,
    )
    return float(sure) if sure is not None and 0 <= sure <= 1 else None
