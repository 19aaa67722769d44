"""A director for the length of a command: its store, its browser, and a word where the workflow was made just now."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from foreword.faces.cli.browsing import Wanted
from foreword.faces.cli.workflows import say_if_made
from foreword.runtime.root import project_root

if TYPE_CHECKING:
    from foreword.director import Director


@contextmanager
def opened(
    db: str | None, workflow: str, root: str, browser: Wanted, model: str | None = None, **session: Any
) -> Iterator[Director]:
    """A workflow's director; what it started is closed behind it."""
    from foreword.director import Director

    folder = project_root(root)
    with (
        browser.reached(folder) as given,
        Director.open(db, workflow, root=folder, model=model, browser=given, **session) as director,
    ):
        say_if_made(director.session)
        yield director
