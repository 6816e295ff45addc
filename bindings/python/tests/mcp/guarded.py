"""A shop behind a guard, and the official client."""

from __future__ import annotations

from contextlib import asynccontextmanager
from typing import TYPE_CHECKING, Any

import pytest
import shop
import wire

import sealwax
from sealwax.mcp import (
    Guard,
    Refusal,
    principal_from_access_token,
)

if TYPE_CHECKING:
    from collections.abc import AsyncIterator

    from mcp import Client

KEYS = str(sealwax.Key.generate().to_text())
SYSTEMS = pytest.mark.parametrize("system", shop.SYSTEMS)


class Served:
    """A shop that is served, what its guard refused, and alice's client."""

    def __init__(self, url: str, of: shop.Shop, refusals: list[Refusal], client: Client) -> None:
        self.url, self.shop, self.refusals, self.client = url, of, refusals, client

    @property
    def codes(self) -> list[str]:
        return [refusal.code for refusal in self.refusals]


@asynccontextmanager
async def served(
    system: str = "mcpserver", *, stateless: bool = True, mode: str = "2026-07-28", **options: Any
) -> AsyncIterator[Served]:
    refusals: list[Refusal] = []
    defaults = {
        "codec": shop.codec(KEYS),
        "principal": principal_from_access_token,
        "on_refused": refusals.append,
    }
    of = shop.Shop(Guard(**{**defaults, **options}))
    with wire.listening(wire.app(system, of, stateless=stateless)) as url:
        async with wire.over_http(url, "alice", mode=mode) as client:
            yield Served(url, of, refusals, client)
