"""What people write for agents outside of a factory: skills, agents, commands, the state of a
project in a hidden folder.

Such files are found by where they lie or by their front matter, and held to what loaders of skills
ask for. Links and marks are checked as in every document (`document_checks`).
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import PurePosixPath

from foreword.lint.document_index import DocumentIndex
from foreword.lint.problem import Problem, error, warning
from foreword.pattern import lazy_pattern
from foreword.sources import files
from foreword.sources.documents import Document, ending_patterns, find_documents
from foreword.sources.front_matter import front_matter

SKILL = "SKILL.md"
WHERE = "SKILL.md, AGENTS.md, CLAUDE.md, agents/, commands/, skills/, .director/"  # in words
# The open format of skills has both limits, in characters.
LONGEST_NAME = 64
LONGEST_DESCRIPTION = 1_024

_FILES = (SKILL, "AGENTS.md", "CLAUDE.md", "GEMINI.md")
_FOLDERS = frozenset(("agents", "commands", "skills", "rules"))
_HIDDEN = ".github"  # has pages for people; all other hidden folders are for tools
_FIELDS = lazy_pattern(r"---[ \t]*\r?\n\s*[\w-]+[ \t]*:")
_NAME = lazy_pattern(r"[^\W_A-Z]+(?:-[^\W_A-Z]+)*")


def agent_files(index: DocumentIndex) -> list[Document]:
    """The files for agents in a project that has no documents of its recipe's."""
    found = find_documents(index.root, {"agent": ending_patterns("md")})
    return [document for document in found if _is_for_agents(index, document.path)]


def _is_for_agents(index: DocumentIndex, path: str) -> bool:
    *folders, name = PurePosixPath(path).parts
    if name in _FILES or not _FOLDERS.isdisjoint(folders):
        return True
    if any(folder.startswith(".") and folder != _HIDDEN for folder in folders):
        return True
    file = index.file(path)
    return isinstance(file, files.File) and _FIELDS.match(file.text) is not None


def front_matter_problems(index: DocumentIndex, document: Document, text: str) -> Iterator[Problem]:
    """Front matter that no loader can read; of a skill, what its loader asks for and is not
    there."""
    fields, _, problem = front_matter(text)
    path = PurePosixPath(document.path)
    if problem and _FIELDS.match(text):
        report = error if path.name == SKILL else warning
        yield report(document.path, 1, code="bad-front-matter", message=problem)
    elif path.name == SKILL:
        for message in _skill_problems(fields, folder=path.parent.name):
            yield warning(document.path, 1, code="bad-skill", message=message)


def _skill_problems(fields: dict[str, object], *, folder: str) -> Iterator[str]:
    name = fields.get("name")
    if not isinstance(name, str) or not name.strip():
        yield "no name: loaders of skills ask for one in the front matter"
    elif len(name) > LONGEST_NAME or not _NAME.fullmatch(name):
        yield (
            f"name {name[:80]!r} should be at most {LONGEST_NAME} small letters, digits and single"
            " hyphens"
        )
    elif folder and name != folder:
        yield f"name {name!r} should be that of its folder, {folder!r}"
    description = fields.get("description")
    if not isinstance(description, str) or not description.strip():
        yield "no description: it is all that an agent knows of a skill before it loads it"
    elif len(description) > LONGEST_DESCRIPTION:
        yield (
            f"description of {len(description):,} characters: loaders may cut it at"
            f" {LONGEST_DESCRIPTION:,}"
        )
