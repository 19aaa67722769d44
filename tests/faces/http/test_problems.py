"""Every error has a status, and its facts reach the client."""

from __future__ import annotations

import json

from foreword import errors
from foreword.faces.http.problems import MEANINGS, STATUSES, problem_of, status_of
from tests.faces.test_errors import every_error


def test_every_error_has_a_status_with_a_meaning() -> None:
    for kind in every_error():
        assert status_of(kind.__new__(kind)) in MEANINGS, kind


def test_every_branch_of_the_tree_has_a_line_of_its_own() -> None:
    for kind in every_error():
        if kind.__base__ is errors.ForewordError:
            assert kind in STATUSES, kind


def test_a_problem_carries_the_facts_of_its_error() -> None:
    body = json.loads(bytes(problem_of(errors.PlanConflict(1, 2, {"plan_version": 2})).body))
    assert (body["expected"], body["version"], body["newest"]) == (1, 2, {"plan_version": 2})


def test_a_secret_in_an_error_is_hidden() -> None:
    key = "sk-ant-" + "c3" * 20
    response = problem_of(errors.BadPlan([f"status: {key} is not one of them"]))
    assert key.encode() not in bytes(response.body)
