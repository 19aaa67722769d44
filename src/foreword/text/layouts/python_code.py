"""The pieces of Python code, by its own grammar: what an outline keeps, and the bodies it elides.

A definition's header holds its decorators, its signature and the first line of its docstring; a
class brings its fields. A body stays or goes whole, never a statement of it. With its marks read
as `...`, what is kept is Python again. Text that does not parse is laid out by its indentation.
"""

from __future__ import annotations

import ast
import warnings
from collections.abc import Sequence

from foreword.text.division import rows_of
from foreword.text.layouts.code_outline import FIELD_RUN, CodeOutline
from foreword.text.pieces import Layout, LayoutBuilder, Over

_MODULE_RANK = -1  # of what a module says of itself: before all that it defines
_QUOTES = ('"""', "'''")
_Definition = ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef
_Compound = ast.If | ast.Try | ast.TryStar | ast.With


def parse(text: str) -> ast.Module | None:
    """The module, or None where the text is no Python."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # on escapes in strings of the author's
            return ast.parse(text.removeprefix("\ufeff"))  # which the parser takes for a word
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return None


def layout(text: str, over: Over) -> Layout:
    """The pieces of a Python file."""
    module = parse(text)
    rows = rows_of(text)
    # A carriage return or a form feed of its own is a line to the parser, and none to us.
    if module is None or "\r" in text.replace("\r\n", "") or "\f" in text:
        from foreword.text.layouts.code import indented_layout

        return indented_layout(text, over)
    outline = _PythonOutline(rows, LayoutBuilder(), over)
    outline.add_docstring(module.body, needs=[], rank=_MODULE_RANK)
    outline.add_statements(outline.without_docstring(module.body), parents=[], depth=0)
    outline.add_rest()
    return outline.builder.layout("outline")


class _PythonOutline(CodeOutline):
    """The outline of a file of code."""

    def add_rest(self) -> None:
        self.builder.add(self.take(len(self.rows)), "code", rank=2)

    def add_statements(
        self, body: Sequence[ast.stmt], *, parents: Sequence[int], depth: int
    ) -> None:
        """Add the statements of a module or a class: each whole, imports and fields together,
        definitions as outlines."""
        fields: list[int] = []
        around = list(parents)
        is_first = True  # of those that are one piece
        for index, statement in enumerate(body):
            following = body[index + 1] if index + 1 < len(body) else None
            is_new = _first_line(statement) > self.done
            if is_first and is_new:
                top = _first_line(statement) - 1
                around = [*parents, *self.add_comments(top, self._is_comment, parents)]
            is_first = True
            if isinstance(statement, _Definition) and is_new:
                self._add_definition(statement, parents=around, depth=depth)
            elif is_new and self._holds_definitions(statement):
                self._add_compound(statement, parents=around, depth=depth)
            elif following is not None and self._goes_with(statement, following, depth > 0):
                is_first = False
            else:
                last = statement.end_lineno or 0
                fields += self.builder.add(self.take(last), "code", needs=around, rank=1)
        self.bring_fields(parents, fields)

    def _goes_with(self, statement: ast.stmt, following: ast.stmt, in_class: bool) -> bool:
        """Whether two neighbours are one piece: imports, fields, and what shares a line."""
        if following.lineno <= (statement.end_lineno or 0):
            return True
        if isinstance(following, _Definition) or self._holds_definitions(following):
            return False
        if (following.end_lineno or 0) - self.done > FIELD_RUN:
            return False
        return in_class or (_is_import(statement) and _is_import(following))

    def _holds_definitions(self, statement: ast.stmt) -> bool:
        """Whether a statement is a frame around definitions, as `if sys.platform == ...:` is."""
        if not isinstance(statement, _Compound):
            return False
        suites = _suites(statement)
        if any(_shares_line(suite[0], self.rows) for suite in suites):
            return False
        return any(isinstance(inner, _Definition) for suite in suites for inner in suite)

    def _add_compound(self, statement: ast.stmt, *, parents: Sequence[int], depth: int) -> None:
        """Add the definitions inside of a statement; its own lines (`else:`) stay together."""
        headers: list[int] = []
        for suite in _suites(statement):
            header = self.take(_header_end(suite[0], self.done + 1, self.rows))
            headers += self.builder.add(
                header, "code", needs=[*parents, *headers[:1]], rank=min(1, depth)
            )
            around = [*parents, headers[0], headers[-1]]
            self.add_statements(suite, parents=around, depth=depth + 1)
        self.builder.require(headers[0], headers[1:])

    def _add_definition(
        self, definition: _Definition, *, parents: Sequence[int], depth: int
    ) -> None:
        if _shares_line(definition.body[0], self.rows):
            last = definition.end_lineno or 0
            whole = self.take(last)
            self.builder.add(whole, "code", needs=parents, rank=_rank(definition, depth))
            return
        signature = self.take(_header_end(definition.body[0], definition.lineno, self.rows))
        rank = _rank(definition, depth)
        header = self.builder.add(signature, "code", needs=parents, rank=rank)
        around = [*parents, *header]
        self.add_docstring(definition.body, needs=around, rank=rank)
        rest = self.without_docstring(definition.body)
        if isinstance(definition, ast.ClassDef):
            self.add_statements(rest, parents=around, depth=depth + 1)
        self.builder.add(
            self.take(definition.end_lineno or 0), "code", needs=around, rank=2 + min(1, depth)
        )

    def _is_comment(self, row: int) -> bool:
        return self.rows[row].lstrip().startswith("#")

    def without_docstring(self, body: Sequence[ast.stmt]) -> Sequence[ast.stmt]:
        return body[1:] if _is_docstring(body) else body

    def add_docstring(self, body: Sequence[ast.stmt], *, needs: Sequence[int], rank: int) -> None:
        """Add a docstring: its first line, which the header brings along, the rest, and the quotes
        that close it."""
        if not _is_docstring(body):
            return
        start, last = body[0].lineno, body[0].end_lineno or 0
        closing = self.rows[last - 1].rstrip()[-3:] if last else ""
        if last - start < 2 or closing not in _QUOTES or body[0].lineno <= self.done:
            opening = self.builder.add(self.take(last), "code", needs=needs, rank=rank)
            self._bring_along(needs, opening)
            return
        says_nothing = self.rows[start - 1].strip(" \t\r\nrRuU") in _QUOTES
        opening = self.builder.add(self.take(start + says_nothing), "code", needs=needs, rank=rank)
        text = self.take(last)
        end = text.rstrip().rfind(closing)
        if not text[:end].rpartition("\n")[2].strip():
            end = text.rfind("\n", 0, end) + 1  # quotes on a line of their own
        self.builder.add(text[:end], "code", needs=opening, begins="sentence", rank=2)
        ending = self.builder.add(text[end:], "closing", needs=opening, begins="sentence", rank=2)
        self.builder.require(opening[0], ending)
        self._bring_along(needs, opening)

    def _bring_along(self, needs: Sequence[int], opening: Sequence[int]) -> None:
        if needs and opening:
            self.builder.require(needs[-1], opening)


def _rank(definition: _Definition, depth: int) -> int:
    """Of a definition in an outline: what others may call comes before constants, private helpers
    and methods."""
    return 0 if not depth and not definition.name.startswith("_") else 1


def _first_line(statement: ast.stmt) -> int:
    if not isinstance(statement, _Definition):
        return statement.lineno
    return min([statement.lineno, *[decorator.lineno for decorator in statement.decorator_list]])


def _suites(statement: ast.stmt) -> list[list[ast.stmt]]:
    """The blocks of a statement in their order: of an `if` also those of its `elif`."""
    if isinstance(statement, ast.With):
        return [statement.body]
    if isinstance(statement, ast.Try | ast.TryStar):
        handlers = [handler.body for handler in statement.handlers]
        suites = [statement.body, *handlers, statement.orelse, statement.finalbody]
        return [suite for suite in suites if suite]
    if not isinstance(statement, ast.If):
        return []
    below = statement.orelse
    is_elif = len(below) == 1 and isinstance(below[0], ast.If)
    if is_elif and below[0].col_offset == statement.col_offset:
        return [statement.body, *_suites(below[0])]
    return [suite for suite in (statement.body, below) if suite]


def _header_end(first: ast.stmt, least: int, rows: Sequence[str]) -> int:
    """The last line in front of the first statement of a body, comments and blank lines not
    counted."""
    last = _first_line(first) - 1
    while last > least and _is_idle(rows[last - 1]):
        last -= 1
    return last


def _shares_line(first: ast.stmt, rows: Sequence[str]) -> bool:
    """Whether a body begins on a line of what it is the body of, as in `def f(x): ...`."""
    if isinstance(first, _Definition):
        return False
    row = rows[first.lineno - 1].encode("utf-8", "replace")
    return bool(row[: first.col_offset].strip())


def _is_idle(row: str) -> bool:
    return not row.strip() or row.lstrip().startswith("#")


def _is_docstring(body: Sequence[ast.stmt]) -> bool:
    if not body or not isinstance(body[0], ast.Expr):
        return False
    value = body[0].value
    return isinstance(value, ast.Constant) and isinstance(value.value, str)


def _is_import(statement: ast.stmt) -> bool:
    """Whether a statement imports, or is a frame around imports alone (`if TYPE_CHECKING:`)."""
    if isinstance(statement, _Compound):
        inner = [one for suite in _suites(statement) for one in suite]
        plain = (ast.Import, ast.ImportFrom, ast.Assign, ast.Pass)
        return isinstance(inner[0], plain[:2]) and all(isinstance(one, plain) for one in inner)
    return isinstance(statement, ast.Import | ast.ImportFrom)
