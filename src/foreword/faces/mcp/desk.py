"""What every tool, resource and prompt of one server works on: its stores, its root, its default workflow."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from foreword.faces.http.serving import Serving
from foreword.runtime.session import Session
from foreword.store.database import Database


class Desk:
    """One server's things. They come from the command line; a caller may only name a workflow."""

    def __init__(self, serving: Serving, workflow: str) -> None:
        self.serving, self.workflow = serving, workflow

    @property
    def root(self) -> Path:
        """The project."""
        return self.serving.settings.root

    @contextmanager
    def store(self) -> Iterator[Database]:
        """An open store."""
        with self.serving.store() as db:
            yield db

    @contextmanager
    def session(self, workflow: str | None, *, making: bool) -> Iterator[Session]:
        """The workflow that was named, else the server's own, which is made where there is none."""
        name = workflow or self.workflow
        with self.serving.session(name, create=making or name == self.workflow) as session:
            yield session
