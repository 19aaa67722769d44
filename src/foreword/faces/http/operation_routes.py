"""Where each operation stands in the API: its method, its path, and the id that clients know.

What it takes, gives and does is the operation's; what HTTP adds to a few of them (tags of versions,
a key) is in a module of its own.
"""

from __future__ import annotations

from functools import partial

from foreword.faces.http import append_key, plan_versions
from foreword.faces.http.endpoint import SESSION
from foreword.faces.http.operation_endpoint import operation_endpoint
from foreword.operations import (
    checkpoints,
    contexts,
    conversations,
    nodes,
    plans,
    recipes,
    reports,
    sessions,
    variables,
)

_get = partial(operation_endpoint, method="GET")
_post = partial(operation_endpoint, method="POST")
_put = partial(operation_endpoint, method="PUT")
_delete = partial(operation_endpoint, method="DELETE")

_assembling = partial(_post, tag="contexts", problems=(404, 422), is_root_in_body=True)
CONTEXTS = (
    _assembling(contexts.ASSEMBLE_CONTEXT, path="/v1/assemble", name="assemble"),
    _assembling(contexts.WHY, path="/v1/why", name="why"),
    _get(contexts.RECALL, path="/v1/recall/{handle}", tag="contexts", name="recall"),
    _assembling(contexts.LOOKUP, path="/v1/lookup", name="lookup"),
)

SESSIONS = (
    _get(sessions.LIST_SESSIONS, path="/v1/sessions", tag="sessions", name="list_sessions"),
    _get(sessions.GET_SESSION, path=SESSION, tag="sessions", name="show_session"),
    _put(
        sessions.SET_SYSTEM_PROMPT,
        path=f"{SESSION}/system-prompt",
        tag="sessions",
        name="set_prompt",
    ),
    _get(sessions.GET_SNAPSHOT, path=f"{SESSION}/snapshot", tag="sessions", name="show_snapshot"),
    _post(
        sessions.PUT_NODE,
        path=f"{SESSION}/nodes",
        tag="sessions",
        name="put_node",
        problems=(422,),
    ),
    _delete(sessions.DROP_NODE, path=f"{SESSION}/nodes/{{node}}", tag="sessions", name="drop_node"),
)

MESSAGES = f"{SESSION}/messages"
CONTEXT = f"{SESSION}/context"
CONVERSATIONS = (
    _get(conversations.LIST_MESSAGES, path=MESSAGES, tag="conversations", name="list_messages"),
    _post(
        conversations.APPEND_MESSAGE,
        path=MESSAGES,
        tag="conversations",
        name="append",
        adapt=append_key.append,
        status=201,
        problems=(422,),
        takes=append_key.TAKES,
        elsewhere=frozenset(("key",)),
    ),
    _get(
        conversations.PREVIEW_CONTEXT,
        path=CONTEXT,
        tag="conversations",
        name="next_call",
        problems=(422,),
    ),
    _post(
        conversations.SESSION_CONTEXT,
        path=CONTEXT,
        tag="conversations",
        name="make_call",
        problems=(422,),
    ),
    _post(
        conversations.COMPRESS_SESSION,
        path=f"{SESSION}/compress",
        tag="conversations",
        name="compress",
    ),
    _post(conversations.UNDO_COMPRESSION, path=f"{SESSION}/undo", tag="conversations", name="undo"),
    _get(
        conversations.LIST_COMPRESSIONS,
        path=f"{SESSION}/compressions",
        tag="conversations",
        name="compressions",
    ),
    _get(conversations.SESSION_USAGE, path=f"{SESSION}/usage", tag="conversations", name="usage"),
)

PLAN = f"{SESSION}/plan"
_update_plan = partial(
    operation_endpoint,
    plans.UPDATE_PLAN,
    path=PLAN,
    tag="plans",
    name="update_plan",
    adapt=plan_versions.update_plan,
    problems=(409, 412, 422),
    takes=plan_versions.UPDATES,
    gives=plan_versions.GIVES,
)
PLANS = (
    _get(
        plans.GET_CURRENT_PLAN,
        path=PLAN,
        tag="plans",
        name="show_plan",
        adapt=plan_versions.show_plan,
        takes=plan_versions.READS,
        gives=plan_versions.GIVES,
    ),
    _update_plan(method="PUT"),
    _update_plan(method="POST"),
    _get(plans.LIST_PLAN_VERSIONS, path=f"{PLAN}/versions", tag="plans", name="list_versions"),
    _get(
        plans.GET_PLAN_VERSION,
        path=f"{PLAN}/versions/{{version}}",
        tag="plans",
        name="show_version",
    ),
    _get(plans.DIFF_PLAN, path=f"{PLAN}/diff", tag="plans", name="diff"),
)

