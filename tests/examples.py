"""How many examples a property test tries: a few in `make test`, many in `make soak`."""

from __future__ import annotations

import os


def examples(quick: int) -> int:
    """So many, or as many as FOREWORD_EXAMPLES says."""
    return int(os.environ.get("FOREWORD_EXAMPLES", quick))
