"""Names in addresses: any name of a workflow, a task or a phase as one piece of a path, and back.

A server sees a path after it was decoded, and browsers take `.` and `..` out of one, so a slash, a
tilde and a leading dot are written as in a JSON pointer: `~1`, `~0`, and `~2` for the dot.
"""

from __future__ import annotations

from urllib.parse import quote, urlencode

from foreword.operations.conversation_operations import MAIN


def piece(name: str) -> str:
    """A name as one piece of a path, ready for a link."""
    escaped = name.replace("~", "~0").replace("/", "~1")
    if escaped.startswith("."):
        escaped = "~2" + escaped[1:]
    return quote(escaped.encode("utf-8", "replace"), safe="~")


def decode_name(text: str) -> str:
    """The name that a decoded piece of a path stands for."""
    if text.startswith("~2"):
        text = "." + text[2:]
    return text.replace("~1", "/").replace("~0", "~")


def session(workflow: str, *rest: object, **query: object) -> str:
    """The address of a session's page; what is empty is left out of the query, as is the usual
    conversation."""
    parameters = {name: value for name, value in query.items() if value not in ("", None)}
    if parameters.get("conversation") == MAIN:
        del parameters["conversation"]
    path = "/".join(["/sessions", piece(workflow), *map(str, rest)])
    return f"{path}?{urlencode(parameters)}" if parameters else path


def checkpoint(task: str, phase: str) -> str:
    """The address of a checkpoint."""
    return f"/checkpoints/{piece(task)}/{piece(phase)}"


def events(workflow: str) -> str:
    """Where the API tells what happens to a workflow; there, names are encoded as in any
    address."""
    return f"/v1/sessions/{quote(workflow, safe='', errors='replace')}/events"


def director_events(workflow: str) -> str:
    """Where the API tells what its director does."""
    return events(workflow).removesuffix("events") + "director/events"
