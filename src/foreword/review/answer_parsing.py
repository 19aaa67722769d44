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
    "critical": (
        "critical crit blocker blockers blocking severe fatal catastrophic emergency urgent highest"
        " showstopper p0 sev0 s0 kritisch crítico crítica critico critica critique 严重 重大 致命"
    ),
    "high": (
        "high major serious important error p1 sev1 s1 hoch schwer alto alta élevé élevée grave 高"
    ),
    "medium": (
        "medium med moderate warning warn normal significant unknown unspecified p2 sev2 s2 mittel"
        " medio media médio média moyen moyenne 中"
    ),
    "low": (
        "low minor small nit nitpick trivial style cosmetic p3 sev3 s3 niedrig gering bajo baja"
        " baixo baixa basso bassa faible 低"
    ),
    "info": (
        "info information informational informative note notice suggestion hint none negligible p4"
        " sev4 s4"
    ),
}
# Lists of findings under names that others use for other things, too: an empty one says nothing.
_MORE_LISTS = lazy_pattern(
    r"(?:\w+_)?(?:blockers|bugs|concerns|defects|errors|issues|findings|problems|risks"
    r"|vulnerabilities|warnings)"
)
# Where an answer says what it comes to as a whole, and which of that is no consent.
_CONCLUSIONS = ("verdict", "aggregate_verdict", "decision", "conclusion", "recommendation")
_CONSENTS = ("approve", "approved", "lgtm")
_DISSENTS = ("requires_human_review", "changes_requested", "blocked")
_AGAINST = lazy_pattern(
    r"request.?change|changes?.request|changes?.(?:need|requir)|needs?.(?:change|work)|block|reject"
    r"|fail|deny|denied|declin|disapprov|unapprov|not.?(?:approv|merge)|no.?go|veto",
    re.IGNORECASE,
)
_CONSENTING = lazy_pattern(
    r"(?:\bno|non|\bnot|without|un)[ _-]?(?:\w+[ _-])?(?:block|reject|fail|change)\w*",
    re.IGNORECASE,
)
_NEGATED = lazy_pattern(r"\b(?:non|not)[ _-]\w+")
_NO_FINDING = lazy_pattern(r"(?:no|none|nothing|n/?a)\b", re.IGNORECASE)
_FLAG = lazy_pattern(r"[a-z][a-z0-9]*(?:_[a-z0-9]+)+")

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
    unread = 0
    # The worst are chosen from more than are kept, but an answer of thousands is not read whole.
    for entry in claims[: 5 * MOST_FINDINGS]:
        finding = _parse_finding(entry, member, files)
        if finding is not None:
            findings.append(finding)
        elif entry:
            unread += 1
    if claims and not findings:
        return ParsedAnswer(problem="none of its findings has a title or a description")
    if unread:
        problem = f"{unread:,} of {len(claims):,} findings have no title and no description"
        return ParsedAnswer(problem=problem)
    if not findings and _is_against(whole):
        return ParsedAnswer(problem="it is against the change and has no finding that says why")
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
    return [vote for vote in votes if _says_no(vote["verdict"])]


def _is_against(whole: object, depth: int = 0) -> bool:
    """Whether an answer as a whole does not consent to the change, whatever findings it lists."""
    if not isinstance(whole, Mapping) or depth > _DEEPEST:
        return False
    fields = _by_lower_case(whole)
    if any(fields.get(name) is False for name in _CONSENTS):
        return True
    if any(fields.get(name) is True for name in _DISSENTS):
        return True
    risk = fields.get("risk_level")
    if isinstance(risk, str) and _worst_word(risk) in ("critical", "high"):
        return True
    conclusions = [fields.get(name) for name in _CONCLUSIONS]
    if any(_says_no(words) for words in conclusions if isinstance(words, str)):
        return True
    return any(_is_against(field, depth + 1) for field in whole.values())


def _says_no(words: str) -> bool:
    """Whether a verdict is against a change: `no changes needed` and `non-blocking` are not."""
    return bool(_AGAINST.search(_CONSENTING.sub("", words[:400])))


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
    lists += [_graded(name, fields[name]) for name in fields if _names_more(name, fields[name])]
    if lists:
        return list(chain.from_iterable(lists))
    grouped = fields.get("findings")
    if isinstance(grouped, Mapping) and grouped and not any(grouped.values()):
        return []  # `{"findings": {"critical": [], "high": []}}`
    for field in value.values():
        if isinstance(field, Mapping):
            entries = _entries(field, depth + 1)
            if entries is not None:
                return entries
    return None


def _names_more(name: str, value: object) -> bool:
    """Whether a field holds findings under another name: `blockers`, `critical_issues`, `high`."""
    if name in _LISTS or not isinstance(value, list) or not value:
        return False
    if not all(isinstance(entry, Mapping) and _is_finding(entry) for entry in value):
        return False
    is_name = name in SEVERITIES or _MORE_LISTS.fullmatch(name) is not None
    return is_name or all("severity" in entry for entry in value)


def _graded(name: str, entries: list[object]) -> list[object]:
    """The findings of a list whose name says how bad they are, each with that severity."""
    severity = _worst_word(name.replace("_", " "))
    if severity is None:
        return entries
    return [{"severity": severity, **entry} for entry in entries if isinstance(entry, Mapping)]


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
    if isinstance(entry, str) and len(entry.split()) > 2 and not _NO_FINDING.match(entry):
        # `"CRITICAL: the card number is logged"`
        head = entry.partition(":")[0] if ":" in entry[:40] else ""
        entry = {"title": entry, "severity": _worst_word(head)}
    if not isinstance(entry, Mapping):
        return None
    fields = _by_lower_case(entry)
    detail = _text(fields, _DETAILS, "detail")
    title = " ".join(_text(fields, _TITLES, "title").split())
    if not title:
        title = _first_sentence(detail)
    if not re.search(r"\w", title):
        return None
    flags = (title,) if _FLAG.fullmatch(title) else ()
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
        flags=flags,
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
    """The severity by any of its names, the worst of several; medium where none is given, and high
    where it is nothing that is known here: it may be the worst."""
    severity = _first_field(fields, _SEVERITY_FIELDS)
    if isinstance(severity, Mapping):
        inner = _by_lower_case(severity)
        severity = _first_field(inner, (*_SEVERITY_FIELDS, "name", "label", "value"))
    if severity not in (None, ""):
        return _worst_word(str(severity)) or "high"
    counts = fields.get("findings_count")
    if isinstance(counts, Mapping):
        return next((severity for severity in SEVERITIES if counts.get(severity)), "info")
    return "medium"


def _worst_word(text: str) -> Severity | None:
    """The worst severity that a text names: `P1`, `sev-0`, `Medium to High`; not `non-blocking`."""
    plain = text[:80].casefold()
    found = set[Severity]()
    words = re.findall(r"[^\W\d_]+(?:[ -]?\d\b)?", _NEGATED.sub("medium", plain))
    for word in words:
        for spelling in (re.sub(r"[ -]", "", word), word.rstrip("0123456789 -")):
            if spelling in _SEVERITY:
                found.add(_SEVERITY[spelling])
    return min(found, key=SEVERITIES.index, default=None)


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
