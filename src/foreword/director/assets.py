"""The origins that a workflow's pages wanted pictures, scripts and styles of, and were not allowed
to reach.

They are kept with the workflow, so that the user is offered them by name before a page fails
without them again. A page decides what is in the list, so nothing is ever allowed by it: only
`--assets` does that.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from foreword.browser.block_log import BlockedOrigin
from foreword.browser.rules import ASSET_KINDS, Rules, origin_of
from foreword.session.workflow_state import WorkflowState
from foreword.store.carried_items import ItemKey, read_items, write_items

# Of one workflow. A page that works loads from some twenty others at most; more would be no offer
# that anyone reads.
MOST_KEPT = 30
_KIND = "blocked asset"


def remember(state: WorkflowState, blocked: Iterable[BlockedOrigin]) -> None:
    """Keep what is new, up to a number; an origin that is hidden, because there is a secret in
    it, is none."""
    known = {one.origin: set(one.kinds) for one in stored_origins(state)}
    new: dict[ItemKey, dict[str, Any]] = {}
    for one in blocked:
        valid = _asset_origin(one.origin, one.kinds)
        if valid is None or (valid.origin not in known and len(known) >= MOST_KEPT):
            continue
        kinds = known.setdefault(valid.origin, set())
        if not kinds.issuperset(valid.kinds):
            kinds.update(valid.kinds)
            text = " ".join(sorted(kinds))
            new[_KIND, valid.origin] = {"kind": _KIND, "title": valid.origin, "text": text}
    if new:
        write_items(state.db, _items_name(state), new)


def stored_origins(state: WorkflowState) -> list[BlockedOrigin]:
    """Everything that is kept; a store may have come from a stranger, so what is no origin is
    left out."""
    found = []
    for item in read_items(state.db, _items_name(state))[:MOST_KEPT]:
        valid = _asset_origin(item["title"], item["text"].split())
        if valid is not None:
            found.append(valid)
    return found


def origins_to_offer(state: WorkflowState, rules: Rules) -> list[BlockedOrigin]:
    """The origins that were blocked in this workflow and are still refused by the rules."""
    return [one for one in stored_origins(state) if rules.refuses(one.origin, one.kinds[0])]


def _asset_origin(origin: str, kinds: Iterable[str]) -> BlockedOrigin | None:
    """An origin with the kinds of assets that it is wanted for; nothing where it is none."""
    parsed = origin_of(origin)
    asset_kinds = tuple(sorted(ASSET_KINDS.intersection(kinds)))
    if parsed is None or str(parsed) != origin or not asset_kinds:
        return None
    return BlockedOrigin(origin=origin, requests=0, kinds=asset_kinds)


def _items_name(state: WorkflowState) -> str:
    return f"blocked in the browser of workflow {state.workflow.id}"
