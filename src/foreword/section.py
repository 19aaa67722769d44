"""What flows through the engine: sections in, choices between, a package out.

Plain values that nothing changes, and no behaviour to speak of. How a section is shortened is
`engine.forms`' business, how the whole is made to fit is `engine.fit`'s, how it is written out is
`engine.render`'s.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from hashlib import sha256
from typing import Final, Literal, get_args

from foreword.messages.message import Message

Form = Literal[
    "full",
    "core",
    "header",
    "regions",
    "outline",
    "summary",
    "relevant",
    "newest",
    "excerpt",
    "lead",
    "reference",
    "gone",
]
FORMS: tuple[Form, ...] = get_args(Form)
DEFAULT_FORMS: tuple[Form, ...] = ("full", "excerpt", "reference", "gone")

Measure = Callable[[str], int]
"""The size of a text in additive units: characters for an estimate, tokens for an exact counter."""


@dataclass(frozen=True, slots=True)
class Share:
    """Part of a whole (the window, the budget) or of what the essentials leave; or a plain
    number of tokens."""

    of: Literal["whole", "left", "tokens"]
    value: float
    low: float = 0.0


@dataclass(frozen=True, slots=True, kw_only=True)
class Rule:
    """How a section behaves when room is short; shared by every section that behaves the same."""

    tier: int = 1
    essential: bool = False
    may_yield: bool = False  # is not essential where the essentials together are too large
    forms: tuple[Form, ...] = DEFAULT_FORMS
    target: Share | None = None
    target_group: str = ""  # sections of one group share their target, whatever their tags
    cap: Share | None = None
    floor: Share | None = None  # kept free for one that is never lost, before lower ranks grow
    joiner: str = "\n"  # between the entries of a list
    newest_first: bool = False  # the order of a list's entries
    # sections under the same tag give way one after another, and do not share
    in_order: bool = False
    stands_in_for: str = ""
    excluded: str = ""  # why it never comes in, whatever the room


@dataclass(frozen=True, slots=True)
class Rank:
    """How long a section is kept: higher is longer, by the group first."""

    group: int = 0  # sections of one group share their room
    order: int = 0  # within the group


# The order of the first of several that are kept one after another: above the 0 of a section that
# stands for itself, with room for a million below it.
FIRST_IN_GROUP = 1_000_000


@dataclass(frozen=True, slots=True)
class Entry:
    """One member of a list section: a commit, a message with its tool results, a failed test."""

    text: str
    messages: tuple[Message, ...] = ()
    pinned: bool = False
    is_own: bool = False  # written by Foreword: its boundary tags are meant


# Not frozen at run time: setting fifteen fields of a frozen value one by one takes three times as
# long as making one that is not, which was a third of the time for 10,000 sections. `Final` has the
# type checker refuse any change instead.
@dataclass(slots=True, kw_only=True)
class Section:
    """One piece of a context: a text or a list of entries, under a boundary tag."""

    tag: Final[str]
    text: Final[str]
    rule: Final[Rule] = Rule()
    rank: Final[Rank] = Rank()
    title: Final[str] = ""
    source: Final[str] = ""
    kind: Final[str] = ""  # of an item
    before: Final[str] = ""  # written in front of the text in every form
    after: Final[str] = ""
    entries: Final[tuple[Entry, ...]] = ()
    raw: Final[bytes | None] = None  # the author's bytes, where they differ from the text
    known_as: Final[str] = ""  # its handle, where the store can put the original together itself
    core: Final[str] = ""  # what its author marked as the part to read first
    header: Final[str] = ""  # of a persona: who it is and what it looks at
    # of a file of code: what is written of its regions and its outline, marks included
    views: Final[tuple[tuple[Form, str], ...]] = ()
    # of an item, when it was made: where not even the least of each in a group fits, newest first
    recency: Final[int] = 0
    _label: str = field(default="", init=False, compare=False, repr=False)

    @property
    def label(self) -> str:
        """Its line in a list of what was left out, handle first; worked out once."""
        if not self._label:
            handle = self.known_as or handle_of(self.original)
            self._label = f"{handle}  {self.tag}  {self.title or self.tag}\n"
        return self._label

    @property
    def handle(self) -> str:
        """The content address of its original."""
        return self.label[:HANDLE_CHARS]

    @property
    def gives_way_at(self) -> tuple[int, int, int]:
        """Its place in the order of giving way: what is larger goes first."""
        return self.rule.tier, -self.rank.group, -self.rank.order

    @property
    def name(self) -> str:
        """What people call it: its title where it has one, else its tag."""
        return self.title or self.tag

    @property
    def origin(self) -> str:
        """Where it comes from, in words for a warning."""
        return self.source if "/" in self.source else self.name

    @property
    def original(self) -> bytes:
        """What `recall` returns for it, byte for byte."""
        return self.raw if self.raw is not None else self.text.encode("utf-8", "surrogatepass")


@dataclass(frozen=True, slots=True, kw_only=True)
class Body:
    """A section in one of its forms: what is written between the tags."""

    text: str
    form: Form
    kept_entries: tuple[Entry, ...] = ()
    lost: int = 0  # entries or messages given up
    lost_tokens: int = 0  # of a section that holds only what is in: the size of the rest
    mark: str = ""  # the line that says what was given up, for messages
    # with the closing tag, where that is known without measuring
    units: int | None = None


@dataclass(frozen=True, slots=True)
class Choice:
    """What was decided for one section, its size in units, and why."""

    section: Section
    body: Body
    units: int
    reason: str = ""

    @property
    def is_cut(self) -> bool:
        """Whether something that came in is not in, or not whole."""
        return self.body.form != "full" and self.reason != STANDS_BY


@dataclass(frozen=True, slots=True)
class Absent:
    """A section the recipe asks for that had nothing to read."""

    tag: str
    source: str
    reason: str


@dataclass(frozen=True, slots=True)
class Budget:
    """How many tokens the package may have, and how that number came about."""

    tokens: int
    window_tokens: int  # what shares of sections are of
    steps: tuple[tuple[str, int], ...] = ()
    has_window: bool = True  # else nobody named a window, and none is shown


@dataclass(frozen=True, slots=True)
class Tiers:
    """Room per tier: shares of the budget that flow on when unused, or hard limits in tokens."""

    shares: dict[int, float] = field(default_factory=dict)
    limits: dict[int, int] = field(default_factory=dict)


STANDS_BY = "stands by: not needed"
STATE = "state"  # the kind of a section that is the state of a piece of work
HANDLE_START = "fw_"
# Of the hash: 56 bits, so that among ten million originals two with one handle are a chance of one
# in a thousand. More digits would cost tokens in every mark.
HASH_CHARS = 14
HANDLE_CHARS = len(HANDLE_START) + HASH_CHARS


def handle_of(original: bytes) -> str:
    """The content address of an original: the same bytes have the same handle everywhere."""
    return f"{HANDLE_START}{sha256(original).hexdigest()[:HASH_CHARS]}"
