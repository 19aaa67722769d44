"""The figures of the applications are printed as one table behind the tests."""

from __future__ import annotations

import pytest

from tests.sites.scenario import Figures, table

_FIGURES = pytest.StashKey[list[Figures]]()


@pytest.fixture
def figures(request: pytest.FixtureRequest) -> list[Figures]:
    return request.config.stash.setdefault(_FIGURES, [])


def pytest_terminal_summary(
    terminalreporter: pytest.TerminalReporter, config: pytest.Config
) -> None:
    measured = config.stash.get(_FIGURES, [])
    if measured:
        terminalreporter.write_line("")
        terminalreporter.write_line(table(measured))
