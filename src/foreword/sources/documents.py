"""The documents of a project by kind: personas, panels, workflows, prompts, policies, schemas,
docs.

Which kinds there are and where they lie is the recipe's (`documents`, `within`). A document has one
kind, the first whose pattern has it, and a short name by which people and other documents call it.
What a text says about documents is read by `references`.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import product
from pathlib import Path, PurePosixPath

from foreword.pattern import lazy_pattern
from foreword.sources import files

SHARED_NAMES = frozenset(("instructions", "persona", "panel"))  # their folder says more
CONTENTS = frozenset(("index.md", "readme.md"))  # about the documents beside them, not one of them
_NOT_IN_NAMES = lazy_pattern(r"[^a-z0-9]+")


@dataclass(frozen=True, slots=True)
class Document:
    """One document: `path` is relative to the root."""

    kind: str
    name: str
    path: str


def ending_patterns(*endings: str) -> list[str]:
    """Patterns for files with these endings anywhere in a project, in folders such as `.planning`,
    too."""
    patterns = [f"**/*.{ending}" for ending in endings]
    return patterns + [f".*/{pattern}" for pattern in patterns]


def find_documents(
    root: Path,
    patterns_by_kind: Mapping[str, Sequence[str]],
    within: Sequence[str] = ("",),
    unread: list[files.Skip] | None = None,
) -> list[Document]:
    """Every document under the root, kind by kind in the order of the mapping, each once.

    Folders and links where some may be that could not be looked into are added to `unread`.
    """
    found = dict[str, Document]()
    listings = files.FolderListings(root.resolve())
    for kind, patterns in patterns_by_kind.items():
        for folder, pattern in product(within, patterns):
            place = f"{folder}/{pattern}" if folder else pattern
            for path in files.find(root, place, unread, listings):
                if kind != "doc" and path.rpartition("/")[2].lower() in CONTENTS:
                    continue
                inside = path.removeprefix(f"{folder}/") if folder else path
                found.setdefault(path, Document(kind, name_of(inside), path))
    return list(found.values())


def name_of(path: str) -> str:
    """What a document is called: its file's name, or its folder's where the file's says nothing."""
    # by hand: a project may have thousands, and taking paths apart would be most of the work
    parent, _, name = path.rstrip("/").rpartition("/")
    stem = name.split(".")[0] or PurePosixPath(name).stem
    folder = parent.rpartition("/")[2]
    return folder if folder and stem.lower() in SHARED_NAMES else stem


def find_document(
    documents: Iterable[Document], wanted: str, kind: str = "", near: str = ""
) -> Document | None:
    """The document that a name or a path means, the first where it means several."""
    found = find_namesakes(documents, wanted, kind, near)
    return found[0] if found else None


def find_namesakes(
    documents: Iterable[Document], wanted: str, kind: str, near: str = ""
) -> list[Document]:
    """The documents that a name or a path may mean: by path, from the root or from `near`, else by
    the end of its path, else by its name, in full or as its beginning (`feature` is
    feature-implementation). Those beside `near` are meant before others."""
    candidates = [document for document in documents if not kind or document.kind == kind]
    path = wanted.strip().removeprefix("./")
    places = _places(path, near)
    exact = [document for document in candidates if document.path in places]
    if exact:
        return exact[:1]
    if "/" in path:
        end = "/" + _without_suffix(path)
        found = [one for one in candidates if _without_suffix(one.path).endswith(end)]
        return _nearest(found, near)
    key = name_key(name_of(path))
    named = [document for document in candidates if name_key(document.name) == key]
    if named or not key:
        return _nearest(named, near)
    longer = [one for one in candidates if name_key(one.name).startswith(f"{key}-")]
    return _nearest(longer, near)


def is_called(document: Document, wanted: str) -> bool:
    """Whether a document is called so in full, by its path or by its name."""
    return "/" in wanted or same_name(document.name, name_of(wanted.strip()))


def same_name(name: str, other: str) -> bool:
    """Whether two names are one, whatever the case and what stands between their words."""
    return bool(name_key(name)) and name_key(name) == name_key(other)


def _nearest(documents: list[Document], near: str) -> list[Document]:
    folder = PurePosixPath(near).parent
    beside = [one for one in documents if near and PurePosixPath(one.path).parent == folder]
    return beside or documents


def _places(path: str, near: str) -> list[str]:
    """Where a path may lead: from the root, and from the file that names it."""
    places = [path]
    if near:
        places.append(_join_path(PurePosixPath(near).parent.as_posix(), path))
    return places


def _join_path(folder: str, path: str) -> str:
    """A relative path from a folder, with its dots taken out; outside of the root it is nothing."""
    parts = list[str]()
    for part in PurePosixPath(folder, path).parts:
        if part == "..":
            if not parts:
                return ""
            parts.pop()
        elif part != ".":
            parts.append(part)
    return "/".join(parts)


def _without_suffix(path: str) -> str:
    return path.removesuffix(".md").lower()


def name_key(name: str) -> str:
    """A name whatever its case and whatever stands between its words."""
    return _NOT_IN_NAMES.sub("-", name.lower()).strip("-")


def path_in_folders(root: Path, path: str, within: Sequence[str]) -> str:
    """Where a file is that may lie in any of these folders; as it is where it is in none. YAML may
    be called `.yml`, too."""
    names = [path, f"{path[:-5]}.yml"] if path.endswith(".yaml") else [path]
    for folder in within:
        for name in names:
            place = f"{folder}/{name}" if folder else name
            if is_there(root, place):
                return place
    return path


def is_there(root: Path, path: str, near: str = "") -> bool:
    """Whether a referenced file exists, from the root or from the file that names it."""
    base = root.resolve()
    return any(place and _is_file(base, place) for place in _places(path, near))


def _is_file(base: Path, path: str) -> bool:
    try:
        real = (base / path).resolve()
        return real.is_relative_to(base) and real.is_file()
    except (OSError, ValueError, RuntimeError):
        return False
