"""The messages of a conversation as a call carries them: measured, without secrets, shortened where
they have to be.

What is written depends on the message, the secrets and the tags of the recipe alone.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace

from foreword.compression.extract import summarize
from foreword.engine.boundaries import data_to_send
from foreword.engine.conversation_text import ConversationText, shorten_stretch, write_stretch
from foreword.engine.render import Scale, message_text
from foreword.engine.report import Omission
from foreword.messages.message import IMAGE_TOKENS, NOT_HISTORY, Message, edit
from foreword.messages.parts import Text
from foreword.secrets.known_values import KnownValues
from foreword.section import Section, handle_of
from foreword.session.history import Group, summary_head
from foreword.session.secret_messages import without_secrets

HEAD_TOKENS = 60  # the line that says what a summary stands for, about


@dataclass(slots=True, kw_only=True)
class MessageWriter:
    """Writes the messages of one conversation."""

    scale: Scale
    section: Section  # the history's, empty
    secrets: KnownValues = field(default_factory=KnownValues)  # hidden in all that is written
    # of one plan: by first and last message, whether it is the newest, and the tokens
    _shortened: dict[tuple[int, int, bool, int], ConversationText] = field(default_factory=dict)

    @property
    def tag(self) -> str:
        """The tag of the history."""
        return self.section.tag

    def hiding(self, secrets: KnownValues) -> MessageWriter:
        """Return a writer that hides these secrets and has written nothing yet."""
        return MessageWriter(scale=self.scale, section=self.section, secrets=secrets)

    def tokens_of(self, message: Message) -> int:
        """The tokens of a message in the history, with all that goes along besides its words."""
        if message.kind in NOT_HISTORY:
            return 0
        count = self.scale.counter.count
        words = message_text(message, lambda text: self.scale.safe(text, self.tag))
        data = data_to_send(message, self.scale.pattern)
        return count(f"{words}\n") + IMAGE_TOKENS * message.images + count(data)

    def write(self, messages: Sequence[Message], *, newest: bool) -> ConversationText:
        """Messages as written; an open call at the end of the newest ones stays open."""
        hidden = [without_secrets(message, self.secrets) for message in messages]
        return write_stretch(hidden, self.scale, self.tag, newest=newest)

    def shorten(self, group: Group, tokens: int, *, newest: bool = False) -> ConversationText:
        """A group within so many tokens, or as near to it as it gets."""
        key = (group.first, group.last, newest, tokens)
        if key not in self._shortened:
            hidden = [without_secrets(message, self.secrets) for message in group.messages]
            if group.first < 0:
                self._shortened[key] = self._shorten_summary(hidden[0], tokens)
            else:
                self._shortened[key] = shorten_stretch(
                    hidden, self.scale, self.tag, tokens, newest=newest
                )
        return self._shortened[key]

    def text_of(self, group: Group, tokens: int = 0, *, newest: bool = False) -> ConversationText:
        """A group, shortened to so many tokens where that is not 0."""
        if tokens:
            return self.shorten(group, tokens, newest=newest)
        return self.write(group.messages, newest=newest)

    def tokens_within(self, group: Group, tokens: int) -> int:
        """What a group takes that is shortened to so many tokens, as the newest or not: hardly ever
        exactly that. Images and thoughts go along whole."""
        sizes = list[int]()
        for newest in (False, True):
            text = self.shorten(group, tokens, newest=newest)
            beside = IMAGE_TOKENS * text.images + text.data_tokens
            sizes.append(self.scale.counter.tokens(text.units) + beside)
        return max(sizes)

    def _shorten_summary(self, message: Message, tokens: int) -> ConversationText:
        """A summary within so many tokens, by its own parts: what lasts stays, the rest by its
        weight."""
        head, summary = summary_head(message)
        counter = self.scale.counter
        shorter = summarize((), max(1, tokens - HEAD_TOKENS), counter, earlier=summary)
        words = f"{head}\n\n{shorter}"
        text = write_stretch([edit(message, parts=(Text(words),))], self.scale, self.tag)
        original = message.text.encode("utf-8", "surrogatepass")
        handle = handle_of(original)
        cut = Omission(
            tag=self.tag,
            what="part of the summary",
            tokens=max(0, counter.count(message.text) - counter.count(words)),
            reason="larger than its room",
            handle=handle,
        )
        return replace(text, cuts=(cut,), originals=((handle, original),))
