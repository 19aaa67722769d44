"""A stranger's repository and a stranger's SKILL.md against an allowed git: nothing is run, written
or read elsewhere.

Each attack is a repository whose configuration names a program (it makes the file PWNED) and the
commands that would start it. At length the same commands are also given to a plain git, to see that
the attack is one.
"""

from __future__ import annotations

import atexit
import os
import shlex
import shutil
import subprocess
import tempfile
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

import pytest

from foreword import assemble
from foreword.errors import BadSource
from foreword.sources import git, git_status
from foreword.sources.commands import CommandText, Policy, inject
from foreword.sources.diff_source import read_change
from tests.attacks import AT_LENGTH, sample
from tests.corpus import check_each, lines, rows
from tests.patience import PATIENCE_SECONDS
from tests.sources.test_git import run, signed

pytestmark = pytest.mark.attack

SECRET = "correct horse battery staple"
ALL = Policy(allow=("*",), timeout_seconds=PATIENCE_SECONDS)


@dataclass(frozen=True)
class Attack:
    """How a repository is made hostile, and which commands of a skill would set it off."""

    build: Callable[[Path], None]
    commands: Sequence[str]


# --- hostile repositories -------------------------------------------------------------------------


def project(root: Path) -> Path:
    """Two commits, a tag, and a script that betrays whoever starts it."""
    shutil.copytree(_repository(), root, dirs_exist_ok=True)
    run(root, "update-index", "--refresh")  # as git left it: nothing looks changed
    script = root / "harm.sh"
    script.write_text(f"#!/bin/sh\n: > '{root}/PWNED'\n")
    script.chmod(0o755)
    return root


@cache
def _repository() -> Path:
    """What all of them begin with."""
    folder = tempfile.mkdtemp(prefix="foreword-repository-")
    atexit.register(shutil.rmtree, folder, ignore_errors=True)
    root = Path(folder) / "p"
    root.mkdir()
    run(root, "init", "-q", "-b", "main")
    for number in range(2):
        (root / "f.txt").write_text(f"line {number}\n")
        run(root, "add", "f.txt")
        run(root, "commit", "-q", "-m", f"Commit {number}")
    run(root, "tag", "v1")
    return root


def configure(root: Path, *settings: tuple[str, str]) -> None:
    for name, value in settings:
        run(root, "config", "--add", name, value)


def touched(root: Path) -> None:
    """Make git compare what is in the file, which runs a clean filter."""
    (root / "f.txt").write_text("line 2\n")
    os.utime(root / "f.txt", (1, 1))


def attributes(root: Path, text: str) -> None:
    (root / ".git/info").mkdir(exist_ok=True)
    (root / ".git/info/attributes").write_text(text)


def partial_clone(root: Path, *settings: tuple[str, str]) -> None:
    """A blob is missing, and the place to fetch it from is a program."""
    configure(
        root,
        ("core.repositoryformatversion", "1"),
        ("extensions.partialClone", "origin"),
        ("remote.origin.promisor", "true"),
        ("remote.origin.fetch", "+refs/heads/*:refs/remotes/origin/*"),
        ("protocol.allow", "always"),
        ("protocol.ext.allow", "always"),
        *settings,
    )
    blob = run(root, "rev-parse", "HEAD~1:f.txt")
    (root / ".git/objects" / blob[:2] / blob[2:]).unlink()


def hooks(root: Path) -> None:
    folder = root / "hooks"
    folder.mkdir()
    for name in (
        "post-index-change",
        "reference-transaction",
        "fsmonitor-watchman",
        "pre-commit",
        "post-checkout",
    ):
        (folder / name).symlink_to(root / "harm.sh")
        (root / ".git/hooks").mkdir(exist_ok=True)
        (root / ".git/hooks" / name).symlink_to(root / "harm.sh")
    configure(root, ("core.hooksPath", str(folder)))
    # the same text, so that git would write what it knows of the file anew
    os.utime(root / "f.txt", (1, 1))


