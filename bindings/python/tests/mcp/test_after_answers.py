"""Sessions and contexts that a handler keeps after its request was answered or cancelled."""

from __future__ import annotations

import asyncio
import gc
import threading
import weakref
from typing import TYPE_CHECKING, Any

import anyio
import pytest
import tally
import wire
from data_layer import ask, call, carried, created
from guarded import KEYS
from ledgers import Wrapped, memory
from lone import SYSTEMS as LONE
from lone import Lone

import sealwax
from sealwax.mcp import Guard, principal_from_access_token

if TYPE_CHECKING:
    from contextlib import AbstractAsyncContextManager

    from mcp import Client

    from sealwax.mcp import Session

pytestmark = pytest.mark.anyio
ALONE = pytest.mark.parametrize("system", LONE)


class Waiting:
    """A tool that waits until it is cancelled, and what it leaves behind."""

    def __init__(self) -> None:
        self.began, self.left, self.told = (threading.Event() for _ in range(3))
        self.session: weakref.ref[Session] | None = None
        self.errors: list[BaseException] = []


async def until(event: threading.Event) -> None:
    with anyio.fail_after(60):
        while not event.is_set():
            await anyio.sleep(0.01)


def cancelling(revision: str, url: str) -> AbstractAsyncContextManager[Client]:
    mode = "legacy" if revision == "2025-11-25" else revision
    return wire.over_http(url, "alice", mode=mode)


@pytest.mark.parametrize(
    ("system", "revision"),
    [*((system, "2026-07-28") for system in LONE), ("mcpserver", "2025-11-25")],
)
async def test_a_cancelled_request_lets_go_of_its_session(system: str, revision: str) -> None:
    """And commits nothing: the session's state is the latest one still."""
    ledger = Wrapped(memory())
    guard = Guard(codec=tally.codec(KEYS), principal=principal_from_access_token, ledger=ledger)
    sessions, seen = guard.sessions(initial=lambda _ctx: 0), Waiting()

    async def it(ctx: Any) -> Any:
        session = sessions.of(ctx)
        assert session is not None
        session.write(session.value + 1)
        seen.session = weakref.ref(session)
        seen.began.set()
        try:
            await anyio.sleep_forever()
        finally:
            seen.left.set()

    app = wire.app(system, None, where=Lone(guard, it), stateless=False)
    with wire.listening(app) as url:
        async with cancelling(revision, url) as client:
            session = await created(client)
            async with anyio.create_task_group() as group:
                group.start_soon(call, client, "it", session)
                await until(seen.began)
                group.cancel_scope.cancel()
            await until(seen.left)
            assert seen.session is not None
            with anyio.fail_after(60):
                while seen.session() is not None:
                    gc.collect()
                    await anyio.sleep(0.01)
            assert "error" not in await ask(client, "tools/list", session)
    assert ledger.count("commit") == 0


@ALONE
@pytest.mark.parametrize(
    ("revision", "cancelled"), [("2026-07-28", True), ("2025-11-25", True), ("2026-07-28", False)]
)
async def test_what_is_written_after_the_answer_raises(
    system: str, revision: str, cancelled: bool
) -> None:
    """A task that a tool left running has the context of a request that is over."""
    guard = Guard(codec=tally.codec(KEYS), principal=principal_from_access_token)
    sessions, seen, later = guard.sessions(initial=lambda _ctx: 0), Waiting(), threading.Event()
    held, tasks = guard.self_contained_handles("order"), []

    async def after(ctx: Any, session: Session) -> None:
        await until(later)
        uses: list[Any] = [
            lambda: session.write(7),
            session.fork,
            lambda: sessions.of(ctx),
            lambda: guard.opened(ctx),
            lambda: guard.state(ctx, 7),
        ]
        for use in uses:
            try:
                use()
            except sealwax.InvalidArgument as error:
                seen.errors.append(error)
        try:
            await held.seal(ctx, 7)
        except sealwax.InvalidArgument as error:
            seen.errors.append(error)
        seen.told.set()

    async def it(ctx: Any) -> Any:
        session = sessions.of(ctx)
        assert session is not None
        tasks.append(asyncio.create_task(after(ctx, session)))
        seen.began.set()
        if cancelled:
            try:
                await anyio.sleep_forever()
            finally:
                seen.left.set()
        return {"value": session.value}

    app = wire.app(system, None, where=Lone(guard, it), stateless=False)
    with wire.listening(app) as url:
        async with cancelling(revision, url) as client:
            session = await created(client)
            if cancelled:
                async with anyio.create_task_group() as group:
                    group.start_soon(call, client, "it", session)
                    await until(seen.began)
                    group.cancel_scope.cancel()
                await until(seen.left)
                # One more, so that what was cancelled is done with.
                await client.list_tools()
            else:
                told = await call(client, "it", session)
                assert carried(told) == {"sessionId": session["sessionId"]}
            later.set()
            await until(seen.told)
    assert len(seen.errors) == 6
    assert all("answered or cancelled" in str(error) for error in seen.errors)
