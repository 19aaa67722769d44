"""What a session was opened with and is kept with it: recipe, model, budget, window, limits, what
its tools take.

Whoever opens it later without saying anything else, a page or `session usage`, speaks of the same
next call as the agent that works in it. Values are kept as they were given, shares as shares.
"""

from __future__ import annotations

from collections.abc import Mapping

from foreword.dataclass import dataclass

RECIPE = "workflow"  # where none was ever named

Setting = int | str | None


@dataclass(frozen=True, slots=True, kw_only=True)
class SessionSettings:
    """Each as it was given; None for what was not."""

    recipe: str | None = None
    model: str | None = None
    budget: Setting = None
    window: Setting = None
    warn_at: Setting = None
    compress_at: Setting = None
    compress_to: Setting = None
    tool_tokens: int | None = None  # of the tools that the last call went with

    def with_stored_settings(self, kept: Mapping[str, int | str]) -> SessionSettings:
        """These, and for what was not given what was kept."""

        def setting(which: str) -> Setting:
            given: Setting = getattr(self, which)
            return kept.get(which) if given is None else given

        def name(which: str) -> str | None:
            found = setting(which)
            return None if found is None else str(found)

        tool_tokens = setting("tool_tokens")
        return SessionSettings(
            recipe=name("recipe"),
            model=name("model"),
            budget=setting("budget"),
            window=setting("window"),
            warn_at=setting("warn_at"),
            compress_at=setting("compress_at"),
            compress_to=setting("compress_to"),
            tool_tokens=None if tool_tokens is None else int(tool_tokens),
        )

    def to_dict(self) -> dict[str, int | str]:
        """What was given."""
        values = {name: getattr(self, name) for name in self.__slots__}
        return {name: value for name, value in values.items() if value is not None}
