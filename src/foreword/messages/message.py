"""One message: a role, and its parts as a view of the JSON that it came as.

Plain frozen values. A message and each of its parts remember that JSON (`block`); a view that was
edited forgets it, unless it is edited with `edit`. How a provider writes a message is in the module
of its shape; budgets and tags are in `engine`.
"""

from __future__ import annotations

from dataclasses import KW_ONLY, dataclass, field, replace
from typing import Any, Literal, TypeVar, get_args

from foreword.messages.parts import (
    Block,
    Part,
    Text,
    Thinking,
    ToolCall,
    ToolResult,
    count_images,
    part_text,
    says_nothing,
)
from foreword.pattern import lazy_pattern

Role = Literal["system", "user", "assistant", "tool"]
ROLES: tuple[Role, ...] = get_args(Role)
Kind = Literal[
    "conversation",
    "system_prompt",
    "instruction",
    "plan",
    "snapshot",
    "variables",
    "browser",
    "attachment",
    "debug_action",
    "execution_result",
    "summary",
]
KINDS: tuple[Kind, ...] = get_args(Kind)
# what a context can be written as in JSON; frameworks of Python have their own objects
Shape = Literal["anthropic", "openai", "responses", "gemini", "bedrock", "ollama", "vercel"]
SHAPES: tuple[Shape, ...] = get_args(Shape)
NOT_HISTORY: frozenset[Kind] = frozenset(
    ("system_prompt", "plan", "snapshot", "variables", "browser", "attachment")
)  # made anew for every turn, so they never stay in a history
RESULT_MARK = "[result of a tool]"  # before a result that stands among the words of somebody else
IMAGE_TOKENS = 1_600  # about the most that one image costs
# one line that can't be a tag
_SPEAKER = lazy_pattern("[^<>\x00-\x1f\x7f-\x9f\u2028\u2029\ud800-\udfff]{1,64}")


@dataclass(frozen=True, slots=True)
class Message:
    """A role and its parts. What it is says `kind`, never its words.

    What the system says is the system prompt, unless it is an `instruction`: said in the middle of
    a conversation, and holding from there on.
    """

    role: Role
    parts: tuple[Part, ...]
    kind: Kind = "conversation"
    _: KW_ONLY
    tokens: int | None = field(default=None, compare=False)  # its size, where somebody has counted
    marks: tuple[str, ...] = field(default=(), compare=False)  # of the transcript it is from
    block: Block | None = field(default=None, init=False, compare=False, repr=False)

    def __post_init__(self) -> None:
        if self.role == "system" and self.kind == "conversation":
            object.__setattr__(self, "kind", "system_prompt")

    @property
    def text(self) -> str:
        """The words a model would read, tool calls and results included; pictures and the like
        as a short mark."""
        parts = [part_text(part) for part in self.parts if not says_nothing(part)]
        words = "\n".join(parts)
        speaker = self.speaker if words.strip() else ""
        return f"{speaker}: {words}" if speaker else words

    content = text

    @property
    def speaker(self) -> str:
        """Which of several users says it, where a provider's `name` tells."""
        if self.role != "user" or self.block is None or not isinstance(self.block.raw, dict):
            return ""
        name = self.block.raw.get("name")
        if isinstance(name, str) and _SPEAKER.fullmatch(name) and name.strip():
            return name
        return ""

    @property
    def images(self) -> int:
        """How many pictures it shows; each costs about `IMAGE_TOKENS`."""
        return sum(map(count_images, self.parts))

    @property
    def calls(self) -> tuple[str, ...]:
        """The ids of the tool calls it makes."""
        return tuple([part.id for part in self.parts if isinstance(part, ToolCall)])

    @property
    def results(self) -> tuple[str, ...]:
        """The ids of the tool calls it answers."""
        return tuple([part.id for part in self.parts if isinstance(part, ToolResult)])

    @property
    def is_history(self) -> bool:
        """Whether it may stay in a history."""
        return self.kind not in NOT_HISTORY

    def with_mark(self, mark: str) -> Message:
        """The same message with one more line of text at its end."""
        return edit(self, parts=(*self.parts, Text(mark)), tokens=None)


Item = TypeVar("Item", bound=Message | Part)


def keep(item: Item, shape: str, raw: Any) -> Item:
    """Return a message or part that remembers the JSON it is a view of. It must be new: it is
    changed in place."""
    object.__setattr__(item, "block", Block(shape, raw))
    return item


def edit(item: Item, **changes: Any) -> Item:
    """Return a message or part with other fields. What its JSON holds beside the view stays with
    it."""
    edited = replace(item, **changes)
    block = item.block
    if block is not None:
        object.__setattr__(edited, "block", Block(block.shape, block.raw, is_edited=True))
    return edited


def relabel(message: Message, **labels: Any) -> Message:
    """Return a message of another kind or size, or with other marks, whose JSON is the same."""
    labelled = replace(message, **labels)
    object.__setattr__(labelled, "block", message.block)
    return labelled


# Whose thinking is valid only after the very prefix that it was produced for.
_BOUND_SHAPES = ("anthropic", "bedrock")


def without_bound_thinking(message: Message) -> Message:
    """Return a message without thinking that its provider binds to what was sent before it."""
    parts = tuple([part for part in message.parts if not _is_bound_thinking(part)])
    return message if len(parts) == len(message.parts) else edit(message, parts=parts, tokens=None)


def bound_thinking(message: Message) -> int:
    """Return how many thinking blocks a message has that are bound to what was sent before it."""
    return sum(map(_is_bound_thinking, message.parts))


def _is_bound_thinking(part: Part) -> bool:
    return isinstance(part, Thinking) and part.is_bound and part.shape in _BOUND_SHAPES


def texts_in(message: Message) -> list[str]:
    """The texts that were said in a message, without its calls and results."""
    return [part.text for part in message.parts if isinstance(part, Text)]
