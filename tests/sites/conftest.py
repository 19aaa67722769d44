"""One browser, and one server of each application, for all tests of them; the figures are printed
as one table behind the tests."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import ExitStack

import pytest

from foreword.browser import Browser, Rules
from tests.chromium_program import WHOLE, path_with
from tests.sites.application import Application, Start
from tests.sites.scenario import Figures, table
from tests.sites.small_applications import datasette, sqlite_web

APPLICATIONS: dict[str, Start] = {"datasette": datasette, "sqlite-web": sqlite_web}
collect_ignore = ["test_form_sites.py", "test_large_sites.py"]
if os.environ.get("FOREWORD_SITES"):
    collect_ignore = []
    from tests.sites.form_applications import FORM_APPLICATIONS
    from tests.sites.large_applications import LARGE_APPLICATIONS

    APPLICATIONS |= FORM_APPLICATIONS | LARGE_APPLICATIONS
_FIGURES = pytest.StashKey[dict[str, Figures]]()


class Applications:
    """Those that are running; one that is asked for again is the same."""

    def __init__(self, folders: pytest.TempPathFactory, ends: ExitStack) -> None:
        self._folders = folders
        self._ends = ends
        self._running: dict[str, Application] = {}

    def get(self, name: str) -> Application:
        """An application, started if it is not running."""
        if name not in self._running:
            start = APPLICATIONS[name](self._folders.mktemp(name))
            self._running[name] = self._ends.enter_context(start)
        return self._running[name]


@pytest.fixture(scope="session", autouse=True)
def whole_chromium(tmp_path_factory: pytest.TempPathFactory, light_chromium: None) -> None:
    """`make sites` tries the browser that users have."""
    if os.environ.get("FOREWORD_SITES"):
        os.environ["PATH"] = path_with(WHOLE, tmp_path_factory.mktemp("whole"))


@pytest.fixture(scope="session")
def applications(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Applications]:
    with ExitStack() as ends:
        yield Applications(tmp_path_factory, ends)


@pytest.fixture(scope="session")
def application(request: pytest.FixtureRequest, applications: Applications) -> Application:
    name: str = request.param
    return applications.get(name)


@pytest.fixture(scope="session")
def site_browser(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Browser]:
    rules = Rules(action_seconds=20, page_seconds=60)
    with Browser.start(rules, folder=tmp_path_factory.mktemp("profiles")) as browser:
        yield browser


@pytest.fixture
def figures(request: pytest.FixtureRequest) -> dict[str, Figures]:
    return request.config.stash.setdefault(_FIGURES, {})


def pytest_terminal_summary(
    terminalreporter: pytest.TerminalReporter, config: pytest.Config
) -> None:
    measured = config.stash.get(_FIGURES, {})
    if measured:
        terminalreporter.write_line("")
        terminalreporter.write_line(table(list(measured.values())))
