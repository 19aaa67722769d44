"""A session's conversation: its messages page by page, the next call, compression, and what the
calls have cost."""

from __future__ import annotations

from dataclasses import asdict
from typing import Any, Literal

from pydantic import BaseModel, Field
from starlette.datastructures import Headers

from foreword.engine.package import Package
from foreword.faces.http.contexts import OmissionAnswer
from foreword.faces.http.endpoint import ApiRequest, Endpoint, Page
from foreword.faces.http.problems import ProblemResponse
from foreword.faces.http.request_parsing import DESCRIBED, RequestInput, Tokens, example
from foreword.faces.http.sessions import ONE, ConversationQuery
from foreword.formats import to_openai
from foreword.message import KINDS, Message
from foreword.operations import conversations, fitted_values, operations
from foreword.operations.conversations import StoredMessage
from foreword.session.secret_messages import without_secrets

# messages in one request: they are written in one go, and others wait meanwhile
MOST_AT_ONCE = 10_000
KEY = "idempotency-key"
Form = Literal["text", "anthropic", "openai"]


class MessagePageQuery(Page, ConversationQuery):
    """Which messages."""


class MessagesBody(RequestInput):
    """A message, or many of them."""

    model_config = example({"message": {"role": "user", "content": "Fire the kiln."}})

    message: dict[str, Any] | None = Field(None, description="In the shape of Anthropic or OpenAI.")
    messages: list[dict[str, Any]] | None = Field(
        None,
        max_length=MOST_AT_ONCE,
        description="Several, all or none; nothing is compressed on the way.",
    )
    kind: str | None = Field(
        None,
        description="What a single message is, where that is not what it seems.",
        json_schema_extra={"enum": [*KINDS, None]},
    )
    pinned: bool = Field(False, description="A single message that is never left out.")


class Next(ConversationQuery):
    """The next call, without a trace."""

    budget: Tokens | None = Field(None, description="The most tokens it may have.")
    form: Form = Field("text", description="The text, or a provider's messages.")
    report: bool = Field(False, description="With the whole report.")


class CallAnswer(RequestInput):
    """The next call."""

    model_config = example({"budget": 8000, "form": "anthropic"})

    budget: Tokens | None = Field(None, description="The most tokens it may have.")
    form: Form = Field("text", description="The text, or a provider's messages.")
    report: bool = Field(False, description="With the whole report.")
    save: bool = Field(
        True,
        description="Compress where that is needed, keep report and originals, count the call.",
    )
    browser: list[dict[str, Any]] | None = Field(
        None, description="The open tabs: `name`, `url`, `active`."
    )


class Smaller(RequestInput):
    """How to compress."""

    model_config = example({"to": "10%", "preview": True})

    to: int | str | None = Field(
        None, description="About how many tokens, or a share of the window, as in `10%`."
    )
    preview: bool = Field(False, description="Say what would happen; change nothing.")


class UsageQuery(ConversationQuery):
    """How much of the usage log."""

    last: int = Field(50, ge=0, le=1_000, description="How many calls, the newest first.")


class AppendAnswer(BaseModel):
    """What became of messages that were appended."""

    seq: int = Field(description="The number of the last one.")
    count: int = 1
    tokens: int
    size_tokens: int = Field(description="Of the whole context after it.")
    compressed: bool = False
    warnings: list[str]


class MessageLine(BaseModel):
    """One message."""

    seq: int
    kind: str
    pinned: bool
    tokens: int
    created: str
    role: str
    text: str
    message: dict[str, Any] | list[dict[str, Any]] = Field(description="In the shape of OpenAI.")


class Messages(BaseModel):
    """A page of messages, the newest first."""

    items: list[MessageLine]
    next: int | None = Field(description="The cursor of the next page.")


class NextCallAnswer(BaseModel):
    """The context of the next call."""

    text: str | None = None
    messages: dict[str, Any] | list[dict[str, Any]] | None = None
    tokens: int
    budget_tokens: int
    left_out: int
    omissions: list[OmissionAnswer]
    warnings: list[str]
    report: dict[str, Any] | None = None


class CompactionAnswer(BaseModel):
    """What a compression did, or would do."""

    last: int
    messages: int
    kept_messages: int
    tokens_before: int
    tokens_after: int
    target_tokens: int
    summary: str
    summary_tokens: int
    method: str
    notes: list[str]
    applied: bool
    reached: bool


class CompressionAnswer(BaseModel):
    """A compression that was made."""

    number: int
    last: int
    summary: str
    method: str
    note: str
    tokens_before: int
    tokens_after: int
    created: str
    undone: bool


class Compressions(BaseModel):
    """Every compression, the oldest first."""

    items: list[CompressionAnswer]


class Usage(BaseModel):
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
    calls: int
    reuse: float | None
    used: float | None
    breaks: int
    log: list[dict[str, Any]]


def append(request: ApiRequest[ConversationQuery, MessagesBody]) -> dict[str, Any]:
    """Add a message or several, under an `Idempotency-Key` once; a workflow that is not there
    yet is made."""
    body = request.body
    key = _idempotency_key(request.headers)
    if (body.message is None) == (body.messages is None):
        title = "body: give either `message` or `messages`"
        raise ProblemResponse(400, "bad_request", title, hint=DESCRIBED)
    if body.messages is not None and (body.kind is not None or body.pinned):
        title = "body: `kind` and `pinned` are for a single `message`"
        raise ProblemResponse(400, "bad_request", title)
    workflow, conversation = request.path["workflow"], request.query.conversation
    with request.app_state.session(workflow, conversation, create=True) as session:
        if body.message is not None:
            return operations.append_message(
                session, body.message, kind=body.kind, pinned=body.pinned, key=key
            )
        made = session.append_all(body.messages or [], key=key)
    return {
        "seq": made.seq,
        "count": made.count,
        "tokens": made.tokens,
        "size_tokens": made.size_tokens,
        "compressed": False,
        "warnings": [],
    }


