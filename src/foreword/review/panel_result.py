"""The one structured result of a panel, as a value, as JSON, and the schema that JSON follows.

Plain values; what the verdict is follows in `verdict`.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from typing import TYPE_CHECKING, Any, Literal, get_args

from foreword.review.change_facts import MemberResult, ReviewedChange, Status
from foreword.review.findings import SEVERITIES, Finding

if TYPE_CHECKING:
    from pydantic import TypeAdapter

Verdict = Literal["approve", "changes_requested", "human_review", "inconclusive"]


@dataclass(frozen=True, slots=True, kw_only=True)
class PanelResult:
    """The one result of a panel."""

    panel: str
    title: str
    verdict: Verdict
    reasons: tuple[str, ...]
    confidence: float
    profile: str
    findings: tuple[Finding, ...]
    members: tuple[MemberResult, ...]
    change: ReviewedChange
    merged_by: str = "rule"
    notes: tuple[str, ...] = ()

    @property
    def without_answer(self) -> tuple[MemberResult, ...]:
        """The members that gave no answer that can be read."""
        return tuple(member for member in self.members if member.status != "answered")

    def to_dict(self) -> dict[str, Any]:
        """As JSON has it; `SCHEMA` describes it. What is not known of a finding is null."""
        data: dict[str, Any] = _adapter().dump_python(self, mode="json")
        for finding in data["findings"]:
            finding["file"] = finding["file"] or None
            finding["line"] = finding["line"] or None
        for member in data["members"]:
            member["seconds"] = round(member["seconds"], 3)
        return data

    @classmethod
    def from_dict(cls, data: Mapping[str, Any]) -> PanelResult:
        """The result of what `to_dict` gave."""
        findings = [_known_fields(finding) for finding in data["findings"]]
        return _adapter().validate_python({**data, "findings": findings})


def _known_fields(finding: Mapping[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in finding.items() if value is not None}


@cache
def _adapter() -> TypeAdapter[PanelResult]:
    from pydantic import TypeAdapter  # for those who write or read a result alone

    return TypeAdapter(PanelResult)


_TEXT = {"type": "string"}
_COUNT = {"type": "integer", "minimum": 0}


def _object(properties: Mapping[str, object]) -> dict[str, Any]:
    names = list(properties)
    return {
        "type": "object",
        "properties": dict(properties),
        "required": names,
        "additionalProperties": False,
    }


SCHEMA: dict[str, Any] = {
    "$schema": "https://json-schema.org/draft/2020-12/schema",
    "title": "The result of a panel",
    **_object(
        {
            "panel": _TEXT,
            "title": _TEXT,
            "verdict": {"enum": list(get_args(Verdict))},
            "reasons": {"type": "array", "items": _TEXT, "minItems": 1},
            "confidence": {"type": "number", "minimum": 0, "maximum": 1},
            "profile": _TEXT,
            "findings": {
                "type": "array",
                "items": _object(
                    {
                        "severity": {"enum": list(SEVERITIES)},
                        "title": {"type": "string", "minLength": 1},
                        "detail": _TEXT,
                        "file": {"type": ["string", "null"]},
                        "line": {"type": ["integer", "null"], "minimum": 1},
                        "said_by": {"type": "array", "items": _TEXT, "minItems": 1},
                        "remediation": _TEXT,
                        "flags": {"type": "array", "items": _TEXT},
                    }
                ),
            },
            "members": {
                "type": "array",
                "items": _object(
                    {
                        "name": _TEXT,
                        "status": {"enum": list(get_args(Status))},
                        "why": _TEXT,
                        "seconds": {"type": "number", "minimum": 0},
                        "findings": _COUNT,
                        "input_tokens": _COUNT,
                        "output_tokens": _COUNT,
                        "confidence": {"type": ["number", "null"], "minimum": 0, "maximum": 1},
                    }
                ),
            },
            "change": _object(
                {
                    "source": _TEXT,
                    "digest": _TEXT,
                    "files": {"type": "array", "items": _TEXT},
                    "lines": _COUNT,
                }
            ),
            "merged_by": {"type": "string", "description": "rule, or the model that was asked"},
            "notes": {"type": "array", "items": _TEXT},
        }
    ),
}
