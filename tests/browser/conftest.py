"""One site and one Chromium for these tests; every test begins with one empty tab and signed
out."""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterator

import pytest

from foreword.browser import Browser, Rules
from foreword.demos.site import Site
from tests.browser.post_office import PostOffice, post_office
from tests.browser.shop import Shop, shop
from tests.chromium_program import WHOLE, path_with
from tests.faulty_site import faulty_site

# How the program starts, what it keeps in its profile, and which addresses it asks by itself.
_ABOUT_PROGRAM = ("test_attach", "test_browser_state", "test_channels", "test_profile")


@pytest.fixture(scope="session")
def whole_path(tmp_path_factory: pytest.TempPathFactory) -> str:
    return path_with(WHOLE, tmp_path_factory.mktemp("whole"))


@pytest.fixture(scope="session")
def path_with_chromium(light_chromium: None, whole_path: str) -> str:
    """For `make test` the program without a window, which takes a third of the CPU."""
    return whole_path if os.environ.get("FOREWORD_SITES") else os.environ["PATH"]


@pytest.fixture(scope="module", autouse=True)
def chromium_on_path(
    request: pytest.FixtureRequest, path_with_chromium: str, whole_path: str
) -> Iterator[None]:
    """What these tests start by themselves; where it is about that, it is what users have."""
    about_program = request.path.stem in _ABOUT_PROGRAM
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("PATH", whole_path if about_program else path_with_chromium)
        yield


@pytest.fixture(scope="session")
def desk() -> Iterator[Site]:
    with faulty_site() as served:
        yield served


@pytest.fixture(scope="session")
def served_post_office() -> Iterator[PostOffice]:
    with post_office() as served:
        yield served


@pytest.fixture
def office(served_post_office: PostOffice) -> PostOffice:
    served_post_office.reset()
    return served_post_office


@pytest.fixture(scope="session")
def served_shop() -> Iterator[Shop]:
    with shop() as application:
        yield application


@pytest.fixture
def store(served_shop: Shop) -> Shop:
    served_shop.reset()
    return served_shop


@pytest.fixture(scope="session")
def shared(
    desk: Site,
    served_post_office: PostOffice,
    served_shop: Shop,
    path_with_chromium: str,
    tmp_path_factory: pytest.TempPathFactory,
) -> Iterator[Browser]:
    rules = Rules(
        origins=(desk.url, served_post_office.url, served_shop.url),
        action_seconds=1,
        page_seconds=12,
    )
    program = shutil.which("chromium", path=path_with_chromium)
    folder = tmp_path_factory.mktemp("profiles")
    with Browser.start(rules, folder=folder, path=program) as browser:
        yield browser


@pytest.fixture
def browser(shared: Browser, desk: Site) -> Browser:
    for tab in shared.tabs()[1:]:
        shared.close_tab(tab["name"])
    shared.navigate("about:blank")
    desk.requests.clear()
    desk.sessions.clear()
    return shared
