"""Smaller forms of what people keep in repositories beside Markdown: stubs, pages, style sheets,
settings, and what programs write without a line break."""

from __future__ import annotations

import re
from collections.abc import Callable

import pytest

from benchmarks import form_checks
from foreword.text import cut
from foreword.text.content_type import content_type
from tests.corpus import rows, text_of
from tests.text.smaller_forms import MARK, check, mark

STUB = text_of("forms/posix.pyi.txt")
HEADER = text_of("forms/bank.hpp")
SETTINGS = text_of("forms/clap.toml")
PAGE = text_of("forms/pumps.html")
SHEET = text_of("forms/form.scss")
FILES = {
    "posix.pyi": STUB,
    "bank.hpp": HEADER,
    "Cargo.toml": SETTINGS,
    "pumps.html": PAGE,
    "form.scss": SHEET,
}


@pytest.mark.parametrize("way", [cut.summary, cut.relevant, cut.excerpt])
@pytest.mark.parametrize("name", FILES)
def test_a_file_is_never_spliced_and_stays_what_it_is(
    name: str, way: Callable[..., str | None]
) -> None:
    text = FILES[name]
    found = 0
    for room in range(120, len(text), 23):
        form = way(text, room, len, mark, query="where is the gauge", name=name)
        if form is not None:
            check(text, form, room, name)
            found += 1
    assert found > 4


def test_definitions_inside_a_condition_are_outlined_and_its_branches_stay_together() -> None:
    forms = [cut.summary(STUB, room, len, mark, name="a.pyi") or "" for room in range(300, 900, 50)]
    assert any("class Selector:" in form and "def fork(" not in form for form in forms)
    for form in forms:
        assert ("if sys.platform" in form) == ("\nelse:" in form) == ("\nelif sys" in form)


def test_a_license_goes_before_the_code_and_a_long_comment_keeps_its_first_line() -> None:
    form = cut.summary(HEADER, 500, len, mark, name="bank.hpp") or ""
    assert "Line 7 of a license" not in form
    assert "int move(Account &from, Account &to, long amount)\n{" in form
    assert "/**\n * Moves an amount from one account to another.\n" in form
    assert form.count("/*") == form.count("*/")


def test_the_lines_that_frame_a_block_stay_together_and_its_statements_too() -> None:
    for room in range(150, len(SHEET), 11):
        form = cut.summary(SHEET, room, len, mark, name="form.scss") or ""
        assert form.count("{") == form.count("}")
        assert ("display: block" in form) == ("width: 100%" in form)


def test_code_without_line_breaks_loses_whole_statements() -> None:
    code = "".join(f"var v{n}=function(a){{return a+{n};}};" for n in range(200))
    form = cut.summary(code, 900, len, mark, name="app.min.js") or ""
    assert len(form) > 500
    for part in MARK.sub("\n", form).split("\n"):
        assert part.strip() in code
        assert not part.strip() or part.rstrip()[-1] in ";{}"


def test_a_bold_title_stays_with_what_stands_below_it() -> None:
    goals = [
        f"**Goal {n}: the pump number {n} is safe**\n"
        f"- **Why:** pump {n} was opened under pressure once, and nobody knew of it.\n"
        f"- **How:** the gauge of pump {n} is read before its lid can move.\n\n"
        for n in range(12)
    ]
    text = "# Plan\n\n" + "".join(goals)
    for room in range(250, len(text), 61):
        for way in (cut.summary, cut.relevant, cut.excerpt):
            form = way(text, room, len, mark, query="read the gauge of pump 7") or ""
            title = ""
            for line in form.splitlines():
                if line.startswith("**Goal"):
                    title = line.partition(":")[0].split()[-1]
                elif line.startswith("- "):
                    assert f"pump {title} " in line


def test_a_long_function_keeps_all_of_its_conditions_or_none() -> None:
    steps = "".join(
        f"  if (pressure[{n}] > {n}) {{\n    close(valve, {n});\n    wait({n});\n  }}\n"
        for n in range(12)
    )
    text = f"int settle(int valve) {{\n  int done = 0;\n{steps}  return done;\n}}\n\n"
    text += "".join(f"int valve_{n}(void) {{ return {n}; }}\n" for n in range(40))
    for room in range(200, len(text), 37):
        form = cut.excerpt(text, room, len, mark, query="close valve 7", name="valves.c") or ""
        assert form.count("if (pressure[") in (0, 12)
        assert form.count("  return done;") == form.count("int done = 0;")


