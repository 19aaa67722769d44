"""Run git in a project whose repository nobody has read: the only way in which this package does.

Only what `git_options` knows is run. Git then sees a configuration of ours in place of the
repository's, the user's and the system's, so that nothing there can name a program: no filter,
hook, pager, alias, external diff, signature program, file system monitor or remote to fetch missing
objects from. It finds no program by name either, not even itself, so it can't go into a submodule,
whose configuration is its own. Time and output are limited by `process`.
"""

from __future__ import annotations

import os
import re
import shutil
import tempfile
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from foreword.pattern import lazy_pattern
from foreword.sources import process
from foreword.sources.git_options import GitCommand, parse_git_command

_NEVER = os.devnull  # as a program: it can't be started
_SETTINGS_BYTES = 8 * 1024 * 1024  # 20,000 branches with their remotes are 3 MB
_LONGEST_POINTER = 4096  # bytes of a `.git` file, which holds one path
# `none` is no protocol, so none is allowed; a git before 2.44 does not know the last one
_NO_NETWORK = {
    "LC_ALL": "C.UTF-8",
    "GIT_ALLOW_PROTOCOL": "none",
    "GIT_NO_LAZY_FETCH": "1",
}
_NO_SETTINGS = {
    "GIT_CONFIG_COUNT": "0",
    "GIT_CONFIG_GLOBAL": os.devnull,
    "GIT_CONFIG_SYSTEM": os.devnull,
    "GIT_CONFIG_NOSYSTEM": "1",
}
_SETTINGS = [
    ("core.hooksPath", _NEVER),
    ("core.fsmonitor", "false"),
    ("core.pager", "cat"),
    ("diff.autoRefreshIndex", "false"),
    ("diff.ignoreSubmodules", "dirty"),
    ("gpg.program", _NEVER),
    ("gpg.openpgp.program", _NEVER),
    ("gpg.ssh.program", _NEVER),
    ("gpg.x509.program", _NEVER),
    ("i18n.logOutputEncoding", "UTF-8"),
    ("log.mailmap", "false"),
    ("log.showSignature", "false"),
    ("protocol.allow", "never"),
    ("submodule.recurse", "false"),
]
_SETTINGS_WANTED = r"^(core|extensions|i18n|remote|branch|user)\."
# What decides how files and commits are read, and what `git remote -v` and `git status -b` tell.
# None of it is run.
_PROJECT_SETTINGS = lazy_pattern(
    r"core\.(repositoryformatversion|filemode|ignorecase|symlinks|precomposeunicode|autocrlf|eol"
    r"|quotepath|abbrev|checkstat|trustctime|protecthfs|protectntfs"
    r"|sparsecheckout|sparsecheckoutcone)"
    r"|extensions\.(objectformat|compatobjectformat|refstorage)"
    r"|i18n\.commitencoding"
    r"|user\.(name|email)"
    r"|remote\..+\.(url|pushurl|fetch)"
    r"|branch\..+\.(remote|merge)",
    re.DOTALL,
)
_USER_SETTINGS = lazy_pattern(  # with two paths; a project's could name any file
    r"core\.(excludesfile|attributesfile|autocrlf|eol|quotepath|abbrev|precomposeunicode)"
    r"|user\.(name|email)"
)
_SETTINGS_BY_SCOPE = {
    "local": _PROJECT_SETTINGS,
    "worktree": _PROJECT_SETTINGS,
    "global": _USER_SETTINGS,
    "system": _USER_SETTINGS,
}
# the parts of a repository that git sees as they are
_SHARED = (
    "HEAD",
    "objects",
    "refs",
    "packed-refs",
    "reftable",
    "logs",
    "info",
    "shallow",
    "worktrees",
)
# parts whose links don't matter, as git is not shown them; and those it walks through
_NOT_READ = ("hooks", "config", "description", "modules", "lfs", "annex", "branches", "remotes")
_READ = ("refs", "logs", "reftable", "worktrees", "rebase-merge", "rebase-apply", "sequencer")
_FAILED = 128  # git's own exit code where it can't go on


@dataclass(frozen=True, slots=True)
class _Repository:
    """Where a repository keeps things; `top` is its work tree, None where it has none."""

    git_dir: Path
    common: Path
    top: Path | None


@dataclass(frozen=True, slots=True)
class _Setting:
    """One setting as git reads it, and whether it is the project's or the user's."""

    scope: str
    name: str
    value: str


@dataclass(frozen=True, slots=True)
class _GitCall:
    """What one command may cost, and what runs it: each question to git shares its time."""

    git: str
    folder: Path
    deadline: float
    nothing: Path  # an empty folder, in which no program is found

    def run(self, words: Sequence[str], output_bytes: int, **variables: str) -> process.Output:
        return process.run(
            [self.git, *words],
            self.folder,
            timeout_seconds=max(0.0, self.deadline - time.monotonic()),
            output_bytes=output_bytes,
            starts_others=False,
            **{
                "PATH": str(self.nothing),
                "GIT_EXEC_PATH": str(self.nothing),
                **_NO_NETWORK,
                **variables,
            },
        )


