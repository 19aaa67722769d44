"""The blanks of a recipe's paths: the task that was given, and the step or task that has to be
found.

Where to look is the recipe's (`locate`); looking is `sources.locate`'s. Only what the selection
needs is looked for.
"""

from __future__ import annotations

import os
import re
from collections.abc import Mapping
from pathlib import Path, PurePosixPath

from foreword.context.inputs import Inputs
from foreword.errors import BadSource
from foreword.pattern import lazy_pattern
from foreword.recipe.schema import Locate
from foreword.recipe.selection import Selection
from foreword.sources import files, locate, source_argument
from foreword.text import markdown
from foreword.tokens import counter

BLANK = lazy_pattern(r"\{(\w+)\}")
OBJECTIVE_HEADINGS = ("Objective", "Goal", "What To Do", "Summary")
TASK_WORDS = "task_words"
WORDS_SUFFIXES = (".md", ".txt", ".markdown")  # of one word: it is a file, and not there
LONGEST_OBJECTIVE = 38  # tokens; with an ID and the tags of its section, the 50 it should have
_ID = lazy_pattern(r"\b[A-Z][A-Z0-9]{1,9}-\d{1,7}\b|(?<!\w)#\d{1,7}\b")
_LABELLED = lazy_pattern(
    r"^[>\s*_-]{0,8}(?:objective|goal)\b[*_]*[ \t]*:[*_ \t]*(?P<words>\S[^\r\n]*)", re.I | re.M
)


def fill(template: str, values: Mapping[str, str]) -> str:
    """The template with its blanks filled in."""
    return BLANK.sub(lambda found: values.get(found[1], ""), template)


def first_blank(template: str, values: Mapping[str, str]) -> str:
    """The first blank there is no value for, or nothing."""
    for name in BLANK.findall(template):
        if not values.get(name):
            return str(name)
    return ""


def task_reference(path: str, text: str) -> str:
    """A task in one line: what it is called and what it is for."""
    title = markdown.first_title(text)
    task_id = _ID.search(title) or _ID.search(path)
    name = task_id[0] if task_id else PurePosixPath(path).name.removesuffix(".md")
    objective = _objective(text) or title or text
    first_paragraph = re.split(r"\n\s*\n", objective.strip(), maxsplit=1)[0]
    line = " ".join(first_paragraph.split())
    count = counter().count
    if count(line) > LONGEST_OBJECTIVE:
        while count(line) > LONGEST_OBJECTIVE:
            line = line[: len(line) * 9 // 10]
        line = line.rsplit(" ", 1)[0] + " ..."
    return line if name in line else f"{name}: {line}"


def _objective(text: str) -> str:
    """What a task is for: behind a label, else under a heading, else nothing."""
    labelled = _LABELLED.search(text)
    if labelled:
        return labelled["words"]
    for heading in OBJECTIVE_HEADINGS:
        found = markdown.under_heading(text, heading)
        if found:
            return found
    return ""


def find_places(selection: Selection, inputs: Inputs) -> tuple[dict[str, str], list[str]]:
    """A value for every blank the selection needs (empty where nothing was found), and notes on
    how. A task in words is in `task_words`, and `task` is empty."""
    root = inputs.root
    values = dict[str, str]()
    notes = list[str]()
    task = inputs.task
    if isinstance(task, str) and is_words(root, task):
        values |= {"task": "", TASK_WORDS: task}
    elif task is not None and _reads_repository(selection) and _is_elsewhere(root, str(task)):
        values |= {"task": "", TASK_WORDS: _text_elsewhere(root, str(task))}
    elif task is not None:
        values["task"] = _path_from_root(root, str(task))
    if inputs.step is not None:
        values["step"] = _step_folder(root, inputs.step, selection.recipe.locate.get("step"))
    for name, how in selection.recipe.locate.items():
        if name not in values and _is_needed(name, selection):
            found = _find(how, root, values)
            values[name] = found.path
            if found.note:
                notes.append(f"{name}: {found.note}")
    return values, notes


def _reads_repository(selection: Selection) -> bool:
    """Whether a recipe reads a code base: the task is then rarely a file of it."""
    return any(spec.repository for spec in selection.sections.values())


def _is_elsewhere(root: Path, task: str) -> bool:
    """Whether a task that the user names is a file outside the root; a link of the project's that
    leads there is none."""
    here = Path(task).expanduser()
    if not here.is_absolute() and (root / task).exists():
        return False
    place = Path(os.path.normpath(here.absolute()))
    inside = any(place.is_relative_to(base) for base in (root.absolute(), root.resolve()))
    return here.exists() and not inside


def _text_elsewhere(root: Path, task: str) -> str:
    path = source_argument.locate(task, root, hint="")
    try:
        return files.decode(source_argument.read(path, task))[0]
    except UnicodeDecodeError:
        raise BadSource(task, "binary", hint="a task is a text") from None


def is_words(root: Path, task: str) -> bool:
    """Whether a task is said in words: it names no file, and is nothing that can only be meant
    as one."""
    try:
        if (root / task).exists() or Path(task).expanduser().exists():
            return False
    except (OSError, RuntimeError):  # too long for a name, ~nobody
        return True
    except ValueError:  # a NUL in it
        return False
    is_one_word = len(task.split()) == 1
    return not (is_one_word and ("/" in task or task.lower().endswith(WORDS_SUFFIXES)))


def path_description(template: str) -> str:
    """A path with blanks as a person would say it: `STEP.md of the step`."""
    blank = BLANK.match(template)
    if blank is None:
        return template
    rest = template[blank.end() :].strip("/")
    return f"{rest} of the {blank[1]}" if rest else ""


def _step_folder(root: Path, step: str, how: Locate | None) -> str:
    """The folder of a step that the user named, by itself or by its file."""
    name = (how.above_task if how is not None else None) or "STEP.md"
    path = step.rstrip("/")
    if PurePosixPath(path).name != name:
        path = f"{path}/{name}"
    return PurePosixPath(_path_from_root(root, path)).parent.as_posix()


def _path_from_root(root: Path, path: str) -> str:
    """A path the user gave, relative to the root or to where they are; it must be a file inside
    the root."""
    here = Path(path).expanduser()
    if not (root / path).exists() and here.exists():
        path = str(here.resolve())
    return files.read(root, path, must=True).path


def _is_needed(name: str, selection: Selection) -> bool:
    """Whether a section needs this place, or another place that a section needs does."""
    blank = f"{{{name}}}"
    if any(blank in (spec.file or "") for spec in selection.sections.values()):
        return True
    for other, how in selection.recipe.locate.items():
        if other != name and blank in (how.among or "") and _is_needed(other, selection):
            return True
    return False


def _find(how: Locate, root: Path, values: Mapping[str, str]) -> locate.LocatedName:
    if how.above_task and values.get("task"):
        return locate.nearest_above(root, values["task"], how.above_task)
    if first_blank(how.among or "", values):
        return locate.LocatedName()
    among = fill(how.among or "", values)
    if how.pending:
        return locate.current_folder(
            root,
            among,
            named_in=how.named_in,
            pending=how.pending,
            leave_out=how.leave_out,
            ticked_in=how.ticked_in,
        )
    return locate.first_pending(
        root,
        among,
        named_in=how.named_in,
        leave_out=how.leave_out,
        ticked_in=how.ticked_in,
    )
