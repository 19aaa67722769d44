"""The documents under check: found by the recipe, each read once, and looked up by name without a
search through all.

Neighbours: `sources.documents` finds and resolves, `sources.library` has the documents of one
project. Here a thousand of them name one another, so what was answered once is remembered.
"""

from __future__ import annotations

import posixpath
import re
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path

from foreword.recipe.schema import RecipeSpec
from foreword.sources import documents, files
from foreword.sources.documents import Document
from foreword.sources.front_matter import without_front_matter
from foreword.sources.library import Library
from foreword.text import marks
from foreword.tokens import Counter

AUTHORED = ("instructions", "guidance", "language", "workflow", "panel", "persona", "prompt")
# kinds that are written by agents; naming one that is not there is no mistake
COMES_AND_GOES = ("plan", "manifest")
LARGEST_CHARS = 1_000_000
MOST_BYTES = 4 * files.MOST_BYTES  # of all documents: each is held twice while a project is checked

_Asked = tuple[str, str, str]


@dataclass(kw_only=True)
class DocumentIndex:
    """One project while it is checked."""

    library: Library
    counter: Counter
    _allowance: files.Allowance = field(
        default_factory=lambda: files.Allowance(files=files.MOST_FOUND, bytes=MOST_BYTES)
    )
    _files: dict[str, files.File | files.Skip] = field(default_factory=dict)
    _meant: dict[_Asked, Document | None] = field(default_factory=dict)
    _there: dict[str, bool] = field(default_factory=dict)
    _placed: dict[str, str] = field(default_factory=dict)

    @property
    def root(self) -> Path:
        """The project's folder."""
        return self.library.root

    @property
    def recipe(self) -> RecipeSpec:
        """What says which documents there are and what holds for them."""
        return self.library.recipe

    @property
    def found(self) -> list[Document]:
        """Every document of the recipe's kinds."""
        return self.library.documents

    @cached_property
    def authored(self) -> list[Document]:
        """What people wrote for agents to read, in natural order."""
        mine = [document for document in self.found if document.kind in AUTHORED]
        return sorted(mine, key=lambda document: files.natural(document.path))

    def of_kind(self, kind: str) -> list[Document]:
        """The documents of one kind."""
        return [document for document in self.found if document.kind == kind]

    def file(self, path: str) -> files.File | files.Skip:
        """A file of the project, read once."""
        if path not in self._files:
            self._files[path] = self._allowance.read(self.root, path)
        return self._files[path]

    def placed(self, path: str) -> str:
        """Where a file of the project's own is, in whichever folder documents may lie."""
        if path not in self._placed:
            self._placed[path] = documents.path_in_folders(self.root, path, self.recipe.within)
        return self._placed[path]

    def text(self, path: str) -> str:
        """The text of a file, or nothing where it can't be read or is too large to be looked
        into."""
        file = self.file(path)
        return file.text if isinstance(file, files.File) and len(file.text) <= LARGEST_CHARS else ""

    def tokens(self, text: str) -> int:
        """What a model would read of a text: without front matter and without the loader's
        marks."""
        return self.counter.count(marks.plain(without_front_matter(text)).strip())

    # --- names ------------------------------------------------------------------------------------

    def meant(self, wanted: str, kind: str = "", near: str = "") -> Document | None:
        """The document that a name or a path means."""
        asked = (wanted, kind, posixpath.dirname(near))
        if asked not in self._meant:
            others = self._by_file.get(_stem(wanted), []) if "/" in wanted else self.found
            self._meant[asked] = documents.find_document(others, wanted, kind, near)
        return self._meant[asked]

    def namesakes(self, path: str) -> list[Document]:
        """The documents whose file has the same name."""
        return self._by_file.get(_stem(path), [])

    def is_there(self, path: str, near: str) -> bool:
        """Whether a file is where a document says it is: from the root, from the document, or
        from where the documents lie."""
        outer = [
            folder for folder in self.recipe.within if folder and path.startswith(f"{folder}/")
        ]
        return any(
            self._exists(place)
            for place in (path, beside(near, path), *(path[len(folder) + 1 :] for folder in outer))
        )

    def _exists(self, path: str) -> bool:
        if path not in self._there:
            self._there[path] = documents.is_there(self.root, path)
        return self._there[path]

    def could_be_one(self, path: str, near: str) -> bool:
        """Whether a document of the recipe's kinds could lie there."""
        place = beside(near, path) if path.startswith(("./", "../")) else path
        return any(pattern.fullmatch(place) for pattern in self._patterns)

    @cached_property
    def _patterns(self) -> list[re.Pattern[str]]:
        return [
            glob(posixpath.join(folder, pattern))
            for kind, patterns in self.recipe.documents.items()
            if kind not in COMES_AND_GOES
            for pattern in patterns
            for folder in self.recipe.within
        ]

    @cached_property
    def _by_file(self) -> dict[str, list[Document]]:
        found = dict[str, list[Document]]()
        for document in self.found:
            found.setdefault(_stem(document.path), []).append(document)
        return found


def beside(near: str, path: str) -> str:
    """A path as seen from a document, from the root."""
    return posixpath.normpath(posixpath.join(posixpath.dirname(near), path))


def glob(pattern: str) -> re.Pattern[str]:
    """A glob for whole paths: `**/` is any number of folders, `*` and `?` stay within a name."""
    parts = re.split(r"(\*\*/|\*\*|\*|\?)", pattern)
    known = {"**/": "(?:.*/)?", "**": ".*", "*": "[^/]*", "?": "[^/]"}
    return re.compile("".join(known.get(part) or re.escape(part) for part in parts), re.DOTALL)


def _stem(path: str) -> str:
    return posixpath.basename(path.strip()).lower().removesuffix(".md")
