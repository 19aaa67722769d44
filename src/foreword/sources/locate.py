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

from foreword.pattern import lazy_pattern
from foreword.sources import files
from foreword.text import markdown
from foreword.text.blank_template import is_unfilled_task
from foreword.text.ticked_items import DONE_WORDS, done_names

NUMBERED = lazy_pattern(r"^(?:(?:goal|step|task|phase)\s+)?(?:(\d+)\b)?\s*")
# A name that is a number alone may count anything; `Task 2` is the second task.
_NAME = lazy_pattern(r"[^\W\d_]", re.IGNORECASE)
_OTHER_NUMBER = lazy_pattern(r"\s*(?:goal|step|phase)\s+\d+\s*", re.IGNORECASE)
_LINK = lazy_pattern(r"\[([^\]\n]*)\]\([^)\n]*\)")


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
    root: Path,
    pattern: str,
    *,
    named_in: NameField | None,
    leave_out: Sequence[str],
    ticked_in: str | None,
) -> LocatedName:
    """The file a state file names, else the first that somebody has filled in, of those that do
    not count as done."""
    pending = pending_in(root, pattern, leave_out, ticked_in)
    if not pending:
        return LocatedName(note=f"nothing pending matches {pattern}")
    wanted = ""
    if named_in is not None:
        state = files.read(root, named_in.file)
        if isinstance(state, files.File):
            wanted = field_of(state.text, named_in.field)
    if wanted:
        for path in pending:
            if _goes_by(_names_of(root, path), wanted):
                return LocatedName(path)
    for path in pending:
        if not _is_unfilled(root, path):
            passed_over = f"{pending[0]} is not filled in; took the next that is: {path}"
            return LocatedName(path, passed_over if path != pending[0] else "")
    return LocatedName(pending[0])


def _is_unfilled(root: Path, path: str) -> bool:
    file = files.read(root, path)
    return isinstance(file, files.Skip) or is_unfilled_task(file.text)


def _names_of(root: Path, path: str) -> list[str]:
    """What a file goes by: its own name, its title, and what stands behind a colon in that."""
    title = _title_of(root, path)
    names = [PurePosixPath(path).stem, title]
    _, colon, rest = title.partition(":")
    return [*names, rest] if colon else names


def _title_of(root: Path, path: str) -> str:
    file = files.read(root, path)
    return markdown.first_title(file.text) if isinstance(file, files.File) else ""


def pending_in(
    root: Path, pattern: str, leave_out: Sequence[str], ticked_in: str | None = None
) -> list[str]:
    """Files that match and do not count as done, in natural order."""
    ticked: dict[str, list[str]] = {}  # what is ticked off, by the folder of the files
    pending: list[str] = []
    for path in files.find(root, pattern):
        folder = str(PurePosixPath(path).parent)
        if ticked_in and folder not in ticked:
            ticked[folder] = _ticked_names(root, path, ticked_in)
        is_ticked = _is_named(root, path, ticked.get(folder, ()))
        if not is_ticked and not _is_done(root, path, leave_out):
            pending.append(path)
    return pending


def _ticked_names(root: Path, path: str, filename: str) -> list[str]:
    """What the nearest file of that name above a file ticks off."""
    above = nearest_above(root, path, filename)
    file = files.read(root, f"{above.path}/{filename}") if above.path else None
    if not isinstance(file, files.File):
        return []
    names = list[str]()
    for name in done_names(file.text):
        if _NAME.search(name) and not _OTHER_NUMBER.fullmatch(name):
            names.append(name)
    return names


def _is_named(root: Path, path: str, wanted: Sequence[str]) -> bool:
    """Whether one of the names is a file's, or leads to it."""
    if not wanted:
        return False
    names = _names_of(root, path)
    filename = PurePosixPath(path).name
    for name in wanted:
        if PurePosixPath(name).name == filename or _goes_by(names, name):
            return True
    return False


def _is_done(root: Path, path: str, leave_out: Sequence[str]) -> bool:
    """Whether a file's name says that it is done, or a line `**Status:** done` in it."""
    name = PurePosixPath(path).name
    if any(fnmatch(name, pattern) for pattern in leave_out):
        return True
    file = files.read(root, path)
    return isinstance(file, files.File) and field_of(file.text, "Status").lower() in DONE_WORDS


