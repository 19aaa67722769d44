"""Variables as a model sees them, secrets hidden, and the trail of their changes."""

from __future__ import annotations

from starlette.responses import Response

from foreword.errors import UsageError
from foreword.faces.web import addresses, header
from foreword.faces.web.rendering import page
from foreword.faces.web.view_request import ViewRequest, go_to
from foreword.plan.variable_text import display
from foreword.secrets.masking import HIDDEN, mask

TRAIL = 200  # changes on the page, the newest: it is read as a whole
NO_REASON = "a change needs a reason: it is what the trail of changes is read by"


def show(request: ViewRequest) -> Response:
    """Every variable, and why it is what it is."""
    with request.state() as state:
        rows = list[tuple[str, str, bool]]()
        for name, value in state.get_workflow_variables().items():
            text = display(name, value)
            rows.append((mask(name), text, text == HIDDEN))
        return page(
            "variables.html",
            **header.of(state, "variables"),
            title=f"Variables · {state.workflow.name}",
            rows=rows,
            changes=state.variable_changes(TRAIL),
            most=TRAIL,
        )


def set_variable(request: ViewRequest) -> Response:
    """Set a variable, as text: a password of digits stays what it is."""
    reason = request.text("reason").strip()
    if not reason:
        raise UsageError(NO_REASON)
    with request.state() as state:
        state.set_variable(request.text("name").strip(), request.text("value"), reason)
    return go_to(addresses.session(request.workflow, "variables"))
