"""For those who look after the server: whether it answers, and what it has done so far."""

from __future__ import annotations

import asyncio
import logging
from dataclasses import dataclass

from starlette.responses import Response

from foreword import __version__
from foreword.errors import StoreError
from foreword.faces.http.endpoint import ApiRequest, Nothing, function_endpoint
from foreword.faces.serving import metrics
from foreword.faces.serving.app_state import AppState
from foreword.faces.serving.problem_response import ProblemResponse
from foreword.secrets.masking import mask

LONGEST_SECONDS = 5.0  # what takes longer is no answer to those who watch a server
log = logging.getLogger("foreword.serve")


@dataclass(frozen=True, slots=True, kw_only=True)
class Health:
    """The server answers, and so does its store."""

    status: str
    version: str


async def healthz(request: ApiRequest[Nothing, None]) -> Health:
    """Say whether the server and its store answer."""
    try:  # in the lane of its own, and without waiting for a store that hangs
        async with asyncio.timeout(LONGEST_SECONDS):
            await request.app_state.call(_query_store, request.app_state, lane="health")
    except StoreError as error:  # anybody may ask this, so nobody is told where the store is
        log.error("%s", mask(error.message))
        raise ProblemResponse(
            503, code="store", title="the store does not answer", hint="the server's log has more"
        ) from None
    except (TimeoutError, ProblemResponse):
        raise ProblemResponse(
            503, code="store", title="the store does not answer in time"
        ) from None
    return Health(status="ok", version=__version__)


def _query_store(app_state: AppState) -> None:
    with app_state.store() as db:
        db.rows("SELECT 1")


def show_metrics(request: ApiRequest[Nothing, None]) -> Response:
    """Count requests by route and status, with how long they took, for Prometheus."""
    app_state = request.app_state
    with app_state.store() as db:
        ((sessions,),) = db.rows("SELECT COUNT(*) FROM workflows")
    gauges = {
        "sessions": ("Sessions in the store.", float(sessions)),
        "live_listeners": ("Open event streams.", float(app_state.poller.listeners)),
        "writers": ("Changes under way, or waiting for the store.", float(app_state.writers)),
        "threads_at_work": (
            "Requests that have begun and not ended.",
            float(app_state.threads_at_work),
        ),
        "open_sessions": (
            "Sessions that wait, open, for the next request.",
            float(app_state.open_sessions),
        ),
    }
    return Response(app_state.metrics.to_text(gauges), media_type=metrics.MEDIA)


ENDPOINTS = (
    function_endpoint(healthz, tag="health", method="GET", path="/healthz"),
    function_endpoint(
        show_metrics, tag="health", method="GET", path="/metrics", media="text/plain"
    ),
)
