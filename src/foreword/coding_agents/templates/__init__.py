"""The files that `foreword init` writes, as they are written; what goes where is in `targets`."""

from __future__ import annotations

from importlib import resources

RECIPE = "coding"  # the recipe that a project starts from


def text(name: str) -> str:
    """A file of this folder."""
    return resources.files(__name__).joinpath(name).read_text("utf-8")
