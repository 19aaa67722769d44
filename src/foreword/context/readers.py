"""Fill the sections of a selection: read what each one names, and say what was not there.

All reading goes through `sources`. Finding the step and the task is `blanks`' business, files are
`file_sections`', documents `document_sections`', what the user brings `item_sections`'. What comes
back is ready for the engine.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from foreword.context import item_sections
from foreword.context.blanks import (
    BLANK,
    TASK_WORDS,
    fill,
    find_places,
    first_blank,
    path_description,
    task_reference,
)
from foreword.context.file_sections import FileSectionReader
from foreword.context.inputs import Inputs, ReadingResult, SourceArgument
from foreword.errors import InputMissing
from foreword.recipe.schema import SectionSpec
from foreword.recipe.selection import Selection
from foreword.section import Absent, Section
from foreword.sources import files, git, json_state, python_data, source_argument
from foreword.sources.front_matter import without_front_matter
from foreword.sources.items import SourceItems, items_in, read_items
from foreword.sources.library import Library
from foreword.text.blank_template import is_blank_template

if TYPE_CHECKING:
    from foreword.context.repository_sections import RepositoryReader

# As much of the task as `text.relevance` looks at, too: about two pages say what it is about.
LONGEST_QUERY = 4_000
MOST_NOTES = 1_000  # a source may have as many oddities as items; who reads past the first hundred


def gather(selection: Selection, inputs: Inputs, library: Library) -> ReadingResult:
    """Read every section of the selection."""
    return _SectionReader(selection, inputs, library).run()


class _SectionReader:
    """One pass over a selection; its parts share what was found on the way."""

    def __init__(self, selection: Selection, inputs: Inputs, library: Library) -> None:
        self.selection = selection
        self.inputs = inputs
        self.root = inputs.root
        self.out = ReadingResult()
        self.data: dict[str, Any] = {}
        self.missing = list[str]()  # what is essential or named by the project, and not there
        places, self.out.notes = find_places(selection, inputs)
        read, notes = library.values()
        self.out.notes += notes
        self.values = {**read, **selection.values, **places, **inputs.values}
        self.library = library
        self.repository: RepositoryReader | None = None
        self.file_reader = FileSectionReader(
            library=library,
            selection=selection,
            values=self.values,
            policy=inputs.policy,
            out=self.out,
        )

    def run(self) -> ReadingResult:
        for name in ("task", "source"):
            if name in self.selection.recipe.needs and getattr(self.inputs, name) is None:
                raise self._input_missing(name)
        self.library.check()
        self._check_folder()
        self._read_source()
        self._add_instructions()
        if self._has_blank("{task_text}"):
            self.values["task_text"] = self._task_text()
        self.out.query = self._query()
        task = self.values.get("task") or ""
        is_asked_for = self._has_blank("{task_reference}")
        if is_asked_for and (task or self.values.get(TASK_WORDS)):
            # a task of nothing but a title is no text to search by, but it says what to do
            words = self.out.query or self._task_text()
            self.values.setdefault("task_reference", task_reference(task, words))
        for tag, spec in self.selection.sections.items():
            found = self._read(tag, spec)
            self.out.sections += found
            if not found:
                self._note_missing(tag, spec)
        self._check_required()
        missing = list(dict.fromkeys(self.missing))
        if missing:
            verb = "is" if len(missing) == 1 else "are"
            self.out.shortcomings.append(f"{', '.join(missing)} {verb} missing")
        self.out.notes = [*self.out.limit_notes, *self._first_notes()]
        return self.out

    def _first_notes(self) -> list[str]:
        """Each note once (a file that is read twice says the same twice), and not all of very
        many."""
        notes = list(dict.fromkeys(self.out.notes))
        if len(notes) <= MOST_NOTES:
            return notes
        return [*notes[:MOST_NOTES], f"{len(notes) - MOST_NOTES:,} more warnings like these"]

    def _note_missing(self, tag: str, spec: SectionSpec) -> None:
        """A note where the context is not what it should be without a section. Of what the request
        did not bring `_text` says so."""
        is_part = spec.heading or spec.anchors
        is_expected = spec.essential and tag not in self.selection.optional
        if is_expected and not is_part and not _is_from_request(spec):
            self.missing.append(tag)
            self.out.notes.append(f"{tag} is not there, though it is essential")

    def _check_required(self) -> None:
        """Raise an error where the recipe requires what is not there."""
        missing = set(self.selection.sections)
        missing -= {section.tag for section in self.out.sections}
        required = [
            (names,) if isinstance(names, str) else names for names in self.selection.required
        ]
        first_missing = [names[0] for names in required if missing.issuperset(names)]
        for tag, spec in self.selection.sections.items():
            if tag in first_missing or (spec.required and tag in missing):
                raise self._section_missing(tag, spec)

    # --- what the sections are made of ------------------------------------------------------------

    def _read_source(self) -> None:
        specs = self.selection.sections.values()
        source = self.inputs.source
        if not any(spec.items or spec.state for spec in specs):
            if source is not None:
                self.out.notes.append(
                    f"recipe {self.selection.recipe.name!r} does not use a source"
                )
            return
        if source is None:
            raise self._input_missing("source")
        if any(spec.items for spec in specs):
            read = self._source_items(source)
            items, notes = item_sections.with_kinds(read.items, self.selection)
            self.out.items = item_sections.add_carried_items(items, self.inputs.carried)
            self.out.notes += read.notes + notes
            self.out.notes += item_sections.unknown_kinds(self.out.items, self.selection)
            self.out.add_left_out(read.left_out)
        else:
            self.data = self._source_state(source)

    def _source_items(self, source: SourceArgument) -> SourceItems:
        if isinstance(source, str):
            return read_items(source, self.root, source_argument.read_stdin)
        return items_in(python_data.plain_data(source), python_data.SOURCE)

    def _source_state(self, source: SourceArgument) -> dict[str, Any]:
        if isinstance(source, str):
            return json_state.read_state(source, self.root, source_argument.read_stdin)
        return json_state.mapping_in(python_data.plain_data(source), python_data.SOURCE)

    def _read_skill(self) -> None:
        """A skill's own file takes the place of the recipe's instructions."""
        file = self._skill_file()
        if file is not None:
            text = self.file_reader.inject(file.text, file.path)
            self.values["instructions"] = without_front_matter(text).strip("\n")
            self.values["instructions_source"] = file.path

    def _skill_file(self) -> files.File | None:
        skill = self.selection.names.get("skill", "")
        for pattern in self.selection.recipe.skill_file if skill else ():
            file = files.read(self.root, fill(pattern, {"skill": skill}))
            if isinstance(file, files.File):
                return file
        return None

    def _add_instructions(self) -> None:
        """A skill's own file in place of the recipe's instructions, what the agent is told where
        it is sent for something, and what the request adds."""
        self._read_skill()
        parts = [self.values.get("instructions", "")]
        for name, template in self.selection.when_given.items():
            if getattr(self.inputs, name):
                parts.append(fill(template, {**self.values, "step_text": self._step_text()}))
        if self.inputs.instructions.strip():
            if not self._has_blank("{instructions}"):
                recipe = self.selection.recipe.name
                self.out.notes.append(f"recipe {recipe!r} has no place for instructions")
            parts.append(self.inputs.instructions.strip("\n"))
        if len(parts) > 1:
            self.values["instructions"] = "\n\n".join([part for part in parts if part])

    def _has_blank(self, blank: str) -> bool:
        """Whether a text of the recipe has this blank."""
        specs = self.selection.sections.values()
        return any(blank in (spec.text or "") for spec in specs)

    def _step_text(self) -> str:
        """The step whole, with what its sections have from files beside it."""
        file = files.read(self.root, f"{self.values['step']}/STEP.md", must=True)
        parts = [file.text]
        for tag, spec in self.selection.recipe.sections.items():
            if fill(spec.file or "", self.values) == file.path:
                parts += [other.text for other in self.file_reader.files_beside(tag, spec, file)]
        return "\n\n".join(part.strip("\n") for part in parts)

    def _check_folder(self) -> None:
        """An error where the folder that the recipe is about is not there; a skill that brings
        its own text can do without."""
        folder = self.selection.recipe.folder
        if not folder or (self.root / folder).is_dir() or self._skill_file() is not None:
            return
        above = [parent for parent in self.root.parents if (parent / folder).is_dir()]
        hint = f"run it in the project's folder, which has a {folder}, or name that with --root"
        if above:
            hint = f"there is one above: --root {above[0]}"
        raise InputMissing(folder, why=f"there is no such folder in {self.root}", hint=hint)

    def _task_text(self) -> str:
        """The whole task, said in words or read from its file; nothing where there is none."""
        words = self.values.get(TASK_WORDS)
        path = self.values.get("task")
        if words or not path:
            return words or ""
        file = files.read(self.root, path)
        return file.text if isinstance(file, files.File) else ""

    def _query(self) -> str:
        """The task, else the step it will come from, else what is being worked on in the source."""
        words = self.values.get(TASK_WORDS)
        if words:
            return "\n".join([words[:LONGEST_QUERY], *self._wanted_kinds()])
        step = self.values.get("step")
        for path in (self.values.get("task"), f"{step}/STEP.md" if step else None):
            if not path:
                continue
            file = files.read(self.root, path)
            if isinstance(file, files.File) and not is_blank_template(file.text):
                return file.text[:LONGEST_QUERY]
        reference = self.values.get("task_reference")
        query = reference if reference else self._source_query()
        return query[:LONGEST_QUERY]

    def _source_query(self) -> str:
        """The tasks among the items, and the units of the state that are being worked on."""
        texts = list[str]()
        for item in self.out.items:
            if item.kind in ("task", "instruction"):
                texts.append(f"{item.title}\n{item.text}")
        units = json_state.state_at(self.data, "units")
        members = list[dict[str, Any]]()
        if isinstance(units, list):
            members = [unit for unit in units if isinstance(unit, dict)]
        for unit in json_state.matching_members(members, {"status": json_state.WORKED_ON}):
            texts += [str(value) for value in unit.values()]
        return "\n".join([*self._wanted_kinds(), *texts])

    def _wanted_kinds(self) -> list[str]:
        """What the purpose looks for first."""
        return [kind for kind, tier in self.selection.kind_tiers.items() if tier == 1]

    # --- sections ---------------------------------------------------------------------------------

    def _read(self, tag: str, spec: SectionSpec) -> list[Section]:
        if spec.file is not None:
            return self.file_reader.read_file(tag, spec)
        if spec.files is not None:
            return self.file_reader.read_files(tag, spec)
        if spec.git is not None:
            return self._log(tag, spec)
        if spec.text is not None and spec.state is None:
            return self._text(tag, spec)
        if spec.document is not None:
            return self._documents(tag)
        if spec.anchors:
            return []  # they are in the other sections
        if spec.repository is not None:
            return self._repository(tag)
        if spec.items is not None:
            return item_sections.item_sections(tag, self.selection, self.out.items, self.out.query)
        return self._state(tag, spec)

    def _repository(self, tag: str) -> list[Section]:
        if self.repository is None:
            from foreword.context.repository_sections import RepositoryReader

            self.repository = RepositoryReader(
                selection=self.selection,
                inputs=self.inputs,
                task=self._task_text(),
                task_path=self.values.get("task") or "",
                out=self.out,
            )
        return self.repository.sections(tag)

    def _state(self, tag: str, spec: SectionSpec) -> list[Section]:
        source = self.inputs.source
        where = source if isinstance(source, str) else python_data.SOURCE
        found, notes = item_sections.state_sections(tag, self.selection, self.data, where)
        self.out.notes += notes
        if isinstance(found, str) and spec.text is not None:
            return self._text(tag, spec)
        if isinstance(found, str):
            self.out.add_absent(tag, source=spec.state or "", reason=found)
            return []
        return found

    def _documents(self, tag: str) -> list[Section]:
        from foreword.context.document_sections import document_sections  # few recipes have any

        loaded = document_sections(
            tag,
            selection=self.selection,
            library=self.library,
            values=self.values,
            requested={**self.selection.names, **self.inputs.values},
            allowance=self.file_reader.section_allowance(),
        )
        self.out.notes += loaded.notes
        self.missing += loaded.missing
        for source, reason in loaded.absent:
            self.out.add_absent(tag, source=source, reason=reason)
        return loaded.sections

    def _log(self, tag: str, spec: SectionSpec) -> list[Section]:
        commits = git.log(self.root, spec.entries, spec.leave_out)
        if isinstance(commits, str):
            self.out.add_absent(tag, source="git log", reason=commits)
            return []
        lines = [f"- {commit.text}" for commit in commits]
        return [self.selection.line_section(tag, lines, source="git log")]

    def _text(self, tag: str, spec: SectionSpec) -> list[Section]:
        text = fill(spec.text or "", self.values)
        if not text.strip() and _is_from_request(spec):
            if spec.essential and tag not in self.selection.optional:
                self.out.notes.append(f"no {tag} was given")
            return []
        if not text.strip():
            self.out.add_absent(tag, source="recipe", reason="nothing to say")
            return []
        source = self.values.get(f"{tag}_source", f"recipe {self.selection.recipe.name}")
        return [self.selection.section(tag, text, source=source)]

    # --- errors -----------------------------------------------------------------------------------

    def _input_missing(self, name: str) -> InputMissing:
        hints = {
            "source": ", or --source - for standard input; docs/recipe-sources.md shows the shape"
        }
        why = f"recipe {self.selection.recipe.name!r} works on what you bring"
        return InputMissing(name, why=why, hint=f"give --{name} FILE{hints.get(name, '')}")

    def _section_missing(self, tag: str, spec: SectionSpec) -> InputMissing:
        absent = Absent(tag, source="", reason="nothing was found")
        for candidate in self.out.absent:
            if candidate.tag == tag:
                absent = candidate
                break
        why = f"{absent.source}: {absent.reason}" if absent.source else absent.reason
        if spec.state:
            return InputMissing(
                tag,
                why=why,
                hint=f"docs/recipe-sources.md shows what {spec.state!r} in the source looks like",
            )
        if first_blank(spec.file or "", self.values) == tag:
            why = "none was given and none is pending"
            if self.out.notes:
                _, _, where = self.out.notes[0].partition(": ")
                why += f" ({where})"
            return InputMissing(tag, why=why, hint=f"give one with --{tag} FILE")
        where = path_description(spec.file or spec.folder)
        hint = f"the recipe reads it from {where}" if where else f"give another with --{tag} FILE"
        return InputMissing(tag, why=why, hint=hint)


def _is_from_request(spec: SectionSpec) -> bool:
    """Whether a section is nothing but what the request brings."""
    return spec.text is not None and BLANK.fullmatch(spec.text) is not None
