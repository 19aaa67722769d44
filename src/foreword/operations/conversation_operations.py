"""The conversations of a workflow: their messages page by page, the next call, what calls cost.

How messages are kept and calls are made is `session.session`'s business. Operations hide secrets;
what the other functions here give is as it is kept, and a face that shows it hides them
(`session.secrets()`).
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, fields, replace
from typing import Annotated, Any, Literal, Self

from pydantic import Field, model_validator
from pydantic_core import PydanticCustomError

from foreword.engine.package import Package
from foreword.errors import UnknownName
from foreword.messages.message import Kind, Shape
from foreword.messages.openai_chat import to_openai
from foreword.operations.fitted_values import IfAny, PackageBill, bill_fields
from foreword.operations.operation import (
    Name,
    NoInput,
    Operation,
    OperationInput,
    Tokens,
    example,
)
from foreword.operations.paging import Listing, Page, PageInput
from foreword.secrets.known_values import KnownValues
from foreword.session.compaction import Compaction
from foreword.session.secret_messages import without_secrets
from foreword.session.session import Session
from foreword.session.sync import SyncResult
from foreword.session.workflow_state import WorkflowState
from foreword.store import messages, reports, workflows
from foreword.store.compressions import Compression as Compression
from foreword.store.database import Database, storable_text
from foreword.store.messages import Range
from foreword.store.messages import StoredMessage as StoredMessage

MAIN = "main"  # the conversation of a workflow where none is named


# messages in one request: they are written in one go, and others wait meanwhile
MOST_AT_ONCE = 10_000
Form = Literal["text", Shape]


class MessagesToAppend(OperationInput):
    """A message, or many of them."""

    model_config = example({"message": {"role": "user", "content": "Fire the kiln."}})

    message: dict[str, Any] | None = Field(None, description="In the shape of Anthropic or OpenAI.")
    messages: list[dict[str, Any]] | None = Field(
        None,
        max_length=MOST_AT_ONCE,
        description="Several, all or none; nothing is compressed on the way.",
    )
    kind: Kind | None = Field(
        None, description="What a single message is, where that is not what it seems."
    )
    pinned: bool | None = Field(False, description="A single message that is never left out.")
    key: str | None = Field(
        None, description="A word of yours: what is sent again with it is added once."
    )

    @model_validator(mode="after")
    def _check_one_or_several(self) -> Self:
        if (self.message is None) == (self.messages is None):
            raise PydanticCustomError("choice", "give either message or messages")
        if self.messages is not None and (self.kind is not None or self.pinned):
            raise PydanticCustomError("choice", "kind and pinned are for a single message")
        return self


class ClientMessages(OperationInput):
    """The whole history that a client holds."""

    model_config = example({"messages": [{"role": "user", "content": "Fire the kiln."}]})

    messages: list[dict[str, Any]] = Field(
        max_length=MOST_AT_ONCE, description="All of it, in any shape that is read."
    )
    system: str | list[dict[str, Any]] | None = Field(
        None, description="The system prompt, where it is not the first message."
    )


class CallPreview(OperationInput):
    """The next call, without a trace."""

    budget: Tokens | None = Field(
        None, description="The most tokens it may have; else the session's own budget."
    )
    form: Form | None = Field("text", description="The text, or messages of this shape.")
    report: bool | None = Field(False, description="With the whole report.")


class NextCallAnswer(CallPreview):
    """The next call."""

    model_config = example({"budget": 8000, "keep": True, "form": "anthropic"})

    keep: bool | None = Field(
        False,
        description="Make the budget the session's own from now on. Without it, another budget than"
        " the session's own is a preview, as with `save` false.",
    )
    save: bool | None = Field(
        True,
        description="Compress where that is needed, keep report and originals, count the call.",
    )
    browser: list[dict[str, Any]] | None = Field(
        None,
        description="The open tabs: `name`, `url`, `active`; none where an empty list is given, and"
        " those of the call before without one.",
    )


class CompressionTarget(OperationInput):
    """How to compress."""

    model_config = example({"to": "10%", "preview": True})

    to: int | str | None = Field(
        None,
        description="How many tokens the next call is to have, or a share of the window (`10%`).",
    )
    question: str | None = Field(
        None, description="What the summary should answer; without it, the user's last words."
    )
    preview: bool = Field(False, description="Say what would happen; change nothing.")


class MessageQuestion(OperationInput):
    """What to recall of what was said."""

    model_config = example({"question": "why did we drop the retry loop?", "budget": 1500})

    question: Name = Field(description="What was said about it, word for word.")
    budget: Tokens | None = Field(
        None, description="The most tokens the answer may have; else 1,500."
    )


class LogLength(OperationInput):
    """How much of the usage log."""

    last: int = Field(50, ge=0, le=1_000, description="How many calls, the newest first.")


@dataclass(frozen=True, slots=True, kw_only=True)
class AppendedMessages:
    """What became of messages that were appended."""

    seq: Annotated[int, Field(description="The number of the last one.")]
    count: Annotated[IfAny[int], Field(description="Of several.")] = None
    tokens: int
    size_tokens: Annotated[int, Field(description="Of the whole context after it.")]
    compressed: bool
    warnings: list[str]


@dataclass(frozen=True, slots=True, kw_only=True)
class SyncedMessages:
    """What became of a client's history."""

    added: Annotated[int, Field(description="Messages that are new.")]
    known: Annotated[int, Field(description="Messages that were there.")]
    taken_back: Annotated[int, Field(description="Messages that it no longer has.")]
    branch: Annotated[str, Field(description="The handle that recalls those.")]
    seq: Annotated[int, Field(description="The number of the last one.")]
    tokens: Annotated[int, Field(description="Of the new ones.")]
    size_tokens: Annotated[int, Field(description="Of the whole context after them.")]
    warnings: list[str]


