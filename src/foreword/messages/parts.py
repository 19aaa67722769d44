"""The parts of a message: words, pictures, thoughts, calls, results, and parts of one provider.

Plain frozen values, each a view of the JSON that it came as (`block`).
"""

from __future__ import annotations

from dataclasses import KW_ONLY, dataclass, field
from typing import Any

# Characters of an image's address in words: one line, not a signed link's worth.
LONGEST_ADDRESS = 80
# Parts by which a client marks where a prompt cache should break (Bedrock's, pydantic-ai's): they
# say nothing, and move from call to call.
CACHE_MARKS = frozenset(("cachePoint", "cache-point"))


@dataclass(frozen=True, slots=True)
class Block:
    """The JSON that a message or a part came as, whose shape it has, and whether the view has been
    edited since.

    `replace` does not copy the field that has it (`init=False`), so a view that says something else
    is never sent as the JSON that it once was.
    """

    shape: str
    raw: Any
    is_edited: bool = False


@dataclass(frozen=True, slots=True)
class Text:
    """Words."""

    text: str
    block: Block | None = field(default=None, init=False, compare=False, repr=False)


@dataclass(frozen=True, slots=True)
class Image:
    """A picture: its bytes in base64, or its address; with neither, only its provider can find
    it."""

    media_type: str = ""
    data: str = ""
    url: str = ""
    block: Block | None = field(default=None, init=False, compare=False, repr=False)


@dataclass(frozen=True, slots=True)
class Thinking:
    """What the model thought, with the proof or the encrypted form that only its own provider
    reads."""

    text: str
    signature: str = ""
    _: KW_ONLY
    redacted: bool = False
    shape: str = ""  # whose it is
    block: Block | None = field(default=None, init=False, compare=False, repr=False)

    @property
    def is_bound(self) -> bool:
        """Whether its provider refuses it once a byte of it has changed."""
        return self.redacted or bool(self.signature)


@dataclass(frozen=True, slots=True)
class Opaque:
    """A part that only its own provider reads; everybody else gets its words."""

    name: str
    text: str = ""  # all words in it: of a document, of what a server searched
    block: Block | None = field(default=None, init=False, compare=False, repr=False)


@dataclass(frozen=True, slots=True)
class ToolCall:
    """The model asks for a tool."""

    id: str
    name: str
    arguments: str  # JSON, as the model wrote it
    block: Block | None = field(default=None, init=False, compare=False, repr=False)


@dataclass(frozen=True, slots=True)
class ToolResult:
    """What the tool answered: all its words, and the rest such as images."""

    id: str
    text: str
    failed: bool = False
    _: KW_ONLY
    rest: tuple[Image | Opaque, ...] = ()
    block: Block | None = field(default=None, init=False, compare=False, repr=False)


Part = Text | Image | Thinking | Opaque | ToolCall | ToolResult


def part_text(part: Part) -> str:
    """One part in words, the same every time."""
    match part:
        case Text(text):
            return text
        case ToolCall(name=name, arguments=arguments):
            return f"[calls {name}({arguments})]"
        case ToolResult(text=text, rest=rest):
            attached = [part_text(one) for one in rest]
            return "\n".join([text, *attached] if text or not rest else attached)
        case Image():
            return _image_text(part)
        case Thinking():
            return ""
        case Opaque(name=name) if name in CACHE_MARKS:
            return ""
        case Opaque(text=text):
            return f"{opaque_mark(part)}\n{text}" if text else opaque_mark(part)


def opaque_mark(part: Opaque) -> str:
    """What a part is that only its provider reads, in one line."""
    return f"[{part.name or 'something that is not text'}]"


def _image_text(image: Image) -> str:
    if image.data:
        kilobytes = max(1, round(len(image.data) * 3 / 4 / 1024))  # four characters for three bytes
        return f"[image {image.media_type}, {kilobytes:,} KB]"
    return f"[image {image.url[:LONGEST_ADDRESS]}]" if image.url else "[image]"


def count_images(part: Part) -> int:
    """How many pictures a part shows."""
    if isinstance(part, ToolResult):
        return sum(map(count_images, part.rest))
    return isinstance(part, Image)


def says_nothing(part: Part) -> bool:
    """Whether a part has no words: a thought, or a mark of a cache."""
    is_mark = isinstance(part, Opaque) and part.name in CACHE_MARKS
    return is_mark or isinstance(part, Thinking)
