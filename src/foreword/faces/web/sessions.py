"""The list of sessions: how large each is against its limits, in which state, and when it last changed."""

from __future__ import annotations

from starlette.responses import Response

from foreword.faces.web.asking import Asked
from foreword.faces.web.rendering import page
from foreword.runtime.limits import Limits, limits_for
from foreword.store.workflows import Listed, listed

MOST_SHOWN = 200
STATES = {"ok": "OK", "warned": "Warned", "compressed": "Compressed"}


def show(asked: Asked) -> Response:
    """Every session, the last changed first; `q` is part of a name."""
    wanted = asked.text("q").strip()
    with asked.serving.store() as db:
        every, place = listed(db), db.name
    found = [one for one in every if wanted.casefold() in one.name.casefold()]
    found.sort(key=lambda one: one.changed, reverse=True)
    limits = limits_for()
    rows = [(one, state_of(one, limits)) for one in found[:MOST_SHOWN]]
    return page("sessions.html", title="Sessions", rows=rows, found=len(found), every=len(every), q=wanted,
                limits=limits, place=place, states=STATES)  # fmt: skip


def state_of(one: Listed, limits: Limits) -> str:
    """Warned while it is past the size for that, else compressed if it ever was and still is."""
    if one.warned or one.now_tokens >= limits.warn_at:
        return "warned"
    return "compressed" if one.compressions else "ok"
