"""The context inspector: the exact text of the next call by section, what was left out, and other
budgets.

Nothing here saves anything. Long texts come in pages, and originals that are ranges of messages are
read page by page.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from starlette.responses import Response

from foreword.engine.package import Package
from foreword.engine.render import pieces_of
from foreword.engine.report import Report, Row
from foreword.errors import EssentialsTooLarge, UnknownHandle, UsageError
from foreword.faces.web import addresses, header, report_views
from foreword.faces.web.rendering import page
from foreword.faces.web.text_pages import TextPage, page_of_text
from foreword.faces.web.view_request import ViewRequest
from foreword.operations import conversation_operations, original_pages
from foreword.operations.call_size import with_tools
from foreword.operations.original_pages import MessageStretch
from foreword.section import STANDS_BY, Choice
from foreword.session.session import Session

MESSAGES = 40  # of an original, on one page
LEAST_BUDGET = 1_000  # of the slider, and its steps: tokens
STEP = 500
CALLS = 200  # to choose from when two are compared
ABSENT = ("gone", 0)  # the form and the tokens of a section that is not in a call


@dataclass(frozen=True, slots=True)
class SectionView:
    """One section of the call."""

    place: int
    row: Row
    reason: str
    text: TextPage


@dataclass(frozen=True, slots=True, kw_only=True)
class Refit:
    """A section at two budgets: its form and its tokens."""

    name: str
    form: str
    tokens: int
    then_form: str
    then_tokens: int


def show(request: ViewRequest) -> Response:
    """The next call, and the same inputs at another budget."""
    with request.session() as session:
        now, problem = _context(session)
        usual = session.limits.budget or session.limits.compress_at
        budget = request.number("budget", usual)
        then, refused = now, None
        if now and budget != usual:
            then, refused = _context(session, budget)
        report = with_tools(now.report.to_dict()) if now else None
        new_report = with_tools(then.report.to_dict()) if then else None
        return page(
            "context.html",
            **_values(request, session),
            problem=problem,
            is_due=session.state().is_compression_due,
            refused=refused,
            budget=budget,
            usual=usual,
            report=report,
            sections=list(_sections(now)) if now else [],
            refit=_refit(report, new_report) if report and new_report else [],
            then=new_report,
            denominator=session.limits.denominator,
            step=STEP,
            least=_least(report) if report else LEAST_BUDGET,
            most=max(session.limits.window, budget),
        )


def section(request: ViewRequest) -> Response:
    """A page of one section's text."""
    place = request.path_param("place")
    with request.session() as session:
        package = session.context(save=False)
        found = list(_sections(package, request.number("page", 1), only=place))
        if not found:
            raise UsageError(f"the call has no section {place}", hint="look at the context again")
        return page("section.html", **_values(request, session), one=found[0])


def original(request: ViewRequest) -> Response:
    """What was left out, as it came in, a page at a time."""
    handle = request.path_param("handle")
    with request.session() as session:
        text = _original(session, handle, request.number("page", 1))
        talk = session.conversation.name
        address = addresses.session(
            request.workflow, f"context/original/{handle}", conversation=talk
        )
        return page(
            "original.html",
            **_values(request, session),
            name=f"Original {handle}",
            text=text,
            address=address,
        )


def compare(request: ViewRequest) -> Response:
    """Two calls of this session side by side: without a choice, the last two."""
    with request.session() as session:
        calls = conversation_operations.calls(session, CALLS)
        last_two = [call["report"] for call in calls[:2]]
        old = request.number("old", last_two[-1] if last_two else 0)
        new = request.number("new", last_two[0] if last_two else 0)
        compared = report_views.compare_reports(session.db, old, new) if calls else None
        return page(
            "compare.html",
            **_values(request, session, "monitor"),
            compared=compared,
            calls=calls,
            old=old,
            new=new,
            address=addresses.session(request.workflow, "compare"),
            is_session=True,
        )


def _values(request: ViewRequest, session: Session, view: str = "context") -> dict[str, Any]:
    shown = header.of(session, view, request.conversations)
    return {**shown, "title": f"Context · {session.workflow.name}"}


def _context(
    session: Session, budget: int | None = None
) -> tuple[Package | None, EssentialsTooLarge | None]:
    """The next call, or why there can't be one."""
    try:
        return session.context(budget=budget, save=False), None
    except EssentialsTooLarge as error:
        return None, error


def _sections(
    package: Package, page_number: int = 1, only: int | None = None
) -> Iterator[SectionView]:
    """Every section with its text as the model reads it, tags and all; or one, by its place."""
    choices = [choice for choice in package.report.choices if choice.reason != STANDS_BY]
    for place, (choice, row) in enumerate(zip(choices, package.report.sections, strict=False)):
        if only in (None, place):
            reason = _reason(package.report, choice)
            yield SectionView(place, row, reason, page_of_text(_text(choice), page_number))


def _text(choice: Choice) -> str:
    return "" if choice.body.form == "gone" else "".join(pieces_of([choice]))


def _reason(report: Report, choice: Choice) -> str:
    """Why it is in the form that it is in."""
    if choice.body.form != "full":
        reasons = (choice.reason, report.outlived_by(choice))
        return ", ".join(reason for reason in reasons if reason)
    is_essential = choice.section.rule.essential
    return "essential: never cut" if is_essential else "there is room for all of it"


def _least(report: Mapping[str, Any]) -> int:
    """About the least budget that can work: essentials may take four fifths of it."""
    needed: int = sum(row["tokens"] for row in report["sections"] if row["essential"])
    steps = -(-needed * 5 // 4 // STEP)
    return max(LEAST_BUDGET, steps * STEP)


def _refit(now: Mapping[str, Any], then: Mapping[str, Any]) -> list[Refit]:
    """Every section at both budgets."""
    before = _forms_by_tag(now)
    after = _forms_by_tag(then)
    rows = list[Refit]()
    for name in dict.fromkeys([*before, *after]):
        form, tokens = before.get(name, ABSENT)
        then_form, then_tokens = after.get(name, ABSENT)
        row = Refit(
            name=name,
            form=form,
            tokens=tokens,
            then_form=then_form,
            then_tokens=then_tokens,
        )
        rows.append(row)
    return rows


def _forms_by_tag(report: Mapping[str, Any]) -> dict[str, tuple[str, int]]:
    """The form and the tokens of every tag; several sections of one are added up."""
    forms = dict[str, tuple[str, int]]()
    for row in report["sections"]:
        form, tokens = forms.get(row["tag"], (row["form"], 0))
        same_form = form if form == row["form"] else "mixed"
        forms[row["tag"]] = (same_form, tokens + row["tokens"])
    return forms


def _original(session: Session, handle: str, place: int) -> TextPage:
    """Of a stretch of messages no more is read than the page; what this very call cut is not in
    the store yet."""
    found = original_pages.find_original(session, handle)
    if isinstance(found, MessageStretch):
        pages = found.pages(MESSAGES)
        place = min(max(1, place), pages)
        return TextPage(found.text(session, place, MESSAGES), place, pages)
    if found is None:
        package, _ = _context(session)
        found = package.originals.get(handle) if package else None
    if found is None:
        raise UnknownHandle(handle, session.db.name)
    return page_of_text(found.decode("utf-8", "replace"), place)
