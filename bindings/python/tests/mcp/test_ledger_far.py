"""A store that takes longer to connect to than a command may take, or that falls silent."""

from __future__ import annotations

import importlib
import time
from contextlib import ExitStack, contextmanager
from typing import TYPE_CHECKING, Any

import anyio
import guarded
import pytest
import shop
from far import far
from ledgers import age, client, keys, server, valkey
from stores import STATE, pid, stopped

from sealwax.ledger import Redis

if TYPE_CHECKING:
    from collections.abc import Iterator

    from far import Far

pytestmark = pytest.mark.anyio
#: One command may take three tenths of it: more than one round trip, and less than two.
LIMIT, DELAY = 3.0, 0.3


def eventually(holds: Any) -> None:
    for _ in range(600):
        if holds():
            return
        time.sleep(0.1)
    raise AssertionError


@contextmanager
def one(module: str, delay: float, **options: Any) -> Iterator[tuple[Redis, Far, int]]:
    """Give the ledger in a store at a distance, and the store's own port."""
    cluster = module.endswith("Cluster")
    with ExitStack() as stack:
        made = stack.enter_context(valkey(**({"cluster-enabled": "yes"} if cluster else {})))
        if cluster:
            server(made.port).execute_command("CLUSTER", "ADDSLOTSRANGE", 0, 16383)
            of = server(made.port)
            eventually(lambda: of.execute_command("CLUSTER INFO")["cluster_state"] == "ok")
        port, proxy = stack.enter_context(far(made.port, delay))
        if cluster:
            name = module.removesuffix("Cluster")
            found = importlib.import_module(f"{name}.asyncio.cluster")
            driver = getattr(found, f"{name.title()}Cluster")(
                host="127.0.0.1", port=port, address_remap=lambda _: ("127.0.0.1", port)
            )
        else:
            driver = client(module, port, **options)
        ledger = Redis(driver)
        age(ledger, keys(shop.AUDIENCE), port=made.port)
        yield ledger, proxy, made.port


async def served_again(of: guarded.Served) -> int:
    """Return how many states were spent in vain until one was taken."""
    tries = 0
    with anyio.fail_after(60):
        while True:
            state = await STATE.good(of.client)
            told = await STATE.present(of.client, state)
            if "error" not in told:
                assert STATE.taken(told)
                return tries
            assert told == STATE.internal
            tries += 1


async def at_once(of: guarded.Served, number: int) -> None:
    """Have several requests served at a time, which takes as many connections."""
    states = [await STATE.good(of.client) for _ in range(number)]

    async def use(state: str) -> None:
        failed = False
        while "error" in (told := await STATE.present(of.client, state)):
            if failed and told != STATE.internal:
                # On a busy machine an answer may be late: then the state is used, and nobody knows.
                assert of.refusals[-1].code == "used"
                state = await STATE.good(of.client)
            else:
                assert told == STATE.internal
            failed = True
        assert STATE.taken(told)

    with anyio.fail_after(60):
        async with anyio.create_task_group() as group:
            for state in states:
                group.start_soon(use, state)


DRIVERS = pytest.mark.parametrize("module", ["redis", "valkey", "redisCluster", "valkeyCluster"])


@DRIVERS
async def test_a_far_store_serves_once_it_was_connected_to(module: str) -> None:
    with one(module, DELAY) as (ledger, _, _):
        async with guarded.served(ledger=ledger, time_limit=LIMIT) as of:
            assert await served_again(of) <= 10
            # What succeeded is kept.
            assert await served_again(of) == 0
            # Connecting goes on, and what it was for is not sent.
            await at_once(of, 6)
            assert {one.code for one in of.refusals} <= {"ledger_unavailable", "used"}


@DRIVERS
async def test_half_open_connections_are_left_at_once(module: str) -> None:
    with one(module, 0) as (ledger, proxy, _):
        async with guarded.served(ledger=ledger, time_limit=LIMIT) as of:
            await served_again(of)
            await at_once(of, 4)
            proxy.lost = proxy.accepted
            assert await served_again(of) <= 1
            await at_once(of, 4)


@DRIVERS
async def test_a_store_that_was_stopped_serves_again(module: str) -> None:
    with one(module, 0) as (ledger, _, port):
        async with guarded.served(ledger=ledger, time_limit=LIMIT) as of:
            await served_again(of)
            with stopped(pid(port)):
                told = await STATE.present(of.client, await STATE.good(of.client))
                assert told == STATE.internal
            assert await served_again(of) <= 1
