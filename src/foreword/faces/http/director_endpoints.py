"""A workflow's director: say something to it, stop it, hear what it does, or call one of its
tools by hand."""

from __future__ import annotations

from collections.abc import AsyncIterator
from dataclasses import dataclass
from typing import Annotated, Any

from pydantic import Field
from starlette.responses import Response, StreamingResponse

from foreword.director.tool_table import TOOLS
from foreword.faces.http.director_job import DirectorJob
from foreword.faces.http.directors import BlockedLine
from foreword.faces.http.endpoint import SESSION, ApiRequest, Nothing, function_endpoint
from foreword.faces.http.event_stream import (
    BEGIN,
    HEADERS,
    MEDIA,
    STILL_HERE,
    no_more_listeners,
)
from foreword.faces.http.request_parsing import RequestInput
from foreword.faces.serving.app_state import AppState
from foreword.faces.serving.problem_response import ProblemResponse
from foreword.operations import workflow_list
from foreword.operations.fitted_values import IfAny
from foreword.operations.operation import example
from foreword.operations.paging import Listing
from foreword.store.database import to_json

LONGEST_TEXT = 200_000  # characters of what is said: more than anybody types, less than a window
MOST_LISTENERS = 200  # to one job: pages that show it, and each holds a connection
KINDS = ("text", "call", "step", "result", "warning", "failed", "done")


class SayBody(RequestInput):
    """What to say."""

    model_config = example({"text": "Read my letters, and register each of them. Send nothing."})

    text: str = Field(
        max_length=LONGEST_TEXT, description="What is wanted. Secrets belong into variables."
    )


