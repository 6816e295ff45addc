"""A tally behind a guard with data-layer sessions, and what the official client sends it."""

from __future__ import annotations

from contextlib import asynccontextmanager
from typing import TYPE_CHECKING, Any

import mcp_types as types
import tally
import wire
from carriers import outcome

import sealwax
from sealwax.mcp import (
    SESSION_META_KEY,
    Guard,
    Refusal,
    principal_from_access_token,
)

if TYPE_CHECKING:
    from collections.abc import AsyncIterator

    from mcp import Client

KEYS = str(sealwax.Key.generate().to_text())
MODES = {"2026-07-28": "2026-07-28", "2025-11-25": "legacy"}
REQUIRED = sealwax.answer("data-layer-required")


class Asked(types.Request[types.RequestParams, Any]):
    """A request of any method."""

    method: str
    params: types.RequestParams


def meta(session: Any) -> Any:
    return {SESSION_META_KEY: session}


class Raw(types.Result):
    """A result with all that was sent."""

    model_config = types.Result.model_config | {"extra": "allow"}


async def ask(client: Client, method: str, session: Any = None, **params: Any) -> dict[str, Any]:
    carried = {} if session is None else {"_meta": meta(session)}
    request: Any = Asked(method=method, params=types.RequestParams.model_validate(carried))
    if params:
        request = types.CallToolRequest(
            params=types.CallToolRequestParams.model_validate({**params, **carried})
        )
    return await outcome(client.session.send_request(request, Raw))


async def call(client: Client, tool: str, session: Any = None, **arguments: Any) -> dict[str, Any]:
    return await ask(client, "tools/call", session, name=tool, arguments=arguments)


async def created(client: Client) -> dict[str, Any]:
    session: dict[str, Any] = (await ask(client, "sessions/create"))["session"]
    assert set(session) == {"sessionId", "expiresAt", "state"}
    return session


def carried(told: dict[str, Any]) -> dict[str, Any]:
    session: dict[str, Any] = told["_meta"][SESSION_META_KEY]
    return session


class Served:
    def __init__(self, url: str, of: tally.Tally, refusals: list[Refusal], client: Client) -> None:
        self.url, self.of, self.refusals, self.client = url, of, refusals, client

    @property
    def codes(self) -> list[str]:
        return [refusal.code for refusal in self.refusals]


@asynccontextmanager
async def served(
    system: str = "mcpserver",
    revision: str = "2026-07-28",
    *,
    guard: dict[str, Any] | None = None,
    **options: Any,
) -> AsyncIterator[Served]:
    refusals: list[Refusal] = []
    defaults: Any = {
        "codec": tally.codec(KEYS),
        "principal": principal_from_access_token,
        "on_refused": refusals.append,
    }
    of = tally.Tally(Guard(**{**defaults, **(guard or {})}), **options)
    with wire.listening(wire.app(system, of, where=tally)) as url:
        async with wire.over_http(url, "alice", mode=MODES[revision]) as client:
            yield Served(url, of, refusals, client)