def _idempotency_key(headers: Headers) -> str | None:
    """The key of the request; as a quoted string, too, which is how the standard has it."""
    values = headers.getlist(KEY)
    if len(values) > 1:
        title = f"{KEY} is there {len(values)} times"
        raise ProblemResponse(400, "bad_request", title, hint="send it once")
    if not values:
        return None
    key = values[0].strip()
    is_quoted = len(key) > 1 and key.startswith('"') and key.endswith('"')
    return key[1:-1] if is_quoted else key


def list_messages(request: ApiRequest[MessagePageQuery, None]) -> dict[str, Any]:
    """List the messages of the history, the newest first."""
    query = request.query
    with request.app_state.session(request.path["workflow"], query.conversation) as session:
        page = conversations.message_page(session, query.before, query.limit)
        secrets = session.secrets()
    items = list[dict[str, Any]]()
    for stored in reversed(page.messages):
        items.append(_line(stored, without_secrets(stored.message, secrets)))
    return {"items": items, "next": page.next}


def _line(stored: StoredMessage, message: Message) -> dict[str, Any]:
    shaped = to_openai([message])
    return {
        "seq": stored.seq,
        "kind": stored.kind,
        "pinned": stored.pinned,
        "tokens": stored.tokens,
        "created": stored.created,
        "role": message.role,
        "text": message.text,
        "message": shaped[0] if len(shaped) == 1 else shaped,
    }


def next_call(request: ApiRequest[Next, None]) -> dict[str, Any]:
    """Show the exact context of the next call; nothing is changed."""
    query = request.query
    with request.app_state.session(request.path["workflow"], query.conversation) as session:
        package = session.context(budget=query.budget, save=False)
    return _call_answer(package, form=query.form, with_report=query.report)


def make_call(request: ApiRequest[ConversationQuery, CallAnswer]) -> dict[str, Any]:
    """Make the context of the next call, and keep its report and what it left out."""
    body = request.body
    with request.app_state.session(request.path["workflow"], request.query.conversation) as session:
        package = session.context(budget=body.budget, browser=body.browser, save=body.save)
    return _call_answer(package, form=body.form, with_report=body.report)


def _call_answer(package: Package, *, form: Form, with_report: bool) -> dict[str, Any]:
    answer = fitted_values.package_answer(package)
    if form != "text":
        del answer["text"]
        answer["messages"] = package.to_anthropic() if form == "anthropic" else package.to_openai()
    if with_report:
        answer["report"] = package.report.to_dict()
    return answer


def compress(request: ApiRequest[ConversationQuery, Smaller]) -> dict[str, Any]:
    """Put a summary in place of the older messages, or say what that would come to."""
    with request.app_state.session(request.path["workflow"], request.query.conversation) as session:
        made = session.compress(to=request.body.to, preview=request.body.preview)
    return {**asdict(made), "reached": made.reached}


def undo(request: ApiRequest[ConversationQuery, None]) -> dict[str, Any]:
    """Take back the last compression."""
    with request.app_state.session(request.path["workflow"], request.query.conversation) as session:
        return asdict(conversations.hide_secrets(session.undo(), session.secrets()))


def compressions(request: ApiRequest[ConversationQuery, None]) -> dict[str, Any]:
    """List every compression, undone ones too."""
    with request.app_state.session(request.path["workflow"], request.query.conversation) as session:
        secrets = session.secrets()
        made = session.compressions()
    return {"items": [asdict(conversations.hide_secrets(each, secrets)) for each in made]}


def usage(request: ApiRequest[UsageQuery, None]) -> dict[str, Any]:
    """Say what the calls so far have cost, and how much of each a prompt cache could reuse."""
    with request.app_state.session(request.path["workflow"], request.query.conversation) as session:
        return session.usage(request.query.last)


ENDPOINTS = (
    Endpoint(
        method="GET",
        path=f"{ONE}/messages",
        run=list_messages,
        answer=Messages,
        query=MessagePageQuery,
    ),
    Endpoint(
        method="POST",
        path=f"{ONE}/messages",
        run=append,
        answer=AppendAnswer,
        query=ConversationQuery,
        body=MessagesBody,
        status=201,
        problems=(422,),
        takes={
            KEY: (
                "A word of yours, new for each request: one that is sent again with it is done"
                " once."
            )
        },
    ),
    Endpoint(
        method="GET",
        path=f"{ONE}/context",
        run=next_call,
        answer=NextCallAnswer,
        query=Next,
        problems=(422,),
        lane="computing",
    ),
    Endpoint(
        method="POST",
        path=f"{ONE}/context",
        run=make_call,
        answer=NextCallAnswer,
        query=ConversationQuery,
        body=CallAnswer,
        problems=(422,),
        lane="computing",
    ),
    Endpoint(
        method="POST",
        path=f"{ONE}/compress",
        run=compress,
        answer=CompactionAnswer,
        query=ConversationQuery,
        body=Smaller,
        lane="computing",
    ),
    Endpoint(
        method="POST",
        path=f"{ONE}/undo",
        run=undo,
        answer=CompressionAnswer,
        query=ConversationQuery,
    ),
    Endpoint(
        method="GET",
        path=f"{ONE}/compressions",
        run=compressions,
        answer=Compressions,
        query=ConversationQuery,
    ),
    Endpoint(method="GET", path=f"{ONE}/usage", run=usage, answer=Usage, query=UsageQuery),
)
