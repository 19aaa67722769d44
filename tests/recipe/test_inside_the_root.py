"""A project's recipes are read inside its root, whatever they say and whoever asks; nothing but
a recipe is shown."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from foreword.errors import ForewordError, RecipeError
from foreword.recipe.load import checked_layers, layers, load, names, problems
from tests.attacks import sample
from tests.command import CommandResult, run_in_process
from tests.corpus import rows

pytestmark = pytest.mark.attack

TOKEN = "ghp_" + "Ab3" * 12
HOSTS = f"github.com:\n  oauth_token: {TOKEN}\n  user: alice\n"
# of the victim, and none of the project's
RECIPE = f"name: hers\nabout: {TOKEN}\nsections:\n  a: {{file: A.md}}\n"
MINE = "name: mine\nsections:\n  a: {file: A.md}\n"


@pytest.fixture
def root(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A stranger's project beside the home of a user who has secrets in YAML."""
    home = tmp_path / "home"
    (home / ".config" / "gh").mkdir(parents=True)
    for name, text in (("hosts.yml", HOSTS), ("hosts.yaml", HOSTS), ("recipe.yaml", RECIPE)):
        (home / ".config" / "gh" / name).write_text(text)
    monkeypatch.setenv("HOME", str(home))
    monkeypatch.setenv("XDG_CACHE_HOME", str(home / ".cache"))
    root = tmp_path / "project"
    (root / "foreword" / "recipes").mkdir(parents=True)
    (root / "A.md").write_text("hello\n")
    monkeypatch.chdir(root)
    return root


def own(root: Path, text: str, name: str = "evil") -> Path:
    path = root / "foreword" / "recipes" / f"{name}.yaml"
    path.write_text(text)
    return path


def everything_that_shows(name: str) -> list[CommandResult]:
    """What every command says that reads recipes."""
    return [
        run_in_process("recipes"),
        run_in_process("recipe", "show", name),
        run_in_process("lint"),
        run_in_process("lint", name),
        run_in_process("assemble", name),
        run_in_process("why", name, "--about", "a"),
        run_in_process("lookup", "a question", "--recipe", name),
    ]


OUTSIDE = rows("recipes/outside.jsonl")


@pytest.mark.parametrize("extends", sample(OUTSIDE, 8))
def test_what_a_recipe_of_a_project_extends_is_never_read_outside_the_root(
    root: Path, extends: str
) -> None:
    home = root.parent / "home"
    (root / "link.yaml").symlink_to(home / ".config/gh/hosts.yaml")
    (root / "link.yml").symlink_to("../home/.config/gh/recipe.yaml")
    (root / "folder").symlink_to(home / ".config/gh")
    (root / "foreword/recipes/among.yaml").symlink_to(home / ".config/gh/recipe.yaml")
    (root / "chain.yaml").symlink_to("link.yml")
    own(
        root,
        f"name: evil\nextends: {extends.format(home=home)}\ngithub.com: null\nsections:\n  a:"
        " {file: A.md}\n",
    )
    with pytest.raises(RecipeError):
        load("evil", root)
    for ran in everything_that_shows("evil"):
        assert TOKEN not in ran.out + ran.err
        assert "oauth_token" not in ran.out + ran.err


@pytest.mark.parametrize(
    "named", ["evil", "foreword/recipes/evil.yaml", "./foreword/recipes/../recipes/evil.yaml"]
)
def test_a_link_among_the_recipes_is_not_followed_out_of_the_root(root: Path, named: str) -> None:
    (root / "foreword/recipes/evil.yaml").symlink_to(root.parent / "home/.config/gh/recipe.yaml")
    with pytest.raises(RecipeError, match="outside the root"):
        layers(named, root)
    for ran in everything_that_shows(named):
        assert TOKEN not in ran.out + ran.err


@pytest.mark.parametrize("suffix", [".yaml", ".yml"])
def test_a_name_is_never_taken_for_a_path(root: Path, suffix: str) -> None:
    """`stray.yaml.yaml` would be called stray.yaml, and that is read from wherever a server was
    started."""
    own(root, MINE, f"stray{suffix}")
    assert not [name for name in names(root) if name.startswith("stray")]


