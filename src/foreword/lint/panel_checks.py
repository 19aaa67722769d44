"""Panels and the rules they judge by: does everyone sit there who is named, and can the conditions
be read."""

from __future__ import annotations

import re
from collections.abc import Iterator

from foreword.errors import BadSource, did_you_mean
from foreword.lint.document_index import DocumentIndex
from foreword.lint.problem import Problem, error, shared_name, warning
from foreword.lint.project_files import names
from foreword.review.condition_parsing import check
from foreword.review.profile import ReviewProfile, read_profile
from foreword.review.profile_rules import passed_name
from foreword.sources import files
from foreword.sources.documents import Document
from foreword.sources.front_matter import mapping, repeated_key
from foreword.sources.panel_file import read_panel


def panel_problems(index: DocumentIndex) -> Iterator[Problem]:
    """Members that do not exist, and profiles by which nothing could be judged."""
    for document in index.of_kind("panel"):
        yield from _missing_members(index, document)
    active = [named.name for named in names(index) if named.kind == "policy"]
    for document in index.of_kind("policy"):
        yield from _profile_problems(index, document, is_active=document.name in active)


def _missing_members(index: DocumentIndex, document: Document) -> Iterator[Problem]:
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
    except BadSource:
        return  # a text about panels, or a panel that nobody can run: `panel list` says so
    for name, shared in shared_names.items():
        yield shared_name(document.path, _line_of(text, name), name, shared)
    known = [persona.name for persona in index.of_kind("persona")]
    for name in panel.missing:
        message = f"no persona is called {name!r}, so the panel comes to no verdict"
        guess = did_you_mean(name, known)
        if guess:
            message += f"; did you mean {guess!r}?"
        yield error(document.path, _line_of(text, name), code="unknown-member", message=message)
    for name in panel.unclear:
        message = f"{name!r} is no member: it has no **Role:**, and no persona is called so"
        line = _line_of(text, f"# {name}")
        yield warning(document.path, line, code="no-member", message=message)


def _profile_problems(
    index: DocumentIndex, document: Document, *, is_active: bool
) -> Iterator[Problem]:
    file = index.file(document.path)
    if not isinstance(file, files.File):
        return
    data, problem = mapping(file.text)
    if problem:
        return  # told by the check of YAML files
    repeated = repeated_key(file.text)
    if repeated:
        yield error(document.path, 1, code="bad-profile", message=repeated)
    try:
        profile = read_profile(data, where=document.path, name=document.name)
    except BadSource as bad:
        yield error(document.path, 1, code="bad-profile", message=bad.problem)
        return
    ignored = profile.thresholds.ignored if profile.thresholds is not None else ()
    if is_active and not profile.has_rules and not ignored:
        message = "has neither thresholds nor rules with conditions: no panel approves by it"
        yield warning(document.path, 1, code="profile-without-rules", message=message)
    if ignored:
        message = f"no panel knows {', '.join(ignored)}"
        yield warning(document.path, 1, code="unknown-threshold", message=message)
    if is_active or _is_profile(profile):
        yield from _idle_rule_problems(document, file.text, profile)
    for condition in profile.conditions:
        problem = check(condition)
        if problem:
            message = f"{condition!r} can't be evaluated, so it calls for a person: {problem}"
            line = _line_of(file.text, condition)
            yield warning(document.path, line, code="unreadable-condition", message=message)


def _is_profile(profile: ReviewProfile) -> bool:
    """Whether a file has anything of a profile: other things lie in that folder, too."""
    is_applied = any(not rule.is_unapplied for rule in profile.rules)
    return is_applied or profile.thresholds is not None or profile.approval is not None


def _idle_rule_problems(document: Document, text: str, profile: ReviewProfile) -> Iterator[Problem]:
    """Parts of a profile that no panel applies, so that each panel calls for a person."""
    for rule in profile.rules:
        if rule.is_unapplied:
            message = (
                f"no panel can apply {rule.where}, so it calls for a person unless --fact"
                f" {passed_name(rule.where)}=true is given"
            )
            line = _line_of_path(text, rule.where)
            yield warning(document.path, line, code="unapplied-section", message=message)


def _line_of_path(text: str, path: str) -> int:
    """The line of the last name of a path that is below the names before it."""
    number = 0
    lines = text.splitlines()
    for name in re.findall(r"[^.\[\]]+", path):
        if not name.isdigit():
            below = range(number, len(lines))
            number = next((at for at in below if _has_key(lines[at], name)), number)
    return number + 1


def _has_key(line: str, name: str) -> bool:
    return re.search(rf"(?:^|[\s{{,\"'-]){re.escape(name)}[\"']?\s*:", line) is not None


def _line_of(text: str, words: str) -> int:
    """The first line that has these words; the first of all where none has them so."""
    for number, line in enumerate(text.splitlines(), 1):
        if words.casefold() in line.casefold():
            return number
    return 1
