"""A digest of what tiers 0 and 1 of a task say, in a few bytes: kept in its checkpoints, to tell
later what has changed.

Made of what the files say, whole, not of what fits: another budget or counter is no change. What a
request brings (the task, an artifact) is left out; it is in the checkpoint itself. Tier 2 is the
phase's and comes anew with it.
"""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from foreword.context.assemble import assemble
from foreword.context.settled_tier import SettledTier
from foreword.errors import ForewordError
from foreword.section import Section
from foreword.work.checkpoint import Checkpoint

LASTING = (0, 1)
_NOT_A_FILE = "recipe "  # how the source of a section begins that comes from the request


def lasting_tiers(
    root: Path,
    *,
    task: str,
    objective: str,
    recipe: str,
    settled: SettledTier | None = None,
) -> dict[str, dict[str, Any]]:
    """The tiers that last for a session: digest, size and recipe of each; tier 1 as the session
    has it, where it has."""
    values = {"task_reference": f"{task}: {objective}" if objective else task}
    package = assemble(
        recipe, root=root, purpose="work", values=values, save=False, settled=settled
    )
    tiers = {}
    for tier in LASTING:
        sections = [section for section in package.report.came_in if section.rule.tier == tier]
        tiers[str(tier)] = {
            "digest": _digest(sections),
            "tokens": sum(row.tokens for row in package.report.sections if row.tier == tier),
            "recipe": recipe,
        }
    return tiers


def _digest(sections: list[Section]) -> str:
    texts = list[str]()
    for section in sections:
        if not section.source.startswith(_NOT_A_FILE):
            texts += [section.source, section.text]
    text = "\0".join(texts)
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()


def lasting_now(root: Path, checkpoint: Checkpoint) -> Mapping[str, Mapping[str, Any]] | None:
    """`lasting_tiers` of a checkpoint's task as the files are now: empty where they can't be loaded
    any more, None where the checkpoint has no tiers to compare with."""
    tiers = list(checkpoint.tiers.values())
    recipe = str(tiers[0].get("recipe", "")) if tiers else ""
    if not recipe:
        return None
    try:
        return lasting_tiers(
            root, task=checkpoint.task, objective=checkpoint.objective, recipe=recipe
        )
    except ForewordError:
        return {}
