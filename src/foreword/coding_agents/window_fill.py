"""How full a coding agent's window is, in one line for its status line.

The agent says it itself where it can; before its first call and right after a compaction it says
nothing, then the last call in the transcript does, or what the compaction has left. Only the end of
a transcript is read. Whatever is wrong with the input, there is a line.
"""

from __future__ import annotations

from typing import Any

from foreword.errors import ForewordError

CELLS = 10  # of the bar: one for each tenth
# Shares of the window: 160K and 180K of 200K. Agents compact not far behind the second.
WARN = 0.8
FULL = 0.9
WINDOW = 200_000  # where the agent does not say
TAIL_BYTES = 512 * 1024  # of a transcript: the last call is in it unless its result is larger
LARGEST = 10**9  # tokens; what is beyond is no number of tokens
INPUT = ("input_tokens", "cache_creation_input_tokens", "cache_read_input_tokens")
NOTHING = f"[{'-' * CELLS}] no figures yet"


def line(data: dict[str, Any]) -> str:
    """The status line for what the agent said."""
    window = _object(data, "context_window")
    size = _number(window.get("context_window_size")) or WINDOW
    used = _sum(window.get("current_usage"))
    if not used:
        used = _by_share(window, size) or _last_call(data)
    if not used:
        return NOTHING
    share = used / size
    cells = min(CELLS, round(share * CELLS))
    bar = "#" * cells + "-" * (CELLS - cells)
    warning = ""
    if share >= FULL:
        warning = "  nearly full: compaction is close"
    elif share >= WARN:
        warning = "  filling up"
    return f"[{bar}] {share:.0%}  {_short(used)} of {_short(size)}{warning}"


def _object(data: dict[str, Any], key: str) -> dict[str, Any]:
    value = data.get(key)
    return value if isinstance(value, dict) else {}


def _number(value: object) -> int:
    if isinstance(value, bool) or not isinstance(value, int | float):
        return 0
    return int(value) if 0 < value <= LARGEST else 0


def _sum(usage: object) -> int:
    """What a call read: a reply counts with the next one."""
    if not isinstance(usage, dict):
        return 0
    return sum(_number(usage.get(name)) for name in INPUT)


def _by_share(window: dict[str, Any], size: int) -> int:
    share = _number(window.get("used_percentage"))
    return share * size // 100 if share <= 100 else 0


def _last_call(data: dict[str, Any]) -> int:
    """Return what the newest call in the transcript read, or what a compaction after it has
    left."""
    path = data.get("transcript_path")
    if not isinstance(path, str):
        return 0
    from pathlib import Path

    from foreword.coding_agents import trusted_files
    from foreword.transcripts.events import CompactionEvent, ModelCallEvent
    from foreword.transcripts.reader import bytes_session

    try:
        real = Path(path).resolve()
        if not trusted_files.is_within(real, [Path.cwd(), trusted_files.home()]):
            return 0
        session = bytes_session(trusted_files.tail(real, TAIL_BYTES), agent="claude-code")
    except (ForewordError, OSError, ValueError, RuntimeError):
        return 0
    used = 0
    for event in session.events if session is not None else ():
        if isinstance(event, ModelCallEvent):
            used = event.prompt_tokens
        elif isinstance(event, CompactionEvent):
            used = event.tokens_after
    return used


def _short(tokens: int) -> str:
    if tokens < 1_000:
        return str(tokens)
    if tokens < 1_000_000:
        return f"{tokens / 1_000:.3g}K"
    return f"{tokens / 1_000_000:.3g}M"
