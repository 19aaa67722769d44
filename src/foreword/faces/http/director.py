"""A workflow's director: say something to it, stop it, hear what it does, or call one of its
tools by hand."""

from __future__ import annotations

from collections.abc import AsyncIterator
from typing import Any

from pydantic import BaseModel, Field
from starlette.requests import Request
from starlette.responses import Response, StreamingResponse

from foreword.director.tools import TOOLS
from foreword.faces.http.app_state import AppState
from foreword.faces.http.director_job import DirectorJob
from foreword.faces.http.endpoint import JSON, Ask, Endpoint, HttpAnswer, Nothing
from foreword.faces.http.event_stream import BEGIN, MEDIA, STILL_HERE
from foreword.faces.http.problems import ProblemResponse
from foreword.faces.http.request_parsing import RequestInput, example
from foreword.faces.http.sessions import ONE
from foreword.operations import workflows
from foreword.store.database import to_json

LONGEST_TEXT = 200_000
MOST_LISTENERS = 200  # to one piece of work
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


class ToolLine(BaseModel):
    """One tool."""

    name: str
    about: str
    parameters: dict[str, Any] = Field(description="What it takes, as JSON Schema.")
    reads: bool = Field(description="Whether it changes nothing.")


class Tools(BaseModel):
    """Every tool of a director."""

    items: list[ToolLine]


class WorkState(BaseModel):
    """Something that a director does or has done."""

    id: str
    kind: str = Field(description="`turn` with its model, or `call` of a tool by hand.")
    tool: str = Field(description="The tool that is called, or blank.")
    over: bool
    stopped: bool
    problem: str = Field(description="Why it broke, or blank.")


class BlockedOriginAnswer(BaseModel):
    """An origin that pages asked for something and were not allowed to reach."""

    origin: str
    kinds: list[str] = Field(description="What for: `script`, `image`, `fetch`.")
    requests: int = Field(
        description="How many, since its browser was started; 0 where it was in an earlier one."
    )
    option: str = Field(description="What `foreword serve` is started with to allow it.")


class DirectorState(BaseModel):
    """How a director stands."""

    model: bool = Field(description="Whether there is one, so that something can be said to it.")
    work: WorkState | None = Field(
        description="What it is at, or was at last since the server was started."
    )
    tabs: list[dict[str, Any]] | None = Field(
        description="Of its browser: `name`, `url`, `active`; null before one."
    )
    blocked: list[BlockedOriginAnswer] = Field(
        description="What its pages could not load because of the server's origins."
    )


class TurnStart(BaseModel):
    """A turn that has begun; its events tell what becomes of it."""

    work: str = Field(description="Its id; those of its events begin with it.")


class StopAnswer(BaseModel):
    """Whether there was anything to stop."""

    stopped: bool


class ToolCallAnswer(BaseModel):
    """What a tool answered."""

    text: str = Field(description="The same as a model would be given; secrets are hidden.")
    failed: bool


class DirectorEvent(BaseModel):
    """The `data` of an event; which fields there are depends on its type."""

    type: str = Field(description="The event's name, too.", json_schema_extra={"enum": list(KINDS)})
    text: str | None = Field(
        None, description="A piece of the answer; an empty one says that it begins again."
    )
    name: str | None = Field(None, description="The tool of a call or a result.")
    id: str | None = Field(None, description="Of the call.")
    arguments: Any = None
    failed: bool | None = None
    node: str | None = Field(
        None, description="Of a step of a run: the node, and `status` how it stands."
    )
    status: str | None = None
    scout: str | None = Field(None, description="Whose doing it is, where a scout does it.")
    stopped: bool | None = None


def list_tools(ask: Ask[Nothing, None]) -> dict[str, Any]:
    """List the tools of a director, with what each takes."""
    lines = [
        {"name": one.name, "about": one.about, "parameters": one.schema, "reads": one.reads}
        for one in TOOLS.values()
    ]
    return {"items": lines}


def show_director(ask: Ask[Nothing, None]) -> dict[str, Any]:
    """Say what a workflow's director is doing, and which tabs it has open."""
    desks, workflow = ask.serving.desks, _existing(ask)
    work = desks.work(workflow)
    told = work and {
        "id": work.id,
        "kind": work.kind,
        "tool": work.tool,
        "over": work.is_over,
        "stopped": work.stopped,
        "problem": work.problem,
    }
    with ask.serving.state(workflow) as state:
        blocked = desks.blocked(state)
    return {
        "model": bool(ask.serving.settings.model),
        "work": told,
        "tabs": desks.tabs(workflow),
        "blocked": blocked,
    }


def say(ask: Ask[Nothing, SayBody]) -> HttpAnswer:
    """Say something to the director: it plans, acts and answers, and its events tell how."""
    work = ask.serving.desks.say(_existing(ask), ask.body.text)
    return HttpAnswer({"work": work.id})


