"""Whether what a summary says can be found in what it stands for.

For any summary, whoever wrote it; who said its lines is judged in `attribution`. Generous on
purpose: a name is proven where its letters occur, in any case and quoting, whole or piece by piece,
so that what is marked as unproven really is nowhere. Pure; what counts as a claim is in `claims`.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property

from foreword.compression.attribution import UNPROVEN
from foreword.compression.claims import Claim, find_claims
from foreword.messages.message import Message
from foreword.messages.parts import Text, ToolCall, part_text
from foreword.origin import Speakers, pieces_by_tag
from foreword.pattern import lazy_pattern

LEAST_PIECE = 3  # letters of a piece of a name that is looked for by itself
# Of the words of a quotation, in one run, for it to be proven: who quotes drops or mends a word.
QUOTED_SHARE = 0.8

_NOT_LETTERS = lazy_pattern(r"[\W_]+")
_PIECE = lazy_pattern(r"[^\W_]+")
# where a quotation leaves something out, or says in brackets what was there
_ELLIPSIS = lazy_pattern(r"\s*(?:\[[^\]\n]*\]|\.\.\.+|\u2026)\s*")
_DIGITS = lazy_pattern(r"\d+(?:\.\d+)?")


@dataclass(frozen=True, slots=True, kw_only=True)
class SummaryCheck:
    """What a summary claims, and which of it occurs nowhere in what it stands for."""

    claims: tuple[Claim, ...]
    unproven: tuple[Claim, ...]

    @property
    def names(self) -> tuple[str, ...]:
        """What is unproven, each once, in order."""
        return tuple(dict.fromkeys(claim.text for claim in self.unproven))


class Evidence:
    """The texts that a summary is checked against, prepared once for many summaries."""

    def __init__(self, texts: Iterable[str], user_texts: Iterable[str] = ()) -> None:
        self._text = "\n".join(texts).lower()
        self._user_text = "\n".join(user_texts).lower()

    @cached_property
    def letters(self) -> str:
        """All letters and digits in one run."""
        return _NOT_LETTERS.sub("", self._text)

    @cached_property
    def words(self) -> str:
        """All words, one blank between them."""
        return f" {_NOT_LETTERS.sub(' ', self._text)} "

    @cached_property
    def user_words(self) -> str:
        """The user's words alone."""
        return f" {_NOT_LETTERS.sub(' ', self._user_text)} "

    @cached_property
    def numbers(self) -> frozenset[str]:
        """Every number, without its separators."""
        return frozenset(_DIGITS.findall(self._text) + _DIGITS.findall(self._text.replace(",", "")))

    def proves(self, claim: Claim) -> bool:
        """Whether a claim is borne out."""
        match claim.kind:
            case "number":
                return claim.text.replace(",", "").rstrip("%") in self.numbers
            case "quote":
                is_there = claim.text.lower() in self._text
                return is_there or _is_quotation(claim.text, self.words)
            case "user":
                is_there = claim.text.lower() in self._user_text
                return is_there or _is_quotation(claim.text, self.user_words)
            case "name":
                return self._has_name(claim.text)

    def _has_name(self, name: str) -> bool:
        """Whether a name occurs, in any form, or each of its pieces as a word."""
        if name.lower() in self._text:  # most are there as they stand
            return True
        letters = _NOT_LETTERS.sub("", name.lower())
        if letters in self.letters or letters.removesuffix("s") in self.letters:
            return True
        pieces = [piece for piece in _PIECE.findall(name.lower()) if len(piece) >= LEAST_PIECE]
        return len(pieces) > 1 and all(f" {piece} " in self.words for piece in pieces)


def evidence_of(messages: Sequence[Message], also: Iterable[str] = ()) -> Evidence:
    """What these messages say, and other texts that hold beside them: plan, instructions, an
    earlier summary. What an earlier text says of the user counts as the user's; what was marked in
    it as unproven proves nothing, or a summary of the summary would say it without the mark."""
    others = [without_unproven(text) for text in also]
    texts = list(others)
    user_texts = list(others)
    speakers = Speakers()
    for message in messages:
        for origin, part in zip(speakers.of_parts(message), message.parts, strict=True):
            if isinstance(part, ToolCall):
                arguments = part.arguments
                plain = arguments.replace("\\n", "\n").replace('\\"', '"')
                texts += [part.name, arguments, plain]
                continue
            text = part_text(part)
            texts.append(without_unproven(text) if origin.kind == "summary" else text)
            if isinstance(part, Text):
                pieces = pieces_by_tag(text, origin)
                user_texts += [piece for said_by, piece in pieces if said_by.kind == "user"]
    return Evidence(texts, user_texts)


def check_against(summary: str, evidence: Evidence) -> SummaryCheck:
    """Look up everything that a summary claims in the evidence."""
    claims = find_claims(summary)
    unproven = [claim for claim in claims if not evidence.proves(claim)]
    return SummaryCheck(claims=tuple(claims), unproven=tuple(unproven))


def mark_unproven(summary: str, found: SummaryCheck) -> str:
    """The summary, a mark behind everything in it that is unproven; nothing is taken away."""
    lines = summary.split("\n")
    for claim in found.unproven:
        line = lines[claim.line - 1]
        end = line.find(claim.text) + len(claim.text)
        while end < len(line) and line[end] in "`\"\u201d'":
            end += 1
        lines[claim.line - 1] = f"{line[:end]} {UNPROVEN}{line[end:]}"
    return "\n".join(lines)


def without_unproven(text: str) -> str:
    """A text without what is marked in it as unproven, and without the marks."""
    if UNPROVEN not in text:
        return text
    marked_lines = text.split("\n")
    lines = text.replace(f" {UNPROVEN}", "").split("\n")
    for claim in find_claims("\n".join(lines)):
        mark = re.escape(claim.text) + rf"[`\"\u201d']* {re.escape(UNPROVEN)}"
        if re.search(mark, marked_lines[claim.line - 1]):
            lines[claim.line - 1] = lines[claim.line - 1].replace(claim.text, "")
    return "\n".join(lines)


def strike_unproven(summary: str, found: SummaryCheck) -> str:
    """The summary without the lines in which something is unproven."""
    struck = {claim.line for claim in found.unproven}
    lines = summary.split("\n")
    return "\n".join(line for number, line in enumerate(lines, 1) if number not in struck)


def _is_quotation(text: str, words: str) -> bool:
    """Whether each piece of a text is quoted from these words."""
    return all(_is_quoted(piece, words) for piece in _ELLIPSIS.split(text) if piece)


def _is_quoted(quotation: str, words: str) -> bool:
    """Whether most of the words of a quotation stand in one run there, or nearly: the longest run
    from either end."""
    wanted = _NOT_LETTERS.sub(" ", quotation.lower()).split()
    if not wanted or f" {' '.join(wanted)} " in words:
        return True
    enough = max(2, round(QUOTED_SHARE * len(wanted)))
    for start in range(len(wanted) - enough + 1):
        if f" {' '.join(wanted[start : start + enough])} " in words:
            return True
    return False
