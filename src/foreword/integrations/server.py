"""Where a project's server is, and how a hook asks it: `.foreword/server.json`, loopback only, never for long.

A project may come from a stranger, and with it a file that names a server: so nothing is ever sent to another machine,
and of what comes back only the shape of a hook's answer is used. A server that is not there is no error.
"""

from __future__ import annotations

import json
import os
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path
from typing import Any

from foreword.integrations import trust
from foreword.store.places import FOLDER, IGNORE, refuse_links

FILE = "server.json"
PATH = "/v1/hook"
HOSTS = ("127.0.0.1", "localhost", "::1")
LARGEST_FILE, LARGEST_ANSWER = 4_096, 4 * 1024 * 1024


def announce(root: Path, address: str) -> Path:
    """Say where this project's server is, for as long as it runs."""
    path = root / FOLDER / FILE
    refuse_links(path)
    path.parent.mkdir(exist_ok=True)
    with suppress(FileExistsError), (path.parent / IGNORE).open("x") as ignore:
        ignore.write("*\n")
    temporary = path.with_name(f"{FILE}.{os.getpid()}")
    with suppress(FileNotFoundError):
        temporary.unlink()
    descriptor = os.open(temporary, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW, 0o600)
    with os.fdopen(descriptor, "w") as file:
        json.dump({"address": address, "pid": os.getpid()}, file)
    temporary.replace(path)
    return path


def withdraw(root: Path) -> None:
    """The server has stopped; what another one has announced since stays."""
    from foreword.errors import ForewordError

    with suppress(ForewordError, OSError, ValueError, AttributeError):
        path = root / FOLDER / FILE
        if json.loads(trust.tail(path, LARGEST_FILE)).get("pid") == os.getpid():
            path.unlink()


def address_of(root: Path) -> tuple[str, int] | None:
    """The host and port of the project's server, if one was announced on this machine."""
    from urllib.parse import urlsplit

    from foreword.errors import ForewordError

    try:
        told = json.loads(trust.tail(root / FOLDER / FILE, LARGEST_FILE))
        parts = urlsplit(told["address"])
        port = parts.port
    except (ForewordError, ValueError, KeyError, TypeError, AttributeError, RecursionError):
        return None
    if parts.scheme != "http" or parts.hostname not in HOSTS or not port:
        return None
    return parts.hostname, port


def ask(root: Path, raw: bytes, options: Mapping[str, Any], timeout_seconds: float) -> dict[str, Any] | None:
    """What the server of this root answers, `{"output": ...}`; nothing where there is none or it can't."""
    found = address_of(root)
    if found is None:
        return None
    from http.client import HTTPConnection, HTTPException

    connection = HTTPConnection(*found, timeout=timeout_seconds)
    try:
        body = json.dumps({"root": str(root), "event": json.loads(raw), **options}).encode()
        connection.request("POST", PATH, body, {"Content-Type": "application/json"})
        response = connection.getresponse()
        text = response.read(LARGEST_ANSWER + 1)
        answer = json.loads(text) if response.status == 200 and len(text) <= LARGEST_ANSWER else None
    except (OSError, HTTPException, ValueError, RecursionError):
        return None
    finally:
        connection.close()
    return answer if isinstance(answer, dict) and "output" in answer else None
