"""The documents of a project as a recipe sees them: found by kind and name; and the values it reads
out of YAML files.

Which documents there are is `sources.documents`' business; how they become sections is
`context.document_sections`'.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from fnmatch import fnmatch
from functools import cached_property
from pathlib import Path

from foreword.errors import AmbiguousName, BadSource
from foreword.recipe.load import load, names
from foreword.recipe.schema import RecipeSpec
from foreword.sources import documents, files, git_status
from foreword.sources.documents import Document
from foreword.sources.front_matter import front_matter, mapping, repeated_key
from foreword.sources.json_state import state_at
from foreword.sources.project_root import project_root

RECIPE = "factory"  # the recipe that knows documents, where none is named
DOC = "doc"  # the kind of what is a document by being named in a section
# in place of a name
NEWEST = "newest"
NONE = "none"
PROSE_ENDINGS = ("md", "mdx", "rst")  # of what people write in a project
# Kinds that a project's own description names: what it is written in is so with documents or
# without.
DESCRIBED = frozenset(("language",))
INVOKED = {"persona": "phase_personas", "prompt": "phase_prompts", "panel": "phase_panels"}
MOST_NAMED = 5  # of the folders that could not be looked into; an error is a few lines


@dataclass
class Library:
    """The documents of one project, looked for when they are first asked for."""

    root: Path
    recipe: RecipeSpec
    _files: dict[str, files.File | files.Skip] = field(default_factory=dict, init=False, repr=False)
    _own_names: dict[str, dict[str, list[Document]]] = field(
        default_factory=dict, init=False, repr=False
    )

    @property
    def documents(self) -> list[Document]:
        """Every document, each of one kind."""
        return self._search[0]

    @property
    def unread(self) -> list[files.Skip]:
        """The folders and links where documents may be that could not be looked into, each once."""
        return self._search[1]

    @cached_property
    def _search(self) -> tuple[list[Document], list[files.Skip]]:
        unread = list[files.Skip]()
        found = documents.find_documents(
            self.root, self.recipe.documents, self.recipe.within, unread
        )
        return found, list(dict.fromkeys(unread))

    @property
    def notes(self) -> list[str]:
        """Notes about the folders and files that could not be read."""
        return files.skip_notes(self.unread)

    def check(self) -> None:
        """A recipe of documents in a folder that has none of them is asked about the wrong
        folder: an error."""
        if not self.recipe.documents or self.documents or self._has_project_file():
            return
        problem = f"there is no document of recipe {self.recipe.name!r} in this folder"
        folders = [folder for folder in self.recipe.within if folder]
        if folders:
            problem += f", and none in {', '.join(folders)}"
        for note in self.notes[:MOST_NAMED]:
            problem += f"; {note}"
        raise BadSource(
            str(self.root),
            problem,
            hint=(
                "give the project's folder with --root, or see one: `foreword demo --sample factory"
                " --keep DIR`"
            ),
        )

    def _has_project_file(self) -> bool:
        """Whether a file is there that the recipe reads values from."""
        for how in self.recipe.read.values():
            for name in how.file:
                path = documents.path_in_folders(self.root, name, self.recipe.within)
                if documents.is_there(self.root, path):
                    return True
        return False

    def of_kind(self, kind: str) -> list[Document]:
        """The documents of one kind, in natural order."""
        return [document for document in self.documents if document.kind == kind]

    def find(self, wanted: str, kind: str = "", near: str = "") -> Document | None:
        """The document that a name or a path means."""
        return documents.find_document(self.documents, wanted, kind, near)

    def choose(self, wanted: str, kind: str, near: str = "") -> Document | None:
        """The one document of a kind that a name means: by its path, by the `name:` in its front
        matter, or by its file's name. A name that several share is an error."""
        candidates = self.of_kind(kind)
        found = documents.find_namesakes(candidates, wanted, kind, near)
        if len(found) == 1 and documents.is_called(found[0], wanted):
            return found[0]
        # only now is it worth reading them all
        own = self._by_own_name(kind).get(documents.name_key(wanted), [])
        meant = self._in_first_folder(own or found)
        if len(meant) > 1:
            raise AmbiguousName(kind, wanted, [document.path for document in meant])
        return meant[0] if meant else None

    def _by_own_name(self, kind: str) -> dict[str, list[Document]]:
        """The documents of a kind by the names that they give themselves."""
        if kind not in self._own_names:
            found = dict[str, list[Document]]()
            for document in self.of_kind(kind):
                key = documents.name_key(self._own_name(document))
                if key:
                    found.setdefault(key, []).append(document)
            self._own_names[kind] = found
        return self._own_names[kind]

    def _in_first_folder(self, found: Sequence[Document]) -> list[Document]:
        """Those in the first of the recipe's folders that has one: a project's own file stands
        before one that came with `.ai/governance`."""
        outer_last = sorted(self.recipe.within, key=len, reverse=True)
        by_folder: dict[str, list[Document]] = {folder: [] for folder in self.recipe.within}
        for document in found:
            for folder in outer_last:
                if not folder or document.path.startswith(f"{folder}/"):
                    by_folder[folder].append(document)
                    break
        return next((some for some in by_folder.values() if some), [])

    def _own_name(self, document: Document) -> str:
        """The name that a document gives itself."""
        file = self.read(document) if document.path.endswith(".md") else None
        if not isinstance(file, files.File):
            return ""
        name = front_matter(file.text)[0].get("name", "")
        return name if isinstance(name, str) else ""

    def read(self, document: Document) -> files.File | files.Skip:
        """Its text."""
        return self.file(document.path)

    def file(self, path: str) -> files.File | files.Skip:
        """A file of the project, read once."""
        if path not in self._files:
            self._files[path] = files.read(self.root, path)
        return self._files[path]

    def values(self) -> tuple[dict[str, str], list[str]]:
        """The values that the recipe reads out of YAML files: lists are joined by commas; what
        can't be read is a note."""
        values = dict[str, str]()
        notes = list[str]()
        for name in self.recipe.read:
            values[name], problems = self.value(name)
            notes += [f"{problem.path}: {problem.reason}" for problem in problems]
        return values, list(dict.fromkeys(notes))

    def value(self, name: str) -> tuple[str, list[files.Skip]]:
        """One of these values, and the files that could not be read for it."""
        how = self.recipe.read[name]
        unread = list[files.Skip]()
        for file_name in how.file:
            path = documents.path_in_folders(self.root, file_name, self.recipe.within)
            file = self.file(path)
            if isinstance(file, files.Skip):
                if file.reason != "missing":
                    unread.append(file)
                continue
            data, problem = mapping(file.text)
            problem = problem or repeated_key(file.text)
            if problem:
                unread.append(files.Skip(path, problem))
            for place in how.at:
                text = ", ".join(_names(state_at(data, place)))
                if text:
                    return text, unread
        return how.default, unread

    def newest(self, kind: str) -> Document | None:
        """The one of a kind that was changed last: what is changed and not committed, else by its
        last commit, and without a repository by the file's own time; of equals the last by name."""
        candidates = self.of_kind(kind)
        if len(candidates) < 2:
            return candidates[0] if candidates else None
        paths = [document.path for document in candidates]
        ages = git_status.last_changes(self.root, paths)
        return max(
            candidates,
            key=lambda document: (
                ages.get(document.path, -1) if ages else self._changed_ns(document),
                document.path,
            ),
        )

    def _changed_ns(self, document: Document) -> int:
        """When it was changed last; one that has gone since it was found is older than any."""
        try:
            return (self.root / document.path).stat().st_mtime_ns
        except OSError:
            return -1

    def documents_named_in(self, text: str, near: str) -> list[Document]:
        """The documents that a text names and that are there; a name behind a label that several
        share is an error."""
        from foreword.sources.references import find_references  # few recipes follow names

        return find_references(self.find_by_name, text, near)

    def find_by_name(self, wanted: str, kind: str, near: str) -> Document | None:
        """The document that a text means: by its name, where it says of which kind it is."""
        return self.choose(wanted, kind, near) if kind else self.find(wanted, near=near)


