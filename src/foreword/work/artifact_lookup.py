"""What the agents of a flow can look up: what earlier phases of the task handed on, and the
project's documents.

Artifacts are in the database, so they are within reach of every process. Documents are files: a
process on a machine that does not have the project's folder offers artifacts alone. Each answer has
a budget.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from contextlib import closing
from pathlib import Path

from foreword import tokens
from foreword.errors import UnknownName
from foreword.store import artifacts
from foreword.store.urls import open_database
from foreword.text.cut import relevant

COUNTER = "o200k"
MOST_TOKENS = 4_000  # of one answer
_SHAPE = re.compile(r"[A-Z][A-Z0-9_]*-\d+[a-z]?|fw_[0-9a-f]+")  # of what is never a document's name
_ARTIFACTS_ONLY = """Fetch an artifact of an earlier phase by its name, as in FEAT-1.

Args:
    name: The name between the brackets of its reference.
    about: What you want to know; of an artifact that is too long, the passages about that are returned.
"""


def lookup_tool(
    db: str | None, root: Path, task: str, project: Path | None = None
) -> Callable[..., str]:
    """The tool that fetches an artifact of a task or, where the project's folder is there, a
    document of it."""

    def lookup(name: str, about: str = "") -> str:
        """Fetch an artifact of an earlier phase by its name, as in FEAT-1, or a document of the
        project.

        Args:
            name: The name between the brackets of an artifact's reference, or a document's name or path, or a few words
                about what you need.
            about: What you want to know; of an artifact that is too long, the passages about that are returned.
        """
        try:
            return looked_up(db, root, task, name, about)
        except UnknownName:
            if project is None or _SHAPE.fullmatch(_bare(name)):
                raise
        return _document(project, name)

    if project is None:
        lookup.__doc__ = _ARTIFACTS_ONLY
    return lookup


def looked_up(
    db: str | None,
    root: Path,
    task: str,
    name: str,
    about: str = "",
    most_tokens: int = MOST_TOKENS,
) -> str:
    """The text of an artifact within so many tokens; what is left out is said, with the way to
    it."""
    wanted = _bare(name)
    with closing(open_database(db, root)) as store:
        kept = artifacts.of_task(store, task)
        found = next(
            (one for one in kept if wanted.lower() in (one.name.lower(), one.handle)), None
        )
        if found is None:
            raise UnknownName("artifact", wanted, [one.name for one in kept])
        text = artifacts.text_of(store, found)
    counter = tokens.counter(COUNTER)

    def mark(left_out: int, _: int) -> str:
        return (
            f"[about {counter.tokens(left_out):,} tokens left out: look it up again with another"
            " `about`]"
        )

    shorter = relevant(text, counter.room(most_tokens), counter.measure, mark, about)
    return found.reference if shorter is None else shorter


def _document(project: Path, name: str) -> str:
    from foreword.context.lookup import lookup

    return lookup(name, root=project, budget=MOST_TOKENS, counter=COUNTER, save=False).text


def _bare(name: str) -> str:
    return name.strip().strip("[]").strip()