def go_on(ask: Ask[Nothing, None]) -> HttpAnswer:
    """Have the director go on with a turn that ended before its answer."""
    return HttpAnswer({"work": ask.serving.desks.go_on(_existing(ask)).id})


def stop(ask: Ask[Nothing, None]) -> dict[str, Any]:
    """Stop what the director is doing."""
    return {"stopped": ask.serving.desks.stop(_existing(ask))}


def call(ask: Ask[Nothing, Arguments]) -> Any:
    """Call a tool by hand and wait for what it answers; what it changed is told in the
    conversation."""
    raise NotImplementedError  # answered by `_called`, so that no thread waits


async def _called(request: Request, ask: Ask[Nothing, Arguments]) -> Response:
    work = await ask.serving.call(_begin_call, ask, lane="writing")
    async for _ in work.following():
        pass
    if work.outcome is None:
        raise ProblemResponse(
            503 if work.cancel.is_set() else 502,
            "tool_failed",
            work.problem or "it was stopped",
            work.hint,
        )
    told = {"text": work.outcome.text, "failed": work.outcome.failed}
    return Response(
        to_json(told, "the answer"), headers={"cache-control": "no-store"}, media_type=JSON
    )


def _begin_call(ask: Ask[Nothing, Arguments]) -> DirectorJob:
    return ask.serving.desks.call(_existing(ask), ask.path["tool"], ask.body.arguments)


def listen(ask: Ask[Nothing, None]) -> Any:
    """Listen to what the director does, from the beginning of its turn to the end of it: text,
    call, result, done."""
    raise NotImplementedError  # answered by its stream


async def _stream(request: Request, ask: Ask[Nothing, None]) -> Response:
    work = await ask.serving.call(_last_work, ask)
    if work.listeners >= MOST_LISTENERS:
        raise ProblemResponse(
            503, "no_more_listeners", "no more listeners now", headers={"retry-after": "1"}
        )
    headers = {"cache-control": "no-store", "x-accel-buffering": "no"}
    if request.method == "HEAD":
        return Response(headers=headers, media_type=MEDIA)
    request.scope["foreword.limit"].reschedule(None)  # a stream lasts as long as the work
    seen = _seen(ask.headers.get("last-event-id", ""), work)
    return StreamingResponse(_written(work, seen), headers=headers, media_type=MEDIA)


def _last_work(ask: Ask[Nothing, None]) -> DirectorJob:
    work = ask.serving.desks.work(_existing(ask))
    if work is None:
        raise ProblemResponse(
            404, "nothing_yet", "the director has done nothing here since the server was started"
        )
    return work


def _seen(last: str, work: DirectorJob) -> int:
    """How many events of this very work a listener has seen."""
    name, _, number = last.strip().partition(".")
    return int(number) if name == work.id and number.isdecimal() and len(number) < 10 else 0


async def _written(work: DirectorJob, seen: int) -> AsyncIterator[bytes]:
    yield BEGIN
    async for told in work.following(seen):
        if told is None:
            yield STILL_HERE
        else:
            number, event = told
            data = to_json(event, "the event")
            yield f"id: {work.id}.{number}\nevent: {event['type']}\ndata: {data}\n\n".encode()


def _existing(ask: Ask[Any, Any]) -> str:
    """The workflow in the path, which must be there: nothing is made by talking to nobody."""
    return workflow_name(ask.serving, ask.path["workflow"])


def workflow_name(serving: AppState, workflow: str) -> str:
    """The name of a workflow as it is kept; an error where there is none."""
    with serving.store() as db:
        return workflows.stored_name(db, workflow)


_TAKES = {"last-event-id": "The id of the last event that was seen: what came after it is sent."}
_BUSY = (409,)
ENDPOINTS = (
    Endpoint(method="GET", path="/v1/director/tools", run=list_tools, answer=Tools),
    Endpoint(method="GET", path=f"{ONE}/director", run=show_director, answer=DirectorState),
    Endpoint(
        method="POST",
        path=f"{ONE}/director/say",
        run=say,
        answer=TurnStart,
        body=SayBody,
        status=202,
        problems=_BUSY,
    ),
    Endpoint(
        method="POST",
        path=f"{ONE}/director/go-on",
        run=go_on,
        answer=TurnStart,
        status=202,
        problems=_BUSY,
    ),
    Endpoint(method="POST", path=f"{ONE}/director/stop", run=stop, answer=StopAnswer),
    Endpoint(
        method="POST",
        path=f"{ONE}/director/tools/{{tool}}",
        run=call,
        answer=ToolCallAnswer,
        body=Arguments,
        problems=(409, 502),
        stream=_called,
    ),
    Endpoint(
        method="GET",
        path=f"{ONE}/director/events",
        run=listen,
        answer=DirectorEvent,
        takes=_TAKES,
        media=MEDIA,
        stream=_stream,
    ),
)
