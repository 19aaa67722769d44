"""The site and the Chromium of the browser's own tests: one of each for all of these, without a
window where the system has such a program."""

import os

import pytest

from tests.browser.conftest import desk, office, served_post_office, shared

__all__ = ["desk", "office", "served_post_office", "shared"]


@pytest.fixture(scope="session")
def path_with_chromium(light_chromium: None) -> str:
    return os.environ["PATH"]
