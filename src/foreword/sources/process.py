"""Run a program and never pay more for it than was agreed.

A time limit and an output limit; no shell, no input, and an environment reduced to what programs
need to start. With the program ends whatever it has started: on Linux all of it (`supervisor`),
elsewhere what stayed in its process group. Which programs may run is decided by `commands` and
`git_command`.
"""

from __future__ import annotations

import os
import selectors
import signal
import subprocess
import sys
import time
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from pathlib import Path

from foreword.sources import supervisor

_VARIABLES = (
    "HOME",
    "LANG",
    "LANGUAGE",
    "LOGNAME",
    "PATH",
    "TMPDIR",
    "TZ",
    "USER",
    "XDG_CONFIG_HOME",
)
# for a `git` that another program starts, which may be meant to fetch: ours is `git_command`'s
_GIT_SETTINGS = {
    "core.fsmonitor": "false",
    "core.hooksPath": os.devnull,
    "log.follow": "false",
    "log.mailmap": "false",
    "log.showSignature": "false",
    "mailmap.blob": "",
    "mailmap.file": "",
    "protocol.ext.allow": "never",
}
_SUPERVISOR = supervisor.__file__
# A frozen application is no Python that could run a script.
_SUPERVISES = sys.platform == "linux" and bool(sys.executable) and not getattr(sys, "frozen", False)
# How long to wait for output before looking whether the program has ended: what it left running may
# hold its pipe open. Nobody notices a fiftieth of a second; looking more often costs a core.
_LOOK_SECONDS = 0.02
_CHUNK_BYTES = 65_536  # what a pipe holds on Linux


@dataclass(frozen=True, slots=True, kw_only=True)
class Output:
    """What a program wrote and how it ended; `exit_code` is negative where a signal ended it."""

    stdout: bytes
    stderr: bytes
    exit_code: int
    timed_out: bool = False
    cut: bool = False


def environment() -> dict[str, str]:
    """The variables a program gets: an allow-list, so no key or token is among them, and no
    relative PATH entry."""
    variables = dict[str, str]()
    for name, value in os.environ.items():
        if name in _VARIABLES or name.startswith("LC_"):
            variables[name] = value
    folders = variables.get("PATH", os.defpath).split(os.pathsep)
    variables["PATH"] = os.pathsep.join(folder for folder in folders if Path(folder).is_absolute())
    return variables | _git_variables() | {"PAGER": "cat"}


def _git_variables() -> dict[str, str]:
    variables = {
        "GIT_CONFIG_COUNT": str(len(_GIT_SETTINGS)),
        "GIT_OPTIONAL_LOCKS": "0",
        "GIT_PAGER": "cat",
        "GIT_TERMINAL_PROMPT": "0",
    }
    for place, (name, value) in enumerate(_GIT_SETTINGS.items()):
        variables[f"GIT_CONFIG_KEY_{place}"] = name
        variables[f"GIT_CONFIG_VALUE_{place}"] = value
    return variables


def run(
    argv: Sequence[str],
    folder: Path,
    *,
    timeout_seconds: float,
    output_bytes: int,
    starts_others: bool = True,
    **variables: str,
) -> Output:
    """Run a program in a folder; `OSError` or `ValueError` where it can't be started.

    One that can start no others (`starts_others`) needs nobody to end them.
    """
    variables = environment() | variables
    if starts_others and _SUPERVISES:
        output = _run_supervised(
            argv, folder, variables, timeout_seconds=timeout_seconds, output_bytes=output_bytes
        )
        if output is not None:
            return output
    process = _start(argv, folder, variables)
    try:
        return _collect(process, time.monotonic() + timeout_seconds, output_bytes)
    finally:
        _end(process)


def _run_supervised(
    argv: Sequence[str],
    folder: Path,
    variables: dict[str, str],
    *,
    timeout_seconds: float,
    output_bytes: int,
) -> Output | None:
    """Run a program below a process that ends all of it; None where that process could not be
    started.

    The time counts from when it is ready, not from when Python began to start.
    """
    reading, writing = os.pipe()
    with os.fdopen(reading, "rb") as news:
        try:
            command = [sys.executable, "-I", "-S", _SUPERVISOR, str(writing), *argv]
            process = _start(command, folder, variables, pass_fds=(writing,))
        finally:
            os.close(writing)
        try:
            if news.readline() != supervisor.READY:
                return None
            output = _collect(process, time.monotonic() + timeout_seconds, output_bytes)
        finally:
            process.terminate()  # it ends what it has started, then itself
            process.send_signal(signal.SIGCONT)  # the program may have stopped it
            _wait_until(process, time.monotonic() + supervisor.ENDING_SECONDS)
            _end(process)
        os.set_blocking(reading, False)
        word, _, number = (news.read() or b"").decode().strip().partition(" ")
    if word == supervisor.FAILED:
        raise OSError(int(number), os.strerror(int(number)))
    if word == supervisor.ENDED:
        return replace(output, exit_code=os.waitstatus_to_exitcode(int(number)))
    # ended by us, or by its own doing together with the supervisor
    return replace(output, exit_code=-signal.SIGKILL)


def _start(
    argv: Sequence[str], folder: Path, variables: dict[str, str], pass_fds: tuple[int, ...] = ()
) -> subprocess.Popen[bytes]:
    return subprocess.Popen(
        list(argv),
        cwd=folder,
        env=variables,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        start_new_session=True,
        pass_fds=pass_fds,
    )


def _collect(process: subprocess.Popen[bytes], deadline: float, limit: int) -> Output:
    """Read both streams until they end, the program ends, or a limit is reached."""
    out = bytearray()
    err = bytearray()
    timed_out = False
    cut = False
    with selectors.DefaultSelector() as selector:
        for stream, buffer in ((process.stdout, out), (process.stderr, err)):
            if stream:
                selector.register(stream, selectors.EVENT_READ, buffer)
        while selector.get_map() and not (timed_out or cut):
            has_ended = process.poll() is not None
            ready = selector.select(min(_LOOK_SECONDS, max(0.0, deadline - time.monotonic())))
            for key, _ in ready:
                _take(selector, key)
            cut = len(out) > limit or len(err) > limit
            if has_ended and not ready:
                break  # all it wrote is read, and something it left running holds the pipe
            timed_out = time.monotonic() >= deadline
    if not (timed_out or cut):
        timed_out = not _wait_until(process, deadline)
    return Output(
        stdout=bytes(out[:limit]),
        stderr=bytes(err[:limit]),
        exit_code=process.returncode or 0,
        timed_out=timed_out,
        cut=cut,
    )


def _take(selector: selectors.BaseSelector, key: selectors.SelectorKey) -> None:
    chunk = os.read(key.fd, _CHUNK_BYTES)
    key.data.extend(chunk)
    if not chunk:
        selector.unregister(key.fileobj)


def _wait_until(process: subprocess.Popen[bytes], deadline: float) -> bool:
    """Whether the program ends before the deadline."""
    try:
        process.wait(max(0.0, deadline - time.monotonic()))
    except subprocess.TimeoutExpired:
        return False
    return True


def _end(process: subprocess.Popen[bytes]) -> None:
    """Kill whatever is left of the group, and leave neither zombie nor pipe behind."""
    with suppress(ProcessLookupError, PermissionError):
        os.killpg(process.pid, signal.SIGKILL)
    for stream in (process.stdout, process.stderr):
        if stream:
            stream.close()
    with suppress(subprocess.TimeoutExpired):
        process.wait(1)
