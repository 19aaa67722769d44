"""Hide secrets by their value: what is secret in one place is hidden in every other.

By name and by shape they are hidden by `masking`. A value that is secret by its name (a variable,
a node's field, an argument) is hidden wherever else it turns up: in a page that repeats what was
typed, in what a tool prints, in a history.
"""

from __future__ import annotations

import json
import re
from base64 import b64encode
from collections.abc import Iterable, Iterator, Mapping
from hashlib import blake2b
from html import escape
from typing import Any
from urllib.parse import quote, quote_plus

from foreword.pattern import lazy_pattern
from foreword.secrets.masking import HIDDEN, elements, hide, is_array, mask, members
from foreword.secrets.text_search import remember_short

# Characters. What is shorter stands anywhere: a password of three letters would blacken every text
# it is a word of.
LEAST_CHARS = 4
# Characters. A shorter one is hidden only where it stands alone: `4711`, but not the half of
# `47113`, nor of a date.
LEAST_ANYWHERE = 8
# Bytes. In base64, the ends of a value depend on what is around it; of a shorter one too little is
# left in the middle.
LEAST_ENCODED = 8
# Characters. A text is looked at for being a secret as a whole up to here: the longest keys have
# some thousands.
LONGEST_SECRET = 10_000
# What an address leaves as it is: nothing, a path, a part of one and a whole one as browsers encode
# them.
_LEFT_IN_ADDRESSES = ("", "/", "!~*'()", ";,/?:@&=+$!~*'()#")
_LOWER = lazy_pattern(r"%[0-9A-F]{2}")


class KnownValues:
    """Knows secrets and hides them."""

    def __init__(self) -> None:
        self._known: set[str] = set()
        self._spellings: tuple[str, ...] = ()  # how each of them may be written
        self._pattern: re.Pattern[str] | None = None
        self.digest = ""  # the same for the same secrets; empty for none

    def __bool__(self) -> bool:
        return bool(self._known)

    @property
    def spellings(self) -> tuple[str, ...]:
        """Every way in which one of them may be written."""
        return self._spellings

    def learn(self, values: Iterable[object]) -> None:
        """Take in everything that is secret in these values."""
        texts: set[str] = set()
        for value in values:
            texts.update(secrets_in(value))
        self.learn_texts(texts)

    def learn_texts(self, texts: Iterable[str]) -> None:
        """Take in texts that are secret whatever they look like."""
        known = len(self._known)
        for text in texts:
            if len(text) >= LEAST_CHARS and text != HIDDEN:
                self._known.add(text)
        if len(self._known) == known:
            return
        spellings: set[str] = set()
        for text in self._known:
            spellings.update(_spellings(text))
        # The longest first: one may be part of another.
        self._spellings = tuple(sorted(spellings, key=len, reverse=True))
        self._pattern = re.compile("|".join(map(_pattern_for, self._spellings)))
        every = "\0".join(sorted(self._known)).encode("utf-8", "surrogatepass")
        self.digest = blake2b(every, digest_size=8).hexdigest()

    def text(self, text: str) -> str:
        """The text with every secret hidden."""
        return mask(self.hide_known_values(text))

    def value(self, value: object) -> object:
        """A plain copy of the value with every secret hidden."""
        return self._hide_known_in(hide(value))

    def _hide_known_in(self, value: object) -> object:
        if isinstance(value, str):
            return self.hide_known_values(value)
        if isinstance(value, dict):
            hidden = dict[str, object]()
            for name, member in value.items():
                hidden[self.hide_known_values(name)] = self._hide_known_in(member)
            return hidden
        if isinstance(value, list):
            return [self._hide_known_in(member) for member in value]
        return value

    def hide_known_values(self, text: str) -> str:
        """The text with the secrets hidden that were taken in, and no others."""
        # To look for a text is far quicker than to look for a pattern, and most texts have none of
        # them.
        if self._pattern is None or not any(one in text for one in self._spellings):
            return text
        return self._pattern.sub(HIDDEN, text)

    def is_known(self, text: str) -> bool:
        """Whether all of the text is one of the secrets that were taken in."""
        return text in self._known


def secrets_in(value: object) -> Iterator[str]:
    """Every text that is hidden in the value because of the name it stands under or because all
    of it is a secret."""
    waiting = [value]  # not by recursion: a model may nest as deeply as it likes
    while waiting:
        one = waiting.pop()
        if isinstance(one, str):
            if len(one) <= LONGEST_SECRET and _is_secret(one):
                yield one
        elif one is None or isinstance(one, int | float):
            continue
        elif isinstance(one, Mapping):
            whole = whole_secrets(one)
            for name, member in one.items():
                if name in whole:
                    yield from whole[name]
                else:
                    waiting.append(member)
        elif is_array(one):
            for masked, member in zip(elements(one), one, strict=True):
                if isinstance(masked, str) and masked != member:
                    yield from _texts(member)
                else:
                    waiting.append(member)


def whole_secrets(mapping: Mapping[Any, object]) -> dict[Any, list[str]]:
    """The members of a mapping that are secret by the names in it, each with its texts."""
    whole: dict[Any, list[str]] = {}
    for (_, masked), (name, member) in zip(members(mapping), mapping.items(), strict=True):
        if isinstance(masked, str) and masked == HIDDEN != member:
            whole[name] = list(_texts(member))
    return whole


@remember_short
def _is_secret(text: str) -> bool:
    return mask(text) == HIDDEN != text


def _texts(value: object) -> Iterator[str]:
    """Every text and number in a value."""
    waiting = [value]
    while waiting:
        one = waiting.pop()
        if isinstance(one, Mapping):
            waiting.extend(one.values())
        elif is_array(one):
            waiting.extend(one)
        elif one is not None and not isinstance(one, bool):
            yield str(one)


def _spellings(text: str) -> Iterator[str]:
    """How a text may be written: as it is, in an address, in JSON once and twice, in HTML, in
    base64."""
    yield text
    # a lone surrogate can be kept, so it can be part of a secret
    in_address = [quote(text, safe, errors="surrogatepass") for safe in _LEFT_IN_ADDRESSES]
    for encoded in (quote_plus(text, errors="surrogatepass"), *in_address):
        yield encoded
        yield _LOWER.sub(lambda found: found[0].lower(), encoded)
    for plain in (True, False):
        written = json.dumps(text, ensure_ascii=plain)[1:-1]
        yield written
        yield json.dumps(written, ensure_ascii=plain)[1:-1]
    yield escape(text)
    yield escape(text, quote=False)
    yield from _in_base64(text.encode("utf-8", "surrogatepass"))


def _in_base64(body: bytes) -> Iterator[str]:
    """What base64 makes of the text wherever it begins, without the characters that depend on
    its neighbours."""
    if len(body) < LEAST_ENCODED:
        return
    for before in range(3):
        # Six bits to a character: the first and the last that are all of the text's own bits.
        first = -(-8 * before // 6)
        last = 8 * (before + len(body)) // 6
        written = b64encode(bytes(before) + body).decode()[first:last]
        yield written
        yield written.replace("+", "-").replace("/", "_")


def _pattern_for(text: str) -> str:
    """What finds a text anywhere, or a short one only where it stands alone."""
    if len(text) >= LEAST_ANYWHERE:
        return re.escape(text)
    if text.isdigit():  # nor is it part of a date, a version or an amount
        return rf"(?<![\w.,:/-]){text}(?!\w|[.,:/-]\d)"
    return rf"(?<!\w){re.escape(text)}(?!\w)"
