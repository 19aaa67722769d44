"""The elements of a page as text, whole or shortened along their structure.

Pure. Shortening gives up repeated siblings first, then what lies deep, then long texts; every gap
says what is missing and how much. Values of fields that hold secrets are hidden on reading.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import groupby
from typing import Any

from foreword.secrets.masking import HIDDEN, is_secret_name, mask
from foreword.text.cut import Mark, Measure

LEAST_TEXT = 24
LEAST_DEPTH = 3
NO_LIMIT = 1_000_000
_CODES = ("one-time-code", "cc-csc", "cc-number", "current-password", "new-password")


@dataclass(frozen=True, slots=True, kw_only=True)
class DomElement:
    """One element: its opening tag without brackets, what it is like, and what is in it."""

    head: str
    shape: str
    children: tuple[DomElement | str, ...]
    elements: int  # itself and all below
    chars: int  # of all texts in it


@dataclass(frozen=True, slots=True)
class DomLimits:
    """How many alike stand in a row, how deep it goes, how long a text is."""

    alike: int = NO_LIMIT
    depth: int = NO_LIMIT
    text: int = NO_LIMIT


@dataclass(frozen=True, slots=True)
class Dom:
    """A page's elements."""

    root: DomElement | None
    unread: int = 0  # elements beyond what is read of any page

    def text(self) -> str:
        """All of it, one element on a line."""
        return mask(self._written(DomLimits()))

    def shortened(self, budget: int, measure: Measure, mark: Mark) -> str | None:
        """At most `budget` by the measure, the mark at its end; None when nothing worth having
        fits."""
        whole = self.text()
        if (total := measure(whole)) <= budget:
            return whole
        lines = whole.count("\n") + 1

        def cut(limits: DomLimits) -> str:
            kept = mask(self._written(limits))
            return f"{kept}\n{mark(max(0, lines - kept.count(chr(10)) - 1), max(0, total - measure(kept)))}"

        for makes, most, least in (
            (lambda at: DomLimits(alike=at), self._most_alike(), 1),
            (lambda at: DomLimits(alike=1, depth=at), _depth(self.root), LEAST_DEPTH),
            (lambda at: DomLimits(alike=1, depth=LEAST_DEPTH, text=at), 2_000, LEAST_TEXT),
        ):
            found = _largest(
                lambda at, makes=makes: cut(makes(at)),  # type: ignore[misc]
                least,
                most,
                budget,
                measure,
            )
            if found:
                return found
        return None

    def _written(self, limits: DomLimits) -> str:
        lines = list(_lines(self.root, 0, limits)) if self.root else ["(the page is empty)"]
        if self.unread:
            lines.append(f"... {self.unread:,} more elements were not read")
        return "\n".join(lines)

    def _most_alike(self) -> int:
        return max(
            (len(run) for node in _all(self.root) for run in _runs(node.children)), default=1
        )


def read(raw: Any, inside: Sequence[Dom] = ()) -> DomElement | None:
    """A node of what the browser gave; the frames in it are put in their places."""
    if raw is None:
        return None
    tag, attributes, below = raw
    frame = attributes.pop("#", None)
    shadow = attributes.pop("#shadow", None)
    if frame is not None:
        root = inside[int(frame)].root
        children: tuple[DomElement | str, ...] = (root,) if root else ()
    else:
        children = tuple(
            child if isinstance(child, str) else _known(read(child, inside)) for child in below
        )
    head = " ".join(
        [
            tag,
            *(f'{name}="{value}"' for name, value in _shown(attributes).items()),
            *(["(shadow)"] if shadow else []),
        ]
    )
    nodes = [child for child in children if isinstance(child, DomElement)]
    texts = sum(len(child) for child in children if isinstance(child, str))
    return DomElement(
        head=head,
        shape=f"{tag}.{attributes.get('class', '')}",
        children=children,
        elements=1 + sum(node.elements for node in nodes),
        chars=texts + sum(node.chars for node in nodes),
    )


def _known(node: DomElement | None) -> DomElement:
    assert node is not None
    return node


def is_secret_field(attributes: Mapping[str, Any]) -> bool:
    """Whether what stands in a field is nobody's business, by its kind or its name."""
    if attributes.get("type") == "password" or attributes.get("autocomplete") in _CODES:
        return True
    return any(
        is_secret_name(str(attributes[key]))
        for key in ("name", "id", "aria-label", "label")
        if attributes.get(key)
    )


def _shown(attributes: Mapping[str, str]) -> dict[str, str]:
    shown = {name: " ".join(value.replace('"', "'").split()) for name, value in attributes.items()}
    if shown.get("value") and is_secret_field(attributes):
        shown["value"] = HIDDEN
    return shown


def _lines(node: DomElement, depth: int, limits: DomLimits) -> Iterator[str]:
    indent = "  " * depth
    texts = [child for child in node.children if isinstance(child, str)]
    if len(texts) == len(node.children):
        said = _cut(" ".join(texts), limits.text)
        yield f"{indent}<{node.head}>{' ' + said if said else ''}"
        return
    yield f"{indent}<{node.head}>"
    if depth + 1 > limits.depth:
        yield f"{indent}  ... {_amount(node.elements - 1, node.chars)}"
        return
    for run in _runs(node.children):
        yield from _run(run, depth + 1, limits)


def _run(run: Sequence[DomElement | str], depth: int, limits: DomLimits) -> Iterator[str]:
    for child in run[: limits.alike]:
        if isinstance(child, str):
            yield f"{'  ' * depth}{_cut(child, limits.text)}"
        else:
            yield from _lines(child, depth, limits)
    if left := [child for child in run[limits.alike :] if isinstance(child, DomElement)]:
        what = left[0].shape.partition(".")[0]
        amount = _amount(sum(node.elements for node in left), sum(node.chars for node in left))
        yield f"{'  ' * depth}... {len(left):,} more <{what}> like this ({amount})"


def _amount(elements: int, chars: int) -> str:
    return (
        f"{elements:,} {'element' if elements == 1 else 'elements'}, {chars:,} characters of text"
    )


def _cut(text: str, longest: int) -> str:
    return (
        text
        if len(text) <= longest
        else f"{text[:longest].rstrip()}... ({len(text) - longest:,} more characters)"
    )


def _runs(children: Sequence[DomElement | str]) -> list[list[DomElement | str]]:
    """Children in runs of the same kind; a text is a run of its own."""
    runs: list[list[DomElement | str]] = []
    for shape, group in groupby(
        enumerate(children), lambda at: at[1].shape if isinstance(at[1], DomElement) else at[0]
    ):
        members = [child for _, child in group]
        runs.extend([members] if isinstance(shape, str) else [[member] for member in members])
    return runs


def _all(node: DomElement | None) -> Iterator[DomElement]:
    waiting = [node] if node else []
    while waiting:
        yield (here := waiting.pop())
        waiting.extend(child for child in here.children if isinstance(child, DomElement))


def _depth(node: DomElement | None) -> int:
    return (
        1
        + max(
            (_depth(child) for child in node.children if isinstance(child, DomElement)), default=0
        )
        if node
        else 0
    )


def _largest(
    cut: Callable[[int], str], least: int, most: int, budget: int, measure: Measure
) -> str | None:
    """What the largest limit that fits gives; None if not even the least does."""
    best, low, high = None, least, max(least, most)
    while low <= high:
        middle = (low + high) // 2 if best is not None else low
        written = cut(middle)
        if measure(written) <= budget:
            best, low = written, middle + 1
        elif best is None:
            return None
        else:
            high = middle - 1
    return best
