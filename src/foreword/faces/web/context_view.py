"""The context inspector: the exact text of the next call by section, what was left out, and other
budgets.

Nothing here saves anything. Long texts come in pages, and originals that are ranges of messages are
read page by page.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from starlette.responses import Response

from foreword.engine.package import Package
from foreword.engine.render import pieces_of
from foreword.engine.report import Report, Row
from foreword.errors import EssentialsTooLarge, UnknownHandle, UsageError
from foreword.faces.web import addresses, header, reports
from foreword.faces.web.paging import TablePage, page_of_text
from foreword.faces.web.rendering import page
from foreword.faces.web.view_request import ViewRequest
from foreword.operations import conversations, originals
from foreword.operations.originals import MessageStretch
from foreword.section import STANDS_BY, Choice
from foreword.session.session import Session

MESSAGES = 40  # of an original, on one page
LEAST_BUDGET, STEP = 1_000, 500
CALLS = 200  # to choose from when two are compared


@dataclass(frozen=True, slots=True)
class SectionView:
    """One section of the call."""

    place: int
    row: Row
    reason: str
    text: TablePage


@dataclass(frozen=True, slots=True)
class Refit:
    """A section at two budgets: its form and its tokens."""

    name: str
    form: str
    tokens: int
    then_form: str
    then_tokens: int


def show(asked: ViewRequest) -> Response:
    """The next call, and the same inputs at another budget."""
    with asked.session() as session:
        now, problem = _made(session)
        budget = asked.number(
            "budget", now.report.budget_tokens if now else session.limits.compress_at
        )
        then, refused = (
            _made(session, budget) if now and budget != now.report.budget_tokens else (now, None)
        )
        return page(
            "context.html",
            **_values(session),
            problem=problem,
            refused=refused,
            budget=budget,
            report=now.report if now else None,
            sections=list(_sections(now)) if now else [],
            refit=_refit(now.report, then.report) if now and then else [],
            then=then.report if then else None,
            step=STEP,
            least=_least(now.report) if now else LEAST_BUDGET,
            most=max(session.limits.window, budget),
        )


def section(asked: ViewRequest) -> Response:
    """A page of one section's text."""
    with asked.session() as session:
        place = asked.request.path_params["place"]
        found = next(
            (one for one in _sections(session.context(save=False), asked.number("page", 1), place)),
            None,
        )
        if found is None:
            raise UsageError(f"the call has no section {place}", hint="look at the context again")
        return page("section.html", **_values(session), one=found)


def original(asked: ViewRequest) -> Response:
    """What was left out, as it came in, a page at a time."""
    handle = asked.request.path_params["handle"]
    with asked.session() as session:
        text = _original(session, handle, asked.number("page", 1))
        talk = session.conversation.name
        address = addresses.session(asked.workflow, f"context/original/{handle}", conversation=talk)
        return page(
            "original.html",
            **_values(session),
            name=f"Original {handle}",
            text=text,
            address=address,
        )


def compare(asked: ViewRequest) -> Response:
    """Two calls of this session side by side: without a choice, the last two."""
    with asked.session() as session:
        calls = conversations.calls(session, CALLS)
        numbers = [call["report"] for call in calls]
        old = asked.number("old", numbers[min(1, len(numbers) - 1)] if numbers else 0)
        new = asked.number("new", numbers[0] if numbers else 0)
        values = reports.compare_reports(session.db, old, new) if numbers else None
        back = addresses.session(asked.workflow, "compare")
        return page(
            "compare.html",
            **_values(session, "monitor"),
            compared=values,
            calls=calls,
            old=old,
            new=new,
            address=back,
            is_session=True,
        )


def _values(session: Session, view: str = "context") -> dict[str, Any]:
    return {**header.of(session, view), "title": f"Context · {session.workflow.name}"}


def _made(
    session: Session, budget: int | None = None
) -> tuple[Package | None, EssentialsTooLarge | None]:
    try:
        return session.context(budget=budget, save=False), None
    except EssentialsTooLarge as error:
        return None, error


def _sections(
    package: Package, page_number: int = 1, only: int | None = None
) -> Iterator[SectionView]:
    """Every section with its text as the model reads it, tags and all."""
    choices = [choice for choice in package.report.choices if choice.reason != STANDS_BY]
    for place, (choice, row) in enumerate(zip(choices, package.report.sections, strict=False)):
        if only in (None, place):
            yield SectionView(
                place,
                row,
                _reason(package.report, choice),
                page_of_text(_text(choice), page_number),
            )


def _text(choice: Choice) -> str:
    return "" if choice.body.form == "gone" else "".join(pieces_of([choice]))


def _reason(report: Report, choice: Choice) -> str:
    """Why it is in the form that it is in."""
    if choice.body.form == "full":
        return (
            "essential: never cut"
            if choice.section.rule.essential
            else "there is room for all of it"
        )
    return ", ".join(part for part in (choice.reason, report.outlived_by(choice)) if part)


def _least(report: Report) -> int:
    """About the least budget that can work: essentials may take four fifths of it."""
    needed = sum(row.tokens for row in report.sections if row.essential) * 5 // 4
    return max(LEAST_BUDGET, -(-needed // STEP) * STEP)


def _refit(now: Report, then: Report) -> list[Refit]:
    """Every section at both budgets."""
    before, after = _by_tag(now), _by_tag(then)
    none = ("gone", 0)
    return [
        Refit(name, *before.get(name, none), *after.get(name, none))
        for name in dict.fromkeys([*before, *after])
    ]


def _by_tag(report: Report) -> dict[str, tuple[str, int]]:
    told = dict[str, tuple[str, int]]()
    for row in report.sections:
        form, tokens = told.get(row.tag, (row.form, 0))
        told[row.tag] = (form if form == row.form else "mixed", tokens + row.tokens)
    return told


def _original(session: Session, handle: str, place: int) -> TablePage:
    """Of a stretch of messages no more is read than the page; what this very call cut is not in
    the store yet."""
    found = originals.find_original(session, handle)
    if isinstance(found, MessageStretch):
        pages = found.pages(MESSAGES)
        place = min(max(1, place), pages)
        return TablePage(found.text(session, place, MESSAGES), place, pages)
    if found is None:
        package, _ = _made(session)
        found = package.originals.get(handle) if package else None
    if found is None:
        raise UnknownHandle(handle, session.db.name)
    return page_of_text(found.decode("utf-8", "replace"), place)
