"""What compactions of coding agents lost, invented and cost, out of the sessions they left.

`examine` goes through one session as a stream; `autopsy_findings` are plain values; how they are
shown is the faces' business. Nothing is written and nothing leaves the machine.
"""

from foreword.autopsy.autopsy_findings import (
    CacheBreak,
    CompactionFinding,
    Loss,
    SessionFinding,
    as_data,
    total,
)
from foreword.autopsy.examine import examine

__all__ = [
    "CacheBreak",
    "CompactionFinding",
    "Loss",
    "SessionFinding",
    "as_data",
    "examine",
    "total",
]
