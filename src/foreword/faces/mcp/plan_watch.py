"""Tell clients that a plan they watch has changed, whichever process has changed it.

For `subscriptions/listen`: what was subscribed to is watched for as long as the client stays. The
looking is done by the one loop that the server has for all who listen (`faces.http.change_poller`).
"""

from __future__ import annotations

from collections.abc import Mapping

import anyio
import mcp_types as types
from mcp.server.context import ServerRequestContext
from mcp.server.subscriptions import InMemorySubscriptionBus, ListenHandler, ResourceUpdated

from foreword.faces.http.change_poller import ChangePoller
from foreword.faces.mcp.resources import watched_workflow
from foreword.faces.mcp.server_state import ServerState
from foreword.operations.changes import Vector


async def listen(
    server_state: ServerState, context: ServerRequestContext, params: types.SubscriptionsListenRequestParams
) -> types.SubscriptionsListenResult:
    """Serve one stream of changes, until its client leaves or the server stops."""
    live, bus = server_state.app_state.poller, InMemorySubscriptionBus()
    handler = ListenHandler(bus)
    wanted = {
        uri: name
        for uri in params.notifications.resource_subscriptions or ()
        if (name := watched_workflow(uri))
    }
    # before the client is told that we watch
    begin = {name: await live.begin(name) for name in wanted.values()}

    async def watch(uri: str, name: str) -> None:
        await _tell(live, name, begin[name], bus, uri)
        handler.close()

    async with anyio.create_task_group() as watching:
        for uri, name in wanted.items():
            watching.start_soon(watch, uri, name)
        result = await handler(context, params)
        watching.cancel_scope.cancel()
    return result


async def _tell(
    live: ChangePoller,
    name: str,
    begin: Mapping[str, Vector],
    bus: InMemorySubscriptionBus,
    uri: str,
) -> None:
    async for event in live.events(name, begin):
        if event is not None and event.kind == "plan":
            await bus.publish(ResourceUpdated(uri))