def alternate_refs(root: Path) -> None:
    configure(root, ("core.alternateRefsCommand", f"{root}/harm.sh"))
    other = project(root / "other")
    (root / ".git/objects/info").mkdir(exist_ok=True)
    (root / ".git/objects/info/alternates").write_text(f"{other}/.git/objects\n")


def with_submodule(root: Path, *settings: tuple[str, str]) -> Path:
    """A repository inside, whose configuration is its own, and attributes that set off its
    filter."""
    inner = project(root / "inner")
    head = run(inner, "rev-parse", "HEAD")
    run(root, "update-index", "--add", "--cacheinfo", f"160000,{head},inner")
    (root / ".gitmodules").write_text(
        '[submodule "inner"]\n\tpath = inner\n\turl = ./inner\n\tignore = none\n'
    )
    run(root, "add", ".gitmodules")
    run(root, "commit", "-q", "-m", "With a submodule")
    configure(root, *settings)
    configure(
        inner,
        ("core.fsmonitor", f"{root}/harm.sh"),
        ("diff.external", f"{root}/harm.sh"),
        ("filter.evil.clean", f"{root}/harm.sh"),
        ("diff.evil.textconv", f"{root}/harm.sh"),
    )
    attributes(inner, "* filter=evil diff=evil\n")
    touched(inner)
    return inner


def submodule(root: Path) -> None:
    with_submodule(
        root,
        ("diff.submodule", "diff"),
        ("status.submoduleSummary", "true"),
        ("submodule.recurse", "true"),
        ("diff.ignoreSubmodules", "none"),
        ("submodule.inner.ignore", "none"),
        ("submodule.inner.active", "true"),
    )


def submodule_with_a_lazy_fetch(root: Path) -> None:
    inner = with_submodule(root, ("diff.submodule", "diff"))
    old = run(inner, "rev-parse", "HEAD~1")
    partial_clone(inner, ("remote.origin.url", f"ext::{root}/harm.sh"))
    run(root, "update-index", "--cacheinfo", f"160000,{old},inner")
    run(root, "commit", "-q", "-m", "An older one")


def plain(root: Path) -> None:
    (root / "e.sh").symlink_to("harm.sh")


READING = lines("git/reading.txt")
STARTING = lines("git/starting.txt")  # or writing: none of them only reads
OPENINGS = lines("git/opening.txt")


def configured(case: dict[str, Any]) -> Callable[[Path], None]:
    """Return what makes a repository hostile as a line of `repositories.jsonl` says; ROOT stands
    for its folder."""

    def build(root: Path) -> None:
        settings = [(name, value.replace("ROOT", str(root))) for name, value in case["config"]]
        if case.get("signed"):
            signed(root, "Signed")
        if case.get("partial"):
            partial_clone(root, *settings)
        else:
            configure(root, *settings)
        for path, text in case.get("files", {}).items():
            (root / path).write_text(text.replace("ROOT", str(root)))
        if "attributes" in case:
            attributes(root, case["attributes"])
        if case.get("touched"):
            touched(root)

    return build


def hostile_repositories() -> Iterator[tuple[str, Attack]]:
    listed = {"reading": READING, "starting": STARTING}
    for case in rows("git/repositories.jsonl"):
        commands = list[str]()
        for name in case["commands"]:
            commands += listed.get(name, [name])
        yield case["name"], Attack(configured(case), commands)


BOTH = [*READING, *STARTING]
ATTACKS = {
    **dict(hostile_repositories()),
    "hooks": Attack(hooks, BOTH),
    "alternate refs": Attack(alternate_refs, STARTING),
    "a submodule": Attack(submodule, BOTH),
    "a submodule with a missing blob": Attack(submodule_with_a_lazy_fetch, BOTH),
    "a pager of grep's": Attack(plain, OPENINGS),
}


