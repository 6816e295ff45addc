"""The script of a handler, on a real server."""

from __future__ import annotations

import json
from abc import ABC, abstractmethod
from dataclasses import dataclass, field
from functools import partial
from typing import TYPE_CHECKING, Any

from mcp.shared.exceptions import MCPError

import sealwax
from sealwax.mcp import Guard, HandleRefused
from sealwax.mcp._handler.exchange import exchange_of

if TYPE_CHECKING:
    from collections.abc import Sequence

    from world import World

MODERN = "2026-07-28"
CACHED = {"cacheScope": "private", "ttlMs": 0}


@dataclass
class Found:
    """The outcome of an event."""

    event: dict[str, Any]
    #: The message, for what is echoed.
    sent: dict[str, Any]
    asked: list[str] = field(default_factory=list)
    #: Whether each token that `accept` got belongs to no principal.
    anybodys: list[bool] = field(default_factory=list)
    #: What the ledger was asked, but `open`.
    commands: list[str] = field(default_factory=list)
    #: What is wrong with an event during this one.
    wrong: AssertionError | None = None
    delivered: dict[str, Any] | None = None
    did: list[Any] = field(default_factory=list)
    answered: dict[str, Any] | None = None
    reported: list[dict[str, str]] = field(default_factory=list)


class Script(ABC):
    """What the server of a transcript does."""

    world: World
    found: Found
    _guard: Guard
    _sessions: Any

    @abstractmethod
    async def play(self, events: Sequence[dict[str, Any]]) -> None:
        """Play events, each held to what it says."""

    async def _seen(self, ctx: Any, call_next: Any) -> Any:
        """Record a message that the guard delivered."""
        found = self.found
        if ctx.method == found.sent.get("method"):
            params = ctx.params or {}
            session = None if self._sessions is None else self._sessions.of(ctx)
            found.delivered = {
                "state": params.get("requestState"),
                "cursor": params.get("cursor"),
                "session": _seen(session),
            }
        return await call_next(ctx)

    async def _handle(self, ctx: Any, _params: Any) -> Any:
        returned: Any = {}
        for operation in self.found.event.get("handler", ()):
            if operation[0] == "return":
                result = self.world.resolved(self._with_states(ctx, operation[1]))
                returned = {**_demanded(ctx), **result}
            elif operation[0] == "result":
                returned = self._sessions.of(ctx).result(partial(_result_of, ctx))
            elif operation[0] == "throw":
                raise MCPError(-32000, "the handler's own")
            else:
                self.found.did.append(await self._did(ctx, operation))
        try:
            await self.play(self.found.event.get("during", ()))
        except AssertionError as error:
            self.found.wrong = error
        return returned

    def _with_states(self, ctx: Any, value: Any) -> Any:
        """Return a result with what an author gets for each state that it names."""
        if isinstance(value, list):
            return [self._with_states(ctx, one) for one in value]
        if not isinstance(value, dict):
            return value
        if "$state" in value:
            return self._guard.write_state(ctx, value["$state"])
        return {name: self._with_states(ctx, one) for name, one in value.items()}

    async def _did(self, ctx: Any, operation: list[Any]) -> Any:
        try:
            return await self._operate(ctx, *operation)
        except HandleRefused as refused:
            return {"refused": True} if refused.error.code == -32602 else {"failed": True}
        except sealwax.SealwaxError as error:
            return {"error": error.code}

    async def _operate(self, ctx: Any, name: str, *given: Any) -> Any:
        if name == "state":
            return exchange_of(self._guard, ctx).state()
        if name in ("session", "write", "update", "fork"):
            session = self._sessions.of(ctx)
            if name == "update":
                session.update(Adding(*given))
                return "ok"
            if name == "session":
                return _seen(session)
            return session.fork() if name == "fork" else session.write(*given) or "ok"
        options = given[-1] if isinstance(given[-1], dict) and len(given) > 1 else {}
        return await self._handled(ctx, name, given, options)

    async def _handled(self, ctx: Any, name: str, given: Any, options: dict[str, Any]) -> Any:
        rows = partial(self._guard.reference_handles, max_age=options.get("maxAge"))
        single_use = options.get("once", False)
        held = self._guard.self_contained_handles(given[0], single_use=single_use)
        handle: Any = self.world.resolved(given[1]) if len(given) > 1 else None
        made: Any
        if name == "mint":
            made = await rows(given[0]).mint(ctx)
        elif name == "check":
            made = await rows(given[0]).check(ctx, handle)
        elif name == "seal":
            made = await held.seal(ctx, handle)
        elif name == "renew":
            made = await held.renew(ctx, await held.open(ctx, handle), given[2])
        elif name == "open":
            opened = await held.open(ctx, handle)
            return {"value": opened.value, "generation": opened.opened.generation}
        else:
            assert name == "end"
            await (held if options.get("selfContained") else rows(given[0])).end(ctx, handle)
            return "ok"
        if "as" in options:
            self.world.handles[options["as"]] = made.handle
        return {"handle": made.handle}


def _seen(session: Any) -> Any:
    return session and {"value": session.value, "generation": session.generation}


def _demanded(ctx: Any) -> dict[str, Any]:
    """Return what every result has in the newest revision."""
    if ctx.protocol_version != MODERN:
        return {}
    cached = {} if ctx.method in ("tools/call", "prompts/get") else CACHED
    return {"resultType": "complete", **cached}


def _result_of(ctx: Any, value: Any) -> dict[str, Any]:
    """Make a tool's result of a session's value."""
    return {**_demanded(ctx), "content": [{"type": "text", "text": json.dumps(value)}]}


class Adding:
    """A function for `update`: it adds to a number. With `fails` it does so once."""

    def __init__(self, number: int, options: dict[str, Any] | None = None) -> None:
        self._number, self._fails = number, (options or {}).get("fails", False)
        self._calls = 0

    def __call__(self, value: int) -> int:
        self._calls += 1
        if self._fails and self._calls > 1:
            raise ValueError(value)
        return value + self._number
