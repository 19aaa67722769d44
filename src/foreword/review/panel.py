"""A panel: the personas that look at one change, each on its own.

Plain values. Reading them out of a project's Markdown is the business of `sources.panel_file`;
asking them is that of `work.panel_runs`; what they find is in `findings`.
"""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Member:
    """A persona: its name and its whole text, as the author wrote it."""

    name: str
    text: str
    source: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Panel:
    """Who sits on it; `missing` names the personas it asks for that are nowhere to be found,
    `unclear` the headings among its members that say no role and have no file."""

    name: str
    title: str
    source: str
    members: tuple[Member, ...]
    missing: tuple[str, ...] = ()
    unclear: tuple[str, ...] = ()
