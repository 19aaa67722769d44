"""Run the `foreword` command as a user does: in a process of its own, or in this one where that
makes no difference."""

from __future__ import annotations

import os
import subprocess
import sys
from contextlib import redirect_stderr, redirect_stdout
from dataclasses import dataclass
from io import BytesIO, TextIOWrapper
from pathlib import Path

from tests.patience import PATIENCE_SECONDS
from tests.warm_process import run_command


@dataclass(frozen=True, slots=True)
class CommandResult:
    """What a command left behind."""

    code: int
    out: str
    err: str


def foreword(
    *args: str | Path, cwd: Path | None = None, stdin: bytes = b"", **env: str
) -> CommandResult:
    """Run `foreword ARGS`; a home of its own keeps the user's out of it."""
    home = env.pop(
        "HOME", str(cwd or Path(os.environ.get("TMPDIR", "/tmp")) / "foreword-test-home")
    )
    environment = {
        **os.environ,
        "HOME": home,
        "XDG_CACHE_HOME": f"{home}/.cache",
        "NO_COLOR": "1",
        # as where the environment is active
        "PATH": f"{Path(sys.executable).parent}:{os.environ.get('PATH', '')}",
        **env,
    }
    if any(name.startswith(("PYTHON", "LC_", "LANG")) for name in env):
        return _run_cold(args, cwd=cwd, stdin=stdin, environment=environment)
    code, out, err = run_command(
        [str(argument) for argument in args],
        folder=cwd or Path.cwd(),
        environment=environment,
        stdin=stdin,
        timeout_seconds=PATIENCE_SECONDS,
    )
    return CommandResult(code, out.decode("utf-8", "replace"), err.decode("utf-8", "replace"))


def _run_cold(
    args: tuple[str | Path, ...], *, cwd: Path | None, stdin: bytes, environment: dict[str, str]
) -> CommandResult:
    """The same by a Python that reads its own settings from the environment when it starts."""
    done = subprocess.run(
        [sys.executable, "-m", "foreword", *map(str, args)],
        cwd=cwd,
        input=stdin,
        capture_output=True,
        timeout=PATIENCE_SECONDS,
        check=False,
        env=environment,
    )
    return CommandResult(
        done.returncode,
        done.stdout.decode("utf-8", "replace"),
        done.stderr.decode("utf-8", "replace"),
    )


def run_in_process(*args: str | Path, stdin: bytes = b"") -> CommandResult:
    """The same in this process: much quicker, for what needs no process of its own."""
    from foreword.faces.cli import main

    out = TextIOWrapper(BytesIO(), "utf-8")
    err = TextIOWrapper(BytesIO(), "utf-8")
    code = 0
    before = (sys.argv, sys.stdin)
    sys.argv = ["foreword", *map(str, args)]
    sys.stdin = TextIOWrapper(BytesIO(stdin), "utf-8")
    try:
        with redirect_stdout(out), redirect_stderr(err):
            main.run()
    except SystemExit as ended:
        code = ended.code if isinstance(ended.code, int) else 0
    finally:
        sys.argv, sys.stdin = before
    return CommandResult(code, _read_back(out), _read_back(err))


def _read_back(stream: TextIOWrapper) -> str:
    stream.seek(0)
    return stream.read()


def fd_path(content: bytes) -> str:
    """What a shell puts in the place of `<(...)`."""
    reading, writing = os.pipe()
    os.write(writing, content)
    os.close(writing)
    return f"/dev/fd/{reading}"
