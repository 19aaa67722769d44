"""Long conversations made short: what stands in for messages that no longer fit, and whether a
summary says only what they say."""

from foreword.session.summary.compress import compress
from foreword.session.summary.summary_check import check_against, evidence_of, mark_unproven

__all__ = ["check_against", "compress", "evidence_of", "mark_unproven"]
