"""Applications that nobody here wrote: what is seen of them, and that every effect happens once, by
their own data, though answers are slow and the process is killed.

`make test` looks at one and works on another; `make sites` (FOREWORD_SITES=1) installs all and does
both on each.
"""

from __future__ import annotations

import json
import os
from collections import Counter
from pathlib import Path

import pytest

from foreword.browser import Browser
from foreword.testing import fake_provider
from tests.director.scenes import open_director, results_in
from tests.sites import director_script
from tests.sites.application import Application
from tests.sites.conftest import APPLICATIONS, Applications
from tests.sites.scenario import Figures, look, work
from tests.sites.slow_proxy import slow_proxy
from tests.sites.small_applications import PASSWORD

ASTERS = [{"name": "Sea aster", "height": "40", "note": ""}]
SEEN, WORKED_ON = ["datasette"], ["sqlite-web"]
if os.environ.get("FOREWORD_SITES"):
    SEEN = WORKED_ON = list(APPLICATIONS)


@pytest.mark.parametrize("application", SEEN, indirect=True)
def test_an_application_is_seen_as_playwright_sees_it(
    application: Application, site_browser: Browser, figures: dict[str, Figures]
) -> None:
    measured = figures.setdefault(application.name, Figures(name=application.name))
    look(application, site_browser, measured)
    assert measured.seen > 0
    assert not measured.missing
    assert not measured.lost


@pytest.mark.parametrize("application", WORKED_ON, indirect=True)
def test_every_effect_happens_once_though_answers_are_slow_and_the_process_is_killed(
    application: Application, tmp_path: Path, figures: dict[str, Figures]
) -> None:
    measured = figures.setdefault(application.name, Figures(name=application.name))
    with slow_proxy(application.port) as proxy:
        work(application, proxy, tmp_path, measured)


def test_a_director_finds_its_selectors_and_enters_every_row_once(
    applications: Applications, site_browser: Browser, tmp_path: Path
) -> None:
    application = applications.get("sqlite-web")
    before = application.effects()
    with (
        fake_provider(director_script.replies(application.address)) as provider,
        open_director(tmp_path, provider.openai, browser=site_browser) as director,
    ):
        director.session.set_variable("creds", {"password": PASSWORD}, "to sign in")
        director.session.set_variable("rows", ASTERS, "what is to be entered")
        turn = director.say("Enter the plants")
        assert turn.text == "Every plant is entered."
        assert all(not text.startswith("failed") for text in results_in(provider.requests[-1]))
        assert PASSWORD not in json.dumps(provider.requests)
    assert application.effects() - before == Counter([row["name"] for row in ASTERS])
