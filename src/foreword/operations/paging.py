"""Lists: whole, or in pages where they may be long."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated, Generic, TypeVar

from pydantic import Field

from foreword.operations.operation import OperationInput
from foreword.store.database import LARGEST_NUMBER

Entry = TypeVar("Entry")
# rows in one answer: it is read as a whole, so a list of any length comes in pages
MOST_LISTED = 200


class PageInput(OperationInput):
    """Which part of a list: the newest first."""

    limit: int = Field(default=50, ge=1, le=MOST_LISTED, description="How many at most.")
    cursor: int | None = Field(
        default=None, ge=0, le=LARGEST_NUMBER, description="The `next` of the page before."
    )

    @property
    def before(self) -> int:
        """Where the page begins."""
        return LARGEST_NUMBER if self.cursor is None else self.cursor


@dataclass(frozen=True, slots=True, kw_only=True)
class Listing(Generic[Entry]):
    """All that there are of a kind."""

    items: list[Entry]


@dataclass(frozen=True, slots=True, kw_only=True)
class Page(Listing[Entry], Generic[Entry]):
    """Some of them, the newest first."""

    next: Annotated[int | None, Field(description="The cursor of the next page.")]
