"""Where each operation stands in the API: its method, its path, and the id that clients know.

What it takes, gives and does is the operation's; the header that appending messages takes is in
`operation_headers`.
"""

from __future__ import annotations

from functools import partial

from foreword.faces.http import operation_headers
from foreword.faces.http.endpoint import SESSION
from foreword.faces.http.operation_endpoint import operation_endpoint
from foreword.operations import (
    checkpoint_operations,
    context_operations,
    conversation_operations,
    node_operations,
    plan_operations,
    recipe_operations,
    report_operations,
    session_operations,
    variable_operations,
)

_get = partial(operation_endpoint, "GET")
_put = partial(operation_endpoint, "PUT")
_post = partial(operation_endpoint, "POST")
_delete = partial(operation_endpoint, "DELETE")
# those that assemble name the project in the body, beside what they ask for
_assemble = partial(_post, problems=(404, 422), is_root_in_body=True)
PLAN = f"{SESSION}/plan"
NODES = f"{SESSION}/nodes"
RUNS = f"{SESSION}/runs"
CHANGES = f"{SESSION}/variable-changes"
VARIABLES = f"{SESSION}/variables"
VARIABLE = f"{VARIABLES}/{{name}}"
TASK = "/v1/checkpoints/{task}"
REPORT = "/v1/reports/{number}"
RECIPE = "/v1/recipes/{name}"

ENDPOINTS = (
    _assemble("/v1/assemble", context_operations.ASSEMBLE_CONTEXT, id="contexts.assemble"),
    _assemble("/v1/why", context_operations.WHY, id="contexts.why"),
    _get("/v1/recall/{handle}", context_operations.RECALL, id="contexts.recall"),
    _assemble("/v1/lookup", context_operations.LOOKUP, id="contexts.lookup"),
    _assemble("/v1/fit", context_operations.FIT, id="contexts.fit"),
    _get("/v1/sessions", session_operations.LIST_SESSIONS, id="sessions.list_sessions"),
    _get(SESSION, session_operations.GET_SESSION, id="sessions.show_session"),
    _put(
        f"{SESSION}/system-prompt", session_operations.SET_SYSTEM_PROMPT, id="sessions.set_prompt"
    ),
    _get(f"{SESSION}/snapshot", session_operations.GET_SNAPSHOT, id="sessions.show_snapshot"),
    _post(NODES, session_operations.PUT_NODE, id="sessions.put_node", problems=(422,)),
    _delete(f"{NODES}/{{node}}", session_operations.DROP_NODE, id="sessions.drop_node"),
    _get(
        f"{SESSION}/messages",
        conversation_operations.LIST_MESSAGES,
        id="conversations.list_messages",
    ),
    _post(
        f"{SESSION}/messages",
        conversation_operations.APPEND_MESSAGE,
        id="conversations.append",
        adapt=operation_headers.append_messages,
        status=201,
        problems=(422,),
        takes=operation_headers.APPEND_TAKES,
        elsewhere=("key",),
    ),
    _put(
        f"{SESSION}/messages",
        conversation_operations.SYNC_MESSAGES,
        id="conversations.sync",
        problems=(422,),
    ),
    _get(
        f"{SESSION}/context",
        conversation_operations.PREVIEW_CONTEXT,
        id="conversations.next_call",
        problems=(422,),
    ),
    _post(
        f"{SESSION}/context",
        conversation_operations.SESSION_CONTEXT,
        id="conversations.make_call",
        problems=(422,),
    ),
    _get(
        f"{SESSION}/recall",
        conversation_operations.RECALL_MESSAGES,
        id="conversations.recall",
        problems=(422,),
    ),
    _post(
        f"{SESSION}/compress", conversation_operations.COMPRESS_SESSION, id="conversations.compress"
    ),
    _post(f"{SESSION}/undo", conversation_operations.UNDO_COMPRESSION, id="conversations.undo"),
    _get(
        f"{SESSION}/compressions",
        conversation_operations.LIST_COMPRESSIONS,
        id="conversations.compressions",
    ),
    _get(f"{SESSION}/usage", conversation_operations.SESSION_USAGE, id="conversations.usage"),
    _get(PLAN, plan_operations.GET_CURRENT_PLAN, id="plans.show_plan"),
    _put(PLAN, plan_operations.UPDATE_PLAN, id="plans.update_plan", problems=(409, 422)),
    _post(PLAN, plan_operations.UPDATE_PLAN, id="plans.update_plan", problems=(409, 422)),
    _get(f"{PLAN}/versions", plan_operations.LIST_PLAN_VERSIONS, id="plans.list_versions"),
    _get(f"{PLAN}/versions/{{version}}", plan_operations.GET_PLAN_VERSION, id="plans.show_version"),
    _get(f"{PLAN}/diff", plan_operations.DIFF_PLAN, id="plans.diff"),
    _get(VARIABLES, variable_operations.LIST_VARIABLES, id="variables.list_variables"),
    _delete(VARIABLES, variable_operations.CLEAR_ALL_VARIABLES, id="variables.clear_all"),
    _get(
        VARIABLE,
        variable_operations.GET_WORKFLOW_VARIABLE,
        id="variables.get_variable",
        elsewhere=("node",),
    ),
    _put(VARIABLE, variable_operations.SET_VARIABLE, id="variables.set_variable"),
    _delete(VARIABLE, variable_operations.CLEAR_VARIABLE, id="variables.clear_variable"),
    _get(CHANGES, variable_operations.LIST_VARIABLE_CHANGES, id="variables.changes"),
    _get(
        f"{NODES}/{{node}}/variables",
        variable_operations.GET_WORKFLOW_VARIABLE,
        id="variables.of_node",
        elsewhere=("name",),
    ),
    _get(NODES, node_operations.LIST_NODES, id="node_runs.list_nodes"),
    _get(RUNS, node_operations.LIST_RUNS, id="node_runs.list_runs"),
    _get(f"{RUNS}/{{run}}", node_operations.GET_RUN, id="node_runs.show_run"),
    _get(
        "/v1/checkpoints",
        checkpoint_operations.LIST_CHECKPOINTS,
        id="checkpoints.list_checkpoints",
        problems=(404,),
    ),
    _get(
        TASK,
        checkpoint_operations.SHOW_CHECKPOINT,
        id="checkpoints.show_checkpoint",
        problems=(409,),
    ),
    _get(
        f"{TASK}/resume",
        checkpoint_operations.RESUME_CHECKPOINT,
        id="checkpoints.resume",
        problems=(409,),
    ),
    _put(
        f"{TASK}/phases/{{phase}}",
        checkpoint_operations.WRITE_CHECKPOINT,
        id="checkpoints.write_checkpoint",
        problems=(422,),
    ),
    _get("/v1/reports", report_operations.LIST_REPORTS, id="reports.list_reports", problems=(404,)),
    _get(REPORT, report_operations.GET_REPORT, id="reports.show_report"),
    _get(f"{REPORT}/diff", report_operations.DIFF_REPORTS, id="reports.diff"),
    _get("/v1/recipes", recipe_operations.LIST_RECIPES, id="recipes.list_recipes", problems=(404,)),
    _get(RECIPE, recipe_operations.GET_RECIPE, id="recipes.show_recipe"),
    _get(f"{RECIPE}/lint", recipe_operations.LINT_RECIPE, id="recipes.lint"),
)
