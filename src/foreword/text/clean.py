"""Replace the characters that no tokenizer, database or JSON writer takes.

Lone surrogates and NULs become U+FFFD, one for one, so offsets and lengths stay as they were. It does not
normalise, strip or guess encodings: everything else is the author's.
"""

from __future__ import annotations

import re

_NUL = "\x00"
_SURROGATE = re.compile("[\ud800-\udfff]")
_REPLACEMENT = "\ufffd"


def clean(text: str) -> tuple[str, list[str]]:
    """The text with unusable characters replaced, and what was done; a clean text comes back as the same object."""
    done: list[str] = []
    if nuls := text.count(_NUL):
        text = text.replace(_NUL, _REPLACEMENT)
        done.append(_told(nuls, "NUL character"))
    if not text.isascii() and _SURROGATE.search(text):
        text, surrogates = _SURROGATE.subn(_REPLACEMENT, text)
        done.append(_told(surrogates, "lone surrogate"))
    return text, done


def _told(count: int, what: str) -> str:
    return f"{count} {what}{'' if count == 1 else 's'} replaced"
