"""Sections whose text is in files: one file, or several under one tag.

Which files a section may read is the recipe's; reading them is `sources.files`. Here they are
chosen by what they have to do with the task, cut down to the part that the recipe wants, and
ranked: the nearer to the task, the longer a file is kept.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import replace
from fnmatch import fnmatch
from pathlib import PurePosixPath

from foreword.context.blanks import fill, first_blank, path_description
from foreword.context.inputs import ReadingResult
from foreword.recipe.schema import SectionSpec
from foreword.recipe.selection import Selection
from foreword.section import FIRST_IN_GROUP, Form, Rank, Rule, Section
from foreword.sources import commands, documents, files
from foreword.sources.front_matter import without_front_matter
from foreword.sources.library import Library, fields_of
from foreword.text import lines, named_sections, relevance
from foreword.text.blank_template import is_blank_template, is_unanswered, is_unfilled_task
from foreword.text.words import mentions

BY_TASK_TYPE = "task_type"
UNFILLED = "an unfilled template"
# A context may read twice what one section may, so that one huge folder does not starve the
# sections behind it and two of them still end.
SECTIONS_IN_A_CONTEXT = 2
# Added to a file's relevance (at most 1) for each type of the task that loads it: a file that two
# types ask for goes before one that only uses the same words, and not before the best match.
TASK_TYPE_BONUS = 0.3


class FileSectionReader:
    """Reads the file sections of one context; they share an allowance and a list of notes."""

    def __init__(
        self,
        *,
        library: Library,
        selection: Selection,
        values: dict[str, str],
        policy: commands.Policy,
        out: ReadingResult,
    ) -> None:
        self.root = library.root
        self.library = library
        self.selection = selection
        self.values = values
        self.policy = policy
        self.out = out
        self.types_loading = Counter[str]()  # how many types of this task load a file
        self.allowance = files.Allowance(
            files=SECTIONS_IN_A_CONTEXT * files.MOST_FILES,
            bytes=SECTIONS_IN_A_CONTEXT * files.MOST_BYTES,
        )

    def section_allowance(self) -> files.Allowance:
        """What one section may read."""
        return files.Allowance(of=self.allowance)

    def inject(self, text: str, source: str) -> str:
        """A text with the output of the commands in it; a note for each that did not run."""
        injected = commands.inject(text, self.root, self.policy)
        for ran in injected.ran:
            if ran.outcome != "ran":
                detail = f": {ran.detail}" if ran.detail else ""
                self.out.notes.append(
                    f"{source}:{ran.line}: command {ran.command!r} {ran.outcome}{detail}"
                )
        return injected.text

    # --- one file ---------------------------------------------------------------------------------

    def read_file(self, tag: str, spec: SectionSpec) -> list[Section]:
        """The section of a single file, or none where there is nothing to read."""
        template = spec.file or ""
        blank = first_blank(template, self.values)
        words = self.values.get(f"{blank}_words") if template == f"{{{blank}}}" else ""
        if words:
            return [self._section_in_words(tag, words)]
        if blank:
            self.out.add_absent(
                tag, source=path_description(template), reason=f"no {blank} was found"
            )
            return []
        path = documents.path_in_folders(
            self.root, fill(template, self.values), self.selection.recipe.within
        )
        file = self.allowance.read(self.root, path, reader=self.library.file)
        if isinstance(file, files.Skip):
            self.out.add_absent(tag, source=file.path, reason=file.reason)
            return []
        # of a part only the part is judged: one decision in a template is a decision
        judge = is_unfilled_task if template == "{task}" else is_blank_template
        if not spec.heading and _is_unfilled(file, judge):
            self.out.add_absent(tag, source=file.path, reason=UNFILLED)
            return []
        rule = self.selection.rule(tag)
        return self._section(tag, file, rule=rule, rank=self.selection.rank(tag))

    def _section_in_words(self, tag: str, words: str) -> Section:
        """What a request says itself, in place of a file."""
        section = self.selection.section(tag, words.strip("\n"), source="the request")
        return replace(section, after=section.after.rstrip("\n"))

    def _section(
        self, tag: str, file: files.File, *, rule: Rule, rank: Rank, header: str = ""
    ) -> list[Section]:
        """A file as a section, or the part of it that the recipe wants."""
        spec = self.selection.sections[tag]
        beside = self.files_beside(tag, spec, file)
        text = self._part(tag, file, is_alone=not beside)
        read = beside if text is None else [file, *beside]
        if not read:
            return []
        if text is None or beside:
            parts = [] if text is None else [text]
            parts += [other.text for other in beside]
            text = "\n\n".join(lines.strip_blank_lines(part) for part in parts)
        if spec.inject:
            text = self.inject(text, file.path)
        for one in read:
            self.out.notes += [f"{one.path}: {note}" for note in one.notes]
        # only a whole file comes back byte for byte
        raw = file.raw if text is file.text else None
        if self.selection.recipe.documents:
            text = lines.with_newlines(text)
        section = Section(
            tag=tag,
            text=text,
            rule=rule,
            rank=rank,
            title=file.path if header else "",
            source=", ".join(one.path for one in read),
            before="\n".join(part for part in (spec.before, header) if part),
            after=spec.after.rstrip("\n"),
            raw=raw,
        )
        return [section]

    def files_beside(self, tag: str, spec: SectionSpec, file: files.File) -> list[files.File]:
        """The files in the same folder that a section has in addition."""
        folder = PurePosixPath(file.path).parent
        unread = list[files.Skip]()
        paths = list[str]()
        for pattern in spec.beside:
            paths += files.find(self.root, str(folder / pattern), unread)
        self.out.notes += files.skip_notes(unread)
        # one decision in a template is a decision, here too
        judge = is_unanswered if spec.heading else is_blank_template
        return self._usable_files(tag, list(dict.fromkeys(paths)), judge=judge)

    def _part(self, tag: str, file: files.File, *, is_alone: bool = True) -> str | None:
        """What the recipe wants of a file: some fields, what is under a heading, or all of it.
        Where there is nothing, the report says so of a file that is alone in its section."""
        spec = self.selection.sections[tag]
        if spec.fields:
            text, problem = fields_of(file.text, spec.fields)
            if problem:
                self.out.notes.append(f"{file.path}: {problem}")
            if not text:
                self.out.add_absent(tag, source=file.path, reason="none of the fields is there")
                return None
            return text
        if spec.heading:
            under = named_sections.section_text(file.text, spec.heading)
            if under is None:
                self._warn_of_labels(file, spec.heading)
            if under is not None and not is_unanswered(under):
                return under
            if is_alone:
                reason = (
                    "no" if under is None else "only prompts in its" if under else "nothing in its"
                )
                self.out.add_absent(
                    tag, source=file.path, reason=f"{reason} {spec.heading[0]} section"
                )
            return None
        if spec.without:
            under = named_sections.section_text(file.text, spec.without)
            # prompts have no section of their own and stay: a decision in italics looks like one
            if under is not None and not (under and is_unanswered(under)):
                return named_sections.text_without_sections(file.text, spec.without)
        return file.text

    def _warn_of_labels(self, file: files.File, titles: Sequence[str]) -> None:
        """Say so where a file has no section of that name and yet a line that is marked with it."""
        line = named_sections.labelled_line(file.text, titles)
        if line:
            self.out.notes.append(
                f"{file.path} has no section {titles[0]}, but a line {line[:60]!r}:"
                f" put it under a heading `## {titles[0]}`"
            )

    # --- several files ----------------------------------------------------------------------------

    def read_files(self, tag: str, spec: SectionSpec) -> list[Section]:
        """Several files under one tag; the nearer to the task, the longer they are kept."""
        usable = self._usable_files(tag, self._paths(tag, spec))
        if spec.files == (BY_TASK_TYPE,):  # instructions, whose front matter is for their loader
            usable = [replace(file, text=without_front_matter(file.text)) for file in usable]
        summary = self._stand_in(tag) if spec.pick is not None else None
        contenders = [*usable, summary] if summary is not None else usable
        texts = [f"`{file.path}`\n{file.text}" for file in contenders]
        scores = relevance.rank(texts, self.out.query)
        least = scores.pop() if summary is not None else 0.0
        nearest = self._nearest_first(usable, scores)
        if spec.pick is not None:
            nearest = [place for place in nearest if scores[place] > least][: spec.pick]
        if not nearest and not any(absent.tag == tag for absent in self.out.absent):
            reason = "no file that has to do with the task" if usable else "no such file"
            if any(scores):
                reason = "none has more to do with the task than the summary"
            self.out.add_absent(tag, source=spec.folder, reason=reason)
            return []
        order = {place: nearness for nearness, place in enumerate(nearest)}
        sections = list[Section]()
        for place in sorted(nearest):
            sections += self._ranked_section(
                tag, usable[place], nearness=order[place], is_alone=len(nearest) == 1
            )
        return sections

    def _stand_in(self, tag: str) -> files.File | None:
        """The summary of a tag's files: it is preferred to any that has less to do with the
        task."""
        for spec in self.selection.sections.values():
            if spec.stands_in_for == tag and spec.file:
                summary = self.library.file(fill(spec.file, self.values))
                if isinstance(summary, files.File) and not _is_unfilled(summary, is_blank_template):
                    return summary
        return None

    def _usable_files(
        self, tag: str, paths: Sequence[str], *, judge: Callable[[str], bool] = is_blank_template
    ) -> list[files.File]:
        """The files that have something to say; of the others the report says why they are not
        in. `judge` says of a text whether nobody filled it in."""
        usable = list[files.File]()
        left_out = 0
        allowance = self.section_allowance()
        for path in paths:
            file = allowance.read(self.root, path, reader=self.library.file)
            if isinstance(file, files.Skip) and file.reason == files.PAST_LIMIT:
                left_out += 1
            elif isinstance(file, files.Skip):
                self.out.add_absent(tag, source=file.path, reason=file.reason)
            elif _is_unfilled(file, judge):
                self.out.add_absent(tag, source=file.path, reason=UNFILLED)
            else:
                usable.append(file)
        if left_out:
            self.out.shortcomings.append(f"{left_out:,} files of {tag} were not read")
            self.out.limit_notes.append(
                f"{tag}: {left_out:,} of {len(paths):,} files are left out, for a section reads at"
                f" most {files.MOST_FILES:,} files and {files.MOST_BYTES // 1024**2} MiB, and a"
                " context twice as much: narrow `files`, or name some in `leave_out`"
            )
        return usable

    def _nearest_first(self, usable: Sequence[files.File], scores: Sequence[float]) -> list[int]:
        """The places of the files, those first that have most to do with the task."""
        best = max(scores, default=0.0) or 1.0
        nearness = list[float]()
        for file, score in zip(usable, scores, strict=True):
            types = self.types_loading[PurePosixPath(file.path).name]
            nearness.append(score / best + TASK_TYPE_BONUS * types)
        return sorted(range(len(usable)), key=lambda place: (-nearness[place], place))

    def _ranked_section(
        self, tag: str, file: files.File, *, nearness: int, is_alone: bool
    ) -> list[Section]:
        """One of several files; `nearness` 0 is the nearest to the task."""
        rule = self.selection.rule(tag)
        forms = rule.forms if nearness == 0 else _forms_without_trace(rule)
        return self._section(
            tag,
            file,
            rule=replace(rule, in_order=True, forms=forms),
            rank=self.selection.rank(tag, order=FIRST_IN_GROUP - nearness),
            header="" if is_alone else f"# {file.path}\n",
        )

    # --- which files ------------------------------------------------------------------------------

    def _paths(self, tag: str, spec: SectionSpec) -> list[str]:
        patterns: Sequence[str] = spec.files or ()
        if spec.files == (BY_TASK_TYPE,):
            patterns = self._task_type_files()
        paths = list[str]()
        unread = list[files.Skip]()
        for pattern in patterns:
            path = fill(f"{spec.folder}/{pattern}" if spec.folder else pattern, self.values)
            found = self._find(spec, path, unread)
            if not found and spec.or_folder:
                found = self._find(spec, fill(f"{spec.or_folder}/{pattern}", self.values), unread)
            if not found and not re.search(r"[*?\[]", path):
                self.out.add_absent(tag, source=path, reason="missing")
            paths += [path for path in found if not _is_left_out(path, spec)]
        self.out.notes += files.skip_notes(unread)
        return list(dict.fromkeys(paths))

    def _find(self, spec: SectionSpec, path: str, unread: list[files.Skip]) -> list[str]:
        """The files of a pattern in the first folder that has any; what a kind of task needs may
        lie in any folder that documents may lie in."""
        folders: Sequence[str] = ("",)
        if spec.files == (BY_TASK_TYPE,):
            folders = self.selection.recipe.within
        for folder in folders:
            found = files.find(self.root, f"{folder}/{path}" if folder else path, unread)
            if found:
                return found
        return []

    def _task_type_files(self) -> list[str]:
        """The files for the types whose words the task uses, else for those without words."""
        types = self.selection.recipe.task_types
        matched = list[str]()
        for name, task_type in types.items():
            if task_type.words and mentions(self.out.query, task_type.words):
                matched.append(name)
        if not matched:
            matched = [name for name, task_type in types.items() if not task_type.words]
        self.out.facts["task_type"] = ", ".join(matched)
        for name in matched:
            self.types_loading.update(types[name].files)
        return list(self.types_loading)


def _is_unfilled(file: files.File, judge: Callable[[str], bool]) -> bool:
    """Whether nobody filled in a Markdown file."""
    return file.path.lower().endswith((".md", ".markdown")) and judge(file.text)


def _is_left_out(path: str, spec: SectionSpec) -> bool:
    """Whether a pattern leaves a file out: by its name, or with a slash by its path from the
    root or the folder."""
    inside = path.removeprefix(f"{spec.folder}/")
    for pattern in spec.leave_out:
        names = (path, inside) if "/" in pattern else (PurePosixPath(path).name,)
        if any(fnmatch(name, pattern) for name in names):
            return True
    return False


def _forms_without_trace(rule: Rule) -> tuple[Form, ...]:
    """The forms of a file that is not the nearest to the task: it goes without a trace."""
    forms = [form for form in rule.forms if form not in ("reference", "gone")]
    return (*forms, "gone")
