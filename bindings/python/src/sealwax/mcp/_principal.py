"""Who a request is from: what an author gives the guard, and the ready-made rules."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import Any, Literal, TypeAlias

from mcp.server.auth.middleware.auth_context import get_access_token
from mcp.server.context import ServerRequestContext

from .. import InvalidArgument, Principal, principal_from_claims
from .._engine import sent

#: Asked once for a request; what it returns is who may use the request's tokens. Whatever waits
#: for something is asynchronous: other requests stand still while a plain function runs.
PrincipalOf: TypeAlias = Callable[
    [ServerRequestContext[Any, Any]], Principal | Awaitable[Principal | None] | None
]

#: A server without authentication says so: then whoever holds a token can use it.
Anonymous: TypeAlias = Literal["anonymous"]


def principal_from_access_token(_ctx: ServerRequestContext[Any, Any]) -> Principal | None:
    """Return the principal of the SDK's access token. Of ``MCPServer`` and FastMCP both.

    Where the token's claims have ``iss`` and ``sub``, as those of a JWT do, they alone decide, so
    that the same JWT is the same principal at a replica in another language. Else the token's
    `subject` and `client_id` stand in for what the claims leave out. The issuer must be in the
    claims: a subject is unique within its issuer only (RFC 7519 §4.1.2).

    >>> import sealwax, sealwax.mcp
    >>> keys = sealwax.KeyRing([sealwax.Key.generate()])
    >>> codec = sealwax.Codec(keys=keys, audience="https://mcp.example.com")
    >>> guard = sealwax.mcp.Guard(codec=codec, principal=sealwax.mcp.principal_from_access_token)
    """
    token = get_access_token()
    if token is None:
        return None
    claims = token.claims or {}
    if not {"iss", "sub"} <= claims.keys():
        client = {} if "azp" in claims else {"client_id": token.client_id}
        claims = {"sub": token.subject, **client, **claims}
    # What else a token claims need not be JSON, and is nobody's business.
    said = {"iss", "sub", "client_id", "azp"} & claims.keys()
    return principal_from_claims({name: claims[name] for name in said})


def checked(found: object) -> Principal:
    """Return what an author's function gave, if it names anybody."""
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
    for name, part in zip(found._fields, found, strict=True):
        if part is not None and sent(part) is not part:
            raise InvalidArgument(
                f"principal: expected {name} to be a text, found {type(part).__name__}"
            )
    return found
