"""What the JSON of a member's answer says, field by field: findings, and what stands beside them.

Names and values that say nothing against a change are a closed set; whatever is in none of it is
*unread*. Where the JSON is found, and what the findings come to, is the business of
`answer_parsing`.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, field

from foreword.pattern import lazy_pattern
from foreword.review.answer_prose import consents, finding_count, objects, statements
from foreword.review.finding_parsing import by_lower_case, is_finding, read_severity
from foreword.review.findings import SEVERITIES, Severity

LONGEST_QUOTE = 120  # characters of what is unread: enough to know what it is about
# Under these names a list is the findings, also if it is empty.
_LISTS = ("findings", "policy_flags", "issues", "problems", "comments", "violations")
# Under these it has findings, if anything: others use the names for other things, too.
_FAULT = (
    r"(?:blockers|bugs|concerns|defects|errors|issues|findings|problems|risks|vulnerabilities"
    r"|warnings)"
)
_MORE_LISTS = lazy_pattern(rf"(?:\w+_)?{_FAULT}")
# What an answer may say of the change as a whole, and who speaks about what.
_VERDICTS = lazy_pattern(
    r"(?:aggregate_|final_|overall_)?(?:approval|conclusion|decision|outcome"
    r"|recommendation|result|status|verdict|vote)"
)
_CONSENTS = lazy_pattern(
    r"(?:is_)?(?:approved?|clean|lgtm|mergeable|ok|passed|safe|safe_to_merge)"
    r"|(?:review_|is_)?completed?"
)
_DISSENTS = lazy_pattern(
    r"(?:is_)?(?:block(?:ed|er|ing)|rejected|vulnerable)"
    r"|action_required|changes_(?:needed|requested|required)"
    r"|(?:needs|requires?)_(?:changes|human_review|review)"
    rf"|has_(?:\w+_)?{_FAULT}|(?:\w+_)?{_FAULT}_found"
)
# Of a review, not of the change: `"status": "completed"`.
_ENDED = ("complete", "completed", "done", "finished", "reviewed", "success", "successful")
_RISKS = ("risk_level", "risk", "overall_risk", "overall_severity", "highest_severity", "severity")
_CONFIDENCES = ("confidence", "confidence_score", "confidence_level")
# A member that is less sure of its own answer than this doubts it, as with `"confidence": "low"`.
_LEAST_CONFIDENCE = 0.5
_NUMBER = lazy_pattern(r"(?P<number>\d{1,3}(?:\.\d{1,4})?)(?P<percent>\s?%)?")
_COUNTS = lazy_pattern(rf"(?:\w+_)?(?:count|total|findings)|{'|'.join(SEVERITIES)}")
_IDENTITY = frozenset(
    (
        "agent date id language member model panel panel_name panel_version persona perspective"
        " reviewer role schema_version timestamp version"
    ).split()
)
# What was looked at, and what is good: no finding is in it.
_NO_FINDINGS = lazy_pattern(
    r"files|positives|strengths|grounding_references|tokens_used"
    r"|(?:analysis_)?duration_(?:ms|seconds)"
    r"|(?:files|lines|diff_lines)_(?:analy[sz]ed|checked|examined|read|reviewed)"
    r"|(?:analy[sz]ed|checked|examined|reviewed)_(?:files|lines)"
)
# What speaks against a change is under these names, where there is any: `"limitations": "None"`.
_FAULTS = lazy_pattern(
    r"(?:\w+_)?(?:caveats|findings|gaps|limitations|must_fix|negatives|notes|questions|suggestions"
    r"|weaknesses)"
)
_NONE = ("-", "n/a", "no", "none", "nothing")
_LEAST_COMPLIANCE = 0.7  # by the panels of projects that ask for a `compliance_score` from 0 to 1
# Objects around the one that has the list: in `{"result": {"review": {"findings": []}}}` there are
# two. Deeper down, a list of that name is more likely part of what a member quotes.
_DEEPEST = 3


@dataclass(slots=True, kw_only=True)
class AnswerContent:
    """What was found in the JSON of an answer."""

    has_list: bool = False
    entries: list[tuple[str, object]] = field(default_factory=list)  # by their path
    unread: list[str] = field(default_factory=list)
    against: list[str] = field(default_factory=list)  # of what is unread, what dissents by its name
    counts: list[tuple[str, int, str]] = field(default_factory=list)  # path, count, of what
    risks: list[tuple[str, Severity]] = field(default_factory=list)
    confidence: float | None = None

    def add(self, other: AnswerContent) -> None:
        """Have what another JSON value of the same answer says, too."""
        self.has_list = self.has_list or other.has_list
        self.entries += other.entries
        self.unread += other.unread
        self.against += other.against
        self.counts += other.counts
        self.risks += other.risks
        self.confidence = other.confidence if self.confidence is None else self.confidence


def read_value(value: object) -> AnswerContent:
    """What a JSON value says, where it is an answer."""
    content = AnswerContent()
    if isinstance(value, list):
        if any(map(is_finding, value)) and all(isinstance(entry, Mapping) for entry in value):
            _take_list(value, "findings", None, content)
    elif isinstance(value, Mapping):
        fields = by_lower_case(value)
        if "severity" in fields and is_finding(fields) and not _has_lists(fields):
            _take_list([value], "finding", None, content)  # one finding, and no list around it
        else:
            read_fields(value, "", content)
    return content


def _has_lists(fields: Mapping[str, object]) -> bool:
    return any(name in fields for name in _LISTS)


def read_fields(
    value: Mapping[str, object], path: str, content: AnswerContent, depth: int = 0
) -> None:
    """Read every field of an object; what is no finding, and nothing that is known to be none, is
    unread."""
    for key, member in value.items():
        name = str(key).casefold()
        place = f"{path}.{key}" if path else str(key)
        is_list = name in _LISTS
        if member == [] or (is_list and member and _is_empty(member)):
            # also `{"findings": {"critical": [], "high": []}}`
            content.has_list = content.has_list or is_list
        elif member in (None, "") or _is_praise_or_scope(name, member):
            continue
        elif isinstance(member, Mapping) and depth <= _DEEPEST:
            read_fields(member, place, content, depth + 1)
        elif isinstance(member, list):
            graded, _ = read_severity(name.replace("_", " "))
            is_named = is_list or name in SEVERITIES or _MORE_LISTS.fullmatch(name) is not None
            if is_named or all(map(is_finding, member)):
                _take_list(member, place, graded, content)
            else:
                content.unread.append(_quoted(place, member))
        elif not _reads_scalar(name, place, member, content):
            content.unread.append(_quoted(place, member))
            if _dissents(name, member):
                content.against.append(_quoted(place, member))


def _is_praise_or_scope(name: str, value: object) -> bool:
    """Whether a field lists what is good, or says how much was looked at. In a sentence it may say
    anything, and nothing at all that was looked at is no review."""
    return bool(value) and not isinstance(value, str) and _NO_FINDINGS.fullmatch(name) is not None


def _take_list(
    entries: list[object], path: str, severity: Severity | None, content: AnswerContent
) -> None:
    """Take a list of findings; where its name says how bad they are, each has that severity."""
    content.has_list = True
    for number, entry in enumerate(entries):
        if severity is not None:
            inner = entry if isinstance(entry, Mapping) else {"title": entry}
            entry = {"severity": severity, **inner}
        content.entries.append((f"{path}[{number}]", entry))


def _is_empty(value: object) -> bool:
    if isinstance(value, Mapping):
        return all(map(_is_empty, value.values()))
    return value in (None, "", [])


def _reads_scalar(name: str, path: str, value: object, content: AnswerContent) -> bool:
    """Whether a field with a single value says something that is understood, and is not against
    the change."""
    if isinstance(value, bool):
        return (_DISSENTS if not value else _CONSENTS).fullmatch(name) is not None
    if name in _CONFIDENCES:
        if isinstance(value, str) and value.strip().casefold() in ("high", "very high"):
            return True
        content.confidence = _share(value)
        return content.confidence is not None and content.confidence >= _LEAST_CONFIDENCE
    if isinstance(value, int | float):
        if _COUNTS.fullmatch(name) and isinstance(value, int):
            content.counts.append((path, value, name.replace("_", " ")))
            return True
        is_compliance = name == "compliance_score" and _LEAST_COMPLIANCE <= value <= 1
        return is_compliance or name in _IDENTITY
    if not isinstance(value, str):
        return False
    plain = value.strip(" .").casefold()
    if _VERDICTS.fullmatch(name):
        return consents(value) or (name == "status" and plain in _ENDED)
    if name in _RISKS:
        severity, is_known = read_severity(value)
        if severity is not None and is_known:
            content.risks.append((path, severity))
            return True
        return False
    if plain in _NONE and (_FAULTS.fullmatch(name) or _MORE_LISTS.fullmatch(name)):
        return True
    is_name = name in _IDENTITY and len(value) < LONGEST_QUOTE and not objects(value)
    return is_name or not unread_statements(value, path, content)


def unread_statements(text: str, path: str, content: AnswerContent) -> list[str]:
    """What a text says that nobody has understood; how many findings there are is understood."""
    unread = []
    for clause in statements(text):
        counted = finding_count(clause)
        if counted is None:
            unread.append(clause)
        else:
            content.counts.append((path, *counted))
    return unread


def _share(value: object) -> float | None:
    """How sure a member says it is, of 1: `0.9`, `90` and `"90%"`; None where it is no share."""
    if isinstance(value, str):
        number = _NUMBER.fullmatch(value.strip())
        if number is None:
            return None
        value = float(number["number"]) / (100 if number["percent"] else 1)
    if not isinstance(value, int | float) or not 0 <= value <= 100:
        return None
    return float(value) if value <= 1 else value / 100


def _dissents(name: str, value: object) -> bool:
    """Whether a field is plainly against the change."""
    if isinstance(value, bool):
        return (_CONSENTS if not value else _DISSENTS).fullmatch(name) is not None
    is_verdict = _VERDICTS.fullmatch(name) is not None
    return is_verdict and isinstance(value, str) and objects(value)


def _quoted(path: str, value: object) -> str:
    words = value if isinstance(value, str) else json.dumps(value, ensure_ascii=False, default=str)
    return f"{path}: {' '.join(words[:LONGEST_QUOTE].split())}"
