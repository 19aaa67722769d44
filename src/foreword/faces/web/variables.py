"""Variables as a model sees them, secrets hidden, and the trail of their changes."""

from __future__ import annotations

from starlette.responses import Response

from foreword.faces.web import header
from foreword.faces.web.asking import Asked
from foreword.faces.web.rendering import page
from foreword.workflow.secrets import HIDDEN, mask
from foreword.workflow.variables import display

TRAIL = 200


def show(asked: Asked) -> Response:
    """Every variable, and why it is what it is."""
    with asked.state() as state:
        rows = [(mask(name), told, told == HIDDEN) for name, value in state.variables.items()
                for told in [display(name, value)]]  # fmt: skip
        return page("variables.html", **header.of(state, "variables"), title=f"Variables · {state.workflow.name}",
                    rows=rows, changes=state.variable_changes(TRAIL), most=TRAIL)  # fmt: skip
