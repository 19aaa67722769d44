"""Where the work of a conversation stands: what is wanted, decided, done to which files, open, and
which names are in play.

Made from the messages by the built-in compressor and by the calls; kept as a checkpoint; written
out by `work_text`. Pure. The compressor is imported where it is used: a hook that only reads a
checkpoint back is waited for.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from foreword.message import Message
    from foreword.session.summary.summary_text import EarlierSummary
    from foreword.tokens import Counter
    from foreword.work.checkpoint import Checkpoint

LOOKED_FOR = 50  # characters of a line, to tell whether it was said: its end may be shortened
LONGEST_WORDS = 700  # characters of what the user asked last: enough to go on by
LONGEST_REPLY = 500  # of the agent's last words, from their end: there it says what comes next
MOST_FILES = 60  # a long conversation touches hundreds; the ones touched last count
MOST_QUESTIONS = 3  # in the agent's last words
_SEPARATOR = ", "
# The members of a checkpoint's state that hold what its other fields have no place for.
USER_WORDS = "said by the user"
FILES = "files"
ERRORS = "errors and fixes"
COMMANDS = "commands"
LEDGER = "names by file"
NAMES = "names in play"
ASKED = "asked last"
REPLIED = "said last"


@dataclass(frozen=True, slots=True, kw_only=True)
class AgentWork:
    """Where the work stands, each part in order of time but the names, which go by worth."""

    objective: str = ""
    asked: str = ""  # the user's newest words
    replied: str = ""  # how the agent's newest words end
    user_words: tuple[str, ...] = ()
    decisions: tuple[str, ...] = ()
    errors: tuple[str, ...] = ()
    open: tuple[str, ...] = ()
    findings: tuple[str, ...] = ()
    commands: tuple[str, ...] = ()
    files: tuple[str, ...] = ()  # `path: edited twice`
    ledger: tuple[str, ...] = ()  # `path: names in it`
    names: tuple[str, ...] = ()


def work_state(
    messages: Sequence[Message],
    room_tokens: int,
    counter: Counter,
    *,
    earlier: str = "",
    query: str = "",
    objective: str = "",
) -> AgentWork:
    """Where the work stands at the end of these messages, its lines and names in about so many
    tokens."""
    from foreword.message import last_words
    from foreword.session.summary import compress
    from foreword.session.summary.name_weights import literals
    from foreword.session.summary.summary_text import read

    summary = compress(messages, room_tokens, counter, earlier=earlier, query=query)
    found = read(summary)
    replied = last_words(messages, "assistant").strip()
    position = work_position(messages, objective=objective)
    findings, printed = _by_speaker(_lines(found, "finding", "done", "other"), messages)
    names = dict.fromkeys(_names_of(found))
    for line in printed:
        names |= dict.fromkeys(literals(line))
    return replace(
        position,
        user_words=_lines(found, "constraint", "request"),
        decisions=_lines(found, "decision"),
        errors=_lines(found, "failure", "error", "fix"),
        open=tuple(dict.fromkeys([*_questions(replied, messages), *_lines(found, "open")])),
        findings=findings,
        commands=_lines(found, "command"),
        ledger=found.files,
        names=tuple(names),
    )


def work_position(messages: Sequence[Message], *, objective: str = "") -> AgentWork:
    """What is there whatever the room: what is wanted, what was said last, and the files with what
    was done to them."""
    from foreword.message import last_words

    return AgentWork(
        objective=objective or first_request(messages),
        asked=_shorten(last_words(messages, "user"), LONGEST_WORDS),
        replied=_ending(last_words(messages, "assistant")),
        files=_file_lines(messages),
    )


def _by_speaker(
    lines: Iterable[str], messages: Sequence[Message]
) -> tuple[tuple[str, ...], list[str]]:
    """The lines that somebody said, and those that only a tool printed or a file holds: raw output
    is for whoever asks for it, but the names in it may be needed."""
    from foreword.message import texts_in

    texts = list[str]()
    for message in messages:
        texts += texts_in(message)
    words = " ".join(" ".join(texts).split())
    said = list[str]()
    printed = list[str]()
    for line in lines:
        (said if line[:LOOKED_FOR] in words else printed).append(line)
    return tuple(said), printed


def first_request(messages: Iterable[Message]) -> str:
    """What the user wants: the first words that a person typed."""
    from foreword.session.summary.summary_text import shorten_line

    for message in messages:
        if message.role == "user" and message.kind == "conversation" and message.text.strip():
            return shorten_line(message.text)
    return ""


def _questions(replied: str, messages: Sequence[Message]) -> list[str]:
    """What the agent asked in its last words and nobody has answered yet."""
    from foreword.session.summary.summary_text import shorten_line
    from foreword.text.sentences import sentences

    for message in reversed(messages):
        if message.role == "user" and message.kind == "conversation" and not message.results:
            return []
        if message.role == "assistant" and message.text.strip():
            break
    asked = [shorten_line(one) for one in sentences(replied) if one.strip().endswith("?")]
    return asked[-MOST_QUESTIONS:]


def _shorten(text: str, most: int) -> str:
    text = " ".join(text.split())
    return text if len(text) <= most else f"{text[:most].rpartition(' ')[0]} ..."


def _ending(text: str) -> str:
    text = " ".join(text.split())
    return text if len(text) <= LONGEST_REPLY else f"... {text[-LONGEST_REPLY:].partition(' ')[2]}"


def _lines(found: EarlierSummary, *kinds: str) -> tuple[str, ...]:
    """The lines of a summary that are of these kinds, each on one line."""
    lines = list[str]()
    for kind, text in found.lines:
        if kind in kinds:
            lines.append(" ".join(text.split()))
    return tuple(lines)


def _names_of(found: EarlierSummary) -> tuple[str, ...]:
    names = list[str]()
    for row in (*found.names, *found.lasting):
        names += row.split(_SEPARATOR)
    return tuple(dict.fromkeys(name for name in names if name.strip()))


def _file_lines(messages: Sequence[Message]) -> tuple[str, ...]:
    """The files and what was done to them: the changed ones first, of each the newest."""
    from foreword.agent_sessions.file_actions import file_work

    work = file_work(messages)
    newest = sorted(work, key=lambda path: (work[path].is_changed, work[path].last), reverse=True)
    return tuple(f"{path}: {work[path]}" for path in newest[:MOST_FILES])


# --- as a checkpoint, and back --------------------------------------------------------------------


def checkpoint_fields(state: AgentWork) -> dict[str, Any]:
    """The fields of a checkpoint that hold the state."""
    members = {
        ASKED: state.asked,
        REPLIED: state.replied,
        USER_WORDS: list(state.user_words),
        ERRORS: list(state.errors),
        COMMANDS: list(state.commands),
        FILES: list(state.files),
        LEDGER: list(state.ledger),
        NAMES: list(state.names),
    }
    return {
        "objective": state.objective,
        "decisions": [{"what": line, "why": ""} for line in state.decisions],
        "findings": list(state.findings),
        "pending": list(state.open),
        "state": {name: value for name, value in members.items() if value},
    }


def from_checkpoint(checkpoint: Checkpoint) -> AgentWork:
    """The state that a checkpoint holds, as far as it holds one."""
    return AgentWork(
        objective=checkpoint.objective,
        asked=str(checkpoint.state.get(ASKED) or ""),
        replied=str(checkpoint.state.get(REPLIED) or ""),
        user_words=_member(checkpoint, USER_WORDS),
        decisions=tuple(str(decision.get("what", "")) for decision in checkpoint.decisions),
        errors=_member(checkpoint, ERRORS),
        open=tuple(checkpoint.pending),
        findings=tuple(str(finding) for finding in checkpoint.findings),
        commands=_member(checkpoint, COMMANDS),
        files=_member(checkpoint, FILES),
        ledger=_member(checkpoint, LEDGER),
        names=_member(checkpoint, NAMES),
    )


def as_summary(state: AgentWork) -> str:
    """The state as the summary of an earlier compression, to be folded into the next one."""
    from foreword.session.summary.summary_text import Part, write

    parts: dict[Part, list[str]] = {
        "user": list(state.user_words),
        "decisions": list(state.decisions),
        "errors": list(state.errors),
        "findings": list(state.findings),
        "open": list(state.open),
        "commands": list(state.commands),
        "files": list(state.ledger),
        "names": [_SEPARATOR.join(state.names)] if state.names else [],
    }
    return write(parts)


def _member(checkpoint: Checkpoint, name: str) -> tuple[str, ...]:
    value = checkpoint.state.get(name)
    return tuple(str(line) for line in value) if isinstance(value, list | tuple) else ()
