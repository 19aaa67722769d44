"""Read one finding out of an entry of a member's answer: its claim, its place, how bad it is.

Names of fields and words for severities differ from model to model; the usual ones are understood.
What an entry says besides is *unread*: a finding may be worse than its severity where it says
`"cvss": 9.8`, one whose severity is not said, or in no word that is known, may be the worst, and
one that says what its author could not look at is no finding about the change.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping, Sequence
from math import isfinite
from typing import Any

from foreword.pattern import lazy_pattern
from foreword.review.answer_prose import is_about_reviewing, statements
from foreword.review.findings import SEVERITIES, Finding, Severity
from foreword.secrets.masking import mask

# Characters of each field. A title is one line in a list, a detail some paragraphs, a file a path.
LONGEST = {"title": 200, "detail": 4_000, "remediation": 2_000, "file": 400}
# No source file has more lines: a larger number is a mistake or a joke, and stands for no line.
LARGEST_LINE = 10_000_000

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
    "critical": (
        "critical crit blocker blockers blocking severe fatal catastrophic emergency urgent highest"
        " showstopper p0 sev0 s0 kritisch crítico crítica critico critica critique"
        " 严重 重大 致命 🔴 🚨"
    ),
    "high": (
        "high major serious important error p1 sev1 s1 hoch schwer alto alta élevé élevée grave"
        " 高 🟠"
    ),
    "medium": (
        "medium med moderate warning warn normal significant p2 sev2 s2 mittel"
        " medio media médio média moyen moyenne 中 🟡"
    ),
    "low": (
        "low minor small nit nitpick trivial style cosmetic p3 sev3 s3 niedrig gering bajo baja"
        " baixo baixa basso bassa faible 低 🟢"
    ),
    "info": (
        "info information informational informative note notice suggestion hint none negligible p4"
        " sev4 s4 🔵"
    ),
}
# What else stands in a severity: `Medium to High`, `low risk`.
_BESIDE_SEVERITY = frozenset("to or and risk severity priority level impact".split())
# What an entry may say that makes it no better and no worse.
_ABOUT = frozenset(
    (
        "auto_fixable auto_remediable category class code code_snippet col column confidence cwe"
        " effort end end_column end_line excerpt findings_count function hunk id index kind"
        " line_end link links member number owasp persona quote reference references reviewer"
        " rule rule_id snippet symbol tags type url"
    ).split()
)
_TOKEN = lazy_pattern(
    r"[^\W\d_]+(?:[ -]?\d\b)?|\d+(?:[.,]\d+)?|[\u2600-\u2bff\U0001f000-\U0001faff]"
)
# `non-blocking`; what is not low may be anything
_NEGATED = lazy_pattern(r"\b(?:non|not)[ _-](?:a )?(?:block\w+|critical|severe|urgent|showstopper)")
_NO_FINDING = lazy_pattern(r"(?:no|none|nothing|n/?a)\b", re.IGNORECASE)
_FLAG = lazy_pattern(r"[a-z][a-z0-9]*(?:_[a-z0-9]+)+")
_FILE_LINE = lazy_pattern(r"(?P<file>[^\s:]+\.\w+):L?(?P<line>\d{1,8})(?:[-:,]\S*)?")
_NUMBER = lazy_pattern(r"\d{1,8}")
_CONTROL = lazy_pattern(r"[\x00-\x08\x0b-\x1f\x7f-\x9f\ud800-\udfff]")
_SENTENCE = lazy_pattern(r"(.{15,160}?[.!?])(?:\s|$)", re.DOTALL)
# A title made from a detail that has no short first sentence: one line on a screen.
_TITLE_CHARS = 120
_SHORT = 80  # characters of what may be a severity


def _severity_by_word() -> dict[str, Severity]:
    severities: dict[str, Severity] = {}
    for severity, words in _SEVERITY_WORDS.items():
        for word in words.split():
            severities[word] = severity
    return severities


_SEVERITY = _severity_by_word()


def parse_finding(
    entry: object, member: str, files: Collection[str]
) -> tuple[Finding, list[str]] | None:
    """A finding out of an entry, and the fields of it that are unread; None where it says
    nothing."""
    if isinstance(entry, str) and len(entry.split()) > 2 and not _NO_FINDING.match(entry):
        # `"CRITICAL: the card number is logged"`
        head = entry.partition(":")[0] if ":" in entry[:40] else ""
        entry = {"title": entry, "severity": head}
    if not isinstance(entry, Mapping):
        return None
    fields = by_lower_case(entry)
    texts, unread = _other_fields(fields)
    detail = "\n".join([_text(fields, _DETAILS, "detail"), *texts]).strip()
    title = " ".join(_text(fields, _TITLES, "title").split())
    if not title:
        title = _first_sentence(detail)
    if not re.search(r"\w", title):
        return None
    severity, is_understood = _severity(fields)
    is_none = str(fields.get("severity", "")).strip().casefold() == "none"
    if not is_understood or (is_none and any(statements(title))):
        unread.insert(0, "severity")  # also of "SQL injection", which can't be as bad as nothing
    if is_about_reviewing(f"{title}\n{detail}"):
        unread.insert(0, "title")
    flags = (title,) if _FLAG.fullmatch(title) else ()
    if "_" in title and " " not in title:
        title = title.replace("_", " ")
    file, line = _place(fields, files)
    finding = Finding(
        severity=severity,
        title=title,
        detail="" if detail == title else _shorten(detail, LONGEST["detail"]),
        file=file,
        line=line,
        said_by=(member,),
        remediation=_text(fields, _REMEDIES, "remediation"),
        flags=flags,
    )
    return finding, unread


def is_finding(entry: object) -> bool:
    """Whether an entry looks like a finding."""
    if not isinstance(entry, Mapping):
        return False
    return any(name in entry for name in ("severity", *_TITLES, *_DETAILS))


def _other_fields(fields: Mapping[str, object]) -> tuple[list[str], list[str]]:
    """What an entry says under names that mean nothing here: its texts, and the names of what is
    no text and not empty."""
    known = {*_TITLES, *_DETAILS, *_REMEDIES, *_FILES, *_LINES, *_PLACES, *_SEVERITY_FIELDS}
    texts = []
    unread = []
    for name, value in fields.items():
        if name in known or name in _ABOUT or not value:
            continue
        if isinstance(value, str):
            texts.append(f"{name}: {clean_text(value, LONGEST['detail'])}")
        else:
            unread.append(name)
    return texts, unread


def _text(fields: Mapping[str, object], names: Sequence[str], kind: str) -> str:
    """The first field that has words in it, as `clean_text` has it."""
    return clean_text(_first_text(fields, names), LONGEST[kind])


def clean_text(words: str, limit: int) -> str:
    """A text without secrets and controls, and no longer than it may be."""
    # Twice the limit, because what is hidden may become shorter; all of it could be megabytes.
    return _shorten(_CONTROL.sub("", mask(words[: 2 * limit])).strip(), limit)


def by_lower_case(value: Mapping[object, object]) -> dict[str, Any]:
    """The fields of a mapping by their names in lower case."""
    return {str(name).casefold(): field for name, field in value.items()}


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


def _severity(fields: Mapping[str, object]) -> tuple[Severity, bool]:
    """The severity by any of its names, the worst of several, and whether all of that is in words
    that are known; medium where none is given, and high where it is nothing that is known."""
    said = [fields[name] for name in _SEVERITY_FIELDS if fields.get(name) not in (None, "")]
    counts = fields.get("findings_count")
    if not said and isinstance(counts, Mapping):
        return next((severity for severity in SEVERITIES if counts.get(severity)), "info"), True
    if not said:
        return "medium", False
    found = set[Severity]()
    is_understood = True
    for value in said:
        if isinstance(value, Mapping):
            inner = by_lower_case(value)
            names = (*_SEVERITY_FIELDS, "name", "label", "value")
            value = next((inner[name] for name in names if name in inner), None)
        severity, is_known = read_severity("" if value is None else str(value))
        found.add(severity or "high")
        is_understood = is_understood and is_known
    for name, value in fields.items():
        # `"impact": "critical"` beside a low severity
        if isinstance(value, str) and name not in _ABOUT and len(value) < _SHORT:
            severity, is_known = read_severity(value)
            if severity is not None and is_known:
                found.add(severity)
    return min(found, key=SEVERITIES.index), is_understood


def read_severity(text: str) -> tuple[Severity | None, bool]:
    """The worst severity that a text names (`P1`, `sev-0`, `Medium to High`; not `non-blocking`),
    and whether every word of it is known."""
    found = set[Severity]()
    is_known = len(text) < _SHORT
    plain = _NEGATED.sub("medium", text[:_SHORT].casefold())
    for word in _TOKEN.findall(plain):
        spellings = (re.sub(r"[ -]", "", word), word.rstrip("0123456789 -"))
        severities = [_SEVERITY[spelling] for spelling in spellings if spelling in _SEVERITY]
        found.update(severities[:1])
        is_known = is_known and (bool(severities) or word in _BESIDE_SEVERITY)
    return min(found, key=SEVERITIES.index, default=None), is_known and bool(found)


def _place(fields: Mapping[str, object], files: Collection[str]) -> tuple[str, int]:
    """File and line, wherever they stand: in fields of their own, in a location, or as
    `file:line`."""
    for name in _PLACES:
        location = fields.get(name)
        if isinstance(location, Mapping):
            fields = {**by_lower_case(location), **fields}
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
