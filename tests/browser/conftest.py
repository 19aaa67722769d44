"""One site and one Chromium for these tests; every test begins with one empty tab and signed
out."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from foreword.browser import Browser, Rules
from foreword.demos.site import Site, site


@pytest.fixture(scope="session")
def desk() -> Iterator[Site]:
    with site() as served:
        yield served


@pytest.fixture(scope="session")
def shared(desk: Site, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Browser]:
    rules = Rules(origins=(desk.url,), action_seconds=1.5, page_seconds=4)
    with Browser.start(rules, folder=tmp_path_factory.mktemp("profiles")) as browser:
        yield browser


@pytest.fixture
def browser(shared: Browser, desk: Site) -> Browser:
    for tab in shared.tabs()[1:]:
        shared.close_tab(tab["name"])
    shared.navigate("about:blank")
    desk.requests.clear()
    desk.sessions.clear()
    return shared
