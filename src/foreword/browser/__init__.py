"""A real Chromium in hand: named tabs, actions, and what a page is made of. Playwright is
imported on first use, and so is each of these names."""

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from foreword.browser.browser import Browser
    from foreword.browser.dom import Dom
    from foreword.browser.rules import Rules

__all__ = ["Browser", "Dom", "Rules"]


def __getattr__(name: str) -> Any:
    if name not in __all__:
        raise AttributeError(f"module 'foreword.browser' has no attribute {name!r}")
    from importlib import import_module

    return getattr(import_module(f"foreword.browser.{name.lower()}"), name)