def library_of(root: str | Path, recipe: str = RECIPE) -> Library:
    """The documents of a project."""
    folder = project_root(root)
    return Library(folder, load(recipe, folder))


def lookup_library(root: str | Path, recipe: str = RECIPE) -> Library:
    """The documents that can be looked up in a project: those of the recipe, and the files that the
    sections of that recipe, or where none was named of the project's own recipes, are made of. A
    recipe that has no documents there leaves all that is written in the project."""
    library = library_of(root, recipe)
    patterns = list[str]()
    if not library.documents:
        patterns += documents.ending_patterns(*PROSE_ENDINGS)
    for name in _own_recipes(library.root) if recipe == RECIPE else [recipe]:
        patterns += _file_patterns(load(name, library.root))
    known = library.recipe.documents
    docs = dict.fromkeys([*known.get(DOC, ()), *patterns])
    on_demand = dict.fromkeys([*library.recipe.on_demand, DOC])
    with_docs = replace(
        library.recipe, documents={**known, DOC: tuple(docs)}, on_demand=tuple(on_demand)
    )
    with_files = Library(library.root, with_docs)
    return with_files if patterns and with_files.documents else library


def _own_recipes(root: Path) -> list[str]:
    """The recipes that the project itself brings."""
    return [name for name, path in names(root).items() if path.is_relative_to(root)]


