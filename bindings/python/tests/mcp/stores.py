"""A shop behind a guard whose ledger works, or fails."""

from __future__ import annotations

import os
import signal
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

import anyio
import pytest
import shop
from carriers import HANDLE, STATE
from ledgers import server

if TYPE_CHECKING:
    from collections.abc import Iterator
    from contextlib import AbstractAsyncContextManager
MODULES = pytest.mark.parametrize("module", ["redis", "valkey"])
SECRET = "hunter2"
#: Why a store that answers nothing is refused.
NO_ANSWER = "ledger: expected an answer, found "


def served(**options: Any) -> AbstractAsyncContextManager[shop.Served]:
    """Serve a guard that waits long: most tests are not about time, and the machine may be busy."""
    return shop.served(**{"time_limit": 20, **options})


@contextmanager
def stopped(process: int) -> Iterator[None]:
    os.kill(process, signal.SIGSTOP)
    try:
        yield
    finally:
        os.kill(process, signal.SIGCONT)


def pid(port: int) -> int:
    number: int = server(port).info("server")["process_id"]
    return number


async def failed(of: shop.Served, state: str | None = None) -> str:
    """Use a state; return why the server cannot tell whether it may."""
    state = state or await STATE.good(of.client)
    of.refusals.clear()
    of.shop.ran.clear()
    with anyio.fail_after(60):
        assert await STATE.present(of.client, state) == STATE.internal
    # Every five seconds a guard tries again to begin with its ledger, and says so too.
    assert set(of.codes) == {"ledger_unavailable"}
    assert of.shop.ran == []
    return of.refusals[0].message


async def works(of: shop.Served) -> None:
    state = await STATE.good(of.client)
    assert STATE.taken(await STATE.present(of.client, state))
    assert await STATE.present(of.client, state) == STATE.refusal


async def ended(of: shop.Served) -> bool:
    handle = await HANDLE.good(of.client)
    told = await of.client.call_tool("end", {"handle": handle})
    assert (await HANDLE.present(of.client, handle))["isError"]
    return not told.is_error
