"""The end of the transcript that a hook's event names: what was said since the last compaction, the
summary that the agent wrote, and what in it nobody had said before.

An agent waits for the answer, so only the last megabytes are read, when the first question comes.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

from foreword.coding_agents import trusted_files
from foreword.coding_agents.agents import agent_of
from foreword.coding_agents.hook_events import HookEvent
from foreword.transcripts.events import CompactionEvent
from foreword.transcripts.reader import Stretch, bytes_session, stretches

# After a summary come the files that the agent reads again, at most a few hundred kilobytes; before
# it what a window holds, one or two megabytes.
TAIL_BYTES = 4 * 1024 * 1024


@dataclass(frozen=True)
class TranscriptEnding:
    """The last bytes of a transcript, and whether those are all of it."""

    raw: bytes = b""
    is_whole: bool = False
    agent: str = ""

    @cached_property
    def stretches(self) -> list[tuple[Stretch, CompactionEvent | None]]:
        """What was said before each compaction, and at last what was said since."""
        session = bytes_session(self.raw, self.agent)
        return list(stretches(session.events if session is not None else ()))

    def summary(self) -> str:
        """Return the newest summary; nothing where there is none."""
        compactions = [event.summary for _, event in self.stretches if event is not None]
        return compactions[-1] if compactions else ""

    def has_since(self, words: str) -> bool:
        """Return whether the model has read these words since the last compaction."""
        newest, _ = self.stretches[-1]
        texts = [*newest.notes, *(message.text for message in newest.messages)]
        return any(words in text for text in texts)

    def unproven_names(self, summary: str, also: Iterable[str]) -> tuple[str, ...]:
        """Return what a summary names that its writer can't have read: neither in the transcript
        since the compaction before it, nor in the summary of that one, nor in other texts that the
        agent has. Nothing where the transcript is too long to be looked through."""
        from foreword.compression.check import check_against, evidence_of

        known = list(also)
        is_whole = self.is_whole
        for stretch, compaction in self.stretches:
            if compaction is None:
                break  # the summary is of another transcript
            if compaction.summary == summary:
                evidence = evidence_of(stretch.messages, [*known, *stretch.notes])
                return check_against(summary, evidence).names if is_whole else ()
            is_whole = True
            known = [*also, compaction.summary]
        return ()


def transcript_ending(event: HookEvent, root: Path) -> TranscriptEnding:
    """Return the end of the transcript that an event names; an empty one where it names none."""
    if not event.transcript:
        return TranscriptEnding()
    path = trusted_files.real_path_of(event.transcript, root)
    if not path.exists():  # a new conversation has none yet
        return TranscriptEnding()
    raw = trusted_files.tail(path, TAIL_BYTES)
    return TranscriptEnding(raw, path.stat().st_size <= TAIL_BYTES, agent_of(event).name)