@dataclass(frozen=True, slots=True, kw_only=True)
class MessageLine:
    """One message."""

    seq: int
    kind: str
    pinned: bool
    tokens: int
    created: str
    role: str
    text: str
    message: Annotated[
        dict[str, Any] | list[dict[str, Any]], Field(description="In the shape of OpenAI.")
    ]


@dataclass(frozen=True, slots=True, kw_only=True)
class CallContext(PackageBill):
    """The context of the next call: its text, or the messages of a provider's shape."""

    text: IfAny[str] = None
    messages: IfAny[dict[str, Any] | list[dict[str, Any]]] = None
    report: IfAny[dict[str, Any]] = None


@dataclass(frozen=True, slots=True, kw_only=True)
class RecalledMessages(PackageBill):
    """What was said about a question: messages in their order, with numbers, dates and handles."""

    text: str


@dataclass(frozen=True, slots=True, kw_only=True)
class CompactionResult:
    """What a compression did, or would do."""

    last: Annotated[int, Field(description="The summary stands for the messages up to this one.")]
    messages: Annotated[int, Field(description="How many it takes out of sight.")]
    kept_messages: int
    tokens_before: int
    tokens_after: int
    parts_tokens: Annotated[int, Field(description="Of the other parts of the next call.")]
    target_tokens: Annotated[int, Field(description="Of the whole next call.")]
    summary: str
    summary_tokens: int
    method: str
    notes: tuple[str, ...]
    applied: bool
    excerpts: Annotated[
        Mapping[int, int],
        Field(description="Of messages that are shown in part: tokens, by their number."),
    ]
    reached: Annotated[bool, Field(description="Whether the target was reached.")]


@dataclass(frozen=True, slots=True, kw_only=True)
class SessionUsage:
    """The size now, the limits, and the calls with their averages."""

    workflow: str
    size_tokens: int
    history_tokens: int
    messages: int
    warn_at: int
    compress_at: int
    compress_to: int
    warning: bool
    compressions: int
    cuts: Annotated[
        list[dict[str, Any]],
        Field(
            description=(
                "Where calls began anew, the oldest first: the number of the first call, the"
                " reason, what was omitted, the tokens that a provider reads again, the thinking"
                " that is not sent any more, and the cost (null without a price)."
            )
        ),
    ]
    cost: Annotated[
        dict[str, Any] | None,
        Field(
            description=(
                "What it cost to send the calls by the model's price at a date, with a prompt cache"
                " and without; null where the price is not known."
            )
        ),
    ]
    answers: Annotated[
        dict[str, Any] | None,
        Field(
            description=(
                "What the answers cost that came in with their usage, all of the conversation's, in"
                " tokens as their providers counted and by the price of each model (`cost` null,"
                " `unpriced` answers without a price); null where none said it."
            )
        ),
    ]
    state_in_front: Annotated[
        dict[str, Any] | None,
        Field(
            description=(
                "Where the recipe writes plan, variables or tabs anew before the history: in how"
                " many calls they changed, how many tokens were read again for it, what that cost"
                " (null without a price), and the recipe that appends what changed instead."
            )
        ),
    ]
    calls: int
    reuse: float | None
    used: float | None
    breaks: int
    log: list[dict[str, Any]]