class Arguments(RequestInput):
    """What a tool is given."""

    model_config = example({"arguments": {"node": "node1"}})

    arguments: dict[str, Any] = Field(
        default_factory=dict, description="By the schema of the tool."
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class ToolLine:
    """One tool."""

    name: str
    about: str
    parameters: Annotated[dict[str, Any], Field(description="What it takes, as JSON Schema.")]
    reads: Annotated[bool, Field(description="Whether it changes nothing.")]


@dataclass(frozen=True, slots=True, kw_only=True)
class WorkState:
    """Something that a director does or has done."""

    id: str
    kind: Annotated[str, Field(description="`turn` with its model, or `call` of a tool by hand.")]
    tool: Annotated[str, Field(description="The tool that is called, or blank.")]
    over: bool
    stopped: bool
    problem: Annotated[str, Field(description="Why it broke, or blank.")]


@dataclass(frozen=True, slots=True, kw_only=True)
class DirectorState:
    """How a director stands."""

    model: Annotated[
        bool, Field(description="Whether there is one, so that something can be said to it.")
    ]
    work: Annotated[
        WorkState | None,
        Field(description="What it is at, or was at last since the server was started."),
    ]
    tabs: Annotated[
        list[dict[str, Any]] | None,
        Field(description="Of its browser: `name`, `url`, `active`; null before one."),
    ]
    blocked: Annotated[
        list[BlockedLine],
        Field(description="What its pages could not load because of the server's origins."),
    ]


@dataclass(frozen=True, slots=True, kw_only=True)
class TurnStart:
    """A turn that has begun; its events tell what becomes of it."""

    work: Annotated[str, Field(description="Its id; those of its events begin with it.")]


@dataclass(frozen=True, slots=True, kw_only=True)
class StopAnswer:
    """Whether there was anything to stop."""

    stopped: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class ToolCallAnswer:
    """What a tool answered."""

    text: Annotated[
        str, Field(description="The same as a model would be given; secrets are hidden.")
    ]
    failed: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class DirectorEvent:
    """The `data` of an event; which fields there are depends on its type."""

    type: Annotated[
        str, Field(description="The event's name, too.", json_schema_extra={"enum": list(KINDS)})
    ]
    text: Annotated[
        IfAny[str],
        Field(description="A piece of the answer; an empty one says that it begins again."),
    ] = None
    name: Annotated[IfAny[str], Field(description="The tool of a call or a result.")] = None
    id: Annotated[IfAny[str], Field(description="Of the call.")] = None
    arguments: IfAny[Any] = None
    failed: IfAny[bool] = None
    node: Annotated[
        IfAny[str],
        Field(description="Of a step of a run: the node, and `status` how it stands."),
    ] = None
    status: IfAny[str] = None
    scout: Annotated[IfAny[str], Field(description="Whose doing it is, where a scout does it.")] = (
        None
    )
    stopped: IfAny[bool] = None


def list_tools(request: ApiRequest[Nothing, None]) -> Listing[ToolLine]:
    """List the tools of a director, with what each takes."""
    lines = list[ToolLine]()
    for tool in TOOLS.values():
        line = ToolLine(name=tool.name, about=tool.about, parameters=tool.schema, reads=tool.reads)
        lines.append(line)
    return Listing(items=lines)


def show_director(request: ApiRequest[Nothing, None]) -> DirectorState:
    """Say what a workflow's director is doing, and which tabs it has open."""
    directors = request.app_state.directors
    workflow = _existing(request)
    job = directors.job(workflow)
    with request.app_state.state(workflow) as state:
        blocked = directors.blocked_lines(state)
    return DirectorState(
        model=bool(request.app_state.settings.model),
        work=_work_state(job) if job else None,
        tabs=directors.tabs(workflow),
        blocked=blocked,
    )


def _work_state(job: DirectorJob) -> WorkState:
    return WorkState(
        id=job.id,
        kind=job.kind,
        tool=job.tool,
        over=job.is_over,
        stopped=job.stopped,
        problem=job.problem,
    )


def say(request: ApiRequest[Nothing, SayBody]) -> TurnStart:
    """Say something to the director: it plans, acts and answers, and its events tell how."""
    job = request.app_state.directors.say(_existing(request), request.body.text)
    return TurnStart(work=job.id)


def go_on(request: ApiRequest[Nothing, None]) -> TurnStart:
    """Have the director go on with a turn that ended before its answer."""
    job = request.app_state.directors.go_on(_existing(request))
    return TurnStart(work=job.id)


def stop(request: ApiRequest[Nothing, None]) -> StopAnswer:
    """Stop what the director is doing."""
    return StopAnswer(stopped=request.app_state.directors.stop(_existing(request)))


async def call(request: ApiRequest[Nothing, Arguments]) -> ToolCallAnswer:
    """Call a tool by hand and wait for what it answers; what it changed is told in the
    conversation."""
    job = await request.app_state.call(_begin_call, request, lane="writing")
    async for _ in job.follow():
        pass
    if job.outcome is None:
        status = 503 if job.cancel.is_set() else 502
        title = job.problem or "it was stopped"
        raise ProblemResponse(status, code="tool_failed", title=title, hint=job.hint)
    return ToolCallAnswer(text=job.outcome.text, failed=job.outcome.failed)


def _begin_call(request: ApiRequest[Nothing, Arguments]) -> DirectorJob:
    return request.app_state.directors.call(
        _existing(request), tool=request.path["tool"], arguments=request.body.arguments
    )


async def listen(request: ApiRequest[Nothing, None]) -> Response:
    """Listen to what the director does, from the beginning of its turn to the end of it: text,
    call, result, done."""
    http_request = request.http_request
    job = await request.app_state.call(_last_job, request)
    if job.listeners >= MOST_LISTENERS:
        raise no_more_listeners()
    if http_request.method == "HEAD":
        return Response(headers=HEADERS, media_type=MEDIA)
    http_request.scope["foreword.limit"].reschedule(None)  # a stream lasts as long as the job
    seen = _event_count(request.headers.get("last-event-id", ""), job)
    return StreamingResponse(_stream_bytes(job, seen), headers=HEADERS, media_type=MEDIA)


def _last_job(request: ApiRequest[Nothing, None]) -> DirectorJob:
    job = request.app_state.directors.job(_existing(request))
    if job is None:
        raise ProblemResponse(
            404,
            code="nothing_yet",
            title="the director has done nothing here since the server was started",
        )
    return job


def _event_count(last_id: str, job: DirectorJob) -> int:
    """How many events of this very job a listener has seen."""
    name, _, number = last_id.strip().partition(".")
    is_number = number.isdecimal() and len(number) < 10
    return int(number) if name == job.id and is_number else 0


async def _stream_bytes(job: DirectorJob, seen: int) -> AsyncIterator[bytes]:
    yield BEGIN
    async for numbered in job.follow(seen):
        if numbered is None:
            yield STILL_HERE
        else:
            number, event = numbered
            data = to_json(event, "the event")
            yield f"id: {job.id}.{number}\nevent: {event['type']}\ndata: {data}\n\n".encode()


def _existing(request: ApiRequest[Any, Any]) -> str:
    """The workflow in the path, which must be there: nothing is made by talking to nobody."""
    return workflow_name(request.app_state, request.path["workflow"])


def workflow_name(app_state: AppState, workflow: str) -> str:
    """The name of a workflow as it is kept; an error where there is none."""
    with app_state.store() as db:
        return workflow_list.stored_name(db, workflow)


_TAKES = {"last-event-id": "The id of the last event that was seen: what came after it is sent."}
_BUSY = (409,)
ENDPOINTS = (
    function_endpoint(list_tools, tag="director", method="GET", path="/v1/director/tools"),
    function_endpoint(show_director, tag="director", method="GET", path=f"{SESSION}/director"),
    function_endpoint(
        say,
        tag="director",
        method="POST",
        path=f"{SESSION}/director/say",
        body=SayBody,
        status=202,
        problems=_BUSY,
    ),
    function_endpoint(
        go_on,
        tag="director",
        method="POST",
        path=f"{SESSION}/director/go-on",
        status=202,
        problems=_BUSY,
    ),
    function_endpoint(stop, tag="director", method="POST", path=f"{SESSION}/director/stop"),
    function_endpoint(
        call,
        tag="director",
        method="POST",
        path=f"{SESSION}/director/tools/{{tool}}",
        body=Arguments,
        problems=(409, 502),
    ),
    function_endpoint(
        listen,
        tag="director",
        method="GET",
        path=f"{SESSION}/director/events",
        takes=_TAKES,
        media=MEDIA,
        event=DirectorEvent,
    ),
)
