"""The small language in which projects write their conditions, and what one comes to.

    aggregate_confidence >= 0.85 and risk_level in ["low", "negligible"]
    count(panel_risk == "high") >= 2 or not ci_checks_passed
    any_policy_flag starts_with "pii_"
    files_changed_in ["db/", "migrations/"]

A condition is true, false, or not known: a name that nobody gave a value for makes it so, unless
the rest decides alone (`false and ci_checks_passed` is false). Several values of one name are asked
about with `any_`, `all_` and `no_` before it, or with `count`; without, the caller says what a
comparison comes to that holds for some of them only. Pure; how one is read is in
`condition_parsing`, what the names stand for in `change_facts`.
"""

from __future__ import annotations

import operator
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from foreword.review.condition_parsing import (
    RISKS,
    Compare,
    ConditionNode,
    Constant,
    Join,
    Name,
    NamedTest,
    Not,
    NotACondition,
    is_number,
    parse,
)

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
_QUANTIFIERS = ("any", "all", "no")


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


def evaluate(condition: str, facts: Facts, *, mixed: object = True) -> ConditionOutcome:
    """What a condition comes to, by what is known.

    `mixed` is what it comes to where some of several values fulfil it and nothing says how many
    have to: `finding_severity == "low"` of a low and a critical finding. A rule that stops a change
    takes it for so, one that approves does not, and UNKNOWN leaves it open.
    """
    try:
        node = parse(condition)
    except NotACondition as problem:
        return ConditionOutcome(value=None, problem=str(problem))
    evaluator = _Evaluator(facts)
    value = evaluator.truth(node, mixed)
    if isinstance(value, bool):
        return ConditionOutcome(value=value)
    return ConditionOutcome(value=None, unknown=tuple(dict.fromkeys(evaluator.unknown)))


class _Evaluator:
    """Three values: true, false, and UNKNOWN with the names that are to blame."""

    def __init__(self, facts: Facts) -> None:
        self.facts = facts
        self.unknown: list[str] = []

    def truth(self, node: ConditionNode, mixed: object) -> object:
        match node:
            case Not(part):
                return _negate(self.truth(part, _negate(mixed, True)), True)
            case Join(sign, parts):
                return _join(sign, [self.truth(part, mixed) for part in parts])
            case Compare(left, sign, right):
                return self._compare(left, sign, right, mixed)
            case _:
                value = self._value(node, mixed)
                if isinstance(value, bool) or value is UNKNOWN:
                    return value
                return self._blame(node)

    def _compare(
        self, left: ConditionNode, sign: str, right: ConditionNode, mixed: object
    ) -> object:
        # the two sides of a comparison may be conditions, whose direction nobody can tell
        wanted = self._value(right, UNKNOWN)
        if isinstance(left, Name) and left.name not in self.facts.values:
            found = self.facts.list_of(left.name)
            if found is not None:
                quantifier, values = found
                if is_number(wanted):
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
        name = left.name if isinstance(left, Name | NamedTest) else ""
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

    def _value(self, node: ConditionNode, mixed: object) -> object:
        match node:
            case Constant(value):
                return value
            case Name(name):
                return self._named_value(name)
            case NamedTest("count", argument):
                return self._count(argument)
            case NamedTest(name, argument):
                value = self._test(name, self._value(argument, UNKNOWN))
                if isinstance(value, EachOutcome):
                    outcome = _quantify("", value.outcomes, mixed)
                    return (
                        outcome if isinstance(outcome, bool) else self._blame(Name(f"{name}(...)"))
                    )
                return value
            case _:
                return self.truth(node, mixed)

    def _named_value(self, name: str) -> object:
        value = self.facts.value_of(name)
        return value if value is not UNKNOWN else self._blame(Name(name))

    def _test(self, name: str, argument: object) -> object:
        test = self.facts.tests.get(name)
        value = test(argument) if test is not None else UNKNOWN
        if value is UNKNOWN:
            shown = f'"{argument}"' if isinstance(argument, str) else "..."
            return self._blame(Name(f"{name}({shown})"))
        return value

    def _count(self, argument: ConditionNode) -> object:
        """How many values a name has, or of how many a comparison holds."""
        if isinstance(argument, Name):
            found = self.facts.list_of(argument.name)
            if found is not None:
                return len(found[1])
            return self._named_value(argument.name)
        if isinstance(argument, Compare) and isinstance(argument.left, Name):
            found = self.facts.list_of(argument.left.name)
            if found is not None:
                wanted = self._value(argument.right, UNKNOWN)
                name = argument.left.name
                outcomes = self._outcomes(name, found[1], argument.sign, wanted)
                if UNKNOWN not in outcomes:
                    return outcomes.count(True)
            return self._blame(argument.left)
        return self._blame(Name("count(...)"))

    def _blame(self, node: ConditionNode) -> _Unknown:
        match node:
            case Name(name) | NamedTest(name, _):
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
    if is_number(value) and is_number(wanted):
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
    return value == wanted if is_number(value) and is_number(wanted) else UNKNOWN


def _negate(outcome: object, negated: bool) -> object:
    return not outcome if negated and isinstance(outcome, bool) else outcome


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
