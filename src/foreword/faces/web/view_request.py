"""What a view is asked, and how it is called: in a thread, errors as pages with the message they
have everywhere."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import parse_qsl

from starlette.requests import Request
from starlette.responses import RedirectResponse, Response

from foreword.errors import ForewordError, UsageError
from foreword.faces.http.problems import BEGUN, status_of
from foreword.faces.serving.app_state import AppState, Lane
from foreword.faces.serving.problem_response import ProblemResponse
from foreword.faces.web.addresses import decode_name
from foreword.faces.web.rendering import page
from foreword.operations import conversation_operations, workflow_list
from foreword.operations.conversation_operations import MAIN
from foreword.secrets.masking import mask
from foreword.session.session import Session
from foreword.session.workflow_state import WorkflowState

MOST_FIELDS = 400  # of a form: a node that reads a hundred fields has three for each


@dataclass(frozen=True)
class ViewRequest:
    """One request: the names in its path, and what its query or its form says."""

    http_request: Request
    app_state: AppState
    form: Mapping[str, str] = field(default_factory=dict)
    # of the workflow's conversations, from when its session is open
    conversations: list[str] = field(default_factory=list)

    def path_param(self, what: str) -> Any:
        """A part of the path as its route has it: a number, or a piece of text."""
        return self.http_request.path_params[what]

    def name(self, what: str) -> str:
        """A name from the path."""
        return decode_name(self.path_param(what))

    def text(self, what: str, default: str = "") -> str:
        """What the form says, or the query."""
        return self.form.get(what, self.http_request.query_params.get(what, default))

    def number(self, what: str, default: int) -> int:
        """A whole number of the form or the query; the default where it is empty."""
        text = self.text(what).strip()
        if not text:
            return default
        try:
            return int(text)
        except ValueError:
            raise UsageError(f"{what} must be a whole number, not {text[:40]!r}") from None

    @property
    def workflow(self) -> str:
        """The workflow in the path."""
        return self.name("workflow")

    @contextmanager
    def session(self) -> Iterator[Session]:
        """The session of the path, in the conversation that was asked for; looking makes none."""
        with self.app_state.store() as db:
            known = conversation_operations.names_in(db, self.workflow)
        self.conversations[:] = known
        default = MAIN if MAIN in known or not known else known[0]
        wanted = self.text("conversation") or default
        with self.app_state.session(self.workflow, wanted) as session:
            yield session

    @contextmanager
    def state(self) -> Iterator[WorkflowState]:
        """The workflow of the path: its plan and its variables."""
        with self.app_state.store() as db:
            yield workflow_list.existing_state(db, self.workflow)


View = Callable[[ViewRequest], Response]
Endpoint = Callable[[Request], Awaitable[Response]]


def read_view(view: View, lane: Lane) -> Endpoint:
    """A view that answers a question."""

    async def endpoint(http_request: Request) -> Response:
        return await _respond(
            view, ViewRequest(http_request, http_request.app.state.app_state), lane
        )

    return endpoint


def form_view(view: View, lane: Lane) -> Endpoint:
    """A view that takes a form."""

    async def endpoint(http_request: Request) -> Response:
        body = (await http_request.body()).decode("utf-8", "replace")
        form = dict(parse_qsl(body, keep_blank_values=True, max_num_fields=MOST_FIELDS))
        return await _respond(
            view, ViewRequest(http_request, http_request.app.state.app_state, form), lane
        )

    return endpoint


async def _respond(view: View, request: ViewRequest, lane: Lane) -> Response:
    def answer() -> Response:
        request.http_request.scope[BEGUN] = True
        return view(request)

    try:
        return await request.app_state.call(answer, lane=lane)
    except ForewordError as error:
        return error_page(error)
    except ProblemResponse as error:
        return refused_page(error)


def error_page(error: ForewordError) -> Response:
    """An error as a page."""
    return problem(status_of(error), error.message, hint=error.hint)


def refused_page(refused: ProblemResponse) -> Response:
    """A request that was not let through, as a page."""
    response = problem(refused.status, refused.title, hint=refused.hint)
    response.headers.update(refused.headers)
    return response


async def not_found_page(http_request: Request) -> Response:
    """The page for an address where there is none."""
    message = f"there is no page at {http_request.url.path}"
    return problem(404, message, hint="the sessions are the way in")


def problem(status: int, message: str, hint: str = "") -> Response:
    """What went wrong, and what to do next."""
    return page(
        "problem.html",
        status,
        title="Not found" if status == 404 else "That did not work",
        message=mask(message),
        hint=mask(hint),
        code=status,
    )


def go_to(address: str) -> Response:
    """Look there for what has become of it."""
    return RedirectResponse(address, 303)
