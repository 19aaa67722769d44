"""A checkpoint out of a coding agent's transcript, written before the agent compacts its
conversation.

What was wanted, decided, done and left open, and the names in play (`work_state`), as a file and no
row: the store may be locked by somebody else, and a compaction does not wait. Of a long
conversation only the end is read, which is what the window holds; what came before is in the
checkpoint that this one replaces.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from foreword.coding_agents import trusted_files
from foreword.coding_agents.agents import agent_of
from foreword.coding_agents.hook_events import WHERE, HookEvent
from foreword.errors import BadSource
from foreword.pattern import lazy_pattern

if TYPE_CHECKING:
    from foreword.messages.message import Message
    from foreword.transcripts.events import AgentEvent

# Of the summary that becomes the checkpoint. What comes back after the compaction is chosen out of
# it, beside the summary that the agent wrote, so it holds a third more than there is room for then.
# With 4,500 the choice is worse: on the development compactions 88% of the names that were needed
# later come back in place of 91%.
ROOM_TOKENS = 3_000
MOST_CHARS = 500_000  # of the newest messages; about what a window holds
LONGEST_QUERY = 2_000  # characters of what the user said should be kept
NO_BRANCH = "session"
LONGEST_PHASE = 36  # characters: a UUID, which is what agents call their conversations by
_HEAD = lazy_pattern(r"ref: refs/heads/(?P<branch>[^\s\x00-\x1f]{1,120})\s*")
_NOT_IN_NAMES = lazy_pattern(r"[^A-Za-z0-9._-]+")


def write(event: HookEvent, root: Path) -> Path | None:
    """Write the checkpoint of this conversation, in place of an earlier one; returns its file.

    Gemini CLI announces a compression before every turn, the first one too: then there is nothing.
    """
    from foreword.coding_agents import own_checkpoints, work_parts, work_state
    from foreword.tokens import counter
    from foreword.transcripts.reader import SessionFile, bytes_session, session_of_document
    from foreword.work import task_checkpoints
    from foreword.work.checkpoint import Checkpoint

    if event.document:
        session: SessionFile | None = session_of_document(event.document)
    elif event.transcript:
        session = bytes_session(
            trusted_files.read_bytes(event.transcript, root), agent_of(event).name
        )
    else:
        raise BadSource(WHERE, "it names no transcript")
    messages = conversation(session.events) if session is not None else []
    if not messages and agent_of(event).name == "gemini":
        return None
    if not messages:
        raise BadSource(event.transcript or WHERE, "no message in it")
    task = task_of(root)
    phase = phase_of(event.session)
    newest = _newest_messages(messages)
    entry = task_checkpoints.checkpoint_entry(root, task, phase)
    before = entry.checkpoint if entry is not None else None
    if before is not None and not own_checkpoints.is_own(root, before):
        before = None  # a file of that name that no hook has written
    earlier = ""
    if before is not None and len(newest) < len(messages):
        earlier = work_parts.as_summary(work_parts.from_checkpoint(before))
    state = work_state.work_state(
        newest,
        ROOM_TOKENS,
        counter(),
        earlier=earlier,
        question=event.instructions[:LONGEST_QUERY],
        objective=work_state.first_request(messages),
    )
    checkpoint = Checkpoint(
        task=task,
        phase=phase,
        extra={"conversation": event.session, "trigger": event.trigger},
        **work_parts.checkpoint_fields(state),
    )
    path = task_checkpoints.write(root, None, checkpoint)
    own_checkpoints.remember(root, checkpoint)
    return path


def conversation(events: Iterable[AgentEvent]) -> list[Message]:
    """What was said in a session, summaries of earlier compactions among it, each with a mark
    behind what nobody had said or printed before: else an agent's invention would be handed on as
    ours."""
    from foreword.compression.check import evidence_of
    from foreword.compression.checked_summary import mark_or_strike
    from foreword.messages.message import Message
    from foreword.messages.parts import Text
    from foreword.tokens import counter
    from foreword.transcripts.reader import stretches

    messages = list[Message]()
    notes = list[str]()
    for stretch, compaction in stretches(events):
        messages += stretch.messages
        notes += stretch.notes
        if compaction is None:
            break
        summary = compaction.summary
        if messages:  # else it stands for what is in another file
            evidence = evidence_of(messages, notes)
            summary = mark_or_strike(summary, evidence, counter=counter()).text
        messages.append(Message("user", (Text(summary),), kind="summary"))
    return messages


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