def test_a_string_of_json_without_any_of_its_words_is_not_there() -> None:
    text = f'{{\n  "name": "pump",\n  "words": "{"All is well. " * 60}",\n  "end": true\n}}\n'
    for room in range(100, 400, 11):
        form = cut.summary(text, room, len, mark, name="pump.json") or ""
        assert '"[...]"' not in form


def test_titles_of_restructured_text_stay_with_their_signs_and_above_what_they_head() -> None:
    sections = "".join(
        f".. _valve-{n}:\n\nValve {n}\n~~~~~~~~\n\nIt is turned by hand, {n} times. Not by two.\n\n"
        f".. code-block:: python\n\n    valve({n}).turn(\n        times={n},\n    )\n\n"
        for n in range(12)
    )
    text = f"======\nValves\n======\n\nThere are twelve of them.\n\n{sections}"
    assert content_type(text) == content_type(text, "valves.rst") == "rst"
    document = form_checks.Document(text, "rst")
    for room in range(150, len(text), 41):
        form = cut.relevant(text, room, len, mark, query="turn by hand", name="valves.rst") or ""
        assert list(form_checks.findings(document, form, room)) == []
        assert form.count("~~~~~~~~") == len(re.findall(r"^Valve \d", form, re.MULTILINE))
        assert form.count("~~~~~~~~") >= form.count("It is turned") > 0 or room < 300


def test_the_last_body_of_an_outline_is_said_to_have_its_own_lines_and_no_more() -> None:
    functions = "".join(
        f"def open_{n}(by):\n    rate = by * {n}\n    turn(rate)\n    return rate\n\n\n"
        for n in range(30)
    )
    form = cut.summary(functions, 600, len, mark, name="valves.py") or ""
    assert form.count("[... 3 lines]") > 3
    body, _, last = form.rpartition("\n\n")
    assert re.fullmatch(r"\[\.\.\. \d+ lines, [\d,]+ tokens left out: .*\]", last)
    assert re.search(r"def open_\d+\(by\):\n    \[\.\.\. 3 lines\]\n\[\.\.\. \d+ lines\]\Z", body)


def each_form(text: str, name: str) -> list[str]:
    """The smaller forms of a text at eight sizes, checked as `benchmarks.smaller_forms` does."""
    document = form_checks.Document(text, content_type(text, name))
    found: list[str] = []
    for way in (cut.summary, cut.excerpt):
        forms: list[str | None] = []
        for share in (0.1, 0.2, 0.3, 0.45, 0.6, 0.75, 0.9):
            room = int(share * len(text))
            form = way(text, room, len, mark, name=name)
            forms.append(form)
            if form is not None:
                assert list(form_checks.findings(document, form, room)) == [], form
        assert list(form_checks.shrinks(forms)) == []
        found += [form for form in forms if form is not None]
    return found


# Texts whose lines belong together in an unusual way, each of which was cut in the wrong place
# once, and the words that are there equally often in every form.
@pytest.mark.parametrize(("name", "text", "pairs"), rows("forms/odd.jsonl"))
def test_what_belongs_together_in_an_odd_text_stays_together(
    name: str, text: str, pairs: list[list[str]]
) -> None:
    forms = each_form(text, name)
    assert len(forms) > 4
    for first, last in pairs:
        assert [form.count(first) for form in forms] == [form.count(last) for form in forms]


@pytest.mark.parametrize(
    ("head", "end"),
    [
        ("2013-08-{:02}  Don Porter  <dgp@example.org>\n\n", "\n"),
        ("shop (1.{}-1) unstable; urgency=medium\n\n", "\n -- A <a@example.org>  Mon, 2 Mar\n\n"),
    ],
)
def test_an_entry_of_a_changelog_is_whole_and_under_its_own_head(head: str, end: str) -> None:
    notes = [f"\t* src/{at}.c:\tstep {at} is tried again.\n\t* src/{at}.h:\n" for at in range(30)]
    entries = [f"{head.format(at + 1)}{note}{end}" for at, note in enumerate(notes)]
    text = f"Look into the timeline first; this\nfile is no longer kept.\n\n{''.join(entries)}"
    for form in each_form(text, "ChangeLog"):
        for at, note in enumerate(notes):
            assert (f"src/{at}.h:" in form) == (f"{head.format(at + 1)}{note}" in form), form


