"""Replace the characters that no tokenizer, database or JSON writer takes.

Lone surrogates and NULs become U+FFFD, one for one, so offsets and lengths stay as they were. It
does not normalise, strip or guess encodings: everything else is the author's. What a program wrote
is no author's: there the sequences that steer a terminal go, too.
"""

from __future__ import annotations

from foreword.pattern import lazy_pattern

_NUL = "\x00"
_SURROGATE = lazy_pattern("[\ud800-\udfff]")
_REPLACEMENT = "\ufffd"
_STEERING = lazy_pattern(
    r"\x1b(?:\[[0-?]*[ -/]*[@-~]?|[\]PX^_][^\x07\x1b\n]*(?:\x07|\x1b\\)?|[ -/]*[0-~]?)"
    r"|[\x01-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f]"
)


def clean(text: str) -> tuple[str, list[str]]:
    """The text with unusable characters replaced, and what was done; a clean text comes back as
    the same object."""
    done: list[str] = []
    if _NUL in text:
        nuls = text.count(_NUL)
        text = text.replace(_NUL, _REPLACEMENT)
        done.append(_replacement_note(nuls, "NUL character"))
    if not text.isascii() and _SURROGATE.search(text):
        text, surrogates = _SURROGATE.subn(_REPLACEMENT, text)
        done.append(_replacement_note(surrogates, "lone surrogate"))
    return text, done


def without_escapes(text: str) -> str:
    """The text without what steers a terminal: escape sequences whole, and every other control
    character."""
    return _STEERING.sub("", text)


def _replacement_note(count: int, what: str) -> str:
    plural = "" if count == 1 else "s"
    return f"{count} {what}{plural} replaced"
