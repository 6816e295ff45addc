"""The SDK's own server for the conformance suite, of the source package of mcp, with the guard.

    server.py SOURCE [--bare] [--stateless]    # PORT=8000 for a port of one's own

prints `listening on http://127.0.0.1:PORT/mcp` to stderr. With `--bare` the SDK seals by itself what the server asks back with; with
`--stateless` it keeps no sessions for older revisions, and the guard does. The keys are made anew at each start.
"""

import os
import socket
import sys
from typing import Any

import mcp.server.mcpserver
import sealwax
import uvicorn
from sealwax.ledger import Memory
from sealwax.mcp import Guard

SOURCE, *OPTIONS = sys.argv[1:]
BARE, STATELESS = "--bare" in OPTIONS, "--stateless" in OPTIONS
codec = sealwax.Codec(keys=sealwax.KeyRing([sealwax.Key.generate()]), audience="https://conformance.example.com")
guard = Guard(codec=codec, principal="anonymous", ledger=Memory())
made = mcp.server.mcpserver.MCPServer


def protected(*, request_state_security: object, **settings: Any) -> mcp.server.mcpserver.MCPServer:
    """Make a server that the guard protects in place of the SDK's own policy."""
    server = made(**settings)
    guard.protect(server)
    return server


if not BARE:
    mcp.server.mcpserver.MCPServer = protected
sys.path.insert(0, f"{SOURCE}/examples/servers/everything-server")

import mcp_everything_server.server as everything  # noqa: E402

listening = socket.create_server(("127.0.0.1", int(os.environ.get("PORT", "0"))))
print(f"listening on http://127.0.0.1:{listening.getsockname()[1]}/mcp", file=sys.stderr, flush=True)
if STATELESS:
    app = everything.mcp.streamable_http_app(stateless_http=True)
else:
    app = everything.mcp.streamable_http_app(event_store=everything.event_store, retry_interval=500)
app = guard.asgi(app) if STATELESS and not BARE else app
uvicorn.Server(uvicorn.Config(app, log_level="warning")).run(sockets=[listening])
