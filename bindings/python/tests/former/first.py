"""A low-level server of mcp 1, for the scenario server: its handlers are one function."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from mcp import types
from mcp.server.lowlevel import Server
from mcp.server.streamable_http_manager import StreamableHTTPSessionManager

if TYPE_CHECKING:
    from contextlib import AsyncExitStack

    from sealwax.mcp import Guard

REQUESTS = (
    types.CallToolRequest,
    types.GetPromptRequest,
    types.ReadResourceRequest,
    types.ListToolsRequest,
    types.ListPromptsRequest,
    types.ListResourcesRequest,
    types.ListResourceTemplatesRequest,
)
STREAMS = ()
READY: dict[str, Any] = {"systems": ["mcp 1"], "legacy": {"mcp 1": types.LATEST_PROTOCOL_VERSION}}


class Served:
    """A protected server."""

    def __init__(self, guard: Guard, _system: str, transport: dict[str, Any], handle: Any) -> None:
        self._guard, self._transport = guard, transport
        self._low: Any = Server("play")

        async def handled(request: Any) -> Any:
            params = {} if request.params is None else request.params.model_dump(by_alias=True)
            result = await handle(self._low.request_context, request.method, params, {})
            # It takes any members.
            return types.ServerResult(types.EmptyResult.model_validate(result))

        for request in REQUESTS:
            self._low.request_handlers[request] = handled
        guard.protect(self._low)

    async def open(self, stack: AsyncExitStack) -> dict[str, Any]:
        """Return the applications of HTTP, started, by their paths."""
        apps = {}
        for path in ("/plain", "/wrapped"):
            manager = StreamableHTTPSessionManager(self._low, stateless=True)
            await stack.enter_async_context(manager.run())
            app: Any = manager.handle_request
            apps[path] = app if path == "/plain" else self._guard.asgi(app, **self._transport)
        return apps
