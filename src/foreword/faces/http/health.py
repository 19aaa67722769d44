"""The health check: whether the server and its store answer."""

from __future__ import annotations

import logging
from dataclasses import dataclass

from foreword import __version__
from foreword.errors import StoreError
from foreword.faces.http.endpoint import ApiRequest, Nothing, function_endpoint
from foreword.faces.serving.problem_response import ProblemResponse
from foreword.secrets.masking import mask

log = logging.getLogger("foreword.serve")


@dataclass(frozen=True, slots=True, kw_only=True)
class Health:
    """The server answers, and so does its store."""

    status: str
    version: str


def healthz(request: ApiRequest[Nothing, None]) -> Health:
    """Say whether the server and its store answer."""
    try:
        with request.app_state.store() as db:
            db.rows("SELECT 1")
    except StoreError as error:  # no token is needed here, so the answer does not name the store
        log.error("%s", mask(error.message))
        raise ProblemResponse(
            503, code="store", title="the store does not answer", hint="the server's log has more"
        ) from None
    return Health(status="ok", version=__version__)


ENDPOINTS = (function_endpoint(healthz, tag="health", method="GET", path="/healthz"),)
