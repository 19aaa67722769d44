"""A new database of each kind, for what both promise."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from foreword.store.database import Database
from tests.store.databases import KINDS, new_url, open_db


@pytest.fixture(params=KINDS)
def url(request: pytest.FixtureRequest, tmp_path: Path) -> str:
    return new_url(request.param, tmp_path)


@pytest.fixture
def db(url: str) -> Iterator[Database]:
    with open_db(url) as database:
        yield database
