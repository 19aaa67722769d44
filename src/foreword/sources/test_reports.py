"""The failed tests in what test runners report as JSON: pytest-json-report, jest, vitest, mocha,
playwright, rspec, `go test -json`, cargo, and JUnit's XML turned into JSON.

A record that a recipe can read stays as it is. Any other becomes one with `test`, `error`,
`expected`, `received` and `stack` as far as it has them; tests that did not fail are no failures.
Pure.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Any

from foreword.pattern import lazy_pattern

# What recipes call a field, and what test runners call it: in lower case, without underscores. The
# first that has a value counts.
_USUAL_NAMES = {
    "test": ("testname", "fullname", "nodeid", "testcase", "testid", "name", "title"),
    "error": (
        "errormessage",
        "message",
        "failuremessage",
        "failuremessages",
        "failure",
        "exception",
        "reason",
        "err",
        "longrepr",
        "crash",
    ),
    "expected": ("expectedvalue", "want", "wanted"),
    "received": ("actual", "receivedvalue", "actualvalue", "got"),
    "stack": ("stacktrace", "traceback", "trace", "backtrace", "callstack", "longreprtext"),
    "file": ("filepath", "path", "filename", "sourcefile"),
}
_FIELDS = ("test", "error", "expected", "received", "stack")
# Where a report, a suite or a file keeps what it is made of. Mocha lists every failure among its
# `tests` again, so `failures` alone counts where there are any.
_FAILURES = "failures"
_INSIDE = (
    "testResults",
    "assertionResults",
    "testsuites",
    "testsuite",
    "testcase",
    "suites",
    "specs",
    "examples",
    "tests",
    "tasks",
)
# Where a record keeps its error, from the outer to the inner.
_DETAILS = ("call", "setup", "teardown", "crash", "failure", "err", "error", "errors", "exception")
_MORE_DETAILS = ("results", "diag", "diagnostic", "result", "#text")
_ATTRIBUTES = ("$", "@attributes", "_attributes", "attributes")
_OUTCOMES = ("status", "outcome", "state", "event", "Action", "ok")
_NOT_FAILED = frozenset(
    "passed pass ok success expected skipped skip pending todo disabled ignored xfailed started run"
    " running true".split()
)
_FULL_NAMES = ("fullTitle", "full_description", "fullName")
_SUMMARY = lazy_pattern(r"(?:FAILED|ERROR)\s+(?P<test>\S+)(?:\s+-\s+(?P<error>.*))?")
_STACK = lazy_pattern(r"\n(?=[ \t]+at )")
_DEEPEST = 12  # suites within each other; nobody writes more


def failed_tests(value: object) -> object:
    """The failures in a report or in a list of records, each as a recipe reads it; anything else
    as it is, for whoever reads it to refuse."""
    if isinstance(value, Mapping) and not _is_report(value):
        return value
    if isinstance(value, list) and _is_event_log(value):
        return list(_failed_by_events(value))
    if isinstance(value, list | Mapping):
        return list(_records(value, 0))
    return value


def _is_report(value: Mapping[str, Any]) -> bool:
    return any(isinstance(value.get(key), list | Mapping) for key in (_FAILURES, *_INSIDE))


def _records(value: object, depth: int) -> Iterator[object]:
    """The records of what failed, out of all that is nested in a report."""
    if depth > _DEEPEST:
        return
    if isinstance(value, list):
        for member in value:
            yield from _records(member, depth + 1)
    elif isinstance(value, str):
        yield _from_line(value)
    elif not isinstance(value, Mapping):
        yield value
    elif _is_report(value):
        inside = list(_inside(value, depth))
        # a file that could not be run has a message and no tests
        is_failed_itself = not inside and _has_failed(value) and _record(value).get("error")
        yield from [_record(value)] if is_failed_itself else inside
    elif _has_failed(value):
        yield _record(value)


def _inside(report: Mapping[str, Any], depth: int) -> Iterator[object]:
    failures = report.get(_FAILURES)
    keys = (_FAILURES,) if isinstance(failures, list) and failures else _INSIDE
    for key in keys:
        if isinstance(report.get(key), list | Mapping):
            yield from _records(report[key], depth + 1)


def _has_failed(record: Mapping[str, Any]) -> bool:
    """Whether nothing says that a test ended otherwise: a record among failures is one."""
    if "@name" in record or "testcase" in record:  # of JUnit, where only failures say so
        return any(key in record for key in ("failure", "error"))
    if record.get("type") == "suite" and "name" not in record:  # cargo's count of what failed
        return False
    outcomes = [str(record[key]).lower() for key in _OUTCOMES if key in record]
    return not any(outcome in _NOT_FAILED for outcome in outcomes)


def _record(record: Mapping[str, Any]) -> dict[str, Any]:
    """The record, and beside its own keys the fields that recipes read."""
    own = _with_usual_names(record)
    if all(isinstance(own.get(field), str) for field in ("test", "error")):
        return {**own, "test": _full_name(record) or own["test"]}
    plain = _without_marks(record)
    found = dict[str, Any]()
    for part in (plain, *_details(plain, 0)):
        for field, said in _with_usual_names(part).items():
            if field in _FIELDS and field not in found and not isinstance(said, Mapping | list):
                found[field] = said
    name = _full_name(plain)
    if name:
        found["test"] = name
    if "error" not in found:
        found |= _error_of_texts(plain)
    found = {field: said for field, said in found.items() if said is not None}
    for field in ("unit", "units", "file"):
        if field in plain:
            found[field] = plain[field]
    return {**record, **found}


def _with_usual_names(record: Mapping[str, Any]) -> dict[str, Any]:
    """The record, and beside its own keys the names that recipes use for usual ones."""
    keys = {re.sub(r"[\W_]", "", str(key)).lower(): key for key in reversed(list(record))}
    named = dict(record)
    for field, others in _USUAL_NAMES.items():
        if record.get(field) not in (None, ""):
            continue
        for other in others:
            key = keys.get(other)
            if key is not None and record[key] not in (None, ""):
                named[field] = record[key]
                break
    return named


def _full_name(record: Mapping[str, Any]) -> str:
    for key in _FULL_NAMES:
        if isinstance(record.get(key), str):
            return str(record[key])
    name = record.get("name")
    group = record.get("classname")
    return f"{group}.{name}" if isinstance(group, str) and isinstance(name, str) else ""


def _without_marks(record: Mapping[str, Any]) -> dict[str, Any]:
    """A record of XML with its attributes as fields."""
    plain = dict[str, Any]()
    for key, value in record.items():
        if key in _ATTRIBUTES and isinstance(value, Mapping):
            plain |= value
        else:
            plain[key.removeprefix("@")] = value
    return plain


def _details(record: Mapping[str, Any], depth: int) -> Iterator[Mapping[str, Any]]:
    """The mappings in a record that say what went wrong."""
    for key in (*_DETAILS, *_MORE_DETAILS):
        value = record.get(key)
        inner = value[-1] if isinstance(value, list) and value else value
        if isinstance(inner, Mapping) and depth < _DEEPEST and _has_failed(inner):
            plain = _without_marks(inner)
            # the inner ones say it in fewer words: `crash` has the message, `call` the whole
            yield from _details(plain, depth + 1)
            yield {**plain, **_stack_of(plain)}


def _stack_of(detail: Mapping[str, Any]) -> dict[str, Any]:
    """The stack of what went wrong, where it is the text of an element, pytest's own account, or
    a list of lines."""
    for key in ("stack", "#text", "longrepr", "backtrace", "traceback"):
        value = detail.get(key)
        if isinstance(value, list) and value and all(isinstance(line, str) for line in value):
            value = "\n".join(value)
        if isinstance(value, str) and value.strip():
            return {"stack": value}
    return {}


def _error_of_texts(record: Mapping[str, Any]) -> dict[str, Any]:
    """The error of a record that has texts: jest's `failureMessages`, what a test of cargo
    printed."""
    for key in ("failureMessages", "messages", "failure", "error", "stdout", "output"):
        value = record.get(key)
        texts = [text for text in value if isinstance(text, str)] if isinstance(value, list) else []
        text = value if isinstance(value, str) else "\n".join(texts)
        if text.strip():
            error, *stack = _STACK.split(text.strip("\n"), maxsplit=1)
            return {"error": error, "stack": stack[0]} if stack else {"error": error}
    return {}


def _from_line(line: str) -> dict[str, Any]:
    """`FAILED tests/test_kiln.py::test_fire - assert 1 == 2`, or any words about a failure."""
    summary = _SUMMARY.match(line.strip())
    if summary and summary["error"]:
        return {"test": summary["test"], "error": summary["error"]}
    return {"test": line.strip().splitlines()[0][:120] if line.strip() else "", "error": line}


def _is_event_log(value: list[object]) -> bool:
    """Whether a list is what `go test -json` writes: a line for each thing that happens."""
    return any(isinstance(event, Mapping) and "Action" in event for event in value)


def _failed_by_events(events: list[object]) -> Iterator[dict[str, Any]]:
    """What failed of the events, with what it printed; a package only where none of its tests is
    to blame."""
    output = dict[tuple[str, str], list[str]]()
    failed = list[tuple[str, str]]()
    for event in events:
        if not isinstance(event, Mapping):
            continue
        test = (str(event.get("Package", "")), str(event.get("Test", "")))
        if event.get("Action") == "output":
            output.setdefault(test, []).append(str(event.get("Output", "")))
        if event.get("Action") == "fail":
            failed.append(test)
    packages = {package for package, name in failed if name}
    for package, name in failed:
        if name or package not in packages:
            text = "".join(output.get((package, name), [])).strip("\n")
            full_name = ".".join(part for part in (package, name) if part)
            yield {"test": full_name, "error": text or "failed"}
