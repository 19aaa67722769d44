"""What changed from one value to another, a line for each path: `tasks[1].status = "completed"`.

A line gives a path its new value, whatever stood there; `removed` takes it away. Whoever applies
the lines in order to the value before has the value after. Pure.
"""

from __future__ import annotations

import json
from collections.abc import Iterator

from foreword.pattern import lazy_pattern

_IDENTIFIER = lazy_pattern(r"[A-Za-z_]\w*")


def changed_lines(before: object, after: object, path: str = "") -> Iterator[str]:
    """Yield a line for each difference between two JSON values."""
    if isinstance(before, dict) and isinstance(after, dict) and after:
        for name in [name for name in before if name not in after]:
            yield f"{path_of(path, name)} removed"
        for name, value in after.items():
            if name in before:
                yield from changed_lines(before[name], value, path_of(path, name))
            else:
                yield _assignment(path_of(path, name), value)
    elif isinstance(before, list) and isinstance(after, list) and after:
        for index in reversed(range(len(after), len(before))):
            yield f"{path}[{index}] removed"
        for index, value in enumerate(after):
            if index < len(before):
                yield from changed_lines(before[index], value, f"{path}[{index}]")
            else:
                yield _assignment(f"{path}[{index}]", value)
    elif type(before) is not type(after) or before != after:
        yield _assignment(path, after)


def path_of(path: str, name: str) -> str:
    """Return the path of a member: `path.name`, or `path["name"]` where it is no identifier."""
    if not _IDENTIFIER.fullmatch(name):
        return f"{path}[{_json(name)}]"
    return f"{path}.{name}" if path else name


def _assignment(path: str, value: object) -> str:
    return f"{path} = {_json(value)}"


def _json(value: object) -> str:
    """Return a value as JSON on one line."""
    written = json.dumps(value, ensure_ascii=False)
    return written.replace("\u2028", "\\u2028").replace("\u2029", "\\u2029")
