"""Every view in a real browser: what it shows, in both colour schemes, at phone width, and with
hostile names."""

from __future__ import annotations

from playwright.sync_api import Browser, expect

from foreword.faces.web import addresses
from tests.corpus import text_of
from tests.faces.http.running import Address
from tests.faces.web.browsing import DESKTOP, PHONE, tab
from tests.faces.web.scene import HOME, HOSTILE, LONG, SECRET, WORKFLOW

EVIL = addresses.session(HOSTILE)
VIEWS = {
    "/": "Sessions",
    HOME: WORKFLOW,
    f"{HOME}/compress?to=1000": "Compress the history",
    f"{HOME}/chat": "To talk, start the server with",
    f"{HOME}/chat?before=30": "To the newest messages",
    f"{HOME}/workflow": "Click",
    f"{HOME}/plan": "Gmail to Airtable",
    f"{HOME}/plan?task=3&status=completed": "Save version",
    f"{HOME}/plan?version=1": "not the newest",
    f"{HOME}/context": "What the model gets",
    f"{HOME}/context?budget=1500": "Left out",
    f"{HOME}/compare": "Conversation history",
    f"{HOME}/variables": "Trail",
    f"{HOME}/checkpoints": "phase 1",
    "/checkpoints": WORKFLOW,
    f"/checkpoints/{WORKFLOW}/1": "What a model reads to go on",
    "/reports": "workflow",
    "/reports/1": "Sections",
    "/reports/compare?old=1&new=2": "Conversation history",
    "/recipes": "1 problem",
    "/recipes/broken": "Lint",
    EVIL: "onerror",
    f"{EVIL}/chat": "onerror",
    f"{EVIL}/workflow": "onerror",
    f"{EVIL}/plan": "onerror",
    f"{EVIL}/plan?task=%22%3Cimg%20src%3Dx%20onerror%3Dalert(1)%3E": "Save version",
    f"{EVIL}/context": "onerror",
    f"{EVIL}/variables": "onerror",
    "/nothing/here": "there is no page at",
}


def test_every_view_shows_what_it_is_for_within_its_width_with_names_for_all_controls_and_no_error(
    browser: Browser, address: Address
) -> None:
    with tab(browser, address, PHONE) as opened:
        for path, words in VIEWS.items():
            page = opened.go(path)
            assert words in page.content() or words in page.inner_text("body"), path
            assert page.locator("img").count() == 0, path
            assert page.locator("main").count() == page.locator("h1").count() == 1, path
            for width, height in (DESKTOP, PHONE):
                page.set_viewport_size({"width": width, "height": height})
                assert opened.overflow() <= 0, path
                assert page.evaluate(UNNAMED) == [], path


def test_dark_and_light_follow_the_system_and_the_button_overrides_both(
    browser: Browser, address: Address
) -> None:
    with tab(browser, address, dark=True) as opened:
        page = opened.go("/")
        ground = "getComputedStyle(document.body).backgroundColor"
        dark = page.evaluate(ground)
        page.click("#theme")
        expect(page.get_by_role("button", name="Theme: light")).to_be_visible()
        light = page.evaluate(ground)
        assert light != dark
        opened.go(HOME)
        assert page.evaluate(ground) == light


def test_text_can_be_told_from_its_ground_in_both_schemes(
    browser: Browser, address: Address
) -> None:
    for dark in (False, True):
        with tab(browser, address, dark=dark) as opened:
            for path in (
                "/",
                HOME,
                f"{HOME}/chat",
                f"{HOME}/workflow",
                f"{HOME}/plan",
                f"{HOME}/context?budget=1500",
            ):
                faint = opened.go(path).evaluate(CONTRAST)
                assert faint == [], (path, dark)


def test_the_list_is_searched_while_one_types(browser: Browser, address: Address) -> None:
    with tab(browser, address) as opened:
        page = opened.go("/")
        expect(page.locator("#sessions tbody tr")).to_have_count(3)
        page.fill("#q", "GMAIL")
        expect(page.locator("#sessions tbody tr")).to_have_count(1)
        page.fill("#q", "nobody")
        expect(page.locator("#sessions")).to_contain_text("Nothing found")
        expect(page.locator("#q")).to_be_focused()


def test_a_row_of_the_list_leads_to_its_session_whatever_its_name(
    browser: Browser, address: Address
) -> None:
    with tab(browser, address) as opened:
        page = opened.go("/")
        page.locator(".row-link", has_text="onerror").click()
        expect(page.locator("h1")).to_contain_text("</script><img src=x onerror=alert(1)>")
        page.click("text=Plan")
        expect(page.locator(".task-notes").first).to_have_text(LONG.strip())


