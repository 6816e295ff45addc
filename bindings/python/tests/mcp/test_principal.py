"""The principal of a token: a JWT gives the same one on every SDK."""

from __future__ import annotations

import asyncio
import re
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

import pytest
import shop
import wire
from carriers import Handle, HandleState
from hypothesis import given, settings
from hypothesis import strategies as st
from ledgers import memory
from mcp.server.auth.middleware.auth_context import auth_context_var
from mcp.server.auth.middleware.bearer_auth import AuthenticatedUser
from mcp.server.auth.provider import AccessToken
from starlette.authentication import (
    AuthCredentials,
    AuthenticationBackend,
    BaseUser,
    SimpleUser,
    UnauthenticatedUser,
)
from starlette.middleware.authentication import AuthenticationMiddleware

import sealwax
from sealwax import _json
from sealwax._engine import Guard as Engine
from sealwax._engine import Told, document_of
from sealwax.mcp import Guard, Principal, principal_from_access_token
from sealwax.mcp._principal import checked

if TYPE_CHECKING:
    from collections.abc import Iterator

    from starlette.requests import HTTPConnection

KEYS = str(sealwax.Key.generate().to_text())
ISSUER = shop.ISSUER


@contextmanager
def presented(**fields: Any) -> Iterator[None]:
    """Set what the SDK sets once it has verified an access token."""
    token = AccessToken(**{"token": "t", "client_id": "cli-7", "scopes": [], **fields})
    before = auth_context_var.set(AuthenticatedUser(token))
    try:
        yield
    finally:
        auth_context_var.reset(before)


def found() -> Principal | None:
    ctx: Any = None
    return principal_from_access_token(ctx)


@pytest.mark.parametrize(
    ("fields", "client"),
    [
        # Claims of a JWT decide alone: what a verifier makes up for a client is its own.
        ({"claims": {"iss": ISSUER, "sub": "alice"}, "client_id": "alice"}, None),
        ({"claims": {"iss": ISSUER, "sub": "alice", "client_id": "a"}}, "a"),
        ({"claims": {"iss": ISSUER, "sub": "alice", "azp": "b"}}, "b"),
        ({"claims": {"iss": ISSUER, "sub": "alice", "client_id": "a", "azp": "b"}}, "a"),
        # An opaque token, of which the verifier tells what it knows.
        ({"claims": {"iss": ISSUER}, "subject": "alice"}, "cli-7"),
        ({"claims": {"iss": ISSUER, "azp": "b"}, "subject": "alice"}, "b"),
        # What is not JSON is not looked at.
        ({"claims": {"iss": ISSUER, "sub": "alice", "client_id": "a", "more": object()}}, "a"),
    ],
)
def test_an_access_token_names_somebody(fields: dict[str, Any], client: str | None) -> None:
    with presented(**fields):
        assert found() == Principal(issuer=ISSUER, client=client, subject="alice")


@pytest.mark.parametrize(
    "fields",
    [
        {},
        {"subject": "alice"},
        {"claims": {"iss": ISSUER}},
        {"claims": {"sub": "alice"}},
        {"claims": {"iss": ISSUER, "sub": ""}},
        {"claims": {"iss": ISSUER, "sub": 7}},
        {"claims": {"iss": ISSUER, "sub": None}, "subject": "alice"},
        {"claims": {"iss": ISSUER, "sub": "alice", "client_id": ""}},
        {"claims": {"iss": "", "sub": "alice"}},
    ],
)
def test_one_that_names_nobody_is_refused(fields: dict[str, Any]) -> None:
    with presented(**fields), pytest.raises(sealwax.InvalidArgument):
        found()


def test_without_a_token_there_is_nobody() -> None:
    assert found() is None


@pytest.mark.parametrize("part", [7, b"alice", ["alice"], "\ud800"])
def test_a_part_that_is_no_text_is_named(part: Any) -> None:
    for _ in range(2):
        with pytest.raises(sealwax.InvalidArgument, match="expected client to be a text, found"):
            checked(Principal(ISSUER, part, "alice"))
    assert checked(Principal(ISSUER, None, "alice")) == (ISSUER, None, "alice")


#: What one encoding or another makes one of.
PIECES = ["Jos", "\ud800", "\ud801", "\udc00", "?", "\ufffd", "\U00010000", "\0", "é", "e\u0301"]
TEXTS = st.lists(st.sampled_from(PIECES), max_size=2).map("".join)
PRINCIPALS = st.builds(Principal, st.none() | TEXTS, st.none() | TEXTS, st.none() | TEXTS)
ENGINE = Engine(shop.codec(KEYS), {"ledger": {"local": True}})
LEDGER = memory()
ASKED = sealwax.token_fields("tools/call"), "ask", None


def sealed(whom: Principal) -> str:
    exchange, _ = ENGINE.message("tools/call", *ASKED, None, whom, None, False, True)
    return exchange.seal_state(b"7")


