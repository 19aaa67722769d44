"""Events as they happen (SSE): of one workflow or of all, and what was missed, by `Last-Event-ID`.

An event's id is how new everything was when it was sent, so any server process on the same database
can say what came after it. What an event says is that something has changed and what it is now; the
rest is there to be asked for.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from dataclasses import dataclass
from typing import Annotated

from pydantic import Field
from starlette.responses import Response, StreamingResponse

from foreword.faces.http.endpoint import SESSION, ApiRequest, Nothing, function_endpoint
from foreword.faces.serving.app_state import AppState
from foreword.faces.serving.change_poller import ANY
from foreword.faces.serving.problem_response import ProblemResponse
from foreword.operations import workflow_list
from foreword.operations.change_vector import KINDS, ChangeEvent, Vector, parse_vector
from foreword.store.database import to_json

MEDIA = "text/event-stream"
HEADERS = {"cache-control": "no-store", "x-accel-buffering": "no"}
# Of one process: under the connections that `http_server` takes, so that requests still come
# through.
MOST_LISTENERS = 1_500
RETRY_MILLISECONDS = 1_000  # after which a browser whose stream broke connects again
BEGIN = f"retry: {RETRY_MILLISECONDS}\n: listening\n\n".encode()
STILL_HERE = b": still here\n\n"


@dataclass(frozen=True, slots=True, kw_only=True)
class EventData:
    """The `data` of an event."""

    workflow: Annotated[
        str | None,
        Field(description="Null: something has changed while you were away; load anew."),
    ]
    kind: Annotated[
        str, Field(description="The event's name, too.", json_schema_extra={"enum": list(KINDS)})
    ]


def no_more_listeners() -> ProblemResponse:
    """The answer to one listener too many."""
    return ProblemResponse(
        503,
        code="no_more_listeners",
        title="no more listeners now",
        headers={"retry-after": "1"},
    )


async def _stream(request: ApiRequest[Nothing, None]) -> Response:
    app_state = request.app_state
    http_request = request.http_request
    workflow = request.path.get("workflow", ANY)
    if workflow != ANY:
        await app_state.call(_check_exists, app_state, workflow)
    if app_state.poller.stopped or app_state.poller.listeners >= MOST_LISTENERS:
        raise no_more_listeners()
    if http_request.method == "HEAD":
        return Response(headers=HEADERS, media_type=MEDIA)
    # a stream lasts as long as somebody listens
    http_request.scope["foreword.limit"].reschedule(None)
    seen = None
    last = request.headers.get("last-event-id")
    if last is not None:
        seen = parse_vector(last.strip()) or Vector()
    begin = await app_state.poller.begin(workflow)
    events = app_state.poller.events(workflow, begin, seen)
    return StreamingResponse(_stream_bytes(events), headers=HEADERS, media_type=MEDIA)


def _check_exists(app_state: AppState, workflow: str) -> None:
    with app_state.store() as db:
        workflow_list.stored_name(db, workflow)


async def _stream_bytes(events: AsyncIterator[ChangeEvent | None]) -> AsyncIterator[bytes]:
    yield BEGIN
    async for event in events:
        yield STILL_HERE if event is None else event_bytes(event)
        # many events at once: others have their turn, and it is noticed who has left
        await asyncio.sleep(0)


def event_bytes(event: ChangeEvent) -> bytes:
    """An event as it goes over the wire; JSON has no line breaks, so none can be forged."""
    data = to_json(event.data, "the event")
    return f"id: {event.at}\nevent: {event.kind}\ndata: {data}\n\n".encode()


async def listen(request: ApiRequest[Nothing, None]) -> Response:
    """Listen to what happens to a workflow: plan, messages, variables, workflow, compression,
    checkpoint, report."""
    return await _stream(request)


async def listen_to_all(request: ApiRequest[Nothing, None]) -> Response:
    """Listen to what happens to all workflows."""
    return await _stream(request)


_TAKES = {
    "last-event-id": "The id of the last event that was seen: what came after it is sent first."
}
ENDPOINTS = (
    function_endpoint(
        listen_to_all,
        tag="events",
        method="GET",
        path="/v1/events",
        takes=_TAKES,
        media=MEDIA,
        event=EventData,
    ),
    function_endpoint(
        listen,
        tag="events",
        method="GET",
        path=f"{SESSION}/events",
        takes=_TAKES,
        media=MEDIA,
        event=EventData,
    ),
)
