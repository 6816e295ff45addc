"""Cursors that are empty, or that do not advance, through the official client and FastMCP's."""

from __future__ import annotations

from typing import Any

import anyio
import fastmcp
import mcp_types as types
import pytest
import wire
from guarded import KEYS
from mcp import Client
from mcp.server.lowlevel import Server
from shop import codec

from sealwax.mcp import Guard

pytestmark = pytest.mark.anyio


def serving(following: dict[str | None, str | None], asked: list[str | None]) -> Any:
    """Make an app whose list of tools tells for each cursor the next one."""

    async def tools(_ctx: Any, params: Any) -> types.ListToolsResult:
        cursor = params and params.cursor
        asked.append(cursor)
        tool = types.Tool(name=f"tool {cursor}", input_schema={"type": "object"})
        return types.ListToolsResult(tools=[tool], next_cursor=following[cursor])

    server: Server[Any] = Server("pages", on_list_tools=tools)
    Guard(codec=codec(KEYS), principal="anonymous").protect(server)
    return server.streamable_http_app(stateless_http=True)


@pytest.mark.parametrize("mode", ["2026-07-28", "legacy"])
async def test_an_empty_text_is_a_cursor(mode: Any) -> None:
    asked: list[str | None] = []
    with wire.listening(serving({None: "", "": None}, asked)) as url:
        async with Client(url, mode=mode) as client:
            first = await client.list_tools()
            assert (first.next_cursor or "").startswith("sw1.")
            second = await client.list_tools(cursor=first.next_cursor)
    assert second.next_cursor is None
    assert asked == [None, ""]


@pytest.mark.parametrize("cursor", ["stays", ""])
async def test_a_client_sees_that_a_list_does_not_advance(cursor: str) -> None:
    asked: list[str | None] = []
    with wire.listening(serving({None: cursor, cursor: cursor}, asked)) as url:
        async with Client(url) as client:
            first = await client.list_tools()
            second = await client.list_tools(cursor=first.next_cursor)
            assert first.next_cursor == second.next_cursor
        asked.clear()
        with anyio.fail_after(60):
            async with fastmcp.Client(url) as other:
                tools = await other.list_tools()
    assert {one.name for one in tools} == {"tool None", f"tool {cursor}"}
    assert len(asked) <= 3
