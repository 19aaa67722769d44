"""The positions that a section may be in, and the fields and forms that have an effect there.

A position is where a section has its text from, as far as other fields have an effect there. The
fields of `schema` declare their positions; `checks` rejects a field or a form anywhere else.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from foreword.section import Form

if TYPE_CHECKING:
    from foreword.recipe.schema import SectionSpec

SOURCES = ("file", "files", "git", "text", "items", "state", "document", "anchors", "repository")
MESSAGES = "state: messages"
PART = "state with show"
CODE = "repository: files"
PATHS = "repository: paths"
FILES = ("file", "files")
TEXTS = (*FILES, "text", "items", "state", PART, "document", "anchors")
LISTS = ("git", "state", MESSAGES, PATHS)
POSITIONS = (*TEXTS, "git", MESSAGES, CODE, PATHS)


def all_but(*positions: str) -> tuple[str, ...]:
    """Return every position but these."""
    return tuple([position for position in POSITIONS if position not in positions])


# `excerpt` gives up entries of a list one by one, as `newest` does, and cuts an entry that is too
# long; messages are cut by `newest`, too.
FORM_POSITIONS: dict[Form, tuple[str, ...]] = {
    "full": POSITIONS,
    "core": ("document",),
    "header": ("document",),
    "regions": (CODE,),
    "outline": (CODE,),
    "summary": TEXTS,
    "relevant": TEXTS,
    "newest": LISTS,
    "excerpt": all_but(MESSAGES, CODE),
    "lead": all_but(PART, "git", MESSAGES, CODE, PATHS),
    "reference": all_but(CODE),
    "gone": POSITIONS,
}


def position_of(section: SectionSpec) -> str:
    """Return the position of a section, or nothing where it has not exactly one source."""
    sources = [name for name in SOURCES if getattr(section, name) is not None]
    if sources == ["text", "state"]:
        sources.remove("text")  # written where the source has none
    if len(sources) != 1:
        return ""
    if section.repository is not None:
        return f"repository: {section.repository}"
    if section.state == "messages":
        return MESSAGES
    return PART if section.state is not None and section.show else sources[0]
