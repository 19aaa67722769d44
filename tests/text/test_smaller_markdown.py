"""Smaller forms of Markdown in small rooms, judged by the checker of `benchmarks.form_checks`."""

from __future__ import annotations

import re
from collections.abc import Callable

import pytest

from benchmarks import form_checks
from foreword.text import cut
from tests.text.smaller_forms import mark

WAYS = [cut.summary, cut.relevant, cut.excerpt]
QUERY = "which valve is closed first"
GUIDE = """\
# Pumps and the valves that belong to them, as they are looked after in the works

Every pump has two valves, and both are numbered. The red ones are never closed by hand, for they
close by themselves. Who closes one writes it down. The list hangs beside the door, and it is read
on Mondays.

Three checks are made one after the other:

**First: the seals**

```
pumpctl test seals --all --slow
pumpctl test seals --report
```

**Second: the motor**

It runs for a minute, and the hand feels it. Nobody leaves it alone while it runs. It is warm, but
not hot.

1. Close the valves in this order:

   | valve | hand | turns |
   |-------|------|-------|
   | inlet | left | four and a half |
   | outlet | right | three |
   | drain | left | one |

   Then wait.

2. Open the lid. Look inside. **It is dark in there. Take a lamp** with you.
"""


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


RULES = """\
# Pumps

Every pump has a number, and the number is on its lid, where it is read by whoever comes by.

When a pump is opened that belongs to the hot side, or one that the hot side takes its water from, \
you must never do any of the following, not even when the one who is on duty asks you for it:

- close the inlet
- drain the tank
- turn off the lamp

The cold side is another matter. It has its own people, and they have their own keys and lamps.
They read this page on Mondays, and then the page of the pump that they were sent to look after.
These are not to be touched:

- the red valve
- the brass gauge

## Duties

- You may do this at any time:
  - read the gauge
- You may not do this, since it cost us a weekend and two motors, and nobody wants to have that \
again, least of all those who had to mend them by hand in the night:
  - oil the shaft
  - open the lid

Never run this:

```
pumpctl drain --all
```

Anybody may close a valve at any time of the day.

Except on Fridays, when nobody closes anything.

Lamps may be taken home. Only the old ones, though. Every report is read by two people. Unless it \
is about the lamp, which nobody reads about. Gauges may be opened. But never those of brass. \
Everybody may ask for a key. However, nobody gets one who has not asked twice.
"""


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


PLAN = """\
# A plan for the pumps, as the people of the works agreed on it last week at their meeting

<task type="auto">
  <name>Look after the hot side before anything else is begun there</name>
  <action>
Nobody of the day shift does any of this, and those of the night shift ask before they do it:
- drain the tank of the hot side, which takes an hour and a half
- close the inlet, and the outlet behind it
  - with the key that hangs beside the door
  - with the other key, should the first one break in the lock
- oil the shaft, with the oil from the red can and with no other one
  </action>
  <verify>
1. Read the gauge of the hot side, and write down what it says
2. Read it again after an hour, and compare both
  </verify>
</task>

For each of the pumps that are no longer needed:

1. Say that it will go:
   > "Pump seven goes, and it does not come back."

2. Ask for the lamp to be taken away
3. Take the motor out with all of its bolts

- **Messages** to those of the cold side look like this, and none of them is ever sent by hand:

```
pump=7 state=gone
```

**Never by hand:**

- turn the brass wheel
- lift the lid of the tank

```markdown
# Report of the day

- the gauge of pump seven was read at noon, and once more at midnight by the one who had the watch
- the lamp beside the door was lit by nobody, and it was found to be warm all the same, it is said
- the wheel of brass was turned by the wind, which nobody had asked for, and nobody has seen it
- the lid of the tank was where it is on every other day of the year, but for the first one of May
```

The lamp is blue.
"""


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


BOXES = """\
# Pumps

Every pump has a number. It is on its lid.

:::{important}
A pump does not close by itself.

All it does is to hold the water for as long as its lamp is lit. Then it lets go.

- the red one holds an hour
- the brass one holds two
:::

## Opening

::::{tab-set}
:::{tab-item} By hand
Turn the wheel to the left. Wait for the bell.
:::

:::{tab-item} By key
Press the key twice. Wait for the lamp. It is green.
:::
::::

Then wait for a minute. Nobody has to stand beside it.

::: warning
Never open two at once.

The main takes no more than one.
:::
"""


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


TEMPLATE = """\
# Pumps

Every pump has a number. It is on its lid. `{% if %}` is how a page asks which one it is.

{% ifversion hot %}
Wait for the red lamp. Open the inlet by a quarter.

Close it when the bell rings. The bell rings once.
{% else %}
Open the inlet at once. There is no lamp on this side.

Close it after a minute.
{% endif %}

{{< tabs >}}
{{% tab "By hand" %}}
Turn the wheel to the left. Wait for the bell.
{{% /tab %}}
{{% tab "By key" %}}
Press the key twice. Wait for the lamp. It is green.
{{% /tab %}}
{{< /tabs >}}

{% include "lamps.md" %}

Then wait for a minute. Nobody has to stand beside it.
"""


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


TASKS = """\
# Plan

<task>
  <action>
Open the lid of every pump that belongs to the hot side, and look for rust along its rim.

- The red pump is the first one, and its lid is locked with a key that hangs beside it
- The brass pump comes last, since nobody can reach it while the red one is running
  </action>
  <verify>
Read the book of the pumps and make sure that none of these is written in it:
1. A lid that was left open over night
2. A key that hangs on the wrong nail
3. A lamp that was out when the pump was opened
  </verify>
</task>
"""


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
