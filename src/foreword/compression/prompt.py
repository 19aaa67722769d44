"""What a model is asked when it compresses a conversation, and whether its answer will do. Pure.

The fresh parts of every call (system prompt, plan, snapshot, variables, browser) are given to it so
that it leaves them out: they survive by themselves. What is worth writing down is what is stored
nowhere else.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from pkgutil import get_data

from foreword.engine.render import TURN, boundary_pattern, turn_text
from foreword.messages.message import Message
from foreword.origin import Speakers
from foreword.tokens import Counter

# Of the tokens that it stands for, the least that a summary has, and at most a part of what was
# asked for. Real summaries of coding agents have 1.8 to 13%; "lost all" has none of what was said.
LEAST_SHARE = 0.005
LEAST_DIVISOR = 4


def instructions(tokens: int, keep: Sequence[str]) -> str:
    """Return the task, for a summary of at most so many tokens."""
    task = _text("instructions.txt")
    return task.format(tokens=tokens, keep=", ".join(keep) or "none in particular")


def instruction_behind(tokens: int, keep: Sequence[str]) -> str:
    """Return the task as one more message, where the model has the conversation before it as its
    own."""
    return f"{_text('instruction_behind.txt')}\n\n{instructions(tokens, keep)}"


def request(parts: Iterable[tuple[str, str]], earlier: str, messages: Sequence[Message]) -> str:
    """The fresh parts, the earlier summary and the history, each under its tag; no text in them
    opens or closes one."""
    tagged = list(parts)
    if earlier:
        tagged.append(("earlier_summary", earlier))
    tags = {tag for tag, _ in tagged} | {"history", TURN}
    pattern = boundary_pattern(frozenset(tags))
    blocks = [f"<{tag}>\n{pattern.escape(text)}\n</{tag}>" for tag, text in tagged]
    turns = list[str]()
    speakers = Speakers()
    for message in messages:
        turns.append(turn_text(str(speakers.of(message)), pattern.escape(message.text)))
    history = "\n".join(turns)
    return "\n\n".join([*blocks, f"<history>\n{history}\n</history>"])


def problem_with(answer: str, tokens: int, counter: Counter, *, stands_for: int) -> str:
    """Why an answer will not do that stands for so many tokens, or nothing."""
    if not answer.strip():
        return "the answer was empty"
    size = counter.count(answer)
    if size > tokens:
        return f"the answer has {size:,} tokens, {tokens:,} were asked for"
    least = min(least_tokens(stands_for), tokens // LEAST_DIVISOR)
    if size < least:
        return f"the answer has {size:,} tokens, too few to stand for {stands_for:,}"
    return ""


def least_tokens(stands_for: int) -> int:
    """The least that a summary of so many tokens has."""
    return round(LEAST_SHARE * stands_for)


def problem_with_names(answer: str, keep: Sequence[str]) -> str:
    """Why an answer will not do that is to hold these names, or nothing."""
    lost = [name for name in keep if name not in answer]
    if lost:
        return f"the answer lost {len(lost)} of {len(keep)} identifiers, {lost[0]!r} first"
    return ""


def _text(name: str) -> str:
    data = get_data("foreword.compression", name)
    assert data is not None
    return data.decode().rstrip("\n")
