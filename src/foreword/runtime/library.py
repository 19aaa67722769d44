"""The documents of a project as a recipe's sections see them: found by kind and name, and read in parts.

Which documents there are is `sources.documents`' business; here names become sections, with what their authors marked
(a single phase, a core, a header). What a phase adopts or invokes is worked out from its own text.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from fnmatch import fnmatch
from functools import cached_property
from pathlib import Path

from foreword.errors import BadSource, InputMissing, UnknownName
from foreword.model import Section
from foreword.recipe.schema import Read, RecipeSpec, SectionSpec
from foreword.runtime.places import fill
from foreword.runtime.selection import Selection
from foreword.sources import documents, files, references
from foreword.sources.documents import Document
from foreword.sources.front_matter import front_matter, mapping
from foreword.sources.state import value_at
from foreword.text import lines, markdown, marks, parts
from foreword.text.parts import Part

NEWEST, NONE = "newest", "none"  # in place of a name
YAML = (".yaml", ".yml")
INVOKED = {"persona": "phase_personas", "prompt": "phase_prompts", "panel": "phase_panels"}
MOST_NAMED = 5
HEADER_CHARS = 200_000  # of a persona, to look for its header in


@dataclass
class Library:
    """The documents of one project, looked for when they are first asked for."""

    root: Path
    recipe: RecipeSpec

    @property
    def documents(self) -> list[Document]:
        """Every document, each of one kind."""
        return self._looked[0]

    @property
    def unread(self) -> list[files.Skip]:
        """The folders and links where documents may be that could not be looked into, each once."""
        return self._looked[1]

    @cached_property
    def _looked(self) -> tuple[list[Document], list[files.Skip]]:
        unread = list[files.Skip]()
        found = documents.find_all(self.root, self.recipe.documents, self.recipe.within, unread)
        return found, list(dict.fromkeys(unread))

    @property
    def notes(self) -> list[str]:
        """What there is to say about what could not be looked into."""
        return files.told(self.unread)

    def check(self) -> None:
        """A recipe of documents in a folder that has none of them is asked about the wrong folder: an error."""
        named = (path for how in self.recipe.read.values() for path in how.file)
        places = (documents.placed(self.root, path, self.recipe.within) for path in named)
        if not self.recipe.documents or self.documents or any(documents.is_there(self.root, path) for path in places):
            return
        others = ", ".join(folder for folder in self.recipe.within if folder)
        unread = "".join(f"; {note}" for note in self.notes[:MOST_NAMED])
        raise BadSource(
            str(self.root),
            f"there is no document of recipe {self.recipe.name!r} in this folder"
            f"{others and f', and none in {others}'}{unread}",
            hint="give the project's folder with --root, or see one: `foreword demo --sample factory --keep DIR`",
        )

    def of_kind(self, kind: str) -> list[Document]:
        """The documents of one kind, in natural order."""
        return [document for document in self.documents if document.kind == kind]

    def find(self, wanted: str, kind: str = "", near: str = "") -> Document | None:
        """The document that a name or a path means."""
        return documents.resolve(self.documents, wanted, kind, near)

    def read(self, document: Document) -> files.File | files.Skip:
        """Its text."""
        return files.read(self.root, document.path)

    def newest(self, kind: str) -> Document | None:
        """The one of a kind that was changed last; of equals the last by name."""
        mine = [(self._changed(document), document.path, document) for document in self.of_kind(kind)]
        return max(mine, key=lambda one: one[:2], default=(0, "", None))[2]

    def _changed(self, document: Document) -> int:
        """When it was changed last; one that has gone since it was found is older than any."""
        try:
            return (self.root / document.path).stat().st_mtime_ns
        except OSError:
            return -1

    def named_in(self, text: str, near: str) -> list[Document]:
        """The documents that a text names and that are there."""
        return references.all_meant(self.find, text, near)


@dataclass(slots=True)
class Loaded:
    """What the document sections came to."""

    sections: list[Section] = field(default_factory=list)
    absent: list[tuple[str, str]] = field(default_factory=list)  # what, and why
    notes: list[str] = field(default_factory=list)
    missing: list[str] = field(default_factory=list)  # what the project names and does not have


def read_values(root: Path, recipe: RecipeSpec) -> tuple[dict[str, str], list[str]]:
    """The values that a recipe reads out of YAML files: lists are joined by commas; what can't be read is a note."""
    values, notes = dict[str, str](), dict[str, None]()
    for name, how in recipe.read.items():
        found, problems = _value(root, how, recipe.within)
        values[name] = found or how.default
        notes.update(dict.fromkeys(problems))
    return values, list(notes)


