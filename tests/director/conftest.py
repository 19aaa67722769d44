"""The site and the Chromium of the browser's own tests: one of each for a module."""

from tests.browser.conftest import desk, office, served_post_office, shared

__all__ = ["desk", "office", "served_post_office", "shared"]
