"""The literal identifiers in a text: what a compressor must keep letter for letter.

Selectors, file names, URLs, addresses, names in code. Told by their form, in time linear in the
text; a word that is none of these is left to the compressor.
"""

from __future__ import annotations

import re

from foreword.pattern import lazy_pattern

_URL = lazy_pattern(r"\b[a-z][a-z0-9+.-]{1,20}://[^\s<>\"'`]{1,2000}", re.IGNORECASE)
_CODE = lazy_pattern(r"`([^`\n]{1,200})`")
_ATTRIBUTE = lazy_pattern(r"(?<![\w.#-])[\w.#-]*+\[[^\[\]\n]{1,120}=[^\[\]\n]{0,120}\]")
_AROUND = "\"'`,;:!?()<>{}*…“”‘’"
_LITERAL = lazy_pattern(
    r"""
      [^\s@]+@[\w-]+\.[\w.-]+                # an address
    | [#.][A-Za-z_][\w.#:>-]*                # a selector, a hidden file
    | --?[A-Za-z][\w-]+(?:=\S*)?             # a flag
    | ~?/?[\w.@-]+(?:/[\w.@*-]+)+/?          # a path
    | [\w-]*[A-Za-z_][\w-]*(?:[.:#][\w-]+)+(?:\(\))?   # a file, a host, a dotted name, tag#id
    | \w*[A-Za-z0-9]_\w+ | _\w+              # snake_case
    | [A-Za-z]*[a-z][A-Z]\w*                 # camelCase
    | [A-Za-z]+-?\d[\w-]*                    # E-77, node4
    | [0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f-]{4,27} | (?=[a-f]*\d)[0-9a-f]{7,64}   # a UUID, a hash
    """,
    re.VERBOSE | re.ASCII,
)
_PROSE = frozenset("and/or either/or yes/no on/off n/a e.g i.e a.m p.m".split())
_LONGEST = 200  # characters: a longer word is data (a hash of hashes, base64), nobody refers to it


def literals(text: str) -> set[str]:
    """The literal identifiers in a text."""
    found = {code.strip() for code in _CODE.findall(text)} | set(_ATTRIBUTE.findall(text))
    found |= {url.rstrip(_AROUND + ".") for url in _URL.findall(text)}
    for word in _ATTRIBUTE.sub(" ", _URL.sub(" ", text)).split():
        bare = word.strip(_AROUND).rstrip(".")
        if not 1 < len(bare) <= _LONGEST or bare.lower() in _PROSE:
            continue
        if _LITERAL.fullmatch(bare):
            found.add(bare)
    return found - {""}
