"""One provider-neutral message: a role and its parts, and what keeps a conversation whole.

Plain frozen values. `OpenCalls` knows which result answers which call; `group_by_calls` and `mend`
follow it. How a provider writes a message is the business of `formats`; budgets and tags are the
engine's. Fields of a provider that nobody here reads, but for a speaker's name, travel as a JSON
string (`extra`), and go back only into the format they came from.
"""

from __future__ import annotations

import json
from collections import deque
from collections.abc import Iterable, Sequence
from dataclasses import KW_ONLY, dataclass, field, replace
from itertools import groupby, pairwise
from operator import is_
from typing import Literal, get_args

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
NO_RESULT = "(no result was recorded)"
RESULT_MARK = "[result of a tool]"  # before a result that stands among the words of somebody else
IMAGE_TOKENS = 1_600  # about the most that one image costs
# Characters of an image's address in words: one line, not a signed link's worth.
LONGEST_ADDRESS = 80
# one line that can't be a tag
_SPEAKER = lazy_pattern("[^<>\x00-\x1f\x7f-\x9f\u2028\u2029\ud800-\udfff]{1,64}")


@dataclass(frozen=True, slots=True)
class Text:
    """Words."""

    text: str
    extra: str = ""


@dataclass(frozen=True, slots=True)
class Image:
    """A picture: its bytes in base64, or its address; with neither, only its provider can find
    it."""

    media_type: str = ""
    data: str = ""
    url: str = ""
    extra: str = ""


@dataclass(frozen=True, slots=True)
class Thinking:
    """What the model thought, with the proof or the encrypted form that only its own provider
    reads."""

    text: str
    signature: str = ""
    _: KW_ONLY
    redacted: bool = False
    shape: str = ""  # whose it is
    extra: str = ""


@dataclass(frozen=True, slots=True)
class Opaque:
    """A part that only its own provider reads; everybody else gets its words."""

    data: str  # JSON
    shape: str = ""  # the only one it is written for
    name: str = ""
    text: str = ""  # all words in it: of a document, of what a server searched


@dataclass(frozen=True, slots=True)
class ToolCall:
    """The model asks for a tool."""

    id: str
    name: str
    arguments: str  # JSON, as the model wrote it
    extra: str = ""


@dataclass(frozen=True, slots=True)
class ToolResult:
    """What the tool answered: all its words, and the rest such as images."""

    id: str
    text: str
    failed: bool = False
    _: KW_ONLY
    rest: tuple[Image | Opaque, ...] = ()
    extra: str = ""


# How the names of a provider's parts end that answer a call of the assistant's.
OPAQUE_ANSWERS = ("_call_output", "_search_output", "program_output", "approval_response")
# Parts by which a client marks where a prompt cache should break (Bedrock's, pydantic-ai's): they
# say nothing, and move from call to call.
CACHE_MARKS = frozenset(("cachePoint", "cache-point"))

Part = Text | Image | Thinking | Opaque | ToolCall | ToolResult


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
    extra: str = ""
    tokens: int | None = field(default=None, compare=False)  # its size, where somebody has counted

    def __post_init__(self) -> None:
        if self.role == "system" and self.kind == "conversation":
            object.__setattr__(self, "kind", "system_prompt")

    @property
    def text(self) -> str:
        """The words a model would read, tool calls and results included; pictures and the like
        as a short mark."""
        parts = [part_text(part) for part in self.parts if not _says_nothing(part)]
        words = "\n".join(parts)
        speaker = self.speaker if words.strip() else ""
        return f"{speaker}: {words}" if speaker else words

    content = text

    @property
    def speaker(self) -> str:
        """Which of several users says it, where a provider's `name` tells."""
        return _name_in(self.extra) if self.role == "user" and '"name"' in self.extra else ""

    @property
    def images(self) -> int:
        """How many pictures it shows; each costs about `IMAGE_TOKENS`."""
        return sum(map(_count_images, self.parts))

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
        return replace(self, parts=(*self.parts, Text(mark)), tokens=None)


def _name_in(extra: str) -> str:
    try:
        shapes = json.loads(extra)
    except (ValueError, RecursionError):
        return ""
    if not isinstance(shapes, dict):
        return ""
    for fields in shapes.values():
        name = fields.get("name") if isinstance(fields, dict) else None
        if isinstance(name, str) and _SPEAKER.fullmatch(name) and name.strip():
            return name
    return ""


def _says_nothing(part: Part) -> bool:
    is_mark = isinstance(part, Opaque) and part.name in CACHE_MARKS
    return is_mark or isinstance(part, Thinking)


def texts_in(message: Message) -> list[str]:
    """The texts that were said in a message, without its calls and results."""
    return [part.text for part in message.parts if isinstance(part, Text)]


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


