"""Long conversations made short: what stands in for messages that no longer fit, and whether a
summary says only what they say."""

from foreword.session.summary.claims import Claim
from foreword.session.summary.compress import compress
from foreword.session.summary.plan_status import mark_finished_tasks
from foreword.session.summary.summary_check import (
    Evidence,
    SummaryCheck,
    check,
    check_against,
    evidence_of,
    mark_unproven,
    strike_unproven,
)

__all__ = [
    "Claim",
    "Evidence",
    "SummaryCheck",
    "check",
    "check_against",
    "compress",
    "evidence_of",
    "mark_finished_tasks",
    "mark_unproven",
    "strike_unproven",
]
