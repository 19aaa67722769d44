"""Stand between this package and a program it runs, so that nothing of the program outlives it.

Run as a script, by `process`: `supervisor.py DESCRIPTOR PROGRAM ARGUMENT...`. Whoever loses its
parent below this process becomes its child (a subreaper, which only Linux has), in whatever session
or group it hides; so killing children until there are none left ends all of it, and never anything
else. Standard library only: it runs in isolation.

On the descriptor it writes a line when it is ready, before the program runs and could stop it; then
how that ended.
"""

from __future__ import annotations

import contextlib
import os
import signal
import sys
import time
from pathlib import Path

READY = b"ready\n"
ENDED = "ended"  # with a wait status
FAILED = "failed"  # with an error number
# a killed process is gone in a moment; one that is not ours to kill (sudo) never is
ENDING_SECONDS = 5.0
# of linux/prctl.h
_PR_SET_PDEATHSIG = 1
_PR_SET_CHILD_SUBREAPER = 36
_WATCHED = {signal.SIGCHLD, signal.SIGTERM}
_PAUSE_SECONDS = 0.001  # between two rounds of killing: a killed process needs less to be gone


def main(descriptor: int, argv: list[str]) -> None:
    """Run the program, and end with it: by itself, or when somebody sends SIGTERM."""
    import ctypes  # here, as whoever imports this module for its words has no use for it

    os.set_inheritable(descriptor, False)
    signal.pthread_sigmask(signal.SIG_BLOCK, _WATCHED)
    libc = ctypes.CDLL(None)
    libc.prctl(_PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0)
    libc.prctl(_PR_SET_PDEATHSIG, signal.SIGTERM, 0, 0, 0)
    os.write(descriptor, READY)
    try:
        program = os.posix_spawnp(
            argv[0], argv, os.environ, setsigmask=[], setsigdef=[signal.SIGPIPE, signal.SIGXFSZ]
        )
    except OSError as problem:
        os.write(descriptor, f"{FAILED} {problem.errno}".encode())
        return
    nothing = os.open(os.devnull, os.O_RDWR)
    for stream in (1, 2):  # so that a reader sees the end of what the program writes
        os.dup2(nothing, stream)
    status = _wait(program)
    _end_children()
    if status is not None:
        os.write(descriptor, f"{ENDED} {status}".encode())


def _wait(program: int) -> int | None:
    """How the program ended; None where it is to be ended."""
    while signal.sigwait(_WATCHED) == signal.SIGCHLD:
        for child, status in _collect_ended():
            if child == program:
                return status
    return None


def _collect_ended() -> list[tuple[int, int]]:
    """The children that have ended since; collecting them leaves no zombie."""
    found = []
    with contextlib.suppress(ChildProcessError):
        child, status = os.waitpid(-1, os.WNOHANG)
        while child:
            found.append((child, status))
            child, status = os.waitpid(-1, os.WNOHANG)
    return found


def _end_children() -> None:
    """Kill children until there are none: those of a killed child become ours. A child's number
    is not given again."""
    until = time.monotonic() + ENDING_SECONDS
    while _has_children() and time.monotonic() < until:
        for child in _children():
            with contextlib.suppress(OSError):  # gone, or another user's
                os.kill(child, signal.SIGKILL)
        time.sleep(_PAUSE_SECONDS)


def _has_children() -> bool:
    try:
        while os.waitpid(-1, os.WNOHANG)[0]:
            pass
    except ChildProcessError:
        return False
    return True


def _children() -> list[int]:
    own = os.getpid()
    children = list[int]()
    for place in Path("/proc").glob("[0-9]*"):
        if _parent(place) == own:
            children.append(int(place.name))
    return children


def _parent(place: Path) -> int:
    try:
        return int((place / "stat").read_bytes().rpartition(b")")[2].split()[1])
    except (OSError, IndexError, ValueError):
        return 0


if __name__ == "__main__":
    main(int(sys.argv[1]), sys.argv[2:])
