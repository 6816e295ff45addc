"""A shop behind a guard whose ledger works, or fails."""

from __future__ import annotations

import os
import signal
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

import anyio
import guarded
import pytest
from carriers import Handle, RequestState
from ledgers import server

if TYPE_CHECKING:
    from collections.abc import Iterator
    from contextlib import AbstractAsyncContextManager
MODULES = pytest.mark.parametrize("module", ["redis", "valkey"])
SECRET = "hunter2"
#: Why a store that answers nothing is refused.
NO_ANSWER = "ledger: expected an answer, found "
TOO_LATE = "ledger: expected an answer in time, found none"
STATE = RequestState()


def served(**options: Any) -> AbstractAsyncContextManager[guarded.Served]:
    """Serve a guard that waits long: most tests are not about time, and the machine may be busy."""
    return guarded.served(**{"time_limit": 20, **options})


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


async def failed(of: guarded.Served, state: str | None = None) -> str:
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


async def works(of: guarded.Served) -> None:
    state = await STATE.good(of.client)
    assert STATE.taken(await STATE.present(of.client, state))
    assert await STATE.present(of.client, state) == STATE.refusal


async def ended(of: guarded.Served) -> bool:
    handle = await Handle().good(of.client)
    told = await of.client.call_tool("end", {"handle": handle})
    assert (await Handle().present(of.client, handle))["isError"]
    return not told.is_error
