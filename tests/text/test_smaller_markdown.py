"""Smaller forms of Markdown in small rooms, judged by the checker of `benchmarks.form_checks`."""

from __future__ import annotations

import re
from collections.abc import Callable

import pytest

from benchmarks import form_checks
from foreword.text import cut
from tests.corpus import text_of
from tests.text.smaller_forms import mark

WAYS = [cut.summary, cut.relevant, cut.excerpt]
QUERY = "which valve is closed first"
GUIDE = text_of("forms/guide.md")


@pytest.mark.parametrize("way", WAYS)
def test_parts_lead_ins_tables_and_titles_in_every_small_room(
    way: Callable[..., str | None],
) -> None:
    document = form_checks.Document(GUIDE, "markdown")
    forms: list[str | None] = []
    for room in range(100, len(GUIDE), 19):
        form = way(GUIDE, room, len, mark, query=QUERY)
        forms.append(form)
        if form is not None:
            assert list(form_checks.findings(document, form, room)) == []
    assert list(form_checks.shrinks(forms)) == []


def test_a_line_that_ends_behind_a_sentence_says_so_itself() -> None:
    text = f"# Pumps\n\n{'They are numbered from the door on. ' * 20}\n\nThe end of it.\n"
    form = cut.summary(text, 230, len, mark) or ""
    line = next(line for line in form.splitlines() if line.startswith("They are numbered"))
    assert line.rstrip().endswith("door on. [...]")


def test_a_sentence_in_the_middle_of_wrapped_lines_has_the_mark_on_its_own_line() -> None:
    text = (
        "All of the pumps in the works stand in a row behind the door and are\n"
        "numbered from there on. The gauge of pump seven sticks. Nobody knows\n"
        "for how long it has done so, and nobody has asked the maker about it.\n"
    )
    form = cut.relevant(text, 175, len, mark, query="gauge of pump seven sticks") or ""
    assert "[...] The gauge of pump seven sticks. [...]" in form


def test_a_long_title_gives_way_where_nothing_else_would_fit() -> None:
    title = "# " + "a very long title of a short text " * 3
    text = f"{title}\n\n" + "".join(f"Line {n} says something.\n\n" for n in range(9))
    smallest = next(room for room in range(60, 400) if cut.summary(text, room, len, mark))
    for room in range(smallest, len(text), 7):
        assert cut.summary(text, room, len, mark)


def test_a_mark_counts_the_parts_of_a_divided_line_as_one_line() -> None:
    long = "The gauge of this pump sticks and nobody knows why. " * 12
    code = "".join(f"pump-{n}: open\n" for n in range(40))
    text = f"# Pumps\n\nEach has a gauge. {long}\n\n```yaml\n{code}```\n"
    for room in range(160, 400, 40):
        form = cut.excerpt(text, room, len, mark) or ""
        counted = re.search(r"\[\.\.\. (\d+) lines\]\s*\Z", form)
        missing = text.splitlines()[2:]
        if counted:
            assert int(counted[1]) <= sum(1 for line in missing if line.strip())


def test_a_title_right_below_a_tag_is_a_title() -> None:
    sections = "".join(
        f"<part-{n}>\n## Part {n}\n\n- Valve {n} is red\n- It is never closed\n\n</part-{n}>\n\n"
        for n in range(9)
    )
    text = f"# Valves\n\n{sections}---\n\n*Read on Mondays*\n"
    document = form_checks.Document(text, "markdown")
    for room in range(150, len(text), 29):
        form = cut.excerpt(text, room, len, mark) or ""
        assert list(form_checks.findings(document, form, room)) == []


RULES = text_of("forms/rules.md")


def _check_conditions(
    text: str, way: Callable[..., str | None], query: str, needed: dict[str, str]
) -> None:
    """What is said is there only with what it is said under, in every room."""
    document = form_checks.Document(text, "markdown")
    for room in range(120, len(text), 13):
        form = way(text, room, len, mark, query=query) or ""
        for said, condition in needed.items():
            assert said not in form or condition in form, form
        if form:
            assert list(form_checks.findings(document, form, room)) == []


@pytest.mark.parametrize("way", WAYS)
def test_no_item_or_command_stands_without_the_line_that_forbids_it(
    way: Callable[..., str | None],
) -> None:
    query = "close inlet red valve oil shaft drain lamps brass key"
    needed = {
        "- close the inlet": "never do any of the following",
        "- turn off the lamp": "never do any of the following",
        "- the red valve": "These are not to be touched:",
        "- oil the shaft": "- You may not do this",
        "- open the lid": "- You may not do this",
        "pumpctl drain --all": "Never run this:",
        "Anybody may close a valve": "Except on Fridays",
        "Except on Fridays": "Anybody may close a valve",
        "Lamps may be taken home.": "Only the old ones",
        "read by two people.": "Unless it is about the lamp",
        "Gauges may be opened.": "But never those of brass.",
        "Everybody may ask for a key.": "However, nobody gets one",
    }
    _check_conditions(RULES, way, query, needed)


