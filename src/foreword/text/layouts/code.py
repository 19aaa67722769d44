"""The pieces of code in a language with a grammar in `foreword[code]`, else by its indentation.

A definition keeps its signature and the line that closes it; its body stays or goes whole, and
fields stay with what they are fields of. Without a grammar the blocks stay or go whole. Python has
its own module.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from functools import cache
from importlib import import_module
from typing import TYPE_CHECKING

from foreword.pattern import lazy_pattern
from foreword.text.content_type import GRAMMARS
from foreword.text.division import CHUNK_CHARS, join_small, line_units, lines, rows_of
from foreword.text.layouts.code_outline import FIELD_RUN, CodeOutline
from foreword.text.pieces import Layout, LayoutBuilder, Over

if TYPE_CHECKING:
    from tree_sitter import Node, Parser

# What holds members of its own, by the name of the node: its fields are kept, its methods outlined.
_MEMBER_LISTS = frozenset(
    "class_body declaration_list field_declaration_list interface_body object_type enum_body"
    " enum_variant_list enumerator_list interface_type struct_type enum_declaration_list"
    " enum_member_declaration_list body_statement_of_class".split()
)
_BODIES = frozenset(
    "statement_block block compound_statement body_statement constructor_body function_body"
    " do_block switch_block".split()
)
_COMMENTS = frozenset("comment line_comment block_comment".split())
_LEADS = _COMMENTS | {"attribute_item", "decorator"}
_BRANCHES = frozenset("preproc_else preproc_elif preproc_elifdef".split())
_GUARDS = _BRANCHES | frozenset("preproc_ifdef preproc_if".split())
_TRANSPARENT = ("namespace", "linkage", "mod_item")
_MODIFIERS = frozenset("public protected private".split())
_RUBY_CONTAINERS = frozenset("class module singleton_class".split())
# Nodes below a statement in which its body is looked for: `export const f = memo(() => {` is five.
_DEPTH = 7
# Lines of a body that is looked into, where it holds definitions of its own (a test suite is one
# call): a shorter one stays or goes whole.
_LONG_BODY = 30
_LEAST_INNER = 2  # definitions inside it
# In the name of a node that owns a block: it defines something, or is given a block to call.
_DEFINES = lazy_pattern(r"func|method|lambda|closure|class|constructor|call\Z|accessor|impl")
_CALLS = frozenset("expression_statement call call_expression command method_call".split())
# A line that closes what an earlier one opened, or opens what that begins: never a block's first.
# Of languages without a grammar most have words of their own for it: `endif`, `End Sub`, `#endif`,
# `{% endfor %}`.
_FRAMES = lazy_pattern(
    r"""
    \s*+(?:
        [})\]] | [{(]\s*\Z
        | (?:[#%@.] | \{%-?\s*+ | <%-?\s*+)?
          (?i:end | end_?(?:if|for|foreach|while|function|macro|case|switch|sub|module|class|block
              |try|struct|loop|do|def|proc|procedure|program|interface|task|property|select|with
              |unless|raw|call|filter|comment|define|group|rule|data)
            | fi | done | esac | od | else | elif | elseif | elsif | elifdef | until | wend
            | except | catch | finally | rescue | ensure)\b
    )""",
    re.VERBOSE,
)
# Of the lines: a file that breaks off, or with a word that is newer than the grammar, has fewer.
_MOST_UNREAD = 0.3
_ENDLESS = 600  # characters of a line: five times the longest that formatters leave
# Lines beside the long ones: a banner and what loads a module. At double, a component of a page
# with a picture in it would lose single statements.
_FEW_ROWS = 6
_GOES_ON = lazy_pattern(r"\s*\.\.\.(?:\s|\Z)")  # of a session with Python
_COMMENT = lazy_pattern(r"\s*(?://|#(?!\w|!|\[)|--|%|;|/?\*|(?i:@?rem|dnl)\b)")
# Comments, and what stands between quotes; what is left of quotes is open.
_SQL_WORDS = lazy_pattern(
    r"--[^\n]*|/\*.*?\*/|'(?:[^']|'')*'|(?P<quote>\$\w*\$).*?(?P=quote)|^\\[^\n]*",
    re.DOTALL | re.MULTILINE,
)
_SQL_QUOTE = lazy_pattern(r"\$\w*\$|'|/\*")
_SQL_ENDS = (";", "/", "GO", "go")
_INDENT = lazy_pattern(r"[ \t]*")
# What opens a comment or a text over several lines, at the beginning of a line, and what ends it.
_SPAN_ENDS = {
    "/*": "*/",
    "(*": "*)",
    "{-": "-}",
    "--[[": "]]",
    "#=": "=#",
    "<#": "#>",
    "<!--": "-->",
    '"""': '"""',
}
_OPENS_SPAN = lazy_pattern(rf"\s*(?P<sign>{'|'.join(map(re.escape, _SPAN_ENDS))})")
_LONGEST_SPAN = 200  # lines in which one has to end: what is longer is none, or has another sign
_STATEMENT = lazy_pattern(r"[^;{}]*[;{}]+\s*|[^;{}]+\Z")


def layout(text: str, language: str, over: Over) -> Layout:
    """The pieces of a file of code."""
    rows = rows_of(text)
    if _is_minified(rows, over):
        return _minified_layout(lines(text), over)
    parser = parser_of(language) if language in GRAMMARS else None
    if parser is None:
        return indented_layout(text, over)
    tree = _syntax_tree(parser, text)
    if _is_misread(tree, len(rows)):
        return indented_layout(text, over)
    outline = _GrammarOutline(rows, LayoutBuilder(), over)
    outline.add_members(tree.children, parents=[], depth=0, last=len(rows))
    outline.builder.add(outline.take(len(rows)), "code", rank=2)
    return outline.builder.layout("outline")


def _is_misread(tree: _Node, rows: int) -> bool:
    """Whether a grammar makes nothing of much of a text: it is in another language, as a
    stylesheet that was taken for a program."""
    unread = sum(len(node.lines) for node in tree.children if node.type == "ERROR")
    return tree.type == "ERROR" or unread > _MOST_UNREAD * rows


def is_understood(text: str, language: str) -> bool:
    """Whether a grammar reads a text without an error."""
    parser = parser_of(language)
    if parser is None:
        return False
    return not parser.parse(text.encode("utf-8", "replace")).root_node.has_error


@cache
def parser_of(language: str) -> Parser | None:
    """The parser for a language; None without the grammars."""
    try:
        from tree_sitter import Language, Parser

        grammar = import_module(GRAMMARS[language])
    except ImportError:
        return None
    names = {"typescript": "language_typescript", "tsx": "language_tsx", "php": "language_php"}
    return Parser(Language(getattr(grammar, names.get(language, "language"))()))


@dataclass(slots=True, kw_only=True)
class _Node:
    """A named node of a syntax tree, in lines and bytes; of one on a single line nothing inside."""

    type: str
    first_row: int
    first_column: int
    end_row: int
    end_column: int
    children: list[_Node] = field(default_factory=list)

    @property
    def last_row(self) -> int:
        """The last line it has a character on."""
        if self.end_column == 0 and self.end_row > self.first_row:
            return self.end_row - 1
        return self.end_row

    @property
    def lines(self) -> range:
        """The lines it has characters on."""
        return range(self.first_row, self.last_row + 1)


def _syntax_tree(parser: Parser, text: str) -> _Node:
    """The tree as plain values: nodes of the parser's own crash the process in some of its
    versions when they are held for longer than a moment."""
    tree = parser.parse(text.encode("utf-8", "replace"))
    cursor = tree.walk()
    root = _Node(type="", first_row=0, first_column=0, end_row=0, end_column=0)
    around = [root]
    is_below = True
    while around:
        if is_below:
            node = cursor.node
            if node is not None:
                around.append(_plain_node(node))
        here = around[-1]
        if is_below and here.end_row > here.first_row and cursor.goto_first_child():
            continue
        done = around.pop()
        if cursor.node is not None and cursor.node.is_named:
            around[-1].children.append(done)
        is_below = cursor.goto_next_sibling()
        if not is_below and not cursor.goto_parent():
            break
    return root.children[0] if root.children else root


def _plain_node(node: Node) -> _Node:
    start, end = node.start_point, node.end_point
    return _Node(
        type=node.type,
        first_row=start.row,
        first_column=start.column,
        end_row=end.row,
        end_column=end.column,
    )


BodyOf = Callable[[_Node], _Node | None]


class _GrammarOutline(CodeOutline):
    """The outline of a file of code."""

    def add_members(
        self,
        nodes: Sequence[_Node],
        *,
        parents: Sequence[int],
        depth: int,
        last: int,
        body_of: BodyOf | None = None,
    ) -> list[int]:
        """Add what stands in a file, a class or a long body; returns the plain statements and
        fields, and in a function what else it does. `body_of` tells what may be elided of one (any
        block of its own unless said)."""
        body_of = body_of or _body
        plain: list[int] = []
        comments = {row for node in nodes if node.type in _COMMENTS for row in node.lines}
        members = [node for node in nodes if node.type not in _LEADS]
        around = list(parents)
        modifier: list[int] = []  # `private:`, which holds for all that follows it
        is_first = True  # of those that are one piece
        for index, node in enumerate(members):
            end = min(node.last_row + 1, last)
            if end <= self.done:
                continue
            if is_first:
                comment = self.add_comments(node.first_row, comments.__contains__, parents)
                around = [*parents, *modifier, *comment]
            if is_first and self._is_modifier(node):
                modifier = self.builder.add(self.take(end), "code", needs=parents)
                plain += modifier
                continue
            body = body_of(node)
            following = members[index + 1] if index + 1 < len(members) else None
            if following and self._is_modifier(following):
                following = None
            is_plain = following is not None and body_of(following) is None
            is_first = True
            if body is not None and body.first_row >= self.done:
                header = self._add_definition(node, body, parents=around, depth=depth, last=end)
                # In a function it is a statement as others are: `let done = each(|it| {`.
                plain += header if body_of is _definition_body else []
            elif following and self._is_one_piece(node, following, depth, is_plain=is_plain):
                is_first = False
            else:
                rank = 0 if not depth and not _is_import(node) else 1
                plain += self.builder.add(self.take(end), "code", needs=around, rank=rank)
        return plain

    def _is_modifier(self, node: _Node) -> bool:
        """Whether a line says who may use what follows it, as Ruby and C++ have it."""
        line = self.rows[node.first_row].strip()
        return node.first_row == node.last_row and line.rstrip(":") in _MODIFIERS

    def _is_one_piece(self, node: _Node, following: _Node, depth: int, *, is_plain: bool) -> bool:
        """Whether two neighbours are one piece: fields, imports, and what shares a line; `is_plain`
        says that nothing can be elided of the second."""
        if following.first_row <= node.last_row:
            return True
        if not is_plain or following.last_row + 1 - self.done > FIELD_RUN:
            return False
        return depth > 0 or (_is_import(node) and _is_import(following))

    def _add_definition(
        self, node: _Node, body: _Node, *, parents: Sequence[int], depth: int, last: int
    ) -> list[int]:
        """Add what is defined with a body; returns the place of its signature."""
        first, end = _inside(body, self.rows)
        header = self.builder.add(self.take(first), "code", needs=parents, rank=min(1, depth))
        around = [*parents, *header]
        children = body.children
        if _is_transparent(node, body):
            self.add_members(children, parents=around, depth=depth, last=end)
        elif _holds_members(node, body):
            fields = self.add_members(children, parents=around, depth=depth + 1, last=end)
            self.bring_fields(header, fields)
        elif end - first > _LONG_BODY and _has_definitions(children, body_of := _body_in(node)):
            rest = self.add_members(
                children, parents=around, depth=depth + 1, last=end, body_of=body_of
            )
            for at in rest:  # of statements all or none
                self.builder.require(at, rest)
        body_text = self.take(end)
        self.builder.add(body_text, "code", needs=around, rank=2 + min(1, depth))
        closing = self.builder.add(self.take(last), "closing", needs=around, rank=2)
        if header:
            self.builder.require(header[0], closing)
        return header


def _is_import(node: _Node) -> bool:
    return any(word in node.type for word in ("import", "include", "use_", "using", "package"))


def _body(node: _Node) -> _Node | None:
    """The longest block inside a statement that has lines of its own, or None."""
    if node.type in _GUARDS:
        return node if node.last_row - node.first_row > 1 else None
    longest = None
    most = 1
    level = [node]
    for _ in range(_DEPTH):
        below: list[_Node] = []
        for parent in level:
            for child in parent.children:
                rows = child.end_row - child.first_row
                if rows <= most:
                    continue
                below.append(child)
                if child.type in _BODIES or child.type in _MEMBER_LISTS:
                    longest = child
                    most = rows
        level = below
    return longest


def _inside(body: _Node, rows: Sequence[str]) -> tuple[int, int]:
    """The lines strictly inside a block: from the first up to the second."""
    if body.type in _GUARDS:
        first = body.first_row + 1
        while first < len(rows) and rows[first - 1].rstrip().endswith("\\"):
            first += 1  # the condition goes on
        return first, body.last_row + (body.type in _BRANCHES)  # whose `#endif` is not its own
    row = rows[body.first_row].encode("utf-8", "replace")
    has_bracket = row[body.first_column :].lstrip().startswith((b"{", b"(", b"["))
    if not has_bracket and not row[: body.first_column].strip():
        return body.first_row, body.last_row + 1
    return body.first_row + 1, body.end_row


def _holds_members(node: _Node, body: _Node) -> bool:
    if body.type in _MEMBER_LISTS or body.type in _GUARDS:
        return True
    return body.type == "body_statement" and node.type in _RUBY_CONTAINERS


def _is_transparent(node: _Node, body: _Node) -> bool:
    """Whether what stands inside is as if it stood outside: a namespace, a guard; not the body of
    a single function behind `extern "C"`."""
    if node.type in _GUARDS:
        return True
    return body.type in _MEMBER_LISTS and any(word in node.type for word in _TRANSPARENT)


def _has_definitions(nodes: Sequence[_Node], body_of: BodyOf) -> bool:
    return sum(1 for node in nodes if body_of(node) is not None) >= _LEAST_INNER


def _body_in(node: _Node) -> BodyOf:
    """What may be elided of a statement inside of this one: of a suite, which is a call, that of
    its cases, too."""
    return _case_body if node.type in _CALLS else _definition_body


def _definition_body(node: _Node) -> _Node | None:
    """What may be elided of a statement inside of a function: the body of a function or a class
    that it defines, never that of a loop, a condition or a call, which is what it does."""
    return None if node.type in _CALLS else _case_body(node)


def _case_body(node: _Node) -> _Node | None:
    body = _body(node)
    if body is None or body.type in _MEMBER_LISTS:
        return body
    owner = _parent_of(node, body)
    return body if owner is not None and _DEFINES.search(owner.type) else None


def _parent_of(node: _Node, wanted: _Node) -> _Node | None:
    waiting = [node]
    while waiting:
        parent = waiting.pop()
        if any(child is wanted for child in parent.children):
            return parent
        waiting += parent.children
    return None


def _is_minified(rows: Sequence[str], over: Over) -> bool:
    """Whether most of the code is in lines that no person writes, or is larger than the whole
    room; where people wrote the other lines, one long string among them changes nothing."""
    start = 0
    long_chars = 0
    long_rows = 0
    short_rows = 0
    for row in rows:
        if len(row) > 2 * CHUNK_CHARS and (len(row) > _ENDLESS or over(start, row)):
            long_chars += len(row)
            long_rows += 1
        elif row.strip() and not _COMMENT.match(row):
            short_rows += 1
        start += len(row)
    return 2 * long_chars > start and short_rows <= long_rows + _FEW_ROWS


def _minified_layout(rows: Sequence[str], over: Over) -> Layout:
    """The pieces of code without line breaks: lines, and of endless ones statements."""
    builder = LayoutBuilder()
    for row in rows:
        parts = [row]
        if over(builder.start, row):
            parts = list(join_small(_STATEMENT.findall(row), CHUNK_CHARS))
        for part in parts:
            builder.add(part, "code", begins="sentence")
    return builder.layout("sequence")


# --- by indentation -------------------------------------------------------------------------------


def indented_layout(text: str, over: Over) -> Layout:
    """The pieces of code that no grammar reads: whole blocks, each a line with the deeper ones
    below it."""
    builder = LayoutBuilder()
    _add_blocks(builder, text, parents=[], depth=0, over=over)
    return builder.layout("outline")


def sql_layout(text: str, over: Over) -> Layout:
    """The pieces of SQL: whole statements, whose lines often stand at the margin."""
    builder = LayoutBuilder()
    for statement in _sql_statements(text):
        _add_block(builder, statement, parents=[], depth=0, over=over)
    return builder.layout("outline")


def _sql_statements(text: str) -> Iterator[str]:
    """The blocks of a script, those joined that one statement goes on over."""
    statement = ""
    for block in indented_blocks(text):
        statement += block
        bare = _SQL_WORDS.sub("", statement)
        is_over = bare.rstrip().endswith(_SQL_ENDS) or not bare.strip()
        if is_over and not _SQL_QUOTE.search(bare):
            yield statement
            statement = ""
    if statement:
        yield statement


def _add_blocks(
    builder: LayoutBuilder, text: str, *, parents: Sequence[int], depth: int, over: Over
) -> None:
    blocks = indented_blocks(text)
    for block in _with_runs(blocks) if depth else blocks:
        _add_block(builder, block, parents=parents, depth=depth, over=over)


def _add_block(
    builder: LayoutBuilder, block: str, *, parents: Sequence[int], depth: int, over: Over
) -> None:
    rows = rows_of(block)
    if _leading_comments(rows) == len(rows) and over(builder.start, block):
        for run in line_units(block):
            builder.add(run, "code", needs=parents, rank=min(2, depth), begins="sentence")
        return
    if not _is_nested(rows) or not over(builder.start, block) or depth > _DEPTH:
        builder.add(block, "code", needs=parents, rank=min(2, depth), divisible=_is_nested(rows))
    else:
        _add_divided_block(builder, rows, parents=parents, depth=depth, over=over)


def _is_nested(rows: Sequence[str]) -> bool:
    """Whether some lines are deeper than others, so that there is something to divide."""
    indents = {_indent(row) for row in rows if row.strip()}
    return len(rows) > 2 and len(indents) > 1


def _with_runs(blocks: Iterable[str]) -> Iterator[str]:
    """The blocks inside of another one: neighbours of a single line are statements, of which all
    stay or none."""
    run = ""
    for block in blocks:
        if len(rows_of(block.rstrip())) == 1:
            run += block
            continue
        if run:
            yield run
            run = ""
        yield block
    if run:
        yield run


def _add_divided_block(
    builder: LayoutBuilder, rows: list[str], *, parents: Sequence[int], depth: int, over: Over
) -> None:
    """Add a block that is larger than the whole room: its own lines (`} else {`, `}`), which stay
    together, and the blocks between them."""
    comments = _leading_comments(rows)
    if comments:
        builder.add("".join(rows[:comments]), "code", needs=parents, rank=min(2, depth + 1))
        rest = "".join(rows[comments:])
        _add_block(builder, rest, parents=parents, depth=depth, over=over)
        return
    edge = min([_indent(row) for row in rows if row.strip()])
    frame: list[int] = []
    inner = ""
    for row in [*rows, ""]:
        if row and (not row.strip() or _indent(row) > edge):
            inner += row
            continue
        around = [*parents, *frame[:1], *frame[-1:]]
        _add_blocks(builder, inner, parents=around, depth=depth + 1, over=over)
        inner = ""
        kind = "closing" if frame else "code"
        frame += builder.add(row, kind, needs=[*parents, *frame[:1]], rank=min(2, depth))
    builder.require(frame[0], frame[1:])


def _leading_comments(rows: Sequence[str]) -> int:
    """How many lines in front are nothing but comments."""
    count = 0
    is_open = False
    for row in rows:
        if not is_open and row.strip() and not _COMMENT.match(row):
            break
        is_open = (is_open or row.lstrip().startswith("/*")) and "*/" not in row
        count += 1
    return count


def indented_blocks(text: str) -> Iterator[str]:
    """The lines of the least indent, each with the comments in front of it and the deeper lines,
    blank ones and closing brackets that follow."""
    rows = rows_of(text)
    least = min([_indent(row) for row in rows if row.strip()], default=0)
    block = ""
    leads = False  # whether the block is nothing but comments so far
    is_apart = False  # whether a blank line stands in front
    inside = _rows_inside(rows)
    for at, row in enumerate(rows):
        deeper = not row.strip() or _indent(row) > least or at in inside
        is_comment = _COMMENT.match(row) is not None
        goes_on = deeper or leads or _GOES_ON.match(row) or _FRAMES.match(row)
        if block and (not goes_on or (leads and is_comment and is_apart and not deeper)):
            yield block
            block = ""
        leads = (is_comment or (leads and not row.strip())) and (leads or not block)
        is_apart = not row.strip()
        block += row
    if block:
        yield block


def _rows_inside(rows: Sequence[str]) -> set[int]:
    """The lines that go on what an earlier one began, whatever they are indented by: a comment
    or a text over several lines."""
    inside: set[int] = set()
    at = 0
    while at < len(rows):
        opened = _OPENS_SPAN.match(rows[at])
        closing = _SPAN_ENDS[opened["sign"]] if opened else ""
        end = at
        if opened and closing not in rows[at][opened.end() :]:
            last = min(len(rows), at + _LONGEST_SPAN)
            end = next((row for row in range(at + 1, last) if closing in rows[row]), at)
        inside.update(range(at + 1, end + 1))
        at = end + 1
    return inside


def _indent(row: str) -> int:
    found = _INDENT.match(row)
    return len(found[0].expandtabs(4)) if found else 0
