"""A server of one tool with a session and a ledger, called several times at once."""

from __future__ import annotations

from contextlib import asynccontextmanager
from typing import TYPE_CHECKING, Any

import anyio
import data_layer
import pytest
import tally
import wire
from lone import Lone

import sealwax
from sealwax.mcp import Guard, Refusal, principal_from_access_token

if TYPE_CHECKING:
    import threading
    from collections.abc import AsyncIterator, Awaitable, Callable

    from mcp import Client

    from sealwax.mcp import Session, Sessions

#: Each kind of server, and each store, once: neither knows of the other.
SYSTEM_AND_STORE = pytest.mark.parametrize(
    ("system", "store"),
    [
        ("mcpserver", "redis"),
        ("lowlevel", "sqlite"),
        ("fastmcp", "memory"),
        ("mcpserver", "valkey"),
    ],
    indirect=["store"],
)
#: The same for the stores that several processes can share.
SYSTEM_AND_SHARED = pytest.mark.parametrize(
    ("system", "shared"),
    [("mcpserver", "redis"), ("lowlevel", "sqlite"), ("fastmcp", "redis")],
    indirect=["shared"],
)


def gone(session: dict[str, Any]) -> dict[str, Any]:
    return sealwax.answer("data-layer", session_id=session["sessionId"])


class Working:
    """A server of one tool that has a session, which a client asks for several times at once.

    With `crowd` each call waits, before it goes on, until there are as many.
    """

    def __init__(self, does: Callable[[Session], Any], guard: dict[str, Any]) -> None:
        self.refusals: list[Refusal] = []
        self.crowd, self.ran = 1, 0
        self._met: anyio.Event | None = None
        self._here = 0
        defaults: dict[str, Any] = {
            "codec": tally.codec(data_layer.KEYS),
            "principal": principal_from_access_token,
            "on_refused": self.refusals.append,
        }
        self.guard = Guard(**{**defaults, **guard})
        self.sessions: Sessions = self.guard.sessions(initial=lambda _ctx: 0)
        self._does = does

    @property
    def codes(self) -> list[str]:
        return [refusal.code for refusal in self.refusals]

    async def it(self, ctx: Any) -> Any:
        self.ran += 1
        session = self.sessions.of(ctx)
        assert session is not None
        await self._meet()
        did = self._does(session)
        did = await did if hasattr(did, "__await__") else did
        return {"did": did}

    async def _meet(self) -> None:
        self._met = self._met or anyio.Event()
        met, self._here = self._met, self._here + 1
        if self._here == self.crowd:
            self._met, self._here = None, 0
            met.set()
        await met.wait()


@asynccontextmanager
async def working(
    does: Callable[[Session], Any], guard: dict[str, Any], system: str = "mcpserver", **how: Any
) -> AsyncIterator[tuple[Working, Client]]:
    of = Working(does, guard)
    with wire.listening(wire.app(system, None, where=Lone(of.guard, of.it), **how)) as url:
        async with wire.over_http(url, "alice", mode="2026-07-28") as client:
            yield of, client


def add_one(session: Session) -> Any:
    session.write(session.value + 1)
    return session.value


async def at_once(*calls: Callable[[], Awaitable[Any]]) -> list[Any]:
    told: dict[int, Any] = {}

    async def one(place: int, asked: Callable[[], Awaitable[Any]]) -> None:
        told[place] = await asked()

    async with anyio.create_task_group() as group:
        for place, asked in enumerate(calls):
            group.start_soon(one, place, asked)
    return [told[place] for place in range(len(calls))]


async def until(event: threading.Event) -> None:
    with anyio.fail_after(60):
        while not event.is_set():
            await anyio.sleep(0.01)