def run_commands(root: Path, *commands: str) -> CommandText:
    """Every command in a skill's text, all of them carried out as far as they may be."""
    text = "\n".join(f"!`{command}`" for command in commands)
    return inject(text, root, ALL)


@pytest.mark.parametrize("name", ATTACKS)
def test_no_program_that_a_repository_names_is_run(tmp_path: Path, name: str) -> None:
    attack = ATTACKS[name]
    root = project(tmp_path / "p")
    attack.build(root)
    (root / "PWNED").unlink(missing_ok=True)
    for command in sample(attack.commands, 6):
        run_commands(root, command)
        assert not (root / "PWNED").exists(), command
    git.log(root, 5)
    git_status.git_status(root)
    git_status.commits_apart(root, run(root, "rev-parse", "v1"))
    with suppress(BadSource):  # a blob may be missing
        read_change("HEAD~1", root, bytes)
    assert not (root / "PWNED").exists()


WAITING = ("web--browse", "instaweb", "daemon", "credential", "clone", "send-email", "shell")


@pytest.mark.skipif(not AT_LENGTH, reason="looks at the attacks, not at what is attacked")
@pytest.mark.parametrize("name", ATTACKS)
def test_a_plain_git_falls_for_each_of_these_attacks(tmp_path: Path, name: str) -> None:
    attack = ATTACKS[name]
    root = project(tmp_path / "p")
    attack.build(root)
    (root / "PWNED").unlink(missing_ok=True)
    for command in attack.commands:
        words = shlex.split(command)
        if words[1:2] and words[1] in WAITING:
            continue
        with suppress(subprocess.TimeoutExpired):
            subprocess.run(
                words,
                cwd=root,
                stdin=subprocess.DEVNULL,
                capture_output=True,
                timeout=PATIENCE_SECONDS,
                check=False,
            )
        if (root / "PWNED").exists():
            return
    pytest.fail("no command set it off")


def test_a_skill_that_shows_a_partial_clone_of_a_strangers_starts_nothing(tmp_path: Path) -> None:
    root = project(tmp_path / "p")
    ATTACKS["a missing blob is fetched over ext"].build(root)
    (root / "PWNED").unlink(missing_ok=True)
    (root / "S.md").write_text("Changes:\n\n!`git log -p`\n\n!`git log --oneline`\n")
    (root / "foreword/recipes").mkdir(parents=True)
    recipe = "name: s\nsections:\n  now:\n    file: S.md\n    inject: true\n"
    (root / "foreword/recipes/s.yaml").write_text(recipe)
    package = assemble("s", root=root, budget=5_000, allow_commands=["git log"], save=False)
    assert "Commit 1" in package.text
    assert not (root / "PWNED").exists()


DISARMED = [
    "git log --pretty=mine",
    "git grep -e line -- -O./e.sh line",
    "git grep -e -- -O./e.sh -e line",
]


def test_what_does_more_than_read_is_refused_whoever_allows_it(tmp_path: Path) -> None:
    def is_refused(command: str) -> None:
        for allow in (("*",), (command,) if " " in command else ("*",)):
            (ran,) = inject(f"!`{command}`", tmp_path, Policy(allow=allow)).ran
            assert (ran.outcome == "not allowed") is (command not in DISARMED), ran
            assert ran.outcome != "ran"

    check_each([*STARTING, *OPENINGS], is_refused)


# --- writing --------------------------------------------------------------------------------------


def snapshot(root: Path) -> dict[str, bytes]:
    return {str(path): path.read_bytes() for path in root.rglob("*") if path.is_file()}


def test_no_command_writes_anything_anywhere_in_the_project(tmp_path: Path) -> None:
    root = project(tmp_path / "p")
    os.utime(root / "f.txt", (1, 1))
    before = snapshot(root)
    run_commands(root, *sample(lines("git/writing.txt"), 25))
    assert snapshot(root) == before


# --- reading elsewhere ----------------------------------------------------------------------------


