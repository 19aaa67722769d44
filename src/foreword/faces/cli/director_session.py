"""A director for the length of a command: its store, its browser, and a word where the workflow
was made just now."""

from __future__ import annotations

from collections.abc import Collection, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from foreword.faces.cli import screen
from foreword.faces.cli.browser_choice import BrowserChoice
from foreword.faces.cli.workflow_argument import say_if_new
from foreword.sources.project_root import project_root

if TYPE_CHECKING:
    from foreword.browser import Rules
    from foreword.director import Director
    from foreword.session.workflow_state import WorkflowState


@contextmanager
def open_director(
    db: str | None,
    workflow: str,
    root: str,
    browser: BrowserChoice,
    model: str | None = None,
    **session: Any,
) -> Iterator[Director]:
    """A workflow's director; what it started is closed behind it."""
    from foreword.director import Director

    folder = project_root(root)
    with (
        browser.reached(folder) as given,
        Director.open(db, workflow, root=folder, model=model, browser=given, **session) as director,
    ):
        say_if_new(director.session)
        offered = _offer(director.session, browser.rules, ())
        try:
            yield director
        finally:
            director.desk.keep_blocked()
            _offer(director.session, browser.rules, offered)


def _offer(state: WorkflowState, rules: Rules, before: Collection[str]) -> list[str]:
    """Say what pages of this workflow could not load, and how to allow it; what was said before
    is not said again."""
    from foreword.director import assets

    lines = [
        f"blocked: {', '.join(one.kinds)} of {one.origin}; {one.option} lets them through"
        for one in assets.origins_to_offer(state, rules)
    ]
    for line in lines:
        if line not in before:
            screen.say(line)
    return lines
