"""A conversation that lasts: append to it, and ask for the context of the next call.

`foreword.Session`. A call is the call before with more after it, or begins with a cut (`calls`):
messages as they came, and what changed of the state (`state_parts`). The history is compressed in
time (`size_control`). What is in memory is a copy: the store is the truth, and others may write to
it at the same time.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Self

from foreword import tokens
from foreword.aliases import by_any_name
from foreword.context.explain import Explanation, explain_package, no_context
from foreword.engine.package import Package
from foreword.errors import EssentialsTooLarge, StoreError, UnknownName, UsageError
from foreword.messages.answer_usage import answer_usage
from foreword.messages.message import Kind, Message
from foreword.messages.objects import holds_messages
from foreword.messages.shapes import mark_instructions
from foreword.prices import AnswerUsage
from foreword.recipe.budget import whole_number
from foreword.secrets.known_values import KnownValues
from foreword.session import call_log
from foreword.session.append import (
    Appender,
    AppendResult,
    message_to_store,
    messages_to_store,
    object_to_store,
)
from foreword.session.call_tools import TOOLS_PART, CallTools, less_tools, read_tools
from foreword.session.calls import Calls
from foreword.session.client_history import answer_key
from foreword.session.compaction import MODEL_SECONDS, Compaction
from foreword.session.history import summary_message
from foreword.session.limits import limits_for
from foreword.session.recall_tool import ANSWER_TOKENS, RecallTool, recall_tool
from foreword.session.session_options import (
    SessionOptions,
    SessionSettings,
    budget_for,
    counter_for,
    message_writer,
    session_options,
)
from foreword.session.size_control import Room, SizeControl
from foreword.session.state_parts import StateReader
from foreword.session.sync import Syncer, SyncResult
from foreword.session.take_turns import take_turns
from foreword.session.workflow_state import WorkflowState, checked_name, find_or_make
from foreword.store import answer_usage as answer_costs
from foreword.store import compressions, cuts, messages
from foreword.store.compressions import Compression
from foreword.store.database import LARGEST_NUMBER, Database
from foreword.store.messages import Conversation, Range, StoredMessage
from foreword.store.reports import usage_log
from foreword.store.session_stamps import read_stamps
from foreword.store.urls import open_database
from foreword.store.workflows import Workflow
from foreword.tokens import Counter

NOT_RECORDED = (
    "{store} is read-only: this call is not in its usage log, and `recall` finds nothing that it"
    " left out"
)
PREVIEW = (
    "a preview: {asked:,} tokens are not the session's own budget of {own:,}, so the call is not"
    " recorded and nothing is compressed; `--keep` or `keep=True` makes them its own"
)


@dataclass(frozen=True, slots=True, kw_only=True)
class SessionOverview:
    """How a session stands: what a page about it shows."""

    usage: dict[str, Any]
    compressions: list[Compression]  # the oldest first, undone ones too
    package: Package | None  # the next call, but for a compression that is due
    problem: EssentialsTooLarge | None  # why there can be none
    is_compression_due: bool  # before the next call
    # of the next call with its tools, about that after a compression that is due; 0 for none
    next_tokens: int
    next_parts: dict[str, int]  # the tokens of its parts, by tag: the tools first


@dataclass(frozen=True, slots=True, kw_only=True)
class StateOverview:
    """What a session works on, as of one moment: what a page beside the conversation shows."""

    size_tokens: int
    is_compression_due: bool  # before the next call
    plan: dict[str, Any] | None  # whole: secrets are not hidden
    node_statuses: dict[str, str]  # by id, in the order of the nodes
    variables: list[str]
    secrets: KnownValues  # hides every secret that the workflow holds


@take_turns
class Session(WorkflowState):
    """A workflow's conversation; threads that share it take turns."""

    def __init__(
        self,
        db: Database,
        workflow: Workflow,
        conversation: Conversation,
        options: SessionOptions,
        counter: Counter,
    ) -> None:
        super().__init__(db, workflow)
        self.conversation = conversation
        self._kept_settings = dict(conversation.settings)
        self._use(options, counter)

    def _use(self, options: SessionOptions, counter: Counter) -> None:
        """Go on with these options, and with nothing in memory."""
        db = self.db
        conversation = self.conversation
        self.limits = options.limits
        self._options = options
        self._settings = options.settings.to_dict()
        self._writer = message_writer(options, counter)
        self._calls = Calls(db, conversation, self._writer, options.settings.model)
        # A state of its own: the session as a whole would be a circle, which keeps the store of a
        # session that nobody closed open until the garbage is collected.
        state = WorkflowState(db, self.workflow)
        self._states = StateReader(state, options)
        tools = CallTools(tokens=options.settings.tool_tokens or 0, is_known=False)
        if options.tools:
            tools = read_tools(options.tools, counter)
            self._settings["tool_tokens"] = tools.tokens
        self._size_control = SizeControl(state, options, self._calls, self._states, tools)
        self._appender = Appender(self._calls, self._size_control)
        self._syncer = Syncer(self._calls, self._size_control)

    @classmethod
    @by_any_name
    def open(
        cls,
        url: str | None = None,
        workflow: str = "main",
        *,
        root: str | Path = ".",
        create: bool = True,
        conversation: str = "main",
        recipe: str | None = None,
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
        tools: Iterable[object] = (),
    ) -> Self:
        """Open a conversation, made where there is none unless `create` says no.

        `url` is `sqlite:///path` or `postgresql://...`; without it, `FOREWORD_DB` or the store of
        `root`. `recipe` is `chat`, `workflow`, `workflow-cached` or your own; without one it is
        `chat`, and `workflow-cached` from the first plan, variable, node or tab on. `budget` is the
        most tokens a context may have; without it, the size at which the history is compressed. One
        in which its pinned messages have no room is an `EssentialsTooLarge`. `warn_at`,
        `compress_at` and `compress_to` are tokens or shares of the window (`"80%"`), which is
        `window`, or the model's. All of these are kept with the conversation, and hold for whoever
        opens it later and says nothing else. `counter` is one of `assemble`'s; without one or a
        `model`, it is what the conversation was counted by before, at first `o200k`.
        `compress_with` names a model of pydantic-ai that writes the summaries; without it the
        built-in compressor does. `tools` are the definitions that you send along with every call,
        as a provider takes them: what they take is kept free of the budget and counts towards the
        limits, and a model is asked for a summary with them, since a provider reads them first and
        would not find the call in its cache without.
        """
        if model is not None and window is None:
            window = tokens.for_model(model)[0]
        given = SessionSettings(
            recipe=recipe,
            model=model,
            budget=budget,
            window=window,
            warn_at=warn_at,
            compress_at=compress_at,
            compress_to=compress_to,
        )
        options = session_options(
            given,
            root=root,
            model=model,
            counter=counter,
            compress_with=compress_with,
            compress_timeout_seconds=compress_timeout_seconds,
            auto_compress=auto_compress,
            tools=tools,
        )
        workflow_name = checked_name(workflow, "workflow")
        conversation_name = checked_name(conversation, "conversation")
        db = open_database(url, options.root, create=create)
        try:
            found, is_new = find_or_make(db, workflow_name, create=create)
            before = messages.find(db, found.id, conversation_name)
            if before is not None:
                options = options.with_settings(given.with_stored_settings(before.settings))
            used = counter_for(options, before.counter if before else None)
            stored = before or messages.ensure(db, found.id, conversation_name, used.key)
            session = cls(db, found, replace(stored, counter=used.key), options, counter=used)
            session.is_new = is_new
            session.url = url
            session.root = options.root
            if stored.counter != used.key:
                _refuse_recount(db, before=stored.counter, now=used.key)
                session._recount()
            if budget is not None and budget != stored.settings.get("budget") and session.pins():
                session.context(save=False)  # an error where they do not fit
        except BaseException:
            db.close()
            raise
        return session

    # --- writing ----------------------------------------------------------------------------------

    @property
    def system_prompt(self) -> str:
        """The newest system prompt; to set it writes it to the store."""
        return read_stamps(self.db, self.conversation.id).system_prompt

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
    ) -> AppendResult:
        """Add a message: a dict in any shape that is read, a `foreword.Message`, or the object that
        an SDK or a framework answered with.

        What it is decides what becomes of it: a system prompt is the newest from now on; an old
        plan, a snapshot or an attachment is kept and never shown again; all else is history. A
        pinned message is never left out.

        Who does not know whether it was added (a connection broke, a process died) may add it again
        under the same `key`, a word of their own: it is there once, and the answer is the first
        one.
        """
        usage = None if isinstance(message, Message) else answer_usage(message)
        if kind is None and not isinstance(message, Message) and holds_messages(message):
            new = object_to_store(message)
        else:
            new = [message_to_store(message, kind)]
        if pinned and len(new) > 1:
            raise UsageError(
                f"it holds {len(new)} messages, and one is pinned at a time",
                hint="append its messages one by one",
            )
        self._keep_settings()
        made = self._appender.append(new, pinned=bool(pinned), key=key)
        self._keep_usage(usage, new[-1])
        return made

    def record_usage(self, answer: object) -> bool:
        """Count what an answer cost that is not appended here, as where a framework keeps the
        history; whether it says what it cost. An answer counts once, also where it comes in
        later."""
        usage = None if isinstance(answer, Message) else answer_usage(answer)
        if usage is not None:
            self._keep_usage(usage, None if usage.answer else object_to_store(answer)[-1])
        return usage is not None

    def _keep_usage(self, usage: AnswerUsage | None, message: Message | None) -> None:
        """Keep what an answer says that it cost, once; one without an id is known by what it
        says."""
        if usage is not None:
            key = answer_key(usage, message)
            answer_costs.keep(self.db, self.conversation.id, key, usage)

    def append_all(self, said: Iterable[object], *, key: str | None = None) -> AppendResult:
        """Add several messages, all or none, as `extend`; the answer is about all of them. A
        `key` as of `append`."""
        given = list(said)
        new = list(mark_instructions(messages_to_store(given)))
        self._keep_settings()
        made = self._appender.append(new, key=key, make_room=False)
        for answer in given:
            self.record_usage(answer)
        return made

    def sync(self, messages: Iterable[object], *, system: object = None) -> SyncResult:
        """Bring the conversation up to a history that a client holds: all of it, again and again.

        What is new is added; nothing is there twice, also where an answer was appended before. By
        their content messages are the same or not; marks of a cache, ids and thinking do not count.
        Where the client has edited or taken back messages, those it no longer has become a branch:
        kept, in no later call, and `branch` of the answer recalls them. What the system says in
        front of the messages, or `system`, is the system prompt from now on. A pinned message that
        was appended and is not in the client's history stays.
        """
        prompt = None
        if system is not None:
            prompt = message_to_store({"role": "system", "content": system}).text
        self._keep_settings()
        synced, said_first = self._syncer.sync(messages)
        prompt = said_first if prompt is None else prompt
        if prompt is None or prompt == self.system_prompt:
            return synced
        self.system_prompt = prompt
        return replace(synced, size_tokens=self._size_control.size_tokens())

    def extend(
        self,
        said: Iterable[object],
        progress: Callable[[int], None] = lambda count: None,
        warn: Callable[[str], None] = lambda note: None,
    ) -> int:
        """Add many messages, all or none; returns how many. Nothing is compressed on the way.

        A summary among them is checked against what is kept in front of it: what is nowhere there
        is marked, names that it misses are added, and `warn` is told of both.
        """
        self._keep_settings()
        return self._appender.extend(map(message_to_store, said), progress, warn)

    def pin(self, seq: int) -> None:
        """Keep a message of the history in every call from now on; `seq` is its number."""
        self._set_pinned(seq, pinned=True)

    def unpin(self, seq: int) -> None:
        """Take a pin back: the message may be left out again."""
        self._set_pinned(seq, pinned=False)

    def pins(self) -> list[StoredMessage]:
        """The pinned messages, the oldest first."""
        return messages.pinned_messages(self.db, self.conversation.id)

    def _set_pinned(self, seq: int, *, pinned: bool) -> None:
        is_omitted = pinned and self._calls.omits(seq)
        if not messages.set_pinned(self.db, self.conversation.id, seq, pinned=pinned):
            raise UnknownName("message", str(seq), (), where=f"of {self.workflow.name!r}")
        if is_omitted:
            cuts.request_cut(
                self.db, self.conversation.id, "a message that calls omitted was pinned"
            )
        self._size_control.measure_left_out()

    # --- the next call ----------------------------------------------------------------------------

    @by_any_name
    def context(
        self,
        *,
        budget: int | str | None = None,
        keep: bool = False,
        browser: object = None,
        tools: Iterable[object] | None = None,
        save: bool = True,
    ) -> Package:
        """The context of the next call within the budget, the history compressed when it has to be.

        `browser` are the tabs that are open now: a list of name, url and active. `tools` are the
        definitions that go with this call and those after it, in place of the ones that the session
        was opened with. `save=False` is a preview, which changes nothing: no compression, no line
        in the usage log, no originals for `recall`. So is a `budget` other than the session's own,
        and the report says so, unless `keep` makes it the session's own from now on. A store that
        can't be written is left as it is, too.
        """
        if keep and (budget is None or not save):
            raise UsageError("`keep` goes with a budget, and with a call that is recorded")
        preview = self.preview_note(budget)
        if preview and keep:
            self.context(budget=budget, browser=browser, tools=tools, save=False)  # if it fits
            self._keep_budget(whole_number(budget, "budget"))
            preview = ""
        allowed = self._options.budget
        if preview:
            allowed = budget_for(self.limits, whole_number(budget, "budget"))
        sent = self._size_control.tools
        if tools is not None:
            sent = read_tools(tools, self._writer.scale.counter)
        allowed = less_tools(allowed, sent.tokens)
        room = self._size_control.measure(browser=browser, tools=sent)
        if preview or not save or self.db.read_only:
            why = NOT_RECORDED.format(store=self.db.name) if self.db.read_only else preview
            inputs = self._size_control.inputs(room, allowed, (why,) if save else ())
            return self._calls.preview(inputs, may_fill=bool(preview))
        if self._size_control.is_compression_due(room):
            # what does not fit is an error before anything is changed
            self._calls.preview(self._size_control.inputs(room, allowed))
        room = self._size_control.make_room(browser=browser, tools=sent)
        notes = self._size_control.notes(room)
        package = self._calls.make(self._size_control.inputs(room, allowed, notes))
        self._keep_settings(tool_tokens=sent.tokens)
        return package

    def cut(self, *, why: str = "", phase: str = "") -> None:
        """Have the next call begin with a cut: the state whole again, thinking omitted. `phase`
        names the phase that is entered, `why` any other reason."""
        if phase:
            cuts.request_cut(self.db, self.conversation.id, "a phase was entered", phase)
        else:
            cuts.request_cut(self.db, self.conversation.id, "requested", why)

    def cuts(self) -> list[dict[str, Any]]:
        """Every cut, the oldest first: its call, the reason, what it omitted, and what it cost."""
        model = self._options.settings.model
        made = cuts.all_cuts(self.db, self.conversation.id)
        return [call_log.cut_line(cut, model) for cut in made]

    @property
    def budget(self) -> int | str | None:
        """The budget that the session was opened with or has kept, or None."""
        return self._options.settings.budget

    @property
    def rebuilds_state(self) -> bool:
        """Whether its recipe writes the state anew in front of the history in every call."""
        return self._options.selection.recipe.rebuild_state

    def preview_note(self, budget: int | str | None) -> str:
        """Why a context within that budget is a preview: it is not the session's own budget.
        Nothing where it is the call."""
        asked = whole_number(budget, "budget")
        own = self._options.budget.tokens
        return "" if asked in (None, own) else PREVIEW.format(asked=asked, own=own)

    def _keep_budget(self, budget: int | None) -> None:
        """Make a budget the session's own; it is stored with the next call."""
        tool_tokens = self._size_control.tools.tokens
        settings = replace(self._options.settings, budget=budget, tool_tokens=tool_tokens or None)
        self._use(self._options.with_settings(settings), self._writer.scale.counter)

    def why(self, about: str | None = None, *, budget: int | str | None = None) -> Explanation:
        """Why `about` (a tag, a title or a handle) is or is not in the next call; without it,
        everything. Nothing is changed."""
        try:
            package = self.context(budget=budget, save=False)
        except EssentialsTooLarge as too_large:
            return no_context(about, too_large)
        return explain_package(package, about)

    def recall_tool(self, budget: int | str = ANSWER_TOKENS) -> RecallTool:
        """A tool for the model that brings back what a context left out, by handle or by question,
        in answers of at most so many tokens: its `definition` and its `handler`."""
        most = whole_number(budget, "budget") or ANSWER_TOKENS
        return recall_tool(self, most, lambda question, tokens: self.recall(question, tokens))

    def overview(self, last: int = 200) -> SessionOverview:
        """The next call as it would be now, the usage of so many calls, and every compression, by
        one reading of the stamps; nothing is changed."""
        log = usage_log(self.db, self.conversation.id, last)
        package: Package | None = None
        problem: EssentialsTooLarge | None = None
        room = self._size_control.measure()
        try:
            budget = less_tools(self._options.budget, room.tools.tokens)
            package = self._calls.preview(self._size_control.inputs(room, budget))
        except EssentialsTooLarge as error:
            problem = error
        made = self.compressions()
        is_due = self._size_control.is_compression_due(room)
        next_parts = dict[str, int]()
        if package:
            tools = {TOOLS_PART: room.tools.tokens} if room.tools.tokens else {}
            next_parts = {**tools, **package.report.tokens_by_tag()}
        next_tokens = sum(next_parts.values())
        if is_due:
            next_tokens = self._size_control.target(room)
            history = self._writer.tag
            others = sum(tokens for tag, tokens in next_parts.items() if tag != history)
            next_parts[history] = max(0, next_tokens - others)
        return SessionOverview(
            usage=self._usage(room, made, log),
            compressions=made,
            package=package,
            problem=problem,
            is_compression_due=is_due,
            next_tokens=next_tokens,
            next_parts=next_parts,
        )

    def state(self) -> StateOverview:
        """What the session works on now, by one reading of the stamps; nothing is changed."""
        room = self._size_control.measure()
        return StateOverview(
            size_tokens=room.size_tokens,
            is_compression_due=self._size_control.is_compression_due(room),
            plan=room.state.plan,
            node_statuses=dict(room.state.node_statuses),
            variables=room.state.variable_names,
            secrets=room.state.secrets,
        )

    def secrets(self) -> KnownValues:
        """What hides every secret that the workflow holds now: in contexts, and in all that is
        shown of a history."""
        return self._states.secrets(self.conversation.id)

    # --- what was said ----------------------------------------------------------------------------

    def recall(
        self,
        question: str,
        budget: int | str | None = None,
        *,
        progress: Callable[[int], None] = lambda count: None,
    ) -> Package:
        """What was said about a question, from all that is kept of the workflow's conversations,
        compressed or not: verbatim, with the numbers and dates of the messages, the gaps between
        them marked, never over the budget.

        Nothing said about it is a package without text. `progress` is told of messages that are
        taken into the index first: those of an old store at its first question.
        """
        from foreword.session.conversation_recall import recall  # not for those who never ask

        return recall(
            self.db,
            workflow=self.workflow,
            conversation=self.conversation,
            secrets=self.secrets(),
            counter=self._writer.scale.counter,
            question=question,
            budget=budget,
            progress=progress,
        )

    def waiting_messages(self) -> int:
        """How many messages the next `recall` takes into the index before it answers."""
        from foreword.session.conversation_recall import waiting_messages

        return waiting_messages(self.db, self.workflow)

    # --- size and compression ---------------------------------------------------------------------

    def size_tokens(self) -> int:
        """What the next call would have with nothing left out: the fresh parts but for a browser's
        tabs, the tools, and all that was said, summed up and shortened as it was compressed."""
        return self._size_control.size_tokens()

    def compress(
        self,
        *,
        to: int | str | None = None,
        model: Any = None,
        question: str = "",
        preview: bool = False,
    ) -> Compaction:
        """Compress the history so that the next call, its other parts included, has so many tokens;
        a preview says what would happen and changes nothing.

        `question` is what the summary should be able to answer; without one, it is the user's last
        words. A preview is always the built-in compressor's: a model is not asked for something
        that is not used.
        """
        target = self.limits.compress_to
        if to is not None:
            target = limits_for(self.limits.window, compress_to=to).compress_to
        if not preview:
            self._keep_settings()
        writer = None if preview else model or self._options.compress_with
        return self._size_control.compress(
            target=target, model=writer, question=question, preview=preview
        )

    def undo(self) -> Compression:
        """Take back the last compression: the messages it stood for are in the history again."""
        undone = compressions.undo(self.db, self.conversation.id)
        if undone is None:
            raise UsageError(f"there is no compression of {self.workflow.name!r} to undo")
        self._size_control.wait_from_now()  # or it would be made again at once
        return undone

    def expand(self, number: int | None = None) -> list[Message]:
        """The original messages that a compression stands for; without a number, the current
        one."""
        existing = self.compressions()
        for made in reversed(existing):
            if made.number == number or (number is None and not made.undone):
                return self._messages_up_to(made.last)
        which = "" if number is None else f" {number}"
        numbers = ", ".join(map(_number_text, existing))
        raise UsageError(
            f"there is no compression{which} of {self.workflow.name!r}",
            hint=f"there are: {numbers}" if existing else "nothing was compressed",
        )

    def compressions(self) -> list[Compression]:
        """Every compression, the oldest first, undone ones too."""
        return compressions.all_compressions(self.db, self.conversation.id)

    def history(self) -> list[Message]:
        """Every message of the history as it was appended."""
        return self._messages_up_to(LARGEST_NUMBER)

    def usage(self, last: int = 200) -> dict[str, Any]:
        """The size now, the limits, and the log of calls, the newest first, with their averages and
        what they cost to send; `cost` is None where the model's price is not known. `answers` is
        what the answers cost by the count of their providers, of all that came in with it."""
        room = self._size_control.measure()
        log = usage_log(self.db, self.conversation.id, last)
        return self._usage(room, self.compressions(), log)

    def _usage(
        self, room: Room, made: list[Compression], log: Sequence[Mapping[str, Any]]
    ) -> dict[str, Any]:
        size = room.size_tokens
        answers = answer_costs.by_model(self.db, self.conversation.id)
        return {
            "workflow": self.workflow.name,
            "size_tokens": size,
            "history_tokens": room.now.history_tokens,
            "messages": room.now.last_message,
            "warn_at": self.limits.warn_at,
            "compress_at": self.limits.compress_at,
            "compress_to": self.limits.compress_to,
            "warning": size >= self.limits.warn_at,
            "compressions": sum(not one.undone for one in made),
            "cuts": self.cuts(),
            **call_log.figures(log, answers, self._options.settings.model),
        }

    def _keep_settings(self, tool_tokens: int | None = None) -> None:
        """Keep what the session was opened with, once it is used for something that is kept, and
        what the tools of a call take."""
        if tool_tokens is not None and tool_tokens != self._settings.get("tool_tokens", 0):
            self._settings = {**self._settings, "tool_tokens": tool_tokens}
        if self._settings != self._kept_settings:
            messages.set_settings(self.db, self.conversation.id, self._settings)
            self._kept_settings = self._settings

    def _messages_up_to(self, last: int) -> list[Message]:
        lines = messages.between(self.db, Range(self.conversation.id, 1, last))
        return [line.message for line in lines]

    def _recount(self) -> None:
        """Another counter than before: every message of the history is counted anew, once."""
        lines = messages.after(self.db, self.conversation.id, 0)
        sizes = [(line.seq, self._writer.tokens_of(line.message)) for line in lines]
        messages.recount(self.db, self.conversation.id, self.conversation.counter, sizes)
        for made in self.compressions():
            summary = summary_message(made.summary, made.last, self.workflow.name)
            size = self._writer.tokens_of(summary)
            compressions.resize(self.db, self.conversation.id, made.number, size)
        self._size_control.measure_left_out()


def _refuse_recount(db: Database, before: str, now: str) -> None:
    """An error where messages would have to be counted anew in a store that can't be written."""
    if db.read_only:
        raise StoreError(
            f"{db.name} is read-only and was counted by {before}, so its messages can't be counted"
            f" by {now}",
            hint="leave the counter and the model away, or make the store writable",
        )


def _number_text(made: Compression) -> str:
    return f"{made.number} (undone)" if made.undone else str(made.number)