def data_beside_words(message: Message) -> str:
    """All that goes to a provider beside the words and the images: documents, thoughts, and
    fields nobody reads."""
    texts: list[str] = []
    for part in message.parts:
        match part:
            case Opaque():
                texts.append(_data_beside_text(part))
            case Thinking(text=text, signature=signature, extra=extra):
                texts += [text, signature, extra]
            case ToolResult(rest=rest, extra=extra):
                texts.append(extra)
                texts += [_data_beside_text(one) for one in rest if isinstance(one, Opaque)]
            case _:
                texts.append(part.extra)
    return "".join(texts)


def _data_beside_text(part: Opaque) -> str:
    """The data of a part; a document that is one text is counted once, with the words."""
    if not part.text:
        return part.data
    written = json.dumps(part.text, ensure_ascii=False)[1:-1]
    return part.data.replace(written, "", 1)


def _image_text(image: Image) -> str:
    if image.data:
        kilobytes = max(1, round(len(image.data) * 3 / 4 / 1024))  # four characters for three bytes
        return f"[image {image.media_type}, {kilobytes:,} KB]"
    return f"[image {image.url[:LONGEST_ADDRESS]}]" if image.url else "[image]"


def _count_images(part: Part) -> int:
    if isinstance(part, ToolResult):
        return sum(map(_count_images, part.rest))
    return isinstance(part, Image)


# --- calls and their results ----------------------------------------------------------------------


Place = tuple[int, int]  # of a part: its message, and where it stands in there


@dataclass(slots=True)
class OpenCalls:
    """The calls that have no result yet: each waits until the assistant speaks again after somebody
    else.

    Providers want results right behind the turn that makes the calls, so a later or a second one
    answers nothing.
    """

    _calls: dict[str, deque[Place]] = field(default_factory=dict)
    _speaking: bool = False  # whether the last message was the assistant's

    def add_message(self, at: int, message: Message) -> list[tuple[Place, Place]]:
        """The calls that this message answers, each with its result; its own calls wait from now
        on."""
        if message.role == "assistant" and not self._speaking:
            self._calls = {}
        self._speaking = message.role == "assistant"
        answered: list[tuple[Place, Place]] = []
        for place, part in enumerate(message.parts):
            if isinstance(part, ToolCall) and self._speaking:
                self._calls.setdefault(part.id, deque()).append((at, place))
            elif isinstance(part, ToolResult) and self._calls.get(part.id):
                call = self._calls[part.id].popleft()
                answered.append((call, (at, place)))
        return answered


def is_opaque_answer(message: Message) -> bool:
    """Whether a message answers a call that only its provider reads, as a `computer_call_output`
    does: what the assistant said right before it has the call."""
    if message.role == "assistant":
        return False
    for part in message.parts:
        if isinstance(part, Opaque) and part.name.endswith(OPAQUE_ANSWERS):
            return True
    return False


def ends_with_thought(messages: Sequence[Message]) -> bool:
    """Whether messages end with a thought that is a message of its own, and nothing behind it but
    what the assistant said and called: OpenAI takes neither without the other."""
    for message in reversed(messages):
        if message.role != "assistant":
            return False
        if all(isinstance(part, Thinking) for part in message.parts):
            return True
    return False


def group_by_calls(messages: Sequence[Message]) -> list[tuple[Message, ...]]:
    """Group messages so that a tool call and its results are never parted, nor a thought and what
    came with it."""
    starts: list[int] = []  # where each group begins
    open_calls = OpenCalls()
    for at, message in enumerate(messages):
        first = at
        if is_opaque_answer(message) and starts:
            first = starts[-1]
            while first and messages[first].role == messages[first - 1].role == "assistant":
                first -= 1
        elif (
            message.role == "assistant" and starts and ends_with_thought(messages[starts[-1] : at])
        ):
            first = starts[-1]
        starts.append(at)
        for (caller, _), _ in open_calls.add_message(at, message):
            first = min(first, caller)
        while starts[-1] > first:
            starts.pop()
    return [tuple(messages[start:end]) for start, end in pairwise([*starts, len(messages)])]


_PAIRED = (ToolCall, ToolResult)


def mend(messages: Iterable[Message]) -> tuple[list[Message], list[str]]:
    """The messages as providers accept them, and what had to be done: every call has its result
    right behind it.

    A result that nobody asked for becomes text that says so, and so does a call of anybody but the
    assistant. A call that was never answered gets a result that says so, unless it is the last
    word: then its result is still to come. A call waits until the assistant speaks again after
    somebody else; later results are words. So new messages change nothing that stands before the
    last turn of the assistant. An id may be used again in a later turn. Calls that were made in
    one turn, each in a message of its own, are one message once they are answered.
    """
    messages = _join_calls(list(messages))
    answers, used = _answers(messages)
    repair = _Repair(used)
    mended: list[Message] = []
    for at, message in enumerate(messages):
        if not any(isinstance(part, _PAIRED) for part in message.parts):
            mended.append(message)
            continue
        parts, ids = repair.parts_without_results(message, at)
        if parts:
            mended.append(_with_parts(message, tuple(parts)))
        answered = answers.get(at, {})
        mended += _result_messages(messages, ids, answered)
        open_ids = [call_id for place, call_id in ids.items() if place not in answered]
        if open_ids and (answered or at < len(messages) - 1):
            repair.notes += [f"call {call_id!r} was never answered" for call_id in open_ids]
            missing = tuple([ToolResult(call_id, NO_RESULT) for call_id in open_ids])
            mended.append(Message("tool", missing))
    return mended, repair.notes


