"""The one table from an error to a status, and errors as problem+json (RFC 9457)."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import Any

from starlette.responses import Response

from foreword import errors
from foreword.errors import ForewordError
from foreword.faces.serving.problem_response import ProblemResponse
from foreword.secrets.masking import mask
from foreword.store.database import to_json

STATUSES: dict[type[ForewordError], int] = {
    errors.UsageError: 400,
    errors.UnknownName: 404,
    errors.OutsideRoot: 403,
    errors.BadPlan: 422,
    errors.BadNode: 422,
    errors.BadCheckpoint: 422,
    errors.KeyReused: 422,
    errors.EssentialsTooLarge: 422,
    errors.TierTooLarge: 422,
    errors.UnknownHandle: 404,
    errors.PlanConflict: 409,
    errors.CheckpointDamaged: 409,
    errors.StoreError: 503,
    errors.ModelFailed: 502,
    errors.BrowserFailed: 502,
    errors.OriginRefused: 403,
}
MEANINGS = {
    400: "What was asked for makes no sense as asked.",
    401: "A token is needed, and none that is right was given.",
    403: "Not allowed from there: another site's page, or a path outside of the roots.",
    404: "There is nothing of that name.",
    405: "The path is right, the method is not.",
    409: (
        "It is there already, is not at the version that the body expects, or can't be used as"
        " it is."
    ),
    413: "The body is too large.",
    415: "The body must be `application/json`.",
    421: "This server does not answer to that `Host`.",
    422: (
        "What was given has not the right shape, does not fit the budget, or has the key of"
        " something else."
    ),
    429: "Too many requests; `Retry-After` says when to go on.",
    500: "Something went wrong in the server.",
    502: "A model or a browser gave no answer.",
    503: "The store can't be used, or the server is stopping.",
    504: "It took too long. The hint says whether a change may still be made.",
}
MEDIA = "application/problem+json"
BEGUN = "foreword.begun"  # in the scope of a request that something was done for
# Characters of a title or a hint, and names that might have been meant: a problem repeats what the
# request said, so it is bounded whatever that was.
LONGEST = 2_000
MOST_KNOWN = 50
# attributes of an error that a program acts on
FACTS = (
    "problems",
    "expected",
    "version",
    "newest",
    "needed",
    "budget",
    "sections",
    "tier",
    "limit",
    "largest",
    "known",
    "task",
    "before",
)


@dataclass(frozen=True, slots=True, kw_only=True)
class ProblemDetails:
    """What went wrong (RFC 9457); some have more facts."""

    type: str
    title: str
    status: int
    code: str
    hint: str


def status_of(error: ForewordError) -> int:
    """The status of an error, by the nearest class that has one."""
    return next(STATUSES[kind] for kind in type(error).__mro__ if kind in STATUSES)


def problem(
    status: int,
    code: str,
    title: str,
    hint: str = "",
    *,
    headers: Mapping[str, str] | None = None,
    **facts: Any,
) -> Response:
    """A problem as a response."""
    details = ProblemDetails(
        type=f"about:blank#{code}",
        title=_short(title),
        status=status,
        code=code,
        hint=_short(hint),
    )
    body = to_json({**asdict(details), **facts}, "the problem")
    return Response(body, status, headers=headers, media_type=MEDIA)


def _short(text: str) -> str:
    """A text without secrets, and no longer than anybody reads: it may repeat what the request
    said."""
    hidden = mask(text[: 2 * LONGEST])  # first, so that none is cut in two
    return hidden if len(hidden) <= LONGEST else f"{hidden[: LONGEST - 3]}..."


def problem_of(error: ForewordError) -> Response:
    """An error as a response, with the facts that a program acts on."""
    facts = dict[str, Any]()
    for name in FACTS:
        value = getattr(error, name, None)
        if value is not None:
            facts[name] = value
    if isinstance(facts.get("problems"), tuple):
        facts["problems"] = [_short(line) for line in facts["problems"]]
    if "known" in facts:
        facts["known"] = [_short(name) for name in facts["known"][:MOST_KNOWN]]
    return problem(status_of(error), error.code, error.message, error.hint, **facts)


def refusal(refused: ProblemResponse) -> Response:
    """A refusal as a response."""
    return problem(
        refused.status,
        refused.code,
        refused.title,
        refused.hint,
        headers=refused.headers,
        **refused.facts,
    )
