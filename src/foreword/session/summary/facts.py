"""What a line of a conversation is: a wish of the user's, a decision, a finding, an error, a fix,
something open.

Told by the words people use for such things, no more. A line is one kind only, the most telling
one. How much a kind weighs and for how long is a table here; choosing among lines is in
`line_choice`.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal

from foreword.pattern import lazy_pattern
from foreword.session.summary.remarks import Voice

Kind = Literal[
    "constraint",
    "request",
    "decision",
    "failure",
    "error",
    "fix",
    "finding",
    "done",
    "open",
    "command",
    "other",
]


@dataclass(frozen=True, slots=True)
class Weight:
    """How much a kind of line weighs, and how many messages it takes to lose half of what age
    can take from it."""

    base: float
    half_life: float
    lasting: float  # the share that age can't take


# What the user forbids or asks for outweighs what was decided, that what was found, and that what
# was only tried. What decides later work (a constraint, a decision) ages slowly; what is open is
# soon either done or said again. Only the order and the rough distances matter: lines compete by
# weight for their size.
WEIGHTS: Mapping[Kind, Weight] = {
    "constraint": Weight(3.0, 60, 0.7),
    "request": Weight(2.0, 30, 0.4),
    "decision": Weight(2.0, 60, 0.5),
    "failure": Weight(1.6, 60, 0.4),
    "fix": Weight(1.5, 40, 0.3),
    "error": Weight(1.2, 20, 0.2),
    "finding": Weight(1.2, 40, 0.3),
    "done": Weight(1.0, 30, 0.2),
    "open": Weight(1.2, 10, 0.05),
    "command": Weight(0.6, 15, 0.1),
    "other": Weight(0.4, 20, 0.1),
}

_CONSTRAINT = lazy_pattern(
    r"\b(?:must|never|always|only|don'?t|do not|not|no|should|shouldn'?t|shall|prefer\w*|instead"
    r"|rather|avoid|require\w*|make sure|ensure|keep|without|at (?:most|least)|limit|budget"
    r"|deadline|actually|wrong|revert|stop|use|want|need|has to|have to|important|correction)\b",
    re.IGNORECASE,
)
_DECISION = lazy_pattern(
    r"\b(?:decid\w+|decision|chose|chosen|choos\w+|opt(?:ed|ing) (?:for|to)|going with|go with"
    r"|went with|agreed|settled on|we(?:'ll| will) use|switch\w* to|instead of|rather than"
    r"|prefer\w*|trade-?offs?|rationale|reason(?:ing)?|because|so that|by design|on purpose)\b",
    re.IGNORECASE,
)
_FAILURE = lazy_pattern(
    r"\b(?:did(?:n't| not) (?:work|help)|does(?:n't| not) work|not work(?:ing)?|revert(?:ed|ing)?"
    r"|roll(?:ed)? back|abandon\w*|gave up|dead end|tried|attempt(?:ed)?|no longer|won'?t work"
    r"|rejected|ruled out)\b",
    re.IGNORECASE,
)
_FIX = lazy_pattern(
    r"\b(?:fix(?:ed|es)?|resolved?|solved|solution|root cause|the cause|caused by|turn(?:s|ed) out"
    r"|works now|now works|the (?:problem|issue|bug|culprit)|workaround|corrected)\b",
    re.IGNORECASE,
)
_ERROR = lazy_pattern(
    r"\b(?:\w*error\w*|\w*exception|traceback|fail(?:s|ed|ure|ures|ing)?|panic|fatal|cannot|can't"
    r"|undefined|undeclared|not found|no such|denied|refused|timed? ?out|invalid|missing"
    r"|unexpected|mismatch|crash\w*|broken|conflict)\b",
    re.IGNORECASE,
)
_LOUD = lazy_pattern(
    r"^\W{0,6}(?:\w*Error\b|\w*Exception\b|error\b|fatal:|panic:|--- FAIL|FAIL\b|FAILED\b|E\s{2,})"
    r"|\w(?:Error|Exception):|:\d+:\d+: |\berror(?:\[\w+\])?: |\bfatal: ",
    re.IGNORECASE,
)
_OPEN = lazy_pattern(
    r"\b(?:todo|next|remaining|pending|still (?:need|to|have)|not yet|left to do|follow[- ]?up"
    r"|want me to|would you like|should (?:I|we)|shall (?:I|we)|later|upcoming|outstanding"
    r"|i(?:'ll| will)|we(?:'ll| will)|needs? to)\b"
    r"|\[ \]",
    re.IGNORECASE,
)
_FINDING = lazy_pattern(
    r"\b(?:found|finding|shows?|showed|confirmed|verified|key|insight|actually|means|returns?"
    r"|contains?|located|exists?|there (?:is|are)|stores?"
    r"|is (?:now|not|only|already|called|defined|set|stored|used)|are (?:now|not|only|already)"
    r"|currently|default|depends|uses|handles|expects|requires?|summary|result|note|important"
    r"|recommend\w*)\b",
    re.IGNORECASE,
)
_DONE = lazy_pattern(
    r"\b(?:created|added|updated|implemented|removed|renamed|moved|replaced|committed|pushed"
    r"|merged|deployed|wrote|done|complete[d]?|all (?:tests )?pass\w*|passes|passed|changed"
    r"|refactored|extracted|installed|configured)\b",
    re.IGNORECASE,
)
# A pleasantry gives nothing back once read: a long row of them is read once.
_FILLER = lazy_pattern(
    r"(?>(?:[\W_]*+"
    r"(?:ok(?:ay)?|great|perfect|excellent|good|sure|now|alright|thanks?|thank you|yes|hi|hello)"
    r"\b)*)[\s,.!-]*+"
    r"(?:(?:let me|let's|i'?ll|i will|i am going to|i'?m going to|now i|i need to|i should"
    r"|first,? (?:let|i))\b(?!.{0,200}\b(?:because|instead|decid|since)\b)"
    r"|here(?:'s| is| are)\b.{0,60}:$"
    r"|$)",
    re.IGNORECASE,
)


def kind_of(line: str, voice: Voice) -> Kind:
    """What a line said by that voice is."""
    if voice == "user":
        return "constraint" if _CONSTRAINT.search(line) else "request"
    if voice == "result":
        return "error" if _LOUD.search(line) else "other"
    if line.rstrip(" *_)").endswith(("?", "\uff1f")):  # the latter is that of Chinese and Japanese
        return "open"
    for kind, pattern in _PATTERNS:
        if pattern.search(line):
            return kind
    return "other"


def is_filler(line: str) -> bool:
    """Whether a line only announces what comes next or is polite."""
    return _FILLER.match(line) is not None


def presents_as_open(line: str) -> bool:
    """Whether a line speaks of something still to be done."""
    return _OPEN.search(line) is not None


# the most telling first
_PATTERNS: tuple[tuple[Kind, re.Pattern[str]], ...] = (
    ("failure", _FAILURE),
    ("decision", _DECISION),
    ("fix", _FIX),
    ("open", _OPEN),
    ("error", _ERROR),
    ("done", _DONE),
    ("finding", _FINDING),
)
