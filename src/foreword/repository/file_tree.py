"""The files of a checkout that may be read for a task, and those that are passed over.

Obeys every `.gitignore` from the top of the repository down, with git or without. Goes through no
symbolic link, and leaves out what tools make: dependencies, builds, minified and generated files.
What a file says is for `index`.
"""

from __future__ import annotations

import os
from collections import Counter
from dataclasses import dataclass, field
from functools import lru_cache
from itertools import islice
from pathlib import Path
from typing import NamedTuple

from foreword import regular_file
from foreword.regular_file import Unusable
from foreword.repository.ignore_rules import FILE_NAME, IgnoreRules, rules_in
from foreword.text.content_type import type_of_name

# Files of one checkout that are looked at. Linux has 80,000; a listing of 100,000 takes 2 s.
MOST_FILES = 50_000
MOST_FOLDERS = 20_000  # the same: a bound on the walk, whatever is in them
DEEPEST = 40  # folders below each other
LARGEST_BYTES = 1_000_000  # of a file: the largest written by hand among ten projects has 450 KB
_LARGEST_DATA = 60_000  # of a file of data or a page, which says little for its size
_RULES_BYTES = (
    200_000  # of a `.gitignore`: the longest of the collections of templates has 500 lines
)

TOOL_FOLDERS = frozenset(
    ".git .hg .svn .bzr .foreword .venv venv .tox .nox .mypy_cache .pytest_cache .ruff_cache"
    " __pycache__ node_modules bower_components site-packages .eggs .idea .vscode .gradle .next"
    " .nuxt .terraform".split()
)
VENDORED = frozenset("vendor vendored _vendor third_party third-party thirdparty extern".split())
_SHOWN_HIDDEN = frozenset((".github", ".gitlab", ".circleci"))
_DATA = frozenset(("json", "yaml", "markup", "settings"))
_NOT_READ = frozenset(("table", "log", "diff"))
_OF_TOOLS = "of a tool"  # with hidden files not worth a word: every checkout has some
_HIDDEN = "hidden by its name"
# by the ends of their names, as protocol compilers, bundlers and package managers give them
_MADE_BY_TOOLS = tuple(
    ".min.js .min.css .lock .map .svg .ipynb -lock.json _pb2.py _pb2_grpc.py .pb.go .pb.cc .pb.h"
    " _generated.py _generated.go _generated.rs .generated.ts .generated.js .g.dart".split()
)


class TreeFile(NamedTuple):
    """A file that may be read: its path from the root, its language, and what tells whether it
    has changed."""

    path: str
    language: str
    size: int
    stamp: int  # nanoseconds


@dataclass(slots=True)
class FileTree:
    """What is in a checkout."""

    files: list[TreeFile] = field(default_factory=list)
    passed_over: Counter[str] = field(default_factory=Counter)  # files or folders, by the reason
    is_whole: bool = True


def read_tree(root: Path) -> FileTree:
    """The files below a root."""
    base = root.resolve()
    walk = _Walk(base)
    walk.run(_rules_above(base))
    walk.tree.files.sort(key=lambda file: file.path)
    return walk.tree


def reason_passed_over(root: Path, path: str) -> str:
    """Why a file, or a folder above it, is passed over; nothing where it is not."""
    base = root.resolve()
    walk = _Walk(base)
    walk.run(_rules_above(base))
    names = path.split("/")
    for length in range(1, len(names) + 1):
        reason = walk.reasons.get("/".join(names[:length]))
        if reason:
            return reason
    return ""


