"""Nothing that a client sent is in a log as it came."""

from __future__ import annotations

import json
import logging
from itertools import product
from typing import TYPE_CHECKING, Any

import pytest
import tally
import wire
from carriers import CARRIERS
from data_layer import call, carried, created, meta
from data_layer import served as served_with_sessions
from guarded import KEYS, served
from ledgers import Wrapped, memory
from lone import SYSTEMS as LONE
from lone import Lone

from sealwax.mcp import Guard

if TYPE_CHECKING:
    from sealwax.ledger import Command

pytestmark = pytest.mark.anyio
ALONE = pytest.mark.parametrize("system", LONE)
#: No text, and deeper than the engine reads.
ODD: list[Any] = ["\ud800", float("nan"), json.loads("[" * 200 + "]" * 200)]
NASTY = "x\n\x1b[31mred\r\u2028\u00e9" + "A" * 300


@pytest.mark.parametrize("system", tally.SYSTEMS)
async def test_no_log_holds_what_a_client_sent_raw(
    system: str, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.DEBUG, "sealwax.mcp")
    async with served_with_sessions(system, "2025-11-25") as of:
        session = await created(of.client)
        for method, params in [
            (NASTY, {"_meta": meta({"sessionId": NASTY, "state": NASTY})}),
            ("tools/call", {"name": NASTY, "requestState": NASTY}),
            ("tools/call", {"name": "peek", "arguments": {NASTY: 2**60}, "requestState": NASTY}),
            ("tools/call", {"name": "peek", "request_state": NASTY}),
            ("prompts/get", {"name": {NASTY: 1}, "requestState": NASTY}),
            ("resources/read", {"uri": NASTY, "requestState": NASTY}),
            ("resources/read", {"uri": [NASTY], "requestState": "sw1." + NASTY}),
            ("tools/list", {"cursor": NASTY}),
            ("tools/list", {"cursor": {NASTY: 1}}),
            ("tools/list", {"_meta": meta({NASTY: 1, "sessionId": NASTY})}),
            ("tools/list", {"_meta": meta({**session, "state": {NASTY: NASTY}})}),
            ("tools/list", {"_meta": meta({**session, "state": NASTY})}),
            ("tools/list", {"_meta": meta(NASTY)}),
            ("sessions/create", {"_meta": meta(NASTY)}),
            ("sessions/delete", {"_meta": meta({"sessionId": NASTY})}),
            ("sessions/delete", {"meta": NASTY}),
        ]:
            told = await wire.raw(of.url, method, params, revision="2025-11-25", identity=7)
            assert "error" in told or told["result"]["isError"]
        # What the SDK reads in this revision alone.
        for member, odd in product(("state", "sessionId"), ODD):
            params = {"_meta": meta({**session, member: odd})}
            assert (await wire.raw(of.url, "tools/list", params))["error"]["code"] == -32043
        ours = [one.getMessage() for one in caplog.records if one.name == "sealwax.mcp"]
        assert len(ours) == len(of.refusals) >= 19
        assert all(said.isascii() for said in ours)
        for said in [*ours, *(refusal.message for refusal in of.refusals)]:
            assert said.isprintable()
            assert len(said) < 500
            assert "A" * 65 not in said


async def test_no_log_holds_a_token(caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.DEBUG, "sealwax.mcp")
    async with served(ledger=Never(memory())) as of:
        for carrier in CARRIERS:
            good = await carrier.good(of.client)
            for token in (good, good[:-9], good + "A" * 9_000):
                await carrier.present(of.client, token)
            ours = [record for record in caplog.records if record.name == "sealwax.mcp"]
            assert len(ours) >= 3
            said = " ".join([*(record.getMessage() for record in ours), str(of.refusals)])
            assert good[10:30] not in said
            caplog.clear()


class Never(Wrapped):
    async def changed(self, command: Command, reply: list[str]) -> list[str]:
        return ["ended", "0"] if command["script"] == "admit" else reply


async def test_what_a_session_shows_of_itself() -> None:
    """Neither its id nor its value stands in what a log would print."""
    guard = Guard(codec=tally.codec(KEYS), principal="anonymous")
    sessions, seen = guard.sessions(initial=lambda _ctx: "secret"), list[Any]()

    async def it(ctx: Any) -> dict[str, Any]:
        session = sessions.of(ctx)
        assert session is not None
        shown, before = [repr(session), str(session)], session.value
        session.write("another secret")
        fork = session.fork()
        seen.append((shown, session.id, session.ulid, before, session.value, fork))
        return {}

    core = tally.codec(KEYS).view(anonymous=True).sessions()
    metadata = core.create(b'"secret"')
    with wire.listening(wire.app("lowlevel", None, where=Lone(guard, it))) as url:
        async with wire.over_http(url, "alice", mode="2026-07-28") as client:
            told = await call(client, "it", metadata)
    ((shown, identity, ulid, before, after, fork),) = seen
    assert (before, after, identity) == ("secret", "another secret", metadata["sessionId"])
    for one in shown:
        assert "secret" not in one
        assert identity not in one
        assert ulid in one
    assert core.open({**metadata, **carried(told)}).json() == "another secret"
    assert core.open(fork).json() == "another secret"
    assert fork["sessionId"] != identity