def append_message(session: Session, given: MessagesToAppend) -> AppendedMessages:
    """Add a message (Anthropic's or OpenAI's shape) to the workflow's conversation; near its limit
    the history is compressed. A pinned one always stays. Sent again with the same key (a word of
    yours), it is added once."""
    if given.messages is not None:
        made = session.append_all(given.messages, key=given.key)
    else:
        made = session.append(
            given.message, kind=given.kind, pinned=bool(given.pinned), key=given.key
        )
    return AppendedMessages(
        seq=made.seq,
        count=None if given.messages is None else made.count,
        tokens=made.tokens,
        size_tokens=made.size_tokens,
        compressed=made.compressed,
        warnings=list(made.warnings),
    )


def sync_messages(session: Session, given: ClientMessages) -> SyncedMessages:
    """Bring the conversation up to the whole history that a client holds: what is new is added,
    nothing twice; what the client has edited or taken back is kept as a branch, in no later call.
    """
    made = session.sync(given.messages, system=given.system)
    values = {field.name: getattr(made, field.name) for field in fields(SyncResult)}
    return SyncedMessages(**{**values, "warnings": list(made.warnings)})


def list_messages(session: Session, given: PageInput) -> Page[MessageLine]:
    """List the messages of the history, the newest first."""
    found = messages_before(session, given.before, given.limit + 1)
    page = found[-given.limit :]
    is_first = len(found) == len(page)
    secrets = session.secrets()
    items = [_message_line(stored, secrets) for stored in reversed(page)]
    return Page(items=items, next=None if is_first else page[0].seq)


def _message_line(stored: StoredMessage, secrets: KnownValues) -> MessageLine:
    message = without_secrets(stored.message, secrets)
    shaped = to_openai([message])
    return MessageLine(
        seq=stored.seq,
        kind=stored.kind,
        pinned=stored.pinned,
        tokens=stored.tokens,
        created=stored.created,
        role=message.role,
        text=message.text,
        message=shaped[0] if len(shaped) == 1 else shaped,
    )


def preview_context(session: Session, given: CallPreview) -> CallContext:
    """Show the exact context of the next call; nothing is changed."""
    package = session.context(budget=given.budget, save=False)
    return _call_context(package, given)


def session_context(session: Session, given: NextCallAnswer) -> CallContext:
    """Make the conversation's next context within its budget of tokens: system prompt and history,
    and plan, nodes, variables and browser where there are any."""
    package = session.context(
        budget=given.budget,
        keep=given.keep is True,
        browser=given.browser,
        save=given.save is not False,
    )
    return _call_context(package, given)


def _call_context(package: Package, given: CallPreview) -> CallContext:
    report = package.report.to_dict() if given.report else None
    bill = bill_fields(package)
    if given.form is None or given.form == "text":
        return CallContext(text=package.text, report=report, **bill)
    bill["warnings"] += package.losses(given.form)
    return CallContext(messages=package.to_json(given.form), report=report, **bill)


def recall_messages(session: Session, given: MessageQuestion) -> RecalledMessages:
    """Say what was said about a question in the whole conversation, summed up since or not: word
    for word, with the numbers of messages, within a budget of tokens."""
    package = session.recall(given.question, given.budget)
    return RecalledMessages(text=package.text, **bill_fields(package))


def compress_session(session: Session, given: CompressionTarget) -> CompactionResult:
    """Put a summary in place of the older messages, or say what that would come to."""
    made = session.compress(to=given.to, question=given.question or "", preview=given.preview)
    values = {field.name: getattr(made, field.name) for field in fields(Compaction)}
    return CompactionResult(**values, reached=made.reached)


