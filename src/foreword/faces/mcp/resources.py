"""Resources: recipes as they are written, plans and reports as JSON, each under an address of its
own.

    foreword://workflows          every workflow: its size, its plan, when it was last changed
    foreword://recipe/NAME
    foreword://plan/WORKFLOW      the newest version
    foreword://plan/WORKFLOW/3    that version
    foreword://report/12

Names in an address are escaped as in any URL.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from itertools import islice
from typing import Any
from urllib.parse import quote, unquote

from foreword.errors import UnknownName, UsageError
from foreword.faces.mcp.server_state import ServerState
from foreword.operations import report_operations, workflow_list
from foreword.operations.fitted_values import encodable
from foreword.operations.workflow_list import WorkflowEntry
from foreword.recipe import load as recipes

SCHEME = "foreword://"
PAGE = 100  # resources in one answer; a client asks for the next
WORKFLOWS = f"{SCHEME}workflows"
PLAN = f"{SCHEME}plan/"
MOST_REPORTS = 20  # the newest: any other can be read by its number
JSON, YAML = "application/json", "application/yaml"


@dataclass(frozen=True, slots=True, kw_only=True)
class Resource:
    """One resource, or a template of many."""

    uri: str
    name: str
    about: str
    mime: str


@dataclass(frozen=True, slots=True)
class Content:
    """What a resource holds."""

    text: str
    mime: str


TEMPLATES = (
    Resource(
        uri=f"{SCHEME}recipe/{{name}}",
        name="recipe",
        about="A recipe and those it extends.",
        mime=YAML,
    ),
    Resource(
        uri=f"{SCHEME}plan/{{workflow}}",
        name="plan",
        about="A workflow's newest plan.",
        mime=JSON,
    ),
    Resource(
        uri=f"{SCHEME}plan/{{workflow}}/{{version}}",
        name="plan version",
        about="One version of a workflow's plan.",
        mime=JSON,
    ),
    Resource(
        uri=f"{SCHEME}report/{{number}}",
        name="report",
        about="The bill of a context: every token, every omission.",
        mime=JSON,
    ),
)


def page(server_state: ServerState, cursor: str | None) -> tuple[list[Resource], str | None]:
    """So many resources from a cursor on, and the cursor of the next page."""
    start = _number(cursor, "cursor") if cursor else 0
    found = list(islice(_everything(server_state), start, start + PAGE + 1))
    return found[:PAGE], str(start + PAGE) if len(found) > PAGE else None


def _everything(server_state: ServerState) -> Iterator[Resource]:
    for name in recipes.names(server_state.root):
        yield Resource(
            uri=f"{SCHEME}recipe/{quote(name, safe='')}",
            name=f"recipe {name}",
            about=f"The recipe {name}.",
            mime=YAML,
        )
    yield Resource(
        uri=WORKFLOWS,
        name="workflows",
        about="Every workflow: its size, its plan, when it was last changed.",
        mime=JSON,
    )
    with server_state.store_if_any() as db:
        names = workflow_list.names_with_plans(db) if db else []
        newest = report_operations.newest_reports(db, MOST_REPORTS) if db else []
    for name in names:
        yield Resource(
            uri=f"{SCHEME}plan/{quote(name, safe='')}",
            name=f"plan of {name}",
            about=f"The plan of workflow {name}.",
            mime=JSON,
        )
    for stored in newest:
        recipe, tokens = stored.report["recipe"], stored.report["total_tokens"]
        yield Resource(
            uri=f"{SCHEME}report/{stored.number}",
            name=f"report {stored.number}",
            about=f"{recipe}, {tokens:,} tokens, {stored.created[:19]}",
            mime=JSON,
        )


def read(server_state: ServerState, uri: str) -> Content:
    """The resource at an address."""
    kind, *rest = uri.removeprefix(SCHEME).split("/")
    reader = _READERS.get((kind, len(rest)))
    if not uri.startswith(SCHEME) or reader is None:
        raise UnknownName("resource", uri[:200], [template.uri for template in TEMPLATES])
    return reader(server_state, *map(unquote, rest))


def watched_workflow(uri: str) -> str:
    """The workflow whose newest plan is at that address; nothing where it is another kind of
    address."""
    if not uri.startswith(PLAN):
        return ""
    name = uri.removeprefix(PLAN)
    return "" if "/" in name else unquote(name)


def _recipe(server_state: ServerState, name: str) -> Content:
    known = recipes.names(server_state.root)
    if name not in known:  # a path would be read as well, wherever it leads
        raise UnknownName("recipe", name[:200], known)
    layers = recipes.checked_layers(name, server_state.root)
    return Content("".join(layer.text for layer in layers), YAML)


def _plan(server_state: ServerState, workflow: str, version: str = "") -> Content:
    with server_state.state(workflow) as state:
        plan = (
            state.plan_version(_number(version, "version")).data
            if version
            else state.get_current_plan()
        )
    return _json(plan)


def _workflows(server_state: ServerState) -> Content:
    with server_state.store_if_any() as db:
        entries = workflow_list.sessions_by_age(db) if db else []
    return _json([_workflow_line(entry) for entry in entries])


def _workflow_line(entry: WorkflowEntry) -> dict[str, Any]:
    return {
        "name": entry.name,
        "changed": entry.changed,
        "messages": entry.messages,
        "now_tokens": entry.now_tokens,
        "plan_version": entry.plan_version,
        "variables": entry.variables,
    }


def _report(server_state: ServerState, number: str) -> Content:
    with server_state.store_if_any() as db:
        if db is None:
            raise UnknownName("report", number[:20], ())
        stored = report_operations.existing_report(
            db, _number(number, "report"), suggestions=MOST_REPORTS
        )
    return _json({"number": stored.number, "created": stored.created, **stored.report})


_READERS: dict[tuple[str, int], Callable[..., Content]] = {
    ("workflows", 0): _workflows,
    ("recipe", 1): _recipe,
    ("plan", 1): _plan,
    ("plan", 2): _plan,
    ("report", 1): _report,
}


def _json(value: Any) -> Content:
    return Content(json.dumps(encodable(value), ensure_ascii=False, indent=1), JSON)


def _number(text: str, what: str) -> int:
    if not text.isdecimal() or len(text) > 18:
        raise UsageError(f"a {what} must be a number, not {text[:40]!r}")
    return int(text)
