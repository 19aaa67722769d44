"""Evaluate the conditions of a policy: Python's own grammar, three truth values.

    count(panel_risk == "high") >= 2 or not ci_checks_passed
    files_changed_in ["db/", "migrations/"]
    any_policy_flag starts_with "pii_"

A condition is parsed by `ast` and never executed. A name without a value, and a comparison of
unlike types, is None (unknown) and makes the condition unknown, unless the rest decides alone.
Pure; `change_facts` provides the values.
"""

from __future__ import annotations

import ast
import operator
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from foreword.pattern import lazy_pattern
from foreword.review.findings import SEVERITIES

# Characters of one condition. People write a line; a policy may come from anybody.
LONGEST = 2_000
RISKS = ("negligible", *reversed(SEVERITIES))  # from the mildest to the worst
_SIGNS: Mapping[type[ast.AST], Callable[[Any, Any], bool]] = {
    ast.Eq: operator.eq,
    ast.NotEq: operator.ne,
    ast.Lt: operator.lt,
    ast.LtE: operator.le,
    ast.Gt: operator.gt,
    ast.GtE: operator.ge,
}
_STRING = lazy_pattern(r"(\"[^\"]*\"|'[^']*')")
# Outside strings: without comments, operators of Python's own, and letters that Python takes for
# other ones.
_ALLOWED = lazy_pattern(r"[A-Za-z0-9_\s.,()\[\]<>=!-]*")
_GLUED_NUMBER = lazy_pattern(r"(?<!\w)\d[\d.]*[A-Za-z_]")  # 0.5and, 1e3, 0x10
_STARTS_WITH = lazy_pattern(r"\bstarts_with\b")  # `@`, an operator that conditions do not have
_TEST_NAME = lazy_pattern(r"\b(?!(?:and|or|not|in)\b)[A-Za-z_]\w*\s*$")  # panel_missing "x"
_PLURAL = lazy_pattern(r"s(?=_|$)")
_CONSTANTS = {"true": True, "false": False}


class NotACondition(ValueError):
    """A text that is not written in this language."""


@dataclass(frozen=True, slots=True)
class Several:
    """The values of one name, or what a test comes to for each file; None is an unknown value.
    `quantifier` is `any`, `all` or `no`; empty where the condition does not say."""

    values: Sequence[Any]
    quantifier: str = ""
    words: Sequence[str] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Facts:
    """What is known: single values, several values of one name, tests with an argument, and the
    only words that the values of a name can be."""

    values: Mapping[str, Any] = field(default_factory=dict)
    lists: Mapping[str, Sequence[Any]] = field(default_factory=dict)
    tests: Mapping[str, Callable[[Any], bool | Several | None]] = field(default_factory=dict)
    words: Mapping[str, Sequence[str]] = field(default_factory=dict)

    def with_values(self, values: Mapping[str, Any]) -> Facts:
        """Return the facts with these values besides."""
        return replace(self, values={**self.values, **values})

    def several(self, name: str) -> Several | None:
        """Return the list that a name stands for; `no_policy_flags` is no `policy_flag`."""
        quantifier, _, rest = name.partition("_")
        if quantifier not in ("any", "all", "no"):
            quantifier, rest = "", name
        for spelling in (rest, _PLURAL.sub("", rest)):
            if spelling in self.lists:
                words = self.words.get(spelling, ())
                return Several(self.lists[spelling], quantifier, words)
        return None


@dataclass(frozen=True, slots=True)
class ConditionOutcome:
    """True, false, or None where that is not known, and why: what is unknown, or what is wrong with
    the text."""

    value: bool | None
    unknown: str = ""


def evaluate(condition: str, facts: Facts, *, mixed: bool | None) -> ConditionOutcome:
    """Return what a condition comes to.

    `mixed` is what a comparison without a quantifier comes to that holds for some of several
    values: a rule that stops a change takes True, one that approves False.
    """
    evaluator = _Evaluator(facts, mixed)
    try:
        value = evaluator.truth(parse(condition))
    except NotACondition as problem:
        return ConditionOutcome(None, f"it can't be read: {problem}")
    except RecursionError:
        return ConditionOutcome(None, "it is nested too deep")
    unknown = ", ".join(dict.fromkeys(evaluator.unknown)) or "a comparison of unlike values"
    return ConditionOutcome(value, f"not known here: {unknown}" if value is None else "")


