"""The app: the API under /v1, the page beside it, and the guard in front of both."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from starlette.applications import Starlette
from starlette.exceptions import HTTPException
from starlette.middleware import Middleware
from starlette.requests import Request
from starlette.responses import Response

from foreword.errors import ForewordError, UsageError
from foreword.faces.http import api
from foreword.faces.http.directors import Directors
from foreword.faces.http.problems import MEANINGS, problem, problem_of, refusal
from foreword.faces.http.request_guard import RequestGuard
from foreword.faces.http.token import is_loopback
from foreword.faces.serving.app_state import AppState, Settings
from foreword.faces.serving.problem_response import ProblemResponse
from foreword.faces.web import pages


def create_app(settings: Settings) -> Starlette:
    """The whole server as an ASGI app; one that others can reach is not made without a token."""
    if not settings.token_digest and not is_loopback(settings.host):
        raise UsageError(f"{settings.host} is not this machine alone, so a token is needed")
    app_state = AppState(settings, Directors(settings))

    @asynccontextmanager
    async def lifespan(app: Starlette) -> AsyncIterator[None]:
        yield
        app_state.close()

    routes = [*api.routes(), *pages.routes()]
    answers = {
        ForewordError: _error_answer,
        ProblemResponse: _refusal_answer,
        HTTPException: _no_route_answer,
    }
    guard = Middleware(RequestGuard, app_state=app_state)
    app = Starlette(
        routes=routes, middleware=[guard], exception_handlers=answers, lifespan=lifespan
    )
    app.router.redirect_slashes = False
    app.state.app_state = app_state
    return app


async def _error_answer(request: Request, error: Exception) -> Response:
    assert isinstance(error, ForewordError)
    return problem_of(error)


async def _refusal_answer(request: Request, error: Exception) -> Response:
    assert isinstance(error, ProblemResponse)
    return refusal(error)


async def _no_route_answer(request: Request, error: Exception) -> Response:
    assert isinstance(error, HTTPException)
    code = {404: "no_such_path", 405: "wrong_method"}.get(error.status_code, "refused")
    title = MEANINGS.get(error.status_code, error.detail)
    return problem(
        error.status_code, code, title, "/openapi.json has every path", headers=error.headers
    )