def test_no_option_reads_a_file_outside_the_repository(tmp_path: Path) -> None:
    root = project(tmp_path / "p")
    secret = tmp_path / "secret.txt"
    secret.write_text(SECRET)
    commands = [
        command.format(secret=secret, folder=tmp_path) for command in lines("git/elsewhere.txt")
    ]
    done = run_commands(root, *sample(commands, 14))
    assert SECRET not in done.text.replace("\n", " ")
    assert not [ran for ran in done.ran if "horse battery" in ran.detail]
    assert "ran" not in {ran.outcome for ran in done.ran if "git grep horse" not in ran.command}


def neighbour(folder: Path) -> Path:
    """Another project of the user's, whose history is nobody's business."""
    folder.mkdir(parents=True)
    run(folder, "init", "-q", "-b", "main")
    (folder / "f.txt").write_text(f"{SECRET}\n")
    run(folder, "add", "f.txt")
    run(folder, "commit", "-q", "-m", SECRET)
    return folder


def as_a_file(root: Path, other: Path) -> None:
    (root / ".git").write_text(f"gitdir: {other}/.git\n")


def as_a_link(root: Path, other: Path) -> None:
    (root / ".git").symlink_to(other / ".git")


def as_a_bare_one(root: Path, other: Path) -> None:
    run(other, "config", "core.bare", "true")
    (other / ".git").rename(other / "x.git")
    (root / ".git").write_text(f"gitdir: {other}/x.git\n")


def as_one_of_its_submodules(root: Path, other: Path) -> None:
    """Kept under another name than `.git`: only its `core.worktree` says that it is not this
    folder's."""
    (other / ".git").rename(other / "modules")
    run(other, "--git-dir=modules", "config", "core.worktree", str(other))
    (root / ".git").write_text(f"gitdir: {other}/modules\n")


def as_a_common_folder(root: Path, other: Path) -> None:
    run(root, "init", "-q", "-b", "main")
    (root / ".git/commondir").write_text(f"{other}/.git\n")


def as_links_inside(root: Path, other: Path) -> None:
    (root / ".git").mkdir()
    for name in ("objects", "refs", "logs", "index"):
        (root / ".git" / name).symlink_to(other / ".git" / name)
    (root / ".git/HEAD").write_text("ref: refs/heads/main\n")
    (root / ".git/config").write_text("[core]\n\trepositoryformatversion = 0\n")


def as_a_link_of_one_branch(root: Path, other: Path) -> None:
    run(root, "init", "-q", "-b", "main")
    (root / ".git/refs/heads/main").symlink_to(other / ".git/refs/heads/main")
    (root / ".git/objects/info").mkdir(exist_ok=True)
    (root / ".git/objects/info/alternates").write_text(f"{other}/.git/objects\n")


def as_the_steps_of_a_rebase(root: Path, other: Path) -> None:
    run(root, "init", "-q", "-b", "main")
    run(root, "commit", "-q", "--allow-empty", "-m", "Mine")
    (root / ".git/rebase-merge").mkdir()
    (root / ".git/rebase-merge/interactive").touch()
    for name in ("done", "git-rebase-todo"):
        (root / ".git/rebase-merge" / name).symlink_to(other / "f.txt")


def as_a_work_tree_elsewhere(root: Path, other: Path) -> None:
    run(root, "init", "-q", "-b", "main")
    (root / "f.txt").write_text("mine\n")
    run(root, "add", "f.txt")
    run(root, "commit", "-q", "-m", "Mine")
    run(root, "config", "core.worktree", str(other))


