"""Installs a guard in each kind of server that stands on mcp 1."""

from __future__ import annotations

from contextlib import asynccontextmanager
from importlib import metadata
from typing import TYPE_CHECKING, Any

from mcp.server.lowlevel import Server
from starlette.applications import Starlette

from ... import InvalidArgument
from .._transport.http import endpoints
from . import streams

if TYPE_CHECKING:
    from collections.abc import AsyncIterator

    from .._options import GuardConfig

_guarded = "sealwax_guard"


def install(config: GuardConfig, _sessions: Any, server: Any) -> None:
    """Install a guard where the low-level server of a server gets its streams."""
    found = getattr(server, _guarded, None)
    if found is config:
        return
    if found is not None:
        raise InvalidArgument("server: expected one without a guard: protect it once")
    if isinstance(server, Server):
        streams.protect(config, server)
        setattr(server, _guarded, config)
        return
    # A FastMCP has no public member for its low-level server; its application does.
    make = getattr(server, "http_app", None) or getattr(server, "streamable_http_app", None)
    app = server if make is None else make()
    ends = endpoints(app) if isinstance(app, Starlette) else []
    if len(ends) != 1:
        kind = f"{type(server).__module__}.{type(server).__qualname__}"
        raise TypeError(
            "server: expected a low-level Server of mcp 1, a FastMCP, or what its "
            "streamable_http_app() or http_app() gives, "
            f"found a {kind}, and mcp {metadata.version('mcp')}"
        )
    ((_, endpoint),) = ends
    if config.confirms and hasattr(server, "http_app"):
        from .._handler.fastmcp import Confirmed

        server.add_middleware(Confirmed(config))
    if endpoint.session_manager is not None:
        install(config, None, endpoint.session_manager.app)
    elif make is None:
        _once_started(config, app, endpoint)
    else:
        _late(config, server)


def _once_started(config: GuardConfig, app: Any, endpoint: Any) -> None:
    """Guard an application of FastMCP 3, which knows its server once it has started."""
    lifespan = app.router.lifespan_context

    @asynccontextmanager
    async def guarded(started: Any) -> AsyncIterator[Any]:
        async with lifespan(started) as state:
            install(config, None, endpoint.session_manager.app)
            yield state

    app.router.lifespan_context = guarded


def _late(config: GuardConfig, server: Any) -> None:
    """Guard each application of a FastMCP 3; one is started for stdio too."""
    make, run = server.http_app, server.run_stdio_async

    def http_app(*given: Any, **options: Any) -> Any:
        app = make(*given, **options)
        install(config, None, app)
        return app

    async def run_stdio_async(*given: Any, **options: Any) -> None:
        app = http_app()
        async with app.router.lifespan_context(app):
            await run(*given, **options)

    server.http_app, server.run_stdio_async = http_app, run_stdio_async
    setattr(server, _guarded, config)


def low_level(server: Any) -> Any:
    """Return the low-level server of :meth:`Guard.run_stdio`, which there is none of."""
    raise InvalidArgument(
        "run_stdio: expected mcp 2.3 or later, found "
        f"mcp {metadata.version('mcp')}: a protected server is run on stdio as without a guard"
    )
