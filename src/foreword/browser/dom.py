"""The elements of a page as text, whole or shortened along their structure.

Pure. Shortening gives up repeated siblings first, then what lies deep, then long texts; every gap
says what is missing and how much. Values of fields that hold secrets are hidden on reading.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from foreword.secrets.masking import HIDDEN, is_secret_name, mask
from foreword.text.cut import Mark, Measure
from foreword.text.quantity import quantity

# The least that shortening leaves: a few words of each text, and the page's outline below its body.
# With less, the gaps take more room than what is left.
LEAST_TEXT = 24
LEAST_DEPTH = 3
MOST_TEXT = 2_000  # characters of one text with which the search for the longest that fits begins
NO_LIMIT = 1_000_000  # more than a page has of anything: `dom.js` reads fewer elements
_SECRET_AUTOCOMPLETE = ("one-time-code", "cc-csc", "cc-number", "current-password", "new-password")


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
        """The whole page, one element on a line, secrets masked."""
        return mask(self._page_text(DomLimits()))

    def shorten(self, budget: int, measure: Measure, mark: Mark) -> str | None:
        """At most `budget` by the measure, the mark at its end; None when nothing worth having
        fits."""
        whole = self.text()
        total = measure(whole)
        if total <= budget:
            return whole
        lines = _line_count(whole)

        def cut(limits: DomLimits) -> str:
            text = mask(self._page_text(limits))
            lines_left_out = max(0, lines - _line_count(text))
            units_left_out = max(0, total - measure(text))
            return f"{text}\n{mark(lines_left_out, units_left_out)}"

        def fits(text: str) -> bool:
            return measure(text) <= budget

        fewer_alike = _largest(
            lambda alike: cut(DomLimits(alike=alike)), fits, least=1, most=self._most_alike()
        )
        if fewer_alike is not None:
            return fewer_alike
        less_deep = _largest(
            lambda depth: cut(DomLimits(alike=1, depth=depth)),
            fits,
            least=LEAST_DEPTH,
            most=_depth(self.root),
        )
        if less_deep is not None:
            return less_deep
        return _largest(
            lambda chars: cut(DomLimits(alike=1, depth=LEAST_DEPTH, text=chars)),
            fits,
            least=LEAST_TEXT,
            most=MOST_TEXT,
        )

    def _page_text(self, limits: DomLimits) -> str:
        lines = list(_lines(self.root, 0, limits)) if self.root else ["(the page is empty)"]
        if self.unread:
            lines.append(f"... {self.unread:,} more elements were not read")
        return "\n".join(lines)

    def _most_alike(self) -> int:
        """The length of the longest run of siblings that are alike."""
        most = 1
        for node in _all_elements(self.root):
            for run in _runs(node.children):
                most = max(most, len(run))
        return most


def read(raw: Any, inside: Sequence[Dom] = ()) -> DomElement | None:
    """A node of what the browser gave; the frames in it are put in their places."""
    if raw is None:
        return None
    tag, attributes, below = raw
    frame = attributes.pop("#", None)
    shadow = attributes.pop("#shadow", None)
    children: list[DomElement | str] = []
    if frame is not None:
        root = inside[int(frame)].root
        if root:
            children.append(root)
    else:
        for child in below:
            element = child if isinstance(child, str) else read(child, inside)
            assert element is not None
            children.append(element)
    head = [tag]
    for name, value in _printed_attributes(attributes).items():
        head.append(f'{name}="{value}"')
    if shadow:
        head.append("(shadow)")
    elements = 1
    chars = 0
    for inner in children:
        if isinstance(inner, DomElement):
            elements += inner.elements
            chars += inner.chars
        else:
            chars += len(inner)
    return DomElement(
        head=" ".join(head),
        shape=f"{tag}.{attributes.get('class', '')}",
        children=tuple(children),
        elements=elements,
        chars=chars,
    )


def is_secret_field(attributes: Mapping[str, Any]) -> bool:
    """Whether what stands in a field is nobody's business, by its kind or its name."""
    if (
        attributes.get("type") == "password"
        or attributes.get("autocomplete") in _SECRET_AUTOCOMPLETE
    ):
        return True
    for key in ("name", "id", "aria-label", "label"):
        if attributes.get(key) and is_secret_name(str(attributes[key])):
            return True
    return False


