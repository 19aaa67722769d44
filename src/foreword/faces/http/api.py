"""Every address of the API, in one table: each noun has its own, and the description is made from all of them."""

from __future__ import annotations

from functools import cache
from typing import Any

from pydantic import BaseModel
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import BaseRoute, Route

from foreword.faces.http import (
    checkpoints,
    contexts,
    conversations,
    describe,
    events,
    health,
    hooks,
    plans,
    recipes,
    reports,
    sessions,
    variables,
)
from foreword.faces.http.endpoint import Ask, Endpoint, Nothing, routes_of
from foreword.faces.http.problems import MEANINGS, Refused

NOUNS = (contexts, sessions, conversations, plans, variables, checkpoints, reports, recipes, events, hooks, health)


class OpenApi(BaseModel):
    """This description."""

    openapi: str
    info: dict[str, Any]
    paths: dict[str, Any]
    components: dict[str, Any]


def show_description(ask: Ask[Nothing, None]) -> dict[str, Any]:
    """Describe this API (OpenAPI 3.1)."""
    return description()


ENDPOINTS: tuple[Endpoint, ...] = (
    *(endpoint for noun in NOUNS for endpoint in noun.ENDPOINTS),
    Endpoint("GET", "/openapi.json", show_description, OpenApi),
)


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
    raise Refused(404, "no_such_path", MEANINGS[404], "/openapi.json has every path")