def test_the_monitor_draws_the_parts_the_limits_and_the_calls(
    browser: Browser, address: Address
) -> None:
    with tab(browser, address) as opened:
        page = opened.go(HOME)
        expect(page.locator(".legend tbody tr")).to_have_count(7)  # six parts, and what is free
        expect(page.locator(".stack .mark")).to_have_count(2)
        expect(page.locator(".stack")).to_contain_text("200K")
        expect(page.locator(".plot .slot")).to_have_count(10)
        expect(page.locator(".reuse rect.kept")).to_have_count(10)
        expect(page.locator("#monitor")).to_contain_text("first call")


def test_secrets_are_hidden_and_their_changes_too(browser: Browser, address: Address) -> None:
    with tab(browser, address) as opened:
        page = opened.go(f"{HOME}/variables")
        expect(page.locator(".pairs tr", has_text="gmail.password")).to_contain_text("hidden")
        expect(page.locator(".trail li", has_text="typed by the person")).to_contain_text(
            "[hidden]"
        )
    for path in VIEWS:
        assert SECRET.encode() not in address.ask("GET", path).body, path


def test_a_section_unfolds_and_the_pages_of_its_text_are_the_text(
    browser: Browser, address: Address
) -> None:
    with tab(browser, address) as opened:
        page = opened.go(f"{HOME}/context")
        page.click("#section-5 summary")
        expect(page.locator("#text-5 pre")).to_contain_text("<conversation_history>")
        expect(page.locator("#text-5")).to_contain_text("Page 1 of")
        page.click("#to-5-Last")
        expect(page.locator("#text-5 pre")).to_contain_text("</conversation_history>")
        expect(page.locator("#section-5 summary")).to_be_visible()


def test_the_budget_slider_fits_the_same_inputs_again_at_once(
    browser: Browser, address: Address
) -> None:
    with tab(browser, address) as opened:
        page = opened.go(f"{HOME}/context")
        page.locator("#budget").focus()
        page.keyboard.press("Home")
        expect(page.locator("#refit")).to_contain_text("Left out")
        expect(page.locator("#refit tr.moved")).to_contain_text("newest")
        expect(page.locator("#budget-now")).to_have_text("1,000")
        expect(page.locator("#budget")).to_be_focused()
        page.keyboard.press("End")
        expect(page.locator("#refit")).to_contain_text("everything fits whole")


def test_two_calls_are_compared_as_soon_as_they_are_chosen(
    browser: Browser, address: Address
) -> None:
    with tab(browser, address) as opened:
        page = opened.go(f"{HOME}/compare")
        page.select_option("#old", "1")
        expect(page.locator("#compared .foot")).to_contain_text("Report 1")
        expect(page.locator("#compared")).to_contain_text("grew")


def test_without_scripts_the_list_is_searched_and_a_task_is_ticked(
    browser: Browser, address: Address
) -> None:
    with tab(browser, address, script=False) as opened:
        page = opened.go("/")
        page.fill("#q", "gmail")
        page.click(".search button")
        expect(page.locator("#sessions tbody tr")).to_have_count(1)
        opened.go(f"{HOME}/plan")
        page.click("#tick-3")
        expect(page.locator("#reason")).to_have_value("Set to completed by hand")
        page.click("#save")
        expect(page.locator("#change")).to_contain_text("Saved as version 3")
        expect(page.locator(".task.completed.changed")).to_contain_text("Read the inbox")


# Every text with too little contrast (WCAG AA: 4.5, large text 3) against the nearest painted
# ground behind it.
CONTRAST = text_of("web/contrast.js")

# Every control that a screen reader could not name.
UNNAMED = """() => [...document.querySelectorAll(
    "a[href], button, input:not([type=hidden]), select, summary, [role=img]")]
  .filter(one => one.checkVisibility())
  .filter(one => !(one.getAttribute("aria-label") || one.textContent.trim() || one.labels?.length))
  .map(one => one.outerHTML.slice(0, 120))"""


def test_on_a_phone_a_long_name_of_a_session_leaves_the_number_of_its_report_in_sight(
    browser: Browser, address: Address
) -> None:
    with tab(browser, address, PHONE) as opened:
        for box in opened.go("/reports").locator(".row-link").all():
            place = box.bounding_box()
            assert place
            assert place["width"] > 60
