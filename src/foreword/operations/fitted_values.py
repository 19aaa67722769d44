"""Answers that fit: a value whole where it is small, fitted with a handle where it is not, an
original page by page.

For those who answer over a wire (`operations`): everything here is plain JSON that can be encoded,
half characters included. The fitting is the engine's; what is left out can be recalled from the
store it was kept in.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from foreword import tokens
from foreword.engine.package import Package
from foreword.errors import UnknownHandle, UsageError
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
COUNTER = "o200k"
CHARS_PER_TOKEN = 4  # to begin with; a page is counted before it is given

Answer = dict[str, Any]


def fit_value(db: Database, name: str, value: object, budget: int | None) -> Answer:
    """`value` as it is where it fits; else a `text` that does, with a `handle` for the whole.

    Of a value that holds a secret no copy is kept: there is its beginning, and a larger budget for
    the rest.
    """
    value = encodable(value)
    written = json.dumps(value, ensure_ascii=False, indent=1)
    counter = tokens.counter(COUNTER)
    if budget is None or len(written.encode()) <= budget or counter.count(written) <= budget:
        return {"value": value}
    whole = counter.count(written)
    if hide({name: value}) != {name: value}:
        note = "it holds a secret, so no copy is kept: ask for it with a larger budget"
        return {"text": page(written, 0, budget), "whole_tokens": whole, "warnings": [note]}
    handle = handle_of(written.encode())

    def mark(_: int, units: int) -> str:
        return cut_mark(tokens=counter.tokens(units), handle=handle)

    text = cut.excerpt(written, max(budget, LEAST_TOKENS), counter.measure, mark)
    originals.keep(db, written.encode())
    return {"text": text or mark(0, whole), "handle": handle, "whole_tokens": whole}


def package_answer(package: Package, report: int | None = None) -> Answer:
    """A package with the part of its bill that a reader acts on."""
    bill = package.report
    largest = sorted(bill.omissions, key=lambda omission: -omission.tokens)[:MOST_OMISSIONS]
    omissions = []
    for omission in largest:
        entry = {
            "what": omission.what,
            "tokens": omission.tokens,
            "reason": omission.reason,
            "handle": omission.handle,
        }
        omissions.append(entry)
    answer = {
        "text": package.text,
        "tokens": bill.total_tokens,
        "budget_tokens": bill.budget_tokens,
        "left_out": len(bill.omissions),
        "omissions": omissions,
        "warnings": list(bill.warnings),
    }
    if report is not None:
        answer["report"] = report
    return encodable_answer(answer)


def save_and_answer(db: Database, package: Package) -> Answer:
    """The same, after its report and its originals went into the store."""
    report = save_report(db, package.originals, package.report.to_dict())
    return package_answer(package, report)


def original_page(db: Database, handle: str, offset: int, budget: int | None) -> Answer:
    """One page of an original, from a place on; `next_offset` says where the next one begins."""
    original = _original(db, handle)
    text = original.decode("utf-8", "replace")
    warnings = []
    if text.encode() != original:
        warnings.append(
            "what is not UTF-8 in it is replaced; `foreword recall` has it byte for byte"
        )
    if not 0 <= offset <= len(text):
        raise UsageError(
            f"offset {offset:,} is outside of the original's {len(text):,} characters",
            hint="begin at 0",
        )
    part = text[offset:] if budget is None else page(text, offset, budget)
    answer: Answer = {"text": part, "offset": offset, "total_chars": len(text)}
    end = offset + len(part)
    if end < len(text):
        answer["next_offset"] = end
    answer["warnings"] = warnings
    return answer


def page(text: str, offset: int, budget: int) -> str:
    """As much of a text as has at most so many tokens, up to the end of a line where that is not
    far."""
    counter = tokens.counter(COUNTER)
    size = min(len(text) - offset, budget * CHARS_PER_TOKEN)
    while size > 1:
        count = counter.count(text[offset : offset + size])
        if count <= budget:
            break
        size = max(1, min(size - 1, size * budget // count))
    if offset + size < len(text):
        line_end = text.rfind("\n", offset + size // 2, offset + size)
        if line_end >= 0:
            size = line_end + 1 - offset
    return text[offset : offset + size]


def encodable_answer(value: Mapping[str, Any]) -> Answer:
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


def _original(db: Database, handle: str) -> bytes:
    found = originals.find(db, handle) if originals.is_handle(handle) else []
    if len(found) != 1:
        raise UnknownHandle(handle, db.name, matches=len(found))
    whole_handle, packed = found[0]
    return originals.read(db, whole_handle, packed)
