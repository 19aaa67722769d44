"""Where the work of a conversation stands: what is wanted, decided, done to which files, open, and
which names are in play.

Made from the messages by the built-in compressor and by the calls; kept as a checkpoint; written
out by `work_text`. Pure. The compressor is imported where it is used: a hook that only reads a
checkpoint back is waited for.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING

from foreword.pattern import lazy_pattern

if TYPE_CHECKING:
    from foreword.coding_agents.work_parts import Work
    from foreword.messages.message import Message
    from foreword.tokens import Counter

LONGEST_WORDS = 700  # characters of what the user asked last: enough to go on by
LONGEST_REPLY = 500  # of the agent's last words, from their end: there it says what comes next
MOST_FILES = 60  # a long conversation touches hundreds; the ones touched last count
MOST_QUESTIONS = 3  # in the agent's last words
_TASK = lazy_pattern(r"\[\w[\w -]{0,20}\] ")
_FINISHED = lazy_pattern(r"\[(?:complete|done|fail|cancel|skip)", re.IGNORECASE)


def work_state(
    messages: Sequence[Message],
    room_tokens: int,
    counter: Counter,
    *,
    earlier: str = "",
    question: str = "",
    objective: str = "",
) -> Work:
    """Return where the work stands at the end of these messages, its lines and names in about so
    many tokens. What tools printed is left to whoever looks it up, but for the names in it."""
    from foreword.compression.extract import summarize
    from foreword.compression.statements import states
    from foreword.compression.summary_text import read
    from foreword.text.names import literals
    from foreword.text.sentences import sentences

    found = read(summarize(messages, room_tokens, counter, earlier=earlier, question=question))
    position = work_position(messages, objective=objective)
    lines: dict[str, list[str]] = {part: [] for part in ("user", "assistant", "call", "printed")}
    for line in found.lines:
        lines[line.part].append(line.text)
    names = dict.fromkeys(found.names)
    for printed in lines["printed"]:
        names |= dict.fromkeys(literals(printed))
    tasks = [line for line in lines["call"] if _TASK.match(line)]
    waiting = [line for line in tasks if not _FINISHED.match(line)]
    stated = list[str]()
    decided = list[str]()
    findings = list[str]()
    for text in lines["assistant"]:
        for sentence in sentences(text):
            if states("open", sentence):
                stated.append(sentence.strip())
            elif states("decision", sentence):
                decided.append(sentence.strip())
            else:
                findings.append(sentence.strip())
    asked = _questions(messages)
    return {
        **position,
        "user_words": lines["user"],
        "decisions": decided,
        "open": list(dict.fromkeys([*asked, *waiting, *stated])),
        "findings": findings,
        "commands": [line for line in lines["call"] if line not in tasks],
        "names": list(names),
    }


def work_position(messages: Sequence[Message], *, objective: str = "") -> Work:
    """Return what is there whatever the room: what is wanted, what was said last, and the files
    with what was done to them."""
    from foreword.origin import last_words

    heads = {
        "objective": objective or first_request(messages),
        "asked": _shorten(last_words(messages, "user"), LONGEST_WORDS),
        "replied": _ending(last_words(messages, "assistant")),
    }
    work: dict[str, Sequence[str]] = {name: [text] for name, text in heads.items() if text}
    return {**work, "files": _file_lines(messages)}


def first_request(messages: Iterable[Message]) -> str:
    """Return what the user wants: the first words that a person typed."""
    from foreword.compression.summary_text import shorten_line
    from foreword.origin import own_words

    for message in messages:
        words = own_words(message, "user")
        if words:
            return shorten_line(words)
    return ""


def _questions(messages: Sequence[Message]) -> list[str]:
    """Return what the agent asked in its last words, sentence by sentence, where nobody has
    answered yet."""
    from foreword.compression.summary_text import shorten_line
    from foreword.origin import own_words
    from foreword.text.sentences import sentences

    for message in reversed(messages):
        if own_words(message, "user"):
            return []
        replied = own_words(message, "assistant")
        if replied:
            asked = [shorten_line(each) for each in sentences(replied)]
            return [each for each in asked if each.endswith("?")][-MOST_QUESTIONS:]
    return []


def _shorten(text: str, most: int) -> str:
    text = " ".join(text.split())
    return text if len(text) <= most else f"{text[:most].rpartition(' ')[0]} ..."


def _ending(text: str) -> str:
    text = " ".join(text.split())
    return text if len(text) <= LONGEST_REPLY else f"... {text[-LONGEST_REPLY:].partition(' ')[2]}"


def _file_lines(messages: Sequence[Message]) -> list[str]:
    """The files and what was done to them: the changed ones first, of each the newest."""
    from foreword.transcripts.file_actions import file_work

    work = file_work(messages)
    newest = sorted(work, key=lambda path: (work[path].is_changed, work[path].last), reverse=True)
    return [f"{path}: {work[path]}" for path in newest[:MOST_FILES]]
