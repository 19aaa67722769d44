"""The small language in which projects write their conditions, and what one comes to.

    aggregate_confidence >= 0.85 and risk_level in ["low", "negligible"]
    count(panel_risk == "high") >= 2 or not ci_checks_passed
    any_policy_flag starts_with "pii_"
    files_changed_in ["db/", "migrations/"]

A condition is true, false, or not known: a name that nobody gave a value for makes it so, unless
the rest decides alone (`false and ci_checks_passed` is false). Several values of one name are asked
about with `any_`, `all_` and `no_` before it, or with `count`; without, the caller says what a
comparison comes to that holds for some of them only. Pure; what the names stand for is the business
of `change_facts`.
"""

from __future__ import annotations

import operator
import re
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, TypeGuard

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
_ORDER: Mapping[str, Callable[[Any, Any], bool]] = {
    "<": operator.lt,
    "<=": operator.le,
    ">": operator.gt,
    ">=": operator.ge,
}
_TEXT_TESTS: Mapping[str, Callable[[str, str], bool]] = {
    "starts_with": str.startswith,
    "ends_with": str.endswith,
    "contains": str.__contains__,
}
_COMPARISONS = ("==", "!=", "in", "not in", *_ORDER, *_TEXT_TESTS)
_QUANTIFIERS = ("any", "all", "no")
# From the mildest to the worst, for `risk_level >= "high"`.
RISKS = ("negligible", *reversed(SEVERITIES))
# Words that need no quotes, as in `risk_level in [low, medium]`. Any other name without them is
# the name of a value.
_UNQUOTED = frozenset((*RISKS, "approve", "changes_requested", "request_changes", "reject"))


