"""The summary that an agent wrote of its own conversation, out of the end of its transcript.

Read without parsing what is not needed: a hook waits for it.
"""

from __future__ import annotations

import json
from pathlib import Path

from foreword.coding_agents import trusted_files
from foreword.coding_agents.hook_events import HookEvent

# Of a transcript: behind a summary stand the files that the agent reads again, at most a few
# hundred kilobytes.
TAIL_BYTES = 4 * 1024 * 1024
_MARKS = ('"isCompactSummary"', '"compacted"', "<state_snapshot>")


def transcript_ending(event: HookEvent, root: Path) -> str:
    """The end of the transcript that an event names; empty where it names none."""
    if not event.transcript:
        return ""
    path = trusted_files.allowed(event.transcript, root)
    if not path.exists():  # a new conversation has none yet
        return ""
    return trusted_files.tail(path, TAIL_BYTES).decode("utf-8", "replace")


def newest_summary(ending: str) -> str:
    """The newest summary in the end of a transcript; empty where there is none."""
    from foreword.agent_sessions import Compaction
    from foreword.agent_sessions.reader import bytes_session

    lines = ending.splitlines()
    for line in reversed(lines):
        if any(mark in line for mark in _MARKS):
            session = bytes_session(line.encode("utf-8", "replace"))
            for event in session.events if session is not None else ():
                if isinstance(event, Compaction):
                    return event.summary
    return ""


def is_in_play(ending: str, words: str) -> bool:
    """Whether these words were said to the model since the last compaction."""
    since = max(ending.rfind(mark) for mark in _MARKS)
    return json.dumps(words)[1:-1] in ending[max(0, since) :]
