"""The parts of a package under the names by which programs that know its recipe look for them.

For JSON alone, beside `text`, `messages` and `report`. In Python, `Package` has the same two names
for a package; the parts of a phase are in its report.
"""

from __future__ import annotations

from typing import Any

from foreword.engine.package import Package
from foreword.store.database import stamp

# Of the recipe `phases`, which sections make a part: its text, and its tokens in the usage log.
_PHASE_TEXTS = {
    "systemPrompt": ("system_prompt",),
    "designDocument": ("design_document",),
    "typeDefinitions": ("types",),
    "relevantTests": ("relevant_tests", "failed_tests"),
    "currentUnit": ("current_unit",),
}
_PHASE_TOKENS = {
    "systemPrompt": ("system_prompt",),
    "designDoc": ("design_document",),
    "types": ("types",),
    "currentContext": ("current_unit", "relevant_tests", "failed_tests"),
    "messages": ("messages",),
}


def named_results(package: Package) -> dict[str, Any]:
    """Return the parts of a package by the names of its recipe; nothing for a recipe that has
    none."""
    if package.report.recipe == "package":
        report = package.truncation_report.to_dict()
        return {"context_package": package.context_package, "truncation_report": report}
    if package.report.recipe == "phases":
        return _phase_results(package)
    return {}


def _phase_results(package: Package) -> dict[str, Any]:
    report = package.report
    bodies = {choice.section.tag: choice.body for choice in report.choices}
    results = dict[str, Any]()
    for name, tags in _PHASE_TEXTS.items():
        texts = [bodies[tag].text for tag in tags if tag in bodies]
        results[name] = "\n\n".join(texts)
    units = bodies.get("previous_units")
    results["previousUnits"] = [entry.text for entry in units.kept_entries] if units else []
    messages = package.to_openai()
    results["recentMessages"] = [turn for turn in messages if turn["role"] != "system"]
    results["estimatedTokens"] = report.total_tokens
    usage: dict[str, Any] = {"phase": report.profile.get("phase", "")}
    for name, tags in _PHASE_TOKENS.items():
        usage[name] = sum(row.tokens for row in report.sections if row.tag in tags)
    results["usage"] = {**usage, "total": report.total_tokens, "timestamp": stamp()}
    return results
