"""Help for tests of an application: a clock and a principal to set, a codec, a ledger, a client.

The clock is that of the codecs and ledgers that are made with it: no other code sees its time.

>>> import sealwax
>>> from sealwax import testing
>>> clock = testing.TestClock()
>>> alice = testing.codec(clock).view(subject="alice")
>>> token = alice.cursor("tools/list").seal(b"page 2")
>>> clock.advance(24 * 3600)
>>> try:
...     alice.cursor("tools/list").open(token)
... except sealwax.Refused as refused:
...     print(refused.code)
expired
"""

from __future__ import annotations

import time
from contextlib import asynccontextmanager, suppress
from typing import TYPE_CHECKING, Any

from ._codec import Codec
from ._keys import Key, KeyRing
from ._native import call, lib, own
from ._wire import Principal
from .ledger import Memory

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Mapping

    from mcp import Client

__all__ = ["AUDIENCE", "TestClock", "TestPrincipal", "codec", "connect", "ledger"]

#: The service that :func:`codec` is for, unless told.
AUDIENCE = "https://test.example.com"


class TestClock:
    """A clock that stands still until it is set or advanced. Times are in Unix seconds.

    It begins at `now`, by default the present time.

    >>> clock = TestClock(1_800_000_000)
    >>> clock.advance(60)
    >>> clock.now()
    1800000060.0
    """

    #: For pytest, which collects classes by such names.
    __test__ = False

    def __init__(self, now: float | None = None) -> None:
        self._ms = _milliseconds(time.time() if now is None else now)
        self._clock = own("sealwax_test_clock", lib.sealwax_test_clock_new, self._ms)

    def set(self, now: float) -> None:
        """Set the time; backwards too."""
        self._ms = _milliseconds(now)
        call(lib.sealwax_test_clock_set, self._clock, self._ms)

    def advance(self, seconds: float) -> None:
        """Let time pass."""
        self.set((self._ms + round(1000 * seconds)) / 1000)

    def now(self) -> float:
        """Return the time."""
        return self._ms / 1000

    def __repr__(self) -> str:
        return f"<TestClock at {self.now()}>"


def _milliseconds(now: float) -> int:
    # A time before 1970 is 1970, as the system's is.
    return max(0, round(1000 * now))


class TestPrincipal:
    """The principal of all requests of a test, which it may set between them.

    Pass it to :class:`sealwax.mcp.Guard` as `principal`. Without parts it is nobody: a caller who
    is not authenticated.

    >>> user = TestPrincipal(subject="alice")
    >>> user.set(subject="mallory")
    """

    #: For pytest, which collects classes by such names.
    __test__ = False

    def __init__(
        self, *, subject: str | None = None, client: str | None = None, issuer: str | None = None
    ) -> None:
        self.set(subject=subject, client=client, issuer=issuer)

    def set(
        self, *, subject: str | None = None, client: str | None = None, issuer: str | None = None
    ) -> None:
        """Set whoever sends the next requests; without parts nobody."""
        parts = Principal(issuer, client, subject)
        self._principal = parts if any(part is not None for part in parts) else None

    def __call__(self, _ctx: object) -> Principal | None:
        """Return the principal, as a guard asks for it."""
        return self._principal


class _Codec(Codec):
    __slots__ = ("_clock",)

    def __init__(self, clock: TestClock, **given: Any) -> None:
        self._clock = clock._clock
        super().__init__(**given)

    def _new(self, *arguments: Any) -> Any:
        return own("sealwax_codec", lib.sealwax_test_codec_new, *arguments, self._clock)


def codec(
    clock: TestClock,
    *,
    keys: KeyRing | str | None = None,
    audience: str = AUDIENCE,
    payload_limit: int | None = None,
    clock_tolerance: int | None = None,
    session_max_age: int | None = None,
) -> Codec:
    """Return a codec on a clock, by default with a fresh key: nothing of another test opens at it.

    The rest is as for :class:`sealwax.Codec`.
    """
    return _Codec(
        clock,
        keys=KeyRing([Key.generate()]) if keys is None else keys,
        audience=audience,
        payload_limit=payload_limit,
        clock_tolerance=clock_tolerance,
        session_max_age=session_max_age,
    )


class _Memory(Memory):
    __slots__ = ("_clock",)

    def __init__(self, clock: TestClock, capacity: int) -> None:
        self._clock = clock
        super().__init__(capacity=capacity)

    def _now(self) -> int:
        return int(self._clock.now())


def ledger(clock: TestClock, *, capacity: int = 64 << 20) -> Memory:
    """Return a ledger in memory on a clock. Use one clock for it and the codec of a guard."""
    return _Memory(clock, capacity)


@asynccontextmanager
async def connect(
    server: Any, *, headers: Mapping[str, str] | None = None, path: str = "/mcp", **options: Any
) -> AsyncIterator[Client]:
    """Connect the official client to a server in this process, without a port.

    `server` is as for :meth:`sealwax.mcp.Guard.protect`; or an ASGI application, such as
    ``server.streamable_http_app(stateless_http=True)``, which gets `headers` with each request at
    `path`, and whose lifespan runs meanwhile. `options` are those of ``mcp.Client``.

    >>> import asyncio
    >>> from mcp.server import MCPServer
    >>> from sealwax import testing
    >>> from sealwax.mcp import Guard
    >>> clock = testing.TestClock()
    >>> user = testing.TestPrincipal(subject="alice")
    >>> guard = Guard(codec=testing.codec(clock), principal=user, ledger=testing.ledger(clock))
    >>> server = MCPServer("notes")
    >>> guard.protect(server)
    >>> async def test() -> None:
    ...     async with testing.connect(server) as client:
    ...         print((await client.list_tools()).tools)
    >>> asyncio.run(test())
    []
    """
    failure: Exception | None = None
    async with _connected(server, dict(headers or {}), path, options) as client:
        try:
            yield client
        except Exception as error:
            failure = error
    # Not from within: the task groups of the SDK would make an ExceptionGroup of a failed test.
    if failure is not None:
        raise failure


@asynccontextmanager
async def _connected(
    server: Any, headers: dict[str, str], path: str, options: dict[str, Any]
) -> AsyncIterator[Client]:
    from mcp import Client
    from mcp.server import MCPServer, Server

    # FastMCP is optional.
    within = getattr(server, "_mcp_server", server)
    if isinstance(within, (MCPServer, Server)):
        async with Client(within, **options) as client:
            yield client
        return

    import httpx2
    from mcp.client.streamable_http import streamable_http_client

    # The SDK's protection against DNS rebinding expects a host of this machine.
    url = "http://127.0.0.1:8000"
    transport = httpx2.ASGITransport(app=server)
    async with (
        _running(server),
        httpx2.AsyncClient(transport=transport, base_url=url, headers=headers) as http,
        Client(streamable_http_client(url + path, http_client=http), **options) as client,
    ):
        yield client


@asynccontextmanager
async def _running(app: Any) -> AsyncIterator[None]:
    """Start an application, and shut it down at the end, as its server would."""
    import anyio

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
