"""A small MCP server whose tokens are sealed: a question, a basket, a list in pages.

    export SEALWAX_KEYS="$(python -m sealwax keygen)"
    python examples/notes.py                    # on stdio
    PORT=8000 python examples/notes.py          # on HTTP

With NOTES_JWT_SECRET, HTTP asks for a bearer token: a JWT, signed with HS256, of iss, sub, client_id, and aud: AUDIENCE.
With SEALWAX_LEDGER, the URL of a Redis or Valkey that all replicas share, each answer is accepted once.
"""

import json
import os
import socket
import sys
from typing import Any

import jwt
import redis.asyncio
import sealwax
import uvicorn
from mcp.server import MCPServer
from mcp.server.auth.provider import AccessToken
from mcp.server.auth.settings import AuthSettings
from mcp.server.context import CallNext, HandlerResult, ServerRequestContext
from mcp.server.mcpserver import Context
from mcp.server.mcpserver.resources import TextResource
from mcp_types import (
    CallToolResult,
    ElicitRequest,
    ElicitRequestFormParams,
    ElicitResult,
    InputRequiredResult,
    TextContent,
)
from sealwax.ledger import Redis
from sealwax.mcp import Guard, SelfContainedHandle, principal_from_access_token

AUDIENCE = "https://notes.example.com"
SECRET = os.environ.get("NOTES_JWT_SECRET")
LEDGER = os.environ.get("SEALWAX_LEDGER")
NOTES = {number: f"This is note {number}." for number in range(1, 26)}
PAGE = 10

guard = Guard(
    codec=sealwax.Codec.from_env(audience=AUDIENCE),
    principal=principal_from_access_token if SECRET and "PORT" in os.environ else "anonymous",
    ledger=Redis(redis.asyncio.from_url(LEDGER)) if LEDGER else None,
)
baskets = guard.self_contained_handles("basket", ttl=3600)


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


async def in_pages(ctx: ServerRequestContext[Any, Any], call_next: CallNext) -> HandlerResult:
    """Return a list in pages of ten; the cursor is the start of the next page."""
    result = await call_next(ctx)
    if ctx.method != "resources/list" or not isinstance(result, dict):
        return result
    start = int((ctx.params or {}).get("cursor") or 0)
    page = {**result, "resources": result["resources"][start : start + PAGE]}
    if start + PAGE < len(result["resources"]):
        page["nextCursor"] = str(start + PAGE)
    return page


bearer = Bearer(SECRET) if SECRET else None
auth = AuthSettings.model_validate({"issuer_url": "https://idp.example.com", "resource_server_url": None})
server = MCPServer("notes", middleware=[in_pages], token_verifier=bearer, auth=auth if bearer else None)
guard.protect(server)
for number, text in NOTES.items():
    server.add_resource(TextResource(uri=f"note:///{number}", name=f"Note {number}", text=text))


@server.tool()
async def delete_note(id: int, ctx: Context) -> CallToolResult | InputRequiredResult:
    """Delete a note, once the user has confirmed it."""
    state = guard.opened(ctx)
    if state is None:
        properties = {"confirm": {"type": "boolean"}}
        schema = {"type": "object", "properties": properties, "required": ["confirm"]}
        form = ElicitRequestFormParams(message=f"Delete note {id}?", requested_schema=schema)
        return InputRequiredResult(
            input_requests={"confirm": ElicitRequest(params=form)},
            request_state=guard.state(ctx, {"asked": id}),
        )
    answer = (ctx.input_responses or {}).get("confirm")
    if confirmed(answer) and state["asked"] == id:
        NOTES.pop(id, None)
        return CallToolResult(content=[TextContent(text=f"note {id} deleted")])
    return CallToolResult(content=[TextContent(text=f"note {id} kept")])


def confirmed(answer: object) -> bool:
    if not isinstance(answer, ElicitResult) or answer.action != "accept":
        return False
    return (answer.content or {}).get("confirm") is True


@server.tool()
async def new_basket(ctx: Context) -> CallToolResult:
    """Make a basket. Pass its text to add_to_basket, exactly as it is."""
    return shown(await baskets.seal(ctx, []), [])


@server.tool()
async def add_to_basket(basket: str, item: str, ctx: Context) -> CallToolResult:
    """Add an item to a basket. Use the basket that is returned from then on."""
    before = await baskets.open(ctx, basket)
    items = [*before.value, item]
    return shown(await baskets.renew(ctx, before, items), items)


def shown(basket: SelfContainedHandle, items: list[str]) -> CallToolResult:
    told = {"basket": basket.handle, "expiresAt": basket.expires_at, "items": items}
    return CallToolResult(content=[TextContent(text=json.dumps(told))], structured_content=told)


def main() -> None:
    if "PORT" not in os.environ:
        server.run()
        return
    listening = socket.create_server(("127.0.0.1", int(os.environ["PORT"])))
    port = listening.getsockname()[1]
    print(f"listening on http://127.0.0.1:{port}/mcp", file=sys.stderr, flush=True)
    app = server.streamable_http_app(stateless_http=True)
    uvicorn.Server(uvicorn.Config(app, log_level="warning")).run(sockets=[listening])


if __name__ == "__main__":
    main()
