"""Nothing that a client sent is in a log as it came."""

from __future__ import annotations

import json
import logging
from itertools import product
from typing import TYPE_CHECKING, Any

import pytest
import wire
from carriers import CARRIERS, call, carried, created, meta
from ledgers import Wrapped, memory
from shop import served, view

if TYPE_CHECKING:
    from sealwax.ledger import Command

pytestmark = pytest.mark.anyio
#: No text, and deeper than the engine reads.
ODD: list[Any] = ["\ud800", float("nan"), json.loads("[" * 200 + "]" * 200)]
NASTY = "x\n\x1b[31mred\r\u2028\u00e9" + "A" * 300


async def test_no_log_holds_what_a_client_sent_raw(caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.DEBUG, "sealwax.mcp")
    async with served(shop={"sessions": {}}, mode="legacy") as of:
        session = await created(of.client)
        for method, params in [
            (NASTY, meta({"sessionId": NASTY, "state": NASTY})),
            ("tools/call", {"name": NASTY, "requestState": NASTY}),
            ("tools/call", {"name": "ask", "arguments": {NASTY: 2**60}, "requestState": NASTY}),
            ("prompts/get", {"name": {NASTY: 1}, "requestState": NASTY}),
            ("resources/read", {"uri": [NASTY], "requestState": "sw1." + NASTY}),
            ("tools/list", {"cursor": NASTY}),
            ("tools/list", meta({**session, "state": {NASTY: NASTY}})),
            ("sessions/delete", {"meta": NASTY}),
        ]:
            told = await of.raw(method, params, revision=wire.LEGACY)
            assert "error" in told or told["result"]["isError"]
        # What the SDK reads in this revision alone.
        for member, odd in product(("state", "sessionId"), ODD):
            told = await of.raw("tools/list", meta({**session, member: odd}))
            assert told["error"]["code"] == -32043
        ours = [one.getMessage() for one in caplog.records if one.name == "sealwax.mcp"]
        assert len(ours) == len(of.refusals) >= 12
        assert all(said.isascii() for said in ours)
        for said in [*ours, *(refusal.message for refusal in of.refusals)]:
            assert said.isprintable()
            assert len(said) < 500
            assert "A" * 65 not in said


class Never(Wrapped):
    async def changed(self, command: Command, reply: list[str]) -> list[str]:
        return ["ended", "0"] if command["script"] == "admit" else reply


async def test_no_log_holds_a_token(caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.DEBUG, "sealwax.mcp")
    async with served(ledger=Never(memory())) as of:
        for carrier in CARRIERS:
            good = await carrier.good(of.client)
            for token in (good, good[:-9], good + "A" * 9_000):
                await carrier.present(of.client, token)
            ours = [one.getMessage() for one in caplog.records if one.name == "sealwax.mcp"]
            assert len(ours) >= 3
            assert good[10:30] not in f"{ours} {of.refusals}"
            caplog.clear()


async def test_what_a_session_shows_of_itself() -> None:
    """Neither its id nor its value stands in what a log would print."""
    seen = list[Any]()

    async def it(ctx: Any) -> dict[str, Any]:
        session = of.shop.sessions.of(ctx)
        assert session is not None
        shown = f"{session!r}{session}"
        assert session.ulid in shown
        assert session.id not in shown
        assert session.value not in shown
        session.write("another secret")
        seen.extend((session.id, session.value, session.fork()))
        return {}

    sessions = view().sessions()
    metadata = sessions.create(b'"secret"')
    async with served("lowlevel", it, shop={"sessions": {}}) as of:
        told = await call(of.client, "it", metadata)
    identity, value, fork = seen
    assert (identity, value) == (metadata["sessionId"], "another secret")
    assert sessions.open({**metadata, **carried(told)}).json() == "another secret"
    assert sessions.open(fork).json() == "another secret"
    assert fork["sessionId"] != identity