class NotACondition(ValueError):
    """A text that is not written in this language; says where it stops being so."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Facts:
    """What is known: single values, names with several values, and tests with an argument.

    A value of `UNKNOWN` in a list is a value that is there and that nobody can name. Where a name
    has `words`, its values are among them, and what compares to any other word is not known:
    no finding here is `severe`, and that does not mean that none is.
    """

    values: Mapping[str, object] = field(default_factory=dict)
    lists: Mapping[str, Sequence[object]] = field(default_factory=dict)
    tests: Mapping[str, Callable[[object], object]] = field(default_factory=dict)
    words: Mapping[str, Collection[str]] = field(default_factory=dict)

    def with_values(self, more: Mapping[str, object]) -> Facts:
        """The facts with these values besides."""
        return replace(self, values={**self.values, **more})

    def knows(self, name: str) -> bool:
        """Whether there is a value of that name, or several."""
        if self.value_of(name) is not UNKNOWN:
            return True
        return name not in self.values and self.list_of(name) is not None

    def value_of(self, name: str) -> object:
        """The single value of a name; `no_high_findings` is whether their number is 0."""
        if name in self.values:
            return self.values[name]
        quantifier, counted = next(_spellings(name))
        count = self.values.get(counted)
        if isinstance(count, bool) or not isinstance(count, int) or quantifier not in ("no", "any"):
            return UNKNOWN
        return (count == 0) is (quantifier == "no")

    def list_of(self, name: str) -> tuple[str, Sequence[object]] | None:
        """The values of a name, and how they are asked about: `no_policy_flags` is every flag;
        nothing where the name does not say."""
        for quantifier, spelling in _spellings(name):
            if spelling in self.lists:
                return quantifier, self.lists[spelling]
        return None

    def words_of(self, name: str) -> Collection[str]:
        """The words that the values of a name may be; none where any may be."""
        for _, spelling in _spellings(name):
            if spelling in self.words:
                return self.words[spelling]
        return ()


@dataclass(frozen=True, slots=True, kw_only=True)
class ConditionOutcome:
    """What a condition comes to; `value` is None where that is not known, and `unknown` says
    which names are to blame."""

    value: bool | None
    unknown: tuple[str, ...] = ()
    problem: str = ""  # why the condition can't be read at all


class _Unknown:
    def __repr__(self) -> str:
        return "UNKNOWN"


UNKNOWN = _Unknown()


@dataclass(frozen=True, slots=True)
class EachOutcome:
    """What a test comes to for each of the things that it is about, as each of the files."""

    outcomes: tuple[object, ...]


@dataclass(frozen=True, slots=True)
class _Constant:
    value: object


@dataclass(frozen=True, slots=True)
class _Name:
    name: str


@dataclass(frozen=True, slots=True)
class _NamedTest:
    name: str
    argument: _Node


@dataclass(frozen=True, slots=True)
class _Compare:
    left: _Node
    sign: str
    right: _Node


@dataclass(frozen=True, slots=True)
class _Not:
    part: _Node


@dataclass(frozen=True, slots=True)
class _Join:
    sign: str  # and, or
    parts: tuple[_Node, ...]


_Node = _Constant | _Name | _NamedTest | _Compare | _Not | _Join


def evaluate(condition: str, facts: Facts, *, mixed: object = True) -> ConditionOutcome:
    """What a condition comes to, by what is known.

    `mixed` is what it comes to where some of several values fulfil it and nothing says how many
    have to: `finding_severity == "low"` of a low and a critical finding. A rule that stops a change
    takes it for so, one that approves does not, and UNKNOWN leaves it open.
    """
    try:
        node = _Parser(condition).parse()
    except NotACondition as problem:
        return ConditionOutcome(value=None, problem=str(problem))
    evaluator = _Evaluator(facts)
    value = evaluator.truth(node, mixed)
    if isinstance(value, bool):
        return ConditionOutcome(value=value)
    return ConditionOutcome(value=None, unknown=tuple(dict.fromkeys(evaluator.unknown)))


def check(condition: str) -> str:
    """What is wrong with the way a condition is written; nothing where it can be read."""
    try:
        _Parser(condition).parse()
    except NotACondition as problem:
        return str(problem)
    return ""


# ---- reading ----


class _Parser:
    """A condition as a tree; one token is looked ahead."""

    def __init__(self, text: str) -> None:
        if len(text) > LONGEST:
            raise NotACondition(f"it is longer than {LONGEST:,} characters")
        self.tokens = list(_tokens(text))
        self.place = 0
        self.depth = 0

    def parse(self) -> _Node:
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

    def _either(self) -> _Node:
        self.depth += 1
        if self.depth > DEEPEST:
            raise NotACondition(f"it has more than {DEEPEST} brackets inside each other")
        parts = [self._both()]
        while self._take("or"):
            parts.append(self._both())
        self.depth -= 1
        return parts[0] if len(parts) == 1 else _Join("or", tuple(parts))

    def _both(self) -> _Node:
        parts = [self._negation()]
        while self._take("and"):
            parts.append(self._negation())
        return parts[0] if len(parts) == 1 else _Join("and", tuple(parts))

    def _negation(self) -> _Node:
        negations = 0
        while self._take("not"):
            negations += 1
        node = self._comparison()
        return _Not(node) if negations % 2 else node

    def _comparison(self) -> _Node:
        left = self._operand()
        for sign in _COMPARISONS:
            if self._take(*sign.split()):
                right = self._operand()
                if sign in ("==", "!=") and isinstance(left, _Constant):
                    left, right = _constant_last(left, right)  # `"high" == risk_level`
                if _is_severity(left) and _is_number_node(right):
                    left = _Name(f"{left.value}_findings")  # `critical == 0`
                return _Compare(left, sign, right)
        return left

    def _operand(self) -> _Node:
        if self._take("("):
            node = self._either()
            self._expect(")")
            return node
        if self._take("["):
            return _Constant(tuple(self._items()))
        if self.place >= len(self.tokens):
            raise NotACondition("it ends where a value should be")
        kind, text = self.tokens[self.place]
        self.place += 1
        if kind == "text":
            return _Constant(text)
        if kind == "number":
            share = text.endswith("%")
            number = float(text.rstrip("%"))
            return _Constant(number / 100 if share else number)
        if kind == "name" and text not in _WORDS.values():
            return self._parse_name(text)
        raise NotACondition(f"{text!r} stands where a value should be")

    def _parse_name(self, name: str) -> _Node:
        if name.casefold() in _CONSTANTS:
            return _Constant(_CONSTANTS[name.casefold()])
        if name in _UNQUOTED:
            return _Constant(name)
        if self._take("("):
            argument = self._either()
            self._expect(")")
            return _NamedTest(name, argument)
        # `files_changed_in ["db/"]`: a test with its argument behind it
        starts_argument = self.place < len(self.tokens) and (
            self.tokens[self.place][0] == "text" or self._next() == "["
        )
        if starts_argument and name not in _COMPARISONS:
            return _NamedTest(name, self._operand())
        return _Name(name)

    def _items(self) -> Iterator[object]:
        while not self._take("]"):
            item = self._operand()
            if isinstance(item, _Constant):
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


def _constant_last(left: _Constant, right: _Node) -> tuple[_Node, _Node]:
    is_count = _is_severity(left) and _is_number_node(right)
    return (left, right) if is_count else (right, left)


def _is_number_node(node: _Node) -> bool:
    return isinstance(node, _Constant) and _is_number(node.value)


def _is_severity(node: _Node) -> TypeGuard[_Constant]:
    return isinstance(node, _Constant) and node.value in SEVERITIES


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


# ---- deciding ----


class _Evaluator:
    """Three values: true, false, and UNKNOWN with the names that are to blame."""

    def __init__(self, facts: Facts) -> None:
        self.facts = facts
        self.unknown: list[str] = []

    def truth(self, node: _Node, mixed: object) -> object:
        match node:
            case _Not(part):
                return _negate(self.truth(part, _negate(mixed, True)), True)
            case _Join(sign, parts):
                return _join(sign, [self.truth(part, mixed) for part in parts])
            case _Compare(left, sign, right):
                return self._compare(left, sign, right, mixed)
            case _:
                value = self._value(node, mixed)
                if isinstance(value, bool) or value is UNKNOWN:
                    return value
                return self._blame(node)

    def _compare(self, left: _Node, sign: str, right: _Node, mixed: object) -> object:
        # the two sides of a comparison may be conditions, whose direction nobody can tell
        wanted = self._value(right, UNKNOWN)
        if isinstance(left, _Name) and left.name not in self.facts.values:
            found = self.facts.list_of(left.name)
            if found is not None:
                quantifier, values = found
                if _is_number(wanted):
                    return self._blame(left)  # words; how many there are is asked with `count`
                outcomes = self._outcomes(left.name, values, sign, wanted)
                if not outcomes and not quantifier:
                    # none of no findings is critical: that may approve, and stops nothing
                    return sign in ("!=", "not in") and mixed is False
                outcome = _quantify(quantifier, outcomes, mixed)
                return outcome if isinstance(outcome, bool) else self._blame(left)
        value = self._value(left, UNKNOWN)
        if value is UNKNOWN:
            return UNKNOWN
        name = left.name if isinstance(left, _Name | _NamedTest) else ""
        (outcome,) = self._outcomes(name, [value], sign, wanted)
        return outcome if isinstance(outcome, bool) else self._blame(left)

    def _outcomes(
        self, name: str, values: Sequence[object], sign: str, wanted: object
    ) -> list[object]:
        """What each value of a name compares to."""
        words = self.facts.words_of(name)
        outcomes = [compare(value, sign, wanted) for value in values]
        if not words or sign not in ("==", "!=", "in", "not in"):
            return outcomes
        asked = wanted if isinstance(wanted, tuple | list) else (wanted,)
        if all(isinstance(word, str) and _plain(word) in words for word in asked):
            return outcomes
        # a value that is one of the others is; of the rest it is not known
        is_one = sign in ("==", "in")
        return [outcome if outcome is is_one else UNKNOWN for outcome in outcomes]

    def _value(self, node: _Node, mixed: object) -> object:
        match node:
            case _Constant(value):
                return value
            case _Name(name):
                return self._named_value(name)
            case _NamedTest("count", argument):
                return self._count(argument)
            case _NamedTest(name, argument):
                value = self._test(name, self._value(argument, UNKNOWN))
                if isinstance(value, EachOutcome):
                    outcome = _quantify("", value.outcomes, mixed)
                    return (
                        outcome if isinstance(outcome, bool) else self._blame(_Name(f"{name}(...)"))
                    )
                return value
            case _:
                return self.truth(node, mixed)

    def _named_value(self, name: str) -> object:
        value = self.facts.value_of(name)
        return value if value is not UNKNOWN else self._blame(_Name(name))

    def _test(self, name: str, argument: object) -> object:
        test = self.facts.tests.get(name)
        value = test(argument) if test is not None else UNKNOWN
        if value is UNKNOWN:
            shown = f'"{argument}"' if isinstance(argument, str) else "..."
            return self._blame(_Name(f"{name}({shown})"))
        return value

    def _count(self, argument: _Node) -> object:
        """How many values a name has, or of how many a comparison holds."""
        if isinstance(argument, _Name):
            found = self.facts.list_of(argument.name)
            if found is not None:
                return len(found[1])
            return self._named_value(argument.name)
        if isinstance(argument, _Compare) and isinstance(argument.left, _Name):
            found = self.facts.list_of(argument.left.name)
            if found is not None:
                wanted = self._value(argument.right, UNKNOWN)
                name = argument.left.name
                outcomes = self._outcomes(name, found[1], argument.sign, wanted)
                if UNKNOWN not in outcomes:
                    return outcomes.count(True)
            return self._blame(argument.left)
        return self._blame(_Name("count(...)"))

    def _blame(self, node: _Node) -> _Unknown:
        match node:
            case _Name(name) | _NamedTest(name, _):
                self.unknown.append(name)
            case _:
                self.unknown.append("a comparison of unlike values")
        return UNKNOWN


def compare(value: object, sign: str, wanted: object) -> object:
    """Whether a value compares so to another; UNKNOWN where the two can't be compared."""
    if value is UNKNOWN or wanted is UNKNOWN:
        return UNKNOWN
    if sign in ("==", "!="):
        return _negate(_same(value, wanted), sign == "!=")
    if sign in ("in", "not in"):
        if not isinstance(wanted, tuple | list):
            return UNKNOWN
        is_in = _join("or", [_same(value, item) for item in wanted])
        return _negate(is_in, sign == "not in")
    if sign in _ORDER:
        return _in_order(value, sign, wanted)
    if not isinstance(value, str):
        return UNKNOWN
    patterns = wanted if isinstance(wanted, tuple | list) else (wanted,)
    return any(_TEXT_TESTS[sign](_plain(value), _plain(str(each))) for each in patterns)