@pytest.mark.parametrize("link", ["foreword", "foreword/recipes"])
def test_a_folder_of_recipes_that_is_elsewhere_is_not_looked_into(root: Path, link: str) -> None:
    elsewhere = root.parent / "home" / "recipes"
    (elsewhere / "recipes").mkdir(parents=True)
    for folder in (elsewhere, elsewhere / "recipes"):
        (folder / "hers.yaml").write_text(RECIPE)
    (root / "foreword" / "recipes").rmdir()
    if link == "foreword":
        (root / "foreword").rmdir()
    (root / link).symlink_to(elsewhere)
    assert "hers" not in names(root)
    with pytest.raises(RecipeError, match="outside the root, left out"):
        load("hers", root)
    for ran in everything_that_shows("hers"):
        assert TOKEN not in ran.out + ran.err
    assert "foreword/recipes: outside the root, left out" in run_in_process("recipes").err
    assert "outside the root: left out" in run_in_process("lint").out


def test_what_is_no_recipe_is_not_shown_though_it_lies_in_the_root(root: Path) -> None:
    """`github.com: null` takes the field away again, so that the two together have the shape of
    a recipe."""
    (root / "secret.yaml").write_text(HOSTS)
    own(root, f"name: evil\nextends: secret.yaml\ngithub.com: null\n{MINE.partition(chr(10))[2]}")
    for ran in everything_that_shows("evil"):
        assert TOKEN not in ran.out + ran.err
        assert "oauth_token" not in ran.out + ran.err
    process = run_in_process("recipe", "show", "evil")
    assert (process.code, process.out) == (2, "")
    assert "secret.yaml:1:1: not a recipe" in process.err


def test_a_field_that_one_file_of_the_chain_takes_away_is_still_none_of_a_recipe(
    root: Path,
) -> None:
    (root / "secret.yaml").write_text(f"name: base\n{HOSTS}")
    own(root, f"name: evil\nextends: secret.yaml\ngithub.com: null\n{MINE.partition(chr(10))[2]}")
    assert [problem.line for problem in problems(layers("evil", root))] == [2]
    assert TOKEN not in run_in_process("recipe", "show", "evil").out


@pytest.mark.parametrize(
    "text",
    [
        f"password: {TOKEN}\npassword: {TOKEN}\n",
        f"{TOKEN}: 1\n",
        f"name: x\nkey: !{TOKEN} x\n",
        f"name: x\nkey: !!int {TOKEN}\n",
        f"name: x\nkey: !!float {TOKEN}\n",
        f"name: x\nkey: *{TOKEN}\n",
        f"name: x\nkey: {TOKEN}: {TOKEN}\n",
        f"name: x\nkey: '{TOKEN}\n",
        f"name: x\nkey: [{TOKEN}\n",
        f"name: x\nkey: @{TOKEN}\n",
        f"name: {{{TOKEN}: 1}}\n",
        f"name: x\nsections: {TOKEN}\n",
        f"name: x\nbudget: {TOKEN}\n",
        f"name: x\nbudget: {{share: {TOKEN}}}\n",
        f"- {TOKEN}\n",
        TOKEN,
        f"name: x\nneeds: [{TOKEN}]\n",
    ],
)
def test_an_error_names_the_line_and_quotes_nothing(root: Path, text: str) -> None:
    own(root, text)
    with pytest.raises(RecipeError) as wrong:
        checked_layers("evil", root)
    assert TOKEN not in wrong.value.message + wrong.value.hint
    assert "evil.yaml" in wrong.value.message
    for ran in everything_that_shows("evil"):
        assert TOKEN not in ran.out + ran.err


# --- the user's own word --------------------------------------------------------------------------


def test_a_user_names_a_recipe_anywhere_and_it_extends_the_one_beside_it(root: Path) -> None:
    elsewhere = root.parent / "home" / "mine"
    (elsewhere / "more").mkdir(parents=True)
    (elsewhere / "mine.yaml").write_text("name: mine\nextends: more/base.yaml\nabout: mine\n")
    (elsewhere / "more" / "base.yaml").write_text("name: base\nextends: ../top.yaml\n")
    (elsewhere / "top.yaml").write_text("name: top\nextends: director\n")
    for named in (str(elsewhere / "mine.yaml"), "~/mine/mine.yaml", "../home/mine/mine.yaml"):
        assert len(layers(named, root)) == 4
        assert load(named, root).about == "mine"
    assert run_in_process("recipe", "show", elsewhere / "mine.yaml").out.startswith(
        "name: mine\nextends: more/base.yaml\n"
    )


