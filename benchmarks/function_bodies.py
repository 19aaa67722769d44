"""Where the bodies of functions stand in a file of code, by grammars and by Python's `ast`.

For `form_checks`: of a body, a smaller form has all statements or none. Functions and classes
inside of one are judged by themselves.
"""

import ast
from collections.abc import Iterator
from dataclasses import dataclass
from importlib import import_module

from tree_sitter import Language, Node, Parser

from foreword.text.content_type import GRAMMARS

_LANGUAGES = {
    "typescript": "language_typescript",
    "tsx": "language_tsx",
    "php": "language_php",
}
_FENCE_WORDS = {"py": "python", "js": "javascript", "ts": "typescript", "sh": "bash", "rb": "ruby"}
_FUNCTIONS = (
    "function_declaration function_definition function_item method_declaration method_definition"
    " method constructor_declaration singleton_method"
).split()
_DEFINITIONS = (
    *_FUNCTIONS,
    "class_declaration",
    "class_specifier",
    "impl_item",
    "class",
    "arrow_function",
    "function_expression",
    "closure_expression",
    "lambda_expression",
    "func_literal",
)


@dataclass(frozen=True, slots=True)
class Body:
    """The lines of a body: the first and the last, and those of its statements."""

    first: int
    last: int
    lines: frozenset[int]


def bodies(text: str, kind: str) -> Iterator[Body]:
    """The bodies of the functions in a text; none where it can't be read."""
    if kind == "python":
        yield from _python_bodies(text)
    elif kind in GRAMMARS:
        root = _root(text, kind)
        if not root.has_error:
            yield from _grammar_bodies(root)


def bodies_in_fence(lines: list[str], opening: int, closing: int) -> Iterator[Body]:
    """The bodies in a code block of Markdown, by the word behind its fence."""
    word = lines[opening].strip().strip("`~").split(" ")[0].lower()
    kind = _FENCE_WORDS.get(word, word)
    if kind != "python" and kind not in GRAMMARS:
        return
    text = "".join(lines[opening + 1 : closing])
    first = opening + 1
    try:
        found = list(bodies(text, kind))
    except SyntaxError:
        return
    for body in found:
        shifted = frozenset([first + at for at in body.lines])
        yield Body(first + body.first, first + body.last, shifted)


def is_valid(text: str, kind: str) -> bool:
    """Whether a grammar reads a text without an error; not so where there is none for it."""
    return kind in GRAMMARS and not _root(text, kind).has_error


def _root(text: str, kind: str) -> Node:
    module = import_module(GRAMMARS[kind])
    language = Language(getattr(module, _LANGUAGES.get(kind, "language"))())
    return Parser(language).parse(text.encode()).root_node


def _python_bodies(text: str) -> Iterator[Body]:
    for node in ast.walk(ast.parse(text.lstrip("\ufeff"))):
        if not isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            continue
        lines: set[int] = set()
        has_docstring = ast.get_docstring(node) is not None
        for statement in node.body[1:] if has_docstring else node.body:
            inner = [each for each in ast.walk(statement) if _is_definition(each)]
            if not inner:
                lines.update(range(statement.lineno - 1, statement.end_lineno or 0))
        at = node.lineno - 1
        if at in lines:
            continue  # on one line with its signature
        yield Body(at, at, frozenset(lines))


def _is_definition(node: ast.AST) -> bool:
    return isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef)


def _grammar_bodies(root: Node) -> Iterator[Body]:
    waiting = [root]
    while waiting:
        node = waiting.pop()
        waiting += node.children
        body = node.child_by_field_name("body")
        if node.type not in _FUNCTIONS or body is None:
            continue
        first = body.start_point.row
        last = body.end_point.row
        lines: set[int] = set()
        for statement in body.named_children:
            if "comment" in statement.type or statement.type in _DEFINITIONS:
                continue
            end = statement.end_point.row
            # One that defines something on the way (`const run = memo(() => {`) is there by its
            # first line.
            if _holds_definition(statement):
                end = statement.start_point.row
            lines.update(range(statement.start_point.row, end + 1))
        yield Body(first, last, frozenset(lines - {first, last}))


def _holds_definition(node: Node) -> bool:
    waiting = [node]
    while waiting:
        inner = waiting.pop()
        if inner.type in _DEFINITIONS:
            return True
        waiting += inner.children
    return False
