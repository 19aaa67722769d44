"""What the agents of a flow can look up: what earlier phases of the task handed on, and the
project's documents.

Artifacts are in the database, so they are within reach of every process. Documents are files: a
process on a machine that does not have the project's folder offers artifacts alone. Each answer has
a budget.
"""

from __future__ import annotations

from collections.abc import Callable
from contextlib import AbstractContextManager
from pathlib import Path

from foreword import tokens
from foreword.engine.render import boundary_pattern
from foreword.errors import UnknownName
from foreword.origin import quote_headings
from foreword.pattern import lazy_pattern
from foreword.plan.artifact_names import NAME
from foreword.store import artifacts
from foreword.store.database import Database
from foreword.text.cut import relevant
from foreword.text.omission_mark import look_up_mark

# Of one answer: several pages. What an agent looks up stays in its conversation for the rest of the
# phase, so twice as much would fill it twice as soon; the rest can be looked up by another `about`.
MOST_TOKENS = 4_000
# Of what is recalled: a page or two of hits, each of which has a handle.
RECALL_TOKENS = 1_500
_TAG = "artifact"  # around what is fetched
_NEVER_A_DOCUMENT = lazy_pattern(rf"{NAME}|fw_[0-9a-f]+")
# What models read as the description of the tool and of its arguments.
_ABOUT = (
    "    about: What you want to know; of an artifact that is too long, the passages about that are"
    " returned.\n"
)
_ARTIFACTS_ONLY = f"""Fetch an artifact of an earlier phase by its name, as in FEAT-1.

Args:
    name: The name between the brackets of its reference.
{_ABOUT}"""
_WITH_DOCUMENTS = (
    "Fetch an artifact of an earlier phase by its name, as in FEAT-1, or a document of the project."
    "\n\nArgs:\n"
    "    name: The name between the brackets of an artifact's reference, or a document's name or"
    " path, or a few words\n"
    "        about what you need.\n"
    f"{_ABOUT}"
)


def lookup_tool(
    use_store: Callable[[], AbstractContextManager[Database]],
    *,
    task: str,
    project: Path | None = None,
) -> Callable[..., str]:
    """The tool that fetches an artifact of a task or, where the project's folder is there, a
    document of it."""

    def lookup(name: str, about: str = "") -> str:
        try:
            with use_store() as store:
                return artifact_text(store, task=task, name=name, about=about)
        except UnknownName:
            if project is None or _NEVER_A_DOCUMENT.fullmatch(_without_brackets(name)):
                raise
        with use_store() as store:
            return _document_text(project, name, store)

    lookup.__doc__ = _ARTIFACTS_ONLY if project is None else _WITH_DOCUMENTS
    return lookup


def recall_tool(
    use_store: Callable[[], AbstractContextManager[Database]],
) -> Callable[..., str]:
    """The tool that says what was said and handed on about a question, in all that the store has
    kept."""

    def recall(question: str) -> str:
        """Say what was said and handed on about a question earlier: word for word, with where it is
        from.

        Args:
            question: A question, or a few words of what was said.
        """
        from foreword.search.search import search_store

        counter = tokens.counter()
        with use_store() as store:
            return search_store(store, question, budget=RECALL_TOKENS, counter=counter)

    return recall


def artifact_text(
    store: Database,
    *,
    task: str,
    name: str,
    about: str = "",
    most_tokens: int = MOST_TOKENS,
) -> str:
    """Return an artifact within so many tokens, inside a tag and under who said it; what is left
    out is said, with the way to it."""
    wanted = _without_brackets(name)
    known = artifacts.of_task(store, task)
    found = None
    for artifact in known:
        if wanted.lower() in (artifact.name.lower(), artifact.handle):
            found = artifact
            break
    if found is None:
        raise UnknownName("artifact", wanted, [artifact.name for artifact in known])
    text = artifacts.text_of(store, found)
    counter = tokens.counter()

    def mark(left_out: int, _: int) -> str:
        return look_up_mark(counter.tokens(left_out))

    shorter = relevant(text, counter.room(most_tokens), counter.measure, mark, query=about)
    if shorter is None:
        return found.reference
    body = boundary_pattern(frozenset([_TAG])).escape(quote_headings(shorter))
    return f"<{_TAG}>\n# {found.reference}\n{body}\n</{_TAG}>"


def _document_text(project: Path, name: str, store: Database) -> str:
    from foreword.context.lookup import lookup

    found = lookup(name, root=project, budget=MOST_TOKENS, index=store, save=False)
    return found.text


def _without_brackets(name: str) -> str:
    return name.strip().strip("[]").strip()
