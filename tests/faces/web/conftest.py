"""One browser for all tests of the page, and a server for each module of them."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from playwright.sync_api import Browser

import foreword
from tests.faces.http.running import Address, running, settings_for
from tests.faces.web.browsing import chromium
from tests.faces.web.scene import WORKFLOW, fill


@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    with chromium() as opened:
        yield opened


@pytest.fixture(scope="module")
def scene(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[Address, str]]:
    """A server over a store with one filled session, and the store's address."""
    folder = tmp_path_factory.mktemp("scene")
    settings = settings_for(folder)
    assert settings.db
    fill(settings.db, folder)
    with running(settings) as (address, _):
        yield address, settings.db


@pytest.fixture(scope="module")
def address(scene: tuple[Address, str]) -> Address:
    return scene[0]


@pytest.fixture
def agent(scene: tuple[Address, str]) -> Iterator[foreword.Session]:
    """Somebody else who works on the same session."""
    with foreword.Session.open(scene[1], WORKFLOW, create=False) as session:
        yield session