def revoked(whom: Principal) -> list[str]:
    """Return where a ledger records that a principal was revoked."""
    exchange, step = ENGINE.revoke(document_of(whom), None)
    command: Any = step
    while command["script"] != "revoke":
        step = exchange.told(Told(_json.document(asyncio.run(LEDGER.run(command)))))
        command = step
    keys: list[str] = command["keys"]
    return keys


def codes(step: Any) -> set[str]:
    return {one["code"] for one in step.get("refused") or ()}


@settings(max_examples=300, deadline=None, derandomize=True, database=None)
@given(PRINCIPALS, PRINCIPALS)
def test_two_principals_that_differ_never_meet_or_are_refused(
    one: Principal, other: Principal
) -> None:
    def taken(whom: Principal) -> bool:
        try:
            return checked(whom) is not None and bool(sealed(whom))
        except sealwax.InvalidArgument:
            return False

    # There is no other reason to refuse one.
    for whom in (one, other):
        texts = [part for part in whom if part is not None]
        formed = all(re.search("[\ud800-\udfff]", text) is None for text in texts)
        assert taken(whom) == (formed and bool(whom.client or whom.subject) and all(texts)), whom
    if not (taken(one) and taken(other)):
        return
    token = sealed(one)
    # In a frame, and as a document.
    _, step = ENGINE.message("tools/call", *ASKED, token, other, None, False, True)
    asking, _ = ENGINE.message("tools/call", *ASKED, token, None, None, False, True)
    told = asking.told(Told(_json.document(document_of(other))))
    for found in (step, told):
        assert found["step"] == ("ask" if one == other else "reply")
        assert codes(found) == (set() if one == other else {"principal_mismatch"})
    # Nor does a revocation of one meet the other.
    assert (revoked(one) == revoked(other)) == (one == other)


@pytest.mark.anyio
async def test_what_one_sdk_sealed_opens_at_another() -> None:
    """With a JWT that names no client, for which the SDKs' verifiers fill in different ones."""
    baskets: dict[str, str] = {}
    for system in shop.SYSTEMS:
        guard = Guard(codec=shop.codec(KEYS), principal=principal_from_access_token)
        with wire.listening(wire.app(system, shop.Shop(guard))) as url:
            async with wire.over_http(url, "alice", claims={"client_id": None}) as client:
                baskets[system] = await HandleState().good(client)
                for basket in baskets.values():
                    told = await HandleState().present(client, basket)
                    assert HandleState().taken(told), (system, list(baskets))
            async with wire.over_http(url, "mallory", claims={"client_id": None}) as client:
                told = await HandleState().present(client, baskets[system])
                assert told["content"] == Handle.refusal["content"]


@pytest.mark.anyio
@pytest.mark.parametrize("system", shop.SYSTEMS)
async def test_anonymous_beside_a_user_is_warned_of_once(
    system: str, caplog: pytest.LogCaptureFixture
) -> None:
    guard = Guard(codec=shop.codec(KEYS), principal="anonymous")
    with wire.listening(wire.app(system, shop.Shop(guard))) as url:
        async with wire.over_http(url, "alice") as client:
            for _ in range(2):
                await client.list_tools()
    (warning,) = (one for one in caplog.records if one.name == "sealwax.mcp")
    assert warning.levelname == "WARNING"
    assert "principal=sealwax.mcp.principal_from_access_token" in warning.getMessage()
    assert "alice" not in warning.getMessage()


@pytest.mark.anyio
@pytest.mark.parametrize("user", [SimpleUser("alice"), UnauthenticatedUser()])
async def test_a_user_of_starlettes_own_is_one(
    user: BaseUser, caplog: pytest.LogCaptureFixture
) -> None:
    class Somebody(AuthenticationBackend):
        async def authenticate(self, _conn: HTTPConnection) -> tuple[AuthCredentials, BaseUser]:
            return AuthCredentials(), user

    guard = Guard(codec=shop.codec(KEYS), principal="anonymous")
    app = shop.mcpserver(shop.Shop(guard)).streamable_http_app(stateless_http=True)
    app.add_middleware(AuthenticationMiddleware, backend=Somebody())
    with wire.listening(app) as url:
        async with wire.over_http(url, "alice") as client:
            await client.list_tools()
    warned = [one for one in caplog.records if one.name == "sealwax.mcp"]
    assert len(warned) == user.is_authenticated


@pytest.mark.anyio
async def test_anonymous_without_a_user_is_not_warned_of(caplog: pytest.LogCaptureFixture) -> None:
    guard = Guard(codec=shop.codec(KEYS), principal="anonymous")
    app = shop.mcpserver(shop.Shop(guard)).streamable_http_app(stateless_http=True)
    with wire.listening(guard.asgi(app)) as url:
        async with wire.over_http(url, "alice") as client:
            await client.list_tools()
    assert [one for one in caplog.records if one.name == "sealwax.mcp"] == []
