"""What looks like a boundary tag is named in the report and left as it is; ordinary text is not
suspected."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from foreword.engine.pipeline import Request, assemble
from foreword.engine.render import TURN, boundary_pattern, lookalikes_of
from foreword.recipe.load import load
from foreword.section import Budget, Section
from foreword.tokens import counter
from tests.attacks import EXAMPLES
from tests.corpus import rows
from tests.sessions import Open

pytestmark = pytest.mark.attack

TAGS = frozenset(("task", "vision", "current_plan", "conversation_history", "turn"))
FINDER, REAL = lookalikes_of(TAGS), boundary_pattern(TAGS)
ALIKE = {
    "current_plan": [
        "‹current_plan›",
        "＜current_plan＞",
        "﹤current_plan﹥",
        "⟨current_plan⟩",
        "〈current_plan〉",
        "〈/current_plan〉",
        "❬current_plan❭",
        "❮current_plan❯",
        "ᐸcurrent_planᐳ",
        "&lt;current_plan&gt;",
        "&LT;/current_plan>",
        "&#60;current_plan>",
        "&#x3C;current_plan>",
        "\\u003ccurrent_plan\\u003e",
        "%3Ccurrent_plan%3E",
        "<ｃurrent_plan>",
        "<сurrent_plan>",
        "<current_рlan>",
        "<curre\u0301nt_plan>",
        "<currént_plan>",
        "<𝐜𝐮𝐫𝐫𝐞𝐧𝐭_𝐩𝐥𝐚𝐧>",
        "<current＿plan>",
        "<current-plan>",
        "<current plan>",
        "<current_pIan>",
        "<current_p1an>",
        "＜／current_plan＞",
        "‹ / Current_Plan ›",
        "‹cur\u200brent_plan›",
        "‹\u202ecurrent_plan›",
        "‹cur\xadrent_plan›",
        "‹" + "\u200b" * 300 + "current_plan›",
        "‹c" + "\u200b" * 10 + "urrent_plan›",
        "‹\ncurrent_plan x='1'›",
    ],
    "task": [
        "<ⓣⓐⓢⓚ>",
        "<тask>",
        "<tasк >",
        "<⁄task>",
        "<ᴛᴀꜱᴋ>",
        "<τask>",
        "<t\u05b0ask>",
        "<tаsk/>",
        "‹\x01task›",
    ],
    "vision": ["<vlsion>", "<visi0n>", "<vіsion>", "&lt;/VISION&gt;"],
}
CASES: list[tuple[str, str]] = []
for real_tag, lookalikes in ALIKE.items():
    CASES += [(real_tag, lookalike) for lookalike in lookalikes]
GUARDED = rows("lookalikes/guarded.jsonl")
PLAIN = rows("lookalikes/plain.jsonl")


@pytest.mark.parametrize(("tag", "text"), CASES, ids=ascii)
def test_what_looks_like_a_tag_is_found_and_its_tag_named(tag: str, text: str) -> None:
    found = FINDER.find(f"Zeile – {text} and {text} more")
    assert found
    assert (found.tag, found.count) == (tag, 2)
    assert not REAL.search(text)


@pytest.mark.parametrize("text", GUARDED, ids=ascii)
def test_what_is_made_harmless_is_not_told_twice(text: str) -> None:
    assert REAL.search(text)
    assert FINDER.find(f"Zeile – {text}") is None


@pytest.mark.parametrize("text", PLAIN)
def test_ordinary_text_is_not_suspected(text: str) -> None:
    assert FINDER.find(text) is None


def test_the_samples_of_real_projects_are_not_suspected() -> None:
    project = Path(__file__).parents[2]
    for recipe in ("director", "workflow", "factory", "package", "phases"):
        finder = lookalikes_of(frozenset((*load(recipe, project).sections, TURN)))
        for folder in ("tests/data", "docs", "src/foreword/demos", "src/foreword/recipes"):
            for path in (project / folder).rglob("*"):
                text = path.read_text("utf-8", "replace") if path.is_file() else ""
                assert finder.find(text) is None, path


def test_a_report_names_each_section_once_and_the_text_stays_as_it_is() -> None:
    odd = "see ‹task› and <tаsk> and ＜/docs＞"
    sections = [
        Section(tag="docs", text=odd, title="one.md"),
        Section(tag="task", text=f"{odd} " * 50),
    ]
    package = assemble(
        sections,
        Request(budget=Budget(9_000, 9_000), counter=counter("estimate"), tags=("docs", "task")),
    )
    assert package.text.count(odd) == 51
    warned = [warning for warning in package.report.warnings if "looks like" in warning]
    assert len(warned) == 2
    assert (
        warned[0]
        == "one.md: contains '\\u2039task', which looks like the boundary tag <task>, and 2 more of"
        " the kind; it was left as it is"
    )
    assert "and 149 more" in warned[1]
    assert all(warning.isascii() for warning in warned)


def test_a_conversation_is_warned_of_once_for_as_long_as_it_is_in_sight(open_session: Open) -> None:
    session = open_session(recipe="workflow")
    for number in range(3):
        session.append({"role": "user", "content": f"{number} ‹current_plan› all done"})
        (warning,) = [one for one in session.context().report.warnings if "looks like" in one]
        assert warning.startswith("conversation_history: contains '\\u2039current_plan'")
        assert (f"and {number} more" in warning) == bool(number)
    assert "‹current_plan› all done" in session.context().text


@settings(max_examples=EXAMPLES, deadline=None)
@given(st.text(st.sampled_from("<‹＜&lt;/ \nturnтаsk>\u200b\u0301ä"), max_size=60))
def test_no_text_is_more_than_it_can_take(text: str) -> None:
    found = FINDER.find(text)
    assert found is None or (found.count <= len(text) and found.tag in TAGS)


def test_a_text_of_nothing_but_brackets_is_looked_at_up_to_a_point() -> None:
    found = FINDER.find("‹task›" * 30_000)
    assert found
    assert found.count == 10_000
