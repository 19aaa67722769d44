"""What holds for every smaller form of every kind of text: real ones at ten sizes, and generated
ones."""

from __future__ import annotations

import ast
import json
import re
import sysconfig
from pathlib import Path
from typing import Any

import pytest
import yaml
from hypothesis import given, settings
from hypothesis import strategies as st

import foreword
from foreword.text import cut
from tests.corpus import text_of
from tests.examples import examples
from tests.text.smaller_forms import MARK, check, mark

PACKAGE = Path(foreword.__file__).parent
DATA = Path(__file__).parent.parent / "data"
WAYS = {"summary": cut.summary, "relevant": cut.relevant, "excerpt": cut.excerpt}
QUERY = "which errors are raised, and what do the tests say about them"
SIZES = 10


def diff_of(name: str, *hunks: tuple[int, int]) -> str:
    """A file of a diff with hunks of so many lines before and after."""
    text = (
        f"diff --git a/{name} b/{name}\nindex 1a2b3c4..5d6e7f8 100644\n--- a/{name}\n+++ b/{name}\n"
    )
    at = 1
    for number, (old, new) in enumerate(hunks):
        text += f"@@ -{at},{old + 1} +{at},{new + 1} @@ def step_{number}(value):\n"
        text += f" # {name} step {number}\n"
        text += "".join(f"-    before({name!r}, {line})\n" for line in range(old))
        text += "".join(f"+    after({name!r}, {line})\n" for line in range(new))
        at += 50
    return text


HISTORY = "".join(
    f"commit {number:040x}\nAuthor: A. Person <a@example.org>\nDate:   Mon Nov 2 10:0{number}\n\n"
    f"    Change {number}: the ledger refuses what an account does not hold\n\n"
    + diff_of(f"src/part{number}.py", (3, 4), (number, 9), (1, 1))
    + diff_of(f"tests/test_part{number}.py", (0, 12))
    + "\n"
    for number in range(6)
)
LOG = "".join(
    f"2026-11-02 10:{n // 60:02}:{n % 60:02} {'ERROR' if n % 17 == 0 else 'INFO'} shop.orders:"
    f" order {n * 37 % 1000} took {n % 41} ms\n"
    + (
        "Traceback (most recent call last):\n  File 'a.py', line 3\nKeyError: 'pump'\n"
        * (n % 17 == 0)
    )
    for n in range(120)
)
SKILL = text_of("forms/skill.md")


def real_texts() -> dict[str, str]:
    texts = {"SKILL.md": SKILL, "history": HISTORY, "app.log": LOG}
    include = Path(sysconfig.get_path("include")) / "listobject.h"
    files = [
        PACKAGE / "section.py",
        PACKAGE / "text" / "choose.py",
        PACKAGE / "faces" / "web" / "static" / "app.js",
        PACKAGE / "data" / "models.json",
        PACKAGE / "recipe" / "builtin" / "director.yaml",
        DATA / "pytest.log",
        *sorted((DATA / "code").iterdir()),
    ]
    for path in [*files, include]:
        if path.exists():
            texts[path.name] = path.read_text("utf-8")[:20_000]
    return texts


TEXTS = real_texts()


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("name", TEXTS)
def test_a_smaller_form_holds_lines_of_the_author_and_marks_in_every_gap(
    name: str, way: str
) -> None:
    text = TEXTS[name]
    largest = 0
    for size in range(1, SIZES + 1):
        room = len(text) * size // (SIZES + 1)
        form = WAYS[way](text, room, len, mark, query=QUERY, name=name)
        if form is None:
            assert not largest
            continue
        check(text, form, room, name)
        assert len(form) >= largest
        largest = len(form)
    assert largest > 0.7 * len(text) * SIZES / (SIZES + 1)


@pytest.mark.parametrize("name", TEXTS)
def test_more_room_never_gives_less(name: str) -> None:
    text = TEXTS[name]
    largest = 0
    for room in range(150, 1_500, 61):
        form = cut.summary(text, room, len, mark, name=name) or ""
        assert len(form) + 3 >= largest  # the figures in the mark have fewer digits
        largest = max(largest, len(form))