def test_a_recipe_that_a_user_names_extends_a_file_by_its_whole_path(root: Path) -> None:
    elsewhere = root.parent / "home" / "mine"
    elsewhere.mkdir()
    (elsewhere / "base.yaml").write_text(MINE)
    for parent in ("~/mine/base.yaml", str(elsewhere / "base.yaml"), "foreword/recipes/ours.yaml"):
        (elsewhere / "mine.yaml").write_text(f"name: hers\nextends: {parent}\n")
        own(root, MINE, "ours")
        assert load(str(elsewhere / "mine.yaml"), root).name == "hers"


@pytest.mark.parametrize(
    "extends", ["~/.config/gh/recipe.yaml", "../.config/gh/recipe.yaml", "link.yaml"]
)
def test_a_recipe_that_a_user_names_reads_in_its_own_folder_only(root: Path, extends: str) -> None:
    """It may have been downloaded: to name it is not to have read it."""
    downloads = root.parent / "home" / "downloads"
    downloads.mkdir()
    (downloads / "link.yaml").symlink_to("../.config/gh/recipe.yaml")
    (downloads / "nice.yaml").write_text(f"name: nice\nextends: {extends}\n")
    with pytest.raises(RecipeError, match=r"nice\.yaml:2:1: .*leads outside"):
        load(str(downloads / "nice.yaml"), root)


def test_a_recipe_of_the_project_extends_another_by_name_or_by_a_path_in_the_root(
    root: Path,
) -> None:
    (root / "shared").mkdir()
    (root / "shared" / "base.yaml").write_text(MINE)
    own(root, MINE, "ours")
    (root / "foreword/recipes/link.yaml").symlink_to("../../shared/base.yaml")
    for parent in (
        "ours",
        "shared/base.yaml",
        f"{root}/shared/base.yaml",
        "./shared/base.yaml",
        "ours.yaml",
        "../../shared/base.yaml",
        "link",
        "link.yaml",
    ):
        own(root, f"name: evil\nextends: {parent}\nabout: ok\n")
        assert load("evil", root).about == "ok"
        assert load(str(root / "foreword/recipes/evil.yaml"), root).about == "ok"


def test_the_file_that_is_not_there_is_told_at_the_line_that_names_it(root: Path) -> None:
    own(root, "name: evil\nextends: gone.yaml\n")
    with pytest.raises(
        RecipeError, match=r"evil\.yaml:2:1: extends: there is no file 'gone\.yaml'"
    ):
        load("evil", root)


# --- what would be waited for ---------------------------------------------------------------------


def waits(root: Path, kind: str) -> Path:
    """Something among the recipes that never ends, or never begins, to be read."""
    path = root / "foreword" / "recipes" / "evil.yaml"
    if kind == "pipe":
        os.mkfifo(path)
    elif kind == "link to a pipe":
        os.mkfifo(root / "pipe")
        path.symlink_to(root / "pipe")
    elif kind == "folder":
        path.mkdir()
    else:
        path.symlink_to(kind)
    return path


@pytest.mark.parametrize(
    "kind",
    [
        "pipe",
        "link to a pipe",
        "folder",
        "/dev/tty",
        "/dev/zero",
        "/dev/stdin",
        "/proc/self/fd/0",
        "evil.yaml",
    ],
)
def test_what_is_no_regular_file_among_the_recipes_is_told_and_not_waited_for(
    root: Path, kind: str
) -> None:
    path = waits(root, kind)
    own(root, MINE, "fine")
    with pytest.raises(ForewordError):
        load("evil", root)
    with pytest.raises(ForewordError):
        load(str(path), root)
    listed = run_in_process("recipes")
    assert "evil         BROKEN" in listed.out
    assert "fine   " in listed.out
    for ran in everything_that_shows("evil"):
        assert "Traceback" not in ran.err
    own(root, "name: other\nextends: evil\n", "other")
    own(root, "name: third\nextends: foreword/recipes/evil.yaml\n", "third")
    for name in ("other", "third"):
        with pytest.raises(ForewordError):
            load(name, root)
