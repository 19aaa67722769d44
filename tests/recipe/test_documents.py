"""What a recipe may say about documents, tiers and values of a project: each mistake is told
with its place."""

from __future__ import annotations

from pathlib import Path

import pytest

from foreword.recipe.load import load
from tests.recipe.test_hostile import problem_messages

HEAD = (
    "name: mine\ndocuments: {persona: 'p/*.md', doc: [d/*.md]}\n"
    "purposes: {work: {}}\nread: {who: {file: a.yaml, at: [x]}}\n"
)


@pytest.mark.parametrize(
    ("section", "says"),
    [
        (
            "document: persoan, named: x",
            "6:7: unknown kind of document 'persoan', did you mean 'persona'?",
        ),
        ("document: persona", "6:3: section 'a' says not which document: give named"),
        (
            "document: persona, file: A.md, named: x",
            "section 'a' has file and document: give exactly one of",
        ),
        ("document: persona, named: '{woh}'", "6:26: nothing fills {woh}, did you mean {who}?"),
        (
            "document: persona, named: x, phase: '{phas}'",
            "6:36: nothing fills {phas}, did you mean {phase}?",
        ),
        ("document: persona, named: [x]", "6:26: sections.a.named: must be text"),
        ("text: x, phase: '1'", "6:16: a phase is part of a document or a file: give one of them"),
        ("document: persona, named: x, fields: 5", "6:36: sections.a.fields"),
        (
            "document: persona, named: x, fileds: [a]",
            "6:36: unknown field 'sections.a.fileds', did you mean 'fi",
        ),
        ("anchors: false", "6:7: sections.a.anchors: must be true"),
        ("anchors: true, text: x", "section 'a' has text and anchors: give exactly one of"),
        ("document: persona, named: x, forms: [full, haeder]", "did you mean 'header'?"),
        ("document: persona, named: x, forms: [header]", "forms must begin with full"),
    ],
)
def test_a_section_of_documents_that_makes_no_sense_is_told_with_its_place(
    tmp_path: Path, section: str, says: str
) -> None:
    (message,) = problem_messages(tmp_path, f"{HEAD}sections:\n  a: {{{section}}}\n")
    assert says in message


@pytest.mark.parametrize(
    ("more", "says"),
    [
        ("tiers: {0: 400, 1: -1}", "2:17: tiers[1]: must be greater than 0"),
        ("tiers: {0: 400, 1: 0}", "tiers[1]: must be"),
        ("tiers: {ten: 5}", "tiers"),
        ("tiers: {10: 5}", "tiers"),
        ("tiers: [400, 2000]", "2:1: tiers: must be a mapping"),
        ("tiers: {1: 10000000000000}", "tiers[1]: must be"),
        ("tires: {1: 5}", "2:1: unknown field 'tires', did you mean 'tiers'?"),
        ("within: [.., docs]", "2:10: '..' leads out of the root"),
        ("within: [/etc]", "2:10: '/etc' leads out of the root"),
        ("documents: {persona: '../*.md'}", "2:13: '../*.md' leads out of the root"),
        ("documents: {persona: [a.md, ~/b.md]}", "2:29: '~/b.md' leads out of the root"),
        ("documents: {persona: 5}", "2:13: documents.persona: must be"),
        ("documents: [persona]", "2:1: documents: must be a mapping"),
        (
            "documents: {doc: d.md}\non_demand: [dco]",
            "3:13: unknown kind of document 'dco', did you mean 'doc'?",
        ),
        ("read: {x: {file: ../a.yaml, at: [b]}}", "'../a.yaml' leads out of the root"),
        ("read: {x: {file: a.yaml}}", "2:8: 'read.x.at' is missing"),
        ("read: {x: {at: [b]}}", "2:8: 'read.x.file' is missing"),
        (
            "read: {x: {file: a.yaml, at: [b], deafult: c}}",
            "unknown field 'read.x.deafult', did you mean 'default'?",
        ),
        ("read: {x: a.yaml}", "2:8: read.x: must be"),
        (
            "purposes: {work: {}}\ndefault_purpose: wrok",
            "3:1: unknown purpose 'wrok', did you mean 'work'?",
        ),
        ("default_purpose: work", "2:1: unknown purpose 'work'"),
        ("lint: {limits: {persona: {tokens: lots}}}", "lint.limits.persona.tokens: must be"),
        (
            "lint: {limits: {persona: {tokens: 5, eror: 9}}}",
            "unknown field 'lint.limits.persona.eror', did you mean 'error'?",
        ),
        ("lint: {limits: {persona: {error: 9}}}", "2:17: 'lint.limits.persona.tokens' is missing"),
        ("lint: {exceptions: [{file: a.md}]}", "2:21: 'lint.exceptions[0].reason' is missing"),
        (
            "lint: {exceptions: [{file: a.md, reason: ''}]}",
            "2:34: lint.exceptions[0].reason: must not be empty",
        ),
        ("lint: {limit: {}}", "unknown field 'lint.limit', did you mean 'limits'?"),
    ],
)
def test_a_recipe_of_documents_that_makes_no_sense_is_told_with_its_place(
    tmp_path: Path, more: str, says: str
) -> None:
    (message,) = problem_messages(tmp_path, f"name: mine\n{more}\nsections:\n  a: {{text: x}}\n")
    assert message[0].isdigit()
    assert says in message


def test_one_pattern_may_stand_without_its_list(tmp_path: Path) -> None:
    path = tmp_path / "mine.yaml"
    path.write_text(f"{HEAD}sections:\n  a: {{document: persona, named: x}}\n")
    recipe = load(str(path))
    assert recipe.documents == {"persona": ("p/*.md",), "doc": ("d/*.md",)}
    assert recipe.read["who"].file == ("a.yaml",)


def test_a_project_changes_one_limit_and_keeps_the_others(tmp_path: Path) -> None:
    path = tmp_path / "foreword/recipes/mine.yaml"
    path.parent.mkdir(parents=True)
    path.write_text(
        "name: mine\nextends: factory\ntiers: {2: 5000}\nlint: {limits: {persona: {tokens: 800}}}\n"
    )
    recipe = load("mine", tmp_path)
    assert recipe.tiers == {0: 400, 1: 2_000, 2: 5_000}
    assert recipe.lint.limits["persona"].tokens == 800
    assert recipe.lint.limits["phase"].tokens == 1_000
