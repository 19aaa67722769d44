"""Long conversations made short: what stands in for messages that no longer fit."""

from foreword.history.compress import compress
from foreword.history.settled import respect
from foreword.history.summary import Summary

__all__ = ["Summary", "compress", "respect"]
