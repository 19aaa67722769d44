"""What headers add to a few operations: the version of a plan (`ETag`, `If-Match`,
`If-None-Match`), and the key under which messages are added once (`Idempotency-Key`)."""

from __future__ import annotations

from typing import Any

from foreword.errors import PlanConflict
from foreword.faces.http.endpoint import HttpAnswer
from foreword.faces.http.operation_endpoint import OperationRequest
from foreword.faces.http.problems import problem_of
from foreword.faces.serving.problem_response import ProblemResponse
from foreword.pattern import lazy_pattern

PLAN_GIVES = {"etag": "The version, in quotes."}
PLAN_READS = {
    "if-none-match": "The version that is known already; 304 where it is still the newest."
}
PLAN_UPDATES = {
    "if-match": 'The version it is put on top of, in quotes, as in `"12"`; `*`, or none, is any.'
}
_TAG = lazy_pattern(r'(?:W/)?"([0-9]{1,18})"')
KEY = "idempotency-key"
APPEND_TAKES = {
    KEY: "A word of yours, new for each request: one that is sent again with it is done once."
}


def show_plan(request: OperationRequest) -> HttpAnswer[dict[str, Any]]:
    """The plan with its version as a tag, or that it is still the one that is known."""
    answer = request.perform()
    etag = f'"{answer["version"]}"'
    tags = request.headers.get("if-none-match", "").split(",")
    known = [tag.strip().removeprefix("W/") for tag in tags]
    status = 304 if etag in known else 200
    return HttpAnswer(answer, status, headers={"etag": etag, "cache-control": "no-cache"})


def update_plan(request: OperationRequest) -> Any:
    """A new version, on top of the one that a header or the body expects."""
    header = request.headers.get("if-match")
    more = dict[str, Any]()
    if header is not None:
        expected = request.given.get("expected_version")
        more["expected_version"] = _version_in(header)
        if expected not in (None, more["expected_version"]):
            title = "If-Match and expected_version name different versions"
            raise ProblemResponse(400, code="bad_request", title=title, hint="give one of them")
    try:
        made = request.perform(**more)
    except PlanConflict as conflict:
        return problem_of(conflict, 409 if header is None else 412)
    return HttpAnswer(made, headers={"etag": f'"{made["version"]}"'})


def _version_in(if_match: str) -> int | None:
    """The version that `If-Match` names; nothing where any will do."""
    if if_match.strip() == "*":
        return None
    found = _TAG.fullmatch(if_match.strip())
    if found is None:
        title = f"If-Match is no version of a plan: {if_match[:60]}"
        hint = 'a version in quotes, for example "12"; or * for any'
        raise ProblemResponse(400, code="bad_request", title=title, hint=hint)
    return int(found[1])


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
