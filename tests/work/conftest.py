"""Flows and panels of tests/work do not wait for the second in which dbos finds a new queue."""

from __future__ import annotations

import pytest


@pytest.fixture(scope="session", autouse=True)
def quick_flows(quick_queues: None) -> None:
    """Use `quick_queues` in every test of this folder."""
