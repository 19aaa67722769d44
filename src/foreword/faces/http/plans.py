"""Plans: the newest with its version as ETag, every version, what changed, and updates that
expect a version."""

from __future__ import annotations

from typing import Annotated, Any

from pydantic import BaseModel, Field, WithJsonSchema

from foreword.errors import PlanConflict
from foreword.faces.http.contexts import Fit
from foreword.faces.http.endpoint import ApiRequest, Endpoint, HttpAnswer, Nothing, Page
from foreword.faces.http.problems import ProblemResponse, problem_of
from foreword.faces.http.request_parsing import RequestInput, example
from foreword.faces.http.sessions import ONE
from foreword.operations import operations, plans
from foreword.pattern import lazy_pattern
from foreword.plan.plan import STATUSES
from foreword.store.database import LARGEST_NUMBER

_TAG = lazy_pattern(r'(?:W/)?"([0-9]{1,18})"')
_TEXT = {"type": "string", "pattern": r"\S"}
_ID = {"anyOf": [_TEXT, {"type": "integer", "minimum": -(2**62), "maximum": 2**62}]}
_STATUS = {"enum": list(STATUSES)}
_TASK = {
    "type": "object",
    "required": ["task_id", "description", "status"],
    "properties": {"task_id": _ID, "description": _TEXT, "status": _STATUS},
}
_PHASE = {
    "type": "object",
    "required": ["phase_name", "status", "tasks"],
    "properties": {
        "phase_name": _TEXT,
        "status": _STATUS,
        "tasks": {"type": "array", "items": _TASK},
    },
}
SHAPE = {
    "type": "object",
    "description": "A plan; fields that are not named here are kept.",
    "required": ["overall_goal", "phases"],
    "properties": {"overall_goal": _TEXT, "phases": {"type": "array", "items": _PHASE}},
}
FIRST = {
    "plan": {
        "overall_goal": "Fire the kiln",
        "phases": [
            {
                "phase_name": "Glaze",
                "status": "pending",
                "tasks": [{"task_id": 1, "description": "Mix the glaze", "status": "pending"}],
            }
        ],
    },
    "reason": "the first plan",
}
PlanData = Annotated[dict[str, Any], WithJsonSchema(SHAPE)]


class Update(RequestInput):
    """A new version of the plan."""

    model_config = example(FIRST)

    plan: PlanData
    reason: str = Field(
        max_length=10_000, description="Why it is changed; secrets in it are hidden."
    )
    expected_version: int | None = Field(
        None, ge=0, le=LARGEST_NUMBER, description="The same as `If-Match`."
    )


class Difference(RequestInput):
    """Two versions."""

    old: int = Field(ge=1, le=LARGEST_NUMBER)
    new: int = Field(ge=1, le=LARGEST_NUMBER)


class CurrentPlan(BaseModel):
    """The plan as it is now."""

    version: int = Field(description="0 where there is none yet.")
    plan: dict[str, Any] | None = None
    text: str | None = Field(
        None, description="In place of a plan that is over the budget: what fits of it."
    )
    handle: str | None = Field(None, description="Of the whole plan, where that was too large.")
    whole_tokens: int | None = None
    warnings: list[str] | None = None


class PlanUpdateAnswer(BaseModel):
    """A version that was made."""

    version: int
    warnings: list[str]


class PlanLine(BaseModel):
    """One version in the list."""

    version: int
    reason: str
    created: str


class PlanVersion(PlanLine):
    """One version."""

    plan: dict[str, Any]


class PlanVersions(BaseModel):
    """A page of versions, the newest first."""

    items: list[PlanLine]
    next: int | None = Field(description="The cursor of the next page.")


class Lines(BaseModel):
    """What changed, a line for each; secrets are hidden."""

    lines: list[str]


def show_plan(request: ApiRequest[Fit, None]) -> HttpAnswer:
    """Show the plan as it is now."""
    with request.app_state.state(request.path["workflow"]) as state:
        answer = operations.get_current_plan(state, request.query.budget)
    etag = f'"{answer["version"]}"'
    tags = request.headers.get("if-none-match", "").split(",")
    known = [tag.strip().removeprefix("W/") for tag in tags]
    status = 304 if etag in known else 200
    return HttpAnswer(answer, status, headers={"etag": etag, "cache-control": "no-cache"})


def update_plan(request: ApiRequest[Nothing, Update]) -> Any:
    """Replace the plan by a new version, if it is still at the expected one; earlier versions
    are kept in any case."""
    body = request.body
    expected = body.expected_version
    header = request.headers.get("if-match")
    if header is not None:
        expected = _version_in(header)
        if body.expected_version not in (None, expected):
            title = "If-Match and expected_version name different versions"
            raise ProblemResponse(400, "bad_request", title, hint="give one of them")
    try:
        with request.app_state.session(request.path["workflow"], create=True) as session:
            made = operations.update_plan(
                session, body.plan, reason=body.reason, expected_version=expected
            )
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
        raise ProblemResponse(400, "bad_request", title, hint)
    return int(found[1])


def list_versions(request: ApiRequest[Page, None]) -> dict[str, Any]:
    """List the versions of the plan, the newest first."""
    query = request.query
    with request.app_state.state(request.path["workflow"]) as state:
        versions = plans.versions_before(state, query.before, query.limit)
    lines = [
        {"version": plan.version, "reason": plan.reason, "created": plan.created}
        for plan in versions
    ]
    is_last = not versions or versions[-1].version == 1
    return {"items": lines, "next": None if is_last else versions[-1].version}


def show_version(request: ApiRequest[Nothing, None]) -> dict[str, Any]:
    """Show one version of the plan."""
    with request.app_state.state(request.path["workflow"]) as state:
        found = state.plan_version(request.number("version"))
    return {
        "version": found.version,
        "reason": found.reason,
        "created": found.created,
        "plan": found.data,
    }


def diff(request: ApiRequest[Difference, None]) -> dict[str, Any]:
    """Say what changed from one version of the plan to another."""
    with request.app_state.state(request.path["workflow"]) as state:
        return {"lines": state.plan_diff(request.query.old, request.query.new)}


_GIVES = {"etag": "The version, in quotes."}
_TAKES = {
    "if-match": 'The version it is put on top of, in quotes, as in `"12"`; `*`, or none, is any.'
}
_PROBLEMS = (409, 412, 422)
ENDPOINTS = (
    Endpoint(
        method="GET",
        path=f"{ONE}/plan",
        run=show_plan,
        answer=CurrentPlan,
        query=Fit,
        gives=_GIVES,
        takes={
            "if-none-match": "The version that is known already; 304 where it is still the newest."
        },
    ),
    Endpoint(
        method="PUT",
        path=f"{ONE}/plan",
        run=update_plan,
        answer=PlanUpdateAnswer,
        body=Update,
        problems=_PROBLEMS,
        takes=_TAKES,
        gives=_GIVES,
    ),
    Endpoint(
        method="POST",
        path=f"{ONE}/plan",
        run=update_plan,
        answer=PlanUpdateAnswer,
        body=Update,
        problems=_PROBLEMS,
        takes=_TAKES,
        gives=_GIVES,
    ),
    Endpoint(
        method="GET",
        path=f"{ONE}/plan/versions",
        run=list_versions,
        answer=PlanVersions,
        query=Page,
    ),
    Endpoint(
        method="GET", path=f"{ONE}/plan/versions/{{version}}", run=show_version, answer=PlanVersion
    ),
    Endpoint(method="GET", path=f"{ONE}/plan/diff", run=diff, answer=Lines, query=Difference),
)
