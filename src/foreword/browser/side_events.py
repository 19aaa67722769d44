"""What happened beside what was asked for: questions that were answered, downloads and addresses
refused, tabs opened.

A page decides how much of it there is and how long it is, so that what is told of it has a limit.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from foreword.browser.tabs import Tab

LONGEST_SAID = 300
MOST_TABS = 30  # beyond these, what a page opens is closed again
MOST_TOLD = 10


@dataclass(slots=True, kw_only=True)
class Notes:
    """What happened beside what was asked for."""

    dialogs: list[dict[str, str]] = field(default_factory=list)
    downloads: list[str] = field(default_factory=list)
    opened: list[Tab] = field(default_factory=list)
    # the address, and whether of a whole tab
    refused: list[tuple[str, bool]] = field(default_factory=list)
    closed: int = 0  # tabs that were too many

    def refused_tabs(self, since: int = 0) -> list[str]:
        """The addresses that were to fill a whole tab and were refused."""
        return [url for url, whole in self.refused[since:] if whole]

    def told(self) -> dict[str, Any]:
        """As much of it as there is, for a result."""
        all_of_it: dict[str, list[Any]] = {
            "dialogs": self.dialogs,
            "downloads_refused": self.downloads,
            "opened": [tab.name for tab in self.opened if not tab.page.is_closed()],
            "refused": [short(url, LONGEST_SAID) for url, _ in self.refused],
        }
        told: dict[str, Any] = {
            name: value[:MOST_TOLD] for name, value in all_of_it.items() if value
        }
        told |= {
            f"{name}_in_all": len(value)
            for name, value in all_of_it.items()
            if len(value) > MOST_TOLD
        }
        if self.closed:
            told["too_many_tabs"] = f"{self.closed} were closed: more than {MOST_TABS} were open"
        return told


def short(text: str, longest: int) -> str:
    """The text, or its beginning with a sign that it goes on."""
    return text if len(text) <= longest else text[: longest - 3].rstrip() + "..."
