"""The one structured result of a panel, as a value and as JSON."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from typing import Any

from pydantic import TypeAdapter

from foreword.review.change_facts import MemberResult, ReviewedChange
from foreword.review.findings import Finding
from foreword.review.verdict import Verdict


@dataclass(frozen=True, slots=True, kw_only=True)
class PanelResult:
    """The result of a panel on a change."""

    panel: str
    title: str
    verdict: Verdict
    reasons: tuple[str, ...]
    confidence: float
    profile: str
    findings: tuple[Finding, ...]
    members: tuple[MemberResult, ...]
    change: ReviewedChange
    merged_by: str = "rule"  # or the model that was asked
    notes: tuple[str, ...] = ()

    @property
    def without_answer(self) -> tuple[MemberResult, ...]:
        """The members that gave no answer that fits the form."""
        return tuple(member for member in self.members if member.status != "answered")

    def to_dict(self) -> dict[str, Any]:
        """Return the result as JSON has it; `schema` describes it."""
        data: dict[str, Any] = _adapter().dump_python(self, mode="json")
        return data

    @classmethod
    def from_dict(cls, data: Mapping[str, Any]) -> PanelResult:
        """Return the result of what `to_dict` gave."""
        return _adapter().validate_python(data)


def schema() -> dict[str, Any]:
    """Return the JSON Schema of a result."""
    return {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        **_adapter().json_schema(mode="serialization"),
    }


@cache
def _adapter() -> TypeAdapter[PanelResult]:
    return TypeAdapter(PanelResult)
