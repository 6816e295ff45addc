"""Installs a guard in a server of mcp 1, or in the application of a FastMCP that stands on it."""

from __future__ import annotations

from importlib import metadata
from typing import TYPE_CHECKING, Any

from mcp.server.lowlevel import Server
from starlette.applications import Starlette

from ... import InvalidArgument
from .._transport.http import endpoints
from . import streams

if TYPE_CHECKING:
    from starlette.types import Receive, Scope, Send

    from .._caller import GuardConfig
    from .._engines import EngineFactory

_guarded = "sealwax_guard"


def install(config: GuardConfig, engines: EngineFactory, _sessions: Any, server: Any) -> None:
    """Install a guard where a server, or an application's, gets its streams."""
    if isinstance(server, Server):
        if hasattr(server, _guarded):
            raise InvalidArgument("server: expected one without a guard: protect it once")
        streams.protect(config, engines, server)
        setattr(server, _guarded, config)
        return
    found = endpoints(server) if isinstance(server, Starlette) else []
    if len(found) != 1:
        kind = f"{type(server).__module__}.{type(server).__qualname__}"
        raise TypeError(
            "server: expected a low-level Server of mcp 1, or what streamable_http_app() or "
            f"http_app() of a FastMCP gives, found a {kind}, and mcp {metadata.version('mcp')}"
        )
    holder, endpoint = found[0]
    if isinstance(endpoint, Guarded):
        raise InvalidArgument("server: expected one without a guard: protect it once")
    holder.app = Guarded(endpoint, config, engines)


class Guarded:
    """An endpoint whose server is known once it is started."""

    def __init__(self, endpoint: Any, config: GuardConfig, engines: EngineFactory) -> None:
        self._endpoint, self._config, self._engines = endpoint, config, engines

    @property
    def session_manager(self) -> Any:
        """The SDK's own."""
        return self._endpoint.session_manager

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Serve one request."""
        # Before its lifespan there is none; the endpoint says so.
        server = getattr(self.session_manager, "app", None)
        if server is not None and getattr(server, _guarded, None) is not self._config:
            install(self._config, self._engines, None, server)
        await self._endpoint(scope, receive, send)


def low_level(server: Any) -> Any:
    """Return the low-level server of :meth:`Guard.run_stdio`, which there is none of."""
    raise InvalidArgument(
        "run_stdio: expected mcp 2.3 or later, found "
        f"mcp {metadata.version('mcp')}: run the server on stdio_server() of the SDK"
    )