def parse(condition: str) -> ast.expr:
    """Return the tree of a condition; NotACondition where it has none."""
    if len(condition) > LONGEST:
        raise NotACondition(f"it is longer than {LONGEST:,} characters")
    pieces = _STRING.split(condition.strip())
    for number in range(0, len(pieces), 2):
        piece = pieces[number]
        is_between = 0 < number < len(pieces) - 1
        is_readable = _ALLOWED.fullmatch(piece) and not _GLUED_NUMBER.search(piece)
        if not is_readable or (is_between and not piece.strip()):
            raise NotACondition(f"{piece.strip()[:40]!r} is not expected there")
        pieces[number] = _STARTS_WITH.sub("@", piece)
    for number in range(1, len(pieces), 2):
        literal = repr(pieces[number][1:-1])
        is_argument = _TEST_NAME.search(pieces[number - 1])
        pieces[number] = f"({literal})" if is_argument else literal
    try:
        return ast.parse("".join(pieces), mode="eval").body
    except (SyntaxError, ValueError, MemoryError) as error:
        raise NotACondition(getattr(error, "msg", str(error))) from None


class _Evaluator(ast.NodeVisitor):
    def __init__(self, facts: Facts, mixed: bool | None) -> None:
        self.facts = facts
        self.mixed = mixed
        self.unknown: list[str] = []

    def truth(self, node: ast.expr) -> bool | None:
        """Return what a part comes to as a condition; a value that is no truth value is
        unknown."""
        value = self.visit(node)
        if isinstance(value, Several) and all(
            isinstance(each, bool | None) for each in value.values
        ):
            value = None if value.quantifier else self.quantify(value, value.values)
        return value if isinstance(value, bool) else None

    def operand(self, node: ast.expr) -> Any:
        """Return the value of one side of a comparison, for which nothing says in which direction
        mixed values count."""
        mixed, self.mixed = self.mixed, None
        value = self.visit(node)
        self.mixed = mixed
        return value

    def generic_visit(self, node: ast.AST) -> Any:
        raise NotACondition(f"{ast.unparse(node)} is no condition")

    def visit_Constant(self, node: ast.Constant) -> Any:
        return node.value if isinstance(node.value, str | bool | int | float) else None

    def visit_List(self, node: ast.List) -> list[Any]:
        return [self.operand(member) for member in node.elts]

    def visit_Name(self, node: ast.Name) -> Any:
        if node.id in _CONSTANTS:
            return _CONSTANTS[node.id]
        value = self.facts.several(node.id) or self.facts.values.get(node.id)
        return self.known(value, node)

    def visit_UnaryOp(self, node: ast.UnaryOp) -> Any:
        if isinstance(node.op, ast.USub):
            value = self.operand(node.operand)
            return -value if _is_number(value) else None
        if not isinstance(node.op, ast.Not):
            return self.generic_visit(node)
        self.mixed = _negate(self.mixed)
        value = _negate(self.truth(node.operand))
        self.mixed = _negate(self.mixed)
        return value

    def visit_BoolOp(self, node: ast.BoolOp) -> bool | None:
        return _join(isinstance(node.op, ast.Or), [self.truth(part) for part in node.values])

    def visit_Call(self, node: ast.Call) -> Any:
        if len(node.args) != 1 or node.keywords:
            return self.generic_visit(node)
        return self.test(node, ast.unparse(node.func), node.args[0])

    def visit_Subscript(self, node: ast.Subscript) -> Any:
        """`files_changed_in ["db/"]` is a test whose argument is a list."""
        members = node.slice.elts if isinstance(node.slice, ast.Tuple) else [node.slice]
        return self.test(node, ast.unparse(node.value), ast.List(list(members)))

    def visit_BinOp(self, node: ast.BinOp) -> bool | None:
        return self.compare(node)

    def visit_Compare(self, node: ast.Compare) -> bool | None:
        return self.compare(node)

    def compare(self, node: ast.expr) -> bool | None:
        left, sign, right = _comparison(node)
        value = self.operand(left)
        words = self.facts.words.get(ast.unparse(left), ())
        several = value if isinstance(value, Several) else Several([value], "all", words)
        outcome = self.quantify(several, self.outcomes(several, sign, right))
        self.known(outcome, left)
        return outcome

    def known(self, value: Any, node: ast.expr) -> Any:
        """Return a value, and note what is to blame where it is unknown."""
        if value is None and not isinstance(node, ast.Constant):
            self.unknown.append(ast.unparse(node))
        return value

    def test(self, node: ast.expr, name: str, argument: ast.expr) -> Any:
        if name == "count":
            return self.known(self.count(argument), node)
        known = self.facts.tests.get(name)
        return self.known(known(self.operand(argument)) if known else None, node)

    def count(self, argument: ast.expr) -> int | None:
        """Return how many values a name has, or of how many a comparison holds."""
        if isinstance(argument, ast.Name):
            several = self.operand(argument)
            return len(several.values) if isinstance(several, Several) else None
        left, sign, right = _comparison(argument)
        several = self.operand(left)
        if not isinstance(several, Several):
            return None
        outcomes = self.outcomes(several, sign, right)
        return None if None in outcomes else sum(map(bool, outcomes))

    def outcomes(self, several: Several, sign: type[ast.AST], right: ast.expr) -> list[bool | None]:
        wanted = self.operand(right)
        if not several.values and not isinstance(wanted, str | list):
            return [None]  # the values of a list are words, also where there are none
        return [_compare(value, sign, wanted, several.words) for value in several.values]

    def quantify(self, several: Several, outcomes: Sequence[bool | None]) -> bool | None:
        if several.quantifier == "all":
            return _join(False, outcomes)
        if several.quantifier:
            holds = _join(True, outcomes)
            return _negate(holds) if several.quantifier == "no" else holds
        if None in outcomes or not outcomes:
            return None
        return outcomes[0] if len(set(outcomes)) == 1 else self.mixed


