"""The self-check of a package: each claim worked out from the package itself, none taken on
trust.

Recipes ask for it with `self_check`; the answers go into the report as checks. Nothing is repaired
here.
"""

from __future__ import annotations

from collections.abc import Sequence

from foreword.engine.package import Package
from foreword.engine.report import Check
from foreword.section import Choice, Section
from foreword.text.omission_mark import CUT_START, GAP
from foreword.text.pieces import sentences

INTERFACE = "interface"
CUT_FORMS = ("summary", "relevant", "excerpt")


def self_check(package: Package) -> tuple[Check, ...]:
    """Budget first, tier 1 complete, integration points in, cuts structural, report complete."""
    report = package.report
    listed = {omission.handle for omission in report.omissions} <= package.originals.keys()
    balanced = report.kept_tokens + report.omitted_tokens == report.original_tokens
    return (
        Check(
            "budget calculated first",
            bool(report.budget.steps),
            f"{report.budget.tokens:,} tokens",
        ),
        _tier_1_complete(report.choices),
        _integration_points(report.choices),
        _cuts_keep_structure(report.choices),
        Check(
            "report complete",
            listed and balanced,
            f"{len(report.omissions)} omissions, each with its handle",
        ),
    )


def _tier_1_complete(choices: Sequence[Choice]) -> Check:
    essential = [choice for choice in choices if choice.section.rule.tier == 1]
    whole = [choice for choice in essential if choice.body.form == "full"]
    detail = f"{len(whole)} of {len(essential)} whole"
    return Check("tier 1 complete", len(whole) == len(essential), detail)


def _integration_points(choices: Sequence[Choice]) -> Check:
    points = [choice for choice in choices if choice.section.kind == INTERFACE]
    inside = [choice for choice in points if choice.body.form == "full"]
    detail = "the source names none"
    if points:
        detail = f"{len(inside)} of {len(points)} interfaces whole"
    return Check("integration points in", len(inside) == len(points), detail)


def _cuts_keep_structure(choices: Sequence[Choice]) -> Check:
    cut = [choice for choice in choices if choice.body.form in CUT_FORMS]
    clean = [choice for choice in cut if _is_structural(choice)]
    detail = f"{len(clean)} of {len(cut)} cuts on whole lines"
    return Check("cuts keep structure", len(clean) == len(cut), detail)


def _is_structural(choice: Choice) -> bool:
    """Whether all that was kept are whole lines or whole sentences of the author's."""
    whole = _whole_pieces(choice.section)
    for line in choice.body.text.replace("&lt;", "<").splitlines():
        if line.startswith(CUT_START):
            continue
        for piece in line.split(GAP):
            if _flat(piece) in whole:
                continue
            if not all(_flat(sentence) in whole for sentence in sentences(piece)):
                return False
    return True


def _whole_pieces(section: Section) -> set[str]:
    """Every line and every sentence of a section, and the lines around its text."""
    pieces = ["", *sentences(section.text)]
    for line in section.text.splitlines():
        pieces += [line, *sentences(line)]
    pieces += section.before.splitlines()
    pieces += section.after.splitlines()
    return {_flat(piece) for piece in pieces}


def _flat(text: str) -> str:
    return " ".join(text.split())
