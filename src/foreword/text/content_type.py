"""What a text is: by the name of its file, by the word behind a code fence, by what it looks like.

The answer is one word: `markdown` (and any prose), `python`, another language with a grammar,
`code` for one without, `sql`, `rst`, `diff`, `log`, `json`, `yaml`, `settings`, `markup`, `table`.
In doubt it is prose: whole lines and sentences are never wrong, an outline of something that is no
code would be.
"""

from __future__ import annotations

import re
from functools import lru_cache

from foreword.pattern import lazy_pattern

# The languages with a grammar in `foreword[code]`, and the module that holds it.
GRAMMARS = {
    "bash": "tree_sitter_bash",
    "c": "tree_sitter_c",
    "cpp": "tree_sitter_cpp",
    "csharp": "tree_sitter_c_sharp",
    "go": "tree_sitter_go",
    "java": "tree_sitter_java",
    "javascript": "tree_sitter_javascript",
    "php": "tree_sitter_php",
    "ruby": "tree_sitter_ruby",
    "rust": "tree_sitter_rust",
    "tsx": "tree_sitter_typescript",
    "typescript": "tree_sitter_typescript",
}
# By the end of a file's name, and by the word behind a fence.
_NAMES = {
    "bash": "bash sh zsh ksh shell console",
    "c": "c h",
    "code": "code swift kt kotlin scala lua pl perl r dart ex exs elixir clj hs haskell zig nim"
    " proto css scss less groovy gradle tf hcl dockerfile makefile cmake ps1 sty cls m mm pyx pxd"
    " pxi pm t awk bat bzl el lisp scm erl fs f f90 graphql jl kts ml nix pas prisma qml sol tcl vb"
    " vim mk m4 ac am bats",
    "cpp": "cpp cc cxx hpp hh hxx cu cuh inl ipp tcc ino",
    "csharp": "cs csharp",
    "diff": "diff patch",
    "go": "go golang",
    "java": "java",
    "javascript": "js jsx mjs cjs javascript",
    "json": "json jsonc json5 geojson ipynb",
    "log": "log jsonl ndjson",
    "markup": "html htm xhtml xml svg vue svelte xsl xslt xsd plist csproj props targets resx xaml"
    " pom wsdl rss atom",
    "markdown": "md markdown mdx txt text",
    "php": "php",
    "python": "py pyi python python3 py3",
    "rst": "rst rest",
    "ruby": "rb ruby gemspec podspec rake",
    "settings": "toml ini cfg conf properties env service socket timer desktop",
    "rust": "rs rust",
    "sql": "sql psql plsql",
    "table": "csv tsv",
    "tsx": "tsx",
    "typescript": "ts mts cts typescript",
    "yaml": "yaml yml",
}
_TYPE_BY_NAME = {name: kind for kind, names in _NAMES.items() for name in names.split()}
_CODE_FILES = (
    "dockerfile",
    "containerfile",
    "makefile",
    "gnumakefile",
    "jenkinsfile",
    "vagrantfile",
)
_SUFFIX = lazy_pattern(r"\.(?P<suffix>\w{1,10})(?::\d[\d:-]*)?\s*\Z")

# Lines of a text that are looked at to tell what it is: the first screens of a file.
_LOOKED_AT = 400
_LEAST_LINES = 4  # below that, prose is right for anything
_MOSTLY = 0.6  # of the lines
_PARTLY = 0.3  # of the lines, where others go on what these begin
# Characters that are parsed to make sure that a text is Python: enough for any file of people's
# making; a longer one without a name is looked at by its lines.
_LARGEST_PARSED = 1_000_000

