"""Where a project's servers are, and how a hook asks one: `.foreword/server-PORT.json`, loopback
only, never for long.

A project may come from a stranger, and with it files that name a server: so nothing is ever sent to
another machine, and of what comes back only the shape of a hook's answer is used. A server that is
not there is no error; each has a file of its own, so that of several the others are found when one
ends.
"""

from __future__ import annotations

import json
import os
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from foreword.coding_agents import trusted_files
from foreword.errors import ForewordError
from foreword.store import private
from foreword.store.paths import FOLDER, make_hidden, refuse_links

FILES = "server*.json"
PATH = "/v1/hook"
MOST_FILES = 16  # that are looked at, the newest first
HOSTS = ("127.0.0.1", "localhost", "::1")
LARGEST_FILE = 4_096  # bytes: an address and a number
# Bytes: a result of a tool in its shape, cut to its budget, but with all of its other fields.
LARGEST_ANSWER = 4 * 1024 * 1024


def announce(root: Path, address: str) -> Path:
    """Say where a server of this project is, for as long as it runs; what servers that died have
    left is removed."""
    path = root / FOLDER / f"server-{urlsplit(address).port}.json"
    refuse_links(path)
    make_hidden(path.parent)
    for other in path.parent.glob(FILES):
        pid = _content(other).get("pid")
        if pid is not None and not _is_alive(pid):
            other.unlink(missing_ok=True)
    temporary = path.with_name(f"{path.name}.{os.getpid()}")
    private.write_file(temporary, json.dumps({"address": address, "pid": os.getpid()}))
    temporary.replace(path)
    return path


def withdraw(path: Path) -> None:
    """The server that has announced itself there has stopped; what another one has announced
    since stays."""
    with suppress(OSError):
        if _content(path).get("pid") == os.getpid():
            path.unlink()


def addresses_of(root: Path) -> list[tuple[str, int]]:
    """The host and port of each of the project's servers on this machine, the newest first; one
    may be gone."""
    try:
        files = sorted((root / FOLDER).glob(FILES), key=lambda path: -path.lstat().st_mtime_ns)
    except OSError:
        return []
    addresses = []
    for path in files[:MOST_FILES]:
        address = _address(_content(path))
        if address is not None:
            addresses.append(address)
    return addresses


def _content(path: Path) -> dict[str, Any]:
    """What a file says; nothing where it says nothing that can be read."""
    try:
        content = json.loads(trusted_files.tail(path, LARGEST_FILE))
    except (ForewordError, ValueError, RecursionError):
        return {}
    return content if isinstance(content, dict) else {}


def _address(content: Mapping[str, Any]) -> tuple[str, int] | None:
    """Host and port of a server on this machine that is still running."""
    try:
        parts = urlsplit(content["address"])
        host = parts.hostname
        port = parts.port
    except (ValueError, KeyError, TypeError, AttributeError):
        return None
    if parts.scheme != "http" or host is None or host not in HOSTS or not port:
        return None
    if not _is_alive(content.get("pid", os.getpid())):
        return None
    return host, port


def _is_alive(pid: object) -> bool:
    """Whether there is such a process; one of somebody else's counts."""
    if not isinstance(pid, int) or pid <= 0:
        return False
    try:
        os.kill(pid, 0)
    except PermissionError:
        return True
    except (OSError, OverflowError):
        return False
    return True


def ask(
    root: Path, raw: bytes, options: Mapping[str, Any], timeout_seconds: float
) -> dict[str, Any] | None:
    """What a server of this root answers, `{"output": ...}`; nothing where there is none or it
    can't."""
    for address in addresses_of(root):
        try:
            request = {"root": str(root), "event": json.loads(raw), **options}
            return _post(address, request, timeout_seconds)
        except ConnectionRefusedError:
            continue  # it died, and its number is somebody else's
        except (OSError, ValueError, RecursionError):
            return None
    return None


def _post(
    address: tuple[str, int], request: Mapping[str, Any], timeout_seconds: float
) -> dict[str, Any] | None:
    from http.client import HTTPConnection, HTTPException

    host, port = address
    connection = HTTPConnection(host, port, timeout=timeout_seconds)
    try:
        body = json.dumps(request).encode()
        connection.request("POST", PATH, body, {"Content-Type": "application/json"})
        response = connection.getresponse()
        text = response.read(LARGEST_ANSWER + 1)
        if response.status != 200 or len(text) > LARGEST_ANSWER:
            return None
        answer = json.loads(text)
    except HTTPException:
        return None
    finally:
        connection.close()
    return answer if isinstance(answer, dict) and "output" in answer else None
