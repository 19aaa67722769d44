"""What the lists and tables of a Markdown text say is done.

`- [x] Task 2: Shrink photos`, `1. [x] [Shrink photos](tasks/02-shrink.md)` and `| 2 | Shrink photos
| ✅ Done |` all say that of a task. Pure: which file a name belongs to is the caller's business.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from foreword.pattern import lazy_pattern

# What a word or a sign says of something that nobody has to do any more.
DONE_WORDS = frozenset(
    "done complete completed finished closed cancelled canceled obsolete".split()
)
_DONE_SIGNS = frozenset("✅ ☑ ✔ 🗹".split())
_ITEM = lazy_pattern(r"^[ \t>]*(?:[-*+]|\d{1,9}[.)])[ \t]+\[[xX]\][ \t]+(?P<said>\S[^\r\n]*)", re.M)
_ROW = lazy_pattern(r"^[ \t>]*\|(?P<cells>[^\r\n]*)", re.M)
_LINK = lazy_pattern(r"\[(?P<label>[^\]\n]*)\]\((?P<target>[^)\n]*)\)")
# Between what something is called and what else is said of it.
_BETWEEN = lazy_pattern(r"\s+[-\u2013\u2014]+\s+|\s*[:(,]\s*|\s*\u2192\s*")


def done_names(text: str) -> list[str]:
    """What is ticked off, by everything that may be its name: the whole of an item, the parts of
    it, the label and the target of a link."""
    names: list[str] = []
    for said in _done_items(text):
        names += [link["target"] for link in _LINK.finditer(said)]
        plain = _LINK.sub(lambda link: link["label"], said)
        names += [plain, *_BETWEEN.split(plain)]
    return [name for name in dict.fromkeys(names) if name.strip()]


def _done_items(text: str) -> Iterator[str]:
    for item in _ITEM.finditer(text):
        yield item["said"].strip()
    for row in _ROW.finditer(text):
        cells = [cell.strip() for cell in row["cells"].split("|")]
        if any(_says_done(cell) for cell in cells):
            yield from (cell for cell in cells if cell and not _says_done(cell))


def _says_done(cell: str) -> bool:
    """Whether a cell says that its row is done, and nothing else."""
    words = re.findall(r"\w+", cell.lower())
    if not words or cell.lower() in ("[x]", "x"):
        is_signed = any(sign in cell for sign in _DONE_SIGNS)
        return is_signed or cell.lower() in ("[x]", "x")
    return DONE_WORDS.issuperset(words)
