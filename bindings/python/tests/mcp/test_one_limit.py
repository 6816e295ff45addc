"""One request has one time limit for all that is asked of the ledger."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import anyio
import mcp_types as types
import pytest
import tally
import wire
from carriers import view
from http_sessions import KEYS, served
from ledgers import Wrapped, memory
from processes import agreed

from sealwax.mcp import Guard, Refusal
from sealwax.mcp._transport.message import Transport
from sealwax.mcp._transport.stdio import serve

if TYPE_CHECKING:
    from sealwax.ledger import Command

pytestmark = pytest.mark.anyio
LIMIT = 4.0


class Slow(Wrapped):
    """Answers at the second attempt: that takes more than half of the time, not enough for two."""

    async def changed(self, command: Command, reply: list[str]) -> list[str]:
        if command["script"] == "admit":
            await anyio.sleep(LIMIT if self.count("admit") % 2 else 0.25 * LIMIT)
        return reply


def cursor() -> str:
    return view(tally.codec(KEYS), wire.principal("alice")).cursor("resources/list").seal(b"2")


async def test_the_wrapper_around_http_and_the_handlers_share_it() -> None:
    async with served(guard={"ledger": Slow(memory()), "time_limit": LIMIT}) as of:
        session = await of.session()
        response = await of.send("resources/list", session, params={"cursor": cursor()})
        assert wire.told(response.text)["error"]["code"] == -32603
        assert [(one.code, one.kind) for one in of.refusals] == [("ledger_unavailable", "cursor")]
        # There is enough for one, and the next request has a time of its own.
        assert (await of.send("tools/list", session)).status_code == 200
        assert len(of.refusals) == 1


async def test_the_wrapper_around_stdio_and_the_handlers_share_it() -> None:
    refusals: list[Refusal] = []
    guard = Guard(
        codec=tally.codec(KEYS),
        principal=lambda _ctx: wire.principal("alice"),
        ledger=Slow(memory()),
        time_limit=LIMIT,
        on_refused=refusals.append,
    )
    low = tally.lowlevel(tally.Tally(guard))
    low.add_request_handler("demo/list", types.PaginatedRequestParams, _nothing)
    transport = Transport(guard, guard._engines, required=False, ttl=None, sep1359=True)
    sends, reads = anyio.create_memory_object_stream[str](8)
    writes, hears = anyio.create_memory_object_stream[str](8)
    lines = wire.Lines(reads, writes)
    sealed = view(tally.codec(KEYS), wire.principal("alice")).cursor("demo/list").seal(b"2")
    async with anyio.create_task_group() as group:
        group.start_soon(serve, low, transport, lines, lines)

        async def ask(**params: Any) -> dict[str, Any]:
            message = {"jsonrpc": "2.0", "id": 1, "method": "demo/list", "params": params}
            await sends.send(json.dumps({**message, "sessionId": agreed()}) + "\n")
            told: dict[str, Any] = json.loads(await hears.receive())
            return told

        assert (await ask(cursor=sealed))["error"]["code"] == -32603
        assert [(one.code, one.kind) for one in refusals] == [("ledger_unavailable", "cursor")]
        assert "result" in await ask()
        assert len(refusals) == 1
        group.cancel_scope.cancel()


async def _nothing(_ctx: Any, _params: Any) -> dict[str, Any]:
    return {}
