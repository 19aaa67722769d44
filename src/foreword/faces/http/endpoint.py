"""One line of the API's table: a method, a path, what goes in, what comes out, and the function
that does it.

Everything that is known about an address stands in its `Endpoint`: the routes and the OpenAPI
description are both made from it. Functions are plain and synchronous, run in a thread, and return
what goes out as JSON.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Iterable, Mapping
from dataclasses import dataclass, field
from operator import attrgetter
from typing import Any, Generic, TypeVar

from pydantic import BaseModel, Field
from starlette.datastructures import Headers
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from foreword.faces.http import request_parsing
from foreword.faces.http.app_state import AppState, Lane
from foreword.faces.http.problems import BEGUN, ProblemResponse
from foreword.faces.http.request_parsing import RequestInput
from foreword.store.database import LARGEST_NUMBER, to_json

Query = TypeVar("Query")
Body = TypeVar("Body")
JSON = "application/json"
# rows in one answer: it is read as a whole, so a list of any length comes in pages
MOST_LISTED = 200


class Nothing(RequestInput):
    """No parameters."""


class Page(RequestInput):
    """Which part of a list: the newest first."""

    limit: int = Field(50, ge=1, le=MOST_LISTED, description="How many at most.")
    cursor: int | None = Field(
        None, ge=0, le=LARGEST_NUMBER, description="The `next` of the page before."
    )

    @property
    def before(self) -> int:
        """Where the page begins."""
        return LARGEST_NUMBER if self.cursor is None else self.cursor


@dataclass(frozen=True, slots=True, kw_only=True)
class ApiRequest(Generic[Query, Body]):
    """A request as a function of the API sees it."""

    app_state: AppState
    path: Mapping[str, str]
    query: Query
    body: Body
    headers: Headers

    def number(self, name: str) -> int:
        """A number in the path."""
        found = request_parsing.whole(self.path[name])
        if found is None:
            raise ProblemResponse(
                404,
                "unknown_name",
                f"{name} {self.path[name][:60]!r} is no whole number",
                "for example 1",
            )
        return found


@dataclass(frozen=True, slots=True)
class HttpAnswer:
    """An answer that is more than its JSON."""

    value: Any
    status: int = 0  # the endpoint's own, unless another
    headers: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True, kw_only=True)
class Endpoint:
    """One address of the API."""

    method: str
    path: str
    run: Callable[[ApiRequest[Any, Any]], Any]
    answer: type[BaseModel] | None  # none: the media type tells
    query: type[BaseModel] = Nothing
    body: type[BaseModel] | None = None
    status: int = 200
    problems: tuple[int, ...] = ()  # besides those that any request may meet
    takes: Mapping[str, str] = field(default_factory=dict)  # headers that are read, and what for
    gives: Mapping[str, str] = field(default_factory=dict)  # headers that are set
    media: str = JSON
    stream: Callable[[Request, ApiRequest[Any, Any]], Awaitable[Response]] | None = None
    lane: Lane | None = None  # whose threads do it; else by its method

    @property
    def about(self) -> str:
        """What it does, from the function's docstring."""
        return " ".join((self.run.__doc__ or "").split())

    async def respond(self, http_request: Request, app_state: AppState) -> Response:
        """The answer to a request."""
        body = await request_parsing.json_bytes(http_request) if self.body else b""
        if self.stream:
            return await self.stream(http_request, self._parse(http_request, app_state, body))
        lane = self.lane or ("reading" if self.method == "GET" else "writing")
        return await app_state.call(self._answer, http_request, app_state, body, lane=lane)

    def _parse(
        self, http_request: Request, app_state: AppState, body: bytes
    ) -> ApiRequest[Any, Any]:
        parsed_body = None
        if self.body:
            value = request_parsing.parse_json(body)
            parsed_body = request_parsing.validate(self.body, value, "body")
        return ApiRequest(
            app_state=app_state,
            path=request_parsing.path_of(http_request.path_params),
            query=request_parsing.query(http_request, self.query),
            body=parsed_body,
            headers=http_request.headers,
        )

    def _answer(self, http_request: Request, app_state: AppState, body: bytes) -> Response:
        """In a thread, the reading and the writing of JSON too: both may be large."""
        http_request.scope[BEGUN] = True
        made = self.run(self._parse(http_request, app_state, body))
        if isinstance(made, Response):
            return made
        answer = made if isinstance(made, HttpAnswer) else HttpAnswer(made)
        headers = {"cache-control": "no-store", **answer.headers}
        status = answer.status or self.status
        content = b"" if status in (204, 304) else to_json(answer.value, "the answer").encode()
        return Response(content, status, headers=headers, media_type=self.media)


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
        http_request.scope["foreword.route"] = path
        method = "GET" if http_request.method == "HEAD" else http_request.method
        endpoint = methods.get(method)
        if endpoint is None:
            what = f"{path} takes {allowed}, not {http_request.method[:20]}"
            raise ProblemResponse(
                405, "wrong_method", what, request_parsing.DESCRIBED, headers={"allow": allowed}
            )
        return await endpoint.respond(http_request, http_request.app.state.app_state)

    route = Route(path, respond, name=path)
    route.methods = None  # all of them: the answer to a wrong one is ours
    return route
