"""A small MCP server with sessions: a counter, and a text that is written in a transaction.

    export SEALWAX_KEYS="$(python -m sealwax keygen)"
    python examples/sessions.py                    # on stdio
    PORT=8000 python examples/sessions.py          # on HTTP

The server stores nothing: the client keeps each session, sealed, and sends it with its requests. With
SEALWAX_LEDGER, the URL of a Redis or Valkey that all replicas share, sessions can be deleted, and of
two concurrent calls one is told that its state is stale.
With NOTES_JWT_SECRET, HTTP asks for a bearer token: a JWT, signed with HS256, of iss, sub, client_id, and aud: AUDIENCE.
"""

import os
import socket
import sys

import jwt
import redis.asyncio
import sealwax
import uvicorn
from mcp.server import MCPServer
from mcp.server.auth.provider import AccessToken
from mcp.server.auth.settings import AuthSettings
from mcp.server.mcpserver import Context
from mcp_types import CallToolResult, TextContent
from sealwax.ledger import Redis
from sealwax.mcp import Guard, Session, principal_from_access_token

AUDIENCE = "https://counter.example.com"
SECRET = os.environ.get("NOTES_JWT_SECRET")
LEDGER = os.environ.get("SEALWAX_LEDGER")
TOOLS = ["count", "begin", "read", "write", "end"]

guard = Guard(
    codec=sealwax.Codec.from_env(audience=AUDIENCE),
    principal=principal_from_access_token if SECRET and "PORT" in os.environ else "anonymous",
    ledger=Redis(redis.asyncio.from_url(LEDGER)) if LEDGER else None,
)
# The value of a session: {"count": int}, and in a transaction {"draft": str} too.
sessions = guard.sessions(initial=lambda _ctx: {"count": 0}, required={"tools": TOOLS})


class Bearer:
    """Verifies the token of a request; the SDK answers 401 to an invalid one."""

    def __init__(self, secret: str) -> None:
        self._secret = secret

    async def verify_token(self, token: str) -> AccessToken | None:
        try:
            claims = jwt.decode(
                token, self._secret, ["HS256"], {"require": ["exp", "iss", "sub", "client_id"]}, audience=AUDIENCE
            )
        except jwt.InvalidTokenError:
            return None
        return AccessToken(token=token, client_id=claims["client_id"], scopes=[], subject=claims["sub"], claims=claims)


bearer = Bearer(SECRET) if SECRET else None
auth = AuthSettings.model_validate({"issuer_url": "https://idp.example.com", "resource_server_url": None})
server = MCPServer("counter", token_verifier=bearer, auth=auth if bearer else None)
guard.protect(server)


def session_of(ctx: Context, tool: str) -> Session:
    """Return the session of a call, and log it; every tool requires one."""
    session = sessions.of(ctx)
    assert session is not None
    # The ulid may be logged: unlike the session id, it gives no access.
    print(f"{tool}: session {session.ulid}, generation {session.generation}", file=sys.stderr)
    return session


def told(text: str, *, is_error: bool = False) -> CallToolResult:
    return CallToolResult(content=[TextContent(text=text)], is_error=is_error)


@server.tool()
async def count(ctx: Context) -> CallToolResult:
    """Return one more than last time in this session."""
    session = session_of(ctx, "count")
    session.write({**session.value, "count": session.value["count"] + 1})
    return told(str(session.value["count"]))


@server.tool()
async def begin(ctx: Context) -> CallToolResult:
    """Begin a transaction, with an empty text."""
    session = session_of(ctx, "begin")
    session.write({**session.value, "draft": ""})
    return told("begun")


@server.tool()
async def read(ctx: Context) -> CallToolResult:
    """Return the text so far."""
    session = session_of(ctx, "read")
    if "draft" not in session.value:
        return told("no transaction: begin one", is_error=True)
    return told(session.value["draft"])


@server.tool()
async def write(text: str, ctx: Context) -> CallToolResult:
    """Add to the text."""
    session = session_of(ctx, "write")
    if "draft" not in session.value:
        return told("no transaction: begin one", is_error=True)
    session.write({**session.value, "draft": session.value["draft"] + text})
    return told("written")


@server.tool()
async def end(ctx: Context) -> CallToolResult:
    """End the transaction, and return its text."""
    session = session_of(ctx, "end")
    if "draft" not in session.value:
        return told("no transaction: begin one", is_error=True)
    text = session.value["draft"]
    session.write({"count": session.value["count"]})
    return told(text)


def main() -> None:
    if "PORT" not in os.environ:
        server.run()
        return
    listening = socket.create_server(("127.0.0.1", int(os.environ["PORT"])))
    port = listening.getsockname()[1]
    print(f"listening on http://127.0.0.1:{port}/mcp", file=sys.stderr, flush=True)
    # Clients of older revisions get an Mcp-Session-Id, which any replica takes.
    app = guard.asgi(server.streamable_http_app(stateless_http=True))
    uvicorn.Server(uvicorn.Config(app, log_level="warning")).run(sockets=[listening])


if __name__ == "__main__":
    main()
