"""The principal of a token: a JWT gives the same one on every SDK."""

from __future__ import annotations

import asyncio
import re
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

import pytest
import wire
from carriers import HELD
from hypothesis import given, settings
from hypothesis import strategies as st
from ledgers import memory
from mcp.server.auth.middleware.auth_context import auth_context_var
from mcp.server.auth.middleware.bearer_auth import AuthenticatedUser
from mcp.server.auth.provider import AccessToken
from shop import SYSTEMS, Shop, codec, guard, served
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
from sealwax.mcp import Principal, principal_from_access_token
from sealwax.mcp._principal import checked

if TYPE_CHECKING:
    from collections.abc import Iterator

    from starlette.requests import HTTPConnection


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
        ({"claims": {"iss": wire.ISSUER, "sub": "alice"}, "client_id": "alice"}, None),
        ({"claims": {"iss": wire.ISSUER, "sub": "alice", "client_id": "a"}}, "a"),
        ({"claims": {"iss": wire.ISSUER, "sub": "alice", "azp": "b"}}, "b"),
        ({"claims": {"iss": wire.ISSUER, "sub": "alice", "client_id": "a", "azp": "b"}}, "a"),
        # An opaque token, of which the verifier tells what it knows.
        ({"claims": {"iss": wire.ISSUER}, "subject": "alice"}, "cli-7"),
        ({"claims": {"iss": wire.ISSUER, "azp": "b"}, "subject": "alice"}, "b"),
        # What is not JSON is not looked at.
        ({"claims": {"iss": wire.ISSUER, "sub": "alice", "client_id": "a", "more": object()}}, "a"),
    ],
)
def test_an_access_token_names_somebody(fields: dict[str, Any], client: str | None) -> None:
    with presented(**fields):
        assert found() == Principal(issuer=wire.ISSUER, client=client, subject="alice")


@pytest.mark.parametrize(
    "fields",
    [
        {},
        {"subject": "alice"},
        {"claims": {"iss": wire.ISSUER}},
        {"claims": {"sub": "alice"}},
        {"claims": {"iss": wire.ISSUER, "sub": ""}},
        {"claims": {"iss": wire.ISSUER, "sub": 7}},
        {"claims": {"iss": wire.ISSUER, "sub": None}, "subject": "alice"},
        {"claims": {"iss": wire.ISSUER, "sub": "alice", "client_id": ""}},
        {"claims": {"iss": "", "sub": "alice"}},
    ],
)
def test_one_that_names_nobody_is_refused(fields: dict[str, Any]) -> None:
    assert found() is None
    with presented(**fields), pytest.raises(sealwax.InvalidArgument):
        found()


@pytest.mark.parametrize("part", [7, b"alice", ["alice"], "\ud800"])
def test_a_part_that_is_no_text_is_named(part: Any) -> None:
    for _ in range(2):
        with pytest.raises(sealwax.InvalidArgument, match="expected client to be a text, found"):
            checked(Principal(wire.ISSUER, part, "alice"))
    assert checked(Principal(wire.ISSUER, None, "alice")) == (wire.ISSUER, None, "alice")


#: What one encoding or another makes one of.
PIECES = ["Jos", "\ud800", "\ud801", "\udc00", "?", "\ufffd", "\U00010000", "\0", "é", "e\u0301"]
TEXTS = st.lists(st.sampled_from(PIECES), max_size=2).map("".join)
PRINCIPALS = st.builds(Principal, st.none() | TEXTS, st.none() | TEXTS, st.none() | TEXTS)
ENGINE = Engine(codec(), {"ledger": {"local": True}})
LEDGER = memory()
ASKED = sealwax.token_fields("tools/call"), "ask", None


def sealed(whom: Principal) -> str | None:
    try:
        whom = checked(whom)
        exchange, _ = ENGINE.message("tools/call", *ASKED, None, whom, None, False, True)
        return exchange.seal_state(b"7")
    except sealwax.InvalidArgument:
        return None


def revoked(whom: Principal) -> list[str]:
    """Return where a ledger records that a principal was revoked."""
    exchange, step = ENGINE.revoke(document_of(whom), None)
    command: Any = step
    while command["script"] != "revoke":
        command = exchange.told(Told(_json.document(asyncio.run(LEDGER.run(command)))))
    keys: list[str] = command["keys"]
    return keys


@settings(max_examples=300, deadline=None, derandomize=True, database=None)
@given(PRINCIPALS, PRINCIPALS)
def test_two_principals_that_differ_never_meet_or_are_refused(
    one: Principal, other: Principal
) -> None:
    tokens = []
    for whom in (one, other):
        tokens.append(sealed(whom))
        texts = [part for part in whom if part is not None]
        formed = all(re.search("[\ud800-\udfff]", text) is None for text in texts)
        # There is no other reason to refuse one.
        expected = formed and bool(whom.client or whom.subject) and all(texts)
        assert (tokens[-1] is not None) == expected, whom
    if None in tokens:
        return
    # In a frame, and as a document.
    _, step = ENGINE.message("tools/call", *ASKED, tokens[0], other, None, False, True)
    asking, _ = ENGINE.message("tools/call", *ASKED, tokens[0], None, None, False, True)
    told = asking.told(Told(_json.document(document_of(other))))
    refused = [] if one == other else ["principal_mismatch"]
    for found in (step, told):
        assert found["step"] == ("ask" if one == other else "reply")
        assert [entry["code"] for entry in found.get("refused") or ()] == refused
    # Nor does a revocation of one meet the other.
    assert (revoked(one) == revoked(other)) == (one == other)


@pytest.mark.anyio
async def test_what_one_sdk_sealed_opens_at_another() -> None:
    """With a JWT that names no client, for which the SDKs' verifiers fill in different ones."""
    baskets: list[str] = []
    claims = {"client_id": None}
    for system in SYSTEMS:
        async with served(system) as of:
            async with wire.over_http(of.url, "alice", claims=claims) as client:
                baskets.append(await HELD.good(client))
                for basket in baskets:
                    assert HELD.taken(await HELD.present(client, basket)), system
            async with wire.over_http(of.url, "mallory", claims=claims) as client:
                assert HELD.refused(await HELD.present(client, baskets[-1]))


class Somebody(AuthenticationBackend):
    def __init__(self, user: BaseUser) -> None:
        self._user = user

    async def authenticate(self, conn: HTTPConnection) -> tuple[AuthCredentials, BaseUser]:
        return AuthCredentials(), self._user


@pytest.mark.anyio
@pytest.mark.parametrize(
    ("system", "user", "warns"),
    [
        *((system, None, True) for system in SYSTEMS),
        # Starlette's own.
        ("", SimpleUser("alice"), True),
        ("", UnauthenticatedUser(), False),
        ("", None, False),
    ],
)
async def test_anonymous_beside_a_user_is_warned_of_once(
    system: str, user: BaseUser | None, warns: bool, caplog: pytest.LogCaptureFixture
) -> None:
    of = Shop(guard())
    app = (
        wire.app(system, of) if system else of.mcpserver().streamable_http_app(stateless_http=True)
    )
    if user is not None:
        app.add_middleware(AuthenticationMiddleware, backend=Somebody(user))
    with wire.listening(app) as url:
        async with wire.over_http(url, "alice") as client:
            for _ in range(2):
                await client.list_tools()
    said = [one for one in caplog.records if one.name == "sealwax.mcp"]
    assert [one.levelname for one in said] == ["WARNING"] * warns
    for warning in said:
        assert "principal=sealwax.mcp.principal_from_access_token" in warning.getMessage()
        assert "alice" not in warning.getMessage()
