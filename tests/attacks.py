"""How long the attack tests try: a sample of each in `make test`, all of them in `make attack`."""

from __future__ import annotations

import os
from collections.abc import Sequence
from typing import TypeVar

Case = TypeVar("Case")

AT_LENGTH = bool(os.environ.get("FOREWORD_ATTACK"))
EXAMPLES = 2_000 if AT_LENGTH else 30  # of a property test


def sample(cases: Sequence[Case], most: int) -> Sequence[Case]:
    """So many of the cases, spread over all of them; every one with FOREWORD_ATTACK=1."""
    if AT_LENGTH or len(cases) <= most:
        return cases
    return [cases[index * len(cases) // most] for index in range(most)]
