"""The documents under check: found by the recipe, each read once, and looked up by name without a
search through all.

Neighbours: `sources.documents` finds and resolves, `sources.library` has the documents of one
project. Here a thousand of them name one another, so what was answered once is remembered.
"""

from __future__ import annotations

import posixpath
import re
from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path

from foreword.errors import AmbiguousName
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
# Of one document: 250,000 tokens fit no model's window beside anything else.
LARGEST_CHARS = 1_000_000
MOST_BYTES = 4 * files.MOST_BYTES  # of all documents: each is held twice while a project is checked

_Query = tuple[str, str, str]  # a name, a kind, the folder of the document that names it


@dataclass(kw_only=True)
class DocumentIndex:
    """One project while it is checked."""

    library: Library
    counter: Counter
    _allowance: files.Allowance = field(
        default_factory=lambda: files.Allowance(files=files.MOST_FOUND, bytes=MOST_BYTES)
    )
    _files: dict[str, files.File | files.Skip] = field(default_factory=dict)
    _found_by_query: dict[_Query, Sequence[Document]] = field(default_factory=dict)
    _existing: dict[str, bool] = field(default_factory=dict)
    _paths: dict[str, str] = field(default_factory=dict)

    @property
    def root(self) -> Path:
        """The project's folder."""
        return self.library.root

    @property
    def recipe(self) -> RecipeSpec:
        """What says which documents there are and what holds for them."""
        return self.library.recipe

    @property
    def documents(self) -> list[Document]:
        """Every document of the recipe's kinds."""
        return self.library.documents

    @cached_property
    def authored_documents(self) -> list[Document]:
        """What people wrote for agents to read, in natural order."""
        authored = [document for document in self.documents if document.kind in AUTHORED]
        return sorted(authored, key=lambda document: files.natural(document.path))

    def of_kind(self, kind: str) -> list[Document]:
        """The documents of one kind."""
        return [document for document in self.documents if document.kind == kind]

    def file(self, path: str) -> files.File | files.Skip:
        """A file of the project, read once."""
        if path not in self._files:
            self._files[path] = self._allowance.read(self.root, path, reader=self.library.file)
        return self._files[path]

    def path_of(self, path: str) -> str:
        """Where a file of the project's own is, in whichever folder documents may lie."""
        if path not in self._paths:
            self._paths[path] = documents.path_in_folders(self.root, path, self.recipe.within)
        return self._paths[path]

    def text(self, path: str) -> str:
        """The text of a file, or nothing where it can't be read or is too large to be looked
        into."""
        file = self.file(path)
        if isinstance(file, files.Skip) or len(file.text) > LARGEST_CHARS:
            return ""
        return file.text

    def tokens(self, text: str) -> int:
        """What a model would read of a text: without front matter and without the loader's
        marks."""
        return self.counter.count(marks.plain(without_front_matter(text)).strip())

    # --- names ------------------------------------------------------------------------------------

    def find(self, wanted: str, kind: str = "", near: str = "") -> Document | None:
        """The document that a name or a path means, the first where it means several."""
        return next(iter(self._matches(wanted, kind, near)), None)

    def namesake_paths(self, wanted: str, kind: str, near: str = "") -> list[str]:
        """The files that a name means where it means several, so that none would be loaded."""
        meant = self._matches(wanted, kind, near)
        return [document.path for document in meant] if len(meant) > 1 else []

    def _matches(self, wanted: str, kind: str, near: str) -> Sequence[Document]:
        query = (wanted, kind, posixpath.dirname(near))
        if query not in self._found_by_query:
            self._found_by_query[query] = self._look_for(wanted, kind, near)
        return self._found_by_query[query]

    def _look_for(self, wanted: str, kind: str, near: str) -> Sequence[Document]:
        if "/" in wanted or not kind:
            candidates = self._by_file.get(_stem(wanted), []) if "/" in wanted else self.documents
            found = documents.find_document(candidates, wanted, kind, near)
        else:
            try:
                found = self.library.choose(wanted, kind, near)
            except AmbiguousName as several:
                return [one for one in self.of_kind(kind) if one.path in several.paths]
        return [found] if found is not None else []

    def namesakes(self, path: str) -> list[Document]:
        """The documents whose file has the same name."""
        return self._by_file.get(_stem(path), [])

    def is_there(self, path: str, near: str) -> bool:
        """Whether a file is where a document says it is: from the root, from the document, or
        from where the documents lie."""
        places = [path, path_beside(near, path)]
        for folder in self.recipe.within:
            if folder and path.startswith(f"{folder}/"):
                places.append(path.removeprefix(f"{folder}/"))
        return any(map(self._exists, places))

    def _exists(self, path: str) -> bool:
        if path not in self._existing:
            self._existing[path] = documents.is_there(self.root, path)
        return self._existing[path]

    def could_be_document(self, path: str, near: str) -> bool:
        """Whether a document of the recipe's kinds could lie there."""
        place = path_beside(near, path) if path.startswith(("./", "../")) else path
        return any(pattern.fullmatch(place) for pattern in self._patterns)

    @cached_property
    def _patterns(self) -> list[re.Pattern[str]]:
        patterns = list[re.Pattern[str]]()
        for kind, kind_patterns in self.recipe.documents.items():
            if kind in COMES_AND_GOES:
                continue
            for pattern in kind_patterns:
                for folder in self.recipe.within:
                    patterns.append(glob(posixpath.join(folder, pattern)))
        return patterns

    @cached_property
    def _by_file(self) -> dict[str, list[Document]]:
        found = dict[str, list[Document]]()
        for document in self.documents:
            found.setdefault(_stem(document.path), []).append(document)
        return found


def path_beside(near: str, path: str) -> str:
    """A path as seen from a document, from the root."""
    return posixpath.normpath(posixpath.join(posixpath.dirname(near), path))


def glob(pattern: str) -> re.Pattern[str]:
    """A glob for whole paths: `**/` is any number of folders, `*` and `?` stay within a name."""
    parts = re.split(r"(\*\*/|\*\*|\*|\?)", pattern)
    known = {"**/": "(?:.*/)?", "**": ".*", "*": "[^/]*", "?": "[^/]"}
    return re.compile("".join(known.get(part) or re.escape(part) for part in parts), re.DOTALL)


def _stem(path: str) -> str:
    return posixpath.basename(path.strip()).lower().removesuffix(".md")
