"""The origins that a workflow's pages wanted pictures, scripts and styles of, and were not allowed
to reach.

They are kept with the workflow, so that the user is offered them by name before a page fails
without them again. A page decides what is in the list, so nothing is ever allowed by it: only
`--assets` does that.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from foreword.browser.blocked import BlockedOrigin
from foreword.browser.rules import ASSET_KINDS, Rules, origin_of
from foreword.session.workflow_state import WorkflowState
from foreword.store.carried_items import read_items, write_items

# Of one workflow. A page that works loads from some twenty others at most; more would be no offer
# that anyone reads.
MOST_KEPT = 30
_KIND = "blocked asset"


def remember(state: WorkflowState, blocked: Iterable[BlockedOrigin]) -> None:
    """Keep what is new, up to a number; an origin that is hidden, because there is a secret in
    it, is none."""
    known = {one.origin: set(one.kinds) for one in stored_origins(state)}
    new: dict[tuple[str, str], dict[str, Any]] = {}
    for one in blocked:
        wanted = _read(one.origin, one.kinds)
        if wanted is None or (wanted.origin not in known and len(known) >= MOST_KEPT):
            continue
        kinds = known.setdefault(wanted.origin, set())
        if not kinds.issuperset(wanted.kinds):
            kinds.update(wanted.kinds)
            text = " ".join(sorted(kinds))
            new[_KIND, wanted.origin] = {"kind": _KIND, "title": wanted.origin, "text": text}
    if new:
        write_items(state.db, _place(state), new)


def stored_origins(state: WorkflowState) -> list[BlockedOrigin]:
    """Everything that is kept; a store may have come from a stranger, so what is no origin is
    left out."""
    found = []
    for item in read_items(state.db, _place(state))[:MOST_KEPT]:
        wanted = _read(item["title"], item["text"].split())
        if wanted is not None:
            found.append(wanted)
    return found


def origins_to_offer(state: WorkflowState, rules: Rules) -> list[BlockedOrigin]:
    """What is kept and not allowed yet."""
    return [one for one in stored_origins(state) if rules.refuses(one.origin, one.kinds[0])]


def _read(origin: str, kinds: Iterable[str]) -> BlockedOrigin | None:
    found, wanted = origin_of(origin), tuple(sorted(ASSET_KINDS.intersection(kinds)))
    if found is None or str(found) != origin or not wanted:
        return None
    return BlockedOrigin(origin=origin, requests=0, kinds=wanted)


def _place(state: WorkflowState) -> str:
    return f"blocked in the browser of workflow {state.workflow.id}"
