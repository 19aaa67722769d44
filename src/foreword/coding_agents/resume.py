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

# characters; past 10,000 Claude Code saves a hook's text to a file and shows the beginning of it
LONGEST = 9_500
TIER_0_TOKENS = 1_400
TAG = "checkpoint"
LEADS = (
    "From Foreword: what holds for this project always, and where the work stood when the"
    " conversation was last compacted. What the user says now comes first. `foreword recall HANDLE`"
    " prints what was left out."
)
FALLBACK = "factory"


def context(root: Path, conversation: str, recipe: str = "") -> str:
    """The text for the model; empty where there is neither of the two."""
    always = _or_nothing("tier 0", _tier_0, root, recipe)
    checkpoint = _or_nothing("the newest checkpoint", _checkpoint, root, conversation)
    if not always and not checkpoint:
        return ""
    room = LONGEST - len(LEADS) - len(always) - 4
    return "\n\n".join(part for part in (LEADS, always, _within(checkpoint, room)) if part)


def _or_nothing(what: str, part: Callable[[Path, str], str], root: Path, name: str) -> str:
    try:
        return part(root, name)
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
    always = [
        one
        for one in package.report.choices
        if one.section.rule.tier == 0 and one.body.form != "gone"
    ]
    if any(one.is_cut for one in always):
        keep(package, root)
    return "".join(pieces_of(always)).strip()


def _checkpoint(root: Path, conversation: str) -> str:
    from foreword.engine.render import boundary_pattern
    from foreword.work import checkpoints
    from foreword.work.checkpoint import as_text

    good = [one.checkpoint for one in checkpoints.checkpoint_entries(root, None) if one.checkpoint]
    own = [one for one in good if conversation and one.extra.get("conversation") == conversation]
    newest = max(own or good, key=lambda one: one.written_at, default=None)
    if newest is None:
        return ""
    restored = checkpoints.read(root, None, newest.task, newest.phase)
    text = boundary_pattern(frozenset([TAG])).sub(
        "&lt;", as_text(restored.checkpoint, restored.changes)
    )
    return f"<{TAG}>\n{text.strip()}\n</{TAG}>"


def _within(text: str, room: int) -> str:
    """A checkpoint that is too long loses its last lines, and says so."""
    if len(text) <= room or not text:
        return text
    end = f"[... cut: `foreword checkpoint list` names it]\n</{TAG}>"
    kept = text[: max(0, room - len(end) - 1)].rpartition("\n")[0]
    return f"{kept}\n{end}" if kept else ""
