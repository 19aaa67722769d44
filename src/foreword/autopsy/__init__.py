"""What compactions of coding agents lost, invented and cost, out of the sessions they left.

`examine` goes through one session as a stream; `findings` are plain values; how they are shown is
the faces' business. Nothing is written and nothing leaves the machine.
"""

from foreword.autopsy.examine import examine
from foreword.autopsy.findings import (
    CacheBreak,
    CompactionFinding,
    Loss,
    SessionFinding,
    as_data,
    total,
)

__all__ = [
    "CacheBreak",
    "CompactionFinding",
    "Loss",
    "SessionFinding",
    "as_data",
    "examine",
    "total",
]