def refusal(words: Sequence[str], root: Path) -> str:
    """Why the words behind `git` are not run in a root; empty where they are."""
    command = parse_git_command(words)
    if isinstance(command, str):
        return command
    if _folder(command, root) is None:
        return f"git -C {' '.join(command.folders)} leads outside the root"
    return ""


def is_installed() -> bool:
    """Whether there is a git to run."""
    return _program("git") is not None


def run(
    words: Sequence[str],
    root: Path,
    *,
    timeout_seconds: float,
    output_bytes: int,
    program: str = "git",
) -> process.Output:
    """Run git with these words; `ValueError` where they are refused, `OSError` where there is no
    git."""
    command = parse_git_command(words)
    folder = None if isinstance(command, str) else _folder(command, root)
    if isinstance(command, str) or folder is None:
        raise ValueError(refusal(words, root))
    git = _program(program)
    if git is None:
        raise FileNotFoundError(f"{program} is not installed")
    with tempfile.TemporaryDirectory(prefix="foreword-git-") as folder_name:
        scratch = Path(folder_name).resolve()
        nothing = scratch / "nothing"
        nothing.mkdir()
        call = _GitCall(git, folder, deadline=time.monotonic() + timeout_seconds, nothing=nothing)
        if command.verb == "version":
            return call.run(command.words, output_bytes, **_NO_SETTINGS)
        return _run_in_repository(command, call, scratch, output_bytes)


def failure_reason(complaint: str) -> str:
    """That git failed and why, by the first line of what it wrote to standard error."""
    for line in complaint.splitlines():
        if line.strip():
            return f"git failed: {line.strip().removeprefix('fatal: ')}"
    return "git failed: no reason given"


def _run_in_repository(
    command: GitCommand, call: _GitCall, scratch: Path, output_bytes: int
) -> process.Output:
    """Ask git where the repository is and what is set there, then run the command with what may
    be kept of it."""
    places = call.run(["rev-parse", "--absolute-git-dir", "--git-common-dir"], _SETTINGS_BYTES)
    if not _is_success(places):
        return places
    listed = call.run(
        ["config", "--null", "--show-scope", "--no-includes", "--get-regexp", _SETTINGS_WANTED],
        _SETTINGS_BYTES,
    )
    # 1 and nothing: there is none
    if not _is_success(listed) and (listed.exit_code, listed.stdout) != (1, b""):
        return listed
    settings = list(_settings(listed.stdout.decode("utf-8", "surrogateescape")))
    repository = _repository(places.stdout, call.folder)
    if repository is None:
        return _failure("the name of the repository's folder has a line break in it")
    reason = _foreign_reason(repository, settings)
    reason = reason or _outside_work_tree(command, call.folder, repository.top)
    if reason:
        return _failure(reason)
    common = scratch / repository.common.name
    _lay_out(common, repository.common, settings)
    variables = _repository_variables(command, repository, common, scratch)
    output = call.run(command.words, output_bytes, **_NO_SETTINGS, **variables)
    # a path that git tells is the repository's, not that of our copy
    ours = os.fsencode(scratch)
    theirs = os.fsencode(repository.common.parent)
    return replace(
        output,
        stdout=output.stdout.replace(ours, theirs),
        stderr=output.stderr.replace(ours, theirs),
    )


def _repository_variables(
    command: GitCommand, repository: _Repository, common: Path, scratch: Path
) -> dict[str, str]:
    """The variables that tell git where everything is; `common` is our copy without settings."""
    variables = {"GIT_DIR": str(repository.git_dir), "GIT_COMMON_DIR": str(common)}
    if repository.top:
        variables["GIT_WORK_TREE"] = str(repository.top)
    else:
        variables["GIT_IMPLICIT_WORK_TREE"] = "0"
    index = repository.git_dir / "index"
    if command.verb == "describe" and index.is_file():
        # With --dirty it writes down what it saw of the files, whatever GIT_OPTIONAL_LOCKS says:
        # not in the project.
        variables["GIT_INDEX_FILE"] = str(shutil.copyfile(index, scratch / "index"))
    return variables


def _program(name: str) -> str | None:
    return shutil.which(name, path=process.environment()["PATH"])


def _folder(command: GitCommand, root: Path) -> Path | None:
    """Where a command runs: the root, or a folder in it that its `-C` names."""
    if not command.folders:
        return root
    folder = root.joinpath(*command.folders).resolve()
    return folder if folder.is_relative_to(root.resolve()) else None


def _is_success(output: process.Output) -> bool:
    return not (output.exit_code or output.timed_out or output.cut)


def _failure(reason: str) -> process.Output:
    return process.Output(
        stdout=b"", stderr=f"fatal: {reason}\n".encode(errors="replace"), exit_code=_FAILED
    )


def _settings(listed: str) -> Iterator[_Setting]:
    """What `git config --null --show-scope` told: a scope, then a name with its value on the
    next line."""
    fields = listed.split("\0")
    for scope, entry in zip(fields[::2], fields[1::2], strict=False):
        name, line_break, value = entry.partition("\n")
        yield _Setting(scope, name, value if line_break else "true")


