"""The caller of a request: the author's function, and a ready-made one."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import Any, Literal, TypeAlias

from mcp.server.auth.middleware.auth_context import get_access_token

from .. import InvalidArgument, Principal, principal_from_claims
from .._engine import caller_of
from ._sdk_types import IS_SECOND, ServerRequestContext

#: Resolves the caller, at most once per request; returning ``None`` refuses the request. A function
#: that waits must be asynchronous: a plain one blocks the other requests.
PrincipalOf: TypeAlias = Callable[
    [ServerRequestContext[Any, Any]], Principal | Awaitable[Principal | None] | None
]

#: For a server without authentication: anyone who holds a token can use it.
Anonymous: TypeAlias = Literal["anonymous"]


def principal_from_access_token(ctx: ServerRequestContext[Any, Any]) -> Principal | None:
    """Return the principal of the SDK's access token, on ``MCPServer`` and FastMCP.

    If the token's claims have ``iss`` and ``sub``, as a JWT's do, only the claims count, so that a
    JWT is the same principal at replicas in other languages. Otherwise the token's `subject` and
    `client_id` replace missing claims. The issuer must be in the claims: a subject is unique only
    within its issuer (RFC 7519 §4.1.2).

    >>> import sealwax, sealwax.mcp
    >>> keys = sealwax.KeyRing([sealwax.Key.generate()])
    >>> codec = sealwax.Codec(keys=keys, audience="https://mcp.example.com")
    >>> guard = sealwax.mcp.Guard(codec=codec, principal=sealwax.mcp.principal_from_access_token)
    """
    # In mcp 1 the SDK's own is that of `initialize`, where a server keeps its sessions.
    token = get_access_token() if IS_SECOND else getattr(user_of(ctx), "access_token", None)
    if token is None:
        return None
    claims = getattr(token, "claims", None) or {}
    if not {"iss", "sub"} <= claims.keys():
        client = {} if "azp" in claims else {"client_id": token.client_id}
        claims = {"sub": getattr(token, "subject", None), **client, **claims}
    return principal_from_claims(claims)


def is_signed_in(ctx: ServerRequestContext[Any, Any]) -> bool:
    """Return whether a request comes with a user whom somebody has authenticated."""
    signed_in = getattr(user_of(ctx), "is_authenticated", False) is True
    return signed_in or (IS_SECOND and get_access_token() is not None)


def user_of(ctx: ServerRequestContext[Any, Any]) -> object:
    """Return the user of a request over HTTP."""
    scope = getattr(ctx.request, "scope", None) or {}
    return scope.get("user")


def checked(found: object) -> Principal:
    """Return the result of an author's function, if it is a principal."""
    if isinstance(found, str):
        raise InvalidArgument(
            "principal: expected the function to return a Principal, found a text: name a user as "
            'Principal(subject=...); a server without authentication has principal="anonymous" in '
            "place of a function"
        )
    if not isinstance(found, Principal):
        raise InvalidArgument(
            f"principal: expected the function to return a Principal, found {type(found).__name__}"
        )
    caller_of(found)
    return found
