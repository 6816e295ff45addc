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
from sealwax.mcp.client import ClientSessions

SESSIONS = ClientSessions()


async def told() -> Any:
    line = await asyncio.to_thread(sys.stdin.readline)
    return json.loads(line) if line else None


def tell(what: object) -> None:
    print(json.dumps(what), flush=True)


async def answer(_context: object, params: Any) -> types.ElicitResult:
    """Answer what a tool asks back; the client retries the call with the state by itself."""
    tell({"asked": params.message})
    return types.ElicitResult(action="accept", content=await told())


async def carry_out(client: Client, order: dict[str, Any]) -> dict[str, Any]:
    if "call" in order:
        name = order.get("session")
        caller = client if name is None else await SESSIONS.open(client, server="fleet", user="me", name=name)
        result = await caller.call_tool(order["call"]["name"], order["call"]["arguments"])
        return {"text": result.content[0].text, "isError": bool(result.is_error)}
    if "delete" in order:
        session = await SESSIONS.open(client, server="fleet", user="me", name=order["delete"])
        await session.delete()
        return {"deleted": order["delete"]}
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
