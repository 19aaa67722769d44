"""Regular expressions that are compiled when they are first used.

Modules define several hundred patterns and a command uses a few of them. With `re.compile` in its
place, `assemble` starts 8% slower (153 ms of CPU time instead of 142).
"""

from __future__ import annotations

import re
from typing import Any, AnyStr, cast


class _LazyPattern:
    """Stands for a pattern; what it is asked for is taken from the compiled one and kept."""

    def __init__(self, pattern: str | bytes, flags: int) -> None:
        self.pattern = pattern
        self._flags = flags

    def __getattr__(self, name: str) -> Any:
        # `re` keeps what it has compiled, but only the last few hundred.
        if name == "_compiled":
            self._compiled = re.compile(self.pattern, self._flags)
            return self._compiled
        attribute = getattr(self._compiled, name)
        setattr(self, name, attribute)
        return attribute


def lazy_pattern(pattern: AnyStr, flags: int = 0) -> re.Pattern[AnyStr]:
    """`re.compile`, put off until the pattern is used; a mistake in it shows only then."""
    return cast("re.Pattern[AnyStr]", _LazyPattern(pattern, flags))
