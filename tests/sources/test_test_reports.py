"""Failed tests as runners report them: each with name, error, expected, received and stack."""

from __future__ import annotations

from typing import Any

import pytest

from foreword.sources.test_reports import failed_tests

STACK = "at inOrder (src/waiting.ts:22)"
PYTEST = {
    "nodeid": "tests/test_kiln.py::test_fire",
    "outcome": "failed",
    "setup": {"outcome": "passed"},
    "call": {
        "outcome": "failed",
        "crash": {"path": "/p/src/kiln.py", "lineno": 3, "message": "assert 1 == 2"},
        "traceback": [{"path": "src/kiln.py", "lineno": 3, "message": "AssertionError"}],
        "longrepr": ">   assert 1 == 2\n\nsrc/kiln.py:3: AssertionError",
    },
}
JEST = {
    "ancestorTitles": ["inOrder"],
    "fullName": "inOrder keeps ties",
    "title": "keeps ties",
    "status": "failed",
    "failureMessages": [f"Expected: [4]\nReceived: [9]\n    {STACK}"],
}
ERROR = {"message": "not equal", "expected": "[4]", "actual": "[9]", "stack": STACK}
JUNIT = {
    "@classname": "tests.test_kiln",
    "@name": "test_fire",
    "failure": {"@message": "assert 1 == 2", "#text": "src/kiln.py:3"},
}
PASSED = {"name": "works", "fullName": "inOrder works", "status": "passed", "failureMessages": []}
NOT_EQUAL = {"error": "not equal", "expected": "[4]", "received": "[9]", "stack": STACK}
IN_PYTHON = {"error": "assert 1 == 2", "stack": "src/kiln.py:3"}


@pytest.mark.parametrize(
    ("report", "expected"),
    [
        (
            {"summary": {}, "tests": [PYTEST, {"nodeid": "b", "outcome": "passed"}]},
            {**IN_PYTHON, "test": PYTEST["nodeid"], "stack": PYTEST["call"]["longrepr"]},  # type: ignore[index]
        ),
        (
            {"testResults": [{"name": "/a.ts", "assertionResults": [JEST, PASSED]}]},
            {
                "test": "inOrder keeps ties",
                "error": "Expected: [4]\nReceived: [9]",
                "stack": f"    {STACK}",
            },
        ),
        (
            [{"name": "keeps ties", "state": "fail", "errors": [ERROR]}],
            {**NOT_EQUAL, "test": "keeps ties"},
        ),
        (
            {
                "stats": {},
                "tests": [{"title": "b"}],
                "failures": [{"fullTitle": "a b", "err": ERROR}],
            },
            {**NOT_EQUAL, "test": "a b"},
        ),
        (
            {
                "suites": [
                    {
                        "suites": [
                            {
                                "specs": [
                                    {
                                        "title": "a",
                                        "ok": False,
                                        "results": [{"status": "failed", "error": ERROR}],
                                    }
                                ]
                            }
                        ]
                    }
                ]
            },
            {**NOT_EQUAL, "test": "a"},
        ),
        (
            {"testsuites": {"testsuite": {"testcase": [JUNIT, {"@classname": "x", "@name": "y"}]}}},
            {**IN_PYTHON, "test": "tests.test_kiln.test_fire"},
        ),
        (
            {
                "testsuite": {
                    "testcase": {
                        "$": {"classname": "a", "name": "b"},
                        "failure": {"$": {"message": "no"}},
                    }
                }
            },
            {"test": "a.b", "error": "no"},
        ),
        (
            {
                "examples": [
                    {
                        "full_description": "Kiln fires",
                        "status": "failed",
                        "exception": {
                            "message": "no",
                            "backtrace": ["./spec/a.rb:3", "./spec/b.rb:4"],
                        },
                    }
                ]
            },
            {"test": "Kiln fires", "error": "no", "stack": "./spec/a.rb:3\n./spec/b.rb:4"},
        ),
        (
            [
                {"Action": "run", "Package": "kiln", "Test": "TestFire"},
                {"Action": "output", "Package": "kiln", "Test": "TestFire", "Output": "got 1\n"},
                {"Action": "fail", "Package": "kiln", "Test": "TestFire"},
                {"Action": "fail", "Package": "kiln"},
            ],
            {"test": "kiln.TestFire", "error": "got 1"},
        ),
        (
            [
                {"type": "test", "event": "started", "name": "kiln::fire"},
                {"type": "test", "event": "failed", "name": "kiln::fire", "stdout": "panicked\n"},
                {"type": "test", "event": "ok", "name": "kiln::cool"},
                {"type": "suite", "event": "failed", "passed": 1, "failed": 1},
            ],
            {"test": "kiln::fire", "error": "panicked"},
        ),
        (
            {
                "testResults": [
                    {
                        "name": "/a.ts",
                        "status": "failed",
                        "message": "no such module",
                        "assertionResults": [],
                    }
                ]
            },
            {"test": "/a.ts", "error": "no such module"},
        ),
        (
            ["FAILED tests/test_kiln.py::test_fire - assert 1 == 2"],
            {"test": "tests/test_kiln.py::test_fire", "error": "assert 1 == 2"},
        ),
    ],
    ids=[
        "pytest",
        "jest",
        "vitest",
        "mocha",
        "playwright",
        "junit",
        "junit by xml2js",
        "rspec",
        "go",
        "cargo",
        "a file that did not run",
        "a line",
    ],
)
def test_the_one_failure_of_a_report_has_what_a_recipe_reads(
    report: Any, expected: dict[str, str]
) -> None:
    found: Any = failed_tests(report)
    (failure,) = found
    fields = ("test", "error", "expected", "received", "stack")
    assert {field: failure[field] for field in fields if failure.get(field)} == expected


def test_what_nobody_knows_stays_as_it_is_to_be_told() -> None:
    assert failed_tests([{"foo": "bar"}, 3]) == [{"foo": "bar"}, 3]
    assert failed_tests({"test": "a", "error": "b"}) == {"test": "a", "error": "b"}
    assert failed_tests("text") == "text"
    assert failed_tests(None) is None


def test_a_report_of_nothing_but_passed_tests_has_no_failure() -> None:
    assert failed_tests({"testResults": [{"status": "passed", "assertionResults": [PASSED]}]}) == []