def undo_compression(session: Session, given: NoInput) -> Compression:
    """Take back the last compression."""
    return hide_secrets(session.undo(), session.secrets())


def list_compressions(session: Session, given: NoInput) -> Listing[Compression]:
    """List every compression, undone ones too."""
    secrets = session.secrets()
    return Listing(items=[hide_secrets(each, secrets) for each in session.compressions()])


def session_usage(session: Session, given: LogLength) -> SessionUsage:
    """Say what the calls so far have cost, and how much of each a prompt cache could reuse."""
    return SessionUsage(**session.usage(given.last))


APPEND_MESSAGE = Operation(
    run=append_message, scope="conversation", access="adds", makes_workflow=True
)
SYNC_MESSAGES = Operation(
    run=sync_messages, scope="conversation", access="replaces", makes_workflow=True
)
LIST_MESSAGES = Operation(run=list_messages, scope="conversation")
PREVIEW_CONTEXT = Operation(run=preview_context, scope="conversation", is_slow=True)
SESSION_CONTEXT = Operation(run=session_context, scope="conversation", access="adds", is_slow=True)
RECALL_MESSAGES = Operation(run=recall_messages, scope="conversation", is_slow=True)
COMPRESS_SESSION = Operation(
    run=compress_session, scope="conversation", access="replaces", is_slow=True
)
UNDO_COMPRESSION = Operation(run=undo_compression, scope="conversation", access="replaces")
LIST_COMPRESSIONS = Operation(run=list_compressions, scope="conversation")
SESSION_USAGE = Operation(run=session_usage, scope="conversation")


def names(state: WorkflowState) -> list[str]:
    """The names of a workflow's conversations, the oldest first."""
    return messages.names(state.db, state.workflow.id)


def names_in(db: Database, workflow: str) -> list[str]:
    """The names of the conversations of the workflow of that name; an error where there is none."""
    known = workflows.conversation_names(db, workflow)
    if not known:
        workflows.find_workflow(db, workflow)
    return known


def check_exists(state: WorkflowState, conversation: str) -> None:
    """An error where the workflow has no such conversation."""
    known = names(state)
    if conversation not in known:
        where = f"of {state.workflow.name!r}"
        raise UnknownName("conversation", conversation, known, where=where)


def is_begun(db: Database, workflow: str) -> bool:
    """Whether the workflow of that name is there and has its main conversation."""
    owner = workflows.find(db, storable_text(workflow))
    return owner is not None and messages.find(db, owner.id, MAIN) is not None


def messages_before(session: Session, before: int, limit: int) -> list[StoredMessage]:
    """The history in front of a message, as much as the limit says, the oldest first."""
    return messages.before(session.db, session.conversation.id, before, limit)


def existing_message(session: Session, seq: int) -> StoredMessage:
    """The message of that number; an error where the history has none."""
    found = messages.between(session.db, Range(session.conversation.id, seq, seq))
    if not found:
        where = f"of {session.workflow.name!r}"
        raise UnknownName("message", str(seq), (), where=where)
    return found[0]


def message_count(session: Session) -> int:
    """How many messages were ever appended."""
    return messages.up_to(session.db, session.conversation.id).seq


def history_tokens(session: Session) -> int:
    """The tokens of all that was said, whatever was summed up since."""
    return messages.up_to(session.db, session.conversation.id).running


def imported_marks(session: Session) -> set[str]:
    """The marks of all that was imported from transcripts."""
    return messages.import_marks(session.db, session.conversation.id)


def calls(session: Session, limit: int) -> list[dict[str, Any]]:
    """The newest entries of the usage log, the newest first."""
    return reports.usage_log(session.db, session.conversation.id, limit)


def newest_compression(compressions: list[Compression]) -> Compression | None:
    """Of compressions from the oldest to the newest the last that was not undone."""
    for compression in reversed(compressions):
        if not compression.undone:
            return compression
    return None


def hide_secrets(compression: Compression, secrets: KnownValues) -> Compression:
    """The compression with the known secrets hidden in its summary."""
    return replace(compression, summary=secrets.hide_known_values(compression.summary))
