"""The page of a server that others can reach, in a browser: the token is typed in, our own forms
are let in."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from playwright.sync_api import Browser, sync_playwright

from foreword.faces.http import token
from tests.faces.http.running import running, settings_for
from tests.faces.web.browsing import PROGRAMS

TOKEN = "a-token-that-is-long-enough"
FORM = """() => {
    const form = document.createElement('form');
    Object.assign(form, {method: 'post', action: '/sessions/kiln/undo'});
    document.body.append(form);
    form.submit();
}"""


@contextmanager
def browser_that_knows(name: str) -> Iterator[Browser]:
    """A browser in which a name leads to this machine."""
    program = next(filter(None, map(shutil.which, PROGRAMS)))
    rules = f"--host-resolver-rules=MAP {name} 127.0.0.1"
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=program, args=["--no-sandbox", rules])
        yield browser
        browser.close()


def test_on_a_plain_address_the_token_is_typed_in_and_the_pages_own_forms_are_let_in(
    tmp_path: Path,
) -> None:
    """A browser does not send `Sec-Fetch-Site` there, so only the origin says whose form it is."""
    settings = settings_for(
        tmp_path, host="0.0.0.0", token_digest=token.digest_of(TOKEN), hosts=("agents.example",)
    )
    with running(settings) as (address, _), browser_that_knows("agents.example") as browser:
        address.ask(
            "POST", "/v1/sessions", {"name": "kiln"}, headers={"authorization": f"Bearer {TOKEN}"}
        )
        page = browser.new_page()
        page.goto(f"http://agents.example:{address.port}/sessions/kiln")
        page.fill("#token", "wrong")
        page.keyboard.press("Enter")
        page.get_by_text("not the token of this server").wait_for()
        page.fill("#token", TOKEN)
        page.keyboard.press("Enter")
        page.get_by_role("link", name="kiln").first.wait_for()
        with page.expect_response("**/undo") as answered:
            page.evaluate(FORM)
        assert answered.value.status == 400  # let in; there is nothing to undo
