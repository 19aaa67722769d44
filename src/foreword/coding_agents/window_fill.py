"""How full a coding agent's window is, in one line for its status line.

The agent says it itself where it can; before its first call and right after a compaction it says
nothing, then the last call in the transcript does. Only the end of a transcript is read. Whatever
is wrong with the input, there is a line.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from foreword.coding_agents import trusted_files
from foreword.errors import ForewordError

CELLS = 10
WARN, FULL = 0.8, 0.9  # 160K and 180K of 200K
WINDOW = 200_000
TAIL_BYTES = 512 * 1024
LARGEST = 10**9
INPUT = ("input_tokens", "cache_creation_input_tokens", "cache_read_input_tokens")
NOTHING = f"[{'-' * CELLS}] no figures yet"


def line(data: dict[str, Any]) -> str:
    """The status line for what the agent said."""
    window = _of(data, "context_window")
    size = _number(window.get("context_window_size")) or WINDOW
    used = _sum(window.get("current_usage")) or _by_share(window, size) or _last_call(data)
    if not used:
        return NOTHING
    share = used / size
    cells = min(CELLS, round(share * CELLS))
    state = (
        "  nearly full: compaction is close"
        if share >= FULL
        else "  filling up"
        if share >= WARN
        else ""
    )
    return (
        f"[{'#' * cells}{'-' * (CELLS - cells)}] {share:.0%}  {_short(used)} of"
        f" {_short(size)}{state}"
    )


def _of(data: Any, key: str) -> dict[str, Any]:
    value = data.get(key) if isinstance(data, dict) else None
    return value if isinstance(value, dict) else {}


def _number(value: object) -> int:
    is_one = isinstance(value, int | float) and not isinstance(value, bool) and 0 < value <= LARGEST
    return int(value) if is_one else 0  # type: ignore[call-overload]


def _sum(usage: object) -> int:
    """What a call read: a reply counts with the next one."""
    return sum(_number(usage.get(name)) for name in INPUT) if isinstance(usage, dict) else 0


def _by_share(window: dict[str, Any], size: int) -> int:
    share = _number(window.get("used_percentage"))
    return share * size // 100 if share <= 100 else 0


def _last_call(data: dict[str, Any]) -> int:
    """What the newest call in the transcript read."""
    path = data.get("transcript_path")
    if not isinstance(path, str):
        return 0
    try:
        real = Path(path).resolve()
        home, here = trusted_files.home(), Path.cwd()
        if not (real.is_relative_to(here) or (home is not None and real.is_relative_to(home))):
            return 0
        rows = trusted_files.tail(real, TAIL_BYTES).splitlines()
    except (ForewordError, OSError, ValueError, RuntimeError):
        return 0
    return next((used for row in reversed(rows) if (used := _usage(row))), 0)


def _usage(row: bytes) -> int:
    if b'"usage"' not in row:
        return 0
    try:
        value = json.loads(row)
    except (ValueError, RecursionError):
        return 0
    if not isinstance(value, dict) or value.get("isSidechain"):
        return 0
    return _sum(_of(value, "message").get("usage"))


def _short(tokens: int) -> str:
    if tokens < 1_000:
        return str(tokens)
    return f"{tokens / 1_000_000:.3g}M" if tokens >= 1_000_000 else f"{tokens / 1_000:.3g}K"
