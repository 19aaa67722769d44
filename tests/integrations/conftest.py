"""The tests of `make frameworks` are there only where the frameworks are."""

from __future__ import annotations

import os

collect_ignore = [] if os.environ.get("FOREWORD_FRAMEWORKS") else ["test_frameworks.py"]
