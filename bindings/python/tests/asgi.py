"""Applications on HTTP, each at a port of its own."""

from __future__ import annotations

import socket
import threading
import time
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

import uvicorn
from starlette.responses import Response

if TYPE_CHECKING:
    from collections.abc import Iterator


@contextmanager
def listening(served: Any) -> Iterator[str]:
    """Serve an ASGI application, or an MCPServer without users, on loopback; give its address."""
    if hasattr(served, "streamable_http_app"):
        served = served.streamable_http_app(stateless_http=True)
    bound = socket.create_server(("127.0.0.1", 0))
    server = uvicorn.Server(uvicorn.Config(served, log_level="warning"))
    thread = threading.Thread(target=server.run, kwargs={"sockets": [bound]}, daemon=True)
    thread.start()
    while not server.started:
        assert thread.is_alive()
        time.sleep(0.01)
    try:
        yield f"http://127.0.0.1:{bound.getsockname()[1]}/mcp"
    finally:
        server.should_exit = True
        thread.join(10)
        bound.close()


def posts(app: Any) -> Any:
    """Return a server without a stream of its own: what it asks is on that of the call."""

    async def served(scope: Any, receive: Any, send: Any) -> None:
        answers = Response(status_code=405) if scope.get("method") == "GET" else app
        await answers(scope, receive, send)

    return served
