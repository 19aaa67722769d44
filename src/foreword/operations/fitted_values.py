"""Answers that fit: a value whole where it is small, fitted with a handle where it is not, an
original page by page.

For those who answer over a wire. The fitting is the engine's; what is left out can be recalled from
the store it was kept in.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Annotated, Any, TypeVar

from pydantic import Field

from foreword import tokens
from foreword.context.recall import checked_offset, page
from foreword.engine.package import Package
from foreword.secrets.masking import hide
from foreword.section import handle_of
from foreword.store import originals
from foreword.store.database import Database
from foreword.store.reports import save_report
from foreword.text import cut
from foreword.text.omission_mark import cut_mark

# Of a value or a page, where the caller names no budget: a long document, and one answer among
# several in a window of 100,000 tokens or more.
ANSWER_TOKENS = 8_000
LEAST_TOKENS = 200  # of a fitted value: less has no room for the mark that says what is missing
MOST_OMISSIONS = 20  # named in an answer, the largest; the report has them all

Value = TypeVar("Value")
# A field of an answer that is left out where there is nothing to say.
IfAny = Annotated[Value | None, Field(exclude_if=lambda value: value is None)]


@dataclass(frozen=True, slots=True, kw_only=True)
class WholeValue:
    """A value as it is."""

    value: Any


@dataclass(frozen=True, slots=True, kw_only=True)
class FittedText:
    """What fits of a value that is over the budget."""

    text: str
    handle: IfAny[str] = None  # of the whole
    whole_tokens: int
    warnings: IfAny[list[str]] = None


@dataclass(frozen=True, slots=True, kw_only=True)
class OmissionEntry:
    """Something that was left out."""

    what: str
    tokens: int
    reason: str
    handle: str


@dataclass(frozen=True, slots=True, kw_only=True)
class PackageBill:
    """The part of a package's bill that a reader acts on, with the largest of its omissions."""

    tokens: int
    budget_tokens: int
    left_out: int
    omissions: list[OmissionEntry]
    warnings: list[str]


@dataclass(frozen=True, slots=True, kw_only=True)
class ContextAnswer(PackageBill):
    """A context, with the largest of its omissions."""

    text: str
    report: Annotated[int, Field(description="The number of its report.")]


@dataclass(frozen=True, slots=True, kw_only=True)
class OriginalPage:
    """A page of something that was cut."""

    text: str
    offset: int
    total_chars: int
    next_offset: IfAny[int] = None
    warnings: list[str]


def fit_value(
    db: Database, name: str, value: object, budget: int | None
) -> WholeValue | FittedText:
    """The value as it is where it fits; else a text that does, with a handle for the whole.

    Of a value that holds a secret no copy is kept: there is its beginning, and a larger budget for
    the rest.
    """
    if budget is None:
        return WholeValue(value=value)
    value = encodable(value)
    written = json.dumps(value, ensure_ascii=False, indent=1)
    counter = tokens.counter()
    if len(written.encode()) <= budget or counter.count(written) <= budget:
        return WholeValue(value=value)
    whole = counter.count(written)
    if hide({name: value}) != {name: value}:
        note = "it holds a secret, so no copy is kept: ask for it with a larger budget"
        return FittedText(text=page(written, 0, budget), whole_tokens=whole, warnings=[note])
    handle = handle_of(written.encode())

    def mark(_: int, units: int) -> str:
        return cut_mark(tokens=counter.tokens(units), handle=handle)

    text = cut.excerpt(written, max(budget, LEAST_TOKENS), counter.measure, mark)
    originals.keep(db, written.encode())
    return FittedText(text=text or mark(0, whole), handle=handle, whole_tokens=whole)


def bill_fields(package: Package) -> dict[str, Any]:
    """The fields of a `PackageBill`."""
    bill = package.report
    largest = sorted(bill.omissions, key=lambda omission: -omission.tokens)[:MOST_OMISSIONS]
    omissions = []
    for omission in largest:
        entry = OmissionEntry(
            what=omission.what,
            tokens=omission.tokens,
            reason=omission.reason,
            handle=omission.handle,
        )
        omissions.append(entry)
    return {
        "tokens": bill.total_tokens,
        "budget_tokens": bill.budget_tokens,
        "left_out": len(bill.omissions),
        "omissions": omissions,
        "warnings": list(bill.warnings),
    }


def save_and_answer(db: Database, package: Package) -> ContextAnswer:
    """The package, after its report and its originals went into the store."""
    report = save_report(db, package.originals, package.report.to_dict())
    return ContextAnswer(text=package.text, report=report, **bill_fields(package))


def original_page(db: Database, handle: str, offset: int, budget: int) -> OriginalPage:
    """One page of an original, from a place on; `next_offset` says where the next one begins."""
    original = originals.read_one(db, handle)
    text = original.decode("utf-8", "replace")
    warnings = []
    if text.encode() != original:
        warnings.append(
            "what is not UTF-8 in it is replaced; `foreword recall` has it byte for byte"
        )
    part = page(text, checked_offset(offset, text), budget)
    end = offset + len(part)
    return OriginalPage(
        text=part,
        offset=offset,
        total_chars=len(text),
        next_offset=end if end < len(text) else None,
        warnings=warnings,
    )


def encodable_answer(value: Mapping[str, Any]) -> dict[str, Any]:
    """A mapping that can be encoded."""
    answer = encodable(value)
    assert isinstance(answer, dict)
    return answer


def encodable(value: object) -> object:
    """The value as JSON in UTF-8 can say it: half a character reads `?`."""
    written = json.dumps(value, ensure_ascii=False)
    try:
        written.encode()
    except UnicodeEncodeError:
        return json.loads(written.encode("utf-8", "replace"))
    return value
