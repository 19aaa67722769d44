"""The self-check of a package: each claim worked out from the package itself, none taken on
trust.

Recipes ask for it with `self_check`; the answers go into the report as checks. Nothing is repaired
here.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from foreword.context.inputs import SOURCE
from foreword.engine.package import Package
from foreword.engine.render import Scale
from foreword.engine.report import Check, Report
from foreword.section import Choice
from foreword.sources.items import Item
from foreword.text.quantity import quantity

if TYPE_CHECKING:
    from foreword.text.line_check import LineCheck

INTERFACE = "interface"
NOTHING = "nothing came in"
CUT_FORMS = ("summary", "relevant", "excerpt", "lead")


def self_check(package: Package, items: Sequence[Item]) -> tuple[Check, ...]:
    """Budget first, tier 1 complete, integration points in, cuts structural, report complete.
    `items` are all that the source holds."""
    report = package.report
    return (
        Check(
            "budget calculated first",
            bool(report.budget.steps),
            f"{report.budget.tokens:,} tokens",
        ),
        _tier_1_complete(report.choices),
        _integration_points(report.choices),
        _cuts_keep_structure(report),
        _report_complete(package, items),
    )


def _report_complete(package: Package, items: Sequence[Item]) -> Check:
    """Every item of the source is in or an omission, and every omission has an original."""
    report = package.report
    if not report.choices:
        return Check("report complete", False, NOTHING)
    listed = {omission.handle for omission in report.omissions} <= package.originals.keys()
    balanced = report.kept_tokens + report.omitted_tokens == report.original_tokens
    known = {(choice.section.source, choice.section.text) for choice in report.choices}
    unnamed = [item.source for item in items if (item.source, item.text) not in known]
    detail = f"{len(report.omissions)} omissions, each with its handle"
    not_read = sum(absent.tag == SOURCE for absent in report.absent)
    if not_read:
        detail += f"; {quantity(not_read, 'file')} not read, each with its reason"
    if unnamed:
        detail = f"{quantity(len(unnamed), 'item')} of the source in no section: {unnamed[0]}"
    return Check("report complete", listed and balanced and not unnamed, detail)


def _tier_1_complete(choices: Sequence[Choice]) -> Check:
    essential = [choice for choice in choices if choice.section.rule.tier == 1]
    whole = [choice for choice in essential if choice.body.form == "full"]
    detail = f"{len(whole)} of {len(essential)} whole" if choices else NOTHING
    return Check("tier 1 complete", bool(choices) and len(whole) == len(essential), detail)


def _integration_points(choices: Sequence[Choice]) -> Check:
    points = [choice for choice in choices if choice.section.kind == INTERFACE]
    inside = [choice for choice in points if choice.body.form == "full"]
    detail = "the source names none" if choices else NOTHING
    if points:
        detail = f"{len(inside)} of {len(points)} interfaces whole"
    return Check("integration points in", bool(choices) and len(inside) == len(points), detail)


def _cuts_keep_structure(report: Report) -> Check:
    """Every line of a smaller form is compared with its original."""
    claim = "cuts keep structure"
    count = lines = parts = torn = foreign = 0
    for choice in report.choices:
        if choice.body.form in CUT_FORMS:
            check = _line_check(choice, report.scale)
            count += 1
            lines += check.lines
            parts += check.parts
            torn += check.torn
            foreign += check.foreign
    if not count:
        return Check(claim, bool(report.choices), "nothing was cut" if report.choices else NOTHING)
    cuts = quantity(count, "cut")
    detail = f"{cuts}, {lines:,} lines, each the author's and in its place"
    if foreign:
        detail = f"{cuts}, {foreign:,} of {lines:,} lines are not the author's or not in place"
    if parts:
        detail += f"; {parts:,} of {lines:,} lines are parts of lines"
    if torn:
        detail += f", {torn:,} of them torn inside a sentence"
    return Check(claim, not foreign and not torn, detail)


def _line_check(choice: Choice, scale: Scale) -> LineCheck:
    from foreword.text.line_check import check_lines  # only where something was cut

    section = choice.section
    original = scale.with_frame(section, scale.safe(section.text, section.origin))
    return check_lines(original, choice.body.text)
