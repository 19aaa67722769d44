"""What a summary is to stand for, and what stays beside it: the first message, the pinned, the
newest.

The newest have a share of the room, and none may have all of it: a message that is too large is
shown in part, and the summary holds what matters of the rest. Which summary is written for it is
`compaction`'s business.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from foreword.messages.message import Message
from foreword.origin import last_words
from foreword.session.cut_plan import FrontRule
from foreword.session.history import Group, History, group_tokens
from foreword.session.message_writer import MessageWriter

# Of a message that is shown in part to fill the room: with less, it is its marks and little else.
LEAST_PART_TOKENS = 200


@dataclass(frozen=True, slots=True, kw_only=True)
class HistorySplit:
    """A history in two: messages to sum up, and those that are shown."""

    last: int  # the summary stands for the messages up to this one; 0 where there is none
    old_messages: Sequence[Message] = ()  # that it is made of, with those that are shown in part
    summed_up: int = 0  # how many are out of sight
    shown_messages: int = 0
    shown_tokens: int = 0
    newest_tokens: int = 0  # of those, in the newest messages
    shown_text: str = ""
    excerpts: Mapping[int, int] = field(default_factory=dict)  # what is shown in part: its tokens


def split_history(
    history: History,
    writer: MessageWriter,
    groups: Sequence[Group],
    *,
    target: int,
    newest_room: int,
    fill: bool,
) -> HistorySplit:
    """The groups in two, for a call of so many tokens of which the newest may have that room. To
    fill the room, the group in front of the newest that fit is shown in part."""
    newest_from = _newest_start(groups, newest_room)
    left = newest_room - group_tokens(groups[newest_from:])
    is_cut_short = fill and left >= LEAST_PART_TOKENS
    if is_cut_short and (newest_from > 1 or history.compressed_to):
        newest_from -= 1
    old, newest = groups[:newest_from], groups[newest_from:]
    # with nothing new to sum up, the summary that stands may still be made smaller
    last = old[-1].last if old else history.compressed_to
    if not last:
        return HistorySplit(last=0, shown_messages=_message_count(groups))
    rule = FrontRule(budget=target, tokens_within=writer.tokens_within)
    front = rule.front_of(history, last + 1, compressed_to=last)
    texts = list[str]()
    whole_numbers = set[int]()  # of old messages that are shown whole
    excerpts = dict[int, int]()
    for piece in front.pieces:
        texts.append(writer.text_of(piece.group, piece.shorten_to).entry.text)
        if piece.shorten_to:
            excerpts[piece.group.first] = piece.shorten_to
        else:
            whole_numbers.update(turn.seq for turn in piece.group.turns)
    staying = {group.first for group in front.staying}
    tokens = front.tokens
    part_shown = list[Message]()
    newest_tokens = group_tokens(newest)
    whole = newest
    if newest_tokens > newest_room:  # the very newest, or one that fills the room
        first, *whole = newest
        newest_tokens -= first.tokens
        shorten_to = newest_room - newest_tokens
        excerpt = writer.shorten(first, shorten_to, newest=not whole)
        newest_tokens += writer.tokens_within(first, shorten_to)
        excerpts[first.first] = shorten_to
        part_shown += first.messages
        texts.append(excerpt.entry.text)
    texts += [writer.text_of(group).entry.text for group in whole]
    tokens += newest_tokens
    old_messages = list[Message]()
    for group in old:
        old_messages += [turn.message for turn in group.turns if turn.seq not in whole_numbers]
    return HistorySplit(
        last=last,
        old_messages=[*old_messages, *part_shown],
        summed_up=_message_count([group for group in old if group.first not in staying]),
        shown_messages=_message_count(front.staying) + _message_count(newest),
        shown_tokens=tokens,
        newest_tokens=newest_tokens,
        shown_text="\n".join(texts),
        excerpts=excerpts,
    )


def current_question(groups: Sequence[Group]) -> str:
    """The user's last words: the question of the moment."""
    for group in reversed(groups):
        words = last_words(group.messages, "user")
        if words:
            return words
    return ""


def _newest_start(groups: Sequence[Group], room: int) -> int:
    """Where the newest groups that fit the room begin; the very newest stays whatever its size."""
    if not groups:
        return 0
    start = len(groups) - 1
    size = groups[start].tokens
    while start > 0 and size + groups[start - 1].tokens <= room:
        start -= 1
        size += groups[start].tokens
    return start


def _message_count(groups: Sequence[Group]) -> int:
    return sum(len(group.turns) for group in groups)
