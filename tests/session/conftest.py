"""Sessions with a small budget, for tests of what they send."""

from __future__ import annotations

from typing import Any

import pytest

import foreword
from tests.sessions import Open


@pytest.fixture
def start_session(open_session: Open) -> Open:
    """Opens sessions on one store, which cut and do not compress: their limits are those of the
    window."""

    def open_one(budget: int = 2000, **more: Any) -> foreword.Session:
        return open_session(**{"budget": budget, "compress_at": "90%", "warn_at": "80%", **more})

    return open_one
