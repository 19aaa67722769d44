"""A new session: where there is one of that name already, it is not touched."""

from __future__ import annotations

from urllib.parse import quote

from pydantic import Field

from foreword.faces.http.endpoint import ApiRequest, HttpAnswer, Nothing, function_endpoint
from foreword.faces.http.request_parsing import RequestInput
from foreword.faces.serving.problem_response import ProblemResponse
from foreword.operations import conversation_operations
from foreword.operations.operation import NoInput, example
from foreword.operations.session_operations import SessionState, get_session
from foreword.session.workflow_state import LONGEST_NAME


class NewSession(RequestInput):
    """A session to begin."""

    model_config = example({"name": "kiln", "system_prompt": "You plan firings."})

    name: str = Field(
        min_length=1, max_length=LONGEST_NAME, description="The workflow that it is of."
    )
    system_prompt: str | None = Field(None, description="The system prompt to begin with.")


def create_session(request: ApiRequest[Nothing, NewSession]) -> HttpAnswer[SessionState]:
    """Begin a session; where there is one of that name, nothing is changed."""
    name = request.body.name
    with request.app_state.store() as db:
        if conversation_operations.is_begun(db, name):
            raise ProblemResponse(
                409,
                code="session_exists",
                title=f"there is a session {name!r} already",
                hint="go on with it, or choose another name",
            )
    with request.app_state.session(name, create=True) as session:
        if request.body.system_prompt is not None:
            session.system_prompt = request.body.system_prompt
        begun = get_session(session, NoInput())
    return HttpAnswer(begun, headers={"location": f"/v1/sessions/{quote(name, safe='')}"})


ENDPOINTS = (
    function_endpoint(
        create_session,
        tag="sessions",
        method="POST",
        path="/v1/sessions",
        body=NewSession,
        status=201,
        problems=(409,),
        gives={"location": "Where the session is."},
    ),
)