def _file_patterns(recipe: RecipeSpec) -> Iterator[str]:
    """The files of a recipe's sections, but for those that depend on what is asked."""
    for section in recipe.sections.values():
        for pattern in (section.file or "", *(section.files or ())):
            if pattern and "{" not in pattern:
                yield f"{section.folder}/{pattern}" if section.folder else pattern


def _names(value: object) -> Iterator[str]:
    """The names in a value: itself, or those of its members; of a mapping its `name`, `file` or
    `path`."""
    if isinstance(value, list):
        for member in value:
            yield from _names(member)
    elif isinstance(value, dict):
        name = _own_name(value)
        if name:
            yield name
        else:
            for member in value.values():
                yield from _names(member)
    elif isinstance(value, str | int | float) and not isinstance(value, bool):
        yield str(value).strip()


def _own_name(value: Mapping[str, object]) -> str:
    for key in ("name", "file", "path", "id"):
        name = value.get(key)
        if isinstance(name, str):
            return name
    return ""


def fields_of(text: str, patterns: Sequence[str]) -> tuple[str, str]:
    """The fields of a YAML text that fit the patterns, a line each, and what is wrong with it."""
    data, problem = mapping(text)
    lines = list[str]()
    for path, value in _leaves(data):
        if any(fnmatch(path.lower(), pattern.lower()) for pattern in patterns):
            name = path.rsplit(".", 1)[-1] if path in patterns else path
            lines.append(f"{name}: {value}")
    return "\n".join(dict.fromkeys(lines)), problem


def _leaves(data: object, path: str = "") -> Iterator[tuple[str, str]]:
    """Every plain value with its dotted place; a list of plain values is one."""
    if isinstance(data, dict):
        for key, value in data.items():
            yield from _leaves(value, f"{path}.{key}" if path else str(key))
    elif isinstance(data, list) and any(isinstance(member, dict | list) for member in data):
        for index, member in enumerate(data):
            yield from _leaves(member, f"{path}[{index}]")
    elif isinstance(data, list):
        if data:
            yield path, ", ".join(str(member) for member in data)
    elif data is not None:
        yield path, str(data)