def test_a_configuration_in_tags_is_not_only_its_words_and_fills_its_room() -> None:
    arguments = "".join(
        [
            f'    <Arg name="step{at}"><Property name="p{at}" default="{at}"/></Arg>\n'
            for at in range(9)
        ]
    )
    words = '    <Arg type="String"><Property name="logs"/>/yyyy_mm_dd.log</Arg>\n'
    inside = f'  <New id="Listener">\n{words}{arguments}  </New>\n'
    text = f'<Configure id="Server">\n{inside}</Configure>\n'
    large = cut.summary(text, len(text) - 40, len, mark, name="server.xml")
    assert large is not None
    assert large.count("<Arg name=") > 4


COMPONENT = text_of("forms/component.vue")


@pytest.mark.parametrize("name", ["a.vue", "a.svelte", "a.html"])
def test_what_a_page_runs_loses_no_single_statement(name: str) -> None:
    opening = COMPONENT.index("async function save")
    body = COMPONENT[opening : COMPONENT.index("\n}\n", opening)].splitlines()[1:]
    forms = 0
    for form_of in (cut.summary, cut.relevant, cut.excerpt):
        for room in range(180, len(COMPONENT), 19):
            form = form_of(COMPONENT, room, len, mark, query="when is it refused", name=name)
            if form is None:
                continue
            forms += 1
            assert len({line in form for line in body}) == 1
            assert form.count("<script") == form.count("</script>")
    assert forms > 20


@pytest.mark.parametrize("name", ["kiln.tex", "kiln.texi", "kiln.pod", "kiln.1"])
def test_a_text_of_an_unknown_kind_is_divided_at_its_blank_lines(name: str) -> None:
    paragraphs = [
        f"\\section{{Shelf {n}}}\nShelf {n} carries forty kilograms\nand not one more."
        for n in range(20)
    ]
    text = "\n\n".join(paragraphs)
    forms = 0
    for room in range(200, len(text), 61):
        form = cut.excerpt(text, room, len, mark, name=name)
        if form is None:
            continue
        forms += 1
        for n, paragraph in enumerate(paragraphs):
            assert (paragraph in form) == (f"Shelf {n} carries" in form)
    assert forms > 10


def test_comments_line_below_line_are_no_titles() -> None:
    text = "".join(
        f"# Allows the {name} to be opened.\n# Needs a restart.\nallow_{name} yes\n\n"
        for name in ("kiln", "door", "shelf", "tap", "hood", "drawer")
    )
    assert content_type(text) == "code"
    sizes = [0]
    for room in range(150, len(text), 29):
        form = cut.excerpt(text, room, len, mark) or ""
        sizes.append(len(form))
        for setting in re.findall(r"^allow_(\w+) yes", form, re.M):
            assert f"# Allows the {setting} to be opened.\n# Needs a restart.\n" in form
    assert sizes == sorted(sizes)


def test_the_head_of_a_table_may_stand_behind_remarks() -> None:
    rows = "".join(f"{n},{n * 7},pot {n}\n" for n in range(60))
    text = f"# Weights, 2024\n# by hand\nnumber,grams,name\n{rows}"
    for room in range(150, len(text), 41):
        form = cut.excerpt(text, room, len, mark, name="pots.csv") or ""
        if re.search(r"^\d+,", form, re.M):
            assert "number,grams,name\n" in form


def test_lines_without_a_full_stop_are_cut_by_lines_in_any_room() -> None:
    text = "".join(f"Pot {n}, glaze {n * 3}\n" for n in range(16))
    forms = [cut.excerpt(text, room, len, mark) for room in range(140, len(text), 7)]

    assert None not in forms
    assert list(form_checks.shrinks(forms)) == []