@pytest.mark.parametrize("way", [cut.summary, cut.excerpt])
def test_badges_contents_and_the_licence_come_behind_everything_else(
    way: Callable[..., str | None],
) -> None:
    badges = "".join(
        f"[![{name}](https://pumps.example/{name}.svg)](https://pumps.example/{name})\n"
        for name in ("build", "coverage", "downloads")
    )
    contents = "".join(f"- [Part {n}](#part-{n})\n" for n in range(6))
    parts = "".join(
        f"## Part {n}\n\nPump {n} has {n + 2} valves, and all are red.\n\nIt stands alone.\n\n"
        for n in range(6)
    )
    text = (
        f"# Pumps\n\n{badges}\nA list of all pumps.\n\n## Contents\n\n{contents}\n{parts}"
        "## 📄 License\n\nProvided as it is, without warranty of any kind.\n\n"
        "[npm-url]: https://pumps.example/npm\n[ci-url]: https://pumps.example/ci\n"
    )
    for room in range(200, 340, 20):
        form = way(text, room, len, mark) or ""
        assert "A list of all pumps." in form
        for boilerplate in ("[![", "without warranty", "-url]:"):
            assert boilerplate not in form, form
        assert "](#part" not in form or "has 2 valves" in form
    almost_all = way(text, len(text) - 1, len, mark) or ""
    assert "without warranty" in almost_all


PLAN = text_of("forms/plan.md")


@pytest.mark.parametrize("way", WAYS)
def test_lists_in_tags_behind_quotes_and_below_bold_titles_keep_what_leads_in_to_them(
    way: Callable[..., str | None],
) -> None:
    query = "drain tank, key that broke, motor bolts, state gone, brass wheel, lamp blue"
    needed = {
        "- drain the tank": "Nobody of the day shift",
        "- oil the shaft": "Nobody of the day shift",
        "- with the other key": "- close the inlet",
        "3. Take the motor out": "For each of the pumps that are no longer needed:",
        "pump=7 state=gone": "- **Messages** to those of the cold side",
        "- turn the brass wheel": "**Never by hand:**",
        "- lift the lid": "**Never by hand:**",
    }
    _check_conditions(PLAN, way, query, needed)


def test_a_title_inside_a_code_block_is_above_nothing_behind_it() -> None:
    report = "# Report\n\n" + "- the gauge was read, and it said what it says on any day\n" * 9
    text = (
        f"# Pumps\n\n```markdown\n{report}```\n\nThe lamp is blue.\n\n## Keys\n\nThey are brass.\n"
    )
    form = cut.relevant(text, 150, len, mark, query="lamp brass") or ""
    assert "The lamp is blue." in form
    assert "They are brass." in form
    assert "Report" not in form


def test_a_paragraph_that_begins_as_an_import_does_is_none() -> None:
    text = "# Duties\n\nimport duties are due on the first day.\n\n" + "Nobody pays twice.\n\n" * 9
    assert "import duties" in (cut.summary(text, 160, len, mark) or "")


BOXES = text_of("forms/boxes.md")


@pytest.mark.parametrize("way", WAYS)
def test_boxes_between_colons_that_open_also_close(way: Callable[..., str | None]) -> None:
    cut_boxes = 0
    for room in range(80, len(BOXES), 7):
        form = way(BOXES, room, len, mark, query=QUERY) or ""
        depth = 0
        for colons, name in re.findall(r"^(:::+)[ ]?(\S*)", form, re.MULTILINE):
            depth += 1 if name else -1
            assert depth >= 0, f"{colons} closes nothing in\n{form}"
        assert depth == 0, form
        cut_boxes += ":::" in form and form.count(":::") < BOXES.count(":::")
    assert cut_boxes


TEMPLATE = text_of("forms/template.md")


@pytest.mark.parametrize("way", WAYS)
def test_what_a_template_says_under_a_condition_stands_under_it(
    way: Callable[..., str | None],
) -> None:
    shortened = 0
    for room in range(80, len(TEMPLATE), 7):
        form = way(TEMPLATE, room, len, mark, query=QUERY) or ""
        hot, _, cold = form.partition("{% else %}")
        for line in ("Open the inlet by a quarter", "Close it when"):
            if line in form:
                assert "{% ifversion hot %}" in hot.partition(line)[0], form
                assert "{% endif %}" in form.partition(line)[2], form
        for line in ("Open the inlet at once", "Close it after"):
            if line in form:
                assert "{% ifversion hot %}" in hot, form
                assert line in cold.partition("{% endif %}")[0], form
        assert form.count("{{< tabs") == form.count("{{< /tabs"), form
        assert form.count("{{% tab") == form.count("{{% /tab"), form
        shortened += form != TEMPLATE and ("inlet" in form or "{{% tab" in form)
    assert shortened


TASKS = text_of("forms/tasks.md")


@pytest.mark.parametrize("way", WAYS)
def test_a_list_behind_a_tag_that_ends_another_keeps_the_line_that_leads_in_to_it(
    way: Callable[..., str | None],
) -> None:
    kept = 0
    for room in range(150, len(TASKS), 7):
        form = way(TASKS, room, len, mark, query="which key and which lamp") or ""
        if re.search(r"^[123]\. ", form, re.MULTILINE):
            kept += 1
            assert "make sure that none of these" in form, form
            assert form.index("<verify>") < form.index("make sure"), form
    assert kept