_DIFF = lazy_pattern(r"^(?:diff --git |--- [^\n]*\n\+\+\+ [^\n]*\n@@ )", re.MULTILINE)
# A directive, and a line of signs below a title.
_RST = lazy_pattern(r"^\.\. (?:[\w-]+:: ?|_[\w-]+:\s*$)", re.MULTILINE)
_RST_TITLE = lazy_pattern(r"^\w[^\n]{2,}\n(?P<sign>[=~^*+#\"'-])(?P=sign){2,}\s*$", re.MULTILINE)
_BEGINS_AS_DIFF = lazy_pattern(r"\s*(?:diff --|--- \S|Index: |commit [0-9a-f]{7}|From [0-9a-f]{7})")
_BEGINS_AS_MARKUP = lazy_pattern(r"\s*(?:<!doctype |<\?xml |<html\b|<svg\b)", re.IGNORECASE)
_PYTHON = lazy_pattern(
    r"^(?:async def \w+\(|def \w+\(|class \w+[(:]|import \w+|from [\w.]+ import )", re.MULTILINE
)
_CODE_ENDS = ("{", "}", ";")
_CODE_LINE = lazy_pattern(r"\s*(?://|/\*|\*/|#include\b|[})\]]+[,;]?\s*\Z)")
_COMMENT_LINE = lazy_pattern(r"\s*\*\s")  # or an item of a list, where no comment opens
_YAML_LINE = lazy_pattern(
    r"""\s*(?:-\s+)?(?:[\w.$/-]+|"[^"]*"|'[^']*'):(?:\s|\Z)|\s*-\s|\s*#|---"""
)
_YAML_KEY = lazy_pattern(r"[\w.$/-]+:(?:\s|\Z)")
LOG_LINE = lazy_pattern(
    r"\[?\d{4}[-/]\d\d[-/]\d\d[T _]\d\d:\d\d"
    r"|\[?\d\d:\d\d:\d\d\b"
    r"|[A-Z][a-z]{2} [ \d]\d \d\d:\d\d:\d\d\b"
    r"|\[?(?:DEBUG|INFO|NOTICE|WARN|WARNING|ERROR|FATAL|CRITICAL|TRACE)\b[\]: ]"
    r"|\d{10}\.\d+\b"
)
COMMIT_LINE = lazy_pattern(r"commit [0-9a-f]{7,40}\b")
# With the lines that `git log --graph` draws in front of a commit, or alone.
_SHORT_COMMIT = lazy_pattern(r"[|\\/_ *]*+(?:[0-9a-f]{7,40} \S|\Z)")
# What begins an entry in a ChangeLog of GNU's or Debian's; all else in it is indented.
CHANGE_HEAD = lazy_pattern(
    r"(?:\d{4}-\d\d-\d\d|[A-Z][a-z]{2} [A-Z][a-z]{2} [ \d]\d [^<\n]{0,20}\d{4})"
    r"\s+\S[^<\n]*<[^<>\n]+>"
    r"|[a-z0-9][a-z0-9.+-]+ \([^()\s]+\) [\w. -]+; urgency="
)
_LEAST_CHANGES = 2
_TEST_RUN = lazy_pattern(r"^=+ (?:test session starts|FAILURES|ERRORS|short test summary)", re.M)
_JSON_LINE = lazy_pattern(r"\{.*\}\s*\Z")
_CPP_HEADER = lazy_pattern(
    r"^(?:namespace \w+|template *<|class \w+[^;]*$|using \w|enum class )|^ *(?:public|private):$",
    re.M,
)
_LANGUAGES = (  # what gives a language away, where no name does; the first that is found
    ("go", lazy_pattern(r"^package \w+$", re.M)),
    ("rust", lazy_pattern(r"^(?:pub |unsafe |async )*fn \w+|^use (?:std|crate|super)::", re.M)),
    ("php", lazy_pattern(r"\A\s*<\?php")),
    ("csharp", lazy_pattern(r"^using [\w.]+;$|^namespace [\w.]+", re.M)),
    ("java", lazy_pattern(r"^import (?:static )?[\w.]+;$|^package [\w.]+;$", re.M)),
    ("cpp", lazy_pattern(r"^#include <\w+>$|^(?:class|namespace|template)\b.*[{<]", re.M)),
    ("c", lazy_pattern(r"^#include\b|^(?:static|int|void|struct)\b.*[{;]$", re.M)),
    (
        "typescript",
        lazy_pattern(r"^(?:export )?(?:interface|type|enum) \w+|: (?:string|number)\b", re.M),
    ),
    ("javascript", lazy_pattern(r"\b(?:function|const|let|var|import|export)\b|=>", re.M)),
)


# Texts, as many as `layout_memory` holds the layouts of: whoever cuts one asks for each room anew.
@lru_cache(maxsize=4)
def content_type(text: str, name: str = "") -> str:
    """What a text is, with the name of its file if it has one."""
    named = type_of_name(name)
    # A page or a test about diffs is none; a change of a file may bear its name.
    if _is_diff(text) and (named in ("", "markdown", "log") or _BEGINS_AS_DIFF.match(text)):
        return "diff"
    if named == "c" and _CPP_HEADER.search(text):
        return "cpp"  # a header says nothing of its language by its name
    if named and named != "markdown" and (named != "json" or _is_json(text)):
        return named
    return _look(text)


