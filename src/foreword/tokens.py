"""Count tokens: exact tokenizers, an estimate from characters, and one that learns from usage.

Everything is measured in additive *units* (characters for the estimate, tokens for the tokenizers)
and turned into tokens at the end, so that sums are exact and nothing is rounded twice. Which
counter a model wants is data (`data/models.json`). What is counted is the engine's business.
"""

from __future__ import annotations

import json
import math
import re
from collections import OrderedDict
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import KW_ONLY, dataclass, replace
from functools import cache
from pkgutil import get_data
from sys import getsizeof
from threading import Lock
from typing import Any

from foreword.errors import UnknownName
from foreword.pattern import lazy_pattern
from foreword.section import Measure

# Of English text, about; code has 3, JSON 2.5, Chinese 1.4.
CHARS_PER_TOKEN = 4
ENCODINGS = {"o200k": "o200k_base", "cl100k": "cl100k_base"}
DEFAULT_COUNTER = "o200k"  # where neither a counter nor a model is named
COUNTERS = (*ENCODINGS, "estimate")
# A tokenizer takes 75 bytes for each byte of a run without a break: 64 MiB of one letter end the
# process. Pieces of this size take 20 MB, of double 40 MB; at half, ordinary documents would be
# cut.
LONGEST_PIECE_CHARS = 250_000
# A longer text is counted piece by piece, and each piece is remembered: of two texts that begin
# alike (a document, and the same with its closing tag) only the end is counted twice. At half of it
# there are twice as many to remember; at double, what is counted again of a cut is half of it.
PIECE_CHARS = 16_000
_BETWEEN_TOKENS = lazy_pattern(r"(?<=\n)(?=[^\W_])|(?<=[^\W_])(?= [^\W_])")
# What a counter remembers, at most, so that a server's memory stays what it is. The 10,000 sections
# of the benchmark take three quarters of it; at half of it they are measured twice, at double a
# process holds more for nothing.
MEMORY_BYTES = 16_000_000
ENTRY_BYTES = 200  # of each text's place in the dictionary, about
SPECIAL_TOKEN_START = "<|"  # every special token of the encodings begins so
BYTES_PER_ID = 4  # in the tokenizer's buffers
# Of a counter that has learnt: however steady its usage was, the next may differ.
LEAST_MARGIN = 1.02


@dataclass(frozen=True, slots=True)
class Counter:
    """Turns text into units and units into tokens."""

    name: str
    measure: Measure
    _: KW_ONLY
    units_per_token: float = 1.0
    exact: bool = True
    longest_unit: int = 32  # characters: no text worth reading has more to a unit
    usual_unit: int = 12  # characters: a long text with more to a unit is not worth counting on
    splits_at_lines: bool = False  # no token reaches across the end of a line into what follows it

    def tokens(self, units: int) -> int:
        """The tokens that so many units stand for, rounded up."""
        return math.ceil(units / self.units_per_token)

    def count(self, text: str) -> int:
        """The tokens of a text."""
        return self.tokens(self.measure(text))

    def room(self, tokens: int) -> int:
        """The most units that still count as at most so many tokens."""
        units = math.floor(tokens * self.units_per_token)
        while self.tokens(units) > tokens:
            units -= 1
        return units

    def with_margin(self, margin: float) -> Counter:
        """The same counter, taken as an estimate that may be too low by this factor."""
        if margin == 1.0:
            return self
        return replace(self, units_per_token=self.units_per_token / margin, exact=False)

    @property
    def key(self) -> str:
        """Its name with its margin, if it has one: what `counter_by_key` makes it from again."""
        margin = _usual_units(self.name) / self.units_per_token
        return self.name if margin == 1 else f"{self.name} x{margin:.6g}"

    def describe(self) -> str:
        """The name with what a reader must know about it."""
        if self.name == "estimate":
            return "estimate (characters / 4)"
        if self.exact:
            return self.name
        return f"{self.name} x {1 / self.units_per_token:.2f} (estimate)"


def counter(name: str = DEFAULT_COUNTER) -> Counter:
    """The counter of that name; all who ask for it share what it remembers."""
    return _shared_counter(name)


def new_counter(name: str) -> Counter:
    """A counter of that name that remembers nothing yet."""
    if name == "estimate":
        return Counter(
            "estimate",
            len,
            units_per_token=CHARS_PER_TOKEN,
            exact=False,
            longest_unit=1,
            usual_unit=1,
            splits_at_lines=True,
        )
    if name not in ENCODINGS:
        raise UnknownName("counter", name, COUNTERS)
    return Counter(name, remember_counts(_tokenizer(ENCODINGS[name])), splits_at_lines=True)


_shared_counter = cache(new_counter)


def counter_by_key(key: str) -> Counter:
    """The counter with that key."""
    name, _, margin = key.partition(" x")
    return counter(name).with_margin(float(margin or 1))


def _usual_units(name: str) -> float:
    return float(CHARS_PER_TOKEN) if name == "estimate" else 1.0


