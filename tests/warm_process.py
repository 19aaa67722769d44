"""Commands and programs in processes of their own that need not import everything anew.

One process has the modules of the command line loaded and forks for each command: streams, folder,
environment, exit code and death are those of a real process, only the start is quicker. What a
start costs, and what it loads, is for tests that start Python themselves.
"""

from __future__ import annotations

import atexit
import json
import os
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from functools import cache
from pathlib import Path
from queue import SimpleQueue
from select import select
from threading import Thread
from typing import Self

_SHARED = "FOREWORD_TEST_COMMANDS"  # the address of a process that several test processes share
NUMBER_BYTES = 8  # of a length, a process id or an exit code on the socket

# Loads what commands import, then forks for each connection: program, arguments, folder and
# environment as JSON, with the three streams as descriptors. Answers with the process id, and at
# its end with the exit code as the system tells it.
PROGRAM = """
import atexit, fcntl, gc, importlib, json, os, pkgutil, select, signal, socket, sys, tempfile
import termios, threading
from pathlib import Path
import foreword.__main__
from foreword.demos import samples
for module in pkgutil.walk_packages(foreword.__path__, "foreword."):
    if not module.name.startswith("foreword.integrations."):  # whose frameworks are not all here
        importlib.import_module(module.name)
for name in (
    "apsw", "dbos", "mcp.server.stdio", "playwright.async_api", "psycopg",
    "pydantic_ai.models.openai", "yaml",
):
    importlib.import_module(name)
# What is made when it is first needed: patterns, shapes, the parser, the tokenizer's tables.
for module in list(sys.modules.values()):
    for value in list(vars(module).values()):
        if type(value).__name__ == "_LazyPattern":
            value.groups
before = dict(os.environ)
with tempfile.TemporaryDirectory() as folder:
    os.environ.update(HOME=folder, XDG_CACHE_HOME=folder, XDG_DATA_HOME=folder)
    project = samples.lay_out(Path(folder) / "sample")
    foreword.assemble("director", root=project, agent="builder", counter="o200k")
    with foreword.Session.open(f"sqlite:///{folder}/state.db", root=project) as session:
        session.append({"role": "user", "content": "Kiln 4 \\u2013 C\\u00f4ne, \\u7a91: API_KEY=x"})
        session.context()
os.environ.clear()
os.environ.update(before)
gc.collect()
gc.freeze()

def perform(order, streams):
    signal.set_wakeup_fd(-1)
    signal.signal(signal.SIGCHLD, signal.SIG_DFL)
    signal.signal(signal.SIGINT, signal.default_int_handler)  # ignored in the background
    for number, stream in enumerate(streams):
        os.dup2(stream, number)
    os.closerange(3, 256)
    if os.isatty(0):  # as at a terminal: what is typed there reaches this process
        os.setsid()
        fcntl.ioctl(0, termios.TIOCSCTTY, 0)
    os.chdir(order["folder"])
    os.environ.clear()
    os.environ.update(order["environment"])
    opened = (("r", "surrogateescape"), ("w", "surrogateescape"), ("w", "backslashreplace"))
    sys.stdin, sys.stdout, sys.stderr = (
        open(number, mode, encoding="utf-8", errors=errors, closefd=False)
        for number, (mode, errors) in enumerate(opened)
    )
    sys.__stdin__, sys.__stdout__, sys.__stderr__ = sys.stdin, sys.stdout, sys.stderr
    if order["program"]:
        sys.argv = ["-c", *order["arguments"]]
        sys.path.insert(0, "")
        exec(compile(order["program"], "<string>", "exec"), {"__name__": "__main__"})
    else:
        sys.argv = ["foreword", *order["arguments"]]
        foreword.__main__.main()

def end(*call):
    # As an interpreter ends, but for taking apart what the system frees anyhow, which takes 20 ms.
    code = 0
    try:
        call[0](*call[1:])
    except SystemExit as ended:
        if not isinstance(ended.code, int | None):
            raise
        code = ended.code or 0
    threading._shutdown()
    atexit._run_exitfuncs()
    try:
        sys.stdout.flush()
        sys.stderr.flush()
    except (OSError, ValueError):
        sys.exit(code)
    os._exit(code)

listener = socket.socket(fileno=int(sys.argv[1]))
awake, wake = os.pipe()
os.set_blocking(wake, False)
signal.signal(signal.SIGCHLD, lambda *_: None)
signal.set_wakeup_fd(wake)
waiting = {}
while True:
    ready, _, _ = select.select([listener, awake], [], [])
    if awake in ready:
        os.read(awake, 4096)
        for child in list(waiting):
            done, status = os.waitpid(child, os.WNOHANG)
            if done:
                code = os.waitstatus_to_exitcode(status)
                with waiting.pop(child) as connection:
                    connection.sendall(code.to_bytes(8, "big", signed=True))
    if listener in ready:
        connection, _ = listener.accept()
        header, streams, *_ = socket.recv_fds(connection, 8, 3)
        size, order = int.from_bytes(header, "big"), b""
        while len(order) < size:
            order += connection.recv(size - len(order))
        child = os.fork()
        if not child:
            end(perform, json.loads(order), streams)
        for stream in streams:
            os.close(stream)
        connection.sendall(child.to_bytes(8, "big"))
        waiting[child] = connection
"""


