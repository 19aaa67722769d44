"""`make audit` is green only where every pin was looked up; pip-audit itself is played by a
script here."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

pytestmark = pytest.mark.attack

AUDIT = Path(__file__).parents[1] / "requirements" / "audit.py"
LOCK = """
anyio==4.16.0 \\
    --hash=sha256:aa
numpy==2.4.6 ; python_full_version < '3.12' \\
    --hash=sha256:bb
numpy==2.5.4 ; python_full_version >= '3.12' \\
    --hash=sha256:cc
"""
PLAYED = """#!{python}
import json, sys
pins = [line.strip().split("==") for line in open(sys.argv[-1])]
answer = {answer}
json.dump({{"dependencies": [answer(name, version) for name, version in pins]}}, sys.stdout)
"""
FINE = "lambda name, version: {'name': name, 'version': version, 'vulns': []}"
WEAK = (
    "lambda name, version: {'name': name, 'version': version, 'vulns': [{'id': 'PYSEC-1'}] * (name"
    " == 'anyio')}"
)
GONE = "lambda name, version: {'name': name, 'skip_reason': name + ' could not be audited'}"


def audit(folder: Path, program: str) -> subprocess.CompletedProcess[str]:
    """The audit of one lock, with that program in place of pip-audit."""
    played, copy = folder / "pip-audit", folder / "audit.py"
    played.write_text(program)
    played.chmod(0o755)
    copy.write_text(AUDIT.read_text())
    (folder / "some.lock").write_text(LOCK)
    command = [sys.executable, str(copy), str(played)]
    return subprocess.run(command, capture_output=True, text=True, check=False)


@pytest.mark.parametrize(
    ("answer", "code", "told"),
    [
        (FINE, 0, "3 pins, 3 looked up, 0 vulnerable"),
        (WEAK, 1, "3 pins, 3 looked up, 1 vulnerable"),
        (GONE, 1, "some were skipped"),
    ],
)
def test_only_an_audit_of_every_pin_is_green(
    tmp_path: Path, answer: str, code: int, told: str
) -> None:
    done = audit(tmp_path, PLAYED.format(python=sys.executable, answer=answer))

    assert done.returncode == code
    assert told in done.stderr


@pytest.mark.parametrize(
    "program", ["exit 1", "echo 'no route to host' >&2; exit 1", "echo {}", "echo []"]
)
def test_a_service_that_can_not_be_reached_is_a_failure(tmp_path: Path, program: str) -> None:
    done = audit(tmp_path, f"#!/bin/sh\n{program}\n")

    assert done.returncode == 1
    assert "the audit did not take place" in done.stderr


def test_the_locks_name_no_address() -> None:
    locks = sorted(AUDIT.parent.glob("*.lock"))

    assert [lock.stem for lock in locks] == [
        "audit",
        "base",
        "bench",
        "dev",
        "mutants",
        "sites",
        "small-sites",
    ]
    assert not any("://" in lock.read_text() for lock in locks)
