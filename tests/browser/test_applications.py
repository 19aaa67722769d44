"""Single-page applications: the right row, what a click has set off, lists of scripts, and forms
that were rejected."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from threading import Thread
from typing import Any

import pytest

from foreword.browser import Browser, Rules
from foreword.errors import BrowserFailed
from tests.browser.shop import PDF, Shop
from tests.browser.working import in_the_page

KINDS = ("table", "list", "grid")
GONE = "document.querySelectorAll('tr, li, [role=row]')[0].remove()"


@pytest.fixture
def browser(browser: Browser, monkeypatch: pytest.MonkeyPatch) -> Browser:
    monkeypatch.setattr(browser, "rules", replace(browser.rules, action_seconds=2.0))
    return browser


def _deletes(browser: Browser) -> list[dict[str, Any]]:
    found = browser.explore("delete Order 1", limit=100)["elements"]
    return [one for one in found if one["name"] == "Delete"]


# ---- rows ----


@pytest.mark.parametrize("kind", KINDS)
def test_a_selector_of_a_row_that_is_gone_finds_no_other_row(
    browser: Browser, store: Shop, kind: str
) -> None:
    browser.navigate(f"{store.url}/orders/{kind}")
    [delete] = [one for one in _deletes(browser) if one["row"].startswith("Order 1 ")]
    in_the_page(browser, GONE)
    with pytest.raises(BrowserFailed, match="nothing on the page matches"):
        browser.click(delete["selector"])

    assert store.deleted == []


@pytest.mark.parametrize("kind", KINDS)
def test_every_row_of_many_that_differ_by_a_number_has_a_selector_of_its_own(
    browser: Browser, store: Shop, kind: str
) -> None:
    browser.navigate(f"{store.url}/orders/{kind}")
    deletes = _deletes(browser)
    assert len({one["selector"] for one in deletes}) == 12
    [second] = [one for one in deletes if one["row"].startswith("Order 2 ")]
    browser.perform("click", {"selector": second["selector"], "row": second["row"]})

    assert store.deleted == ["Order 2"]


def test_a_click_reaches_no_other_row_than_the_one_that_was_meant(
    browser: Browser, store: Shop
) -> None:
    browser.navigate(f"{store.url}/orders/table")
    row = browser.row_text("role=button[name=Delete] >> nth=2")
    assert row == "Order 3 open Delete"
    in_the_page(browser, GONE)
    with pytest.raises(BrowserFailed) as changed:
        browser.perform("click", {"selector": "role=button[name=Delete] >> nth=2", "row": row})

    assert "the row said 'Order 3 open Delete' when" in changed.value.message
    assert "and says 'Order 4 open Delete' now" in changed.value.message
    assert (store.deleted, changed.value.may_have_happened) == ([], False)


def test_a_row_that_is_replaced_as_it_is_clicked_is_not_clicked(
    browser: Browser, store: Shop
) -> None:
    browser.navigate(f"{store.url}/orders/table")
    row = browser.row_text("role=button[name=Delete] >> nth=0")
    in_the_page(
        browser,
        "document.querySelector('tr').addEventListener('pointermove',"
        " ({target}) => { target.closest('tr').cells[0].textContent = 'Order 99'; })",
    )
    with pytest.raises(BrowserFailed, match="and says 'Order 99 open Delete' now"):
        browser.perform("click", {"selector": "role=button[name=Delete] >> nth=0", "row": row})

    assert store.deleted == []
    browser.click("role=button[name=Delete] >> nth=1")
    assert store.deleted == ["Order 2"]


def test_two_rows_of_the_same_words_are_told_apart_by_the_number_and_guarded_by_nothing_else(
    browser: Browser, store: Shop
) -> None:
    store.orders = ["Order 1", "Order 1", "Order 2", "Order 3"]
    browser.navigate(f"{store.url}/orders/table")

    with pytest.raises(BrowserFailed, match="matches 2 elements"):
        browser.click('tr:has(:text-is("Order 1")) >> role=button[name="Delete"]')
    assert store.deleted == []


def test_the_row_of_five_thousand_is_the_one_that_was_meant(browser: Browser, store: Shop) -> None:
    store.orders = [f"Order {number}" for number in range(5_000)]
    browser.navigate(f"{store.url}/orders/table")
    selector = 'tr:has(:text-is("Order 4711")) >> role=button[name="Delete"]'
    row = browser.row_text(selector)
    browser.perform("click", {"selector": selector, "row": row, "timeout": 30})

    assert store.deleted == ["Order 4711"]


# ---- what an action sets off ----


def test_a_list_that_comes_by_a_chain_of_requests_is_read_after_the_click(
    browser: Browser, store: Shop
) -> None:
    browser.navigate(f"{store.url}/late")
    store.answering.clear()
    store.asked.clear()

    def answer() -> None:
        store.asked.wait(30)
        store.answering.set()

    Thread(target=answer, daemon=True).start()
    result = browser.click("#load")

    assert "loading" not in result
    assert browser.extract("li", many=True)["found"] == ["new 1", "new 2"]


def test_a_request_that_a_click_sends_after_a_while_is_waited_for(
    browser: Browser, store: Shop
) -> None:
    browser.navigate(f"{store.url}/late")
    browser.click("#timer")

    assert browser.extract("li", many=True)["found"] == ["new 1", "new 2"]


def test_a_request_that_does_not_end_is_told_and_keeps_no_later_click_waiting(
    browser: Browser, store: Shop, monkeypatch: pytest.MonkeyPatch
) -> None:
    browser.navigate(f"{store.url}/late")
    monkeypatch.setattr(browser, "rules", replace(browser.rules, action_seconds=0.5))
    store.answering.clear()
    result = browser.click("#load")

    assert result["loading"] == f"clicked; the page still waits for GET {store.url}/held"
    assert "loading" not in browser.click("#poll")


def test_a_save_that_takes_long_is_waited_for_the_next_time_as_well(
    browser: Browser, store: Shop, monkeypatch: pytest.MonkeyPatch
) -> None:
    browser.navigate(f"{store.url}/late")
    rules = browser.rules
    monkeypatch.setattr(browser, "rules", replace(rules, action_seconds=0.5))
    store.answering.clear()
    assert "POST" in browser.click("#save")["loading"]
    store.answering.set()
    browser.wait(selector="text=saved")
    monkeypatch.setattr(browser, "rules", rules)

    assert "loading" not in browser.click("#save")


def test_a_page_that_polls_without_end_is_not_waited_for(browser: Browser, store: Shop) -> None:
    browser.navigate(f"{store.url}/late")
    results = [browser.click("#poll"), browser.click("#poll"), browser.click("#load")]

    assert not any("loading" in result for result in results)
    assert browser.extract("li", many=True)["found"] == ["new 1", "new 2"]


def test_polls_that_the_server_refuses_are_no_failure_of_a_click(
    browser: Browser, store: Shop
) -> None:
    browser.navigate(f"{store.url}/late")
    in_the_page(
        browser,
        "let polls = 0; setInterval(async () => {"
        " await fetch('/refuse', {method: 'POST'});"
        " told.textContent = ++polls > 4 ? 'polling' : ''; }, 100)",
    )
    browser.perform("wait", {"text": "polling"})

    browser.click("#load")
    assert browser.extract("li", many=True)["found"] == ["new 1", "new 2"]


def test_an_address_that_differs_by_its_fragment_alone_is_loaded(
    browser: Browser, store: Shop
) -> None:
    for fragment in ("#/list", "#/list", "", "#/other"):
        browser.navigate(f"{store.url}/hash{fragment}")
        assert browser.is_present("text=Once")
        browser.click("text=Once")

    assert store.requests.count("/hash") == 4
    assert browser.extract("#told")["found"] == ""
    browser.perform("back", {})
    assert browser.tabs()[0]["url"] == f"{store.url}/hash"


# ---- lists of scripts, and fields ----


def test_what_is_typed_into_a_combobox_is_what_the_application_has_when_it_is_left(
    browser: Browser, store: Shop
) -> None:
    browser.navigate(f"{store.url}/nut")
    browser.type("#part", "nut")
    browser.click("text=Next")

    assert browser.extract("#told")["found"] == "nut"


def test_a_combobox_that_keeps_something_else_is_an_error_that_names_what_it_offers(
    browser: Browser, store: Shop
) -> None:
    browser.navigate(f"{store.url}/nut")
    with pytest.raises(BrowserFailed, match="does not keep what was typed when it is left") as kept:
        browser.type("#part", "ut")

    assert "it offers: nut, nutmeg" in kept.value.message
    browser.perform("select", {"selector": "#part", "choices": ["nutmeg"]})
    assert browser.extract("#told")["found"] == "nutmeg"


@pytest.mark.parametrize(
    ("selector", "shown"),
    [
        ("#radix", "#radix"),
        ('role=combobox[name="Priority"]', "#mui"),  # hidden from such selectors while it is open
        ("#react input", "#chosen"),
        ("#gradio", "#gradio"),
    ],
)
def test_select_chooses_in_lists_of_scripts(
    browser: Browser, store: Shop, selector: str, shown: str
) -> None:
    browser.navigate(f"{store.url}/choices")
    browser.perform("select", {"selector": selector, "choices": ["High"]})
    assert browser.extract(shown)["found"] == "High"
    with pytest.raises(BrowserFailed, match="no such choice; it has: Low, High, Highest"):
        browser.perform("select", {"selector": selector, "choices": ["Hig"]})
    assert not browser.is_present("#portal li")
    assert browser.extract(shown)["found"] == "High"
    browser.perform("select", {"selector": selector, "choices": ["Low"]})
    assert browser.extract(shown)["found"] == "Low"


def test_a_list_that_opens_with_the_focus_is_not_left_open_by_typing(
    browser: Browser, store: Shop
) -> None:
    browser.navigate(f"{store.url}/choices")
    browser.type("#gradio", "High")

    assert browser.extract("#gradio")["found"] == "High"
    browser.perform("wait", {"gone": "#portal li"})


def test_an_option_that_is_only_offered_is_no_text_that_a_field_has_kept(
    browser: Browser, store: Shop
) -> None:
    browser.navigate(f"{store.url}/choices")
    with pytest.raises(BrowserFailed, match="does not keep what was typed"):
        browser.type("#vue", "igh")


def test_a_text_is_waited_for_in_fields_too_but_not_in_passwords(
    browser: Browser, store: Shop, monkeypatch: pytest.MonkeyPatch
) -> None:
    browser.navigate(f"{store.url}/nut")
    in_the_page(
        browser,
        "document.body.prepend(Object.assign(document.createElement('input'),"
        " {hidden: true, value: 'left-handed bolt'}))",
    )
    script = (
        "setTimeout(() => { document.querySelector('#part').value = 'left-handed  bolt'; }, 200)"
    )
    in_the_page(browser, script)
    browser.perform("wait", {"text": "left-handed bolt"})
    in_the_page(browser, "document.querySelector('#part').type = 'password'")
    monkeypatch.setattr(browser, "rules", replace(browser.rules, page_seconds=0.5))

    with pytest.raises(BrowserFailed, match="does not say"):
        browser.perform("wait", {"text": "left-handed bolt"})


# ---- forms that were rejected ----


@pytest.mark.parametrize(
    ("button", "words"),
    [
        ("#refuse", "/refuse was rejected with status 422; the page says: No."),
        ("#script", "was rejected with status 422; the page says: The amount is too high."),
        ("#again", "the form was rejected; the page says: Please correct the error below.; Enter"),
        ("#take", "clicked; the form was not sent: Amount: Please fill out this field."),
    ],
)
def test_a_form_that_was_rejected_is_no_success(
    browser: Browser, store: Shop, button: str, words: str
) -> None:
    browser.navigate(f"{store.url}/forms")
    with pytest.raises(BrowserFailed) as rejected:
        browser.click(button)

    assert words in rejected.value.message
    assert not rejected.value.may_have_happened


def test_a_form_that_a_script_only_checks_is_not_rejected(browser: Browser, store: Shop) -> None:
    browser.navigate(f"{store.url}/forms")

    assert browser.click("#check")["title"] == "Forms"


def test_what_was_refused_beside_something_that_was_taken_may_have_happened(
    browser: Browser, store: Shop
) -> None:
    browser.navigate(f"{store.url}/forms")
    with pytest.raises(BrowserFailed, match="/refuse was rejected with status 422") as rejected:
        browser.click("#both")

    assert rejected.value.may_have_happened


def test_a_form_that_leads_to_another_page_is_taken_whatever_that_page_says_and_sends(
    browser: Browser, store: Shop
) -> None:
    browser.navigate(f"{store.url}/forms")
    assert browser.click("#moved")["title"] == "Taken"


def test_errors_of_a_page_are_told_and_its_lists_are_no_secrets(
    browser: Browser, store: Shop
) -> None:
    browser.navigate(f"{store.url}/errors")
    found = browser.explore("what is wrong?")

    assert found["errors"] == ["Mail: Enter an address.", "This field is required."]
    values = {one["selector"]: one.get("value") for one in found["elements"]}
    assert "English" in values.values()
    assert all("\u200b" not in selector for selector in values)


# ---- files ----


@pytest.mark.parametrize(
    ("link", "content"),
    [("#pdf", PDF), ("#json", b'{"sum": 7}'), ("#tab", b"seven\n")],
)
def test_what_a_tab_would_show_is_downloaded(
    browser: Browser, store: Shop, tmp_path: Path, link: str, content: bytes
) -> None:
    browser.navigate(f"{store.url}/files")
    result = browser.perform("download", {"selector": link, "timeout": 20}, folder=tmp_path)

    assert Path(result["path"]).read_bytes() == content
    assert "loading" not in result
    assert browser.click("#page", tab="Main Tab")["title"] == "Taken"


@pytest.mark.parametrize("link", ["#slow", "#page"])
def test_a_file_that_does_not_come_in_its_time_is_told(
    browser: Browser, store: Shop, tmp_path: Path, link: str
) -> None:
    browser.navigate(f"{store.url}/files")
    store.answering.clear()
    with pytest.raises(BrowserFailed, match=r"within 0\.5 s"):
        browser.perform("download", {"selector": link, "timeout": 0.5}, folder=tmp_path)


# ---- a fresh browser ----


def test_a_browser_that_is_started_anew_is_signed_in_only_where_that_is_wanted(
    store: Shop, path_with_chromium: str
) -> None:
    with Browser.start(Rules(origins=(store.url,))) as own:
        own.navigate(f"{store.url}/login")
        own.click("#enter")
        own.open_tab(f"{store.url}/forms", name="Debug")
        own.start_anew(keep_login=True)
        assert [tab["url"] for tab in own.tabs()] == ["about:blank"]
        assert own.navigate(f"{store.url}/login")["title"] == "Taken"
        own.start_anew()
        assert own.navigate(f"{store.url}/login")["title"] == "Login"
