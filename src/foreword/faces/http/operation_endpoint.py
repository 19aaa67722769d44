"""An operation at an address of the API: what stands in the path, in the query and in the body.

A name in the path is a field of what the operation takes. The other fields are in the body where
something is changed, in the query where not; there, too, stands what is addressed: which
conversation, which project. What an operation answers is what goes out.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cache
from typing import Any

from pydantic import Field, create_model
from starlette.datastructures import Headers

from foreword.faces.http.endpoint import ApiRequest, Endpoint
from foreword.faces.http.request_parsing import RequestInput, path_value
from foreword.faces.serving.app_state import AppState
from foreword.operations.conversation_operations import MAIN
from foreword.operations.operation import (
    LONGEST_NAME,
    AnyOperation,
    OperationInput,
    Project,
    example,
    input_example,
)
from foreword.pattern import lazy_pattern
from foreword.session.workflow_state import LONGEST_NAME as LONGEST_WORKFLOW

WITH_BODY = ("PUT", "POST")
_NAME = lazy_pattern(r"\{(\w+)\}")


class Address(RequestInput):
    """What an operation works on, as far as the path does not say it."""


class ConversationAddress(Address):
    """Which conversation of the workflow."""

    conversation: str = Field(
        MAIN, min_length=1, max_length=LONGEST_WORKFLOW, description="The conversation's name."
    )


class ProjectAddress(Address):
    """Which project."""

    root: str | None = Field(
        None,
        max_length=LONGEST_NAME,
        description="One of the projects that the server was given.",
    )


ADDRESSES: dict[str, type[Address]] = {
    "store": Address,
    "project": ProjectAddress,
    "workflow": Address,
    "conversation": ConversationAddress,
}


@dataclass(frozen=True, slots=True, kw_only=True)
class OperationRequest:
    """A request for an operation."""

    operation: AnyOperation
    app_state: AppState
    address: Mapping[str, Any]  # workflow, conversation, root: those that there are
    given: Mapping[str, Any]
    headers: Headers

    def perform(self, **more: Any) -> dict[str, Any]:
        """The answer of the operation; `more` is what headers say."""
        opening = open_target(self.app_state, self.operation, self.address)
        return self.operation.perform(opening, {**self.given, **more})


Adapt = Callable[[OperationRequest], Any]


@contextmanager
def open_target(
    app_state: AppState, operation: AnyOperation, address: Mapping[str, Any]
) -> Iterator[Any]:
    """What an operation works on, open."""
    if operation.scope == "store":
        with app_state.store() as db:
            yield db
    elif operation.scope == "project":
        with app_state.store() as db:
            yield Project(app_state.root(address["root"]), db)
    elif operation.scope == "workflow" and operation.access == "reads":
        with app_state.state(address["workflow"]) as state:
            yield state
    else:
        conversation = address.get("conversation", MAIN)
        with app_state.session(
            address["workflow"], conversation, create=operation.makes_workflow
        ) as session:
            yield session


def operation_endpoint(
    method: str,
    path: str,
    operation: AnyOperation,
    *,
    id: str,  # noqa: A002 - the word of OpenAPI
    adapt: Adapt = OperationRequest.perform,
    status: int = 200,
    problems: tuple[int, ...] = (),
    takes: Mapping[str, str] | None = None,
    elsewhere: tuple[str, ...] = (),
    is_root_in_body: bool = False,
) -> Endpoint:
    """An operation at an address; `adapt` does what only HTTP knows, such as its headers.

    By its `id`, a group and a name in it, generated clients know it. Fields that stand
    `elsewhere`, in a header or nowhere, are not to be sent.
    """
    taken: type[OperationInput] = operation.takes
    tag, _, name = id.partition(".")
    not_sent = {*_NAME.findall(path), *elsewhere}
    fields = tuple(field for field in taken.model_fields if field not in not_sent)
    query = ADDRESSES[operation.scope]
    body: type[RequestInput] | None = None
    if method not in WITH_BODY:
        query = _part(taken, fields, query)
    elif fields and is_root_in_body:
        body = _part(taken, fields, query)
        query = Address
    elif fields:
        body = _part(taken, fields, Address)

    def run(request: ApiRequest[Any, Any]) -> Any:
        return adapt(_operation_request(operation, request))

    return Endpoint(
        method=method,
        path=path,
        tag=tag,
        name=name,
        about=operation.about,
        run=run,
        answer=operation.gives,
        query=query,
        body=body,
        status=status,
        problems=problems,
        takes=takes or {},
        lane=operation.lane,
        operation=operation,
    )


@cache
def _part(
    taken: type[OperationInput], fields: tuple[str, ...], address: type[Address]
) -> type[Address]:
    """The fields of an input that stand in one place, with those of an address."""
    chosen: dict[str, Any] = {}
    for name in fields:
        info = taken.model_fields[name]
        chosen[name] = (info.annotation, info)
    shown = input_example(taken)
    bases: tuple[type[Address], ...] = (address,)
    if shown is not None:
        kept = {name: value for name, value in shown.items() if name in fields}
        with_example = type(address.__name__, (address,), {"model_config": example(kept)})
        bases = (with_example,)
    return create_model(taken.__name__, __base__=bases, __doc__=taken.__doc__, **chosen)


def _operation_request(operation: AnyOperation, request: ApiRequest[Any, Any]) -> OperationRequest:
    """What the path, the query and the body say, put together again."""
    address = dict[str, Any]()
    given = dict[str, Any]()
    for name, text in request.path.items():
        if name in operation.takes.model_fields:
            given[name] = path_value(name, text, operation.takes)
        else:
            address[name] = text
    for part in (request.query, request.body):
        if part is None:
            continue
        for name in type(part).model_fields:
            if name in operation.takes.model_fields and name in part.model_fields_set:
                given[name] = getattr(part, name)
            elif name not in operation.takes.model_fields:
                address[name] = getattr(part, name)
    return OperationRequest(
        operation=operation,
        app_state=request.app_state,
        address=address,
        given=given,
        headers=request.headers,
    )
