"""One line of the API's table: a method, a path, what goes in, what comes out, and the function
that does it.

Everything that is known about an address stands in its `Endpoint`: the routes and the OpenAPI
description are both made from it. Functions are plain and synchronous, and run in a thread; those
that wait for something else (a stream, a job) are coroutines. Most addresses are operations
(`operation_endpoint`).
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field, is_dataclass
from functools import cache
from inspect import iscoroutinefunction
from operator import attrgetter
from typing import Any, Generic, TypeVar, get_args, get_origin, get_type_hints

from pydantic import TypeAdapter
from starlette.datastructures import Headers
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from foreword.faces.http import request_parsing
from foreword.faces.http.problems import BEGUN
from foreword.faces.http.request_parsing import RequestInput
from foreword.faces.serving.app_state import AppState, Lane
from foreword.faces.serving.problem_response import ProblemResponse
from foreword.operations.operation import AnyOperation
from foreword.store.database import to_json

Query = TypeVar("Query")
Body = TypeVar("Body")
Answer = TypeVar("Answer")
JSON = "application/json"
SESSION = "/v1/sessions/{workflow}"


class Nothing(RequestInput):
    """No parameters."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ApiRequest(Generic[Query, Body]):
    """A request as a function of the API sees it."""

    app_state: AppState
    path: Mapping[str, str]
    query: Query
    body: Body
    http_request: Request

    @property
    def headers(self) -> Headers:
        """The headers of the request."""
        return self.http_request.headers


@dataclass(frozen=True, slots=True)
class HttpAnswer(Generic[Answer]):
    """An answer with headers of its own."""

    value: Answer
    headers: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True, kw_only=True)
class Endpoint:
    """One address of the API."""

    method: str
    path: str
    tag: str  # with its method and its name, the id by which generated clients know it
    name: str
    about: str
    run: Callable[[ApiRequest[Any, Any]], Any]
    answer: Any  # its type
    query: type[RequestInput] = Nothing
    body: type[RequestInput] | None = None
    status: int = 200
    problems: tuple[int, ...] = ()  # besides those that any request may meet
    takes: Mapping[str, str] = field(default_factory=dict)  # headers that are read, and what for
    gives: Mapping[str, str] = field(default_factory=dict)  # headers that are set
    media: str = JSON
    lane: Lane | None = None  # whose threads do it; else by its method
    operation: AnyOperation | None = None  # that it is, if it is one

    async def respond(self, http_request: Request, app_state: AppState) -> Response:
        """The answer to a request."""
        body = await request_parsing.json_bytes(http_request) if self.body else b""
        if iscoroutinefunction(self.run):
            request = self._parse(http_request, app_state, body)
            return self._response(await self.run(request))
        lane = self.lane or ("reading" if self.method == "GET" else "writing")
        return await app_state.call(self._answer, http_request, app_state, body, lane=lane)

    def _parse(
        self, http_request: Request, app_state: AppState, body: bytes
    ) -> ApiRequest[Any, Any]:
        parsed_body = None
        if self.body:
            value = request_parsing.parse_json(body)
            parsed_body = request_parsing.validate(self.body, value)
        return ApiRequest(
            app_state=app_state,
            path=request_parsing.path_of(http_request.path_params),
            query=request_parsing.query(http_request, self.query),
            body=parsed_body,
            http_request=http_request,
        )

    def _answer(self, http_request: Request, app_state: AppState, body: bytes) -> Response:
        """In a thread, the reading and the writing of JSON too: both may be large."""
        http_request.scope[BEGUN] = True
        return self._response(self.run(self._parse(http_request, app_state, body)))

    def _response(self, made: Any) -> Response:
        """What a function gave, as it goes out."""
        if isinstance(made, Response):
            return made
        answer = made if isinstance(made, HttpAnswer) else HttpAnswer(made)
        headers = {"cache-control": "no-store", **answer.headers}
        content = json_of(answer.value)
        return Response(content, self.status, headers=headers, media_type=self.media)


def function_endpoint(
    run: Callable[[ApiRequest[Any, Any]], Any],
    *,
    tag: str,
    method: str,
    path: str,
    event: Any = None,
    **more: Any,
) -> Endpoint:
    """An address of the API that is no operation; its function says what it does and gives, and
    `event` is what a stream of events has in each."""
    answer = event or get_type_hints(run, include_extras=True)["return"]
    if get_origin(answer) is HttpAnswer:
        (answer,) = get_args(answer)
    return Endpoint(
        method=method,
        path=path,
        tag=tag,
        name=run.__name__,
        about=" ".join((run.__doc__ or "").split()),
        run=run,
        answer=answer,
        **more,
    )


def json_of(answer: Any) -> bytes:
    """An answer as it goes out: plain JSON, or a value whose type says how it is written."""
    data = _adapter(answer.__class__).dump_python(answer) if is_dataclass(answer) else answer
    return to_json(data, "the answer").encode()


@cache
def _adapter(kind: Any) -> TypeAdapter[Any]:
    return TypeAdapter(kind)


def routes_of(endpoints: Iterable[Endpoint]) -> list[Route]:
    """A route for each path, which knows all its methods."""
    by_path = dict[str, dict[str, Endpoint]]()
    for endpoint in sorted(endpoints, key=attrgetter("path")):
        by_path.setdefault(endpoint.path, {})[endpoint.method] = endpoint
    return [_route(path, methods) for path, methods in by_path.items()]


def _route(path: str, methods: Mapping[str, Endpoint]) -> Route:
    known = set(methods)
    if "GET" in known:
        known.add("HEAD")
    allowed = ", ".join(sorted(known))

    async def respond(http_request: Request) -> Response:
        method = "GET" if http_request.method == "HEAD" else http_request.method
        endpoint = methods.get(method)
        if endpoint is None:
            what = f"{path} takes {allowed}, not {http_request.method[:20]}"
            raise ProblemResponse(
                405,
                code="wrong_method",
                title=what,
                hint=request_parsing.DESCRIBED,
                headers={"allow": allowed},
            )
        return await endpoint.respond(http_request, http_request.app.state.app_state)

    route = Route(path, respond, name=path)
    route.methods = None  # all of them: the answer to a wrong one is ours
    return route
