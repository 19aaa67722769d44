"""What a sentence states: a constraint, a decision, or something open.

One pattern each, in English, kept as data (`patterns.json`). They only order lines; what a pattern
misses is still weighed by its names and words.
"""

from __future__ import annotations

import json
import re
from functools import cache
from pkgutil import get_data
from typing import Literal

Statement = Literal["constraint", "decision", "open"]
LONGEST = 2_000  # characters of a line that are looked at: bounds the work on pasted text


def states(statement: Statement, line: str) -> bool:
    """Return whether a line reads like such a statement."""
    return _patterns()[statement].search(line[:LONGEST]) is not None


@cache
def _patterns() -> dict[str, re.Pattern[str]]:
    data = get_data("foreword.compression", "patterns.json")
    assert data is not None
    patterns: dict[str, str] = json.loads(data)
    return {name: re.compile(text, re.IGNORECASE) for name, text in patterns.items()}
