"""Every address of the API, in one table: the operations, and what only a server has; the
description is made from all of them."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from typing import Annotated, Any

from pydantic import Field
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import BaseRoute, Route

from foreword import __version__
from foreword.errors import LONGEST_COMPARED, did_you_mean
from foreword.faces.http import (
    describe,
    director_endpoints,
    event_stream,
    health,
    operation_routes,
    sessions,
)
from foreword.faces.http.endpoint import ApiRequest, Endpoint, Nothing, function_endpoint, routes_of
from foreword.faces.serving.problem_response import ProblemResponse

MODULES = (operation_routes, sessions, director_endpoints, event_stream, health)


@dataclass(frozen=True, slots=True, kw_only=True)
class ApiDescription:
    """This description."""

    openapi: str
    info: dict[str, Any]
    paths: dict[str, Any]
    components: dict[str, Any]
    security: list[dict[str, Any]]


@dataclass(frozen=True, slots=True, kw_only=True)
class ApiRoot:
    """Where to read on."""

    name: str
    version: str
    description: Annotated[
        str, Field(description="Every path, with what it takes and gives (OpenAPI).")
    ]
    paths: Annotated[list[str], Field(description="What there is to ask for.")]


def show_root(request: ApiRequest[Nothing, None]) -> ApiRoot:
    """Say where this API is described, and which paths it has."""
    paths = sorted({endpoint.path for endpoint in ENDPOINTS})
    return ApiRoot(name="Foreword", version=__version__, description="/openapi.json", paths=paths)


def show_description(request: ApiRequest[Nothing, None]) -> ApiDescription:
    """Describe this API (OpenAPI 3.1)."""
    return ApiDescription(**description())


def _endpoints() -> Iterator[Endpoint]:
    for module in MODULES:
        yield from module.ENDPOINTS
    yield function_endpoint(show_root, tag="api", method="GET", path="/v1")
    yield function_endpoint(show_description, tag="api", method="GET", path="/openapi.json")


ENDPOINTS = tuple(_endpoints())


@cache
def description() -> dict[str, Any]:
    """The OpenAPI description of all endpoints."""
    return describe.document(ENDPOINTS)


def routes() -> list[BaseRoute]:
    """Every address of the API; what else begins with /v1 is not there."""
    nowhere = Route("/v1/{rest:path}", _nowhere)
    nowhere.methods = None
    return [*routes_of(ENDPOINTS), nowhere]


async def _nowhere(request: Request) -> Response:
    path = request.url.path[:LONGEST_COMPARED]
    guess = did_you_mean(path, [endpoint.path for endpoint in ENDPOINTS])
    suggestion = f"did you mean {guess}? " if guess else ""
    hint = f"{suggestion}/openapi.json has every path"
    raise ProblemResponse(404, code="no_such_path", title=f"there is nothing at {path}", hint=hint)
