"""Tell clients that a plan they watch has changed, whichever process has changed it.

For `subscriptions/listen`: what was subscribed to is watched for as long as the client stays. The
looking is done by the one loop that the server has for all who listen (`serving.change_poller`).
"""

from __future__ import annotations

import anyio
import mcp_types as types
from mcp.server.context import ServerRequestContext
from mcp.server.subscriptions import InMemorySubscriptionBus, ListenHandler, ResourceUpdated

from foreword.faces.mcp.resources import watched_workflow
from foreword.faces.mcp.server_state import ServerState


async def listen(
    server_state: ServerState,
    context: ServerRequestContext,
    params: types.SubscriptionsListenRequestParams,
) -> types.SubscriptionsListenResult:
    """Serve one stream of changes, until its client leaves or the server stops."""
    poller = server_state.app_state.poller
    bus = InMemorySubscriptionBus()
    handler = ListenHandler(bus)
    workflows = _workflows_by_uri(params)
    # before the client is told that we watch
    begin = {name: await poller.begin(name) for name in workflows.values()}

    async def watch(uri: str, workflow: str) -> None:
        async for event in poller.events(workflow, begin[workflow]):
            if event is not None and event.kind == "plan":
                await bus.publish(ResourceUpdated(uri))
        handler.close()

    async with anyio.create_task_group() as watching:
        for uri, workflow in workflows.items():
            watching.start_soon(watch, uri, workflow)
        result = await handler(context, params)
        watching.cancel_scope.cancel()
    return result


def _workflows_by_uri(params: types.SubscriptionsListenRequestParams) -> dict[str, str]:
    """The workflows whose plans are watched, by the addresses that were named."""
    workflows = dict[str, str]()
    for uri in params.notifications.resource_subscriptions or ():
        workflow = watched_workflow(uri)
        if workflow:
            workflows[uri] = workflow
    return workflows
