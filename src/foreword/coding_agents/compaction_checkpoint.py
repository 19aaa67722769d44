"""A checkpoint out of a coding agent's transcript, written before the agent compacts its
conversation.

The built-in compressor finds what was decided, found, asked and left open; its lines become the
checkpoint's fields. Of a long conversation only the end is read, which is what the window holds;
what came before is in the checkpoint that this one replaces. It is a file and no row: the store may
be locked by somebody else, and a compaction does not wait.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from foreword.coding_agents import trusted_files
from foreword.coding_agents.hook_events import WHERE, HookEvent
from foreword.errors import BadSource

if TYPE_CHECKING:
    from foreword.message import Message
    from foreword.session.summary.summary_text import EarlierSummary
    from foreword.work.checkpoint import Checkpoint

ROOM_TOKENS = 1_800
MOST_CHARS = 500_000  # of what was said last; about what a window holds
NO_BRANCH = "session"
LONGEST_PHASE = 36
MOST_FILES = 40
SAID, FILES = "said by the user", "files"  # in the state
_HEAD = re.compile(r"ref: refs/heads/(?P<branch>[^\s\x00-\x1f]{1,120})\s*")
_ODD = re.compile(r"[^A-Za-z0-9._-]+")


def write(event: HookEvent, root: Path) -> Path:
    """Write the checkpoint of this conversation, in place of an earlier one; returns its file."""
    from foreword.formats import read_transcript
    from foreword.session.summary.compress import compress
    from foreword.session.summary.summary_text import read
    from foreword.tokens import counter
    from foreword.work import checkpoints

    if not event.transcript:
        raise BadSource(WHERE, "it names no transcript")
    messages = list(
        read_transcript(trusted_files.read_bytes(event.transcript, root), "transcript.jsonl")
    )
    if not messages:
        raise BadSource(event.transcript, "no message in it")
    task, phase = task_of(root), phase_of(event.session)
    newest, before = _newest(messages), _before(root, task, phase)
    earlier = _as_summary(before) if before and len(newest) < len(messages) else ""
    query = event.instructions[:2_000]
    summary = compress(newest, ROOM_TOKENS, counter("estimate"), earlier=earlier, query=query)
    objective = (
        before.objective
        if before
        else _first_request(one.text for one in messages if one.role == "user")
    )
    return checkpoints.write(root, None, _made(task, phase, objective, read(summary.text), event))


def _made(
    task: str, phase: str, objective: str, found: EarlierSummary, event: HookEvent
) -> Checkpoint:
    from foreword.work.checkpoint import Checkpoint

    return Checkpoint(
        task=task,
        phase=phase,
        objective=objective,
        state={SAID: _of(found, "constraint", "request"), FILES: list(found.files[:MOST_FILES])},
        decisions=[{"what": line, "why": ""} for line in _of(found, "decision")],
        findings=_of(found, "failure", "error", "fix", "finding", "done", "other", "command"),
        pending=_of(found, "open"),
        extra={"conversation": event.session, "trigger": event.trigger},
    )


def task_of(root: Path) -> str:
    """The branch that is checked out, read without asking git."""
    from foreword.sources import files

    found = files.read(root, ".git/HEAD")
    head = _HEAD.fullmatch(found.text) if isinstance(found, files.File) else None
    return head["branch"] if head else NO_BRANCH


def phase_of(session: str) -> str:
    """The conversation's name: each has one checkpoint, its newest."""
    return _ODD.sub("-", session)[:LONGEST_PHASE].strip("-.") or "unnamed"


def _newest(messages: Sequence[Message]) -> list[Message]:
    """The last messages, as many as a window holds."""
    left, first = MOST_CHARS, len(messages)
    while first and left > 0:
        first -= 1
        left -= len(messages[first].text)
    return list(messages[first:])


def _before(root: Path, task: str, phase: str) -> Checkpoint | None:
    """The checkpoint that this conversation has already."""
    from foreword.work import checkpoints

    found = (
        one
        for one in checkpoints.checkpoint_entries(root, None)
        if (one.task, one.phase) == (task, phase)
    )
    return next((one.checkpoint for one in found), None)


def _as_summary(before: Checkpoint) -> str:
    """A checkpoint of ours as the summary that it was made of."""
    from foreword.session.summary.summary_text import Part, write

    state = {name: [str(line) for line in before.state.get(name) or ()] for name in (SAID, FILES)}
    parts: dict[Part, list[str]] = {
        "user": state[SAID],
        "decisions": [str(decision.get("what", "")) for decision in before.decisions],
        "findings": [str(finding) for finding in before.findings],
        "open": list(before.pending),
        "files": state[FILES],
    }
    return write(parts)


def _first_request(said: Iterable[str]) -> str:
    """What the user wants: the first words that are not the agent's own markup."""
    from foreword.session.summary.summary_text import shorten_line

    return shorten_line(
        next((text for text in said if text.strip() and not text.lstrip().startswith("<")), "")
    )


def _of(found: EarlierSummary, *kinds: str) -> list[str]:
    return [" ".join(text.split()) for kind, text in found.lines if kind in kinds]
