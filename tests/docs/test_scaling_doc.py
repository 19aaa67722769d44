"""docs/scaling.md: the numbers it gives are those of the code."""

from __future__ import annotations

from pathlib import Path

from foreword.store import postgres
from foreword.work import dbos_setup, heartbeat, question_queue, runs

TEXT = " ".join((Path(__file__).parents[2] / "docs" / "scaling.md").read_text("utf-8").split())


def test_the_page_says_what_the_code_does() -> None:
    assert f"({runs.AT_ONCE} unless it is said)" in TEXT
    assert f"ends what it has begun within {runs.FINISH_SECONDS} seconds" in TEXT
    assert f"by the database's clock, every {heartbeat.BEAT_SECONDS:g} seconds" in TEXT
    assert f"silent for more than {heartbeat.DEAD_SECONDS} seconds" in TEXT
    assert f"`{postgres.SCHEMA}` for the store and `{dbos_setup.SCHEMA}` for dbos" in TEXT
    assert f"`{runs.AGENTS}`" in TEXT
    assert f"`{runs.RUNS}`" in TEXT
    assert question_queue.QUEUE_SECONDS == 600, "the page says ten minutes"
    assert f"at most {dbos_setup.CONNECTIONS} connections for dbos" in TEXT
    assert f"every {dbos_setup.SHARED_POLL_SECONDS:g} seconds" in TEXT
