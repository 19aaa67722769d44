"""Note with a node that clicks in which row it clicks, as the page shows that row now.

The click compares it (`browser.click_watch`), so that it is never made in a row that has taken the
place of the one that was meant.
"""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import suppress
from typing import Any

from foreword.director.tool_context import ToolContext
from foreword.errors import BrowserFailed
from foreword.plan import templates
from foreword.plan.node import TYPES, named_type
from foreword.plan.node_shape import CONFIGS
from foreword.secrets.masking import mask


def with_row(
    context: ToolContext, given: Mapping[str, Any], node: Mapping[str, Any] | None = None
) -> dict[str, Any]:
    """Return the arguments of a new node, or of the change of a `node`, with the text of the row
    that its selector leads into. Without a browser, for a selector with a template, and where the
    text of the row holds a secret, there is none."""
    kind, config = named_type(given.get("type") or (node or {}).get("type"), given.get("config"))
    if not isinstance(config, Mapping) or "selector" not in config or config.get("row") is not None:
        return dict(given)
    if kind not in TYPES or "row" not in CONFIGS[str(kind)].model_fields:
        return dict(given)
    row = "" if templates.is_template(config["selector"]) else _row(context, config)
    if not row and node is None:
        return dict(given)
    return {**given, "config": {**given["config"], "row": row or None}}


def _row(context: ToolContext, config: Mapping[str, Any]) -> str:
    """The text of the row in the tab of the node, else in the one that is active; '' for none."""
    if not context.resources.is_browser_started:
        return ""
    row = ""
    with suppress(BrowserFailed):
        tabs = [config["tab"]] if config.get("tab") else [context.browser.workflow_tab(), None]
        for tab in tabs:
            row = row or context.browser.row_text(str(config["selector"]), tab)
    is_plain = context.secrets.text(mask(row)) == row and not templates.is_template(row)
    return row if is_plain else ""