def current_folder(
    root: Path,
    among: str,
    *,
    named_in: NameField | None,
    pending: str,
    leave_out: Sequence[str],
    ticked_in: str | None = None,
) -> LocatedName:
    """The folder a state file names, or the next one that still has something pending."""
    folders = [str(PurePosixPath(path).parent) for path in files.find(root, among)]
    if not folders:
        return LocatedName(note=f"nothing matches {among}")
    named = ""
    if named_in is not None:
        named = _folder_from_state(root, folders, among, named_in)
    later = folders[folders.index(named) :] if named else folders
    for folder in later:
        if not pending or pending_in(root, f"{folder}/{pending}", leave_out, ticked_in):
            return LocatedName(folder, _choice_note(root, named, folder, named_in))
    return LocatedName(named or folders[-1], f"nothing is pending in {named or among}")


def _choice_note(root: Path, named: str, folder: str, named_in: NameField | None) -> str:
    """How a folder was found, where it is not the one that is named."""
    if named_in is None or folder == named:
        return ""
    if named:
        return f"{named} has nothing pending; took the next that has: {folder}"
    why = f"{named_in.file} names no folder we know"
    state = files.read(root, named_in.file)
    if isinstance(state, files.Skip):
        why = f"{named_in.file}: {state.reason}"
    return f"{why}; took the first that has something pending: {folder}"


def _folder_from_state(root: Path, folders: Sequence[str], among: str, named_in: NameField) -> str:
    """The folder that a field of the state file names, or nothing."""
    state = files.read(root, named_in.file)
    if isinstance(state, files.Skip):
        return ""
    inside: Sequence[str] = folders
    parent = field_of(state.text, named_in.within) if named_in.within else ""
    if parent:
        top = among.partition("*")[0].rstrip("/")
        inside = _folders_within(root, folders, parent, top=top) or folders
    wanted = field_of(state.text, named_in.field)
    if wanted:
        for folder in inside:
            if _is_called(root, folder, wanted, PurePosixPath(among).name):
                return folder
    return ""


def _folders_within(root: Path, folders: Sequence[str], wanted: str, *, top: str) -> list[str]:
    """The folders that lie in one of that name below the top."""
    called: dict[str, bool] = {}
    inside: list[str] = []
    for folder in folders:
        above = PurePosixPath(folder).parents
        parents = [str(parent) for parent in above if top in map(str, parent.parents)]
        for parent in parents:
            if parent not in called:
                called[parent] = _is_called(root, parent, wanted)
        if any(called[parent] for parent in parents):
            inside.append(folder)
    return inside


def field_of(text: str, name: str) -> str:
    """The value of a line such as `**Current step:** PDF generation`, or of such a row of a
    table; of a link its label."""
    for line in text.split("\n"):
        field = rf"\W*{re.escape(name)}[^\w:|]*(?::(.*)|\|([^|]*))"
        found = re.match(field, line, re.IGNORECASE | re.DOTALL)
        value = _LINK.sub(r"\1", found[1] or found[2] or "") if found else ""
        words = list(re.finditer(r"\w+", value))
        if words:
            return value[words[0].start() : words[-1].end()]
    return ""


def _is_called(root: Path, folder: str, wanted: str, filename: str = "") -> bool:
    """Whether a folder goes by that name: its own, its document's title, or its number."""
    if _goes_by([PurePosixPath(folder).name], wanted):
        return True
    documents = [f"{folder}/{filename}"] if filename else files.find(root, f"{folder}/*.md")
    titles = [_title_of(root, document) for document in documents]
    return _goes_by(titles, wanted)


def _goes_by(names: Sequence[str], wanted: str) -> bool:
    """Whether one of the names has the same words, or the same number where only that is given."""
    number, words = _number_and_words(wanted)
    for name in names:
        own_number, own_words = _number_and_words(name)
        if words:
            if words == own_words:
                return True
        elif number and number == own_number:
            return True
    return False


def _number_and_words(name: str) -> tuple[str, str]:
    """`Step 03: PDF export` as `3` and `pdf export`."""
    bare = re.sub(r"[\W_]+", " ", name).strip().lower()
    found = NUMBERED.match(bare)
    if found is None:
        return "", bare
    digits = found[1] or ""
    number = (digits.lstrip("0") or "0") if digits else ""
    return number, bare[found.end() :]
