"""A real Chromium in hand: named tabs, actions, and what a page is made of. Playwright is
imported on first use."""

from foreword.browser.browser import Browser
from foreword.browser.dom import Dom
from foreword.browser.rules import Rules

__all__ = ["Browser", "Dom", "Rules"]
