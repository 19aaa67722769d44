"""The one table from an error to a status, and errors as problem+json (RFC 9457)."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from starlette.responses import Response

from foreword import errors
from foreword.errors import ForewordError
from foreword.store.database import dumped
from foreword.workflow.secrets import mask

STATUSES: dict[type[ForewordError], int] = {
    errors.UsageError: 400,
    errors.UnknownName: 404,
    errors.OutsideRoot: 403,
    errors.BadPlan: 422,
    errors.BadNode: 422,
    errors.BadCheckpoint: 422,
    errors.EssentialsTooLarge: 422,
    errors.TierTooLarge: 422,
    errors.UnknownHandle: 404,
    errors.PlanConflict: 409,
    errors.CheckpointDamaged: 409,
    errors.StoreError: 503,
    errors.ModelFailed: 502,
}
MEANINGS = {
    400: "What was asked for makes no sense as asked.",
    401: "A token is needed, and none that is right was given.",
    403: "Not allowed from there: another site's page, or a path outside of the roots.",
    404: "There is nothing of that name.",
    405: "The path is right, the method is not.",
    409: "It has changed in the meantime, or can't be used as it is.",
    412: "The plan is not at the version that `If-Match` names; `newest` is the plan as it is now.",
    413: "The body is too large.",
    415: "The body must be `application/json`.",
    421: "This server does not answer to that `Host`.",
    422: "What was given has not the right shape, or does not fit the budget.",
    429: "Too many requests; `Retry-After` says when to go on.",
    500: "Something went wrong in the server.",
    502: "A model gave no answer.",
    503: "The store can't be used, or the server is stopping.",
    504: "It took too long. A change that was under way may still be made.",
}
MEDIA = "application/problem+json"
FACTS = (
    "problems", "expected", "version", "newest", "needed", "budget", "sections", "tier", "limit", "largest", "known",
    "task", "before",
)  # fmt: skip


class Refused(Exception):
    """A request that is refused before anything of Foreword sees it."""

    def __init__(
        self, status: int, code: str, title: str, hint: str = "", *, headers: Mapping[str, str] | None = None,
        **facts: Any,
    ) -> None:  # fmt: skip
        super().__init__(title)
        self.status, self.code, self.title, self.hint = status, code, title, hint
        self.headers, self.facts = dict(headers or {}), facts


def status_of(error: ForewordError) -> int:
    """The status of an error, by the nearest class that has one."""
    return next(STATUSES[kind] for kind in type(error).__mro__ if kind in STATUSES)


def problem(
    status: int, code: str, title: str, hint: str = "", *, headers: Mapping[str, str] | None = None, **facts: Any
) -> Response:
    """A problem as a response."""
    body = {"type": f"about:blank#{code}", "title": mask(title), "status": status, "code": code, "hint": mask(hint)}
    return Response(dumped({**body, **facts}, "the problem"), status, headers=headers, media_type=MEDIA)


def problem_of(error: ForewordError, status: int = 0) -> Response:
    """An error as a response, with the facts that a program acts on."""
    facts = {name: getattr(error, name) for name in FACTS if getattr(error, name, None) is not None}
    if isinstance(facts.get("problems"), tuple):
        facts["problems"] = [mask(one) for one in facts["problems"]]
    return problem(status or status_of(error), error.code, error.message, error.hint, **facts)


def refusal(refused: Refused) -> Response:
    """A refusal as a response."""
    return problem(refused.status, refused.code, refused.title, refused.hint, headers=refused.headers, **refused.facts)