def run_command(
    arguments: Sequence[str],
    *,
    program: str = "",
    folder: Path,
    environment: Mapping[str, str],
    stdin: bytes,
    timeout_seconds: float,
) -> tuple[int, bytes, bytes]:
    """Run `foreword ARGUMENTS`, or a Python program, in a process of its own: its exit code, and
    what it wrote."""
    their_stdin, our_stdin = os.pipe()
    our_stdout, their_stdout = os.pipe()
    our_stderr, their_stderr = os.pipe()
    with socket.socket(socket.AF_UNIX) as connection:
        connection.settimeout(timeout_seconds)
        process = _start(
            connection,
            arguments,
            program=program,
            folder=folder,
            environment=environment,
            streams=[their_stdin, their_stdout, their_stderr],
        )
        output = _Reader(our_stdout)
        errors = _Reader(our_stderr)
        writer = Thread(target=_write_all, args=(our_stdin, stdin), daemon=True)
        writer.start()
        try:
            code = _number(connection)
        except TimeoutError:
            os.kill(process, signal.SIGKILL)
            raise
    return code, output.read(), errors.read()


def run_program(program: str, *arguments: object, folder: Path | None = None) -> str:
    """What a Python program writes; fails where it does."""
    with ForkedCommand(arguments, program=program, folder=folder) as process:
        output, errors = process.communicate()
    assert process.returncode == 0, errors
    return output


def run_module(name: str, *arguments: object) -> str:
    """The same of `python -m NAME` for a module of these tests."""
    program = f"import runpy; runpy.run_module({name!r}, run_name='__main__')"
    return run_program(program, *arguments, folder=Path(__file__).parents[1])


class ForkedCommand:
    """`foreword ARGUMENTS`, or a Python program, in a process of its own that goes on; it has what
    tests use of `subprocess.Popen`."""

    def __init__(
        self,
        arguments: Sequence[object],
        *,
        program: str = "",
        folder: Path | None = None,
        environment: Mapping[str, str] | None = None,
        terminal: int | None = None,
    ) -> None:
        """With a terminal, which is closed here, all three streams are that."""
        their_stdin, our_stdin = os.pipe()
        our_stdout, their_stdout = os.pipe()
        our_stderr, their_stderr = os.pipe()
        self.stdin = os.fdopen(our_stdin, "w", encoding="utf-8")
        self.stdout = os.fdopen(our_stdout, encoding="utf-8", errors="replace")
        self.stderr = _Reader(our_stderr)
        streams = [their_stdin, their_stdout, their_stderr]
        if terminal is not None:
            for unused in streams:
                os.close(unused)
            streams = [terminal, os.dup(terminal), os.dup(terminal)]
        self.returncode: int | None = None
        self._connection = socket.socket(socket.AF_UNIX)
        self.pid = _start(
            self._connection,
            [str(argument) for argument in arguments],
            program=program,
            folder=folder or Path.cwd(),
            environment=os.environ if environment is None else environment,
            streams=streams,
        )

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *failure: object) -> None:
        self.communicate()

    def send_signal(self, number: int) -> None:
        """Send a signal, unless it has ended."""
        if self.poll() is None:
            os.kill(self.pid, number)

    def terminate(self) -> None:
        """Ask it to end."""
        self.send_signal(signal.SIGTERM)

    def kill(self) -> None:
        """End it where it stands."""
        self.send_signal(signal.SIGKILL)

    def poll(self) -> int | None:
        """Its exit code, if it has ended."""
        if self.returncode is None and select([self._connection], [], [], 0)[0]:
            self.wait()
        return self.returncode

    def wait(self, timeout: float | None = None) -> int:
        """Its exit code, once it has ended."""
        if self.returncode is None:
            self._connection.settimeout(timeout)
            self.returncode = _number(self._connection)
            self._connection.close()
        return self.returncode

    def communicate(self, timeout: float | None = None) -> tuple[str, str]:
        """What it writes from now on and all of its errors, once it has ended."""
        with suppress(BrokenPipeError):
            self.stdin.close()
        output = "" if self.stdout.closed else self.stdout.read()
        self.stdout.close()
        self.wait(timeout)
        return output, self.stderr.read().decode("utf-8", "replace")


