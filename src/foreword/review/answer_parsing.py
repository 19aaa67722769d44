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
from dataclasses import dataclass
from itertools import islice

from foreword.pattern import lazy_pattern
from foreword.review.answer_fields import (
    LONGEST_QUOTE,
    AnswerContent,
    read_fields,
    read_value,
    unread_statements,
)
from foreword.review.answer_prose import consents, objects, statements
from foreword.review.finding_parsing import clean_text, parse_finding, read_severity
from foreword.review.findings import SEVERITIES, Finding

# In one answer; the worst are kept. A review that is meant to be read has a few dozen, so this only
# stops a model that repeats itself, and keeps the merging of a whole panel quick.
MOST_FINDINGS = 200
# Characters that are searched for JSON: several times 200 findings of ordinary length, and a bound
# on the time that an endless answer may take.
LONGEST_ANSWER = 400_000
MOST_QUOTED = 3  # of what is unread: enough to know what it is about

_EMISSION = lazy_pattern(r"<!--[ \t]{0,9}STRUCTURED_EMISSION_(?:START|END)[ \t]{0,9}-->")
_FENCE = lazy_pattern(
    r"^[ \t]*`{3,}[\w-]*[ \t]*$|</?(?:answer|findings|json|output|response|result|review)>",
    re.MULTILINE,
)
# In front of all else: a change that is quoted may have such marks, with findings between them.
_THINKING = lazy_pattern(r"\A\s*<think(?:ing)?>.*?</think(?:ing)?>", re.DOTALL)
_OPENING = lazy_pattern(r"[\[{]")
# Brackets that are tried as the beginning of JSON: a text of nothing but brackets must not take a
# parse for each of them.
_MOST_TRIES = 200


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


def _claims(content: AnswerContent) -> list[tuple[str, object]]:
    """The entries that are findings. Opinions on the whole (`{"persona", "verdict": "approve",
    "rationale"}`) are none, unless they are against the change and there is nothing more to the
    point."""
    claims = []
    against = []
    for path, entry in content.entries:
        if not _is_vote(entry):
            claims.append((path, entry))
        elif isinstance(entry, Mapping) and consents(str(entry["verdict"])):
            read_fields(entry, path, content)
        else:
            against.append((path, entry))
    if claims:
        votes = [f"{path}.verdict" for path, _ in against]
        content.unread += votes
        content.against += votes
    return claims or against


def _is_vote(entry: object) -> bool:
    if not isinstance(entry, Mapping) or "severity" in entry:
        return False
    return isinstance(entry.get("verdict"), str)


def _contradictions(content: AnswerContent, findings: list[Finding]) -> Iterator[str]:
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


def _read_answer(text: str) -> AnswerContent | None:
    """All that the answers in a text say, and the words around them; None where there is no
    answer.

    What a member quotes may look like an answer, and a change that is reviewed may have been
    written to be quoted: one that has no findings takes nothing from another.
    """
    whole = _parse_json(text.strip())
    if isinstance(whole, dict | list):
        alone = read_value(whole)
        return alone if alone.has_list or whole == [] else None
    content = AnswerContent()
    rest: list[str] = []
    bare = list[str]()  # `[]`, which is an answer only where nothing else is said
    end = 0
    for start, stop, value in _embedded_json(text):
        part = read_value(value)
        is_bare = value == []
        if part.has_list or is_bare:
            rest.append(text[end:start])
            end = stop
            content.add(part)
            bare += [text[start:stop]] if is_bare else []
    rest.append(text[end:])
    words = _FENCE.sub("", _EMISSION.sub("", "\n".join(rest)))
    said = unread_statements(words, "its words", content)
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
