"""The summary that an agent wrote of its own conversation, out of the end of its transcript.

Read without parsing what is not needed, and without the room that reads whole sessions: an agent
waits for it.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
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
    path = trusted_files.real_path_of(event.transcript, root)
    if not path.exists():  # a new conversation has none yet
        return ""
    return trusted_files.tail(path, TAIL_BYTES).decode("utf-8", "replace")


def newest_summary(ending: str) -> str:
    """The newest summary in the end of a transcript; empty where there is none."""
    for line in reversed(ending.splitlines()):
        if any(mark in line for mark in _MARKS):
            summary = _summary_in(line)
            if summary:
                return summary
    return ""


def _summary_in(line: str) -> str:
    """The summary that a line holds: Claude Code's, Codex's, or that of Gemini CLI."""
    try:
        value = json.loads(line)
    except (ValueError, RecursionError):
        return ""
    if not isinstance(value, dict):
        return ""
    if value.get("isCompactSummary"):
        return "\n".join(_texts(value.get("message")))
    payload = value.get("payload")
    if value.get("type") == "compacted" and isinstance(payload, dict):
        return str(payload.get("message") or "")
    snapshots = [text for text in _texts(value) if _MARKS[-1] in text]
    return "\n".join(snapshots)


def _texts(value: object) -> Iterator[str]:
    """The texts in a message, however deep they are."""
    if isinstance(value, str):
        yield value
    elif isinstance(value, dict):
        for name, member in value.items():
            if name in ("content", "text", "messages", "$set"):
                yield from _texts(member)
    elif isinstance(value, list):
        for member in value:
            yield from _texts(member)


def is_in_play(ending: str, words: str) -> bool:
    """Whether these words were said to the model since the last compaction."""
    since = max(ending.rfind(mark) for mark in _MARKS)
    return json.dumps(words)[1:-1] in ending[max(0, since) :]