def _in_order(value: object, sign: str, wanted: object) -> object:
    if _is_number(value) and _is_number(wanted):
        return _ORDER[sign](value, wanted)
    if isinstance(value, str) and isinstance(wanted, str):
        places = [_plain(value), _plain(wanted)]
        if all(place in RISKS for place in places):
            return _ORDER[sign](RISKS.index(places[0]), RISKS.index(places[1]))
    return UNKNOWN


def _same(value: object, wanted: object) -> object:
    """Whether two values are equal; a text and a number are not unequal, they can't be compared."""
    if isinstance(value, str) and isinstance(wanted, str):
        return _plain(value) == _plain(wanted)
    if value is None or wanted is None or (isinstance(value, bool) and isinstance(wanted, bool)):
        return value is wanted
    return value == wanted if _is_number(value) and _is_number(wanted) else UNKNOWN


def _negate(outcome: object, negated: bool) -> object:
    return not outcome if negated and isinstance(outcome, bool) else outcome


def _is_number(value: object) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)


def _plain(text: str) -> str:
    return text.strip().casefold()


def _join(sign: str, values: Sequence[object]) -> object:
    decisive = sign == "or"
    if decisive in values:
        return decisive
    return UNKNOWN if UNKNOWN in values else not decisive


def _quantify(quantifier: str, outcomes: Sequence[object], mixed: object) -> object:
    if quantifier == "all":
        return _join("and", outcomes)
    if quantifier or not outcomes:
        return _negate(_join("or", outcomes), quantifier == "no")
    known = [outcome for outcome in outcomes if outcome is not UNKNOWN]
    if len(known) < len(outcomes):
        holding = _quantify("", [*known, True], mixed)
        failing = _quantify("", [*known, False], mixed)
        return holding if holding is failing else UNKNOWN
    return known[0] if len(set(known)) == 1 else mixed


def _spellings(name: str) -> Iterator[tuple[str, str]]:
    """(quantifier, name) of what a name may mean: `no_policy_flags` is none of `policy_flag`."""
    first, _, rest = name.partition("_")
    quantifier = first if first in _QUANTIFIERS and rest else ""
    plain = rest if quantifier else name
    yield quantifier, plain
    yield quantifier, _singular(plain)


def _singular(name: str) -> str:
    """`panels_risk`, `policy_flags_severity` and `panel_verdicts` as one of them would be named."""
    words = name.replace(".", "_").split("_")
    return "_".join(word[:-1] if len(word) > 3 and word.endswith("s") else word for word in words)