def _value(root: Path, how: Read, within: Sequence[str]) -> tuple[str, list[str]]:
    notes = list[str]()
    for path in (documents.placed(root, name, within) for name in how.file):
        file = files.read(root, path)
        if isinstance(file, files.Skip):
            notes += [] if file.reason == "missing" else [f"{path}: {file.reason}"]
            continue
        data, problem = mapping(file.text)
        notes += [f"{path}: {problem}"] if problem else []
        for at in how.at:
            if text := ", ".join(_names(value_at(data, at))):
                return text, notes
    return "", notes


def _names(value: object) -> list[str]:
    """The names in a value: itself, or those of its members; of a mapping its `name`, `file` or `path`."""
    if isinstance(value, list):
        return [name for member in value for name in _names(member)]
    if isinstance(value, dict):
        named = next((value[key] for key in ("name", "file", "path", "id") if isinstance(value.get(key), str)), None)
        return [named] if named else [name for member in value.values() for name in _names(member)]
    return [str(value).strip()] if isinstance(value, str | int | float) and not isinstance(value, bool) else []


def fields_of(text: str, patterns: Sequence[str]) -> tuple[str, str]:
    """The fields of a YAML text that fit the patterns, a line each, and what is wrong with it."""
    data, problem = mapping(text)
    lines = [
        f"{path.rsplit('.', 1)[-1] if path in patterns else path}: {value}"
        for path, value in _leaves(data)
        if any(fnmatch(path.lower(), pattern.lower()) for pattern in patterns)
    ]
    return "\n".join(dict.fromkeys(lines)), problem


def _leaves(data: object, path: str = "") -> Iterator[tuple[str, str]]:
    """Every plain value with its dotted place; a list of plain values is one."""
    if isinstance(data, dict):
        for key, value in data.items():
            yield from _leaves(value, f"{path}.{key}" if path else str(key))
    elif isinstance(data, list) and any(isinstance(member, dict | list) for member in data):
        for index, member in enumerate(data):
            yield from _leaves(member, f"{path}[{index}]")
    elif data is not None and data != []:
        yield path, ", ".join(str(member) for member in data) if isinstance(data, list) else str(data)


# --- sections --------------------------------------------------------------------------------------------------


def document_sections(
    tag: str,
    selection: Selection,
    library: Library,
    values: dict[str, str],
    asked: Mapping[str, str],
    allowance: files.Allowance,
) -> Loaded:
    """The sections of a tag whose text is in documents; a phase leaves what it invokes in `values`."""
    spec, out = selection.sections[tag], Loaded()
    if spec.phase is not None and "workflow" in asked and not fill(spec.phase, values).strip():
        out.notes.append(f"workflow {asked['workflow']!r} is not loaded without a phase: give --phase")
    for name in _wanted(spec, values, library):
        document = library.find(name, spec.document or "")
        if document is None:
            document = _instead(spec, name, library, asked, out)
        if document is None:
            continue
        file = allowance.read(library.root, document.path)
        if isinstance(file, files.Skip):
            if spec.phase is not None:
                raise BadSource(file.path, file.reason)
            out.absent.append((file.path, file.reason))
            continue
        text = _part(spec, file, values, out)
        if text is None:
            continue
        if spec.phase is not None:
            values |= _invoked(text, document, library)
        out.sections.append(_section(tag, selection, document, text, file))
    return out


