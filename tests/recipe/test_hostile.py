"""Recipes that mean harm, or mean nothing: each is one error with its place, at once."""

from __future__ import annotations

import itertools
from pathlib import Path

import pytest

from foreword.errors import RecipeError
from foreword.recipe.load import layers, problems
from tests.corpus import check_each, rows

pytestmark = pytest.mark.attack


def _aliases(line: str) -> str:
    """Eight lines, each with nine aliases of the one before, the first of `a`."""
    text = ""
    for before, name in itertools.pairwise("abcdefghi"):
        text += line.format(name=name, aliases=", ".join([f"*{before}"] * 9))
    return text


BOMB = "a: &a [x, x, x, x, x, x, x, x, x]\n" + _aliases("{name}: &{name} [{aliases}]\n")
MERGED = "a: &a {x: 1}\n" + _aliases("{name}: &{name} {{<<: [{aliases}]}}\n")
CHAIN = "a0: &a0 [x]\n" + "".join(f"a{i}: &a{i} [*a{i - 1}]\n" for i in range(1, 500))


def problem_messages(root: Path, text: str) -> list[str]:
    """What is wrong with a recipe, from its line on."""
    path = root / "mine.yaml"
    path.write_text(text)
    try:
        found = list(problems(layers(str(path), root)))
    except RecipeError as problem:
        found = [problem]
    return [problem.message.removeprefix(f"{path}:") for problem in found]


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("[" * 100_000, "1:51: nested more than 50 levels deep"),
        ("{a: " * 3_000, "nested more than 50 levels deep"),
        ("- " * 3_000 + "x", "nested more than 50 levels deep"),
        (CHAIN, "nested more than 50 levels deep"),
        ("a: &a [*a]", "1:8: *a stands inside its own anchor"),
        (BOMB, "aliases make it more than 50,000 values"),
        (MERGED, "aliases make it more than 50,000 values"),
        ("a: [" + "x, " * 30_000 + "]", "more than 20,000 values"),
        ("# " + "x" * 1_000_001, "larger than 1,000,000 bytes"),
        ("a: " + "1:1" * 100_000, "a number of more than 400 digits"),
        ("name: x\n? [a]\n: b\n", "not valid YAML"),
    ],
    ids=[
        "brackets",
        "mappings",
        "dashes",
        "chain",
        "itself",
        "bomb",
        "merged",
        "long",
        "large",
        "number",
        "key",
    ],
)
def test_a_recipe_that_would_take_all_memory_or_for_ever_is_refused_at_once(
    tmp_path: Path, text: str, says: str
) -> None:
    (message,) = problem_messages(tmp_path, text)
    assert says in message


def test_at_most_twenty_recipes_extend_one_another(tmp_path: Path) -> None:
    folder = tmp_path / "foreword/recipes"
    folder.mkdir(parents=True)
    for number in range(30):
        (folder / f"r{number}.yaml").write_text(f"name: r{number}\nextends: r{number + 1}\n")
    with pytest.raises(RecipeError, match=r"r0\.yaml:2:1: .*more than 20"):
        layers("r0", tmp_path)


@pytest.mark.parametrize("name", ["a\0.yaml", "x" * 5_000 + ".yaml", "~nobody-of-that-name/a.yaml"])
def test_a_name_that_no_file_can_have_is_no_such_file(tmp_path: Path, name: str) -> None:
    with pytest.raises(RecipeError, match="no such file"):
        layers(name, tmp_path)


def test_a_recipe_that_makes_no_sense_is_told_with_its_place(tmp_path: Path) -> None:
    def is_told(case: dict[str, str]) -> None:
        (message,) = problem_messages(tmp_path, case["recipe"])
        assert message[0].isdigit()
        assert case["says"] in message

    check_each(rows("recipe_problems.jsonl"), is_told)


def test_the_values_of_any_profile_fill_blanks(tmp_path: Path) -> None:
    recipe = (
        "name: mine\nsections:\n  a: {text: '{rules}'}\nagents:\n  b: {values: {rules: Be"
        " brief.}}\n"
    )
    assert problem_messages(tmp_path, recipe) == []


def test_problems_come_in_the_order_of_the_lines(tmp_path: Path) -> None:
    recipe = (
        "name: mine\ngives_way: [zz]\nagents:\n  one: {sections: [yy]}\nlocate: {x: {among: /a}}\n"
        "sections:\n  a: {file: /b}\n  b: {file: ../c}\n"
    )
    lines = [int(message.partition(":")[0]) for message in problem_messages(tmp_path, recipe)]
    assert lines == [2, 4, 5, 7, 8]