@cache
def _tokenizer(encoding: str) -> Measure:
    from splintr import Tokenizer

    tokenizer = Tokenizer.from_pretrained(encoding)

    def measure(text: str) -> int:
        try:
            # Buffers are made in two thirds of the time of a list, but only for text in which
            # special tokens are not spelled out: there they would be taken for the tokens.
            if SPECIAL_TOKEN_START in text:
                return len(tokenizer.encode_ordinary(text))
            return len(tokenizer.encode_flat(text)) // BYTES_PER_ID
        except UnicodeEncodeError:  # lone surrogates: count what will be sent in their place
            return measure(text.encode("utf-8", "replace").decode())

    return measure


def pieces(text: str) -> Iterator[str]:
    """A long text in pieces that a tokenizer counts one by one; cut where no token reaches
    across, if anywhere."""
    start = 0
    while len(text) - start > PIECE_CHARS:
        end = min(start + LONGEST_PIECE_CHARS, len(text))
        between = _BETWEEN_TOKENS.search(text, start + PIECE_CHARS, end)
        if between is not None:
            end = between.start()
        yield text[start:end]
        start = end
    if start < len(text):
        yield text[start:]


def remember_counts(measure: Measure, most_bytes: int = MEMORY_BYTES) -> Measure:
    """The same measure, which does not measure a text, or a piece of a long one, again while it is
    among those it was last asked for."""
    known: OrderedDict[str, int] = OrderedDict()  # the last asked for last
    held = 0  # bytes
    turn = Lock()

    def recall_or_measure(text: str) -> int:
        nonlocal held
        units = known.get(text)
        if units is not None:
            try:  # noqa: SIM105 - `suppress` takes longer than what it guards
                known.move_to_end(text)
            except KeyError:  # another thread has just forgotten it
                pass
            return units
        if len(text) > PIECE_CHARS and len(parts := list(pieces(text))) > 1:
            units = sum(map(recall_or_measure, parts))
        else:
            units = measure(text)
        with turn:
            if text not in known:
                known[text] = units
                held += getsizeof(text) + ENTRY_BYTES
            while held > most_bytes:
                oldest, _ = known.popitem(last=False)
                held -= getsizeof(oldest) + ENTRY_BYTES
        return units

    return recall_or_measure


def calibrated(base: Counter, usage: Iterable[tuple[int, int]]) -> Counter:
    """A counter that has learnt from pairs of (tokens `base` counted, tokens the provider
    reported).

    The ratio is that of the sums; the margin on top is the worst excess seen over it, at least 2%.
    """
    all_counted = 0
    all_reported = 0
    highest = 0.0
    for counted, reported in usage:
        if counted > 0 and reported > 0:
            all_counted += counted
            all_reported += reported
            highest = max(highest, reported / counted)
    if not all_counted:
        return base
    ratio = all_reported / all_counted
    worst = highest / ratio
    margin = ratio * max(worst, LEAST_MARGIN)
    return replace(
        base, name="calibrated", units_per_token=base.units_per_token / margin, exact=False
    )


@cache
def model_table() -> dict[str, Any]:
    """The known models: window, counter, margin, and whether they take system messages in the
    middle of a conversation, by the beginning of the name."""
    # `importlib.resources` would load what reads archives, and that takes longer than the file.
    table: dict[str, Any] = json.loads(get_data("foreword", "data/models.json") or b"{}")
    return table


def default_window() -> int:
    """The window assumed where no model is named."""
    return int(model_table()["default_window"])


def for_model(name: str) -> tuple[int, Counter]:
    """The window and the counter of a model."""
    model = _model_facts(name)
    if model is None:
        raise UnknownName(
            "model",
            name,
            model_table()["models"],
            where="(the window can be given with --window instead)",
        )
    margin = float(model.get("margin", 1.0))
    return int(model["window"]), counter(model["counter"]).with_margin(margin)


def accepts_system_messages(model: str) -> bool:
    """Whether the provider of a model takes system messages in the middle of a conversation."""
    facts = _model_facts(model)
    return facts is not None and bool(facts.get("system_messages"))


def _model_facts(name: str) -> Mapping[str, Any] | None:
    """What is known of a model, by the longest known name that a part of its name begins with."""
    models: Mapping[str, Any] = model_table()["models"]
    longest = ""
    for prefix in models:
        begins_with = rf"(?:^|[^a-z0-9]){re.escape(prefix)}"
        if len(prefix) > len(longest) and re.search(begins_with, name.lower()):
            longest = prefix
    return models[longest] if longest else None


def estimate_error(estimated: int, exact: int) -> str:
    """How far the estimate of a text is from its tokens by the default counter."""
    difference = (exact - estimated) / max(1, estimated)
    return (
        f"characters / 4 is an estimate: by {DEFAULT_COUNTER} it is {exact:,} tokens"
        f" and not {estimated:,} ({difference:+.0%})"
    )
