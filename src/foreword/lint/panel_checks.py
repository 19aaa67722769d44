"""Panels and the policies they decide by: is everyone there who is named, and can the policy be
read."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from pydantic import ValidationError

from foreword.errors import BadSource, did_you_mean
from foreword.lint.document_index import DocumentIndex
from foreword.lint.panel_form import CODE, panel_repair
from foreword.lint.problem import Problem, error, shared_name, warning
from foreword.lint.project_files import names
from foreword.plan.validation import problem_places
from foreword.review.condition import NotACondition, parse
from foreword.review.policy import Place, Policy, policy_rules
from foreword.sources import files
from foreword.sources.documents import Document
from foreword.sources.front_matter import front_matter, line_of, mapping, repeated_key
from foreword.sources.panel_file import FIELD, read_panel


def panel_problems(index: DocumentIndex) -> Iterator[Problem]:
    """Yield members that do not exist, panels in another form, and policies that can't be read."""
    for document in index.of_kind("panel"):
        yield from _panel_file_problems(index, document)
    active = [named.name for named in names(index) if named.kind == "policy"]
    for document in index.of_kind("policy"):
        yield from _policy_problems(index, document, is_active=document.name in active)


def _panel_file_problems(index: DocumentIndex, document: Document) -> Iterator[Problem]:
    shared_names: dict[str, list[str]] = {}

    def find_persona(name: str) -> tuple[str, str] | None:
        shared = index.namesake_paths(name, "persona", document.path)
        if shared:
            shared_names[name] = shared
        found = index.find(name, "persona", near=document.path)
        return (found.path, index.text(found.path)) if found is not None else None

    text = index.text(document.path)
    try:
        panel = read_panel(text, document.name, document.path, find_persona)
    except BadSource as bad:
        if panel_repair(text) is not None:
            message = f"{bad.problem}: its members belong into the front matter ({FIELD})"
            problem = error(document.path, 1, code=CODE, message=message)
            yield replace(problem, fixable=True)
        elif FIELD in front_matter(text)[0]:
            line = _line_with(text, FIELD)
            yield error(document.path, line, code=CODE, message=bad.problem)
        return  # else a text about panels
    for name, shared in shared_names.items():
        yield shared_name(document.path, _line_with(text, name), name, shared)
    known = [persona.name for persona in index.of_kind("persona")]
    for name in panel.missing:
        message = f"no persona is called {name!r}, so the panel comes to no verdict"
        guess = did_you_mean(name, known)
        if guess:
            message += f"; did you mean {guess!r}?"
        yield error(document.path, _line_with(text, name), code="unknown-member", message=message)


def _policy_problems(
    index: DocumentIndex, document: Document, *, is_active: bool
) -> Iterator[Problem]:
    file = index.file(document.path)
    if not isinstance(file, files.File):
        return
    data, problem = mapping(file.text)
    if problem:
        return  # reported by the check of YAML files
    if not is_active and data.keys().isdisjoint(Policy.model_fields):
        return  # other things lie in that folder, too
    repeated = repeated_key(file.text)
    if repeated:
        yield error(document.path, 1, code="bad-policy", message=repeated)
    try:
        policy = Policy.model_validate(data)
    except ValidationError as wrong:
        for place, path, words in problem_places(wrong, Policy):
            line = line_of(file.text, place)
            yield error(document.path, line, code="bad-policy", message=f"{path}: {words}")
        return
    if is_active and not policy.has_rules:
        message = "has no rules with conditions: no panel approves by it"
        yield warning(document.path, 1, code="policy-without-rules", message=message)
    for section in policy.unchecked_sections:
        message = (
            f"no panel can check {section}, so it escalates to a human unless --fact"
            f" {section}_passed=true is given"
        )
        line = line_of(file.text, (section,))
        yield warning(document.path, line, code="unchecked-section", message=message)
    for place, condition in _conditions(policy):
        try:
            parse(condition)
        except NotACondition as unreadable:
            message = f"{condition!r} can't be evaluated, so it escalates to a human: {unreadable}"
            line = line_of(file.text, place)
            yield warning(document.path, line, code="unreadable-condition", message=message)


def _conditions(policy: Policy) -> Iterator[tuple[Place, str]]:
    """Yield every condition that a verdict depends on, with its place in the file."""
    for place, rule in policy_rules(policy):
        yield place, rule.condition
    for number, risk in enumerate(policy.risk_aggregation.rules):
        yield ("risk_aggregation", "rules", number, "condition"), risk.condition
    for number, condition in enumerate(policy.auto_merge.conditions if policy.auto_merge else ()):
        yield ("auto_merge", "conditions", number), condition


def _line_with(text: str, words: str) -> int:
    """Return the first line that has these words; the first of all where none has them."""
    for number, line in enumerate(text.splitlines(), 1):
        if words.casefold() in line.casefold():
            return number
    return 1
