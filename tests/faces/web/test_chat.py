"""The chat in a real browser: an answer while it is written, stop, and all of it by keyboard
alone."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from playwright.sync_api import Browser, Page, expect

import foreword
from foreword.faces.web import addresses
from foreword.testing import fake_provider
from tests.faces.http.directing import ENDLESS, obedient_model
from tests.faces.http.running import Address, running, settings_for, wait_until
from tests.faces.web.browsing import PHONE, tab
from tests.sessions import call, numbered_message, results

SECRET = "harbour-7-open-sesame"
NAMES = ("one", "two", "three", "four", "five")


@pytest.fixture(scope="module")
def model_server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Address]:
    """A server whose directors have a model."""
    folder = tmp_path_factory.mktemp("talking")
    with fake_provider(obedient_model) as provider:
        settings = settings_for(folder, model=provider.openai)
        for name in NAMES:
            with foreword.Session.open(settings.db, name, root=folder) as session:
                session.set_variable("creds.password", SECRET, "the user's")
        with running(settings) as (address, _):
            yield address


@pytest.fixture(scope="module")
def server_without_model(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[Address, str]]:
    """A server without a model, and its store."""
    folder = tmp_path_factory.mktemp("silent")
    settings = settings_for(folder)
    assert settings.db
    foreword.Session.open(settings.db, "silent", root=folder).close()
    with running(settings) as (address, _):
        yield address, settings.db


def _chat(name: str) -> str:
    return addresses.session(name, "chat")


def _last(page: Page) -> str:
    return page.locator("#log > li").last.inner_text()


def test_an_answer_is_seen_while_it_is_written_on_every_page_and_can_be_stopped(
    browser: Browser, model_server: Address
) -> None:
    with tab(browser, model_server) as mine, tab(browser, model_server) as other:
        page, theirs = mine.live(_chat("one")), other.live(_chat("one"))
        expect(page.locator("#log")).to_have_text("")
        page.fill("#say", "Just talk")
        page.click("#send")
        for shown in (page, theirs):
            expect(shown.locator("#writing")).to_contain_text(ENDLESS.strip())
            expect(shown.locator("#log")).to_contain_text("Just talk")
        expect(page.locator("#say")).to_have_value("")
        expect(page.locator("#send")).to_be_disabled()
        theirs.click("#stop")
        for shown in (page, theirs):
            expect(shown.locator("#log > li").last).to_contain_text("[stopped by the user]")
            expect(shown.locator("#writing")).to_be_hidden()
            expect(shown.locator("#stop")).to_have_count(0)
        expect(page.locator("#send")).to_be_enabled()


def test_calls_are_folded_with_their_results_and_what_stands_beside_the_chat_follows(
    browser: Browser, model_server: Address
) -> None:
    with tab(browser, model_server) as mine, tab(browser, model_server) as other:
        page, theirs = mine.live(_chat("two")), other.live(_chat("two"))
        page.fill("#say", f"Make a plan; the word is {SECRET}")
        page.keyboard.press("Enter")
        for shown in (page, theirs):
            expect(shown.locator("#log > li").last).to_contain_text("That is done.")
            expect(shown.locator("#beside-plan")).to_contain_text("1 of 2")
        folded = page.locator(".call")
        expect(folded).to_have_count(1)
        expect(folded).to_contain_text("1 of 2 tasks done")
        whole = folded.locator(".whole")
        expect(whole.locator("pre").first).to_be_hidden()
        whole.locator("summary").click()
        expect(whole).to_contain_text('"version": 1')
        page.fill("#say", "Now keep it")
        page.keyboard.press("Enter")
        expect(page.locator("#beside-variables")).to_contain_text("kept")
        expect(page.locator("#log > li")).to_have_count(6)
        expect(folded.first.locator(".whole pre").first).to_be_visible()
        assert SECRET not in page.content()


def test_a_chat_needs_nothing_but_a_keyboard(browser: Browser, model_server: Address) -> None:
    with tab(browser, model_server) as opened:
        page = opened.live(_chat("three"))
        page.locator("#say").focus()
        page.keyboard.type("first line")
        page.keyboard.press("Shift+Enter")
        page.keyboard.type("second line, talk")
        expect(page.locator("#say")).to_have_value("first line\nsecond line, talk")
        page.keyboard.press("Enter")
        expect(page.locator("#log > li").first).to_contain_text("second line")
        expect(page.locator("#say")).to_be_focused()
        page.keyboard.type("too early")
        page.keyboard.press("Enter")
        expect(page.locator("#told")).to_contain_text("at work")
        expect(page.locator("#say")).to_have_value("too early")
        page.keyboard.press("Shift+Tab")
        expect(page.locator("#stop")).to_be_focused()
        page.keyboard.press("Enter")
        expect(page.locator("#stop")).to_have_count(0)
        expect(page.locator("#say")).to_be_focused()
        page.keyboard.press("Enter")
        expect(page.locator("#log > li").last).to_contain_text("You said: too early")
        assert page.get_by_role("log", name="Conversation").get_attribute("aria-live") == "polite"


def test_what_breaks_is_said_and_can_be_tried_again(
    browser: Browser, model_server: Address
) -> None:
    with tab(browser, model_server, PHONE, dark=True) as opened:
        page = opened.live(_chat("four"))
        page.fill("#say", "Please break")
        page.keyboard.press("Enter")
        expect(page.get_by_role("alert").filter(has_text="no such model here")).to_be_visible()
        page.get_by_role("button", name="Go on").click()
        expect(page.get_by_role("alert").filter(has_text="no such model here")).to_be_visible()
        assert opened.overflow() <= 0


def test_without_scripts_words_are_sent(browser: Browser, model_server: Address) -> None:
    with tab(browser, model_server, script=False) as opened:
        page = opened.go(_chat("five"))
        page.fill("#say", "Hello there")
        page.click("#send")
        wait_until(lambda: "You said: Hello there" in opened.go(_chat("five")).content())


def test_without_a_model_the_chat_says_how_to_start_one(
    browser: Browser, server_without_model: tuple[Address, str]
) -> None:
    address, _ = server_without_model
    with tab(browser, address) as opened:
        page = opened.live(_chat("silent"))
        expect(page.locator("#say")).to_have_count(0)
        expect(page.locator(".chat .note")).to_contain_text("start the server with --model NAME")


def test_a_long_conversation_opens_at_its_end_and_older_messages_come_in_front(
    browser: Browser, server_without_model: tuple[Address, str]
) -> None:
    address, db = server_without_model
    with foreword.Session.open(db, "archive") as session:
        session.extend(
            [
                *(numbered_message(number, 5) for number in range(300)),
                call("a", "b"),
                results(a="of a", b="of b"),
            ]
        )
        session.extend(numbered_message(number, 5) for number in range(300, 339))
    with tab(browser, address) as opened:
        page = opened.live(_chat("archive"))
        lines = page.locator("#log > li")
        expect(lines.last).to_contain_text("Message 338.")
        expect(lines.last).to_be_in_viewport()
        expect(page.locator(".call-ok")).to_have_count(2)
        count = lines.count()
        page.click("text=Older messages")
        expect(page.locator("#log")).to_contain_text("Message 270.")
        assert lines.count() > count
        page.click("text=Older messages")
        expect(page.locator("#log")).to_contain_text("Message 230.")
        with foreword.Session.open(db, "archive", create=False) as session:
            session.append(numbered_message(339, 5))
        expect(lines.last).to_contain_text("Message 339.")
        expect(page.locator("#log")).to_contain_text("Message 230.")
        ids = page.eval_on_selector_all("#log > li", "all => all.map(one => one.id)")
        assert len(set(ids)) == len(ids)


def test_a_session_is_begun_on_the_page(
    browser: Browser, server_without_model: tuple[Address, str]
) -> None:
    with tab(browser, server_without_model[0]) as opened:
        page = opened.go("/")
        page.fill("#new", "read/my letters")
        page.keyboard.press("Enter")
        expect(page.locator("h1")).to_have_text("read/my letters")
        expect(page.locator(".chat")).to_contain_text("Nothing was said yet")
