"""A day of traffic in simulated time, after which memory is as it was in the morning.

Users call a tool in two rounds, sessions go on, idle and expire, keys rotate each hour, and users
are signed out. ``SEALWAX_EXCHANGES=1000000`` takes some minutes.
"""

from __future__ import annotations

import asyncio
import ctypes
import gc
import json
import os
import random
import sys
import tracemalloc
from collections import Counter
from typing import Any

import pytest

from sealwax import Key, KeyRing, Principal, testing
from sealwax._engine import Exchange, Guard, Told

HOURS = 24
EXCHANGES = int(os.environ.get("SEALWAX_EXCHANGES", "960"))
USERS = 100
SESSIONS = 32
IDLE = 1800


class _Mallinfo2(ctypes.Structure):
    """What glibc tells of its heap; the eighth is how much is in use."""

    _fields_ = [(f"n{at}", ctypes.c_size_t) for at in range(10)]


def native_heap() -> int:
    mallinfo2 = ctypes.CDLL(None).mallinfo2
    mallinfo2.restype = _Mallinfo2
    in_use: int = mallinfo2().n7
    return in_use


class Day:
    def __init__(self) -> None:
        self.clock = testing.TestClock(1_800_000_000)
        self.keys = [Key.generate()]
        self.codec = testing.codec(self.clock, keys=KeyRing(self.keys), session_max_age=7200)
        self.guard = Guard(self.codec, {"sessions": {"ttl": IDLE}, "ledger": {"local": True}})
        self.ledger = testing.ledger(self.clock)
        self.random = random.Random(7)
        self.sessions: list[tuple[str, str] | None] = [None] * SESSIONS
        self.seen: Counter[str] = Counter()

    async def ask(self, exchange: Exchange, step: Any) -> Any:
        while step.get("name") == "ledger":
            step = exchange.told(Told(json.dumps(await self.ledger.run(step)).encode()))
        return step

    async def begin(self, user: int, **more: Any) -> tuple[Exchange, Any]:
        whom = Principal(subject=str(user))
        exchange, step = self.guard.message(
            "tools/call", target="t", modern=True, principal=whom, **more
        )
        step = await self.ask(exchange, step)
        refused = step.get("refused", [{"code": "delivered"}])
        self.seen[refused[0]["code"]] += 1
        return exchange, step

    async def end(self, exchange: Exchange, **given: str) -> Any:
        members: Any = given
        step = await self.ask(exchange, exchange.on({"result": {"members": members}}))
        assert step["step"] == "respond"
        exchange.free()
        return step

    async def two_rounds(self, user: int) -> None:
        exchange, _ = await self.begin(user)
        token = exchange.seal_state(b'{"page":2}')
        await self.end(exchange, resultType="input_required", requestState=token)
        exchange, step = await self.begin(user, token=token)
        assert json.loads(step["opened"]) == {"page": 2}
        await self.end(exchange, resultType="complete")
        exchange, step = await self.begin(user, token=token)
        assert step["refused"][0]["code"] == "used"
        exchange.free()

    async def session(self, at: int) -> None:
        sent = self.sessions[at]
        if sent is None:
            made = self.codec.view(subject=str(at)).sessions(ttl=IDLE).create(b"0")
            sent = made["sessionId"], made["state"]
        exchange, step = await self.begin(at, session=sent)
        if step["step"] == "reply":
            exchange.free()
            self.sessions[at] = None
            return
        exchange.write(b'{"count":1}')
        step = await self.end(exchange, resultType="complete")
        [(_, metadata)] = step["set"]
        self.sessions[at] = metadata["sessionId"], metadata["state"]

    async def pass_an_hour(self) -> None:
        self.keys = [Key.generate(), *self.keys[:1]]
        assert self.codec.set_keys(KeyRing(self.keys))
        user: Any = {"subject": str(self.random.randrange(USERS))}
        exchange, step = self.guard.revoke(user, 3600)
        assert (await self.ask(exchange, step))["step"] == "done"
        exchange.free()

    async def run(self) -> list[tuple[int, int]]:
        """Return the native heap and Python's at the end of each hour."""
        found = []
        for _ in range(HOURS):
            for _ in range(EXCHANGES // HOURS):
                self.clock.advance(3600 / (EXCHANGES // HOURS))
                await self.two_rounds(self.random.randrange(USERS))
                await self.session(self.random.randrange(SESSIONS))
            await self.pass_an_hour()
            gc.collect()
            found.append((native_heap(), tracemalloc.get_traced_memory()[0]))
        return found


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="it asks glibc")
def test_memory_is_flat_over_a_day() -> None:
    tracemalloc.start()
    day = Day()
    found = asyncio.run(day.run())
    tracemalloc.stop()
    for kind, heap in zip(("native", "Python"), zip(*found, strict=True), strict=True):
        morning, evening = max(heap[4:10]), max(heap[20:])
        print(f"{kind} heap: {morning >> 10} kB in the morning, {evening >> 10} kB in the evening")
        assert evening < morning + morning // 10 + (64 << 10), heap
    print(dict(day.seen))
    assert day.seen["used"] >= EXCHANGES // HOURS * HOURS
    assert day.seen["expired"] + day.seen["unknown_key"] > 10
