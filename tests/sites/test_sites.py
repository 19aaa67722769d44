"""Applications that nobody here wrote: what is seen of them, and that every effect happens once, by
their own data, though answers are slow and the process is killed.

`make test` has two of them; `make sites` (FOREWORD_SITES=1) installs and runs all.
"""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from tests.sites.application import Start
from tests.sites.scenario import Figures, look, work
from tests.sites.slow_proxy import slow_proxy
from tests.sites.small_applications import datasette, sqlite_web

APPLICATIONS: dict[str, Start] = {"datasette": datasette, "sqlite-web": sqlite_web}
if os.environ.get("FOREWORD_SITES"):
    from tests.sites.large_applications import LARGE_APPLICATIONS

    APPLICATIONS |= LARGE_APPLICATIONS


@pytest.mark.parametrize("name", APPLICATIONS)
def test_an_application_is_seen_as_playwright_sees_it_and_every_effect_happens_once(
    name: str, tmp_path: Path, figures: list[Figures]
) -> None:
    for folder in ("server", "profiles", "project"):
        (tmp_path / folder).mkdir()
    with APPLICATIONS[name](tmp_path / "server") as application:
        measured = look(application, tmp_path / "profiles")
        figures.append(measured)
        assert measured.seen > 0
        assert not measured.missing
        assert not measured.lost
        with slow_proxy(application.port) as proxy:
            work(application, proxy, tmp_path / "project", measured)
