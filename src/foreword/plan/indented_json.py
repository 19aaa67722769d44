"""JSON with an indent of one, as parts of a call are written: fewer tokens than with two.

The same text as `json.dumps(value, indent=1, ensure_ascii=False)`, in a third of the time: with an
indent, the standard library writes in Python, piece by piece. For plain values, as out of JSON.
"""

from __future__ import annotations

import json
from json.encoder import encode_basestring


def indented_json(value: object, *, level: int = 0) -> str:
    """The value as it stands so many levels deep."""
    return _write_value(value, "\n" + " " * level)


def _write_value(value: object, margin: str) -> str:
    """The value; `margin` ends a line and begins the next one."""
    if isinstance(value, str):
        return encode_basestring(value)
    inner = f"{margin} "
    if isinstance(value, dict) and value:
        members = []
        for name, member in value.items():
            members.append(f"{inner}{encode_basestring(name)}: {_write_value(member, inner)}")
        return "{" + ",".join(members) + margin + "}"
    if isinstance(value, (list, tuple)) and value:
        elements = [inner + _write_value(element, inner) for element in value]
        return "[" + ",".join(elements) + margin + "]"
    return json.dumps(value)
