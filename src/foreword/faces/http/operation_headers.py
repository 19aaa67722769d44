"""What a header adds to an operation: the key under which messages are appended once
(`Idempotency-Key`)."""

from __future__ import annotations

from typing import Any

from foreword.faces.http.operation_endpoint import OperationRequest
from foreword.faces.serving.problem_response import ProblemResponse

KEY = "idempotency-key"
APPEND_TAKES = {
    KEY: "A word of yours, new for each request: one that is sent again with it is done once."
}


def append_messages(request: OperationRequest) -> dict[str, Any]:
    """Messages, under the key of the header where there is one."""
    return request.perform(key=_key(request))


def _key(request: OperationRequest) -> str | None:
    """The key of the request; as a quoted string, too, which is how the standard has it."""
    values = request.headers.getlist(KEY)
    if len(values) > 1:
        title = f"{KEY} is there {len(values)} times"
        raise ProblemResponse(400, code="bad_request", title=title, hint="send it once")
    if not values:
        return None
    key = values[0].strip()
    is_quoted = len(key) > 1 and key.startswith('"') and key.endswith('"')
    return key[1:-1] if is_quoted else key
