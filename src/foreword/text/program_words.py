"""Words that a coding agent's program puts into what its model wrote.

Only what has to be known to tell the two apart; light, since hooks that are waited for read it.
"""

from __future__ import annotations

# Claude Code writes this behind each summary, with the path of the session's file.
_BEHIND_SUMMARY = "\nIf you need specific details from before compaction"


def without_program_words(summary: str) -> str:
    """A summary as the model wrote it."""
    own, found, _ = summary.partition(_BEHIND_SUMMARY)
    return own.rstrip() if found else summary
