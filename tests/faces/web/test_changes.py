"""What is changed on the page, and what changes by itself while somebody looks: in a real
browser, on two pages."""

from __future__ import annotations

from playwright.sync_api import Browser, Page, expect

import foreword
from foreword.plan import plan as planning
from tests.faces.http.running import Address
from tests.faces.web.browsing import tab
from tests.faces.web.scene import HOME, WORKFLOW, plan
from tests.sessions import numbered_message

PLAN = f"{HOME}/plan"


def _version(page: Page) -> int:
    return int(page.inner_text("#version-now"))


def test_ticking_a_task_asks_for_a_reason_and_makes_a_version_that_every_open_page_shows(
    browser: Browser, address: Address, agent: foreword.Session
) -> None:
    with tab(browser, address) as mine, tab(browser, address) as other:
        page, theirs = mine.live(PLAN), other.live(PLAN)
        before = _version(page)
        page.click("#tick-2")
        expect(page.locator("#reason")).to_be_focused()
        page.fill("#reason", "the node runs")
        page.click("#save")
        for shown in (page, theirs):
            expect(shown.locator("#version-now")).to_have_text(str(before + 1))
            expect(shown.locator(".task.completed.changed")).to_contain_text("Build a node")
            expect(shown.locator("#differences")).to_contain_text("the node runs")
        expect(page.locator("#change")).to_contain_text(f"Saved as version {before + 1}")
        assert agent.plan_version(before + 1).reason == "the node runs"


def test_an_agents_change_appears_and_neither_focus_nor_a_half_typed_reason_is_lost(
    browser: Browser, address: Address, agent: foreword.Session
) -> None:
    with tab(browser, address) as opened:
        page = opened.live(PLAN)
        page.click("#status-4")
        page.fill("#reason", "half a rea")
        page.select_option("#status", "cancelled")
        page.locator("#reason").focus()
        made = agent.update_plan(plan(t1="completed", t3="in_progress"), "the agent reads now")
        expect(page.locator("#version-now")).to_have_text(str(made.version))
        expect(page.locator(".task.in_progress")).to_contain_text("Read the inbox")
        expect(page.locator("#reason")).to_be_focused()
        expect(page.locator("#reason")).to_have_value("half a rea")
        expect(page.locator("#status")).to_have_value("cancelled")
        expect(page.locator("#told")).to_have_text(
            f"Version {made.version} of {made.version}: the agent reads now"
        )


def test_a_conflict_shows_what_came_in_between_and_keeps_what_was_typed(
    browser: Browser, address: Address, agent: foreword.Session
) -> None:
    agent.update_plan(plan(), "from the start")
    with tab(browser, address) as opened:
        page = opened.live(PLAN)
        page.click("#tick-1")
        page.fill("#reason", "looked at it myself")
        made = agent.update_plan(plan(t3="failed"), "the inbox is empty")
        page.click("#save")
        expect(page.locator("#change")).to_contain_text("somebody has updated it in the meantime")
        expect(page.locator("#change .diff")).to_contain_text("failed")
        expect(page.locator("#reason")).to_have_value("looked at it myself")
        expect(page.locator("#plan")).to_contain_text("was")
        page.click("#save")
        expect(page.locator("#change")).to_contain_text(f"Saved as version {made.version + 1}")
        newest = agent.get_current_plan()
        assert newest is not None
        statuses = [task["status"] for _, task in planning.tasks(newest)]
        assert statuses == ["completed", "pending", "failed", "pending"]


def test_the_version_slider_walks_through_the_history_and_marks_what_each_version_changed(
    browser: Browser, address: Address, agent: foreword.Session
) -> None:
    agent.update_plan(plan(), "from the start")
    newest = agent.update_plan(plan(t1="completed"), "scouted again").version
    with tab(browser, address) as opened:
        page = opened.live(PLAN)
        expect(page.locator(".task.changed")).to_contain_text("was pending")
        page.locator("#version").focus()
        page.keyboard.press("Home")
        expect(page.locator("#differences")).to_contain_text("the first plan")
        expect(page.locator("#plan")).to_contain_text("not the newest")
        expect(page.locator("#plan button")).to_have_count(0)
        expect(page.locator("#version")).to_be_focused()
        agent.update_plan(plan(t1="failed"), "while somebody looks at the past")
        expect(page.locator("#versions-title")).to_contain_text(f"of {newest + 1}")
        expect(page.locator("#version-now")).to_have_text("1")


def test_a_plan_is_changed_by_keyboard_alone(
    browser: Browser, address: Address, agent: foreword.Session
) -> None:
    agent.update_plan(plan(), "from the start")
    with tab(browser, address) as opened:
        page = opened.live(PLAN)
        _tab_to(page, "tick-3")
        page.keyboard.press("Enter")
        expect(page.locator("#reason")).to_be_focused()
        page.keyboard.press("ControlOrMeta+a")
        page.keyboard.type("by keyboard")
        page.keyboard.press("Enter")
        expect(page.locator("#change")).to_contain_text("Saved as version")
        expect(page.locator("#differences")).to_contain_text("by keyboard")


