"""What happened beside what was asked for: questions that were answered, downloads and addresses
refused, tabs opened.

A page decides how much of it there is and how long it is, so what a result tells of it has a limit.
`tabs` and `origin_guard` write it down; requests that the rules refuse are counted in `block_log`.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from foreword.browser.tab import Tab

LONGEST_TEXT = 300  # characters of a dialog, a file's name or an address, in a result
# Beyond these, what a page opens is closed again: each takes memory, and one page may open without
# end.
MOST_TABS = 30
MOST_LISTED = 10  # of each kind in one result; `..._in_all` says how many there were


@dataclass(frozen=True, slots=True, kw_only=True)
class DialogAnswer:
    """How dialogs of a page are answered; no result repeats the text."""

    accept: bool
    text: str | None = None  # for one that asks for a text


DISMISS = DialogAnswer(accept=False)


@dataclass(slots=True, kw_only=True)
class Notes:
    """What happened beside what was asked for."""

    dialogs: list[dict[str, str]] = field(default_factory=list)
    downloads: list[str] = field(default_factory=list)
    opened: list[Tab] = field(default_factory=list)
    # the address, and whether it was to fill a whole tab
    refused: list[tuple[str, bool]] = field(default_factory=list)
    closed: int = 0  # tabs that were too many

    def refused_tabs(self, since: int) -> list[str]:
        """The addresses that were to fill a whole tab and were refused."""
        return [url for url, is_tab in self.refused[since:] if is_tab]

    def as_result(self) -> dict[str, Any]:
        """The fields that this adds to the result of an action; none for what did not happen."""
        lists: dict[str, list[Any]] = {
            "dialogs": self.dialogs,
            "downloads_refused": self.downloads,
            "opened": [tab.name for tab in self.opened if not tab.page.is_closed()],
            "refused": [short(url, LONGEST_TEXT) for url, _ in self.refused],
        }
        result: dict[str, Any] = {}
        for name, values in lists.items():
            if values:
                result[name] = values[:MOST_LISTED]
        for name, values in lists.items():
            if len(values) > MOST_LISTED:
                result[f"{name}_in_all"] = len(values)
        if self.closed:
            result["too_many_tabs"] = f"{self.closed} were closed: more than {MOST_TABS} were open"
        return result


def short(text: str, longest: int) -> str:
    """The text, or its beginning with a sign that it goes on."""
    return text if len(text) <= longest else text[: longest - 3].rstrip() + "..."
