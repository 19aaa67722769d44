"""The context monitor: how full the window is, how it grew, what a prompt cache could reuse, and
compressions."""

from __future__ import annotations

from typing import Any

from starlette.responses import Response

from foreword.errors import UnknownName, UsageError
from foreword.faces.web import addresses, header
from foreword.faces.web.chart import growth
from foreword.faces.web.rendering import page, shares
from foreword.faces.web.text_pages import page_of_text
from foreword.faces.web.view_request import ViewRequest, go_to
from foreword.operations.conversation_operations import hide_secrets, newest_compression
from foreword.session.cache_reuse import FIRST
from foreword.session.session import Session

CALLS = 200  # in the chart: more are narrower than a pixel on a phone
LISTED = 12  # in the table
# Of the next call: a conversation that is larger than this has parts that are not in it. The two
# are counted apart, line ends between parts included, and never differ by so much otherwise.
SAME_SIZE = 1.01


def show(request: ViewRequest) -> Response:
    """The monitor of one session."""
    with request.session() as session:
        return page("monitor.html", **_monitor(session, request), preview=None, target="")


def preview(request: ViewRequest) -> Response:
    """The same with what a compression would do; nothing is changed."""
    target = request.text("to").strip()
    with request.session() as session:
        made = session.compress(to=target or None, preview=True)
        return page("monitor.html", **_monitor(session, request), preview=made, target=target)


def compress(request: ViewRequest) -> Response:
    """Compress, and show what has become of it."""
    with request.session() as session:
        made = session.compress(to=request.text("to").strip() or None)
        outcome = "compressed" if made.applied else "nothing"
        talk = session.conversation.name
        return go_to(addresses.session(request.workflow, conversation=talk, said=outcome))


def undo(request: ViewRequest) -> Response:
    """Take back the compression that the button belongs to, if it is still the newest."""
    number = request.number("number", 0)
    with request.session() as session:
        newest = newest_compression(session.compressions())
        if newest is None or newest.number != number:
            raise UsageError(
                f"compression {number} is not the newest any more", hint="look at the list again"
            )
        session.undo()
        talk = session.conversation.name
        return go_to(addresses.session(request.workflow, conversation=talk, said="undone"))


def summary(request: ViewRequest) -> Response:
    """The summary of one compression, in pages."""
    number = request.path_param("number")
    with request.session() as session:
        made = {compression.number: compression for compression in session.compressions()}
        if number not in made:
            raise UnknownName(
                "compression", str(number), map(str, made), where=f"of {request.workflow!r}"
            )
        address = addresses.session(
            request.workflow, f"compressions/{number}", conversation=session.conversation.name
        )
        found = hide_secrets(made[number], session.secrets())
        text = page_of_text(found.summary, request.number("page", 1))
        return page(
            "original.html",
            **header.of(session, "monitor", request.conversations),
            title=f"Compression {number}",
            text=text,
            name=f"The summary of compression {number}",
            address=address,
        )


def _monitor(session: Session, request: ViewRequest) -> dict[str, Any]:
    now = session.overview(CALLS)
    usage = now.usage
    made = now.compressions
    report = now.package.report if now.package else None
    whole = max(session.limits.window, sum(now.next_parts.values()))
    return {
        **header.of(session, "monitor", request.conversations),
        "title": session.workflow.name,
        "usage": usage,
        "limits": session.limits,
        "report": report,
        "due": now.due,
        "next_tokens": now.next_tokens,
        "is_more": usage["size_tokens"] > SAME_SIZE * now.next_tokens,
        "problem": now.problem,
        "bars": shares(now.next_parts, whole),
        "whole": whole,
        "growth": growth(usage["log"], made, session.limits),
        "compressions": list(reversed(made)),
        "newest": newest_compression(made),
        "calls": usage["log"][:LISTED],
        "first": FIRST,
        "most_calls": CALLS,
        "outcome": request.text("said"),
    }
