"""What a recipe may say about documents, tiers and values of a project: each mistake is told
with its place."""

from __future__ import annotations

from pathlib import Path

from foreword.recipe.load import load

HEAD = (
    "name: mine\ndocuments: {persona: 'p/*.md', doc: [d/*.md]}\n"
    "purposes: {work: {}}\nread: {who: {file: a.yaml, at: [x]}}\n"
)


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
