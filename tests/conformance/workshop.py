"""A project with every kind of document that the factory knows; each says a word that nothing
else says."""

from __future__ import annotations

import os
from pathlib import Path

from tests.corpus import tree
from tests.factory import write

PERSONA = """\
# Persona: {title}

## Role

You are the {title} of the workshop.

## Evaluate For

- what a {title} looks at

## Principles

- a {title} keeps to {word}
"""

DOCUMENTS = tree("projects/workshop")
WORKFLOW = DOCUMENTS["prompts/workflows/feature-implementation.md"]


def workshop(root: Path, **replaced: str) -> Path:
    """The project under the root; `replaced` has other texts for its `instructions`, `project`
    or `workflow`."""
    paths = {
        "instructions": "instructions.md",
        "project": "project.yaml",
        "workflow": "prompts/workflows/feature-implementation.md",
    }
    for path, text in {
        **DOCUMENTS,
        **{paths[name]: text for name, text in replaced.items()},
    }.items():
        write(root, path, text)
    for age, name in enumerate(("2-new.md", "1-old.md")):
        os.utime(root / ".plans" / name, (1_700_000_000 - age, 1_700_000_000 - age))
    return root


def limited(root: Path, tiers: str) -> Path:
    """The project's own limits, in a recipe that extends the built-in one."""
    write(
        root, "foreword/recipes/factory.yaml", f"name: factory\nextends: factory\ntiers: {tiers}\n"
    )
    return root