def test_one_can_skip_to_the_content_and_open_a_session_by_keyboard(
    browser: Browser, address: Address
) -> None:
    with tab(browser, address) as opened:
        page = opened.go("/")
        page.keyboard.press("Tab")
        expect(page.locator(".skip")).to_be_focused()
        page.keyboard.press("Enter")
        _tab_to(page, f"open-{WORKFLOW}")
        page.keyboard.press("Enter")
        expect(page.locator(".tabs a[aria-current]")).to_have_text("Monitor")


def test_compressing_shows_a_preview_first_and_can_be_undone(
    browser: Browser, address: Address, agent: foreword.Session
) -> None:
    before = len(agent.compressions())
    with tab(browser, address) as mine, tab(browser, address) as other:
        page, theirs = mine.live(HOME), other.live(HOME)
        page.click("#ask-compress")
        page.fill("#to", "1000")
        page.click("text=Preview again")
        expect(page.locator("#compress")).to_contain_text("Would go")
        assert len(agent.compressions()) == before
        page.click("#apply")
        for shown in (page, theirs):
            expect(shown.locator(".events")).to_contain_text(f"Compression {before + 1}")
        expect(page.locator("#compress")).to_contain_text("The history is compressed")
        page.click(f"#compression-{before + 1} summary")
        page.click("#undo")
        for shown in (page, theirs):
            expect(shown.locator(".events .undone").first).to_contain_text("Undone")
        expect(page.locator(f"#compression-{before + 1} pre")).to_be_visible()
        assert agent.compressions()[-1].undone


def test_what_was_left_out_is_shown_as_it_came_in_and_stays_unfolded_when_the_newest_is_asked_for(
    browser: Browser, address: Address, agent: foreword.Session
) -> None:
    agent.compress(to=1000)
    with tab(browser, address) as opened:
        page = opened.live(f"{HOME}/context")
        page.click("text=Show original")
        expect(page.locator(".here pre")).to_contain_text("Message 0.")
        agent.append(numbered_message(777))
        page.click("#anew")
        expect(page.locator(".here pre")).to_contain_text("Message 0.")  # still unfolded
        page.click("#section-5 summary")
        expect(page.locator("#text-5")).to_contain_text("Message 777.")
    agent.undo()


def test_new_messages_appear_on_the_monitor_and_in_the_list(
    browser: Browser, address: Address, agent: foreword.Session
) -> None:
    with tab(browser, address) as one, tab(browser, address) as other:
        monitor, listed = one.live(HOME), other.live("/")
        count = monitor.locator(
            ".stats div", has=monitor.get_by_text("Messages", exact=True)
        ).locator("dd.num")
        now = int(count.inner_text().replace(",", ""))
        for number in range(3):
            agent.append(numbered_message(number))
        expect(count).to_have_text(str(now + 3))
        expect(listed.locator("#sessions tr", has_text="gmail")).to_contain_text(str(now + 3))


def test_a_variable_appears_as_soon_as_it_is_set(
    browser: Browser, address: Address, agent: foreword.Session
) -> None:
    with tab(browser, address) as opened:
        page = opened.live(f"{HOME}/variables")
        agent.set_variable("retries", 5, "slow in the evening")
        expect(page.locator(".pairs")).to_contain_text("retries")
        expect(page.locator(".trail")).to_contain_text("slow in the evening")


def test_a_page_that_nobody_sees_gives_its_connection_back_and_catches_up_when_it_is_seen_again(
    browser: Browser, address: Address, agent: foreword.Session
) -> None:
    with tab(browser, address) as opened:
        page = opened.live(PLAN)
        hide = (
            "(hidden) => { Object.defineProperty(document, 'hidden', {value: hidden, configurable:"
            " true});"
        )
        hide += " document.dispatchEvent(new Event('visibilitychange')); }"
        page.evaluate(hide, True)
        made = agent.update_plan(plan(t2="cancelled"), "while nobody looks")
        page.evaluate(hide, False)
        expect(page.locator("#version-now")).to_have_text(str(made.version))
        expect(page.locator("#live")).to_have_text("live")


def test_a_page_that_lost_its_server_says_so(browser: Browser, address: Address) -> None:
    with tab(browser, address) as opened:
        page = opened.live(PLAN)
        page.evaluate("htmx.trigger(document.body, 'htmx:sseError')")
        expect(page.locator("#live")).to_have_text("reconnecting")
        expect(page.locator("#told")).to_have_text("The connection is lost; the page tries again.")


def test_a_refusal_is_told_beside_the_page_and_takes_nothing_away(
    browser: Browser, address: Address
) -> None:
    with tab(browser, address) as opened:
        page = opened.live(HOME)
        page.click("#ask-compress")
        page.fill("#to", "much")
        page.click("text=Preview again")
        expect(page.locator("#toast")).to_contain_text(
            "compress-to must be a positive whole number"
        )
        expect(page.locator("#to")).to_have_value("much")
        page.fill("#to", "1000")
        page.click("text=Preview again")
        expect(page.locator("#compress")).to_contain_text("Would go")
        expect(page.locator("#toast")).to_be_hidden()


def _tab_to(page: Page, wanted: str) -> None:
    """Press Tab until that control has the focus."""
    for _ in range(80):
        page.keyboard.press("Tab")
        if page.evaluate("document.activeElement.id") == wanted:
            return
    raise AssertionError(f"{wanted} can't be reached by keyboard")