# --- where it is ----------------------------------------------------------------------------------


def _repository(output: bytes, folder: Path) -> _Repository | None:
    lines = os.fsdecode(output).splitlines()
    if len(lines) != 2:
        return None
    git_dir, common = ((folder / line).resolve() for line in lines)
    here = folder.resolve()
    for place in (here, *here.parents):
        if _git_dir_of(place) == git_dir:
            return _Repository(git_dir, common, place)
    return _Repository(git_dir, common, None)


def _git_dir_of(folder: Path) -> Path | None:
    """The repository that a folder's `.git` is, or leads to."""
    dot = folder / ".git"
    if not dot.is_file():
        return dot.resolve() if dot.is_dir() else None
    with dot.open("rb") as file:
        text = os.fsdecode(file.read(_LONGEST_POINTER)).strip()
    return (folder / text.removeprefix("gitdir:").strip()).resolve()


def _foreign_reason(repository: _Repository, settings: Sequence[_Setting]) -> str:
    """Why a repository is not this folder's own, though its `.git` leads there: another
    project's is not to be read."""
    git_dir = repository.git_dir
    common = repository.common
    top = repository.top
    is_work_tree = common == git_dir.parent.parent and git_dir.parent.name == "worktrees"
    if common != git_dir and not is_work_tree:
        return f"{git_dir} leads to {common}, of which it is no work tree"
    for place in {git_dir, common}:
        for link in _links(place):
            target = link.resolve()
            is_inside = target.is_relative_to(place) or (top and target.is_relative_to(top))
            if not is_inside:
                return f"{link} leads out of the repository"
    if top is None or git_dir.is_relative_to(top) or _is_work_tree_of(top, git_dir, settings):
        return ""
    return f"{top / '.git'} leads to {git_dir}, which is not this folder's"


def _is_work_tree_of(top: Path, git_dir: Path, settings: Sequence[_Setting]) -> bool:
    """Whether a repository that lies elsewhere says that this is its work tree, or was made to
    lie apart (`git init --separate-git-dir`) and says nothing."""
    own = dict[str, str]()
    for setting in settings:
        if setting.scope in ("local", "worktree"):
            own[setting.name] = setting.value
    work_tree = _work_tree(git_dir, own.get("core.worktree"))
    if work_tree is None:
        return git_dir.name != ".git" and own.get("core.bare") != "true"
    return work_tree == top


def _links(place: Path) -> Iterator[Path]:
    """The symbolic links among what git reads and tells of in a repository's folder.

    Objects are left out: whoever can't reach the names of another repository's can't ask for them.
    """
    for entry in place.iterdir():
        if entry.is_symlink() and entry.name not in _NOT_READ:
            yield entry
    for name in _READ:
        for folder, folders, files in os.walk(place / name):
            for entry_name in (*folders, *files):
                path = Path(folder, entry_name)
                if path.is_symlink():
                    yield path


def _work_tree(git_dir: Path, setting: str | None) -> Path | None:
    """The work tree that a repository itself names, as that of a submodule and a further work
    tree do."""
    back = git_dir / "gitdir"
    if back.is_file():
        with back.open("rb") as file:
            return (git_dir / os.fsdecode(file.read(_LONGEST_POINTER)).strip()).resolve().parent
    return None if setting is None else (git_dir / setting).resolve()


def _outside_work_tree(command: GitCommand, folder: Path, top: Path | None) -> str:
    """The path of a `git diff` that is no path of the repository: with one, git compares any two
    files there are."""
    if command.verb != "diff":
        return ""
    top = top or folder.resolve()
    for word in command.words[1:]:
        path = os.path.normpath(folder.resolve() / word)
        if not word.startswith("-") and not Path(path).is_relative_to(top):
            return f"{word} is outside the repository"
    return ""


# --- what it sees ---------------------------------------------------------------------------------


def _lay_out(place: Path, common: Path, settings: Sequence[_Setting]) -> None:
    """Make a folder that is the repository's but for its configuration, hooks and remotes."""
    place.mkdir()
    for name in _SHARED:
        if (common / name).exists():
            (place / name).symlink_to(common / name)
    lines = [_line(setting.name, setting.value) for setting in settings if _is_harmless(setting)]
    lines += [_line(name, value) for name, value in _SETTINGS]
    (place / "config").write_bytes("".join(lines).encode("utf-8", "surrogateescape"))


def _is_harmless(setting: _Setting) -> bool:
    names = _SETTINGS_BY_SCOPE.get(setting.scope)
    return names is not None and names.fullmatch(setting.name) is not None


def _line(name: str, value: str) -> str:
    """A setting as a configuration file has it."""
    section, _, rest = name.partition(".")
    subsection, dot, key = rest.rpartition(".")
    heading = f'{section} "{_escape_quotes(subsection)}"' if dot else section
    written = _escape_quotes(value).replace("\n", "\\n").replace("\t", "\\t").replace("\b", "\\b")
    return f'[{heading}]\n\t{key} = "{written}"\n'


def _escape_quotes(text: str) -> str:
    return text.replace("\\", "\\\\").replace('"', '\\"')
