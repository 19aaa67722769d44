"""What the agents of a flow can look up: the artifacts of the phases before theirs, whole or as far as they fit."""

from __future__ import annotations

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


def lookup_tool(db: str | None, root: Path, run: str) -> Callable[..., str]:
    """The tool that fetches an artifact of one run."""

    def lookup(name: str, about: str = "") -> str:
        """Fetch an artifact of an earlier phase by its name, as in FEAT-1.

        Args:
            name: The name between the brackets of its reference.
            about: What you want to know; of an artifact that is too long, the passages about that are returned.
        """
        return looked_up(db, root, run, name, about)

    return lookup


def looked_up(db: str | None, root: Path, run: str, name: str, about: str = "", most_tokens: int = MOST_TOKENS) -> str:
    """The text of an artifact within so many tokens; what is left out is said, with the way to it."""
    wanted = name.strip().strip("[]").strip()
    with closing(open_database(db, root)) as store:
        kept = artifacts.everything(store, run)
        found = next((one for one in kept if wanted.lower() in (one.name.lower(), one.handle)), None)
        if found is None:
            raise UnknownName("artifact", wanted, [one.name for one in kept])
        text = artifacts.text_of(store, found)
    counter = tokens.counter(COUNTER)

    def mark(left_out: int, _: int) -> str:
        return f"[about {counter.tokens(left_out):,} tokens left out: look it up again with another `about`]"

    shorter = relevant(text, counter.room(most_tokens), counter.measure, mark, about)
    return found.reference if shorter is None else shorter