@pytest.mark.parametrize(
    "lead",
    [
        as_a_file,
        as_a_link,
        as_a_bare_one,
        as_one_of_its_submodules,
        as_a_common_folder,
        as_links_inside,
        as_a_link_of_one_branch,
        as_the_steps_of_a_rebase,
        as_a_work_tree_elsewhere,
    ],
    ids=lambda lead: lead.__name__,
)
def test_a_repository_that_leads_to_a_neighbours_is_not_read(
    tmp_path: Path, lead: Callable[[Path, Path], None]
) -> None:
    other = neighbour(tmp_path / "other")
    root = tmp_path / "p"
    root.mkdir()
    lead(root, other)
    done = run_commands(
        root,
        "git log",
        "git show",
        "git diff",
        "git ls-files -s",
        "git grep horse",
        "git log -g",
        "git diff HEAD",
    )
    assert SECRET not in done.text
    assert SECRET not in str(git.log(root, 5))


# --- what ordinary projects need ------------------------------------------------------------------


def test_further_work_trees_submodules_and_repositories_kept_apart_are_read(tmp_path: Path) -> None:
    main = project(tmp_path / "main")
    run(main, "worktree", "add", "-q", str(tmp_path / "tree"), "-b", "side")
    run(
        main,
        "-c",
        "protocol.file.allow=always",
        "submodule",
        "--quiet",
        "add",
        str(tmp_path / "main"),
        "sub",
    )
    (tmp_path / "apart").mkdir()
    run(tmp_path / "apart", "init", "-q", f"--separate-git-dir={tmp_path}/apart.git")
    run(tmp_path / "apart", "commit", "-q", "--allow-empty", "-m", "Commit 1")
    run(tmp_path, "clone", "-q", "--bare", str(main), str(tmp_path / "bare"))
    for folder in (main, tmp_path / "tree", main / "sub", tmp_path / "apart", tmp_path / "bare"):
        assert run_commands(folder, "git log -1 --format=%s").text == "Commit 1", folder
    listed = run_commands(
        tmp_path / "tree", "git worktree list", "git rev-parse --git-common-dir --show-toplevel"
    ).text
    words = listed.split()
    assert words[0] == str(main)
    assert words[-2:] == [f"{main}/.git", str(tmp_path / "tree")]
    assert run_commands(main / "sub", "git status -s -b").text.startswith("## ")
    assert "sub" in run_commands(main, "git status --short").text


def test_links_that_people_make_in_a_repository_are_no_reason_to_refuse_it(tmp_path: Path) -> None:
    root = project(tmp_path / "p")
    (tmp_path / "mine").mkdir()
    (tmp_path / "mine/exclude").write_text("*.log\n")
    (tmp_path / "mine/config").write_text((root / ".git/config").read_text())
    for name in ("hooks", "info/exclude", "config"):
        place = root / ".git" / name
        if place.is_dir():
            shutil.rmtree(place)
        place.unlink(missing_ok=True)
        place.parent.mkdir(exist_ok=True)
        place.symlink_to(tmp_path / "mine" / place.name)
    assert run_commands(root, "git log -1 --format=%s").text == "Commit 1"


def test_what_real_skills_ask_git_for_works(tmp_path: Path) -> None:
    root = project(tmp_path / "p")
    run(root, "remote", "add", "origin", "https://example.org/x.git")
    touched(root)
    run(root, "stash", "-q")
    (root / "f.txt").write_text("line 3\n")
    (root / "sub").mkdir()
    commands = lines("git/ordinary.txt")
    done = run_commands(root, *commands)
    assert {ran.command: ran.detail for ran in done.ran if ran.outcome != "ran"} == {}
    assert "https://example.org/x.git" in done.text
    assert "stash@{0}: WIP on main" in done.text
    assert len(done.ran) == len(commands)


def test_time_and_output_are_limited_for_the_whole_of_a_guarded_command(tmp_path: Path) -> None:
    root = project(tmp_path / "p")
    limited = Policy(allow=("git log",), output_bytes=10)
    (ran,) = inject("!`git log`", root, limited).ran
    assert ran.outcome == "cut"
    (root / ".git/config").unlink()
    os.mkfifo(root / ".git/config")  # git waits for it before it runs anything
    (ran,) = inject("!`git log`", root, Policy(allow=("git log",), timeout_seconds=0.2)).ran
    assert ran.outcome == "timed out"