def type_of_name(name: str) -> str:
    """What a file is by the end of its name, or by the whole of it."""
    found = _SUFFIX.search(name)
    if found:
        return _TYPE_BY_NAME.get(found["suffix"].lower(), "")
    whole = name.rpartition("/")[2].lower()
    return "code" if whole in _CODE_FILES else ""


def code_type(text: str, info: str) -> str:
    """What the text between two code fences is, by the word behind the first."""
    if _is_diff(text):
        return "diff"
    named = _TYPE_BY_NAME.get(info.lower(), "")
    if named == "json" and not _is_json(text):
        return "code"
    if named and named != "markdown":
        return named
    looks = _look(text)
    return "code" if looks == "markdown" and named != "markdown" else looks


def _look(text: str) -> str:
    """What a text is by what it looks like."""
    rows = [row for row in text[: _LOOKED_AT * 200].splitlines()[:_LOOKED_AT] if row.strip()]
    if _is_json(text):
        return "json"
    if _BEGINS_AS_MARKUP.match(text):
        return "markup"
    if len(rows) < _LEAST_LINES:
        return "markdown"
    if _is_log(text, rows):
        return "log"
    if _is_python(text):
        return "python"
    if any(row.startswith(("# ", "## ", "```")) for row in rows):
        return "markdown"
    if ".. " in text and _RST.search(text) and _RST_TITLE.search(text):
        return "rst"
    comments = _share(rows, _COMMENT_LINE) if "/*" in text else 0.0
    code = sum(1 for row in rows if row.rstrip().endswith(_CODE_ENDS) or _CODE_LINE.match(row))
    if comments < 1 and code / len(rows) + comments >= _MOSTLY:
        return _language(text)
    if all(map(_YAML_LINE.match, rows)) and sum(1 for row in rows if _YAML_KEY.match(row)) > 1:
        return "yaml"
    return "table" if _is_table(rows) else "markdown"


def _is_diff(text: str) -> bool:
    # Looked for first, since the pattern is tried at every line of a long text.
    if "diff --git " not in text and "\n@@ " not in text:
        return False
    found = _DIFF.search(text)
    return found is not None and "```" not in text[: found.start()]


def _is_json(text: str) -> bool:
    """Whether a text is one JSON object or list; the brackets tell most that are not."""
    bare = text.strip()
    if not bare or bare[0] + bare[-1] not in ("{}", "[]"):
        return False
    import json

    try:
        json.loads(bare)
    except (ValueError, RecursionError):
        return False
    return True


def _is_log(text: str, rows: list[str]) -> bool:
    if _share(rows, LOG_LINE) >= _PARTLY or COMMIT_LINE.match(rows[0]):
        return True
    if all(map(_SHORT_COMMIT.match, rows)) or all(map(_JSON_LINE.match, rows)):
        return True
    heads = sum(1 for row in rows if CHANGE_HEAD.match(row))
    at_margin = sum(1 for row in rows if not row[0].isspace())
    if heads >= _LEAST_CHANGES and heads >= _MOSTLY * at_margin:
        return True
    return "= " in text and _TEST_RUN.search(text) is not None


def _is_python(text: str) -> bool:
    # Looked for first, since the pattern is tried at every line of a long text.
    if not any(word in text for word in ("def ", "class ", "import ")):
        return False
    if len(text) > _LARGEST_PARSED or not _PYTHON.search(text):
        return False
    from foreword.text.layouts.python_code import parse

    return parse(text) is not None


def _is_table(rows: list[str]) -> bool:
    """Whether every line has as many commas or tabs as the first."""
    for separator, least in (("\t", 1), (",", 2)):
        wanted = rows[0].count(separator)
        if wanted >= least and all(row.count(separator) == wanted for row in rows):
            return True
    return False


def _language(text: str) -> str:
    for language, sign in _LANGUAGES:
        if sign.search(text[:20_000]):
            return language
    return "code"


def _share(rows: list[str], pattern: re.Pattern[str]) -> float:
    return sum(1 for row in rows if pattern.match(row)) / len(rows)
