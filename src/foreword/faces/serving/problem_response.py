"""A request that is refused, whoever asks: `http.problems` writes it out, others have its words."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any


class ProblemResponse(Exception):
    """A request that is refused before anything of Foreword sees it."""

    def __init__(
        self,
        status: int,
        code: str,
        title: str,
        hint: str = "",
        *,
        headers: Mapping[str, str] | None = None,
        **facts: Any,
    ) -> None:
        super().__init__(title)
        self.status = status
        self.code = code
        self.title = title
        self.hint = hint
        self.headers = dict(headers or {})
        self.facts = facts
