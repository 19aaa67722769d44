"""Setting the status of one task in a plan."""

from __future__ import annotations

import pytest

from foreword.errors import UnknownName
from foreword.plan.plan import diff, with_status
from tests.sessions import plan


def test_one_task_gets_another_status_and_nothing_else_changes() -> None:
    before = plan(extra={"kept": [1]})
    after = with_status(before, "2", "failed")
    assert diff(before, after) == ['task 2 "Build navigation node": in_progress -> failed']
    assert before == plan(extra={"kept": [1]})


@pytest.mark.parametrize(("task", "status"), [("3", "failed"), ("2", "done")])
def test_a_task_or_a_status_that_is_not_there_is_an_error(task: str, status: str) -> None:
    with pytest.raises(UnknownName):
        with_status(plan(), task, status)
