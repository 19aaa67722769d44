"""Find the inputs nobody gave: the step a task belongs to, the step a state file names, the next
pending task.

Reads folders and files through `files`; what to look for is the recipe's (`locate`). It never
guesses silently: each answer comes with a note where it is not the plain one.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from fnmatch import fnmatch
from pathlib import Path, PurePosixPath
from typing import Protocol

from foreword.sources import files
from foreword.text import markdown

NUMBERED = re.compile(r"^(?:(?:goal|step|task|phase)\s+)?(?:(\d+)\b)?\s*")


class NameField(Protocol):
    """A field of a file that names the place."""

    @property
    def file(self) -> str: ...
    @property
    def field(self) -> str: ...
    @property
    def within(self) -> str | None: ...


@dataclass(frozen=True, slots=True)
class LocatedName:
    """Where something is, relative to the root, or why it is nowhere; and a note for the report."""

    path: str = ""
    note: str = ""


def nearest_above(root: Path, path: str, filename: str) -> LocatedName:
    """The nearest folder above a file that holds a file of that name."""
    for folder in PurePosixPath(path).parents:
        if isinstance(files.read(root, str(folder / filename)), files.File):
            return LocatedName(str(folder))
    return LocatedName(note=f"no {filename} in any folder above {path}")


def first_pending(
    root: Path, pattern: str, named_in: NameField | None, leave_out: Sequence[str]
) -> LocatedName:
    """The file a state file names, else the first that matches, of those that do not count as
    done."""
    pending = pending_in(root, pattern, leave_out)
    if not pending:
        return LocatedName(note=f"nothing pending matches {pattern}")
    state = files.read(root, named_in.file) if named_in else None
    wanted = (
        field_of(state.text, named_in.field) if named_in and isinstance(state, files.File) else ""
    )
    return LocatedName(
        next(
            (path for path in pending if wanted and _goes_by(_names_of(root, path), wanted)),
            pending[0],
        )
    )


def _names_of(root: Path, path: str) -> list[str]:
    read = files.read(root, path)
    return [
        PurePosixPath(path).stem,
        markdown.first_title(read.text) if isinstance(read, files.File) else "",
    ]


def pending_in(root: Path, pattern: str, leave_out: Sequence[str]) -> list[str]:
    """Files that match and do not count as done, in natural order."""
    return [
        path
        for path in files.find(root, pattern)
        if not any(fnmatch(PurePosixPath(path).name, done) for done in leave_out)
    ]


def current_folder(
    root: Path, among: str, named_in: NameField | None, pending: str, leave_out: Sequence[str]
) -> LocatedName:
    """The folder a state file names, or the next one that still has something pending."""
    folders = [str(PurePosixPath(path).parent) for path in files.find(root, among)]
    if not folders:
        return LocatedName(note=f"nothing matches {among}")
    named = _named(root, folders, PurePosixPath(among).name, named_in) if named_in else ""
    later = folders[folders.index(named) :] if named else folders
    for folder in later:
        if not pending or pending_in(root, f"{folder}/{pending}", leave_out):
            return LocatedName(folder, _how(named, folder, named_in))
    return LocatedName(named or folders[-1], f"nothing is pending in {named or among}")


def _how(named: str, folder: str, named_in: NameField | None) -> str:
    if named_in is None or folder == named:
        return ""
    if named:
        return f"{named} has nothing pending; took the next that has: {folder}"
    return (
        f"{named_in.file} names no folder we know; took the first that has something pending:"
        f" {folder}"
    )


def _named(root: Path, folders: Sequence[str], filename: str, named_in: NameField) -> str:
    state = files.read(root, named_in.file)
    if isinstance(state, files.Skip):
        return ""
    inside = list(folders)
    if named_in.within and (parent := field_of(state.text, named_in.within)):
        parents = {folder: str(PurePosixPath(folder).parent) for folder in folders}
        chosen = {above for above in parents.values() if _is_called(root, above, parent)}
        inside = [folder for folder in folders if parents[folder] in chosen] or inside
    wanted = field_of(state.text, named_in.field)
    return next(
        (folder for folder in inside if wanted and _is_called(root, folder, wanted, filename)), ""
    )


def field_of(text: str, name: str) -> str:
    """The value of a line such as `**Current step:** PDF generation`."""
    for line in text.split("\n"):
        found = re.match(rf"\W*{re.escape(name)}[^\w:]*:(.*)", line, re.IGNORECASE | re.DOTALL)
        words = list(re.finditer(r"\w+", found[1])) if found else []
        if found and words:
            return found[1][words[0].start() : words[-1].end()]
    return ""


def _is_called(root: Path, folder: str, wanted: str, filename: str = "") -> bool:
    """Whether a folder goes by that name: its own, its document's title, or its number."""
    documents = [f"{folder}/{filename}"] if filename else files.find(root, f"{folder}/*.md")
    titles = [name for document in documents for name in _names_of(root, document)[1:]]
    return _goes_by([PurePosixPath(folder).name, *titles], wanted)


def _goes_by(names: Sequence[str], wanted: str) -> bool:
    number, words = _number_and_words(wanted)
    return any(
        (words and words == w) or (not words and number and number == n)
        for n, w in map(_number_and_words, names)
    )


def _number_and_words(name: str) -> tuple[str, str]:
    bare = re.sub(r"[\W_]+", " ", name).strip().lower()
    found = NUMBERED.match(bare)
    number = found[1] if found else None
    return (number.lstrip("0") or "0") if number else "", bare[found.end() :] if found else bare
