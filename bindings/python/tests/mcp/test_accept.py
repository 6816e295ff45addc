"""The arguments of `accept`."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
import wire
from carriers import CARRIERS, Handle, HandleState, RequestState, view
from guarded import KEYS, SYSTEMS, served
from remembering import Remembering
from shop import codec

import sealwax

if TYPE_CHECKING:
    from sealwax.mcp import Presented

pytestmark = pytest.mark.anyio


@SYSTEMS
async def test_what_accepts_is_told_when_nothing_opens_any_longer(system: str) -> None:
    """Rounded up, and the largest skew later: no replica opens it then."""
    asked: list[Presented] = []

    class Asked(Remembering):
        def accept(self, presented: Presented, /) -> bool:
            asked.append(presented)
            return super().accept(presented)

        def ended(self, presented: Presented, /) -> None:
            asked.append(presented)

    alice = view(codec(KEYS), wire.principal("alice"))
    async with served(system, accept=Asked()) as of:
        for carrier in CARRIERS:
            asked.clear()
            good = await carrier.good(of.client)
            assert carrier.taken(await carrier.present(of.client, good))
            if isinstance(carrier, Handle):
                await of.client.call_tool(carrier.end, {"handle": good})
            if carrier.kind == "handle":
                ends_at_ms = alice.verify_handle("basket", good, max_age=3600).ends_at_ms
                assert ends_at_ms is not None
                end = -(-ends_at_ms // 1000)
            elif isinstance(carrier, HandleState):
                opened = alice.handle_state("order").open(good)
                end = opened.issued_at + 3600
                assert opened.expires_at == end
            elif isinstance(carrier, RequestState):
                context = sealwax.request_context("tools/call", "ask", {"id": 7})
                end = alice.request_state(context).open(good).expires_at or 0
            else:
                end = alice.cursor("resources/list").open(good).expires_at or 0
            assert {one.expires_at for one in asked} == {end + 300}
            assert len(asked) == 1 + isinstance(carrier, Handle)
