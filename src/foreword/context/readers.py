"""Fill the sections of a selection: read what each one names, and say what was not there.

All reading goes through `sources`; finding the step and the task is `places`' business, what the
user brings is `brought`'s. What comes back is ready for the engine.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from fnmatch import fnmatch
from pathlib import Path, PurePosixPath
from typing import Any

from foreword.context import item_sections
from foreword.context.blanks import BLANK, fill, find_places, first_blank, task_reference
from foreword.context.document_sections import document_sections
from foreword.errors import InputMissing
from foreword.recipe.schema import SectionSpec
from foreword.recipe.selection import Selection
from foreword.section import Absent, Entry, Rule, Section
from foreword.sources import commands, documents, files, git, json_state, source_argument
from foreword.sources.front_matter import front_matter
from foreword.sources.items import Item, read_items
from foreword.sources.library import Library, fields_of, read_values
from foreword.text import lines, markdown, relevance
from foreword.text.blank_template import is_blank_template
from foreword.text.words import mentions

BY_TASK_TYPE = "task_type"
UNFILLED = "an unfilled template"
LONGEST_QUERY = 4_000
PLACEHOLDER = re.compile(r"\[[^\]\n]{1,80}+\](?!\()|_[^_\n]{1,80}+_")
WORKED_ON = ("current", "in_progress")
MOST_NOTES = 1_000  # a source may have as many oddities as items; who reads past the first hundred


@dataclass(frozen=True, slots=True, kw_only=True)
class Inputs:
    """What a request brings besides the recipe."""

    root: Path
    task: str | None = None
    source: str | None = None
    policy: commands.Policy = field(default_factory=commands.Policy)
    carried: tuple[Item, ...] = ()
    values: Mapping[str, str] = field(default_factory=dict)  # for blanks, in place of what is found
    stdin: Callable[[], bytes] = source_argument.read_stdin  # what `-` as a source stands for


@dataclass(slots=True, kw_only=True)
class SectionsRead:
    """What was read, and what a report should say about it."""

    sections: list[Section] = field(default_factory=list)
    absent: list[Absent] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)
    facts: dict[str, str] = field(default_factory=dict)
    items: list[Item] = field(default_factory=list)
    # of the context as a whole, for the last line of the bill
    shortcomings: list[str] = field(default_factory=list)
    query: str = ""  # what relevance is measured against


def gather(selection: Selection, inputs: Inputs) -> SectionsRead:
    """Read every section of the selection."""
    return _SectionReader(selection, inputs).run()


class _SectionReader:
    """One pass over a selection; its parts share what was found on the way."""

    def __init__(self, selection: Selection, inputs: Inputs) -> None:
        self.selection, self.inputs, self.root = selection, inputs, inputs.root
        self.out = SectionsRead()
        self.data: dict[str, Any] = {}
        self.missing = list[str]()  # what is essential or named by the project, and not there
        self.wanted = Counter[str]()  # how many types of this task load a file
        # what was left out since there is too much of it: told before anything else
        self.limits = list[str]()
        # of all sections
        self.allowance = files.Allowance(files=2 * files.MOST_FILES, bytes=2 * files.MOST_BYTES)
        places, self.out.notes = find_places(selection, inputs.root, inputs.task)
        read, notes = read_values(inputs.root, selection.recipe)
        self.out.notes += notes
        self.values = {**read, **selection.values, **places, **inputs.values}
        self.library = Library(inputs.root, selection.recipe)

    def run(self) -> SectionsRead:
        for name in ("task", "source"):
            if name in self.selection.recipe.needs and getattr(self.inputs, name) is None:
                raise self._not_given(name)
        self.library.check()
        self._read_source()
        self._read_skill()
        self.out.query = self._query()
        if task := self.values.get("task"):
            self.values.setdefault("task_reference", task_reference(task, self.out.query))
        for tag, spec in self.selection.sections.items():
            found = self._read(tag, spec)
            self.out.sections += found
            if not found and (spec.required or tag in self.selection.required):
                raise self._missing(tag, spec)
            if not found and self._is_missed(tag, spec):
                self.missing.append(tag)
                self.out.notes.append(f"{tag} is not there, though it is essential")
        if missing := list(dict.fromkeys(self.missing)):
            self.out.shortcomings.append(
                f"{', '.join(missing)} {'is' if len(missing) == 1 else 'are'} missing"
            )
        # a file that is read twice tells the same twice
        notes = list(dict.fromkeys(self.out.notes))
        more = (
            [f"{len(notes) - MOST_NOTES:,} more warnings like these"]
            if len(notes) > MOST_NOTES
            else []
        )
        self.out.notes = [*self.limits, *notes[:MOST_NOTES], *more]
        return self.out

    def _is_missed(self, tag: str, spec: SectionSpec) -> bool:
        """Whether a context without this section is not what it should be; what nobody gave was
        told already."""
        is_part = spec.heading or spec.anchors
        return (
            spec.essential
            and not is_part
            and not _is_given(spec)
            and tag not in self.selection.optional
        )

    def _read_source(self) -> None:
        specs, source = self.selection.sections.values(), self.inputs.source
        if not any(spec.items or spec.state for spec in specs):
            if source is not None:
                self.out.notes.append(
                    f"recipe {self.selection.recipe.name!r} does not use a source"
                )
            return
        if source is None:
            raise self._not_given("source")
        if any(spec.items for spec in specs):
            items, notes = read_items(source, self.root, self.inputs.stdin)
            self.out.items = item_sections.add_carried_items(items, self.inputs.carried)
            self.out.notes += [*notes, *item_sections.unknown_kinds(self.out.items, self.selection)]
        else:
            self.data = json_state.read_json(source, self.root, self.inputs.stdin)

    def _read_skill(self) -> None:
        """A skill's own file takes the place of the recipe's instructions."""
        skill = self.selection.names.get("skill", "")
        for pattern in self.selection.recipe.skill_file if skill else ():
            found = files.read(self.root, fill(pattern, {"skill": skill}))
            if isinstance(found, files.File):
                self.values["instructions"] = front_matter(self._injected(found.text, found.path))[
                    1
                ].strip("\n")
                self.values["instructions_source"] = found.path
                return

    def _injected(self, text: str, source: str) -> str:
        done = commands.inject(text, self.root, self.inputs.policy)
        for ran in done.ran:
            if ran.outcome != "ran":
                detail = f": {ran.detail}" if ran.detail else ""
                self.out.notes.append(
                    f"{source}:{ran.line}: command {ran.command!r} {ran.outcome}{detail}"
                )
        return done.text

    def _query(self) -> str:
        """The task, else the step it will come from, else what is being worked on in the source."""
        step = self.values.get("step")
        for path in (self.values.get("task"), f"{step}/STEP.md" if step else None):
            found = files.read(self.root, path) if path else None
            if isinstance(found, files.File) and not is_blank_template(found.text):
                return found.text[:LONGEST_QUERY]
        if told := self.values.get("task_reference"):
            return told[:LONGEST_QUERY]
        asked = [
            f"{item.title}\n{item.text}"
            for item in self.out.items
            if item.kind in ("task", "instruction")
        ]
        units = json_state.value_at(self.data, "units")
        members = (
            [unit for unit in units if isinstance(unit, dict)] if isinstance(units, list) else []
        )
        current = json_state.matching_members(members, {"status": WORKED_ON})
        return "\n".join([*asked, *(str(value) for unit in current for value in unit.values())])[
            :LONGEST_QUERY
        ]

    # --- sections ---------------------------------------------------------------------------------

    def _read(self, tag: str, spec: SectionSpec) -> list[Section]:
        if spec.file is not None:
            return self._file(tag, spec)
        if spec.files is not None:
            return self._files(tag, spec)
        if spec.git is not None:
            return self._log(tag, spec)
        if spec.text is not None:
            return self._text(tag, spec)
        if spec.document is not None:
            return self._documents(tag)
        if spec.anchors:
            return []  # they are in the other sections
        if spec.items is not None:
            return item_sections.item_sections(tag, self.selection, self.out.items)
        found, notes = item_sections.state_sections(
            tag, self.selection, self.data, str(self.inputs.source)
        )
        self.out.notes += notes
        return self._absent(tag, spec.state or "", found) if isinstance(found, str) else found

    def _documents(self, tag: str) -> list[Section]:
        asked = {**self.selection.names, **self.inputs.values}
        loaded = document_sections(
            tag, self.selection, self.library, self.values, asked, self._allowed()
        )
        self.out.notes += loaded.notes
        self.missing += loaded.missing
        for source, reason in loaded.absent:
            self._absent(tag, source, reason)
        return loaded.sections

    def _not_given(self, name: str) -> InputMissing:
        hints = {"source": ", or --source - for standard input; docs/recipes.md shows the shape"}
        why = f"recipe {self.selection.recipe.name!r} works on what you bring"
        return InputMissing(name, why, hint=f"give --{name} FILE{hints.get(name, '')}")

    def _absent(self, tag: str, source: str, reason: str) -> list[Section]:
        self.out.absent.append(Absent(tag, source, reason))
        return []

    def _missing(self, tag: str, spec: SectionSpec) -> InputMissing:
        absent = next(
            (a for a in self.out.absent if a.tag == tag), Absent(tag, "", "nothing was found")
        )
        why = f"{absent.source}: {absent.reason}" if absent.source else absent.reason
        if spec.state:
            return InputMissing(
                tag, why, hint=f"docs/recipes.md shows what {spec.state!r} in the source looks like"
            )
        if first_blank(spec.file or "", self.values) == tag:
            looked = "".join(f" ({note.partition(': ')[2]})" for note in self.out.notes[:1])
            return InputMissing(
                tag,
                f"none was given and none is pending{looked}",
                hint=f"give one with --{tag} FILE",
            )
        return InputMissing(tag, why, hint=f"the recipe reads it from {spec.file or spec.folder}")

    def _file(self, tag: str, spec: SectionSpec) -> list[Section]:
        template = spec.file or ""
        if blank := first_blank(template, self.values):
            return self._absent(tag, template, f"no {blank} was found")
        found = self.allowance.read(
            self.root,
            documents.path_in_folders(
                self.root, fill(template, self.values), self.selection.recipe.within
            ),
        )
        if isinstance(found, files.Skip):
            return self._absent(tag, found.path, found.reason)
        if _is_template(found, is_task=template == "{task}"):
            return self._absent(tag, found.path, UNFILLED)
        return self._section(tag, spec, found, self.selection.rule(tag), self.selection.rank(tag))

    def _section(
        self,
        tag: str,
        spec: SectionSpec,
        file: files.File,
        rule: Rule,
        rank: float,
        header: str = "",
    ) -> list[Section]:
        """A file as a section, or the part of it that the recipe wants."""
        text = file.text
        if spec.fields:
            text, problem = fields_of(file.text, spec.fields)
            self.out.notes += [f"{file.path}: {problem}"] if problem else []
            if not text:
                return self._absent(tag, file.path, "none of the fields is there")
        elif spec.heading is not None:
            text = markdown.under_heading(file.text, spec.heading) or ""
            if is_blank_template(text):
                return self._absent(tag, file.path, f"no {spec.heading} section")
        elif spec.without is not None:
            text = markdown.without_heading(file.text, spec.without)
        if spec.inject:
            text = self._injected(text, file.path)
        self.out.notes += [f"{file.path}: {note}" for note in file.notes]
        before = "\n".join(part for part in (spec.before, header) if part)
        title, raw = file.path if header else "", file.raw if text is file.text else None
        if self.selection.recipe.documents:
            text = lines.with_newlines(text)
        return [
            Section(
                tag=tag,
                text=text,
                rule=rule,
                rank=rank,
                title=title,
                source=file.path,
                kind="",
                before=before,
                after=spec.after.rstrip("\n"),
                raw=raw,
            )
        ]

    def _files(self, tag: str, spec: SectionSpec) -> list[Section]:
        """Several files under one tag; the nearer to the task, the longer they are kept."""
        usable, left_out = list[files.File](), 0
        paths, allowance = self._paths(tag, spec), self._allowed()
        for path in paths:
            file = allowance.read(self.root, path)
            if isinstance(file, files.Skip) and file.reason == files.PAST_LIMIT:
                left_out += 1
            elif isinstance(file, files.Skip):
                self._absent(tag, file.path, file.reason)
            elif _is_template(file):
                self._absent(tag, file.path, UNFILLED)
            else:
                usable.append(file)
        if left_out:
            self.out.shortcomings.append(f"{left_out:,} files of {tag} were not read")
            self.limits.append(
                f"{tag}: {left_out:,} of {len(paths):,} files are left out, for a section reads at"
                f" most {files.MOST_FILES:,} files and {files.MOST_BYTES // 1024**2} MiB, and a"
                " context twice as much: narrow `files`, or name some in `leave_out`"
            )
        scores = relevance.rank([f"`{file.path}`\n{file.text}" for file in usable], self.out.query)
        best = max(scores, default=0.0) or 1.0
        near = [
            scores[i] / best + 0.3 * self.wanted[PurePosixPath(f.path).name]
            for i, f in enumerate(usable)
        ]
        nearest = sorted(range(len(usable)), key=lambda place: (-near[place], place))
        if spec.pick is not None:
            nearest = [place for place in nearest if scores[place] > 0][: spec.pick]
        if not nearest and not any(absent.tag == tag for absent in self.out.absent):
            return self._absent(
                tag,
                spec.folder,
                "no file that has to do with the task" if usable else "no such file",
            )
        rule, rank = self.selection.rule(tag), self.selection.rank(tag)
        sections, nearnesses = (
            list[Section](),
            {place: nearness for nearness, place in enumerate(nearest)},
        )
        for place in sorted(nearest):
            nearness = nearnesses[place]
            header = f"# {usable[place].path}\n" if len(nearest) > 1 else ""
            own = replace(
                rule, in_order=True, forms=rule.forms if nearness == 0 else _may_be_lost(rule)
            )
            sections += self._section(
                tag, spec, usable[place], own, rank + 0.9 - min(nearness, 8_999) / 10_000, header
            )
        return sections

    def _paths(self, tag: str, spec: SectionSpec) -> list[str]:
        patterns = self._by_task_type() if spec.files == (BY_TASK_TYPE,) else list(spec.files or ())
        paths, unread = list[str](), list[files.Skip]()
        for pattern in patterns:
            full = fill(f"{spec.folder}/{pattern}" if spec.folder else pattern, self.values)
            found = next(
                filter(
                    None,
                    (files.find(self.root, place, unread) for place in self._places(spec, full)),
                ),
                [],
            )
            if not found and not re.search(r"[*?\[]", full):
                self._absent(tag, full, "missing")
            paths += [path for path in found if not _is_left_out(path, spec)]
        self.out.notes += files.skip_notes(unread)
        return list(dict.fromkeys(paths))

    def _allowed(self) -> files.Allowance:
        """What one section may read."""
        return files.Allowance(of=self.allowance)

    def _places(self, spec: SectionSpec, path: str) -> list[str]:
        """Where a path may lie: what a kind of task needs, in any folder that documents may lie
        in."""
        within = self.selection.recipe.within if spec.files == (BY_TASK_TYPE,) else ("",)
        return [f"{folder}/{path}" if folder else path for folder in within]

    def _by_task_type(self) -> list[str]:
        types = self.selection.recipe.task_types
        matched = [
            name
            for name, kind in types.items()
            if kind.words and mentions(self.out.query, kind.words)
        ]
        matched = matched or [name for name, kind in types.items() if not kind.words]
        self.out.facts["task_type"] = ", ".join(matched)
        self.wanted.update(path for name in matched for path in types[name].files)
        return list(self.wanted)

    def _log(self, tag: str, spec: SectionSpec) -> list[Section]:
        commits = git.log(self.root, spec.entries, spec.leave_out)
        if isinstance(commits, str):
            return self._absent(tag, "git log", commits)
        entries = tuple(Entry(f"- {commit.text}") for commit in commits)
        text, rule = (
            "\n".join(entry.text for entry in entries),
            replace(self.selection.rule(tag), newest_first=True),
        )
        rank = self.selection.rank(tag)
        return [
            Section(
                tag=tag,
                text=text,
                rule=rule,
                rank=rank,
                title="",
                source="git log",
                kind="",
                before=spec.before,
                after=spec.after,
                entries=entries,
            )
        ]

    def _text(self, tag: str, spec: SectionSpec) -> list[Section]:
        text = fill(spec.text or "", self.values)
        if not text.strip() and _is_given(spec):
            if spec.essential and tag not in self.selection.optional:
                self.out.notes.append(f"no {tag} was given")
            return []
        if not text.strip():
            return self._absent(tag, "recipe", "nothing to say")
        source = self.values.get(f"{tag}_source", f"recipe {self.selection.recipe.name}")
        rule, rank = self.selection.rule(tag), self.selection.rank(tag)
        return [
            Section(
                tag=tag,
                text=text,
                rule=rule,
                rank=rank,
                title="",
                source=source,
                kind="",
                before=spec.before,
                after=spec.after,
            )
        ]


def _is_given(spec: SectionSpec) -> bool:
    """Whether a section is nothing but what the request brings."""
    return spec.text is not None and BLANK.fullmatch(spec.text) is not None


def _is_template(file: files.File, is_task: bool = False) -> bool:
    """Whether a Markdown file was never filled in; of a task the title alone is enough."""
    if not file.path.lower().endswith((".md", ".markdown")) or not is_blank_template(file.text):
        return False
    return not (is_task and file.text.strip() and not PLACEHOLDER.search(file.text[:LONGEST_QUERY]))


def _is_left_out(path: str, spec: SectionSpec) -> bool:
    """Whether a pattern leaves a file out: by its name, or with a slash by its path from the
    root or the folder."""
    inside = path.removeprefix(f"{spec.folder}/")
    return any(
        (
            fnmatch(path, pattern) or fnmatch(inside, pattern)
            if "/" in pattern
            else fnmatch(PurePosixPath(path).name, pattern)
        )
        for pattern in spec.leave_out
    )


def _may_be_lost(rule: Rule) -> tuple[Any, ...]:
    """The forms of a file that is not the nearest to the task: it goes without a trace."""
    return (*(form for form in rule.forms if form not in ("reference", "gone")), "gone")
