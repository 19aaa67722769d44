"""Read a condition: a text of the small language that `condition` describes, as a tree.

Pure. A text that is not written in it is a `NotACondition` that says where; what a tree comes to is
the business of `condition`.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import TypeGuard

from foreword.pattern import lazy_pattern
from foreword.review.findings import SEVERITIES

# Characters of one condition, and brackets inside each other. People write a line; a policy may
# come from anybody, and a parser that calls itself must not be led to its limit.
LONGEST = 2_000
DEEPEST = 20

_TOKEN = lazy_pattern(
    r"""\s*(?:
        (?P<text>"[^"]*"|'[^']*')
      | (?P<number>-?\d+(?:\.\d+)?%?)(?![\w.])
      | (?P<name>[A-Za-z_][\w-]*(?:\.[A-Za-z_][\w-]*)*)
      | (?P<sign><=|>=|==|!=|&&|\|\||[<>=!()\[\],])
    )""",
    re.VERBOSE,
)
_CAMEL_CASE = lazy_pattern(r"(?<=[a-z0-9])(?=[A-Z])")
_WORDS = {"AND": "and", "OR": "or", "NOT": "not", "IN": "in"}
_SIGNS = {"&&": "and", "||": "or", "!": "not", "=": "=="}
_CONSTANTS: Mapping[str, object] = {
    "true": True,
    "yes": True,
    "false": False,
    "no": False,
    "null": None,
    "none": None,
}
_ORDER_SIGNS = ("<", "<=", ">", ">=")
_TEXT_SIGNS = ("starts_with", "ends_with", "contains")
_COMPARISONS = ("==", "!=", "in", "not in", *_ORDER_SIGNS, *_TEXT_SIGNS)
# From the mildest to the worst, for `risk_level >= "high"`.
RISKS = ("negligible", *reversed(SEVERITIES))
# Words that need no quotes, as in `risk_level in [low, medium]`. Any other name without them is
# the name of a value.
_UNQUOTED = frozenset((*RISKS, "approve", "changes_requested", "request_changes", "reject"))


class NotACondition(ValueError):
    """A text that is not written in this language; says where it stops being so."""


@dataclass(frozen=True, slots=True)
class Constant:
    """A value as it is written, or a list of such."""

    value: object


@dataclass(frozen=True, slots=True)
class Name:
    """What a fact is asked for by."""

    name: str


@dataclass(frozen=True, slots=True)
class NamedTest:
    """A test with an argument: `files_changed_in ["db/"]`."""

    name: str
    argument: ConditionNode


@dataclass(frozen=True, slots=True)
class Compare:
    """Two sides and a sign between them."""

    left: ConditionNode
    sign: str
    right: ConditionNode


@dataclass(frozen=True, slots=True)
class Not:
    """What must not be so."""

    part: ConditionNode


@dataclass(frozen=True, slots=True)
class Join:
    """Parts of which all, or one, must be so."""

    sign: str  # and, or
    parts: tuple[ConditionNode, ...]


ConditionNode = Constant | Name | NamedTest | Compare | Not | Join


def parse(condition: str) -> ConditionNode:
    """The tree of a condition."""
    return _Parser(condition).parse()


def check(condition: str) -> str:
    """What is wrong with the way a condition is written; nothing where it can be read."""
    try:
        _Parser(condition).parse()
    except NotACondition as problem:
        return str(problem)
    return ""


class _Parser:
    """A condition as a tree; one token is looked ahead."""

    def __init__(self, text: str) -> None:
        if len(text) > LONGEST:
            raise NotACondition(f"it is longer than {LONGEST:,} characters")
        self.tokens = list(_tokens(text))
        self.place = 0
        self.depth = 0

    def parse(self) -> ConditionNode:
        if not self.tokens:
            raise NotACondition("it is empty")
        node = self._either()
        if self._next() is not None:
            raise NotACondition(f"{self._next()!r} is not expected there")
        return node

    def _next(self) -> str | None:
        return self.tokens[self.place][1] if self.place < len(self.tokens) else None

    def _take(self, *expected: str) -> bool:
        """Whether the next tokens are these signs or words; they are taken if so."""
        tokens = self.tokens[self.place : self.place + len(expected)]
        if [text for kind, text in tokens if kind != "text"] != list(expected):
            return False
        self.place += len(expected)
        return True

    def _either(self) -> ConditionNode:
        self.depth += 1
        if self.depth > DEEPEST:
            raise NotACondition(f"it has more than {DEEPEST} brackets inside each other")
        parts = [self._both()]
        while self._take("or"):
            parts.append(self._both())
        self.depth -= 1
        return parts[0] if len(parts) == 1 else Join("or", tuple(parts))

    def _both(self) -> ConditionNode:
        parts = [self._negation()]
        while self._take("and"):
            parts.append(self._negation())
        return parts[0] if len(parts) == 1 else Join("and", tuple(parts))

    def _negation(self) -> ConditionNode:
        negations = 0
        while self._take("not"):
            negations += 1
        node = self._comparison()
        return Not(node) if negations % 2 else node

    def _comparison(self) -> ConditionNode:
        left = self._operand()
        for sign in _COMPARISONS:
            if self._take(*sign.split()):
                right = self._operand()
                if sign in ("==", "!=") and isinstance(left, Constant):
                    left, right = _constant_last(left, right)  # `"high" == risk_level`
                if _is_severity(left) and _is_number_node(right):
                    left = Name(f"{left.value}_findings")  # `critical == 0`
                return Compare(left, sign, right)
        return left

    def _operand(self) -> ConditionNode:
        if self._take("("):
            node = self._either()
            self._expect(")")
            return node
        if self._take("["):
            return Constant(tuple(self._items()))
        if self.place >= len(self.tokens):
            raise NotACondition("it ends where a value should be")
        kind, text = self.tokens[self.place]
        self.place += 1
        if kind == "text":
            return Constant(text)
        if kind == "number":
            share = text.endswith("%")
            number = float(text.rstrip("%"))
            return Constant(number / 100 if share else number)
        if kind == "name" and text not in _WORDS.values():
            return self._parse_name(text)
        raise NotACondition(f"{text!r} stands where a value should be")

    def _parse_name(self, name: str) -> ConditionNode:
        if name.casefold() in _CONSTANTS:
            return Constant(_CONSTANTS[name.casefold()])
        if name in _UNQUOTED:
            return Constant(name)
        if self._take("("):
            argument = self._either()
            self._expect(")")
            return NamedTest(name, argument)
        # `files_changed_in ["db/"]`: a test with its argument behind it
        starts_argument = self.place < len(self.tokens) and (
            self.tokens[self.place][0] == "text" or self._next() == "["
        )
        if starts_argument and name not in _COMPARISONS:
            return NamedTest(name, self._operand())
        return Name(name)

    def _items(self) -> Iterator[object]:
        while not self._take("]"):
            item = self._operand()
            if isinstance(item, Constant):
                yield item.value
            else:
                raise NotACondition("a list may have plain values only")
            if not self._take(","):
                self._expect("]")
                return

    def _expect(self, sign: str) -> None:
        if not self._take(sign):
            found = self._next()
            raise NotACondition(f"{sign!r} is missing" + (f" before {found!r}" if found else ""))


def _constant_last(left: Constant, right: ConditionNode) -> tuple[ConditionNode, ConditionNode]:
    is_count = _is_severity(left) and _is_number_node(right)
    return (left, right) if is_count else (right, left)


def _is_number_node(node: ConditionNode) -> bool:
    return isinstance(node, Constant) and is_number(node.value)


def _is_severity(node: ConditionNode) -> TypeGuard[Constant]:
    return isinstance(node, Constant) and node.value in SEVERITIES


def fact_name(written: str) -> str:
    """A name as facts have it: `aggregateConfidence` and `aggregate-confidence` are
    `aggregate_confidence`."""
    return _CAMEL_CASE.sub("_", written).replace("-", "_").lower()


def _tokens(text: str) -> Iterator[tuple[str, str]]:
    place = 0
    end = len(text.rstrip())
    while place < end:
        match = _TOKEN.match(text, place)
        if match is None or match.lastgroup is None:
            raise NotACondition(f"{text[place:end].strip()[:20]!r} can't be read")
        kind = match.lastgroup
        token = match[kind]
        if kind == "text":
            token = token[1:-1]
        elif kind == "name":
            token = _WORDS.get(token) or fact_name(token)
        elif kind == "sign":
            token = _SIGNS.get(token, token)
        yield kind, token
        place = match.end()


def is_number(value: object) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)
