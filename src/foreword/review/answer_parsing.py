"""Read the findings out of what a member of a panel answered, and say what else is in it.

The answer should be a JSON object with a list of findings. Models write it in a fence, between
markers, after an introduction, with other names for the fields and other words for the severities:
all that is read. What has no findings that can be read is a problem and says why; an empty list is
an answer. Whatever else an answer says, in words or in fields, is *unread*, and named: nobody is
approved by half of an answer. Whatever is in it, the time and the size are bounded, and secrets are
hidden.
"""

from __future__ import annotations

import json
import re
from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from itertools import islice

from foreword.pattern import lazy_pattern
from foreword.review.answer_prose import consents, finding_count, objects, statements
from foreword.review.finding_parsing import (
    by_lower_case,
    clean_text,
    is_finding,
    parse_finding,
    read_severity,
)
from foreword.review.findings import SEVERITIES, Finding, Severity

# In one answer; the worst are kept. A review that is meant to be read has a few dozen, so this only
# stops a model that repeats itself, and keeps the merging of a whole panel quick.
MOST_FINDINGS = 200
# Characters that are searched for JSON: several times 200 findings of ordinary length, and a bound
# on the time that an endless answer may take.
LONGEST_ANSWER = 400_000
# Of what is unread, so many are quoted, each so far: enough to know what it is about.
MOST_QUOTED = 3
LONGEST_QUOTE = 120

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
    r"|changes_(?:needed|requested|required)|(?:needs|requires?)_(?:changes|human_review|review)"
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
        " reviewer role"
        " schema_version timestamp version"
    ).split()
)
# What was looked at, and what is good: no finding is in it.
_NO_FINDINGS = lazy_pattern(
    r"files|positives|strengths|grounding_references|(?:analysis_)?duration_(?:ms|seconds)"
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

_EMISSION = lazy_pattern(r"<!--[ \t]{0,9}STRUCTURED_EMISSION_(?:START|END)[ \t]{0,9}-->")
_FENCE = lazy_pattern(
    r"^[ \t]*`{3,}[\w-]*[ \t]*$|</?(?:answer|findings|json|output|response|result|review)>",
    re.MULTILINE,
)
_THINKING = lazy_pattern(r"\s*<think(?:ing)?>.*?</think(?:ing)?>", re.DOTALL)
_OPENING = lazy_pattern(r"[\[{]")
# Brackets that are tried as the beginning of JSON: a text of nothing but brackets must not take a
# parse for each of them.
_MOST_TRIES = 200
# Objects around the one that has the list: in `{"result": {"review": {"findings": []}}}` there are
# two. Deeper down, a list of that name is more likely part of what a member quotes.
_DEEPEST = 3


@dataclass(frozen=True, slots=True, kw_only=True)
class ParsedAnswer:
    """What an answer says; `problem` is why there are no findings to read in it, `note` what was
    left out of it, `unread` what it says besides its findings, in its own words."""

    findings: tuple[Finding, ...] = ()
    problem: str = ""
    note: str = ""
    confidence: float | None = None
    unread: tuple[str, ...] = ()
    objections: tuple[str, ...] = ()  # of what is unread, that which is plainly against the change


@dataclass(slots=True, kw_only=True)
class _AnswerContent:
    """What was found in the JSON of an answer."""

    has_list: bool = False
    entries: list[tuple[str, object]] = field(default_factory=list)  # by their path
    unread: list[str] = field(default_factory=list)
    against: list[str] = field(default_factory=list)  # of what is unread, what dissents by its name
    counts: list[tuple[str, int, str]] = field(default_factory=list)  # path, count, of what
    risks: list[tuple[str, Severity]] = field(default_factory=list)
    confidence: float | None = None

    def add(self, other: _AnswerContent) -> None:
        self.has_list = self.has_list or other.has_list
        self.entries += other.entries
        self.unread += other.unread
        self.against += other.against
        self.counts += other.counts
        self.risks += other.risks
        self.confidence = other.confidence if self.confidence is None else self.confidence


def parse_answer(answer: str, member: str, files: Collection[str] = ()) -> ParsedAnswer:
    """The findings in the answer of `member`; `files` are those of the change, to know `b/x.py`
    for `x.py`."""
    if not answer.strip():
        return ParsedAnswer(problem="the answer is empty")
    text = _THINKING.sub("", answer[:LONGEST_ANSWER], count=1)
    content = _read_answer(text)
    if content is None:
        return _problem(_why_unreadable(answer, text), text)
    claims = _claims(content)
    findings = []
    # The worst are chosen from more than are kept, but an answer of thousands is not read whole.
    for path, entry in claims[: 5 * MOST_FINDINGS]:
        parsed = parse_finding(entry, member, files)
        if parsed is not None:
            findings.append(parsed[0])
            content.unread += [f"{path}.{name}" for name in parsed[1]]
    if claims and not findings:
        return _problem("none of its findings has a title or a description", text)
    silent = len(claims[: 5 * MOST_FINDINGS]) - len(findings)
    if silent:
        problem = f"{silent:,} of {len(claims):,} findings have no title and no description"
        return _problem(problem, text)
    contradictions = list(_contradictions(content, findings))
    content.unread += contradictions
    content.against += contradictions
    findings.sort(key=lambda finding: SEVERITIES.index(finding.severity))
    worst = tuple(findings[:MOST_FINDINGS])
    left_out = len(claims) - len(worst)
    note = f"{left_out:,} of {len(claims):,} findings were left out" if left_out else ""
    if note:
        content.unread.append(note)
    if len(answer) > LONGEST_ANSWER:
        content.unread.append(f"what stands behind its first {LONGEST_ANSWER:,} characters")
    return ParsedAnswer(
        findings=worst,
        note=note,
        confidence=content.confidence,
        unread=_quotes(content.unread),
        objections=_quotes([*content.against, *filter(objects, content.unread)]),
    )


def _problem(why: str, text: str) -> ParsedAnswer:
    """An answer without findings that can be read, and what it says all the same."""
    said = [f'"{clause}"' for clause in statements(text)]
    return ParsedAnswer(
        problem=why, unread=_quotes(said), objections=_quotes(filter(objects, said))
    )


def _quotes(unread: Iterable[str]) -> tuple[str, ...]:
    parts = islice(dict.fromkeys(unread), MOST_QUOTED)
    return tuple(clean_text(part, LONGEST_QUOTE) for part in parts)


def _claims(content: _AnswerContent) -> list[tuple[str, object]]:
    """The entries that are findings. Opinions on the whole (`{"persona", "verdict": "approve",
    "rationale"}`) are none, unless they are against the change and there is nothing more to the
    point."""
    claims = []
    against = []
    for path, entry in content.entries:
        if not _is_vote(entry):
            claims.append((path, entry))
        elif isinstance(entry, Mapping) and consents(str(entry["verdict"])):
            opinion = {key: value for key, value in entry.items() if not is_prose_field(key)}
            _read_object(opinion, path, content, depth=_DEEPEST)
            for key in entry:
                if is_prose_field(key) and any(statements(str(entry[key]))):
                    content.unread.append(_quoted(f"{path}.{key}", entry[key]))
        else:
            against.append((path, entry))
    if claims:
        votes = [f"{path}.verdict" for path, _ in against]
        content.unread += votes
        content.against += votes
    return claims or against


def is_prose_field(name: object) -> bool:
    """Whether a field of an opinion has its reasons."""
    return str(name).casefold() in ("rationale", "reason", "summary", "comment", "explanation")


def _is_vote(entry: object) -> bool:
    if not isinstance(entry, Mapping) or "severity" in entry:
        return False
    return isinstance(entry.get("verdict"), str)


def _contradictions(content: _AnswerContent, findings: list[Finding]) -> Iterator[str]:
    """Where an answer says more or worse of the change as a whole than its findings do."""
    ranks = [SEVERITIES.index(finding.severity) for finding in findings]
    for path, count, what in content.counts:
        graded, _ = read_severity(what)
        most = SEVERITIES.index(graded) if graded is not None else len(SEVERITIES)
        if count > sum(rank <= most for rank in ranks):
            yield f"{path}: {count}"
    worst = min(ranks, default=SEVERITIES.index("low"))
    for path, severity in content.risks:
        if SEVERITIES.index(severity) < min(worst, SEVERITIES.index("low")):
            yield f"{path}: {severity}"


# ---- finding the JSON ----


def _read_answer(text: str) -> _AnswerContent | None:
    """All that the answers in a text say, and the words around them; None where there is no
    answer.

    What a member quotes may look like an answer, and a change that is reviewed may have been
    written to be quoted: one that has no findings takes nothing from another.
    """
    whole = _parse_json(text.strip())
    if isinstance(whole, dict | list):
        alone = _read_value(whole)
        return alone if alone.has_list or whole == [] else None
    content = _AnswerContent()
    rest: list[str] = []
    bare = list[str]()  # `[]`, which is an answer only where nothing else is said
    end = 0
    for start, stop, value in _embedded_json(text):
        part = _read_value(value)
        is_bare = value == []
        if part.has_list or is_bare:
            rest.append(text[end:start])
            end = stop
            content.add(part)
            bare += [text[start:stop]] if is_bare else []
    rest.append(text[end:])
    words = _FENCE.sub("", _EMISSION.sub("", "\n".join(rest)))
    said = _unread_statements(words, "its words", content)
    if not content.has_list and (said or not bare):
        return None
    content.unread = [*(f'"{clause}"' for clause in said), *content.unread]
    return content


def _parse_json(text: str) -> object:
    """The JSON value that a text is, or None; raw line breaks inside strings are allowed."""
    if not text:
        return None
    try:
        return json.loads(text, strict=False, object_pairs_hook=_fields_once)
    except (ValueError, RecursionError):
        return None


def _fields_once(pairs: list[tuple[str, object]]) -> dict[str, object]:
    """An object as JSON has it; one that has a field twice says two things, and JSON would keep
    the last alone: `{"findings": [...], "findings": []}`."""
    fields = dict(pairs)
    if len(fields) < len(pairs):
        raise ValueError("a field is there twice")
    return fields


def _embedded_json(text: str) -> Iterator[tuple[int, int, object]]:
    """(start, end, value) of every JSON value with brackets that stands anywhere in the text; a
    value inside another is not given again."""
    decoder = json.JSONDecoder(strict=False, object_pairs_hook=_fields_once)
    at = 0
    for _ in range(_MOST_TRIES):
        opening = _OPENING.search(text, at)
        if opening is None:
            return
        try:
            value, at = decoder.raw_decode(text, opening.start())
            yield opening.start(), at, value
        except (ValueError, RecursionError):
            at = opening.start() + 1


def _why_unreadable(answer: str, text: str) -> str:
    if len(answer) > LONGEST_ANSWER:
        return (
            f"the answer has {len(answer):,} characters and no findings in the first"
            f" {LONGEST_ANSWER:,}"
        )
    if _OPENING.search(text) and "findings" in text:
        return "the answer has findings, but not as JSON that can be read"
    return "the answer has no findings in it"


# ---- what the JSON says ----


def _read_value(value: object) -> _AnswerContent:
    """What a JSON value says, where it is an answer."""
    content = _AnswerContent()
    if isinstance(value, list):
        if any(map(is_finding, value)) and all(isinstance(entry, Mapping) for entry in value):
            _take_list(value, "findings", None, content)
    elif isinstance(value, Mapping):
        fields = by_lower_case(value)
        if "severity" in fields and is_finding(fields) and not _has_lists(fields):
            _take_list([value], "finding", None, content)  # one finding, and no list around it
        else:
            _read_object(value, "", content)
    return content


def _has_lists(fields: Mapping[str, object]) -> bool:
    return any(name in fields for name in _LISTS)


def _read_object(
    value: Mapping[str, object], path: str, content: _AnswerContent, depth: int = 0
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
            _read_object(member, place, content, depth + 1)
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
    entries: list[object], path: str, severity: Severity | None, content: _AnswerContent
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


def _reads_scalar(name: str, path: str, value: object, content: _AnswerContent) -> bool:
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
    return is_name or not _unread_statements(value, path, content)


def _unread_statements(text: str, path: str, content: _AnswerContent) -> list[str]:
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
