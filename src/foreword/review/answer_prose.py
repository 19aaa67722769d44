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
    r"(?:any )?(?:(?:critical|major|serious|security|significant|blocking) )*"
    r"(?:issues?|problems?|concerns?|findings?|bugs?|defects?|vulnerabilit(?:y|ies))"
)
_REVIEW = (
    r"(?:(?:code|security|structured|final|full|complete|requested|json) )*"
    r"(?:review|answer|findings|results?|response|assessment|analysis|report|json|object|output)"
)
_I = r"(?:(?:i|we)(?: have|'ve)? )?(?:carefully |thoroughly )?"
_WHERE = rf"(?: (?:in|with|of|for|on) {_CHANGE})?"
_CLAUSES = (
    _REVIEW,
    r"sure|certainly|of course|okay|ok|understood|thanks|thank you|hello|hi|json",
    rf"(?:here|below) (?:is|are) (?:my|the) {_REVIEW}{_WHERE}"
    r"(?: (?:as|in) (?:a |the )?(?:requested )?json(?: object| format)?)?",
    rf"{_I}(?:reviewed|read|examined|looked at|checked) {_CHANGE}(?: carefully| thoroughly)?",
    rf"{_I}(?:found|see|saw|there (?:are|were)) no {_FAULTS}(?: found| to report)?{_WHERE}",
    rf"no {_FAULTS}(?: (?:were |was )?(?:found|detected|identified|to report))?{_WHERE}",
    r"(?:found )?nothing (?:to report|wrong)|no changes? (?:are )?(?:needed|required)",
    rf"(?:{_CHANGE} |it |all |everything )?(?:looks|is)"
    r" (?:good|fine|clean|safe|safe to merge)(?: to me)?",
    r"lgtm|approved?|(?:ok|ready) to merge",
    r"let me know(?: if you (?:have|need) (?:any |more |further )?"
    r"(?:questions|details|help|information))?",
)
_CLAUSE = lazy_pattern(rf"(?:and )?(?:{'|'.join(_CLAUSES)})", re.IGNORECASE)
# What ends a clause; a mark that may carry a meaning, as an emoji, is none of them.
_ENDS = lazy_pattern(r"[.!:;,\n\r*_#>-]+(?:\s+|$)|\n+|\sand\s")
_SPACE = lazy_pattern(r"\s+")
_MARKUP = "*_#>-`~ \t"
_MOST_CLAUSES = 40  # an answer that says more says something


def statements(text: str) -> Iterator[str]:
    """The clauses of a text that may say something about a change, as they are written."""
    clauses = _ENDS.split(text, _MOST_CLAUSES)
    for clause in clauses:
        plain = _SPACE.sub(" ", clause.replace("’", "'")).strip(_MARKUP)
        if plain and not _CLAUSE.fullmatch(plain):
            yield " ".join(clause.split())


def consents(verdict: str) -> bool:
    """Whether a verdict on the whole is a plain yes: `approve with comments` is none."""
    return _YES.fullmatch(verdict.strip(" .!✅👍")) is not None


_YES = lazy_pattern(
    r"(?:auto[ _-]?)?(?:approve[ds]?|accept(?:ed)?|merge|pass(?:ed)?|lgtm|ok|okay|yes|clean)"
    r"|looks good(?: to me)?|no (?:issues|findings|changes (?:needed|required))",
    re.IGNORECASE,
)
