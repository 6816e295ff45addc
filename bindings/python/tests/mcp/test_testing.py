"""sealwax.testing, as the tests of an application use it."""

from __future__ import annotations

import time
from contextlib import asynccontextmanager
from typing import TYPE_CHECKING, Any

import pytest
from carriers import STATE
from mcp.server.auth.settings import AuthSettings
from shop import Shop
from starlette.applications import Starlette
from wire import Verifier, bearer

import sealwax
from sealwax import testing
from sealwax.mcp import Guard, principal_from_access_token

if TYPE_CHECKING:
    from collections.abc import AsyncIterator

    from mcp import Client

pytestmark = pytest.mark.anyio


def made() -> Guard:
    return Guard(codec=testing.codec(testing.TestClock()), principal="anonymous")


async def is_taken(client: Client, state: str) -> bool:
    return STATE.taken(await STATE.present(client, state))


async def test_the_time_and_the_user_are_the_tests() -> None:
    clock = testing.TestClock(1_800_000_000)
    user = testing.TestPrincipal(subject="alice")
    refused: list[str] = []
    guard = Guard(
        codec=testing.codec(clock),
        principal=user,
        ledger=testing.ledger(clock),
        on_refused=lambda refusal: refused.append(refusal.code),
    )
    async with testing.connect(Shop(guard).mcpserver()) as client:
        state = await STATE.good(client)
        user.set(subject="mallory")
        assert not await is_taken(client, state)
        user.set()
        assert not await is_taken(client, state)
        user.set(subject="alice")
        clock.advance(599)
        assert await is_taken(client, state)
        assert not await is_taken(client, state)
        state = await STATE.good(client)
        clock.advance(600)
        assert not await is_taken(client, state)
        clock.set(1_800_000_600)
        assert await is_taken(client, state)
    assert refused == ["principal_mismatch", "unauthenticated", "used", "expired"]


async def test_a_codec_has_a_key_of_its_own_and_limits() -> None:
    clock = testing.TestClock()
    assert abs(clock.now() - time.time()) < 60
    token = testing.codec(clock).view(subject="alice").cursor("tools/list").seal(b"2")
    other = testing.codec(clock, payload_limit=1).view(subject="alice").cursor("tools/list")
    with pytest.raises(sealwax.Refused):
        other.open(token)
    with pytest.raises(sealwax.TooLarge):
        other.seal(b"22")
    keys = sealwax.Key.generate().to_text()
    one, two = (testing.codec(clock, keys=keys).view(subject="alice") for _ in range(2))
    assert two.cursor("tools/list").open(one.cursor("tools/list").seal(b"2")).payload == b"2"
    # Its clock is the codec's alone.
    real = sealwax.Codec(keys=keys, audience=testing.AUDIENCE).view(subject="alice")
    clock.advance(3600)
    with pytest.raises(sealwax.NotYetValid):
        real.cursor("tools/list").open(one.cursor("tools/list").seal(b"2"))


async def test_over_http_with_the_applications_own_authentication() -> None:
    clock = testing.TestClock()
    guard = Guard(codec=testing.codec(clock), principal=principal_from_access_token)
    auth = AuthSettings.model_validate(
        {"issuer_url": "https://idp.example.com", "resource_server_url": None}
    )
    server = Shop(guard).mcpserver(auth=auth, token_verifier=Verifier())
    app = server.streamable_http_app(stateless_http=True)
    told: list[str] = []
    # As an application adds to it.
    lifespan = app.router.lifespan_context

    @asynccontextmanager
    async def telling(app: Starlette) -> AsyncIterator[Any]:
        async with lifespan(app) as state:
            told.append("started")
            yield state
        told.append("ended")

    app.router.lifespan_context = telling
    headers = {"authorization": f"Bearer {bearer('alice')}"}
    async with testing.connect(app, headers=headers) as client:
        assert told == ["started"]
        assert await is_taken(client, await STATE.good(client))
        clock.advance(600)
    assert told == ["started", "ended"]


@pytest.mark.parametrize("over", ["memory", "http"])
async def test_what_fails_in_a_test_fails_as_itself(over: str) -> None:
    server: Any = Shop(made()).mcpserver()
    if over == "http":
        server = server.streamable_http_app(stateless_http=True)
    with pytest.raises(AssertionError, match="expected"):
        async with testing.connect(server):
            raise AssertionError("expected")


async def test_an_application_that_does_not_start_says_why() -> None:
    @asynccontextmanager
    async def failing(_app: Starlette) -> AsyncIterator[None]:
        raise OSError("no database")
        yield

    with pytest.raises(RuntimeError, match="no database"):
        async with testing.connect(Starlette(lifespan=failing)):
            pass
