"""What every tool, resource and prompt of one server works on: its stores, its root, its default
workflow."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, ExitStack, contextmanager
from functools import partial
from pathlib import Path
from typing import TypeVar

from foreword.errors import UnknownName
from foreword.faces.serving.app_state import AppState
from foreword.session.session import Session
from foreword.session.workflow_state import WorkflowState
from foreword.store.database import Database
from foreword.store.urls import store_exists

State = TypeVar("State", bound=WorkflowState)
BEGIN = (  # the hint where there is nothing to choose from
    "there is no workflow yet: update_plan, set_variable and append_message make the one they name"
)


class ServerState:
    """One server's things. They come from the command line; a caller may only name a workflow."""

    def __init__(self, app_state: AppState, workflow: str) -> None:
        self.app_state = app_state
        self.workflow = workflow

    @property
    def root(self) -> Path:
        """The project."""
        return self.app_state.settings.root

    @contextmanager
    def store(self) -> Iterator[Database]:
        """An open store."""
        with self.app_state.store() as db:
            yield db

    @contextmanager
    def store_if_any(self) -> Iterator[Database | None]:
        """An open store, where there is one yet: who only reads makes none."""
        if not store_exists(self.app_state.settings.db, self.root):
            yield None
        else:
            with self.store() as db:
                yield db

    @contextmanager
    def state(self, workflow: str | None) -> Iterator[WorkflowState]:
        """The workflow that was named, else the server's own, to be read."""
        with self._open(workflow, self.app_state.state) as state:
            yield state

    @contextmanager
    def session(self, workflow: str | None, *, making: bool) -> Iterator[Session]:
        """The session of the workflow that was named, else of the server's own, to be changed;
        `making` makes it where there is none."""
        with self._open(
            workflow, partial(self.app_state.session, create=making), making=making
        ) as session:
            yield session

    @contextmanager
    def _open(
        self,
        workflow: str | None,
        opening: Callable[[str], AbstractContextManager[State]],
        *,
        making: bool = False,
    ) -> Iterator[State]:
        name = workflow or self.workflow
        with ExitStack() as stack:
            try:
                if not making and not store_exists(self.app_state.settings.db, self.root):
                    raise UnknownName("workflow", name, ())
                opened = stack.enter_context(opening(name))
            except UnknownName as unknown:
                if not unknown.known:
                    unknown.hint = BEGIN
                raise unknown from None
            yield opened
