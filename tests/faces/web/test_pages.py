"""The page without a browser: what it answers to bad input, what it never loads, and what it
escapes."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from urllib.parse import urlencode

import pytest

import foreword
from foreword.director.system_prompt import DIRECTOR
from foreword.faces.web import addresses
from foreword.store import messages
from tests.corpus import rows
from tests.faces.http.running import Address, Reply, running, settings_for
from tests.faces.web.scene import HOME, HOSTILE, IMAGE, WORKFLOW, plan
from tests.sessions import numbered_message

FORM = {"content-type": "application/x-www-form-urlencoded"}


def post(address: Address, path: str, **form: object) -> Reply:
    return address.ask("POST", path, urlencode(form).encode(), headers=FORM)


def words(reply: Reply) -> str:
    return reply.body.decode()


@pytest.mark.parametrize(("path", "status", "message"), rows("http/pages_refused.jsonl"))
def test_what_can_not_be_shown_is_a_page_with_the_message_and_a_way_back(
    address: Address, path: str, status: int, message: str
) -> None:
    reply = address.ask("GET", path)
    assert (reply.status, message in words(reply)) == (status, True), words(reply)
    assert reply.headers["content-type"].startswith("text/html")
    assert "Back to the sessions" in words(reply)


def test_a_warning_names_no_second_figure_where_all_of_the_conversation_is_in_the_call(
    tmp_path: Path,
) -> None:
    settings = settings_for(tmp_path, window=4_000)
    with foreword.Session.open(settings.db, "long", root=tmp_path, window=4_000) as session:
        warn_at = session.limits.warn_at
        while session.size_tokens() <= warn_at:
            session.append({"role": "user", "content": "Low water at three. " * 5})
    with running(settings) as (address, _):
        page = words(address.ask("GET", "/sessions/long"))
    assert f"It is past {warn_at / 1_000:g}K" in page
    assert "All of it would be" not in page
    assert "Everything, whole" not in page


def test_the_page_says_what_answers_cost_and_unknown_where_there_is_no_price(
    tmp_path: Path,
) -> None:
    settings = settings_for(tmp_path)
    usage = {"input_tokens": 900_000, "output_tokens": 100_000, "cache_read_input_tokens": 100_000}
    for model in ("claude-sonnet-4-5", "mine"):
        with foreword.Session.open(settings.db, model, root=tmp_path) as session:
            answer = {"role": "assistant", "content": "x", "model": model, "usage": usage}
            session.append(answer)
    with running(settings) as (address, _):
        priced = words(address.ask("GET", "/sessions/claude-sonnet-4-5"))
        unpriced = words(address.ask("GET", "/sessions/mine"))
    assert "4.23 USD" in priced
    assert "for 1 answer that said what they cost: 1M tokens in" in priced
    assert '<dt>Answers</dt><dd class="num">unknown</dd>' in unpriced


def test_looking_for_a_conversation_that_is_not_there_makes_none(
    address: Address, agent: foreword.Session
) -> None:
    address.ask("GET", HOME, conversation="other")
    assert messages.names(agent.db, agent.workflow.id) == ["main"]


def test_every_conversation_of_a_workflow_can_be_chosen(
    address: Address, scene: tuple[Address, str]
) -> None:
    for talk in ("one", "two"):
        with foreword.Session.open(scene[1], "talks", conversation=talk) as session:
            session.append({"role": "user", "content": f"in {talk}"})
    first = words(address.ask("GET", "/sessions/talks/context"))
    assert "in one" in first
    assert "<option selected>one</option><option>two</option>" in first
    assert "in two" in words(address.ask("GET", "/sessions/talks/context", conversation="two"))


@pytest.mark.parametrize(
    ("form", "status", "message"),
    [
        ({"task": "2", "status": "completed", "reason": " "}, 400, "a change needs a reason"),
        ({"task": "2", "status": "done", "reason": "x"}, 404, "unknown status"),
        ({"task": "99", "status": "completed", "reason": "x"}, 404, "unknown task"),
        (
            {"task": "2", "status": "completed", "reason": "kept words", "version": 1},
            409,
            "Your change is still here",
        ),
    ],
)
def test_a_change_that_can_not_be_made_changes_nothing_and_shows_the_form_again(
    address: Address, agent: foreword.Session, form: dict[str, object], status: int, message: str
) -> None:
    agent.update_plan(plan(), "again")
    before = [kept.version for kept in agent.plan_history()]
    reply = post(address, f"{HOME}/plan", **{"version": before[-1], **form})
    assert (reply.status, message in words(reply)) == (status, True), words(reply)
    assert f'value="{form["reason"]}"' in words(reply) or not str(form["reason"]).strip()
    assert [kept.version for kept in agent.plan_history()] == before


def test_a_task_that_is_saved_as_it_was_makes_no_version(
    address: Address, agent: foreword.Session
) -> None:
    version = agent.update_plan(plan(t2="failed"), "again").version
    form = {"task": "2", "status": "failed", "reason": "it did", "version": version}
    reply = post(address, f"{HOME}/plan", **form)
    assert reply.status == 303
    assert f"still version {version}" in words(address.ask("GET", reply.headers["location"]))
    assert agent.plan_history()[-1].version == version


def test_only_the_assistant_of_a_director_is_called_one(tmp_path: Path) -> None:
    settings = settings_for(tmp_path)
    for name, prompt in (("a director", DIRECTOR), ("a chat", "You are kind.")):
        with foreword.Session.open(settings.db, name, root=tmp_path) as session:
            session.system_prompt = prompt
            session.append({"role": "user", "content": "hello"})
            session.append({"role": "assistant", "content": "good day"})
    with running(settings) as (address, _):
        director, chat = (
            words(address.ask("GET", addresses.session(name, "chat"))).partition("</ol>")[0]
            for name in ("a director", "a chat")
        )
    assert (">Director<" in director, ">Assistant<" in director) == (True, False)
    assert (">Director<" in chat, ">Assistant<" in chat) == (False, True)


def test_a_view_with_nothing_to_show_has_no_tab_but_on_itself(tmp_path: Path) -> None:
    settings = settings_for(tmp_path)
    with foreword.Session.open(settings.db, "chat", root=tmp_path) as session:
        session.append({"role": "user", "content": "hello"})
    with running(settings) as (address, _):
        assert _tabs(address, "/sessions/chat") == ["Monitor", "Chat", "Context"]
        assert _tabs(address, "/sessions/chat/plan") == ["Monitor", "Chat", "Plan", "Context"]


def _tabs(address: Address, path: str) -> list[str]:
    return re.findall(r'id="tab-\w+".*?>(\w+)</a>', words(address.ask("GET", path)))


def test_only_the_newest_compression_is_undone(address: Address, agent: foreword.Session) -> None:
    agent.compress(to=1000)
    number = agent.compressions()[-1].number
    refused = post(address, f"{HOME}/undo", number=number - 1)
    assert (refused.status, "is not the newest any more" in words(refused)) == (400, True)
    assert not agent.compressions()[-1].undone
    assert post(address, f"{HOME}/undo", number=number).status == 303
    assert agent.compressions()[-1].undone


def test_a_variable_is_set_as_text_and_a_secret_is_shown_nowhere(
    address: Address, agent: foreword.Session
) -> None:
    made = post(
        address, f"{HOME}/variables", name="login.password", value="0815-4711", reason="to sign in"
    )
    assert made.status == 303
    assert agent.get_workflow_variables()["login.password"] == "0815-4711"
    shown = words(address.ask("GET", f"{HOME}/variables"))
    assert ("login.password" in shown, "0815-4711" in shown) == (True, False)
    for form in (
        {"name": " ", "value": "x", "reason": "y"},
        {"name": "z", "value": "x", "reason": " "},
    ):
        assert post(address, f"{HOME}/variables", **form).status == 400
    assert "z" not in agent.get_workflow_variables()
    agent.clear_variable("login.password", "done")


def test_the_window_a_server_was_started_with_is_that_of_its_sessions(tmp_path: Path) -> None:
    with running(settings_for(tmp_path, window=32_000)) as (address, _):
        post(address, "/sessions", name="letters")
        assert "of 32K" in words(address.ask("GET", "/sessions/letters/chat"))
        assert "of 32K" in words(address.ask("GET", "/"))


def test_another_site_can_not_change_anything(address: Address, agent: foreword.Session) -> None:
    before = agent.get_current_plan()
    form = urlencode({"task": "2", "status": "failed", "reason": "x", "version": 2}).encode()
    reply = address.ask(
        "POST", f"{HOME}/plan", form, headers={**FORM, "origin": "https://example.com"}
    )
    assert reply.status == 403
    assert agent.get_current_plan() == before


@pytest.mark.parametrize(
    "view", ["", "chat", "workflow", "plan", "context", "variables", "compare", "checkpoints"]
)
def test_no_text_of_a_user_becomes_markup(address: Address, view: str) -> None:
    reply = address.ask("GET", addresses.session(HOSTILE, *([view] if view else [])))
    assert reply.status == 200
    assert IMAGE not in words(reply)
    assert "<img" not in words(reply)
    own = 6 if view in ("chat", "workflow") else 5
    assert words(reply).count("</script>") == words(reply).count("<script ") == own


@pytest.mark.parametrize(
    "view", ["", "/chat", "/workflow", "/compress", "/plan", "/context", "/variables"]
)
def test_no_markup_has_a_style_or_a_script_of_its_own(address: Address, view: str) -> None:
    text = words(address.ask("GET", HOME + view))
    assert " style=" not in text
    assert "<style" not in text
    assert "<script>" not in text
    assert " onclick" not in text
    assert "http://" not in text.replace("http://www.w3.org/2000/svg", "")
    assert "https://" not in text


@pytest.fixture(scope="module")
def archive(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Address]:
    """A session with many messages, of which most are out of sight."""
    folder = tmp_path_factory.mktemp("archive")
    settings = settings_for(folder)
    with foreword.Session.open(settings.db, WORKFLOW, root=folder) as session:
        session.extend(numbered_message(number, 90) for number in range(3_000))
    with running(settings) as (address, _):
        yield address


def test_a_long_history_is_shown_in_pages_and_never_whole(archive: Address) -> None:
    sizes = {
        view: len(archive.ask("GET", HOME + view).body)
        for view in ("", "/chat", "/context", "/context/section/5")
    }
    assert max(sizes.values()) < 60_000
    text = words(archive.ask("GET", f"{HOME}/context"))
    handle = text.split("/context/original/")[1].split('"')[0]
    last = words(archive.ask("GET", f"{HOME}/context/original/{handle}", page=1_000_000))
    assert "Page 1 of" not in last
    assert last.count("Message ") <= 40
    assert "Message 0." in words(archive.ask("GET", f"{HOME}/context/original/{handle}"))


def test_a_store_without_sessions_says_what_to_run(tmp_path: Path) -> None:
    with running(settings_for(tmp_path)) as (address, _):
        text = words(address.ask("GET", "/"))
        assert "No sessions yet" in text
        assert "foreword demo" in text
        for view in ("/reports", "/reports/compare", "/checkpoints", "/recipes"):
            assert address.ask("GET", view).status == 200


def test_a_name_in_a_command_to_copy_is_one_word_of_it(tmp_path: Path) -> None:
    settings, name = settings_for(tmp_path), "a; rm -rf ~"
    foreword.Session.open(settings.db, name, root=tmp_path).close()
    with running(settings) as (address, _):
        text = words(address.ask("GET", addresses.session(name, "plan")))
        assert "foreword plan update &#39;a; rm -rf ~&#39; plan.json" in text


def test_a_new_session_has_every_view(tmp_path: Path) -> None:
    settings = settings_for(tmp_path)
    foreword.Session.open(settings.db, "new", root=tmp_path).close()
    with running(settings) as (address, _):
        for view in (
            "",
            "/chat",
            "/workflow",
            "/compress",
            "/plan",
            "/context",
            "/compare",
            "/variables",
            "/checkpoints",
        ):
            assert address.ask("GET", f"/sessions/new{view}").status == 200, view
