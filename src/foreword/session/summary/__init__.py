"""Long conversations made short: what stands in for messages that no longer fit."""

from foreword.session.summary.compress import compress
from foreword.session.summary.plan_status import mark_finished_tasks
from foreword.session.summary.summary_text import Summary

__all__ = ["Summary", "compress", "mark_finished_tasks"]
