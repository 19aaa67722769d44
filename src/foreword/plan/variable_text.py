"""Show a workflow's variables in chunks: short ones whole, long ones by their beginning, secrets
never.

Secrets are hidden before anything is measured or cut, so a cut can't bare part of one. A value is
written only as far as it is shown, so ten megabytes cost what a hundred characters do. Reading and
setting them is the business of `store.variables`.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping, Sequence

from foreword.pattern import lazy_pattern
from foreword.secrets.masking import HIDDEN, as_text, elements, is_array, is_secret, mask, members

# Characters of one variable, which `display` promises: a line for each, so that dozens fit a call.
MOST_SHOWN = 100
CUT = "..."
NO_VARIABLES = "no variables are set"

# A secret is known by what follows its first characters, so a text is searched well past what is
# shown of it: at first this many characters,
_WINDOW = 1 << 15
# and more as long as hiding has left fewer than this of them.
_MARGIN = 1 << 13
# Of a number that is written in decimal, some 2,500 digits; Python refuses more than 4,300.
_MOST_BITS = 1 << 13
_IDENTIFIER = lazy_pattern(r"[A-Za-z_$][\w$]*", re.ASCII)
# What would break the line, reorder it on screen or can't be encoded.
_INVISIBLE = lazy_pattern("[\x00-\x1f\x7f-\x9f\u2028-\u202e\u2066-\u2069\ud800-\udfff]")
_NODE = lazy_pattern(r"node[_-]?(?=\d)")


def display(name: str, value: object) -> str:
    """The value as the model sees it, by the first rule that fits.

    1. A secret, by its name or its shape: `[hidden]`. A secret inside a larger value is hidden
       where it stands.
    2. Empty: `[] (empty)`, `{} (empty)`, `""` or `null`.
    3. At most 100 characters: in full.
    4. An array: `[Array of 8 - first: <first element>]`, its first 100 characters and `...` when it
       is longer.
    5. Longer: the first 100 characters and `...`.

    The name does not count. A text counts its own characters, without quotes and before control
    characters are escaped; anything else counts as it is written. Arrays and all they hold are
    written as JSON; an object outside an array has bare keys where they are identifiers: `{email:
    "a@b.c", password: "[hidden]"}`.
    """
    if is_secret(name, value):
        return HIDDEN
    if isinstance(value, str):
        return _display_text(value)
    if is_array(value):
        return _display_array(value)
    if isinstance(value, Mapping) and not value:
        return "{} (empty)"
    return _cut(_beginning_of(_pieces(value, bare=True)))


def variable_lines(variables: Mapping[str, object]) -> str:
    """One line for every variable, in the mapping's order."""
    lines = []
    for name, value in variables.items():
        lines.append(f"- {_one_line(mask(name))} = {display(name, value)}")
    return "\n".join(lines) or NO_VARIABLES


def of_node(variables: Mapping[str, object], node: str | int) -> dict[str, object]:
    """The variables of a node, `node7.emails` and the like, for 7, "7", "node7" or "node_7"."""
    wanted = _node_name(str(node))
    found = {}
    for name, value in variables.items():
        owner, dot, _ = name.partition(".")
        if dot and _node_name(owner) == wanted:
            found[name] = value
    return found


def _node_name(name: str) -> str:
    return _NODE.sub("", name.strip().lower(), count=1)


def _display_text(value: str) -> str:
    masked = _mask_beginning(value)
    if masked == HIDDEN:
        return HIDDEN
    if len(masked) <= MOST_SHOWN:
        return _quote(masked)
    return _quote(masked[:MOST_SHOWN])[:-1] + CUT


def _display_array(value: Sequence[object]) -> str:
    if not value:
        return "[] (empty)"
    whole = _beginning_of(_pieces(value, bare=True))
    if len(whole) <= MOST_SHOWN:
        return whole
    return _cut(_beginning_of(_first_element_pieces(value)))


def _first_element_pieces(value: Sequence[object]) -> Iterator[str]:
    yield f"[Array of {len(value)} - first: "
    yield from _pieces(value[0], bare=False)
    yield "]"


def _cut(written: str) -> str:
    return written if len(written) <= MOST_SHOWN else written[:MOST_SHOWN] + CUT


def _beginning_of(pieces: Iterator[str]) -> str:
    """The pieces together, and no more of them than it takes to pass the limit."""
    written = ""
    for piece in pieces:
        written += piece
        if len(written) > MOST_SHOWN:
            break
    return written


def _pieces(value: object, *, bare: bool) -> Iterator[str]:
    # Every level writes a bracket before it goes deeper, so neither depth nor a cycle outlives the
    # limit.
    if value is None or isinstance(value, (str, int, float)):  # as most are, and quickly told
        yield _scalar(value)
    elif isinstance(value, Mapping):
        yield from _object_pieces(value, bare=bare)
    elif is_array(value):
        yield "["
        for index, member in enumerate(elements(value)):
            yield ", " if index else ""
            yield from _pieces(member, bare=False)
        yield "]"
    else:
        yield _scalar(value)


def _object_pieces(value: Mapping[object, object], *, bare: bool) -> Iterator[str]:
    yield "{"
    for index, (name, member) in enumerate(members(value)):
        yield ", " if index else ""
        yield name if bare and _IDENTIFIER.fullmatch(name) else _quote(name[: MOST_SHOWN + 1])
        yield ": "
        yield from _pieces(member, bare=bare)
    yield "}"


def _scalar(value: object) -> str:
    if isinstance(value, int) and value.bit_length() > _MOST_BITS:
        return hex(value)
    if type(value) is int:  # most numbers are, and JSON writes one as Python does
        return str(value)
    if value is None or isinstance(value, bool | int | float):
        return json.dumps(value)
    text = value if isinstance(value, str) else as_text(value)
    return _quote(_mask_beginning(text)[: MOST_SHOWN + 1])


def _mask_beginning(text: str) -> str:
    """The text with its secrets hidden: all of a short one, more than is ever shown of a long
    one."""
    window = _WINDOW
    masked = mask(text[:window])
    while window < len(text) and len(masked) < _MARGIN:
        window *= 8
        masked = mask(text[:window])
    return masked


def _quote(text: str) -> str:
    return _one_line(json.dumps(text, ensure_ascii=False))


def _one_line(text: str) -> str:
    return _INVISIBLE.sub(lambda match: f"\\u{ord(match[0]):04x}", text)
