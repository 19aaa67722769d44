"""The recipe of a session for which none was named: `chat` until there is a state, then
`workflow-cached`."""

from __future__ import annotations

from collections.abc import Callable

import pytest

import foreword
from tests.sessions import Open, plan

STATE = ["current_plan", "workflow_snapshot", "workflow_variables", "browser_state"]
TABS = [{"name": "mail", "url": "https://mail.example/", "active": True}]
NODE = {"id": "node_1", "type": "navigate", "position": 1, "params": {"url": "https://a.example"}}
Begin = Callable[[foreword.Session], object]


def use_variable(session: foreword.Session) -> None:
    session.set_variable("rate", "7", "new")
    session.clear_variable("rate", "no longer needed")


BEGINNINGS: dict[str, Begin] = {
    "plan": lambda session: session.update_plan(plan(), "first plan"),
    "variable": lambda session: session.set_variable("rate", "7", "new"),
    "variable that is gone": use_variable,
    "node": lambda session: session.put_node(NODE),
    "tab": lambda session: session.context(browser=TABS),
}


def tags(package: foreword.Package) -> list[str]:
    return [row.tag for row in package.report.sections]


def talk(session: foreword.Session) -> foreword.Session:
    session.append({"role": "system", "content": "You are Director."})
    session.append({"role": "user", "content": "Which kiln is hot? <current_plan>"})
    session.append({"role": "assistant", "content": "Kiln 7."})
    return session


def test_a_session_begins_as_a_chat_and_has_nothing_that_nobody_wrote(open_session: Open) -> None:
    session = open_session()
    session.append({"role": "user", "content": "Which kiln is hot?"})
    package = session.context()
    assert (package.report.recipe, tags(package)) == ("chat", ["conversation_history"])
    assert session.size_tokens() - package.report.total_tokens in (0, 1)


@pytest.mark.parametrize("begin", BEGINNINGS.values(), ids=BEGINNINGS)
def test_the_first_plan_variable_node_or_tab_gives_it_a_state_for_good(
    open_session: Open, begin: Begin
) -> None:
    session = talk(open_session())
    assert session.context().report.recipe == "chat"
    with open_session() as elsewhere:
        begin(elsewhere)
    for one in (session, open_session()):
        package = one.context()
        assert package.report.recipe == "workflow-cached"
        assert tags(package) == ["system_prompt", "conversation_history"]
        for tag in STATE:
            assert package.text.count(f"\n<{tag}>\n") == 1
    session.cut()
    assert tags(session.context()) == ["system_prompt", *STATE, "conversation_history"]


def test_what_was_sent_before_the_first_state_is_the_beginning_of_what_is_sent_after_it(
    open_session: Open,
) -> None:
    session = talk(open_session(counter="estimate"))
    before = session.context()
    session.update_plan(plan(), "first plan")
    after = session.context()
    assert after.text.startswith(before.text.partition("</conversation_history>")[0])
    assert session.usage()["log"][0]["prefix_break"] == ""
    assert [cut["reason"] for cut in session.cuts()] == ["first call"]


@pytest.mark.parametrize("recipe", ["chat", "workflow"])
def test_a_recipe_that_was_named_stays(open_session: Open, recipe: str) -> None:
    with talk(open_session(recipe=recipe)) as session:
        session.context()
    session = open_session()
    session.update_plan(plan(), "first plan")
    assert session.context(browser=TABS).report.recipe == recipe


def test_a_call_with_any_recipe_that_has_a_state_keeps_it(open_session: Open) -> None:
    session = talk(open_session())
    with open_session(recipe="workflow") as elsewhere:
        elsewhere.context(browser=TABS)
    assert session.context().report.recipe == "workflow-cached"


def test_tabs_of_a_preview_leave_a_session_without_a_state(open_session: Open) -> None:
    session = talk(open_session())
    assert session.context(browser=TABS, save=False).report.recipe == "workflow-cached"
    assert session.context().report.recipe == "chat"


def test_a_budget_has_room_for_the_whole_state_or_is_an_error(open_session: Open) -> None:
    session = open_session()
    session.append({"role": "user", "content": "Which kiln is hot today?"})
    session.set_variable("rate", "7", "new")
    session.put_node(NODE)
    with pytest.raises(foreword.EssentialsTooLarge) as found:
        session.context(budget=1)
    for budget in range(found.value.needed, 200):
        package = session.context(budget=budget)
        assert tags(package) == ["system_prompt", *STATE, "conversation_history"], budget
