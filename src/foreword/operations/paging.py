"""A long list in pages: which part of it a caller wants."""

from __future__ import annotations

from pydantic import Field

from foreword.operations.operation import OperationInput
from foreword.store.database import LARGEST_NUMBER

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