def _printed_attributes(attributes: Mapping[str, str]) -> dict[str, str]:
    """The attributes as they stand between double quotes on one line; secrets are hidden."""
    printed = {}
    for name, value in attributes.items():
        printed[name] = " ".join(value.replace('"', "'").split())
    if printed.get("value") and is_secret_field(attributes):
        printed["value"] = HIDDEN
    return printed


def _lines(node: DomElement, depth: int, limits: DomLimits) -> Iterator[str]:
    indent = "  " * depth
    texts = [child for child in node.children if isinstance(child, str)]
    if len(texts) == len(node.children):
        text = _cut(" ".join(texts), limits.text)
        yield f"{indent}<{node.head}> {text}" if text else f"{indent}<{node.head}>"
        return
    yield f"{indent}<{node.head}>"
    if depth + 1 > limits.depth:
        yield f"{indent}  ... {_amount(node.elements - 1, node.chars)}"
        return
    for run in _runs(node.children):
        yield from _run_lines(run, depth + 1, limits)


def _run_lines(run: Sequence[DomElement | str], depth: int, limits: DomLimits) -> Iterator[str]:
    """A run of siblings that are alike: the first of them, and how many more there are."""
    indent = "  " * depth
    for child in run[: limits.alike]:
        if isinstance(child, str):
            yield f"{indent}{_cut(child, limits.text)}"
        else:
            yield from _lines(child, depth, limits)
    left_out = [child for child in run[limits.alike :] if isinstance(child, DomElement)]
    if left_out:
        tag = left_out[0].shape.partition(".")[0]
        elements = sum(element.elements for element in left_out)
        chars = sum(element.chars for element in left_out)
        amount = _amount(elements, chars)
        yield f"{indent}... {len(left_out):,} more <{tag}> like this ({amount})"


def _amount(elements: int, chars: int) -> str:
    return f"{quantity(elements, 'element')}, {chars:,} characters of text"


def _cut(text: str, longest: int) -> str:
    if len(text) <= longest:
        return text
    return f"{text[:longest].rstrip()}... ({len(text) - longest:,} more characters)"


def _line_count(text: str) -> int:
    return text.count("\n") + 1


def _runs(children: Sequence[DomElement | str]) -> list[list[DomElement | str]]:
    """Children in runs of the same kind; a text is a run of its own."""
    runs: list[list[DomElement | str]] = []
    for child in children:
        if runs and _is_alike(runs[-1][-1], child):
            runs[-1].append(child)
        else:
            runs.append([child])
    return runs


def _is_alike(one: DomElement | str, other: DomElement | str) -> bool:
    if isinstance(one, str) or isinstance(other, str):
        return False
    return one.shape == other.shape


def _all_elements(node: DomElement | None) -> Iterator[DomElement]:
    waiting = [node] if node else []
    while waiting:
        element = waiting.pop()
        yield element
        waiting.extend(child for child in element.children if isinstance(child, DomElement))


def _depth(node: DomElement | None) -> int:
    if node is None:
        return 0
    below = [_depth(child) for child in node.children if isinstance(child, DomElement)]
    return 1 + max(below, default=0)


def _largest(
    cut: Callable[[int], str], fits: Callable[[str], bool], *, least: int, most: int
) -> str | None:
    """What the largest limit that fits gives; None if not even the least does."""
    best = cut(least)
    if not fits(best):
        return None
    low = least + 1
    high = most
    while low <= high:
        middle = (low + high) // 2
        text = cut(middle)
        if fits(text):
            best = text
            low = middle + 1
        else:
            high = middle - 1
    return best
