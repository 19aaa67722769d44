"""The site and the Chromium of the browser's own tests: one of each for a module."""

from tests.browser.conftest import desk, shared

__all__ = ["desk", "shared"]