def _comparison(node: ast.expr) -> tuple[ast.expr, type[ast.AST], ast.expr]:
    match node:
        case ast.Compare(left=left, ops=[sign], comparators=[right]):
            return left, type(sign), right
        case ast.BinOp(left=left, op=ast.MatMult() as sign, right=right):
            return left, type(sign), right
    raise NotACondition(f"{ast.unparse(node)} is no comparison of two")


def _compare(left: Any, sign: type[ast.AST], right: Any, words: Sequence[str]) -> bool | None:
    """Return None where two values can't be compared: a text is not unequal to a number."""
    if left is None:
        return None
    if sign in (ast.In, ast.NotIn) and isinstance(right, list) and right:
        is_in = _join(True, [_compare(left, ast.Eq, member, words) for member in right])
        return is_in if sign is ast.In else _negate(is_in)
    if isinstance(left, str) and isinstance(right, str):
        return _compare_texts(left.strip().casefold(), sign, right.strip().casefold(), words)
    if _is_number(left) and _is_number(right):
        return _SIGNS[sign](left, right) if sign in _SIGNS else None
    if isinstance(left, bool) and isinstance(right, bool) and sign in (ast.Eq, ast.NotEq):
        return _SIGNS[sign](left, right)
    return None


def _compare_texts(left: str, sign: type[ast.AST], right: str, words: Sequence[str]) -> bool | None:
    if sign is ast.MatMult:
        return left.startswith(right)
    if sign in (ast.Eq, ast.NotEq):
        # no finding is `severe`, and that does not mean that none is severe
        return _SIGNS[sign](left, right) if not words or right in words else None
    if sign in _SIGNS and left in RISKS and right in RISKS:
        return _SIGNS[sign](RISKS.index(left), RISKS.index(right))
    return None


def _is_number(value: object) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)


def _negate(value: bool | None) -> bool | None:
    return None if value is None else not value


def _join(decisive: bool, values: Sequence[bool | None]) -> bool | None:
    """Return `decisive` where one value is that, None where one is unknown, else the opposite."""
    if decisive in values:
        return decisive
    return None if None in values else not decisive