@dataclass(slots=True)
class _Walk:
    """One walk over a checkout."""

    base: Path
    tree: FileTree = field(default_factory=FileTree)
    reasons: dict[str, str] = field(default_factory=dict)  # of what is passed over, by its path
    folders: int = 0

    def run(self, above: list[tuple[str, IgnoreRules]]) -> None:
        waiting = [("", 0, above)]
        while waiting:
            folder, depth, rules = waiting.pop()
            self.folders += 1
            if self.folders > MOST_FOLDERS or len(self.tree.files) >= MOST_FILES:
                self.tree.is_whole = False
                break
            entries = self._entries(folder)
            if any(entry.name == FILE_NAME for entry in entries):
                rules = _with_rules_of(self.base, folder, rules)
            for entry in entries:
                path = f"{folder}/{entry.name}" if folder else entry.name
                is_folder = entry.is_dir(follow_symlinks=False)
                reason = _reason_by_kind(entry, is_folder=is_folder)
                if not reason and rules and _is_hidden(path, rules, is_folder=is_folder):
                    reason = "hidden by .gitignore"
                if reason:
                    self.reasons[path] = reason
                elif not is_folder:
                    self._add(path, entry)
                elif depth < DEEPEST:
                    waiting.append((path, depth + 1, rules))
        counts = Counter(self.reasons.values())
        del counts[_OF_TOOLS], counts[_HIDDEN]
        self.tree.passed_over = counts

    def _entries(self, folder: str) -> list[os.DirEntry[str]]:
        try:
            with os.scandir(f"{self.base}/{folder}") as entries:
                return list(islice(entries, MOST_FILES))
        except OSError:
            self.reasons[folder] = "unreadable"
            return []

    def _add(self, path: str, entry: os.DirEntry[str]) -> None:
        language = _language(entry.name)
        if not language or language in _NOT_READ:
            self.reasons[path] = "neither code nor prose"
            return
        if path.endswith(_MADE_BY_TOOLS):
            self.reasons[path] = "made by a tool"
            return
        try:
            state = entry.stat(follow_symlinks=False)
        except OSError:
            self.reasons[path] = "unreadable"
            return
        if state.st_size > (_LARGEST_DATA if language in _DATA else LARGEST_BYTES):
            self.reasons[path] = "too large"
            return
        self.tree.files.append(
            TreeFile(path=path, language=language, size=state.st_size, stamp=state.st_mtime_ns)
        )


def _language(name: str) -> str:
    """What a file is by its name; the end of it is looked up once."""
    dot = name.rfind(".")
    return _language_of_end(name[dot:] if dot > 0 else name)


_language_of_end = lru_cache(maxsize=10_000)(type_of_name)


def _reason_by_kind(entry: os.DirEntry[str], *, is_folder: bool) -> str:
    """Why something is passed over whatever is in it, by its name and kind."""
    name = entry.name
    if is_folder and name in TOOL_FOLDERS:
        return _OF_TOOLS
    if is_folder and name in VENDORED:
        return "vendored"
    if name[0] == "." and name not in _SHOWN_HIDDEN:
        return _HIDDEN
    if not name.isprintable():
        return "with a name that is no text"
    if is_folder or entry.is_file(follow_symlinks=False):
        return ""
    return "a symbolic link" if entry.is_symlink() else "not a regular file"


def _is_hidden(path: str, rules: list[tuple[str, IgnoreRules]], *, is_folder: bool) -> bool:
    """Whether the nearest file of rules that says something about a path hides it."""
    for prefix, here in reversed(rules):
        # "^" marks those of a folder above the root: the root is below that one
        inside = f"{prefix[1:]}{path}" if prefix.startswith("^") else path[len(prefix) :]
        decision = here.decision(inside, is_folder=is_folder)
        if decision is not None:
            return decision
    return False


def _with_rules_of(
    base: Path, folder: str, rules: list[tuple[str, IgnoreRules]]
) -> list[tuple[str, IgnoreRules]]:
    here = _rules_of(base, folder)
    if not here:
        return rules
    return [*rules, (f"{folder}/" if folder else "", here)]


def _rules_of(base: Path, folder: str) -> IgnoreRules | None:
    parts = (*folder.split("/"), FILE_NAME) if folder else (FILE_NAME,)
    try:
        raw = regular_file.read_parts(base, parts, _RULES_BYTES)
    except Unusable:
        return None
    return rules_in(raw.decode("utf-8", "replace"))


def _rules_above(base: Path) -> list[tuple[str, IgnoreRules]]:
    """The rules of the repository that the root is a part of, the outermost first: those of the
    folders above it, and those that git keeps beside its objects."""
    top = next((folder for folder in (base, *base.parents) if (folder / ".git").exists()), None)
    if top is None:
        return []
    found: list[tuple[str, IgnoreRules]] = []
    above = base.relative_to(top).parts
    try:
        raw = regular_file.read_parts(top, (".git", "info", "exclude"), _RULES_BYTES)
        beside_objects = rules_in(raw.decode("utf-8", "replace"))
        if beside_objects:  # git leaves a file of comments there
            found.append((_mark(above), beside_objects))
    except Unusable:
        pass
    for depth in range(len(above)):
        rules = _rules_of(top, "/".join(above[:depth]))
        if rules:
            found.append((_mark(above[depth:]), rules))
    return found


def _mark(names: tuple[str, ...]) -> str:
    """The way from a folder above the root to the root, as a prefix for paths."""
    return "^" + "".join([f"{name}/" for name in names])
