"""The real programs run only where `make agents` has installed them."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

collect_ignore_glob = [] if os.environ.get("FOREWORD_AGENTS") else ["test_*.py"]


@pytest.fixture(autouse=True)
def own_data(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The data directory is the one in the home of the agent, whose server uses it."""
    folder = tmp_path / "ada" / ".local" / "share"
    monkeypatch.setenv("XDG_DATA_HOME", str(folder))
    return folder
