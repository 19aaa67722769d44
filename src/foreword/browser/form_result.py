"""Whether the server took what an action has sent, by what it answered and what the page then says.

An answer of 4xx or 5xx to anything that sends is a rejection. So is a form that is answered with a
page, and not with a redirect, on which errors are marked.
"""

from __future__ import annotations

from contextlib import suppress
from typing import TYPE_CHECKING

from foreword.browser import page_script
from foreword.browser.actions import Effect
from foreword.browser.page_requests import ServerAnswer
from foreword.browser.tab import Tab
from foreword.errors import BrowserFailed
from foreword.secrets.masking import mask

if TYPE_CHECKING:
    from collections.abc import Sequence

MOST_ERRORS = 4  # that an error tells: a form with more shows them by inspect_tab


async def rejection(tab: Tab, effect: Effect) -> BrowserFailed | None:
    """The error for what was sent and not taken, or not sent at all; None where nothing was
    rejected. A server that failed itself (5xx) may have taken it, and it has taken what it
    answered otherwise."""
    answers = tab.requests.answers()
    refused = [answer for answer in answers if answer.status >= 400]
    resent = [answer for answer in answers if answer.is_page and 200 <= answer.status < 300]
    done = effect.done or "done"
    if effect.invalid_fields and not answers:
        effect.may_have_happened = False
        return BrowserFailed(f"{done}; the form was not sent: {_joined(effect.invalid_fields)}")
    if not refused and not resent:
        return None
    errors = await _page_errors(tab, with_alerts=bool(refused))
    if not refused and not errors:
        return None
    what = _in_words(refused[-1]) if refused else "the form was rejected"
    not_taken = [answer for answer in answers if 400 <= answer.status < 500]
    if errors:
        not_taken += resent
    effect.may_have_happened = len(not_taken) < len(answers)
    said = f"; the page says: {_joined(errors)}" if errors else ""
    return BrowserFailed(f"{done}; {what}{said}")


async def _page_errors(tab: Tab, *, with_alerts: bool) -> list[str]:
    """What the page says is wrong; nothing of one that does not answer."""
    from playwright.async_api import Error

    errors = list[str]()
    with suppress(Error):
        errors = await page_script.read(
            tab.page, "errors", seconds=page_script.READ_SECONDS, alerts=with_alerts
        )
    return errors


def _in_words(answer: ServerAnswer) -> str:
    return f"{mask(answer.what)} was rejected with status {answer.status}"


def _joined(errors: Sequence[str]) -> str:
    more = len(errors) - MOST_ERRORS
    shown = [mask(error) for error in errors[:MOST_ERRORS]]
    return "; ".join([*shown, f"and {more} more"] if more > 0 else shown)
