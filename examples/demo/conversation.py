"""An official Python client that is told by lines what to do, and tells what it got: see fleet.py."""

from __future__ import annotations

import asyncio
import json
import sys
from typing import Any

import httpx2
import mcp_types as types
from mcp import Client
from mcp.client.streamable_http import streamable_http_client
from mcp.shared.exceptions import MCPError
from pydantic import TypeAdapter

SESSION, STALE = "io.modelcontextprotocol/session", "io.github.sealwax/stale"
NOT_FOUND = -32043
ANYTHING: Any = TypeAdapter(dict[str, Any])
#: The sessions by name, as their server told of them last.
SESSIONS: dict[str, dict[str, Any]] = {}


async def told() -> Any:
    line = await asyncio.to_thread(sys.stdin.readline)
    return json.loads(line) if line else None


def tell(what: object) -> None:
    print(json.dumps(what), flush=True)


async def answer(_context: object, params: Any) -> types.ElicitResult:
    """Answer what a tool asks back; the client retries the call with the state by itself."""
    tell({"asked": params.message})
    return types.ElicitResult(action="accept", content=await told())


async def called(client: Client, name: str | None, tool: str, arguments: dict[str, Any]) -> types.CallToolResult:
    """Call a tool, in the session of that name; the first time the server creates one."""
    if name is None:
        return await client.call_tool(tool, arguments)
    if name not in SESSIONS:
        request: Any = types.Request(method="sessions/create", params=None)
        SESSIONS[name] = (await client.session.send_request(request, ANYTHING))["session"]
    while True:
        # When it expires is for the host only.
        sent = {member: SESSIONS[name][member] for member in ("sessionId", "state")}
        try:
            result = await client.call_tool(tool, arguments, meta={SESSION: sent})
        except MCPError as error:
            if error.code == NOT_FOUND:
                del SESSIONS[name]
            raise
        meta = result.meta or {}
        SESSIONS[name] |= meta[SESSION]
        # Nothing ran, for the state was not the latest one, which the answer has.
        if meta.get(STALE) != {"ran": False}:
            return result


async def carry_out(client: Client, order: dict[str, Any]) -> dict[str, Any]:
    if "call" in order:
        result = await called(client, order.get("session"), order["call"]["name"], order["call"]["arguments"])
        return {"text": result.content[0].text, "isError": bool(result.is_error)}
    if "tools" in order:
        return {"tools": len((await client.list_tools()).tools)}
    params = types.PaginatedRequestParams(cursor=order["page"])
    listed = await client.session.list_resources(params=params)
    return {"items": len(listed.resources), "nextCursor": listed.next_cursor}


async def main(url: str, bearer: str, era: str = "2026-07-28") -> None:
    http = httpx2.AsyncClient(headers={"Authorization": f"Bearer {bearer}"}, timeout=30)
    transport = streamable_http_client(url, http_client=http)
    async with Client(transport, elicitation_callback=answer, mode=era) as client:
        tell("connected")
        while (order := await told()) is not None:
            try:
                tell(await carry_out(client, order))
            except MCPError as error:
                tell({"error": {"code": error.code, "message": error.message}})


asyncio.run(main(*sys.argv[1:]))
