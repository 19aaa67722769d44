"""One browser for all tests of the page, and a server for each module of them."""

from __future__ import annotations

import asyncio
from asyncio import AbstractEventLoop
from collections.abc import Iterator

import pytest
from playwright.sync_api import Browser

import foreword
from tests.faces.http.running import Address, running, settings_for
from tests.faces.web.browsing import chromium
from tests.faces.web.scene import WORKFLOW, fill


@pytest.fixture(scope="session")
def browser_and_loop() -> Iterator[tuple[Browser, AbstractEventLoop]]:
    with chromium() as opened:
        loop = asyncio.get_running_loop()
        asyncio._set_running_loop(None)
        yield opened, loop
        asyncio._set_running_loop(loop)


@pytest.fixture
def browser(browser_and_loop: tuple[Browser, AbstractEventLoop]) -> Iterator[Browser]:
    """Playwright's loop counts as the running one of this thread, where other tests run loops of
    their own: so it does only while a test uses the browser."""
    opened, loop = browser_and_loop
    asyncio._set_running_loop(loop)
    yield opened
    asyncio._set_running_loop(None)


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
