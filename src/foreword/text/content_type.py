"""What a text is: by the name of its file, by the word behind a code fence, by what it looks like.

The answer is one word: `markdown` (and any prose), `python`, another language with a grammar,
`code` for one without, `sql`, `rst`, `asciidoc`, `org`, `diff`, `log`, `json`, `yaml`, `settings`,
`markup`, `table`.
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
# The markup languages whose lines say by their first sign what they are (`line_markup`).
LINE_MARKUP = ("asciidoc", "org")
# By the end of a file's name, and by the word behind a fence.
_NAMES = {
    "asciidoc": "adoc asciidoc",
    "bash": "bash sh zsh ksh shell console",
    "c": "c h",
    "code": "code swift kt kotlin scala lua pl perl r dart ex exs elixir clj hs haskell zig nim"
    " proto css scss less groovy gradle tf hcl dockerfile makefile cmake ps1 sty cls m mm pyx pxd"
    " pxi pm t awk bat bzl el lisp scm erl fs f f90 graphql jl kts ml nix pas prisma qml sol tcl vb"
    " vim mk m4 ac am bats psm1 psd1 def ldf clo fd bst dtx ltx",
    "cpp": "cpp cc cxx hpp hh hxx cu cuh inl ipp tcc ino metal",
    "csharp": "cs csharp",
    "diff": "diff patch",
    "go": "go golang",
    "java": "java",
    "javascript": "js jsx mjs cjs javascript",
    "json": "json jsonc json5 geojson ipynb",
    "log": "log jsonl ndjson",
    "markup": "html htm xhtml xml svg vue svelte xsl xslt xsd plist csproj props targets resx xaml"
    " pom wsdl rss atom xmp",
    "markdown": "md markdown mdx txt text",
    "org": "org",
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
    "yaml": "yaml yml raml sls",
}
_TYPE_BY_NAME = {name: kind for kind, names in _NAMES.items() for name in names.split()}
# Of files that others are made of; what these are is said by the end of the name in front.
_TEMPLATE_NAMES = (
    "jinja",
    "jinja2",
    "j2",
    "tmpl",
    "template",
    "tpl",
    "erb",
    "in",
    "sample",
    "dist",
)
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

_DIFF = lazy_pattern(
    r"^(?:diff --(?:git|cc|combined) |--- [^\n]*\n\+\+\+ [^\n]*\n@@+ )", re.MULTILINE
)
# A directive, and a line of signs below a title.
_RST = lazy_pattern(r"^\.\. (?:[\w-]+:: ?|_[\w-]+:\s*$)", re.MULTILINE)
_RST_TITLE = lazy_pattern(r"^\w[^\n]{2,}\n(?P<sign>[=~^*+#\"'-])(?P=sign){2,}\s*$", re.MULTILINE)
_BEGINS_AS_DIFF = lazy_pattern(r"\s*(?:diff --|--- \S|Index: |commit [0-9a-f]{7}|From [0-9a-f]{7})")
_BEGINS_AS_MARKUP = lazy_pattern(r"\s*(?:<!doctype |<\?xml |<html\b|<svg\b)", re.IGNORECASE)
# What a program is run by, and the name of its language where it is not the same.
_SHEBANG = lazy_pattern(r"#! ?(?:\S*/)?(?:env (?:-\S+ )*)?(?P<program>[a-z]+)[\d.]*(?=\s|\Z)")
_PROGRAMS = {"dash": "sh", "ash": "sh", "node": "js", "deno": "ts", "bun": "ts"}
_PYTHON = lazy_pattern(
    r"^(?:async def \w+\(|def \w+\(|class \w+[(:]|import \w+|from [\w.]+ import )", re.MULTILINE
)
_CODE_ENDS = ("{", "}", ";")
_CODE_LINE = lazy_pattern(r"\s*(?://|/\*|\*/|#include\b|[})\]]+[,;]?\s*\Z)")
_COMMENT_LINE = lazy_pattern(r"\s*\*\s")  # or an item of a list, where no comment opens
_YAML_LINE = lazy_pattern(
    r"""\s*(?:-\s+)?(?:[\w.$/-]+|"[^"]*"|'[^']*'):(?:\s|\Z)|\s*-\s|\s*#|---"""
)
# Of a file of settings: a section, a setting, what closes a list; what is indented goes on.
_SETTINGS_LINE = lazy_pattern(r"(?P<section>\[+[^\[\]]+\]+\s*\Z)|[\w.\"'-]+\s*=|[#;\]}]|\s")
_YAML_KEY = lazy_pattern(r"[\w.$/-]+:(?:\s|\Z)")
_LEVELS = "DEBUG|INFO|NOTICE|WARN|WARNING|ERROR|FATAL|CRITICAL|TRACE"
# What begins an entry of a log or of a chat that was saved: a time, or a level.
LOG_LINE = lazy_pattern(
    r"(?:\x1b\[[\d;]*m)*(?:[\w.]+[-_]\d+ +\| )?(?:"  # colours, and the name of a container
    r"\[?\d{4}[-/]\d\d[-/]\d\d[T _]\d\d:\d\d"
    r"|\[?\d\d:\d\d:\d\d\b"
    r"|\[\d\d:\d\d\]"
    r"|\[?\d{1,2}[./]\d{1,2}[./]\d{2,4},? \d{1,2}:\d\d"
    r"|\[?(?:[A-Z][a-z]{2} )?[A-Z][a-z]{2} [ \d]\d \d\d:\d\d:\d\d\b"
    r"|[IWEF]\d{4} \d\d:\d\d:\d\d\b"
    r"|\S+ \S+ \S+ \[\d\d/[A-Z][a-z]{2}/\d{4}:"
    r"|\[ *\d+\.\d+\]"
    rf"|\[?(?:{_LEVELS})\b[\]: ]"
    r"|(?:time|ts|timestamp|level)=\S"
    r"|\d{10}\.\d+\b"
    r")"
)
# A time alone, or with so much space behind it that the line goes on the one before it.
STAMP_AND_SPACE = lazy_pattern(
    r"(?:\x1b\[[\d;]*m)*\[?\d[\d/:.+-]*[T ]?\d[\d:.,]*(?:Z|[+-]\d\d:?\d\d)?\]?"
    rf"(?P<space>[ \t]*)(?:\[?(?P<level>{_LEVELS})\b)?(?P<rest>[^\n]*)"
)
COMMIT_LINE = lazy_pattern(r"[|\\/_ *]*+commit [0-9a-f]{7,40}\b")
# With the lines that `git log --graph` draws in front of a commit, or alone.
_SHORT_COMMIT = lazy_pattern(r"[|\\/_ *]*+(?:[0-9a-f]{7,40} \S|\Z)")
# What begins an entry in a ChangeLog of GNU's or Debian's; all else in it is indented.
CHANGE_HEAD = lazy_pattern(
    r"(?:\d{4}-\d\d-\d\d|[A-Z][a-z]{2} [A-Z][a-z]{2} [ \d]\d [^<\n]{0,20}\d{4})"
    r"\s+\S[^<\n]*<[^<>\n]+>"
    r"|[a-z0-9][a-z0-9.+-]+ \([^()\s]+\) [\w. -]+; urgency="
)
_LEAST_CHANGES = 2
_HASHES = lazy_pattern(r"^(?P<sign>\#+)(?:[ \t][^\n]*)?(?:\n(?P=sign)(?:[ \t][^\n]*)?$)*", re.M)
_LEAST_COMMENTS = 3  # lines; of two, one may be the title of all and one that of its first part
_TEST_RUN = lazy_pattern(
    r"^(?:=+ (?:test session starts|FAILURES|ERRORS|short test summary)"  # pytest
    r"|(?:PASS|FAIL) +\S+\.[a-z]+\b|test result: (?:ok|FAILED)\b|error\[E\d+\]: "  # jest, cargo
    r"|--- (?:PASS|FAIL): |BUILD (?:FAILED|SUCCESSFUL) in |(?:not )?ok 1 - )",  # go, gradle, TAP
    re.M,
)
_JSON_LINE = lazy_pattern(r"\{.*\}\s*\Z")
_QUOTED = lazy_pattern(r'"[^"]*"')
_BOX_RULE = lazy_pattern(r"\+(?:[-=]+\+)+\s*\Z")
_COLUMN_RULE = lazy_pattern(r"[ |]*(?:-{2,}|={2,})(?:[ +|]+(?:-{2,}|={2,}))+[ +|]*\s*\Z")
_COLUMN_GAP = lazy_pattern(r"(?<=[-=])[ +|]+(?=[-=])")
# Of titles above columns (`kubectl get pods`) at least two spaces between, and all are capitals.
_TITLE_GAP = lazy_pattern(r"(?<=\S) {2,}(?=\S)")
_TITLES = lazy_pattern(r"[A-Z][A-Z0-9 _().%/-]+\s*\Z")
_COLUMNS_SHARE = 0.8  # of the lines: a count below a table is no row
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


