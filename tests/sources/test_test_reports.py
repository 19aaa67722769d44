"""Failed tests as runners report them: each with name, error, expected, received and stack."""

from __future__ import annotations

from typing import Any

from foreword.sources.test_reports import failed_tests
from tests.corpus import check_each, rows

PASSED = {"name": "works", "fullName": "inOrder works", "status": "passed", "failureMessages": []}


def test_the_one_failure_of_a_report_has_what_a_recipe_reads() -> None:
    def is_read(case: dict[str, Any]) -> None:
        found: Any = failed_tests(case["report"])
        (failure,) = found
        fields = ("test", "error", "expected", "received", "stack")
        read = {field: failure[field] for field in fields if failure.get(field)}
        assert read == case["failure"]

    check_each(rows("test_reports.jsonl"), is_read)


def test_what_nobody_knows_stays_as_it_is_to_be_told() -> None:
    assert failed_tests([{"foo": "bar"}, 3]) == [{"foo": "bar"}, 3]
    assert failed_tests({"test": "a", "error": "b"}) == {"test": "a", "error": "b"}
    assert failed_tests("text") == "text"
    assert failed_tests(None) is None


def test_a_report_of_nothing_but_passed_tests_has_no_failure() -> None:
    assert failed_tests({"testResults": [{"status": "passed", "assertionResults": [PASSED]}]}) == []