def _join_calls(messages: list[Message]) -> list[Message]:
    """The messages with answered calls of one turn in one, so that their results stand behind all
    of them, as they came. Each is an item of its own in OpenAI's Responses API."""
    if not any(_goes_on_calling(last, message) for last, message in pairwise(messages)):
        return messages
    answers, _ = _answers(messages)
    joined: list[Message] = []
    was_answered = False
    for at, message in enumerate(messages):
        is_answered = len(answers.get(at, ())) == len(message.calls)
        if joined and was_answered and is_answered and _goes_on_calling(joined[-1], message):
            parts = (*joined[-1].parts, *message.parts)
            joined[-1] = replace(joined[-1], parts=parts, tokens=None)
        else:
            joined.append(message)
        was_answered = is_answered
    return joined


def _goes_on_calling(last: Message, message: Message) -> bool:
    """Whether the assistant only makes more calls; what a message carries may not be mixed."""
    if not last.role == message.role == "assistant" or last.extra or message.extra:
        return False
    if not message.parts or not last.calls:
        return False
    return all(isinstance(part, ToolCall) for part in message.parts)


def _answers(messages: Sequence[Message]) -> tuple[dict[int, dict[int, Place]], set[Place]]:
    """Which result answers which call: by message and place of the call, in the order the
    results came."""
    answers: dict[int, dict[int, Place]] = {}
    used: set[Place] = set()
    open_calls = OpenCalls()
    for at, message in enumerate(messages):
        for (caller, place), result in open_calls.add_message(at, message):
            answers.setdefault(caller, {})[place] = result
            used.add(result)
    return answers, used


class _Repair:
    """One conversation being mended: the results that answer a call, the ids in use, what was
    done."""

    def __init__(self, used: set[Place]) -> None:
        self.notes: list[str] = []
        self._used = used
        self._ids: dict[str, int] = {}  # each with the number of its last namesake

    def parts_without_results(self, message: Message, at: int) -> tuple[list[Part], dict[int, str]]:
        """What is left of a message once results stand behind their calls, and the ids of its
        own calls by place."""
        parts: list[Part] = []
        ids: dict[int, str] = {}
        for place, part in enumerate(message.parts):
            if isinstance(part, ToolCall) and message.role != "assistant":
                self.notes.append(f"call {part.id!r} is not the assistant's; it is shown as text")
                parts.append(Text(part_text(part)))
            elif isinstance(part, ToolCall):
                ids[place] = self._new_id(part.id)
                parts.append(part if part.id == ids[place] else replace(part, id=ids[place]))
            elif not isinstance(part, ToolResult):
                parts.append(part)
            elif (at, place) not in self._used:
                self.notes.append(
                    f"result {part.id!r} answers no call that is there; it is shown as text"
                )
                words = [RESULT_MARK, part.text] if part.text else [RESULT_MARK]
                parts += [Text("\n".join(words)), *part.rest]
        return parts, ids

    def _new_id(self, call: str) -> str:
        """An id nobody has used before: providers want each call to have its own."""
        base = call or "call"
        unused = base
        while unused in self._ids:
            self._ids[base] += 1
            unused = f"{base}_{self._ids[base]}"
        self._ids[unused] = 1
        return unused


def _result_messages(
    messages: Sequence[Message], ids: dict[int, str], answers: dict[int, Place]
) -> Iterable[Message]:
    """The results of one message's calls; those that came in one message stay in one."""
    for at, found in groupby(answers.items(), key=lambda answer: answer[1][0]):
        results: list[Part] = []
        for call, (_, place) in found:
            result = messages[at].parts[place]
            assert isinstance(result, ToolResult)
            results.append(result if result.id == ids[call] else replace(result, id=ids[call]))
        yield _with_parts(messages[at], tuple(results), role="tool")


def _with_parts(message: Message, parts: tuple[Part, ...], role: Role | None = None) -> Message:
    """The message with these parts; the same object where nothing is new."""
    role = role or message.role
    same_parts = len(parts) == len(message.parts) and all(map(is_, parts, message.parts))
    if same_parts and role == message.role:
        return message
    return replace(message, role=role, parts=parts, tokens=None)
