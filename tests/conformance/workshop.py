"""A project with every kind of document that the factory knows; each says a word that nothing
else says."""

from __future__ import annotations

import os
from pathlib import Path

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

WORKFLOW = """\
# Workflow: Feature

Words before the phases.

<!-- PHASE:1 -->
## Phase 1: Requirements

> **Adopt persona:** `personas/crew/potter.md`

Find out what is wanted. Artifact `[FEAT-1]`.
<!-- /PHASE:1 -->

<!-- PHASE:2 -->
## Phase 2: Design

Draw it, as [the prompt](../drawing.md) says. Output: `[FEAT-2]`.
<!-- /PHASE:2 -->

<!-- PHASE:3a -->
## Phase 3a: Build

Build it.
<!-- /PHASE:3a -->

<!-- PHASE:3b -->
## Phase 3b: Plan the tests

Plan the tests.
<!-- /PHASE:3b -->

<!-- PHASE:4 -->
## Phase 4: Review

Let `personas/round_tables/review.md` judge it.
<!-- /PHASE:4 -->
"""

DOCUMENTS = {
    "instructions.md": "# Base\n\nFire no kiln that is open.\n",
    "project.yaml": (
        "name: kilns\nlanguage: python\nframework: starlette\nowner: Greta Glaze\n"
        "profile: careful\npersonas: [smith, glazer]\n"
    ),
    "policy/careful.yaml": (
        "profile_name: careful\nversion: 7.7\ndescription: Long words about care.\n"
        "thresholds: {critical: 0, high: 1}\nweights: {glazer: 0.5}\n"
    ),
    "policy/loose.yaml": "profile_name: loose\nthresholds: {critical: 9}\n",
    "templates/python/instructions.md": "# Python\n\nType every pot.\n",
    "templates/go/instructions.md": "# Go\n\nGo for the wheel.\n",
    "instructions/code-quality.md": "# Code\n\nQuality of glaze.\n",
    "instructions/testing.md": "# Testing\n\nKnock on every pot.\n",
    "instructions/security.md": "# Security\n\nLock the clay store.\n",
    "instructions/communication.md": "# Communication\n\nRing the bell.\n",
    "instructions/governance.md": "# Governance\n\nAsk the guild.\n",
    "personas/crew/smith.md": PERSONA.format(title="smith", word="iron"),
    "personas/crew/glazer.md": PERSONA.format(title="glazer", word="cobalt"),
    "personas/crew/potter.md": PERSONA.format(title="potter", word="loam"),
    "personas/crew/outsider.md": PERSONA.format(title="outsider", word="distance"),
    "personas/round_tables/review.md": (
        "# Round Table: Review\n\n## Participants\n\n- glazer\n- potter\n"
    ),
    "prompts/drawing.md": "# Drawing\n\nDraw from three sides.\n",
    "prompts/packing.md": "# Packing\n\nWrap it in straw.\n",
    "prompts/workflows/feature-implementation.md": WORKFLOW,
    ".plans/1-old.md": "# Old plan\n\nBuy a cart.\n",
    ".plans/2-new.md": "# New plan\n\nBuild a second kiln.\n",
    "docs/firing.md": "# Firing\n\nThe kiln reaches cone six after nine hours.\n",
    "schemas/pot.schema.json": '{"title": "Pot", "type": "object"}\n',
    "manifests/run-1.json": '{"run": "manifest-of-monday"}\n',
}


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