def _wanted(spec: SectionSpec, values: Mapping[str, str], library: Library) -> list[str]:
    if spec.phase is not None and not fill(spec.phase, values).strip():
        return []
    names = [name.strip() for name in re.split(r"[,\n]", fill(spec.named, values))]
    if NEWEST in names:
        newest = library.newest(spec.document or "")
        names = [newest.path] if newest else []
    return list(dict.fromkeys(name for name in names if name and name != NONE))


def _instead(spec: SectionSpec, name: str, library: Library, asked: Mapping[str, str], out: Loaded) -> Document | None:
    """What to do about a name that means nothing: an error if somebody asked for it, else a note."""
    kind = spec.document or ""
    known = [document.name for document in library.of_kind(kind)]
    if any(name == given and f"{{{value}}}" in spec.named for value, given in asked.items()):
        raise UnknownName(kind, name, known)
    if spec.phase is not None:
        if len(known) == 1:
            return library.of_kind(kind)[0]
        where = f"put one into {library.recipe.documents[kind][0]}"
        hint = f"give --workflow, one of: {', '.join(known)}" if known else where
        raise InputMissing("workflow", f"there is none called {name!r}", hint=hint)
    out.absent.append((name, f"no {kind} of that name"))
    if not spec.fields and kind != "instructions":
        out.notes.append(f"there is no {kind} {name!r}")
        out.missing.append(f"{kind} {name!r}")
    return None


def _part(spec: SectionSpec, file: files.File, values: Mapping[str, str], out: Loaded) -> str | None:
    """The part of a document that the section wants."""
    if spec.fields:
        text, problem = fields_of(file.text, spec.fields)
        out.notes += [f"{file.path}: {problem}"] if problem else []
        if not text:
            out.absent.append((file.path, "none of the fields is there"))
        return text or None
    if spec.phase is not None:
        return phase_of(file, fill(spec.phase, values)).text
    body = front_matter(file.text)[1] if file.path.endswith(".md") else file.text
    return file.text if body == file.text else body


def phase_of(file: files.File, name: str) -> Part:
    """A single phase of a workflow; `UnknownName` where there is none."""
    found = {part.name: part for part in parts.phases(file.text)}
    if not found:
        raise InputMissing(
            "phase", f"{file.path} has no phases", hint="mark them with <!-- PHASE:1 --> or `## Phase 1: Name` headings"
        )
    if name.lower() not in found:
        raise UnknownName("phase", name, found, where=f"in {file.path}")
    return found[name.lower()]


def _invoked(text: str, document: Document, library: Library) -> dict[str, str]:
    """The personas, prompts and panels that a phase names."""
    found: dict[str, list[str]] = {value: [] for value in INVOKED.values()}
    for meant in library.named_in(text, document.path):
        if meant.kind in INVOKED:
            found[INVOKED[meant.kind]].append(meant.path)
    return {value: ", ".join(paths) for value, paths in found.items()}


def _section(tag: str, selection: Selection, document: Document, text: str, file: files.File) -> Section:
    """A document, or what the section wants of it, with newlines alone; a whole one can be recalled as it is."""
    spec, rule, whole = selection.sections[tag], selection.rule(tag), lines.unified(file.text)
    core = header = ""
    if "header" in rule.forms:
        core = _titled(marks.plain(parts.in_tier(parts.without_anchors(whole), 1)).strip(), whole)
        header = parts.persona_header(parts.without_anchors(whole[:HEADER_CHARS])).strip()
    title = document.name if document.kind == "persona" else ""
    return Section(
        tag, lines.unified(text).strip("\n"), rule, selection.rank(tag), title, document.path, document.kind,
        spec.before, spec.after, raw=file.raw if text is file.text else None, core=core, header=header,
    )  # fmt: skip


def _titled(core: str, whole: str) -> str:
    """A marked core under its document's title, so that it says whose it is."""
    title = markdown.first_title(whole) if core else ""
    return f"# {title}\n\n{core}" if title and markdown.first_title(core) != title else core
