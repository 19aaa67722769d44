"""The self-check of a package: each claim worked out from the package itself, none taken on
trust."""

from __future__ import annotations

from collections.abc import Sequence

from foreword.engine.package import Package
from foreword.engine.report import Check
from foreword.section import Choice
from foreword.text.pieces import sentences

INTERFACE = "interface"


def self_check(package: Package) -> tuple[Check, ...]:
    """Budget first, tier 1 complete, integration points in, cuts structural, report complete."""
    report = package.report
    essential = [choice for choice in report.choices if choice.section.rule.tier == 1]
    whole = [choice for choice in essential if choice.body.form == "full"]
    shortened = [
        choice
        for choice in report.choices
        if choice.body.form in ("summary", "relevant", "excerpt")
    ]
    clean = [choice for choice in shortened if _is_structural(choice)]
    listed = {omission.handle for omission in report.omissions} <= package.originals.keys()
    balanced = report.kept_tokens + report.omitted_tokens == report.original_tokens
    return (
        Check(
            "budget calculated first", bool(report.budget.steps), f"{report.budget.tokens:,} tokens"
        ),
        Check(
            "tier 1 complete",
            len(whole) == len(essential),
            f"{len(whole)} of {len(essential)} whole",
        ),
        _integration_points(report.choices),
        Check(
            "cuts keep structure",
            len(clean) == len(shortened),
            f"{len(clean)} of {len(shortened)} cuts on whole lines",
        ),
        Check(
            "report complete",
            listed and balanced,
            f"{len(report.omissions)} omissions, each with its handle",
        ),
    )


def _integration_points(choices: Sequence[Choice]) -> Check:
    points = [choice for choice in choices if choice.section.kind == INTERFACE]
    inside = [choice for choice in points if choice.body.form == "full"]
    detail = (
        f"{len(inside)} of {len(points)} interfaces whole" if points else "the source names none"
    )
    return Check("integration points in", len(inside) == len(points), detail)


def _is_structural(choice: Choice) -> bool:
    """Whether all that was kept are whole lines or whole sentences of the author's."""
    section, text = choice.section, choice.section.text
    whole = {_flat(part) for line in text.splitlines() for part in (line, *sentences(line))}
    whole |= {_flat(sentence) for sentence in sentences(text)}
    whole |= {
        _flat(line) for line in (*section.before.splitlines(), *section.after.splitlines(), "")
    }
    lines = choice.body.text.replace("&lt;", "<").splitlines()
    kept = (part for line in lines if not line.startswith("[... ") for part in line.split("[...]"))
    return all(
        _flat(part) in whole or all(_flat(s) in whole for s in sentences(part)) for part in kept
    )


def _flat(text: str) -> str:
    return " ".join(text.split())
