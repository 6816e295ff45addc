"""The lifespan of an ASGI application that no server runs."""

from __future__ import annotations

from contextlib import asynccontextmanager, suppress
from typing import TYPE_CHECKING, Any

import anyio

if TYPE_CHECKING:
    from collections.abc import AsyncIterator


@asynccontextmanager
async def running(app: Any) -> AsyncIterator[None]:
    """Start an application, and shut it down at the end, as its server would."""
    told, asked = anyio.create_memory_object_stream[dict[str, Any]](2)
    answers, answered = anyio.create_memory_object_stream[dict[str, Any]](2)
    scope = {"type": "lifespan", "asgi": {"version": "3.0"}, "state": {}}

    async def live() -> None:
        with answers, suppress(anyio.BrokenResourceError):
            try:
                await app(scope, asked.receive, answers.send)
            except Exception:
                # One without a lifespan raises, and so does one that has told that it failed.
                await answers.send({"type": "none"})

    failed: Any = None
    async with anyio.create_task_group() as tasks:
        with told, asked, answered:
            tasks.start_soon(live)
            await told.send({"type": "lifespan.startup"})
            started = await answered.receive()
            if started["type"] == "lifespan.startup.failed":
                failed = started.get("message")
            else:
                yield
            if started["type"] == "lifespan.startup.complete":
                await told.send({"type": "lifespan.shutdown"})
                await answered.receive()
    if failed is not None:
        raise RuntimeError(f"server: expected an application that starts, found: {failed}")
