"""What a command has started ends with it, wherever it hides; what others have started goes on."""

from __future__ import annotations

import os
import subprocess
import sys
import threading
from dataclasses import replace
from pathlib import Path

import pytest

from foreword.sources.commands import Policy, inject
from tests.attacks import sample

pytestmark = [
    pytest.mark.attack,
    pytest.mark.skipif(sys.platform != "linux", reason="elsewhere only the process group ends"),
]

LIMITED = Policy(allow=("*",), shell=True, output_bytes=1_000)
SHORT = replace(LIMITED, timeout_seconds=0.5)  # for what hangs
DAEMON = """
import os
if os.fork(): os._exit(0)
os.setsid()
if os.fork(): os._exit(0)
os.closerange(0, 99)
os.execve("/bin/sleep", ["sleep", {name!r}], {{}})
"""
WATCHED = "grep -q supervisor /proc/$PPID/cmdline"  # without one, the parent is this test
HIDING = {
    "in the background": "sleep NAME & echo done",
    "in the background of one that hangs": "sleep NAME & sleep 60",
    "in a session": "setsid sleep NAME & echo done",
    "in a session, of one that hangs": "setsid sleep NAME & sleep 60",
    "in a session, of one that floods": "setsid sleep NAME & yes",
    "in a session, of one that fails": "setsid sleep NAME & exit 3",
    "without a parent": "(setsid sh -c '(sleep NAME &) ; exit' &) ; echo done",
    "without a parent, of one that hangs": "(setsid sh -c '(sleep NAME &) ; exit' &) ; sleep 60",
    "without its environment": "env -i setsid sh -c '(sleep NAME &)' ; echo done",
    "without a terminal": "nohup setsid sleep NAME >/dev/null 2>&1 </dev/null & echo done",
    "as a daemon": "python3 daemon.py ; echo done",
    "as a daemon, of one that hangs": "python3 daemon.py ; sleep 60",
    "deaf to signals": "(trap '' TERM HUP INT; setsid sleep NAME &) ; sleep 60",
    "many times": "for i in 1 2 3 4 5 6 7 8 9; do (setsid setsid sleep NAME &) ; done",
    "while the one that watches is stopped": (
        f"setsid sleep NAME & {WATCHED} && kill -STOP $PPID; sleep 60"
    ),
    "while the one that watches is told to end": (
        f"setsid sleep NAME & {WATCHED} && kill -TERM $PPID; sleep 60"
    ),
}


def living(name: str) -> list[str]:
    """The processes that were started with this name among their arguments."""
    found = []
    for place in Path("/proc").glob("[0-9]*"):
        try:
            if name.encode() in (place / "cmdline").read_bytes().split(b"\0"):
                found.append(place.name)
        except OSError:
            pass  # it has just ended
    return found


@pytest.mark.parametrize("how", sample(list(HIDING), 8))
def test_nothing_that_a_command_started_outlives_it(tmp_path: Path, how: str) -> None:
    name = f"{900_000 + os.getpid()}.{list(HIDING).index(how)}"  # seconds, which nobody else sleeps
    (tmp_path / "daemon.py").write_text(DAEMON.format(name=name))
    inject(f"!`{HIDING[how].replace('NAME', name)}`", tmp_path, SHORT)
    assert living(name) == []


def test_what_others_have_started_goes_on(tmp_path: Path) -> None:
    name = f"{900_000 + os.getpid()}.99"
    neighbours = [
        subprocess.Popen(["sleep", name], start_new_session=False),
        subprocess.Popen(["sleep", name], start_new_session=True),
    ]
    try:
        commands = [
            threading.Thread(target=inject, args=("!`setsid sleep 600 & echo`", tmp_path, SHORT))
            for _ in range(4)
        ]
        for command in commands:
            command.start()
        for command in commands:
            command.join()
        assert len(living(name)) == 2
        assert [neighbour.poll() for neighbour in neighbours] == [None, None]
    finally:
        for neighbour in neighbours:
            neighbour.kill()
            neighbour.wait()


def test_a_command_ends_with_the_process_that_ran_it(tmp_path: Path) -> None:
    name = f"{900_000 + os.getpid()}.98"
    (tmp_path / "hang.sh").write_text(f"echo > begun\nsleep {name}\n")
    code = (
        "from pathlib import Path\nfrom foreword.sources.commands import Policy, inject\n"
        "inject('!`setsid sh hang.sh`', Path(), Policy(allow=('setsid',), timeout_seconds=600))"
    )
    runner = subprocess.Popen([sys.executable, "-c", code], cwd=tmp_path)
    while not (tmp_path / "begun").exists():
        assert runner.poll() is None
    runner.kill()
    runner.wait()
    while living(name):  # the one that watches it is told by the system, a moment later
        pass


def test_exit_codes_signals_and_missing_programs_are_told_as_they_are(tmp_path: Path) -> None:
    result = inject(
        "!`sh -c 'exit 3'`\n!`kill -9 $$`\n!`no-such-program-here`\n!`echo a >&2; echo b`",
        tmp_path,
        LIMITED,
    )
    assert [(ran.outcome, ran.detail) for ran in result.ran] == [
        ("failed", "sh: exit 3"),
        ("failed", "/bin/sh: signal 9"),
        ("failed", "no-such-program-here: exit 127 (No such file or directory)"),
        ("ran", ""),
    ]