# Texts, as many as `narrow` holds the layouts of: whoever cuts one asks for each room anew.
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
    looks = _look(text)
    # Versions that are locked stand in blocks, whatever the tool that wrote them.
    return "code" if looks == "markdown" and name.endswith(".lock") else looks


def type_of_name(name: str) -> str:
    """What a file is by the end of its name, or by the whole of it."""
    found = _SUFFIX.search(name)
    if found and found["suffix"].lower() in _TEMPLATE_NAMES:
        found = _SUFFIX.search(name[: found.start()]) or found
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
    program = _program(rows[0]) if rows else ""
    if program:
        return program
    if len(rows) < _LEAST_LINES:
        return "markdown"
    if _is_log(text, rows):
        return "log"
    if _is_python(text):
        return "python"
    if _is_settings(rows):
        return "settings"
    if _has_comments(text):
        return "code"
    if any(row.startswith(("# ", "## ", "```")) for row in rows):
        return "markdown"
    if ".. " in text and _RST.search(text) and _RST_TITLE.search(text):
        return "rst"
    comments = _share(rows, _COMMENT_LINE) if "/*" in text else 0.0
    code = sum(1 for row in rows if row.rstrip().endswith(_CODE_ENDS) or _CODE_LINE.match(row))
    if comments < 1 and code / len(rows) + comments >= _MOSTLY:
        return _language(text)
    if all(map(_YAML_LINE.match, rows)) and _has_yaml_keys(rows):
        return "yaml"
    return "table" if _is_table(rows) else "markdown"


