"""What a model reads again when its conversation is gone: tier 0 of the project's recipe, and
where the work stood by the newest checkpoint.

Nothing that the agent sends anyway: not the instruction files that it loads itself, not what its
own summary says, and nothing where an earlier answer of ours is still in the conversation. Reads
files and no store but for the originals of what had to be cut, so that nothing here waits for
somebody else. What fails is told to the log and left out; the rest is still worth having.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

from foreword.coding_agents import agent_summary, hook_log
from foreword.coding_agents.hook_events import BEFORE_AGENT, HookEvent, agent_of
from foreword.coding_agents.templates import RECIPE
from foreword.errors import UnknownName
from foreword.text.omission_mark import CHECKPOINT_CUT

if TYPE_CHECKING:
    from foreword.work.checkpoint import Checkpoint
    from foreword.work.checkpoints import RestoredCheckpoint

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
CONVERSATION = "conversation"  # in a checkpoint that a hook wrote: the name of the conversation
MOST_CHANGES = 3  # of what has changed since a checkpoint was written, in one line each
# The instruction files that each agent sends with every request.
LOADED_BY_AGENT = {
    "claude-code": ("CLAUDE.md", ".claude/CLAUDE.md"),
    "codex": ("AGENTS.md",),
    "gemini": ("GEMINI.md",),
    "opencode": ("AGENTS.md",),
}
SNAPSHOT = "<state_snapshot>"  # opens the summary of Gemini CLI
FALLBACK = "factory"
GAP = "\n\n"  # between the parts


def context(root: Path, event: HookEvent, recipe: str = "") -> str:
    """The text for the model; empty where there is nothing to say."""
    ending = _or_empty("the transcript", lambda: agent_summary.transcript_ending(event, root))
    if event.source == "resume" and agent_summary.is_in_play(ending, LEADS):
        return ""
    if event.name == BEFORE_AGENT and not _is_due(ending):
        return ""
    summary = agent_summary.newest_summary(ending)
    tier_0 = _or_empty("tier 0", lambda: _tier_0(root, recipe, event))
    room = LONGEST - len(LEADS) - len(tier_0) - len(2 * GAP)
    checkpoint = _or_empty(
        "the newest checkpoint", lambda: _checkpoint(root, event.session, room, summary)
    )
    if not tier_0 and not checkpoint:
        return ""
    return GAP.join(part for part in (LEADS, tier_0, checkpoint) if part)


def _is_due(ending: str) -> bool:
    """Whether the conversation was compressed and nothing was brought back since: Gemini CLI has no
    event behind a compression, so the user's next words are it."""
    return ending.rfind(SNAPSHOT) > ending.rfind(json.dumps(LEADS)[1:-1])


def _or_empty(what: str, read: Callable[[], str]) -> str:
    """What a part reads; its failure is a line in the log."""
    try:
        return read()
    except Exception as error:  # noqa: BLE001 - the other part is still worth having
        hook_log.note(what, f"{type(error).__name__}: {error}")
        return ""


def _tier_0(root: Path, recipe: str, event: HookEvent) -> str:
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
    loaded = LOADED_BY_AGENT.get(agent_of(event), ())
    chosen_forms = [choice for choice in tier_0 if choice.body.form != "gone"]
    sections = [choice for choice in chosen_forms if choice.section.source not in loaded]
    if any(choice.is_cut for choice in sections):
        keep(package, root)
    return "".join(pieces_of(sections)).strip()


def _checkpoint(root: Path, conversation: str, room: int, summary: str) -> str:
    from foreword.coding_agents.work_state import from_checkpoint
    from foreword.coding_agents.work_text import work_text
    from foreword.engine.render import boundary_pattern
    from foreword.secrets.masking import mask
    from foreword.work import checkpoints
    from foreword.work.checkpoint import as_text

    newest = _newest_checkpoint(root, conversation)
    if newest is None:
        return ""
    restored = checkpoints.read(root, None, newest.task, newest.phase)
    opening, closing = f"<{TAG}>\n", f"\n</{TAG}>"
    room -= len(opening) + len(closing)
    if CONVERSATION in restored.checkpoint.extra:
        about = _about_lines(restored)
        state = from_checkpoint(restored.checkpoint)
        text = f"{about}{work_text(state, room - len(about), summary)}"
    else:
        text = as_text(restored.checkpoint, restored.changes).strip()
    text = boundary_pattern(frozenset([TAG])).escape(mask(text))
    return f"{opening}{_cut_at_line(text, room)}{closing}"


def _newest_checkpoint(root: Path, conversation: str) -> Checkpoint | None:
    """The checkpoint of this conversation, or else the newest of the project."""
    from foreword.work import checkpoints

    readable = []
    own = []
    for entry in checkpoints.checkpoint_entries(root, None):
        if entry.checkpoint is None:
            continue
        readable.append(entry.checkpoint)
        if conversation and entry.checkpoint.extra.get(CONVERSATION) == conversation:
            own.append(entry.checkpoint)
    return max(own or readable, key=lambda checkpoint: checkpoint.written_at, default=None)


def _about_lines(restored: RestoredCheckpoint) -> str:
    """Which checkpoint it is, and what is no longer as it says."""
    checkpoint = restored.checkpoint
    lines = [f"{checkpoint.task}, checkpoint {checkpoint.sequence} of {checkpoint.written_at}"]
    lines += [f"changed since: {change}" for change in restored.changes[:MOST_CHANGES]]
    return "".join(f"{line}\n" for line in lines)


def _cut_at_line(text: str, room: int) -> str:
    """A checkpoint that is too long loses its last lines, and says so."""
    if len(text) <= room:
        return text
    whole_lines = text[: max(0, room - len(CHECKPOINT_CUT) - 1)].rpartition("\n")[0]
    return f"{whole_lines}\n{CHECKPOINT_CUT}" if whole_lines else ""