def _start(
    connection: socket.socket,
    arguments: Sequence[str],
    *,
    program: str,
    folder: Path,
    environment: Mapping[str, str],
    streams: list[int],
) -> int:
    """Have a command started with these streams, which are closed here: the id of its process."""
    order = {
        "program": program,
        "arguments": list(arguments),
        "folder": str(folder),
        "environment": dict(environment),
    }
    body = json.dumps(order).encode()
    connection.connect(_address())
    socket.send_fds(connection, [len(body).to_bytes(NUMBER_BYTES, "big")], streams)
    connection.sendall(body)
    for stream in streams:
        os.close(stream)
    return _number(connection)


class _Reader(Thread):
    """Reads a pipe to its end."""

    def __init__(self, descriptor: int) -> None:
        super().__init__(daemon=True)
        self.descriptor = descriptor
        self.lines: list[bytes] = []
        self.unread: SimpleQueue[str] = SimpleQueue()
        self.start()

    def run(self) -> None:
        with os.fdopen(self.descriptor, "rb") as stream:
            for line in stream:
                self.lines.append(line)
                self.unread.put(line.decode("utf-8", "replace"))
        self.unread.put("")

    def readline(self) -> str:
        """The next line; nothing at the end, which comes once."""
        return self.unread.get()

    def __iter__(self) -> Iterator[str]:
        return iter(self.readline, "")

    def read(self) -> bytes:
        """All of it, from its beginning."""
        self.join()
        return b"".join(self.lines)


def _write_all(descriptor: int, content: bytes) -> None:
    with suppress(BrokenPipeError), os.fdopen(descriptor, "wb") as stream:
        stream.write(content)


def _number(connection: socket.socket) -> int:
    number = connection.recv(NUMBER_BYTES, socket.MSG_WAITALL)
    assert len(number) == NUMBER_BYTES, "the process that starts commands has died"
    return int.from_bytes(number, "big", signed=True)


def share_starter() -> None:
    """Let the processes that this one starts have one such process between them, which is started
    when the first of them asks for a command."""
    listener, address = _listen()
    os.environ[_SHARED] = address
    Thread(target=_start_at_first_call, args=(listener,), daemon=True).start()


def _start_at_first_call(listener: socket.socket) -> None:
    select([listener], [], [])
    _start_starter(listener)


@cache
def _address() -> str:
    """Where the process that starts commands listens; it ends with this one."""
    if shared := os.environ.get(_SHARED):
        return shared
    listener, address = _listen()
    _start_starter(listener)
    return address


def _listen() -> tuple[socket.socket, str]:
    folder = tempfile.mkdtemp(prefix="foreword-commands-")
    atexit.register(shutil.rmtree, folder, ignore_errors=True)
    listener = socket.socket(socket.AF_UNIX)
    listener.bind(f"{folder}/socket")
    listener.listen(64)
    return listener, f"{folder}/socket"


def _start_starter(listener: socket.socket) -> None:
    with listener:
        starter = subprocess.Popen(
            [sys.executable, "-c", PROGRAM, str(listener.fileno())],
            pass_fds=[listener.fileno()],
            cwd="/",
        )
    atexit.register(starter.wait)
    atexit.register(starter.terminate)
