"""Run a program and never pay more for it than was agreed.

A time limit and an output limit, each ended by killing the whole process group; no shell, no input, and an
environment reduced to what programs need to start. Which programs may run is decided by `commands` and `git`.
"""

from __future__ import annotations

import os
import selectors
import signal
import subprocess
import time
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

_KEPT = ("HOME", "LANG", "LANGUAGE", "LOGNAME", "PATH", "TMPDIR", "TZ", "USER", "XDG_CONFIG_HOME")
_GIT_SETTINGS = {  # for every `git` that runs in a project whose configuration nobody has read
    "core.fsmonitor": "false",
    "core.hooksPath": os.devnull,
    "log.follow": "false",
    "log.mailmap": "false",
    "log.showSignature": "false",
    "mailmap.blob": "",
    "mailmap.file": "",
}
_GIT = {
    "GIT_CONFIG_COUNT": str(len(_GIT_SETTINGS)),
    **{f"GIT_CONFIG_KEY_{place}": name for place, name in enumerate(_GIT_SETTINGS)},
    **{f"GIT_CONFIG_VALUE_{place}": value for place, value in enumerate(_GIT_SETTINGS.values())},
    "GIT_OPTIONAL_LOCKS": "0",
    "GIT_PAGER": "cat",
    "GIT_TERMINAL_PROMPT": "0",
}
_LOOK_SECONDS = 0.02
_CHUNK_BYTES = 65_536


@dataclass(frozen=True, slots=True)
class Output:
    """What a program wrote and how it ended; `exit_code` is negative where a signal ended it."""

    stdout: bytes
    stderr: bytes
    exit_code: int
    timed_out: bool = False
    cut: bool = False


def environment() -> dict[str, str]:
    """The variables a program gets: an allow-list, so no key or token is among them, and no relative PATH entry."""
    kept = {name: value for name, value in os.environ.items() if name in _KEPT or name.startswith("LC_")}
    folders = kept.get("PATH", os.defpath).split(os.pathsep)
    kept["PATH"] = os.pathsep.join(folder for folder in folders if Path(folder).is_absolute())
    return kept | _GIT | {"PAGER": "cat"}


def run(argv: Sequence[str], folder: Path, *, timeout_seconds: float, output_bytes: int, **variables: str) -> Output:
    """Run a program in a folder; `OSError` or `ValueError` where it can't be started."""
    deadline = time.monotonic() + timeout_seconds
    process = subprocess.Popen(
        list(argv),
        cwd=folder,
        env=environment() | variables,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        start_new_session=True,
    )
    try:
        return _collect(process, deadline, output_bytes)
    finally:
        _end(process)


def _collect(process: subprocess.Popen[bytes], deadline: float, limit: int) -> Output:
    """Read both streams until they end, the program ends, or a limit is reached."""
    streams = [stream for stream in (process.stdout, process.stderr) if stream]
    held = [bytearray() for _ in streams]
    timed_out = cut = False
    with selectors.DefaultSelector() as selector:
        for stream, buffer in zip(streams, held, strict=True):
            selector.register(stream, selectors.EVENT_READ, buffer)
        while selector.get_map() and not (timed_out or cut):
            ended = process.poll() is not None
            ready = selector.select(min(_LOOK_SECONDS, max(0.0, deadline - time.monotonic())))
            for key, _ in ready:
                _take(selector, key)
            cut = any(len(buffer) > limit for buffer in held)
            if ended and not ready:
                break  # all it wrote is read, and something it left running holds the pipe
            timed_out = time.monotonic() >= deadline
    if not (timed_out or cut):
        timed_out = not _ends(process, deadline)
    out, err = (bytes(buffer[:limit]) for buffer in held)
    return Output(out, err, process.returncode or 0, timed_out, cut)


def _take(selector: selectors.BaseSelector, key: selectors.SelectorKey) -> None:
    chunk = os.read(key.fd, _CHUNK_BYTES)
    key.data.extend(chunk)
    if not chunk:
        selector.unregister(key.fileobj)


def _ends(process: subprocess.Popen[bytes], deadline: float) -> bool:
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