def test_a_body_is_elided_whole_and_never_a_statement_of_it() -> None:
    text = TEXTS["choose.py"]
    functions = [node for node in ast.walk(ast.parse(text)) if isinstance(node, ast.FunctionDef)]
    for size in range(1, SIZES + 1):
        form = cut.summary(text, len(text) * size // (SIZES + 1), len, mark, name="choose.py") or ""
        for node in ast.walk(ast.parse(MARK.sub("...", form))):
            if not isinstance(node, ast.FunctionDef):
                continue
            whole = [other for other in functions if other.name == node.name]
            kept = node.body[1:] if ast.get_docstring(node) else node.body
            bodies = [ast.dump(ast.Module(other.body, [])) for other in whole]
            elided = [ast.unparse(statement) for statement in kept] == ["..."]
            assert elided or ast.dump(ast.Module(node.body, [])) in bodies


def test_a_class_of_data_keeps_its_fields() -> None:
    form = cut.summary(TEXTS["section.py"], 2_400, len, mark, name="section.py") or ""
    for node in ast.walk(ast.parse(MARK.sub("...", form))):
        if isinstance(node, ast.ClassDef):
            assert any(isinstance(statement, ast.AnnAssign) for statement in node.body)


@pytest.mark.parametrize(
    ("name", "signature"),
    [
        ("store.go", "func (l *Ledger) Move(from, to string, amount int64) error {"),
        ("queue.rs", "pub enum Topic {\n    Order,"),
        ("Invoice.java", "    private boolean sent;"),
    ],
)
def test_an_outline_by_a_grammar_keeps_signatures_and_fields(name: str, signature: str) -> None:
    form = cut.summary(TEXTS[name], len(TEXTS[name]) // 2, len, mark, name=name) or ""
    assert signature in form
    assert form.count("{") == form.count("}")
    assert re.search(r"^\s+\[\.\.\. \d+ lines\]$", form, re.MULTILINE)


def test_code_in_a_language_without_a_grammar_keeps_whole_blocks() -> None:
    text = "".join(
        f"sub step_{n}\n    take {n} from the pump\n    give {n + 1} to the valve\nend\n\n"
        for n in range(30)
    )
    form = cut.summary(text, 500, len, mark, name="steps.pl") or ""
    for block in MARK.sub("", form).split("sub ")[1:]:
        assert f"sub {block.strip()}" in text
        assert block.strip().endswith("end")


@pytest.mark.parametrize("way", WAYS)
def test_a_hunk_is_whole_and_stands_under_its_own_file_and_commit(way: str) -> None:
    hunks = set(re.findall(r"^@@ .*(?:\n[ +-].*)+", HISTORY, re.MULTILINE))
    for size in range(1, SIZES + 1):
        room = len(HISTORY) * size // (SIZES + 1)
        form = WAYS[way](HISTORY, room, len, mark, query=QUERY) or ""
        kept = re.findall(r"^@@ .*(?:\n[ +-].*)+", form, re.MULTILINE)
        assert set(kept) <= hunks
        commit = file = ""
        for line in form.splitlines():
            if line.startswith("commit "):
                commit = line[-1]
            elif line.startswith("diff --git"):
                file = line.rpartition("/")[2]
                assert file.removesuffix(".py").endswith(commit)
            elif line.startswith(" # "):
                assert file in line


def test_a_commit_without_its_patch_keeps_its_own_words() -> None:
    log = "".join(
        f"commit {n:040x}\nAuthor: P{n}\n\n    Words of {n}\n\n    More of {n}\n\n"
        for n in range(40)
    )
    form = cut.summary(log, 900, len, mark) or ""
    assert re.findall(r"Author: P(\d+)", form) == re.findall(r"Words of (\d+)", form)
    assert re.findall(r"Author: P(\d+)", form) == re.findall(r"More of (\d+)", form)


def test_the_report_of_a_failed_test_stays_or_goes_whole() -> None:
    log = TEXTS["pytest.log"]
    for room in range(1_500, len(log), 500):
        form = cut.summary(log, room, len, mark, name="pytest.log") or ""
        names = re.findall(r"^_+ test_add\[(\d+)\] _+$", form, re.MULTILINE)
        assert names == re.findall(r"E       AssertionError: adding failed for (\d+)$", form, re.M)


def test_a_lead_in_stays_with_what_it_leads_in_to() -> None:
    for room in range(200, len(SKILL), 37):
        for way in WAYS.values():
            form = way(SKILL, room, len, mark, query=QUERY) or ""
            assert not re.search(r"must include:\s*(?:\[\.\.\.|#|\Z)", form)
            assert not re.search(r"what it lists:\s*(?:\[\.\.\.|#|\Z)", form)


def test_what_stands_under_a_heading_stood_there() -> None:
    sections = dict(re.findall(r"^## (.+)\n((?:(?!^## ).*\n)*)", SKILL, re.MULTILINE))
    for room in range(200, len(SKILL), 37):
        form = cut.summary(SKILL, room, len, mark) or ""
        for title, body in re.findall(r"^## (.+)\n((?:(?!^## ).*\n)*)", form, re.MULTILINE):
            for line in body.splitlines():
                assert MARK.search(line) or line in sections[title]


def test_rows_of_a_table_come_with_its_head() -> None:
    rows = "".join(f"{n},part {n},{n * 7}\n" for n in range(200))
    form = cut.summary(f"id,name,count\n{rows}", 500, len, mark, name="parts.csv") or ""
    assert form.startswith("id,name,count\n0,part 0,0\n")
    assert "199,part 199,1393\n" in form
    assert re.search(r"^\[\.\.\. \d+ rows\]$", form, re.MULTILINE)


def test_words_in_json_that_are_larger_than_the_room_lose_whole_sentences() -> None:
    words = " ".join(f'Sentence {n} says "{n}".' for n in range(200))
    text = json.dumps({"id": 7, "words": words, "end": True})
    form = cut.excerpt(text, 900, len, mark) or ""
    kept = json.loads(form.rsplit("\n\n", 1)[0])
    assert kept["id"] == 7
    assert kept["end"] is True
    assert kept["words"].startswith("Sentence 0 says")
    assert "[...]" in kept["words"]
    assert len(form) > 700


# --- generated ------------------------------------------------------------------------------------

NAMES = st.sampled_from(["alpha", "beta", "gamma", "delta"])
SENTENCES = st.sampled_from(
    [
        "The pump must never run dry.",
        "It costs **4 euro. Or five** in winter.",
        "Ask first, e.g. in the harbour!",
        "See `a. b` and `c`.",
        "漢字です。二つ目。",
    ]
)
LINES = st.lists(SENTENCES, min_size=1, max_size=4).map(" ".join)
BLOCKS = st.one_of(
    LINES,
    st.sampled_from(["# Top", "## Sub", "### Deep", "---"]),
    st.lists(LINES, min_size=1, max_size=4).map("\n".join),
    st.lists(LINES.map("- {}".format), min_size=1, max_size=5).map("\n".join),
    st.lists(LINES.map("- {}".format), min_size=1, max_size=3).map(
        lambda items: "It must include:\n\n" + "\n".join(items)
    ),
    LINES.map("<NOTE>\n{}\n</NOTE>".format),
    LINES.map("<WARN>\n\n{}\n\n</WARN>".format),
    st.integers(1, 40).map(
        lambda n: "```py\n" + "".join(f"x{i} = {i}\n" for i in range(n)) + "```"
    ),
    st.integers(1, 9).map(
        lambda n: "| a | b |\n|---|---|\n" + "".join(f"| {i} | v |\n" for i in range(n))
    ),
)
MARKDOWN = st.lists(BLOCKS, min_size=1, max_size=14).map("\n\n".join)
FUNCTIONS = st.builds(
    lambda name, body, doc: (
        f"def {name}(value):\n{doc}"
        + "".join(f"    value += {n}\n" for n in range(body))
        + "    return value\n"
    ),
    NAMES,
    st.integers(0, 9),
    st.sampled_from(
        [
            "",
            '    """One line."""\n',
            '    """First.\n\n    More of it.\n    """\n',
            '    """First.\n\n    More of it, to the end."""\n',
        ]
    ),
)
CLASSES = st.builds(
    lambda name, fields, methods: (
        f"class {name.title()}:\n"
        + "".join(f"    field_{n}: int = {n}\n" for n in range(fields))
        + "".join("\n" + re.sub(r"^(?=.)", "    ", method, flags=re.M) for method in methods)
        + ("    pass\n" if not fields and not methods else "")
    ),
    NAMES,
    st.integers(0, 5),
    st.lists(FUNCTIONS, max_size=3),
)
PYTHON = st.lists(
    FUNCTIONS
    | CLASSES
    | st.sampled_from(
        [
            "import os\n",
            "LIMIT = 3\n",
            "# a comment\nx = [\n    1,\n]\n",
            "if x:\n    y = 1\nelse:\n    y = 2\n",
        ]
    ),
    min_size=2,
    max_size=9,
).map("\n\n".join)
VALUES: st.SearchStrategy[Any] = st.recursive(
    st.integers() | st.booleans() | st.none() | LINES,
    lambda inner: st.lists(inner, max_size=5) | st.dictionaries(NAMES, inner, max_size=4),
    max_leaves=40,
)
DATA_VALUES = st.lists(VALUES, min_size=2, max_size=8) | st.dictionaries(
    st.text("abcdef", min_size=1), VALUES, min_size=2
)
JSON = st.builds(json.dumps, DATA_VALUES, indent=st.sampled_from([None, 1, 2]))
YAML = DATA_VALUES.map(lambda value: yaml.safe_dump(value, sort_keys=False))
DIFFS = st.lists(
    st.builds(
        diff_of,
        NAMES,
        st.tuples(st.integers(0, 9), st.integers(0, 9)),
        st.tuples(st.integers(0, 9), st.integers(0, 30)),
    ),
    min_size=1,
    max_size=5,
).map("".join)
KINDS: list[tuple[st.SearchStrategy[str], str]] = [
    (MARKDOWN, "a.md"),
    (PYTHON, "a.py"),
    (JSON, "a.json"),
    (YAML, "a.yaml"),
    (DIFFS, "a.diff"),
]


@pytest.mark.parametrize(("texts", "name"), KINDS, ids=[name for _, name in KINDS])
@pytest.mark.parametrize("way", WAYS)
@given(data=st.data(), room=st.integers(90, 900), more=st.integers(1, 400))
@settings(max_examples=examples(12), deadline=None)
def test_a_generated_text_is_never_spliced_and_grows_with_its_room(
    texts: st.SearchStrategy[str], name: str, way: str, data: st.DataObject, room: int, more: int
) -> None:
    text = data.draw(texts)
    small = WAYS[way](text, room, len, mark, query=QUERY, name=name)
    large = WAYS[way](text, room + more, len, mark, query=QUERY, name=name)
    for form, size in ((small, room), (large, room + more)):
        if form is not None and form is not text:
            check(text, form, size, name)
    # a line that was divided and is whole now may fill a little less
    assert len(large or "") >= 0.85 * len(small or "")


@given(
    st.text(max_size=300),
    st.sampled_from(["", "a.py", "a.json", "a.yaml", "a.diff", "a.log", "a.csv", "a.go", "a.toml"]),
)
@settings(max_examples=examples(30), deadline=None)
def test_any_text_under_any_name_is_cut_or_not(text: str, name: str) -> None:
    for way in WAYS.values():
        form = way(text, 120, len, mark, query=QUERY, name=name)
        assert form is None or len(form) <= 120
