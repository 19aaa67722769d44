"""A checkpoint out of a coding agent's transcript, written before the agent compacts its
conversation.

The built-in compressor finds what was decided, found, asked and left open; its lines become the
checkpoint's fields. Of a long conversation only the end is read, which is what the window holds;
what came before is in the checkpoint that this one replaces. It is a file and no row: the store may
be locked by somebody else, and a compaction does not wait.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from foreword.coding_agents import trusted_files
from foreword.coding_agents.hook_events import WHERE, HookEvent
from foreword.errors import BadSource
from foreword.pattern import lazy_pattern

if TYPE_CHECKING:
    from foreword.message import Message
    from foreword.session.summary.summary_text import EarlierSummary
    from foreword.work.checkpoint import Checkpoint

# Of the summary that becomes the checkpoint. `resume` shows as much of it as fits beside tier 0, so
# more would only be read by whoever opens the file.
ROOM_TOKENS = 1_800
MOST_CHARS = 500_000  # of the newest messages; about what a window holds
LONGEST_QUERY = 2_000  # characters of what the user said should be kept
NO_BRANCH = "session"
LONGEST_PHASE = 36  # characters: a UUID, which is what agents call their conversations by
MOST_FILES = 40  # names: a long conversation touches hundreds, and the rest is worth more
USER_LINES = "said by the user"  # in the state, beside FILES
FILES = "files"
# What a summary's lines are of, in the findings of a checkpoint.
FINDING_KINDS = ("failure", "error", "fix", "finding", "done", "other", "command")
_HEAD = lazy_pattern(r"ref: refs/heads/(?P<branch>[^\s\x00-\x1f]{1,120})\s*")
_NOT_IN_NAMES = lazy_pattern(r"[^A-Za-z0-9._-]+")


def write(event: HookEvent, root: Path) -> Path:
    """Write the checkpoint of this conversation, in place of an earlier one; returns its file."""
    from foreword.formats import read_transcript
    from foreword.session.summary.compress import compress
    from foreword.session.summary.summary_text import read
    from foreword.tokens import counter
    from foreword.work import checkpoints
    from foreword.work.checkpoint import Checkpoint

    if not event.transcript:
        raise BadSource(WHERE, "it names no transcript")
    raw = trusted_files.read_bytes(event.transcript, root)
    messages = list(read_transcript(raw, "transcript.jsonl"))
    if not messages:
        raise BadSource(event.transcript, "no message in it")
    task = task_of(root)
    phase = phase_of(event.session)
    newest = _newest_messages(messages)
    before = _existing_checkpoint(root, task=task, phase=phase)
    earlier = ""
    if before is not None and len(newest) < len(messages):
        earlier = _as_summary(before)
    summary = compress(
        newest,
        ROOM_TOKENS,
        counter("estimate"),
        earlier=earlier,
        query=event.instructions[:LONGEST_QUERY],
    )
    found = read(summary.text)
    checkpoint = Checkpoint(
        task=task,
        phase=phase,
        objective=before.objective if before else _first_request(messages),
        state={
            USER_LINES: _lines_of(found, "constraint", "request"),
            FILES: list(found.files[:MOST_FILES]),
        },
        decisions=[{"what": line, "why": ""} for line in _lines_of(found, "decision")],
        findings=_lines_of(found, *FINDING_KINDS),
        pending=_lines_of(found, "open"),
        extra={"conversation": event.session, "trigger": event.trigger},
    )
    return checkpoints.write(root, None, checkpoint)


def task_of(root: Path) -> str:
    """The branch that is checked out, read without asking git."""
    from foreword.sources import files

    found = files.read(root, ".git/HEAD")
    head = _HEAD.fullmatch(found.text) if isinstance(found, files.File) else None
    return head["branch"] if head else NO_BRANCH


def phase_of(session: str) -> str:
    """The conversation's name: each has one checkpoint, its newest."""
    return _NOT_IN_NAMES.sub("-", session)[:LONGEST_PHASE].strip("-.") or "unnamed"


def _newest_messages(messages: Sequence[Message]) -> list[Message]:
    """The last messages, as many as a window holds."""
    chars_left = MOST_CHARS
    first = len(messages)
    while first and chars_left > 0:
        first -= 1
        chars_left -= len(messages[first].text)
    return list(messages[first:])


def _existing_checkpoint(root: Path, *, task: str, phase: str) -> Checkpoint | None:
    """The checkpoint that this conversation has already."""
    from foreword.work import checkpoints

    for entry in checkpoints.checkpoint_entries(root, None):
        if entry.task == task and entry.phase == phase:
            return entry.checkpoint
    return None


def _as_summary(before: Checkpoint) -> str:
    """A checkpoint of ours as the summary that it was made of."""
    from foreword.session.summary.summary_text import Part, write

    parts: dict[Part, list[str]] = {
        "user": _state_lines(before, USER_LINES),
        "decisions": [str(decision.get("what", "")) for decision in before.decisions],
        "findings": [str(finding) for finding in before.findings],
        "open": list(before.pending),
        "files": _state_lines(before, FILES),
    }
    return write(parts)


def _state_lines(checkpoint: Checkpoint, name: str) -> list[str]:
    return [str(line) for line in checkpoint.state.get(name) or ()]


def _first_request(messages: Iterable[Message]) -> str:
    """What the user wants: the first words that are not the agent's own markup."""
    from foreword.session.summary.summary_text import shorten_line

    for message in messages:
        text = message.text
        if message.role == "user" and text.strip() and not text.lstrip().startswith("<"):
            return shorten_line(text)
    return shorten_line("")


def _lines_of(found: EarlierSummary, *kinds: str) -> list[str]:
    """The lines of a summary that are of these kinds, each on one line."""
    return [" ".join(text.split()) for kind, text in found.lines if kind in kinds]
