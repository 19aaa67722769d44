"""Every address of the API, in one table: each noun has its own, and the description is made
from all of them."""

from __future__ import annotations

from collections.abc import Iterator
from functools import cache
from typing import Any

from pydantic import BaseModel, Field
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import BaseRoute, Route

from foreword import __version__
from foreword.errors import LONGEST_COMPARED, did_you_mean
from foreword.faces.http import (
    checkpoints,
    contexts,
    conversations,
    describe,
    director,
    events,
    health,
    hooks,
    node_runs,
    plans,
    recipes,
    reports,
    sessions,
    variables,
)
from foreword.faces.http.endpoint import ApiRequest, Endpoint, Nothing, routes_of
from foreword.faces.http.problems import ProblemResponse

NOUNS = (
    contexts,
    sessions,
    conversations,
    plans,
    variables,
    director,
    node_runs,
    checkpoints,
    reports,
    recipes,
    events,
    hooks,
    health,
)


class OpenApi(BaseModel):
    """This description."""

    openapi: str
    info: dict[str, Any]
    paths: dict[str, Any]
    components: dict[str, Any]


class Root(BaseModel):
    """Where to read on."""

    name: str
    version: str
    description: str = Field(description="Every path, with what it takes and gives (OpenAPI).")
    paths: list[str] = Field(description="What there is to ask for.")


def show_root(request: ApiRequest[Nothing, None]) -> dict[str, Any]:
    """Say where this API is described, and which paths it has."""
    paths = sorted({endpoint.path for endpoint in ENDPOINTS})
    return {
        "name": "Foreword",
        "version": __version__,
        "description": "/openapi.json",
        "paths": paths,
    }


def show_description(request: ApiRequest[Nothing, None]) -> dict[str, Any]:
    """Describe this API (OpenAPI 3.1)."""
    return description()


def _endpoints() -> Iterator[Endpoint]:
    for noun in NOUNS:
        yield from noun.ENDPOINTS
    yield Endpoint(method="GET", path="/v1", run=show_root, answer=Root)
    yield Endpoint(method="GET", path="/openapi.json", run=show_description, answer=OpenApi)


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
    raise ProblemResponse(404, "no_such_path", f"there is nothing at {path}", hint)
