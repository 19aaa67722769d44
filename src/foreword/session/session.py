"""A conversation that lasts: append to it, and ask for the context of the next call.

`foreword.Session`. Every context has the same six parts; five of them are made anew from the store,
the sixth is the history, windowed or compressed so that it fits. What is in memory is a copy: the
store is the truth, and others may write to it at the same time.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from itertools import islice
from pathlib import Path
from typing import Any, Self

from foreword.context.inputs import Inputs
from foreword.context.readers import gather
from foreword.engine.boundaries import escape_boundaries
from foreword.engine.package import Package
from foreword.engine.render import turn_text
from foreword.errors import BadSource, StoreError, UsageError
from foreword.formats import from_record, read_message, to_record
from foreword.message import IMAGE_TOKENS, KINDS, NOT_HISTORY, Kind, Message, data_beside_words
from foreword.plan import plan as planning
from foreword.plan.fresh_parts import part_text
from foreword.recipe.budget import whole_number
from foreword.secrets.known_values import KnownValues
from foreword.session import cache_reuse, compaction
from foreword.session.call_memory import Calls
from foreword.session.compaction import MODEL_SECONDS, Compaction, LastingParts
from foreword.session.limits import limits_for
from foreword.session.message_cache import summary_message
from foreword.session.session_options import (
    SessionOptions,
    budget_for,
    counter_for,
    opening_for,
    writing_for,
)
from foreword.session.workflow_state import WorkflowState, checked_name, find_or_make
from foreword.store import append_keys, compressions, messages, workflows
from foreword.store.append_keys import AppendReceipt
from foreword.store.compressions import Compression
from foreword.store.database import LARGEST_NUMBER, Database
from foreword.store.messages import Conversation, Range
from foreword.store.reports import usage_log
from foreword.store.secret_values import secrets_of
from foreword.store.urls import open_database
from foreword.store.workflows import Workflow
from foreword.text.identifiers import literals
from foreword.tokens import Counter

BATCH = 1_000  # messages written at once
NOT_RECORDED = (
    "{store} is read-only: this call is not in its usage log, and `recall` finds nothing that it"
    " left out"
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Appended:
    """What became of a message that was appended."""

    seq: int
    tokens: int
    size_tokens: int  # of the whole context after it
    warnings: tuple[str, ...] = ()
    compaction: Compaction | None = None  # of the history in front of it, where it was compressed
    compressed: bool = False  # said again, too, where the message was there already under its key
    count: int = 1


class Session(WorkflowState):
    """A workflow's conversation, turn by turn; each thread opens its own."""

    def __init__(
        self,
        db: Database,
        workflow: Workflow,
        conversation: Conversation,
        opening: SessionOptions,
        counter: Counter,
    ) -> None:
        super().__init__(db, workflow)
        self.conversation, self._opening, self.limits = conversation, opening, opening.limits
        self._counter, self._writing = counter, writing_for(opening, counter)
        self._calls = Calls(db, conversation, opening.selection, self._writing)
        self._shown = dict[str, tuple[object, str]]()  # every part: its stamp, and its text
        self._held: object = None  # what the workflow held when its secrets were last looked for
        self._secrets = KnownValues()
        self.browser: object = None  # the tabs, for the fifth part: a list of name, url and active

    @classmethod
    def open(
        cls,
        url: str | None = None,
        workflow: str = "main",
        *,
        root: str | Path = ".",
        create: bool = True,
        conversation: str = "main",
        recipe: str = "workflow",
        budget: int | str | None = None,
        window: int | str | None = None,
        model: str | None = None,
        counter: str | Counter | None = None,
        warn_at: int | str | None = None,
        compress_at: int | str | None = None,
        compress_to: int | str | None = None,
        compress_with: Any = None,
        compress_timeout_seconds: float = MODEL_SECONDS,
        auto_compress: bool = True,
    ) -> Self:
        """Open a conversation, made where there is none unless `create` says no.

        `url` is `sqlite:///path` or `postgresql://...`; without it, `FOREWORD_DB` or the store of
        `root`. `recipe` is `workflow`, `workflow-cached` or your own. `budget` is the most tokens a
        context may have; without it, the size at which the history is compressed. `warn_at`,
        `compress_at` and `compress_to` are tokens or shares of the window (`"80%"`), which is
        `window`, or the model's. `counter` is one of `assemble`'s; without one or a `model`, it is
        what the conversation was counted by before, at first `o200k`. `compress_with` names a model
        of pydantic-ai that writes the summaries; without it the built-in compressor does.
        """
        limits = limits_for(window, model, warn_at, compress_at, compress_to)
        opening = opening_for(
            root,
            recipe,
            limits,
            budget,
            model,
            counter,
            compress_with,
            compress_timeout_seconds,
            auto_compress,
        )
        name, talk = checked_name(workflow, "workflow"), checked_name(conversation, "conversation")
        db = open_database(url, opening.root, create=create)
        try:
            found, is_new = find_or_make(db, name, create=create)
            before = messages.find(db, found.id, talk)
            counting = counter_for(opening, before.counter if before else None)
            said = before or messages.ensure(db, found.id, talk, counting.key)
            session = cls(db, found, replace(said, counter=counting.key), opening, counting)
            session.is_new, session.url, session.root = is_new, url, opening.root
            if said.counter != counting.key:
                _refuse_recount(db, said.counter, counting.key)
                session._recount()
        except BaseException:
            db.close()
            raise
        return session

    # --- writing ----------------------------------------------------------------------------------

    @property
    def system_prompt(self) -> str:
        """The newest system prompt."""
        return self._now().system_prompt

    @system_prompt.setter
    def system_prompt(self, text: str) -> None:
        messages.set_system_prompt(self.db, self.conversation.id, text)

    def append(
        self,
        message: object,
        *,
        kind: Kind | None = None,
        pinned: bool = False,
        key: str | None = None,
    ) -> Appended:
        """Add a message: Anthropic's or OpenAI's shape, or a `foreword.Message`.

        What it is decides what becomes of it: a system prompt is the newest from now on; an old
        plan, a snapshot or an attachment is kept and never shown again; all else is history. A
        pinned message is never left out.

        Who does not know whether it was added (a connection broke, a process died) may add it again
        under the same `key`, a word of their own: it is there once, and the answer is the first
        one.
        """
        read = _read(message, kind)
        if key is not None:
            return self._append_once(read, pinned=bool(pinned), key=append_keys.validate_key(key))
        tokens = self._tokens(read)
        size, compacted = self._with_room_for(tokens)
        return self._append(read, tokens, size, compacted, pinned=bool(pinned))

    def _append(
        self, read: Message, tokens: int, size: int, compacted: Compaction | None, *, pinned: bool
    ) -> Appended:
        """Add a message that there is room for; `size` is that of the context with it."""
        (line,) = messages.append(self.db, self.conversation.id, [(read, tokens, pinned)])
        self._calls.take(line)
        size = self.size_tokens if read.kind == "system_prompt" else size
        warnings = (*self._told_of(compacted), *self._warn(size))
        applied = bool(compacted and compacted.applied)
        return Appended(
            seq=line.seq,
            tokens=tokens,
            size_tokens=size,
            warnings=warnings,
            compaction=compacted,
            compressed=applied,
        )

    def _append_once(self, read: Message, *, pinned: bool, key: str) -> Appended:
        digest = append_keys.digest_of([(read, pinned)])
        if (before := self._appended(key, digest)) is not None:
            return before
        tokens = self._tokens(read)
        # outside of the transaction: a model may be asked
        size, compacted = self._with_room_for(tokens)
        return self._once(
            key, digest, lambda: self._append(read, tokens, size, compacted, pinned=pinned)
        )

    def append_all(self, said: Iterable[object], *, key: str | None = None) -> Appended:
        """Add several messages, all or none, as `extend`; the answer is about all of them. A
        `key` as of `append`."""
        read = [_read(message, None) for message in said]
        if key is None:
            return self._append_all(read)
        digest = append_keys.digest_of((message, False) for message in read)
        return self._once(append_keys.validate_key(key), digest, lambda: self._append_all(read))

    def _append_all(self, read: Sequence[Message]) -> Appended:
        with self._writing_all():
            before = messages.up_to(self.db, self.conversation.id)
            count = self.extend(read)
            after = messages.up_to(self.db, self.conversation.id)
            return Appended(
                seq=after.seq,
                tokens=after.running - before.running,
                size_tokens=self.size_tokens,
                count=count,
            )

    def _once(self, key: str, digest: str, append: Callable[[], Appended]) -> Appended:
        """Append and keep the answer under the key, all or nothing; where somebody was faster,
        theirs is given."""
        with self._writing_all():
            if (before := self._appended(key, digest)) is not None:
                return before
            made = append()
            receipt = AppendReceipt(
                seq=made.seq,
                count=made.count,
                tokens=made.tokens,
                size_tokens=made.size_tokens,
                compressed=made.compressed,
                warnings=made.warnings,
            )
            append_keys.keep(self.db, self.conversation.id, key=key, digest=digest, receipt=receipt)
            return made

    @contextmanager
    def _writing_all(self) -> Iterator[None]:
        """All or nothing; where it is nothing, what is in memory is read anew."""
        try:
            with messages.write_lock(self.db, self.conversation.id):
                yield
        except BaseException:
            self._calls.forget()
            raise

    def _appended(self, key: str, digest: str) -> Appended | None:
        """What was answered when this was appended under the key before."""
        kept = append_keys.find(self.db, self.conversation.id, key=key, digest=digest)
        if kept is None:
            return None
        return Appended(
            seq=kept.seq,
            tokens=kept.tokens,
            size_tokens=kept.size_tokens,
            warnings=kept.warnings,
            compressed=kept.compressed,
            count=kept.count,
        )

    def extend(
        self, said: Iterable[object], progress: Callable[[int], None] = lambda count: None
    ) -> int:
        """Add many messages, all or none; returns how many. Nothing is compressed on the way."""
        count, left = 0, (_read(message, None) for message in said)
        with messages.write_lock(self.db, self.conversation.id):
            while batch := [(read, self._tokens(read), False) for read in islice(left, BATCH)]:
                count += len(messages.append(self.db, self.conversation.id, batch))
                progress(count)
        return count

    def _tokens(self, message: Message) -> int:
        if message.kind in NOT_HISTORY:
            return 0
        words = turn_text(message.role, self._writing.scale.safe(message.text, self._writing.tag))
        # what goes along besides the words
        unseen = data_beside_words(escape_boundaries(message, self._writing.scale.pattern))
        return (
            self._counter.count(f"{words}\n")
            + IMAGE_TOKENS * message.images
            + self._counter.count(unseen)
        )

    # --- the next call ----------------------------------------------------------------------------

    def context(self, *, budget: int | str | None = None, save: bool = True) -> Package:
        """The context of the next call: six parts within the budget, the history compressed when it
        has to be.

        `save=False` changes nothing: no compression, no line in the usage log, no originals for
        `recall`. A store that can't be written is left as it is, too, and the report says so.
        """
        given = whole_number(budget, "budget")
        allowed = self._opening.budget if given is None else budget_for(self.limits, given)
        notes: tuple[str, ...] = ()
        if save and self.db.read_only:
            save, notes = False, (NOT_RECORDED.format(store=self.db.name),)
        elif save:
            size, compacted = self._with_room_for(0)
            notes = (*self._told_of(compacted), *self._warn(size))
        texts = self._texts()
        self._writing.hide(self._secrets)
        return self._calls.make(texts, allowed, self.workflow.name, notes, save=save)

    def secrets(self) -> KnownValues:
        """What hides every secret that the workflow holds now: in contexts, and in all that is
        shown of a history."""
        now = workflows.stamps(self.db, self.workflow.id)
        return self._secrets_at(now.variables, now.snapshot)

    def _secrets_at(self, *held: object) -> KnownValues:
        if self._held != held:
            self._secrets, self._held = secrets_of(self.db, self.workflow.id), held
        return self._secrets

    def _texts(self) -> dict[str, str]:
        """Every part but the history as the model reads it, by its tag; what has not changed is
        not written again."""
        now, selection = self._stamps(), self._opening.selection
        secrets = self._secrets_at(now["variables"], now["snapshot"])
        for tag, spec in selection.sections.items():
            known, stamp = self._shown.get(tag), (now.get(spec.state), secrets.digest)
            if spec.state in now and (known is None or known[0] != stamp):
                self._shown[tag] = stamp, secrets.known(self._written(spec.state or "", spec.show))
        others = {tag: spec for tag, spec in selection.sections.items() if spec.state is None}
        read = (
            gather(replace(selection, sections=others), Inputs(root=self._opening.root)).sections
            if others
            else ()
        )
        return {tag: text for tag, (_, text) in self._shown.items()} | {
            part.tag: secrets.known(part.text) for part in read
        }

    def _stamps(self) -> dict[str | None, object]:
        """What tells whether a part is still what it was."""
        now = workflows.stamps(self.db, self.workflow.id)
        return {
            "system_prompt": self.system_prompt,
            "plan": now.plan,
            "snapshot": now.snapshot,
            "variables": now.variables,
            "browser": repr(self.browser),
        }

    def _written(self, part: str, way: str | None) -> str:
        value = self.snapshot() if part == "snapshot" else getattr(self, part)
        return part_text(way, value) if way else str(value or "")

    # --- size and compression ---------------------------------------------------------------------

    @property
    def size_tokens(self) -> int:
        """What the next context would have with the history whole: the fresh parts, and all that
        was said."""
        return (
            self._size_of(self._texts()) + self._calls.refresh(self._opening.budget).history_tokens
        )

    def compress(
        self, *, to: int | str | None = None, model: Any = None, preview: bool = False
    ) -> Compaction:
        """Compress the history to about so many tokens; a preview says what would happen and
        changes nothing.

        A preview is always the built-in compressor's: a model is not asked for something that is
        not used.
        """
        target = (
            self.limits.compress_to
            if to is None
            else limits_for(self.limits.window, compress_to=to).compress_to
        )
        return self._compress(
            target, None if preview else model or self._opening.compress_with, preview=preview
        )

    def _compress(
        self, target: int, model: Any, *, preview: bool = False, strict: bool = True
    ) -> Compaction:
        transcript = self._calls.refresh(self._opening.budget)
        made = compaction.plan(
            transcript,
            target,
            self._counter,
            self._known(),
            self.workflow.name,
            model,
            self._opening.compress_timeout_seconds,
            secrets=self.secrets(),
            strict=strict,
        )
        if preview or not made.messages:
            return made
        made = compaction.apply(transcript, made)
        self._be_quiet(0 if made.reached else messages.up_to(self.db, self.conversation.id).running)
        return made

    def undo(self) -> Compression:
        """Take back the last compression: the messages it stood for are in the history again."""
        undone = compressions.undo(self.db, self.conversation.id)
        if undone is None:
            raise UsageError(f"there is no compression of {self.workflow.name!r} to undo")
        # or it would be made again at once
        self._be_quiet(messages.up_to(self.db, self.conversation.id).running)
        return undone

    def expand(self, number: int | None = None) -> list[Message]:
        """The original messages that a compression stands for; without a number, the current
        one."""
        there = self.compressions()
        made = [one for one in there if one.number == number or (number is None and not one.undone)]
        if not made:
            which = "" if number is None else f" {number}"
            raise UsageError(
                f"there is no compression{which} of {self.workflow.name!r}",
                hint=(
                    f"there are: {', '.join(map(_numbered, there))}"
                    if there
                    else "nothing was compressed"
                ),
            )
        return self._between(1, made[-1].last)

    def compressions(self) -> list[Compression]:
        """Every compression, the oldest first, undone ones too."""
        return compressions.all_compressions(self.db, self.conversation.id)

    def history(self) -> list[Message]:
        """Every message of the history as it was appended."""
        return self._between(1, LARGEST_NUMBER)

    def usage(self, last: int = 200) -> dict[str, Any]:
        """The size now, the limits, and the log of calls, the newest first, with their averages."""
        log = usage_log(self.db, self.conversation.id, last)
        return {
            "workflow": self.workflow.name,
            "size_tokens": self.size_tokens,
            "history_tokens": self._calls.transcript.history_tokens,
            "messages": self._calls.transcript.known,
            "warn_at": self.limits.warn_at,
            "compress_at": self.limits.compress_at,
            "compress_to": self.limits.compress_to,
            "warning": self.size_tokens >= self.limits.warn_at,
            "compressions": sum(not one.undone for one in self.compressions()),
            **cache_reuse.totals(log),
            "log": cache_reuse.readable(log),
        }

    def _with_room_for(self, tokens: int) -> tuple[int, Compaction | None]:
        """The size with so many tokens more, after a compression where that would be past the
        limit.

        Nothing is compressed while the last try is known to have been no use.
        """
        size = self.size_tokens + tokens
        if not self._opening.auto_compress or size <= self.limits.compress_at:
            return size, None
        if self._calls.transcript.running < self._now().quiet_until:
            return size, None
        made = self._compress(self.limits.compress_to, self._opening.compress_with, strict=False)
        if not made.applied:
            self._be_quiet(self._calls.transcript.running)
        return self.size_tokens + tokens, made

    def _told_of(self, made: Compaction | None) -> tuple[str, ...]:
        """What to say of a compression that nobody asked for."""
        if made is None or not made.applied:
            return made.notes if made else ()
        return (
            (
                f"the history was compressed: {made.messages:,} messages summed up,"
                f" {made.tokens_before:,} tokens to {made.tokens_after:,}; `foreword session undo"
                f" {self.workflow.name}` takes it back"
            ),
            *made.notes,
        )

    def _warn(self, size: int) -> tuple[str, ...]:
        """A warning, once, when the size reaches the limit for it."""
        if size < self.limits.warn_at or (now := self._now()).warned:
            return ()
        messages.set_limits(self.db, self.conversation.id, warned=size, quiet_until=now.quiet_until)
        return (
            (
                f"the context has {size:,} tokens, past {self.limits.warn_at:,}; "
                f"its history is compressed before {self.limits.compress_at:,}"
            ),
        )

    def _be_quiet(self, running: int) -> None:
        """Compress again only when the history has grown by a quarter of the limit; from 0:
        whenever it has to be."""
        quiet = running + self.limits.compress_at // 4 if running else 0
        messages.set_limits(self.db, self.conversation.id, warned=0, quiet_until=quiet)

    def _size_of(self, parts: Mapping[str, str]) -> int:
        """The tokens of the parts, and of the tags around the history."""
        tagged = {**parts, self._writing.tag: ""}
        return sum(
            self._counter.count(f"<{tag}>\n{text}\n</{tag}>\n\n") for tag, text in tagged.items()
        )

    def _known(self) -> LastingParts:
        """What a summary need not repeat, and what it must not lose."""
        parts, plan, specs = (
            list(self._texts().items()),
            self.plan,
            self._opening.selection.sections,
        )
        named = {
            name for tag, text in parts if specs[tag].show == "variables" for name in literals(text)
        }
        if plan is None:
            return LastingParts(parts, sorted(named))
        over = [(description, status) for _, description, status in planning.finished_tasks(plan)]
        return LastingParts(parts, sorted(named | planning.identifiers(plan)), over)

    def _between(self, first: int, last: int) -> list[Message]:
        lines = messages.between(self.db, Range(self.conversation.id, first, last))
        return [line.message for line in lines]

    def _now(self) -> Conversation:
        """The conversation as it is in the store now."""
        return messages.ensure(self.db, self.workflow.id, self.conversation.name, self._counter.key)

    def _recount(self) -> None:
        """Another counter than before: every message of the history is counted anew, once."""
        lines = messages.after(self.db, self.conversation.id, 0)
        sizes = [(line.seq, self._tokens(line.message)) for line in lines]
        messages.recount(self.db, self.conversation.id, self._counter.key, sizes)
        for made in self.compressions():
            size = self._tokens(summary_message(made.summary, made.last, self.workflow.name))
            compressions.resize(self.db, self.conversation.id, made.number, size)


def _refuse_recount(db: Database, before: str, now: str) -> None:
    """An error where messages would have to be counted anew in a store that can't be written."""
    if db.read_only:
        raise StoreError(
            f"{db.name} is read-only and was counted by {before}, so its messages can't be counted"
            f" by {now}",
            hint="leave the counter and the model away, or make the store writable",
        )


def _numbered(made: Compression) -> str:
    return f"{made.number} (undone)" if made.undone else str(made.number)


def _read(message: object, kind: Kind | None) -> Message:
    """A message as it will be kept; one that could not be read back is refused."""
    try:
        read = read_message(message)
    except (TypeError, ValueError, RecursionError) as error:
        raise BadSource(
            "message", f"can't be kept: {error}", hint="give values that JSON can hold"
        ) from None
    if kind is None and not isinstance(message, Message):
        return read
    try:
        return from_record(to_record(read if kind is None else replace(read, kind=kind)))
    except (TypeError, ValueError, AttributeError, RecursionError) as error:
        raise BadSource(
            "message", f"can't be kept: {error}", hint=f"a kind is one of {', '.join(KINDS)}"
        ) from None
