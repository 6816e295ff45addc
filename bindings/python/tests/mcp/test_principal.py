"""The principal of a token: a JWT gives the same one on every SDK."""

from __future__ import annotations

from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

import pytest
import wire
from carriers import HELD
from mcp.server.auth.middleware.auth_context import auth_context_var
from mcp.server.auth.middleware.bearer_auth import AuthenticatedUser
from mcp.server.auth.provider import AccessToken
from shop import SYSTEMS, Shop, guard, served
from starlette.authentication import SimpleUser, UnauthenticatedUser

import sealwax
from sealwax.mcp import Principal, principal_from_access_token
from sealwax.mcp._principal import checked

if TYPE_CHECKING:
    from collections.abc import Iterator


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
        {"claims": {"iss": wire.ISSUER, "sub": None}, "subject": "alice"},
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


def with_user(app: Any, user: Any) -> Any:
    """Return an application behind what says who is signed in."""

    async def served(scope: Any, receive: Any, send: Any) -> None:
        await app({**scope, "user": user}, receive, send)

    return served


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
    system: str, user: Any, warns: bool, caplog: pytest.LogCaptureFixture
) -> None:
    of = Shop(guard())
    app = (
        wire.app(system, of) if system else of.mcpserver().streamable_http_app(stateless_http=True)
    )
    with wire.listening(app if user is None else with_user(app, user)) as url:
        async with wire.over_http(url, "alice") as client:
            for _ in range(2):
                await client.list_tools()
    said = [one for one in caplog.records if one.name == "sealwax.mcp"]
    assert [one.levelname for one in said] == ["WARNING"] * warns
    for warning in said:
        assert "principal=sealwax.mcp.principal_from_access_token" in warning.getMessage()
        assert "alice" not in warning.getMessage()
