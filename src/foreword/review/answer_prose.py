"""Tell whether words beside a member's findings say anything that somebody would have to weigh.

Models are polite: "Sure. Here is my review:" says nothing about a change, nor does "No issues
found" beside an empty list. Those clauses are a closed set. Anything else may be what speaks
against the change, in any language, and is not ours to judge.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from foreword.pattern import lazy_pattern

_CHANGE = (
    r"(?:the|this|your) (?:whole |entire |full |proposed )?"
    r"(?:change|diff|code|patch|pr|pull request)s?"
)
_FAULTS = (
    r"(?:any )?(?:(?:critical|high|major|medium|low|serious|security|significant|blocking) ){0,3}"
    r"(?:issues?|problems?|concerns?|findings?|bugs?|defects?|vulnerabilit(?:y|ies))"
)
_ROLE = (
    r"(?:(?:api|architecture|backend|chief|code|compliance|data|devops|documentation|frontend"
    r"|infrastructure|lead|performance|platform|principal|qa|quality|refactor|security|senior"
    r"|software|staff|test|testing|ux) ){0,3}"
    r"(?:analyst|architect|auditor|designer|developer|engineer|expert|lead|manager|officer|reviewer"
    r"|specialist|tester|writer)"
)
_REVIEW = (
    r"(?:(?:code|security|structured|final|full|complete|requested|json) ){0,4}"
    r"(?:review|answer|findings|results?|response|assessment|analysis|report|json|object|output)"
)
_I = r"(?:(?:i|we)(?: have|'ve)? )?(?:carefully |thoroughly )?"
_WHERE = rf"(?: here| (?:in|with|of|for|on) {_CHANGE})?"
_READ = r"(?:review|read|examin|check|analy[sz])"
_CLAUSES = (
    rf"(?:sure|certainly|of course|okay|ok|understood|hello|hi|json)|thank(?:s| you){_WHERE}",
    # a label; what stands behind it is a clause of its own
    rf"(?:(?:final|overall|my) )?(?:{_REVIEW}|verdict|decision|conclusion|recommendation)",
    rf"{_REVIEW} (?:is )?(?:completed?|done|result)",
    rf"(?:(?:here|below) (?:is|are)|here's) (?:my|the) {_REVIEW}(?: of my review)?{_WHERE}"
    r"(?: (?:as|in) (?:a |the )?(?:requested )?json(?: object| format)?)?",
    rf"as (?:an?|the) {_ROLE}",
    r"(?:after|having|upon|based on) (?:carefully |thoroughly |my |the |a ){0,3}"
    rf"{_READ}(?:ing|ed)?(?: of)? {_CHANGE}",
    rf"{_I}(?:{_READ}ed|read|looked at) {_CHANGE}(?: carefully| thoroughly)?",
    rf"{_I}(?:found|see|saw) no {_FAULTS}(?: found| to report)?{_WHERE}",
    rf"there (?:are|were) no {_FAULTS}(?: found| to report)?{_WHERE}",
    rf"{_I}(?:did not|didn't|do not|don't) (?:find|see|have) {_FAULTS}{_WHERE}",
    rf"{_CHANGE} (?:has|have|contains?|introduces?|shows?|raises?) no {_FAULTS}",
    rf"nothing in {_CHANGE} (?:raises|is|looks) {_FAULTS}",
    rf"{_I}no {_FAULTS}(?: (?:were |was )?(?:found|detected|identified|to report))?{_WHERE}",
    rf"{_I}(?:found )?nothing (?:to report|wrong)|no changes? (?:are )?(?:needed|required)",
    r"no (?:further|other|additional) (?:comments?|remarks?|notes?|findings?|issues?)",
    rf"(?:(?:{_CHANGE} |it |all |everything )?(?:looks|is) )?"
    r"(?:good|fine|clean|safe|safe to merge)(?: to me)?",
    r"lgtm|approved?|(?:ok|ready) to merge",
    r"let me know(?: if you (?:have|need) (?:any |more |further )?"
    r"(?:questions|details|help|information))?",
)
_CLAUSE = lazy_pattern(rf"(?:and )?(?:{'|'.join(_CLAUSES)})", re.IGNORECASE)
# What ends a clause; a mark that may carry a meaning, as an emoji, is none of them.
_ENDS = lazy_pattern(r"[.!:;,\n\r*_#>-]+(?:\s+|$)|\n+|\sand\s|[。！]")
_NONE_FOUND = lazy_pattern(
    rf"\b(?:{_FAULTS}|severity|risk)[*_ \t]*[:\n][*_\s]*(?:none|no|0|n/a)\b(?![ \t]*\w)",
    re.IGNORECASE,
)
_SPACE = lazy_pattern(r"\s+")
_MARKUP = "*_#>-` \t✅👍"
_MOST_CLAUSES = 40  # an answer that says more says something


def statements(text: str) -> Iterator[str]:
    """The clauses of a text that may say something about a change, as they are written."""
    clauses = _ENDS.split(_NONE_FOUND.sub("", text), _MOST_CLAUSES)
    for clause in clauses:
        plain = _SPACE.sub(" ", clause.replace("’", "'")).strip(_MARKUP)
        if plain and not _CLAUSE.fullmatch(plain):
            yield " ".join(clause.split())


def finding_count(clause: str) -> tuple[int, str] | None:
    """How many findings a clause says there are, and of which severity if it says so: `I found two
    low-severity issues`; None where it says anything else."""
    match = _COUNT.fullmatch(clause.strip(_MARKUP))
    if match is None:
        return None
    written = match["count"].casefold()
    count = int(written) if written.isdigit() else _COUNT_WORDS.index(written)
    return count, match["severity"] or ""


_COUNT_WORDS = "no one two three four five six seven eight nine ten".split()
_COUNT = lazy_pattern(
    rf"{_I}(?:found |there (?:is|are|was|were) )?(?:only )?"
    rf"(?P<count>\d{{1,3}}|{'|'.join(_COUNT_WORDS)})"
    r" (?:minor )?(?P<severity>critical|high|medium|low|informational|info)?"
    r"(?:[- ](?:severity|priority|risk))? ?(?:issues?|problems?|concerns?|findings?)"
    rf"(?: (?:was |were )?found)?{_WHERE}",
    re.IGNORECASE,
)


def is_about_reviewing(text: str) -> bool:
    """Whether a finding is about the review, not the change: that its author could not see or judge
    all of it."""
    return _NOT_REVIEWED.search(text) is not None


_NOT_REVIEWED = lazy_pattern(
    r"\b(?:i|we) (?:could not|couldn't|cannot|can ?not|can't|was not able|wasn't able)\b"
    r"|\bunable to (?:fully |completely |properly )?(?:assess|evaluate|judge|read|review|verify)\b"
    r"|\breview (?:is |was )?(?:incomplete|not (?:complete|possible))"
    r"|\b(?:code|context|diff|file|patch)s? (?:is|are|was|were) "
    r"(?:truncated|cut off|not (?:available|provided|shown|visible))",
    re.IGNORECASE,
)


def consents(verdict: str) -> bool:
    """Whether a verdict on the whole is a plain yes: `approve with comments` is none."""
    return _YES.fullmatch(verdict.strip(" .!✅👍")) is not None


def objects(text: str) -> bool:
    """Whether words are plainly against a change, or take something back: those stand, also where
    whoever wrote them writes nothing of it when asked again."""
    return _OBJECTION.search(text) is not None


_OBJECTION = lazy_pattern(
    r"\b(?:but|however|except|unless|until|although|must|should|insecure|missing|unsafe|vulnerable"
    r"|critical|severe|reject(?:ed)?|block(?:ed|ing|er)?|den(?:y|ied)|fail(?:s|ed)?"
    r"|(?:request|needs?)[ _]changes|changes[ _](?:requested|required|needed)"
    r"|not|cannot|\w+n't|unable|truncated|refuse"
    r"|aber|jedoch|nicht|mais|pero|però|mas|но|не)\b|但|ただし|不|⛔|❌|👎|🚫",
    re.IGNORECASE,
)
_YES = lazy_pattern(
    r"(?:auto[ _-]?)?(?:approve[ds]?|accept(?:ed)?|merge|pass(?:ed)?|lgtm|ok|okay|yes|clean)"
    r"|looks good(?: to me)?|approve and merge|\+1|no changes (?:needed|required)"
    rf"|no {_FAULTS}(?: (?:were |was )?(?:found|detected|identified))?",
    re.IGNORECASE,
)