def _has_yaml_keys(rows: list[str]) -> bool:
    """Whether there are several keys at the margin, and none twice in one document, as in records
    that blank lines part."""
    keys = [found[0] for row in rows if (found := _YAML_KEY.match(row))]
    has_documents = any(row.startswith("---") for row in rows)
    return len(keys) > 1 and (has_documents or len(set(keys)) == len(keys))


def _program(row: str) -> str:
    """The language of a script, by what its first line says that it is run by."""
    found = _SHEBANG.match(row.removeprefix("\ufeff"))
    if found is None:
        return ""
    program = found["program"]
    named = _TYPE_BY_NAME.get(_PROGRAMS.get(program, program), "")
    return named if named in GRAMMARS or named == "python" else "code"


def _is_diff(text: str) -> bool:
    # Looked for first, since the pattern is tried at every line of a long text.
    if "diff --" not in text and "\n@@" not in text:
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
    return "```" not in text and _TEST_RUN.search(text) is not None


def _is_python(text: str) -> bool:
    # Looked for first, since the pattern is tried at every line of a long text.
    if not any(word in text for word in ("def ", "class ", "import ")):
        return False
    if len(text) > _LARGEST_PARSED or not _PYTHON.search(text):
        return False
    from foreword.text.layouts.python_code import parse

    return parse(text) is not None


def _is_settings(rows: list[str]) -> bool:
    """Whether every line is one of a file of settings, as of most that lock versions, and some
    are heads of sections."""
    found = list(map(_SETTINGS_LINE.match, rows))
    return all(found) and any(each["section"] for each in found if each)


def _has_comments(text: str) -> bool:
    """Whether lines with a `#` in front are comments: nobody writes titles line below line."""
    if "```" in text or ("\n# " not in text and not text.startswith("# ")):
        return False
    runs = [len(run[0].splitlines()) for run in _HASHES.finditer(text[: _LOOKED_AT * 200])]
    together = sum(run for run in runs if run > 1)
    return together >= max(_LEAST_COMMENTS, _MOSTLY * sum(runs))


def _is_table(rows: list[str]) -> bool:
    """Whether every line has as many commas, semicolons or tabs as the first, or the lines stand
    in columns."""
    bare = [_QUOTED.sub("", row) for row in rows]
    for separator, least in (("\t", 1), (",", 2), (";", 2)):
        wanted = bare[0].count(separator)
        # Tabs in front of a line indent it.
        if bare[0].strip().count(separator) >= least and all(
            row.count(separator) == wanted for row in bare
        ):
            return True
    return _has_columns(rows)


def table_head(rows: list[str]) -> int:
    """How many lines are the head of a table: those up to the line below its titles."""
    if len(rows) > 2 and _BOX_RULE.match(rows[0]) and _BOX_RULE.match(rows[2]):
        return 3
    return 2 if len(rows) > 1 and _COLUMN_RULE.match(rows[1]) else 1


def _has_columns(rows: list[str]) -> bool:
    """Whether nearly all lines have white space, or a line, where the head has it between two of
    its titles."""
    head = table_head(rows)
    if head == 3:
        return sum(1 for row in rows if row[0] in "|+") >= _COLUMNS_SHARE * len(rows)
    titles = rows[head - 1]
    between = _COLUMN_GAP if head == 2 else _TITLE_GAP
    gaps = [gap.end() - 1 for gap in between.finditer(titles.rstrip())]
    if len(gaps) < (1 if head == 2 else 2) or (head == 1 and not _TITLES.match(titles)):
        return False
    fitting = 0
    for row in rows[head:]:
        fitting += all(row[gap : gap + 1] in ("", " ", "|") for gap in gaps)
    return fitting >= _COLUMNS_SHARE * len(rows[head:])


def _language(text: str) -> str:
    for language, sign in _LANGUAGES:
        if sign.search(text[:20_000]):
            return language
    return "code"


def _share(rows: list[str], pattern: re.Pattern[str]) -> float:
    return sum(1 for row in rows if pattern.match(row)) / len(rows)
