"""The real programs run only where `make agents` has installed them."""

from __future__ import annotations

import os

collect_ignore_glob = [] if os.environ.get("FOREWORD_AGENTS") else ["test_*.py"]
