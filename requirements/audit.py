"""Ask pip-audit about every pin of the lock files: `make audit`.

The locks are for every platform and Python, so markers are dropped and all pins are asked about. A
pin that was not looked up, or a service that could not be reached, is a failure: silence would read
as "no known vulnerabilities".
"""

from __future__ import annotations

import json
import re
import subprocess
import sys
import tempfile
from collections.abc import Iterable
from pathlib import Path
from typing import Any

LOCKS = Path(__file__).parent
PIN = re.compile(r"^([A-Za-z0-9][\w.-]*)(?:\[[\w,.-]*\])?==([^\s;\\]+)", re.MULTILINE)
MOST_SHOWN = 10  # of those that were not looked up: without a way out it is all of them
SECONDS = 600  # for one run of pip-audit, which asks about one pin after another


def pins(locks: Iterable[Path]) -> list[tuple[str, str]]:
    """Every name and version that any of the locks has, each once."""
    found: set[tuple[str, str]] = set()
    for lock in locks:
        found.update(PIN.findall(lock.read_text()))
    return sorted(found)


def rounds(wanted: Iterable[tuple[str, str]]) -> list[list[tuple[str, str]]]:
    """The pins in lists that have no name twice, which pip-audit refuses."""
    lists: list[dict[str, str]] = []
    for name, version in wanted:
        free = next((one for one in lists if name not in one), None)
        if free is None:
            free = {}
            lists.append(free)
        free[name] = version
    return [list(one.items()) for one in lists]


def audit(program: str, wanted: list[tuple[str, str]]) -> list[dict[str, Any]]:
    """What pip-audit says of each pin; an error where it did not answer."""
    with tempfile.NamedTemporaryFile("w", suffix=".txt") as file:
        file.writelines(f"{name}=={version}\n" for name, version in wanted)
        file.flush()
        command = [program, "--disable-pip", "--no-deps", "--progress-spinner", "off"]
        command += ["--format", "json", "--requirement", file.name]
        done = subprocess.run(command, capture_output=True, text=True, timeout=SECONDS, check=False)
    try:
        answer: list[dict[str, Any]] = json.loads(done.stdout)["dependencies"]
    except (ValueError, KeyError, TypeError):
        lines = done.stderr.strip().splitlines() or ["no answer"]
        raise SystemExit(f"make audit: the audit did not take place: {lines[-1][:200]}") from None
    return answer


def main(program: str, locks: list[Path]) -> int:
    """Print what is wrong, and the tally; 0 where every pin was looked up and none is known to
    be vulnerable."""
    wanted = pins(locks)
    answers = [answer for part in rounds(wanted) for answer in audit(program, part)]
    looked_up = [
        answer for answer in answers if "version" in answer and not answer.get("skip_reason")
    ]
    vulnerable = [answer for answer in looked_up if answer.get("vulns")]
    skipped = [answer["skip_reason"] for answer in answers if answer.get("skip_reason")]
    for reason in skipped[:MOST_SHOWN]:
        print(f"not looked up: {reason}", file=sys.stderr)
    for answer in vulnerable:
        ids = ", ".join(vulnerability["id"] for vulnerability in answer["vulns"])
        print(f"{answer['name']} {answer['version']}: {ids}")
    print(
        f"{len(wanted)} pins, {len(looked_up)} looked up, {len(vulnerable)} vulnerable",
        file=sys.stderr,
    )
    if len(looked_up) < len(wanted):
        print("make audit: some were skipped, so nothing is shown to be safe", file=sys.stderr)
    return 1 if vulnerable or len(looked_up) < len(wanted) else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1], sorted(LOCKS.glob("*.lock"))))
