"""What a conversation names, and how likely each name is to be needed again.

Paths, addresses, identifiers, codes, selectors. A name is worth much when it was used lately,
often, and by more than one voice: what a tool printed once is rarely asked for again, what the user
said and a call then used nearly always is. How the names are written out is in `ledger`.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from math import log1p

from foreword.pattern import lazy_pattern
from foreword.session.summary.remarks import Remark, Voice
from foreword.text.words import LONGEST_NAME, is_literal, names

# Characters: `text.words` finds names up to its own limit, this module paths up to this one; what
# is longer is data, and no name.
LONGEST_PATH = 300

# What one mention weighs by who made it: what the user says or a call uses is asked for again, what
# a tool printed hardly ever, and there is much of it.
VOICES: Mapping[Voice, float] = {
    "user": 3.0,
    "said": 2.0,
    "call": 3.0,
    "edit": 1.5,
    "result": 0.15,
    "before": 1.0,
}
HALF_LIFE = 10  # messages: work moves on, and the names of the last few steps are needed most
# What is left of a mention's weight however long ago it was. By `make fit` (58 cases, mean of three
# measures 84.0): 0.01 -0.6, 0.02 as it was, 0.04 +0.7, and chosen whichever quarter was left out.
# All that the other quarters chose scores 84.7 on sessions left out, what was before 83.7.
FLOOR = 0.04
PHRASE = 0.4  # a backticked phrase, or a word behind a slash, is rarely repeated to the letter
# Of the worth of `b.py` and `b` that `a/b.py` brings along. By the fit (99 cases, mean of three
# measures 85.6) 0.15 is +0.3 and 0.5 as well; of four folds three choose the one and the fourth the
# other, and on the sessions left out that is worth 0.1: nothing to choose by.
PART_SHARE = 0.3
MOST_STEPS = 12  # of a path whose ends are looked at: a bound on work

_ADDRESS = lazy_pattern(r"\b[a-z][a-z+.-]{1,12}://[^\s\"'`<>)\]}|\\]{3,300}")
_LONG_PATH = lazy_pattern(r"(?<![\w~@./:-])(?:[\w~@.-]*+/)+[\w.@-]*\w")
_SELECTOR_KEY = lazy_pattern(r"selector|xpath|css|locator", re.IGNORECASE)
_MEASURE = lazy_pattern(r"[\d.,:/_x-]+[a-z%]{0,2}", re.IGNORECASE)
_CLOSING = lazy_pattern(r"</[\w-]+>")
_DIFF = lazy_pattern(r"[ab]/.*\.\w+$")
_LOOSE = lazy_pattern(r"\s|^/[\w-]+$")
_PART = lazy_pattern(r"[/.]")


@dataclass(slots=True, kw_only=True)
class Mention:
    """Where and by whom one name was mentioned."""

    weight: float = 0.0
    first: int = 0
    last: int = 0
    voices: set[Voice] = field(default_factory=set)
    subject: str = ""  # of the last call that named it


class RowNames(dict[str, tuple[str, ...]]):
    """The names in each row of text that was asked for: found once, however often it occurs and
    whoever asks. Finding names is the dearest step of a compression."""

    def __missing__(self, row: str) -> tuple[str, ...]:
        names_in_row = literals(row)
        self[row] = names_in_row
        return names_in_row


def find_mentions(
    said: Sequence[Remark], length: int, row_names: RowNames | None = None
) -> dict[str, Mention]:
    """Every name in the remarks of a conversation of so many messages, in order of first
    mention."""
    found: dict[str, Mention] = {}
    known = RowNames() if row_names is None else row_names
    for remark in said:
        weight = VOICES[remark.voice] * (FLOOR + 0.5 ** ((length - remark.at) / HALF_LIFE))
        for name in dict.fromkeys(_remark_names(remark, known)):
            mention = found.get(name)
            if mention is None:
                mention = Mention(first=remark.at)
                found[name] = mention
            mention.weight += weight
            mention.last = remark.at
            mention.voices.add(remark.voice)
            mention.subject = remark.subject or mention.subject
    return found


def worth(found: Mapping[str, Mention]) -> dict[str, float]:
    """How likely each name is to be needed again, about 1 for the likeliest."""
    own = {name: _own_worth(name, mention) for name, mention in found.items()}
    whole = dict[str, float]()
    for name, value in own.items():
        of_parts = sum(own.get(part, 0.0) for part in _parts(name))
        whole[name] = value + PART_SHARE * of_parts
    top = sorted(whole.values(), reverse=True)[:10]
    scale = sum(top) / len(top) if top else 0.0
    return {name: value / (scale or 1.0) for name, value in whole.items()}


def literals(text: str) -> tuple[str, ...]:
    """The names in a text, each once, in order."""
    return tuple(dict.fromkeys(_literals(text)))


def _literals(text: str) -> Iterator[str]:
    if "</" in text:
        text = _CLOSING.sub(" ", text)
    if "://" in text:
        for match in _ADDRESS.finditer(text):
            yield match[0].rstrip(".,;:")
    if "/" in text:
        for match in _LONG_PATH.finditer(text):
            if LONGEST_NAME < len(match[0]) <= LONGEST_PATH:
                yield match[0]
    yield from filter(_is_telling, names(text))


def _is_telling(name: str) -> bool:
    if len(name) < 4 or name.startswith("//") or (name.isalpha() and name.isupper()):
        return False
    return not _MEASURE.fullmatch(name) and not _DIFF.match(name) and is_literal(name)


def _remark_names(remark: Remark, row_names: RowNames) -> Iterator[str]:
    if remark.voice == "call" and _SELECTOR_KEY.search(remark.key):
        yield remark.text.strip()
    for row in remark.text.splitlines():
        yield from row_names[row]


def _own_worth(name: str, mention: Mention) -> float:
    """What a name is worth by its own mentions, those of longer names aside."""
    share = PHRASE if _LOOSE.search(name) else 1.0
    return log1p(mention.weight) * len(mention.voices) * share


def _parts(name: str) -> list[str]:
    """The names inside a name: the ends of a path, what stands between the dots."""
    if "://" in name:
        return []
    pieces = _PART.split(name)
    if len(pieces) == 1:
        return []
    parts = pieces[-2:]
    steps = name.split("/")
    for start in range(1, min(len(steps), MOST_STEPS)):
        parts.append("/".join(steps[start:]))
    return [part for part in dict.fromkeys(parts) if part not in ("", name)]
