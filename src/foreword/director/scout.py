"""A scout: an explorer with a fresh context, a budget and a tab of its own, that comes back with a
report.

Its conversation is kept under a name of its own (`scout-1`) in the same workflow, for whoever wants
to read how a report came about; none of it is ever in the director's.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from threading import Thread
from typing import TYPE_CHECKING, Any

from foreword.director import debug_tools
from foreword.director.agent import Agent
from foreword.director.director_resources import Tell
from foreword.director.system_prompt import SCOUT
from foreword.director.tool import Answer, Arguments
from foreword.director.tool_context import ToolContext
from foreword.errors import BrowserFailed, UsageError
from foreword.session.session import Session
from foreword.store import messages

if TYPE_CHECKING:
    from foreword.browser import Browser

RECIPE = Path(__file__).parent / "scout.yaml"
# Of a scout's context. The elements of some pages and a report are small; a page as a whole is not
# what a scout is for.
BUDGET_TOKENS = 30_000
# Until its report is due: a scout that is lost costs no more than this.
MOST_REQUESTS = 30
REPORT_NOW = "Stop exploring and report what you have found so far. Call no more tools."
BLANK = "about:blank"
NO_MODEL = "explore with inspect_tab and debug_navigate, or open the director with a model"


def deploy_scout(context: ToolContext, given: Arguments) -> Answer:
    """Send a scout; its report, and the name of the conversation in which it came about."""
    if context.resources.model is None:
        raise UsageError("a scout needs a model", hint=NO_MODEL)
    if not given["instruction"].strip():
        raise UsageError("what is the scout to find out?", hint="give an instruction")
    with (
        _session(context) as session,
        _tab(context, session.conversation.name, given.get("url")) as (tab, not_ours),
    ):
        name = session.conversation.name
        own_context = context.for_scout(
            session, tab=tab, not_ours=not_ours, tell=_scout_events(context.tell, name)
        )
        agent = Agent(
            tool_context=own_context,
            tools={tool.name: tool for tool in debug_tools.TOOLS},
            most_requests=MOST_REQUESTS,
        )
        return {"report": _report(agent, given), "conversation": name}


def _report(agent: Agent, given: Arguments) -> str:
    instruction = given["instruction"]
    if given.get("url"):
        instruction += f"\n\nBegin at {given['url']}, which is open in your tab."
    agent.add_user_message(instruction)
    turn = agent.turn()
    if turn.unfinished:
        agent.add_user_message(REPORT_NOW)
        turn = agent.turn(most_requests=1)
    if turn.stopped:
        raise BrowserFailed("the scout was stopped before it could report")
    return turn.text or "The scout gave no report: it did not come to an end."


@contextmanager
def _session(context: ToolContext) -> Iterator[Session]:
    """A conversation that nobody has had yet, no larger than the director's own may be."""
    parent = context.session
    names = messages.names(parent.db, parent.workflow.id)
    number = 1
    while f"scout-{number}" in names:
        number += 1
    most = min(BUDGET_TOKENS, parent.limits.compress_at)
    with Session.open(
        parent.url,
        parent.workflow.name,
        root=parent.root,
        conversation=f"scout-{number}",
        recipe=str(RECIPE),
        budget=most,
        warn_at=most * 9 // 10,
        compress_at=most,
        compress_to=most // 4,
    ) as session:
        session.system_prompt = SCOUT
        yield session


@contextmanager
def _tab(context: ToolContext, name: str, url: str | None) -> Iterator[tuple[str, frozenset[str]]]:
    """A tab of the scout's own, and those that are not; whatever it has opened is closed again."""
    before = context.browser.tabs()
    names = frozenset(tab["name"] for tab in before)
    opened = context.browser.open_tab(url or BLANK, name=name)
    try:
        yield str(opened["tab"]), names
    finally:
        if context.cancel.is_set():  # whoever said stop does not wait for a page that hangs
            arguments = (context.browser_for_cleanup, before)
            Thread(target=_restore_tabs, args=arguments, daemon=True).start()
        else:
            _restore_tabs(context.browser_for_cleanup, before)


def _restore_tabs(browser: Browser, before: Sequence[Mapping[str, Any]]) -> None:
    """Close the tabs that were not there before, and go back to the one that was in front."""
    names = {tab["name"] for tab in before}
    for tab in browser.tabs():
        with suppress(BrowserFailed):
            if tab["name"] not in names:
                browser.close_tab(tab["name"])
    with suppress(BrowserFailed):
        for earlier in before:
            if earlier.get("active"):
                browser.activate(earlier["name"])


def _scout_events(tell: Tell, name: str) -> Tell:
    """Passes a scout's events on to the director's listener, marked with the scout's name; its
    text is left out."""

    def tell_of_scout(event: dict[str, Any]) -> None:
        if event["type"] != "text":
            tell({**event, "scout": name})

    return tell_of_scout
