"""The question of examples/notes.py without a guard, on what the Python SDK does by itself."""

import os
import socket
import sys

import jwt
import uvicorn
from mcp.server import MCPServer
from mcp.server.auth.provider import AccessToken
from mcp.server.auth.settings import AuthSettings
from mcp.server.mcpserver import Context
from mcp_types import (
    CallToolResult,
    ElicitRequest,
    ElicitRequestFormParams,
    ElicitResult,
    InputRequiredResult,
    TextContent,
)


class Bearer:
    """With the subject, to which the SDK binds by itself."""

    async def verify_token(self, token: str) -> AccessToken | None:
        try:
            claims = jwt.decode(token, os.environ["NOTES_JWT_SECRET"], ["HS256"], audience="https://notes.example.com")
        except jwt.InvalidTokenError:
            return None
        return AccessToken(token=token, client_id=claims["client_id"], scopes=[], subject=claims["sub"], claims=claims)


auth = AuthSettings.model_validate({"issuer_url": "https://idp.example.com", "resource_server_url": None})
server = MCPServer("notes", token_verifier=Bearer(), auth=auth)


@server.tool()
async def delete_note(id: int, ctx: Context) -> CallToolResult | InputRequiredResult:
    """Delete a note, once the user has confirmed it."""
    if ctx.request_state is None:
        schema = {"type": "object", "properties": {"confirm": {"type": "boolean"}}, "required": ["confirm"]}
        form = ElicitRequestFormParams(message=f"Delete note {id}?", requested_schema=schema)
        return InputRequiredResult(input_requests={"confirm": ElicitRequest(params=form)}, request_state="asked")
    answer = (ctx.input_responses or {}).get("confirm")
    yes = isinstance(answer, ElicitResult) and answer.action == "accept" and (answer.content or {}).get("confirm")
    return CallToolResult(content=[TextContent(text=f"note {id} {'deleted' if yes else 'kept'}")])


if __name__ == "__main__":
    listening = socket.create_server(("127.0.0.1", int(os.environ["PORT"])))
    print(f"listening on http://127.0.0.1:{listening.getsockname()[1]}/mcp", file=sys.stderr, flush=True)
    app = server.streamable_http_app(stateless_http=True)
    uvicorn.Server(uvicorn.Config(app, log_level="warning")).run(sockets=[listening])
