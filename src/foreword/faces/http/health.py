"""For those who look after the server: whether it answers, and what it has done so far."""

from __future__ import annotations

import asyncio
import logging
from typing import Any

from pydantic import BaseModel
from starlette.requests import Request
from starlette.responses import Response

from foreword import __version__
from foreword.errors import StoreError
from foreword.faces.http import metrics
from foreword.faces.http.app_state import AppState
from foreword.faces.http.endpoint import JSON, Ask, Endpoint, Nothing
from foreword.faces.http.problems import ProblemResponse
from foreword.secrets.masking import mask
from foreword.store.database import to_json

LONGEST_SECONDS = 5.0  # what takes longer is no answer to those who watch a server
log = logging.getLogger("foreword.serve")


class Health(BaseModel):
    """The server answers, and so does its store."""

    status: str
    version: str


def healthz(ask: Ask[Nothing, None]) -> dict[str, Any]:
    """Say whether the server and its store answer."""
    raise NotImplementedError  # answered by `_looked`, which does not wait for a store that hangs


async def _looked(request: Request, ask: Ask[Nothing, None]) -> Response:
    try:
        async with asyncio.timeout(LONGEST_SECONDS):
            await ask.serving.call(_look, ask.serving, lane="health")
    except StoreError as error:  # anybody may ask this, so nobody is told where the store is
        log.error("%s", mask(error.message))
        raise ProblemResponse(
            503, "store", "the store does not answer", "the server's log has more"
        ) from None
    except (TimeoutError, ProblemResponse):
        raise ProblemResponse(503, "store", "the store does not answer in time") from None
    told = {"status": "ok", "version": __version__}
    return Response(
        to_json(told, "the answer"), headers={"cache-control": "no-store"}, media_type=JSON
    )


def _look(serving: AppState) -> None:
    with serving.store() as db:
        db.rows("SELECT 1")


def show_metrics(ask: Ask[Nothing, None]) -> Response:
    """Count requests by route and status, with how long they took, for Prometheus."""
    serving = ask.serving
    with serving.store() as db:
        ((sessions,),) = db.rows("SELECT COUNT(*) FROM workflows")
    gauges = {
        "sessions": ("Sessions in the store.", float(sessions)),
        "live_listeners": ("Open event streams.", float(serving.live.listeners)),
        "writers": ("Changes under way, or waiting for the store.", float(serving.writers)),
        "threads_at_work": (
            "Requests that have begun and not ended.",
            float(serving.threads_at_work),
        ),
        "open_sessions": (
            "Sessions that wait, open, for the next request.",
            float(serving.open_sessions),
        ),
    }
    return Response(serving.metrics.written(gauges), media_type=metrics.MEDIA)


ENDPOINTS = (
    Endpoint(method="GET", path="/healthz", run=healthz, answer=Health, stream=_looked),
    Endpoint(method="GET", path="/metrics", run=show_metrics, answer=None, media="text/plain"),
)
