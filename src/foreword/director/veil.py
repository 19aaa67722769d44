"""Hide secrets in what a director says, does and gets back: by name, by shape, and the very values it has used.

The first two are `workflow.secrets`' rules. A value that is secret by its name in one place (a variable, a node, an
argument) is hidden wherever else it turns up, such as in the text of a page that repeats what was typed.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from urllib.parse import quote, quote_plus

from foreword.workflow.secrets import HIDDEN, elements, hide, is_array, mask, members

LEAST_CHARS = 4  # shorter ones are words and numbers that stand anywhere
LEAST_ANYWHERE = 8  # characters: shorter ones are hidden only where they stand alone


class Veil:
    """Knows secrets and hides them."""

    def __init__(self) -> None:
        self._known = set[str]()
        self._pattern: re.Pattern[str] | None = None

    def learn(self, values: Iterable[object]) -> None:
        """Take in everything that is secret in these values."""
        self.learn_texts(text for value in values for text in secrets_in(value))

    def learn_texts(self, texts: Iterable[str]) -> None:
        """Take in texts that are secret whatever they look like."""
        new = {text for text in texts if len(text) >= LEAST_CHARS} - self._known
        if new:
            self._known |= new
            ways = {way for text in self._known for way in (text, quote(text, safe=""), quote_plus(text))}
            self._pattern = re.compile("|".join(_alone(way) for way in sorted(ways, key=len, reverse=True)))

    def text(self, text: str) -> str:
        """The text with every secret hidden."""
        return mask(self.known(text))

    def value(self, value: object) -> object:
        """A plain copy of the value with every secret hidden."""
        return self._each(hide(value))

    def _each(self, value: object) -> object:
        if isinstance(value, str):
            return self.known(value)
        if isinstance(value, dict):
            return {self.known(name): self._each(member) for name, member in value.items()}
        return [self._each(member) for member in value] if isinstance(value, list) else value

    def known(self, text: str) -> str:
        """The text with the secrets hidden that were taken in, and no others."""
        return self._pattern.sub(HIDDEN, text) if self._pattern else text


class Veiled:
    """Passes a text on as it comes, word by word, its secrets hidden; an empty piece says that it begins again."""

    def __init__(self, veil: Veil, tell: Callable[[str], None]) -> None:
        self._veil, self._tell = veil, tell
        self._line, self._told = "", ""  # of the line that is being written: as it came, as it was passed on
        self.text = ""  # everything that was passed on

    def __call__(self, piece: str) -> None:
        """Take in a piece."""
        if not piece:
            self._line = self._told = self.text = ""
            self._tell("")
            return
        self._line += piece
        *whole, self._line = self._line.split("\n")
        for line in whole:
            self._pass_on(self._veil.text(f"{line}\n"))
            self._told = ""
        self._pass_on(self._veil.text(self._line[: self._line.rfind(" ") + 1]))  # a word may go on: half of a secret

    def end(self) -> None:
        """Pass the last word on."""
        self._pass_on(self._veil.text(self._line))
        self._line = self._told = ""

    def _pass_on(self, line: str) -> None:
        """What is new of a line; where what was said of it no longer holds, it waits for the end of the line."""
        if line.startswith(self._told) and line != self._told:
            new, self._told = line[len(self._told) :], line
            self.text += new
            self._tell(new)


def secrets_in(value: object) -> Iterator[str]:
    """Every text that is hidden in the value because of the name it stands under or because all of it is a secret."""
    waiting = [value]  # not by recursion: a model may nest as deeply as it likes
    while waiting:
        one = waiting.pop()
        if isinstance(one, str):
            if mask(one) == HIDDEN != one:
                yield one
        elif isinstance(one, Mapping):
            for (_, shown), member in zip(members(one), one.values(), strict=True):
                if isinstance(shown, str) and shown == HIDDEN != member:
                    yield from _texts(member)
                else:
                    waiting.append(member)
        elif is_array(one):
            for shown, member in zip(elements(one), one, strict=True):
                if isinstance(shown, str) and shown != member:
                    yield from _texts(member)
                else:
                    waiting.append(member)


def _texts(value: object) -> Iterator[str]:
    waiting = [value]
    while waiting:
        one = waiting.pop()
        if isinstance(one, Mapping):
            waiting.extend(one.values())
        elif is_array(one):
            waiting.extend(one)
        elif one is not None and not isinstance(one, bool):
            yield str(one)


def _alone(text: str) -> str:
    if len(text) >= LEAST_ANYWHERE:
        return re.escape(text)
    return rf"(?<!\w){re.escape(text)}(?!\w)"
