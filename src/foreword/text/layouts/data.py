"""The pieces of JSON, YAML and files of settings: whole members, under what they are members of.

A mark inside JSON is a member of its own, inside YAML a comment, so that a smaller form is still
JSON or YAML: the line behind it that says how to get the rest is a comment in YAML, and in JSON
the only line that is none.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from itertools import pairwise

from foreword.pattern import lazy_pattern
from foreword.text.division import CHUNK_CHARS, rows_of
from foreword.text.pieces import Layout, LayoutBuilder, Over
from foreword.text.sentences import LONGEST_UNIT, sentences

# Characters of a member that stays or goes whole, whatever is inside: about ten short lines.
_SMALL_MEMBER = 300
_DEEPEST = 40  # levels that are looked into: below that, members are whole
_TOKEN = lazy_pattern(r'"(?>(?:[^"\\]|\\.)*)"|[{}\[\],]|[^\s{}\[\],"]+')
_LONG_STRING = lazy_pattern(
    r'(?P<head>\s*(?:"(?>(?:[^"\\]|\\.)*)"\s*:\s*)?")(?P<words>(?>(?:[^"\\]|\\.)*))(?P<tail>"\s*,?\s*)'
)
_ESCAPED_LINE = lazy_pattern(
    r"(?>(?:[^\\]|\\(?!n)[\s\S])*)(?>(?:\\n)+)|(?>(?:[^\\]|\\(?!n)[\s\S])+)"
)
_ESCAPED_CHUNK = lazy_pattern(rf"(?:\\u[0-9a-fA-F]{{4}}|\\.|[^\\]){{1,{CHUNK_CHARS}}}", re.DOTALL)
# What may stand behind a key, or the sign of an item, whose value is in the lines below.
_NO_VALUE = lazy_pattern(r"\s*(?:[&!]\S+\s*)*(?:#.*)?\Z")
_YAML_KEY = lazy_pattern(r"""(?:[^\s"'#\[{][^#\n]*?|"[^"]*"|'[^']*'):(?:\s|\Z)""")
_ITEM_SIGNS = lazy_pattern(r"\s*(?:-(?:\s+|\Z))*")
_ANCHOR = lazy_pattern(r"(?<![^\s:\[{,-])&(?P<name>[\w-]+)")
_ALIAS = lazy_pattern(r"(?<![^\s:\[{,-])\*(?P<name>[\w-]+)")
_OPENS_LIST = lazy_pattern(r"=[ \t]*\[[^\]\n]*$", re.MULTILINE)
_STRING_OR_COMMENT = lazy_pattern(r""""(?:[^"\\\n]|\\.)*"|'[^'\n]*'|#[^\n]*""")
# With the comments above it.
_SETTINGS_HEAD = lazy_pattern(
    r"(?>(?:\s*[#;][^\n]*\n)*)\s*\[(?P<entry>\[)?[ \t]*(?P<name>[^\]\n]*)"
)


@dataclass(slots=True, kw_only=True)
class _Container:
    """An object or a list in JSON: where it opens and closes, and where its members begin."""

    opens: int
    is_list: bool
    closes: int = -1
    starts: list[int] = field(default_factory=list)  # of its members, white space in front included
    inner: list[_Container | None] = field(default_factory=list)  # the value of each member


def json_layout(text: str, over: Over) -> Layout:
    """The pieces of a JSON text; one whose brackets do not match is code."""
    root = _containers(text)
    if root is None:
        from foreword.text.layouts.code import indented_layout

        return indented_layout(text, over)
    builder = LayoutBuilder()
    writer = _JsonPieces(text, builder, over)
    writer.add(root, 0, len(text), parents=[], kind="document", rank=0, depth=0)
    return builder.layout("outline")


def _containers(text: str) -> _Container | None:
    """The outermost object or list, with all that is inside."""
    root: _Container | None = None
    around: list[_Container] = []
    expects_member = False
    for token in _TOKEN.finditer(text):
        sign = token[0]
        if around and expects_member and sign not in "}]":
            around[-1].starts.append(token.start())
            around[-1].inner.append(None)
        expects_member = sign in "{[,"
        if sign in "{[":
            opened = _Container(opens=token.start(), is_list=sign == "[")
            if around and around[-1].inner:
                around[-1].inner[-1] = opened
            elif root is not None:
                return None
            root = root or opened
            around.append(opened)
        elif sign in "}]":
            if not around or around[-1].is_list != (sign == "]"):
                return None
            around.pop().closes = token.start()
    return root if root is not None and not around else None


@dataclass(slots=True)
class _JsonPieces:
    """The pieces of a JSON text under way."""

    text: str
    builder: LayoutBuilder
    over: Over

    def add(
        self,
        container: _Container,
        start: int,
        end: int,
        *,
        parents: Sequence[int],
        kind: str,
        rank: int,
        depth: int,
    ) -> None:
        """Add what lies between two offsets and has this container as its value."""
        unit = {"member": "member", "element": "item"}.get(kind, "")
        edges = self._edges(container)
        if depth > _DEEPEST or not self._is_divided(container, edges, start, end):
            self.builder.add(
                self.text[start:end], kind, needs=parents, rank=rank, unit=unit, divisible=True
            )
            return
        opening = self.builder.add(
            self.text[start : edges[0]], kind, needs=parents, rank=rank, unit=unit
        )
        inner_kind = "element" if container.is_list else "member"
        around = [*parents, *opening]
        for index, (at, stop) in enumerate(pairwise(edges)):
            inner = container.inner[index]
            # Of a list, its first elements before later ones: they tell what the others are.
            inner_rank = rank + 1 + ((index + 1).bit_length() - 1 if container.is_list else 0)
            if inner is not None:
                self.add(
                    inner,
                    at,
                    stop,
                    parents=around,
                    kind=inner_kind,
                    rank=inner_rank,
                    depth=depth + 1,
                )
            else:
                self._add_value(self.text[at:stop], inner_kind, around, inner_rank)
        closing = self.builder.add(self.text[edges[-1] : end], "closing", needs=around)
        self.builder.require(opening[0], closing)

    def _add_value(self, text: str, kind: str, needs: Sequence[int], rank: int) -> None:
        """Add a member without members; of words larger than the whole room the sentences."""
        unit = "item" if kind == "element" else "member"
        words = _LONG_STRING.fullmatch(text) if self.over(self.builder.start, text) else None
        if words is None:
            self.builder.add(text, kind, needs=needs, rank=rank, unit=unit, divisible=True)
            return
        head = self.builder.add(words["head"], kind, needs=needs, rank=rank, unit=unit)
        around = [*needs, *head]
        for part in _string_parts(words["words"]):
            self.builder.add(part, "string", needs=around, rank=rank + 1, begins="sentence")
        closing = self.builder.add(words["tail"], "closing", needs=around)
        self.builder.require(head[0], closing)

    def _edges(self, container: _Container) -> list[int]:
        """Where each member begins and the last one ends: at the beginning of a line where it has
        one of its own."""
        edges = [self._line_start(at) for at in (*container.starts, container.closes)]
        edges[0] = max(edges[0], container.opens + 1)
        return edges

    def _line_start(self, at: int) -> int:
        line = max(self.text.rfind("\n", 0, at), self.text.rfind("\r", 0, at)) + 1
        return at if self.text[line:at].strip() else line

    def _is_divided(
        self, container: _Container, edges: Sequence[int], start: int, end: int
    ) -> bool:
        """Whether a container falls into its members: a long one with lines for each, or one
        larger than the whole room."""
        if not container.starts:
            return False
        has_lines = all(self.text[at - 1] in "\r\n" for at in edges)
        if has_lines and end - start > _SMALL_MEMBER:
            return True
        return self.over(start, self.text[start:end])


def _string_parts(words: str) -> Iterator[str]:
    """The lines and sentences of a string as JSON writes it; never cut inside an escape."""
    for line in _ESCAPED_LINE.findall(words):
        for sentence in sentences(line):
            if len(sentence) <= LONGEST_UNIT:
                yield sentence
            else:
                yield from _ESCAPED_CHUNK.findall(sentence)


# --- YAML -----------------------------------------------------------------------------------------


def yaml_layout(text: str, over: Over) -> Layout:
    """The pieces of a YAML text."""
    builder = LayoutBuilder()
    document: list[int] = []
    directives: list[str] = []  # `%YAML 1.2`: nothing without the line that ends them
    for block in _yaml_blocks(rows_of(text)):
        said = [row for row in block if not _is_comment(row)]
        if said and said[0].startswith("%"):
            directives += block
            continue
        block = [*directives, *block]
        if directives or block[0].startswith(("---", "...")):
            document = builder.add("".join(block), "yaml", needs=())
            directives = []
            continue
        _add_yaml(builder, block, parents=document, depth=0, rank=0)
    builder.add("".join(directives), "yaml")
    _need_anchors(builder)
    return builder.layout("outline", comment="# ")


def _add_yaml(
    builder: LayoutBuilder, block: list[str], *, parents: Sequence[int], depth: int, rank: int
) -> None:
    text = "".join(block)
    head = next((at for at, row in enumerate(block) if not _is_comment(row)), 0)
    unit = "item" if "-" in _item_signs(block[head]) else "member"
    nests = unit == "item" or not _value(block[head])
    end = _head_end(block, head)
    inner = block[end:]
    is_whole = len(text) <= _SMALL_MEMBER or depth > _DEEPEST or not inner
    # What an alias stands for must be whole where the alias is.
    if is_whole or not nests or _ANCHOR.search(block[head]):
        builder.add(text, "yaml", needs=parents, rank=rank, unit=unit)
        return
    header = builder.add("".join(block[:end]), "yaml", needs=parents, rank=rank, unit=unit)
    around = [*parents, *header]
    for index, child in enumerate(_yaml_blocks(inner)):
        is_item = child[0].lstrip().startswith("- ")
        child_rank = rank + 1 + ((index + 1).bit_length() - 1 if is_item else 0)
        _add_yaml(builder, child, parents=around, depth=depth + 1, rank=child_rank)


def _head_end(block: Sequence[str], head: int) -> int:
    """The line behind the head of a block, with the lines that its own value goes on in."""
    end = head + 1
    value = _value(block[head])
    if not value:
        return end
    column = _value_column(block[head])
    opened = _open_brackets(value)
    while end < len(block):
        row = block[end]
        if row.strip() and len(row) - len(row.lstrip()) <= column and not opened:
            break
        opened += _open_brackets(row) if opened else 0
        end += 1
    return end


def _item_signs(row: str) -> str:
    signs = _ITEM_SIGNS.match(row)
    return signs[0] if signs else ""


def _value(row: str) -> str:
    """What stands behind the key of a line, or behind the signs of items where it has none;
    nothing where that is in the lines below."""
    start = len(_item_signs(row))
    key = _YAML_KEY.match(row, start)
    value = row[key.end() if key else start :].rstrip("\r\n")
    return "" if _NO_VALUE.match(value) else value.lstrip()


def _open_brackets(text: str) -> int:
    """How many more brackets of a list or an object on several lines open here than close."""
    if not any(sign in text for sign in "[]{}"):
        return 0
    bare = _STRING_OR_COMMENT.sub("", text)
    return sum(map(bare.count, "[{")) - sum(map(bare.count, "]}"))


def _value_column(row: str) -> int:
    """What the value of a line is indented by, at most, where it goes on in the next: the key, or
    the sign of the list."""
    column = len(_item_signs(row))
    return column if _YAML_KEY.match(row, column) else row.rfind("-", 0, column)


def _yaml_blocks(rows: Sequence[str]) -> Iterator[list[str]]:
    """The lines of the least indent, each with the deeper ones behind it and the comments in
    front of it."""
    least = min([_depth(row) for row in rows if not _is_comment(row)], default=0)
    block: list[str] = []
    has_head = False
    opened = 0  # brackets of a list or an object that goes on in the next line
    following = _depths_behind(rows)
    for row, behind in zip(rows, following, strict=True):
        if opened > 0:
            block.append(row)
            opened += _open_brackets(row)
            continue
        is_comment = _is_comment(row)
        begins = not is_comment and _depth(row) <= least
        # One in front of a deeper line is a remark inside of the block, wherever it stands.
        leads = is_comment and row.strip() and _depth(row) <= least and behind <= least
        if block and has_head and (begins or leads):
            yield block
            block = []
            has_head = False
        block.append(row)
        has_head = has_head or not is_comment
        if begins and _value(row).startswith(("[", "{")):
            opened = _open_brackets(row)
    if block:
        yield block


def _depths_behind(rows: Sequence[str]) -> list[int]:
    """For each line how deep the next one is that is no comment; behind the last, the margin."""
    found: list[int] = []
    depth = 0
    for row in reversed(rows):
        found.append(depth)
        if not _is_comment(row):
            depth = _depth(row)
    return found[::-1]


def _depth(row: str) -> int:
    """How deep a line is: the items of a list are inside their key though no deeper than it."""
    bare = row.lstrip(" \t")
    return 2 * (len(row) - len(bare)) + bare.startswith(("- ", "-\n", "-\r"))


def _is_comment(row: str) -> bool:
    return not row.strip() or row.lstrip().startswith("#")


def _need_anchors(builder: LayoutBuilder) -> None:
    """Let what refers to an anchor need what defines it."""
    anchors: dict[str, int] = {}
    for at, piece in enumerate(builder.pieces):
        for found in _ALIAS.finditer(piece.text) if "*" in piece.text else ():
            if found["name"] in anchors:
                builder.require(at, [anchors[found["name"]]])
        for found in _ANCHOR.finditer(piece.text) if "&" in piece.text else ():
            anchors[found["name"]] = at


# --- settings -------------------------------------------------------------------------------------


def settings_layout(text: str) -> Layout:
    """The pieces of a TOML or INI file: its settings, each under the head of its section."""
    from foreword.text.layouts.code import indented_blocks

    builder = LayoutBuilder()
    head: list[int] = []
    entry: list[int] = []  # the last section of a list (`[[tool.uv.index]]`)
    entry_name = ""
    for block in _with_whole_values(indented_blocks(text)):
        title = _SETTINGS_HEAD.match(block)
        if title is None:
            builder.add(block, "settings", needs=head)
            continue
        outer = entry if entry_name and title["name"].startswith(f"{entry_name}.") else []
        head = [*outer, *builder.add(block, "heading", level=1, needs=outer)]
        if title["entry"]:
            entry = head
            entry_name = title["name"]
    return builder.layout("prose", comment="# ")


def _with_whole_values(blocks: Iterator[str]) -> Iterator[str]:
    """The blocks, those joined that a value of several lines goes on in: a string, or a list whose
    lines stand at the margin."""
    joined = ""
    for block in blocks:
        if joined and not _has_open_string(joined) and _SETTINGS_HEAD.match(block):
            yield joined  # the bracket was part of a value
            joined = ""
        joined += block
        if not _has_open_string(joined) and not _has_open_list(joined):
            yield joined
            joined = ""
    if joined:
        yield joined


def _has_open_string(block: str) -> bool:
    return block.count('"""') % 2 == 1 or block.count("'''") % 2 == 1


def _has_open_list(block: str) -> bool:
    if not _OPENS_LIST.search(block):
        return False
    bare = _STRING_OR_COMMENT.sub("", block)
    return bare.count("[") > bare.count("]")
