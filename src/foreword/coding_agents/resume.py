"""What a model reads again when its conversation is gone: tier 0 of the project's recipe, and the
newest checkpoint.

Reads files and no store but for the originals of what had to be cut, so that nothing here waits for
somebody else. What fails is told to the log and left out; the rest is still worth having.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from foreword.coding_agents import hook_log
from foreword.coding_agents.templates import RECIPE
from foreword.errors import UnknownName
from foreword.text.omission_mark import CHECKPOINT_CUT

# characters; past 10,000 Claude Code saves a hook's text to a file and shows the beginning of it
LONGEST = 9_500
# Somewhat more than half of those characters; the rest is for the checkpoint, whose end is cut.
TIER_0_TOKENS = 1_400
TAG = "checkpoint"
LEADS = (
    "From Foreword: what holds for this project always, and where the work stood when the"
    " conversation was last compacted. What the user says now comes first. `foreword recall HANDLE`"
    " prints what was left out."
)
FALLBACK = "factory"
GAP = "\n\n"  # between the parts


def context(root: Path, conversation: str, recipe: str = "") -> str:
    """The text for the model; empty where there is neither of the two."""
    tier_0 = _or_empty("tier 0", lambda: _tier_0(root, recipe))
    checkpoint = _or_empty("the newest checkpoint", lambda: _checkpoint(root, conversation))
    if not tier_0 and not checkpoint:
        return ""
    room = LONGEST - len(LEADS) - len(tier_0) - len(2 * GAP)
    parts = [LEADS, tier_0, _cut_at_line(checkpoint, room)]
    return GAP.join(part for part in parts if part)


def _or_empty(what: str, read: Callable[[], str]) -> str:
    """What a part reads; its failure is a line in the log."""
    try:
        return read()
    except Exception as error:  # noqa: BLE001 - the other part is still worth having
        hook_log.note(what, f"{type(error).__name__}: {error}")
        return ""


def _tier_0(root: Path, recipe: str) -> str:
    from foreword.context.assemble import assemble, keep
    from foreword.engine.render import pieces_of
    from foreword.recipe.load import names
    from foreword.sources.library import library_of

    chosen = recipe or (RECIPE if RECIPE in names(root) else FALLBACK)
    if not recipe and chosen == FALLBACK and not library_of(root, FALLBACK).documents:
        raise UnknownName(
            "recipe",
            RECIPE,
            names(root),
            where=f"in {root}, which has no documents of {FALLBACK!r} either",
        )
    package = assemble(chosen, root=root, budget=TIER_0_TOKENS, save=False)
    tier_0 = [choice for choice in package.report.choices if choice.section.rule.tier == 0]
    sections = [choice for choice in tier_0 if choice.body.form != "gone"]
    if any(choice.is_cut for choice in sections):
        keep(package, root)
    return "".join(pieces_of(sections)).strip()


def _checkpoint(root: Path, conversation: str) -> str:
    from foreword.engine.render import boundary_pattern
    from foreword.work import checkpoints
    from foreword.work.checkpoint import as_text

    readable = []
    own = []  # of this conversation
    for entry in checkpoints.checkpoint_entries(root, None):
        if entry.checkpoint is None:
            continue
        readable.append(entry.checkpoint)
        if conversation and entry.checkpoint.extra.get("conversation") == conversation:
            own.append(entry.checkpoint)
    newest = max(own or readable, key=lambda checkpoint: checkpoint.written_at, default=None)
    if newest is None:
        return ""
    restored = checkpoints.read(root, None, newest.task, newest.phase)
    text = as_text(restored.checkpoint, restored.changes)
    text = boundary_pattern(frozenset([TAG])).escape(text)
    return f"<{TAG}>\n{text.strip()}\n</{TAG}>"


def _cut_at_line(text: str, room: int) -> str:
    """A checkpoint that is too long loses its last lines, and says so."""
    if len(text) <= room or not text:
        return text
    end = f"{CHECKPOINT_CUT}\n</{TAG}>"
    whole_lines = text[: max(0, room - len(end) - 1)].rpartition("\n")[0]
    return f"{whole_lines}\n{end}" if whole_lines else ""