ALL_VARIABLES = f"{SESSION}/variables"
VARIABLE = f"{ALL_VARIABLES}/{{name}}"
VARIABLES = (
    _get(variables.LIST_VARIABLES, path=ALL_VARIABLES, tag="variables", name="list_variables"),
    _delete(variables.CLEAR_ALL_VARIABLES, path=ALL_VARIABLES, tag="variables", name="clear_all"),
    _get(
        variables.GET_WORKFLOW_VARIABLE,
        path=VARIABLE,
        tag="variables",
        name="get_variable",
        elsewhere=frozenset(("node",)),
    ),
    _put(variables.SET_VARIABLE, path=VARIABLE, tag="variables", name="set_variable"),
    _delete(variables.CLEAR_VARIABLE, path=VARIABLE, tag="variables", name="clear_variable"),
    _get(
        variables.LIST_VARIABLE_CHANGES,
        path=f"{SESSION}/variable-changes",
        tag="variables",
        name="changes",
    ),
    _get(
        variables.GET_WORKFLOW_VARIABLE,
        path=f"{SESSION}/nodes/{{node}}/variables",
        tag="variables",
        name="of_node",
        elsewhere=frozenset(("name",)),
    ),
)

NODE_RUNS = (
    _get(nodes.LIST_NODES, path=f"{SESSION}/nodes", tag="node_runs", name="list_nodes"),
    _get(nodes.LIST_RUNS, path=f"{SESSION}/runs", tag="node_runs", name="list_runs"),
    _get(nodes.GET_RUN, path=f"{SESSION}/runs/{{run}}", tag="node_runs", name="show_run"),
)

TASK = "/v1/checkpoints/{task}"
CHECKPOINTS = (
    _get(
        checkpoints.LIST_CHECKPOINTS,
        path="/v1/checkpoints",
        tag="checkpoints",
        name="list_checkpoints",
        problems=(404,),
    ),
    _get(
        checkpoints.SHOW_CHECKPOINT,
        path=TASK,
        tag="checkpoints",
        name="show_checkpoint",
        problems=(409,),
    ),
    _get(
        checkpoints.RESUME_CHECKPOINT,
        path=f"{TASK}/resume",
        tag="checkpoints",
        name="resume",
        problems=(409,),
    ),
    _put(
        checkpoints.WRITE_CHECKPOINT,
        path=f"{TASK}/phases/{{phase}}",
        tag="checkpoints",
        name="write_checkpoint",
        problems=(422,),
    ),
)

REPORT = "/v1/reports/{number}"
REPORTS = (
    _get(
        reports.LIST_REPORTS,
        path="/v1/reports",
        tag="reports",
        name="list_reports",
        problems=(404,),
    ),
    _get(reports.GET_REPORT, path=REPORT, tag="reports", name="show_report"),
    _get(reports.DIFF_REPORTS, path=f"{REPORT}/diff", tag="reports", name="diff"),
)

RECIPE = "/v1/recipes/{name}"
RECIPES = (
    _get(
        recipes.LIST_RECIPES,
        path="/v1/recipes",
        tag="recipes",
        name="list_recipes",
        problems=(404,),
    ),
    _get(recipes.GET_RECIPE, path=RECIPE, tag="recipes", name="show_recipe"),
    _get(recipes.LINT_RECIPE, path=f"{RECIPE}/lint", tag="recipes", name="lint"),
)

ENDPOINTS = (
    *CONTEXTS,
    *SESSIONS,
    *CONVERSATIONS,
    *PLANS,
    *VARIABLES,
    *NODE_RUNS,
    *CHECKPOINTS,
    *REPORTS,
    *RECIPES,
)
