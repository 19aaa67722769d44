"""What a source file defines and imports: names, with the lines they stand on.

Python is read by its own `ast`, other languages by their grammars in `foreword[code]`, and without
those by the words that open a definition. Pure; how a file is divided for ranking is `regions`'
business.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass
from typing import TYPE_CHECKING

from foreword.pattern import lazy_pattern
from foreword.text.content_type import GRAMMARS
from foreword.text.layouts.code import parser_of
from foreword.text.layouts.python_code import parse

if TYPE_CHECKING:
    from tree_sitter import Node

MOST_DEFINITIONS = 3_000  # of one file: the largest hand-written one of ten projects has 700
_DEEPEST = 40  # nodes below each other that are looked into; hand-written code has half of it
_Function = ast.FunctionDef | ast.AsyncFunctionDef

_NAMED_NODES = lazy_pattern(
    r"function|method|class|struct|enum|interface|trait|impl_item|type_alias|type_spec|type_item"
    r"|module|namespace|constructor|object_declaration|record|mod_item"
)
_NO_DEFINITIONS = lazy_pattern(r"call|invocation|expression|_type\b|parameter|argument|specifier$")
_CONTAINERS = lazy_pattern(
    r"class|struct|interface|trait|impl|module|namespace|enum|object|mod_item|record"
)
_OPENS = lazy_pattern(
    r"^(?P<indent>[ \t]*)(?:(?:export|default|public|private|protected|internal|static|final"
    r"|abstract|async|override|virtual|inline|extern|unsafe|const|sealed|partial|open|data"
    r"|pub(?:\([\w:]+\))?)[ \t]+)*"
    r"(?P<kind>def|class|function\*?|func|fn|fun|interface|struct|enum|trait|impl|module|namespace"
    r"|type|sub|object|protocol|extension)[ \t]+(?:\([^()\n]{0,80}\)[ \t]*)?"
    r"(?P<name>[A-Za-z_$][\w$]*(?:(?:\.|::)[\w$]+)*)",
    re.MULTILINE,
)
_PYTHON_IMPORT = lazy_pattern(
    r"^[ \t]*(?:from[ \t]+(?P<base>[.\w]{1,200})[ \t]+import[ \t]+"
    r"(?P<names>\([^()]{0,5000}\)|[^\n#;]{1,500})|import[ \t]+(?P<modules>[\w., \t]{1,500}))",
    re.MULTILINE,
)
_IMPORTS = lazy_pattern(
    r"""^[ \t]*(?:
        import\s[^\n'"]{0,200}?from\s*['"](?P<script>[^'"\n]{1,200})['"]
      | import\s*['"](?P<bare>[^'"\n]{1,200})['"]
      | (?:const|let|var)\s[^\n=]{1,200}=\s*require\(\s*['"](?P<required>[^'"\n]{1,200})['"]
      | export\s[^\n'"]{0,200}?from\s*['"](?P<exported>[^'"\n]{1,200})['"]
      | require(?:_relative)?\s*\(?['"](?P<ruby>[^'"\n]{1,200})['"]
      | \#\s*include\s*"(?P<included>[^"\n]{1,200})"
      | (?:pub\s+)?use\s+(?P<rust>[\w:]{1,200})
      | import\s+(?:static\s+)?(?P<java>[\w.]{1,200})
      | using\s+(?P<sharp>[\w.]{1,200})\s*;
    )""",
    re.VERBOSE | re.MULTILINE,
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Definition:
    """A class, function or other named part of a file; lines count from 1, both ends included."""

    name: str
    owner: str = ""  # the classes around it, with dots
    kind: str = "function"
    first: int
    signature_last: int
    last: int

    @property
    def qualified_name(self) -> str:
        """Its name with those of the classes around it."""
        return f"{self.owner}.{self.name}" if self.owner else self.name


@dataclass(frozen=True, slots=True)
class FileDefinitions:
    """What one file defines, in the order of its lines, and the modules it imports."""

    definitions: tuple[Definition, ...] = ()
    imports: tuple[str, ...] = ()


def outline_of(text: str, language: str) -> FileDefinitions:
    """The definitions and imports of a file in a language as `content_type` names it."""
    if language == "python":
        # A carriage return or a form feed of its own is a line to the parser, and none to us.
        is_odd = "\f" in text or "\r" in text.replace("\r\n", "")
        module = None if is_odd else parse(text)
        if module is not None:
            with suppress(RecursionError):  # a thousand `elif`: looked for by words, below
                definitions = list(_python_definitions(module.body, owner=""))
                return FileDefinitions(tuple(definitions[:MOST_DEFINITIONS]), _python_imports(text))
    imports = tuple(dict.fromkeys(_imports(text)))
    parser = parser_of(language) if language in GRAMMARS else None
    if parser is not None:
        found = _grammar_definitions(parser.parse(text.encode("utf-8", "replace")).root_node)
        return FileDefinitions(tuple(found[:MOST_DEFINITIONS]), imports)
    if language in GRAMMARS or language in ("code", "sql", "python"):
        return FileDefinitions(tuple(_worded_definitions(text)[:MOST_DEFINITIONS]), imports)
    return FileDefinitions()


# --- Python ---------------------------------------------------------------------------------------


def _python_definitions(body: Sequence[ast.stmt], owner: str) -> Iterator[Definition]:
    for statement in body:
        if isinstance(statement, _Function | ast.ClassDef):
            first = min([statement.lineno, *[one.lineno for one in statement.decorator_list]])
            is_class = isinstance(statement, ast.ClassDef)
            yield Definition(
                name=statement.name,
                owner=owner,
                kind="class" if is_class else "function",
                first=first,
                signature_last=_signature_last(statement),
                last=statement.end_lineno or statement.lineno,
            )
            if is_class:
                inner = f"{owner}.{statement.name}" if owner else statement.name
                yield from _python_definitions(statement.body, inner)
        elif isinstance(statement, ast.Assign | ast.AnnAssign) and not owner:
            yield from _python_values(statement)
        elif isinstance(statement, ast.If | ast.Try | ast.With):
            yield from _python_definitions(statement.body, owner)
            if isinstance(statement, ast.If | ast.Try):
                yield from _python_definitions(statement.orelse, owner)
            if isinstance(statement, ast.Try):
                for handler in statement.handlers:
                    yield from _python_definitions(handler.body, owner)


def _python_values(statement: ast.Assign | ast.AnnAssign) -> Iterator[Definition]:
    targets = statement.targets if isinstance(statement, ast.Assign) else [statement.target]
    for target in targets:
        if isinstance(target, ast.Name):
            last = statement.end_lineno or statement.lineno
            yield Definition(
                name=target.id,
                kind="value",
                first=statement.lineno,
                signature_last=statement.lineno,
                last=last,
            )


def _signature_last(statement: _Function | ast.ClassDef) -> int:
    """The line that a signature ends on: the one in front of the body, or the body's own."""
    parts: list[ast.AST] = []
    if isinstance(statement, ast.ClassDef):
        parts += [*statement.bases, *statement.keywords]
    else:
        arguments = statement.args
        parts += [*arguments.args, *arguments.posonlyargs, *arguments.kwonlyargs]
        parts += [one for one in (arguments.vararg, arguments.kwarg, statement.returns) if one]
        parts += arguments.defaults
    ends = [getattr(part, "end_lineno", None) or 0 for part in parts]
    last = max([statement.lineno, *ends])
    first_of_body = statement.body[0].lineno
    # a bracket that closes on a line of its own
    return min(last + 1, first_of_body - 1) if last > statement.lineno else last


def _python_imports(text: str) -> tuple[str, ...]:
    """The modules that are imported anywhere in a file; a relative one with its dots. Searched for
    in the text: to walk the whole tree takes three times as long as to make it."""
    found: list[str] = []
    for match in _PYTHON_IMPORT.finditer(text):
        base, names, modules = match["base"], match["names"], match["modules"]
        if modules:
            found += [name.strip().partition(" ")[0] for name in modules.split(",")]
            continue
        found.append(base)
        joiner = "" if base.endswith(".") else "."
        for part in names.strip("()").split(","):
            name = part.strip().partition(" ")[0]
            if name.isidentifier():
                found.append(f"{base}{joiner}{name}")
    return tuple(dict.fromkeys(found))


# --- other languages ------------------------------------------------------------------------------


def _grammar_definitions(root: Node) -> list[Definition]:
    """What a syntax tree defines; each node is read at once and none is held."""
    found: list[Definition] = []
    _visit(root, "", 0, found)
    return found


def _visit(node: Node, owner: str, depth: int, found: list[Definition]) -> None:
    if depth > _DEEPEST or len(found) > MOST_DEFINITIONS:
        return
    for child in node.named_children:
        if child.end_point.row == child.start_point.row:
            continue
        name = _node_name(child)
        inner = owner
        if name:
            is_container = bool(_CONTAINERS.search(child.type))
            body = child.child_by_field_name("body")
            first = child.start_point.row + 1
            signature_last = first if body is None else max(first, body.start_point.row + 1)
            found.append(
                Definition(
                    name=name,
                    owner=owner,
                    kind="class" if is_container else "function",
                    first=first,
                    signature_last=min(signature_last, first + 8),
                    last=child.end_point.row + 1,
                )
            )
            if not is_container:
                continue
            inner = f"{owner}.{name}" if owner else name
        _visit(child, inner, depth + 1, found)


def _node_name(node: Node) -> str:
    """The name that a node defines, or nothing."""
    kind = node.type
    if kind in ("lexical_declaration", "variable_declaration"):
        return _arrow_name(node)
    if not _NAMED_NODES.search(kind) or _NO_DEFINITIONS.search(kind):
        return ""
    name = node.child_by_field_name("name") or node.child_by_field_name("type")
    declarator = node.child_by_field_name("declarator")
    for _ in range(6):
        if name is not None or declarator is None:
            break
        inner = declarator.child_by_field_name("declarator")
        if inner is None:
            name = declarator
        declarator = inner
    if name is None or name.text is None or len(name.text) > 100:
        return ""
    return name.text.decode("utf-8", "replace")


def _arrow_name(node: Node) -> str:
    """The name of a function that is the value of a constant, as in `const f = () => {`."""
    for child in node.named_children:
        value = child.child_by_field_name("value")
        name = child.child_by_field_name("name")
        if (
            value is not None
            and name is not None
            and "function" in value.type.replace("arrow", "function")
        ):
            return (name.text or b"").decode("utf-8", "replace")
    return ""


def _worded_definitions(text: str) -> list[Definition]:
    """What a file defines by the words that open a definition; each goes on to the next one of
    its indent or less."""
    opened: list[tuple[int, int, str, str]] = []
    line = 1
    at = 0
    for match in _OPENS.finditer(text):
        line += text.count("\n", at, match.start())
        at = match.start()
        opened.append((line, len(match["indent"].expandtabs(4)), match["name"], match["kind"]))
    end = text.count("\n") + 1
    found: list[Definition] = []
    for index, (first, indent, name, kind) in enumerate(opened):
        last = end
        for later, later_indent, _, _ in opened[index + 1 : index + 200]:
            if later_indent <= indent:
                last = later - 1
                break
        is_container = bool(_CONTAINERS.search(kind))
        found.append(
            Definition(
                name=name,
                kind="class" if is_container else "function",
                first=first,
                signature_last=first,
                last=last,
            )
        )
    return found


def _imports(text: str) -> Iterator[str]:
    for match in _IMPORTS.finditer(text):
        name = match.lastgroup
        if name:
            yield match[name]
