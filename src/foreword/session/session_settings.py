"""What a session was opened with and is kept with it: recipe, budget, window, limits.

Whoever opens it later without saying anything else, a page or `session usage`, speaks of the same
next call as the agent that works in it. Values are kept as they were given, shares as shares.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass

RECIPE = "workflow"  # where none was ever named

Setting = int | str | None


@dataclass(frozen=True, slots=True, kw_only=True)
class SessionSettings:
    """Each as it was given; None for what was not."""

    recipe: str | None = None
    budget: Setting = None
    window: Setting = None
    warn_at: Setting = None
    compress_at: Setting = None
    compress_to: Setting = None

    def with_kept(self, kept: Mapping[str, int | str]) -> SessionSettings:
        """These, and for what was not given what was kept."""
        recipe = self.recipe if self.recipe is not None else kept.get("recipe")

        def setting(name: str) -> Setting:
            given: Setting = getattr(self, name)
            return kept.get(name) if given is None else given

        return SessionSettings(
            recipe=None if recipe is None else str(recipe),
            budget=setting("budget"),
            window=setting("window"),
            warn_at=setting("warn_at"),
            compress_at=setting("compress_at"),
            compress_to=setting("compress_to"),
        )

    def to_dict(self) -> dict[str, int | str]:
        """What was given."""
        return {name: value for name, value in asdict(self).items() if value is not None}
