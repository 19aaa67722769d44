"""The site and the Chromium of the browser's own tests: one of each for all of these."""

from tests.browser.conftest import (
    desk,
    office,
    path_with_chromium,
    served_post_office,
    served_shop,
    shared,
    store,
    whole_path,
)

__all__ = [
    "desk",
    "office",
    "path_with_chromium",
    "served_post_office",
    "served_shop",
    "shared",
    "store",
    "whole_path",
]
