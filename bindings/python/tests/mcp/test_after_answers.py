"""Sessions and contexts that a handler keeps after its request was answered or cancelled."""

from __future__ import annotations

import asyncio
import threading
from typing import TYPE_CHECKING, Any

import anyio
import pytest
from carriers import call, carried, created
from shop import ALL, served

import sealwax

if TYPE_CHECKING:
    from mcp import Client

    from sealwax.mcp import Session

pytestmark = pytest.mark.anyio
STATEFUL: dict[str, Any] = {
    "shop": {"sessions": {"initial": lambda _ctx: 0}},
    "app": {"stateless": False},
}


class Waiting:
    """A tool that waits until it is cancelled, and what it leaves behind."""

    def __init__(self) -> None:
        self.began, self.left, self.told = (threading.Event() for _ in range(3))

    async def wait(self) -> None:
        self.began.set()
        try:
            await anyio.sleep_forever()
        finally:
            self.left.set()

    async def is_cancelled(self, client: Client, session: Any) -> None:
        async with anyio.create_task_group() as group:
            group.start_soon(call, client, "it", session)
            await until(self.began)
            group.cancel_scope.cancel()
        await until(self.left)


async def until(event: threading.Event) -> None:
    with anyio.fail_after(60):
        while not event.is_set():
            await anyio.sleep(0.01)


@ALL
@pytest.mark.parametrize(
    ("mode", "cancelled"), [("2026-07-28", True), ("legacy", True), ("2026-07-28", False)]
)
async def test_what_is_written_after_the_answer_raises(
    system: str, mode: str, cancelled: bool
) -> None:
    """A task that a tool left running has the context of a request that is over."""
    seen, later, errors, tasks = Waiting(), threading.Event(), list[str](), list[Any]()

    async def after(ctx: Any, session: Session) -> None:
        await until(later)
        shop, guard = of.shop, of.guard
        uses: list[Any] = [
            lambda: session.write(7),
            session.fork,
            lambda: shop.sessions.of(ctx),
            lambda: guard.opened(ctx),
            lambda: guard.state(ctx, 7),
        ]
        for use in uses:
            with pytest.raises(sealwax.InvalidArgument) as raised:
                use()
            errors.append(str(raised.value))
        with pytest.raises(sealwax.InvalidArgument) as raised:
            await shop.held.seal(ctx, 7)
        errors.append(str(raised.value))
        seen.told.set()

    async def it(ctx: Any) -> Any:
        session = of.shop.sessions.of(ctx)
        assert session is not None
        tasks.append(asyncio.create_task(after(ctx, session)))
        if cancelled:
            await seen.wait()
        return {"value": session.value}

    async with served(system, it, mode=mode, **STATEFUL) as of:
        session = await created(of.client)
        if cancelled:
            await seen.is_cancelled(of.client, session)
            # One more, so that what was cancelled is done with.
            await of.client.list_tools()
        else:
            told = await call(of.client, "it", session)
            assert carried(told) == {"sessionId": session["sessionId"]}
        later.set()
        await until(seen.told)
    assert len(errors) == 6
    assert all("answered or cancelled" in error for error in errors)
