"""What others do for the same job, with the bindings that they have.

The official boundary computes what a request is bound to whenever it opens, and when it seals
without having opened; ours is given it, computed once a request. So `boundary-retry` is given it
too, and `request` measures all of it on both sides.
"""

from __future__ import annotations

import os
import time
from typing import Any, Protocol

import jwt
from cryptography.fernet import Fernet as FernetKey
from itsdangerous import TimestampSigner
from mcp.server.auth.middleware.auth_context import auth_context_var
from mcp.server.auth.middleware.bearer_auth import AuthenticatedUser
from mcp.server.auth.provider import AccessToken
from mcp.server.context import ServerRequestContext
from mcp.server.request_state import RequestStateBoundary, RequestStateSecurity

TTL = 600
AUDIENCE = "https://mcp.example.com"
ISSUER, CLIENT, SUBJECT = "https://idp.example.com", "cli-7", "alice"
METHOD, TARGET = "tools/call", "save_note"
# As a handler has them, in the order of the tool's schema.
ARGUMENTS = {
    "path": "projects/sealwax/meeting-notes.md",
    "title": "Meeting of Tuesday",
    "content": "Decide on the release; ask Alice for the figures.",
    "tags": ["work", "release"],
    "pinned": True,
    "revision": 41,
    "reason": "the user asked for it",
}
# What ours binds a request by.
CONTEXT = "0f" * 32


class Peer(Protocol):
    """Seals and opens a payload, and checks all that it bound."""

    name: str

    def seal(self, payload: str) -> str: ...

    def open(self, token: str) -> str: ...


class Boundary:
    """The official SDK's middleware, at the two places where it meets a token."""

    name = "boundary"

    def __init__(self) -> None:
        claims = {"iss": ISSUER}
        token = AccessToken(token="t", client_id=CLIENT, scopes=[], subject=SUBJECT, claims=claims)
        auth_context_var.set(AuthenticatedUser(token))
        self._params: dict[str, Any] = {"name": TARGET, "arguments": ARGUMENTS}
        self._boundary = RequestStateBoundary(
            RequestStateSecurity(keys=[os.urandom(32)], ttl=TTL), default_audience=AUDIENCE
        )
        self._request = self._context(self._params)
        self._retry = self._context({**self._params})

    def _context(self, params: dict[str, Any]) -> ServerRequestContext[Any, Any]:
        session: Any = None
        return ServerRequestContext(
            session=session,
            lifespan_context=None,
            protocol_version="2026-07-28",
            method=METHOD,
            params=params,
        )

    def seal(self, payload: str) -> str:
        """As when a request asks for the first time."""
        return self._boundary._seal(self._request, payload)

    def open(self, token: str) -> str:
        return self._unseal(token)[0]

    def request(self, token: str) -> str:
        """As when a request is retried and asks again: what it is bound to is computed once."""
        payload, binding = self._unseal(token)
        return self._boundary._seal(self._retry, payload, binding)

    def _unseal(self, token: str) -> tuple[str, Any]:
        assert isinstance(self._retry.params, dict)
        self._retry.params["requestState"] = token
        return self._boundary._unseal(self._retry)


class BoundaryRetry(Boundary):
    """The same where a request that is retried asks again: sealing is given what it binds to."""

    name = "boundary-retry"

    def __init__(self) -> None:
        super().__init__()
        self._binding = self._unseal(super().seal(""))[1]

    def seal(self, payload: str) -> str:
        return self._boundary._seal(self._retry, payload, self._binding)


class Fernet:
    """Of `cryptography`. It binds the time alone."""

    name = "fernet"

    def __init__(self) -> None:
        self._fernet = FernetKey(FernetKey.generate_key())

    def seal(self, payload: str) -> str:
        return self._fernet.encrypt(payload.encode()).decode()

    def open(self, token: str) -> str:
        return self._fernet.decrypt(token, ttl=TTL).decode()


class PyJwt:
    """HS256: signed, readable."""

    name = "pyjwt"

    def __init__(self) -> None:
        self._key = os.urandom(32)

    def seal(self, payload: str) -> str:
        now = int(time.time())
        claims = {
            "iss": ISSUER,
            "client_id": CLIENT,
            "sub": SUBJECT,
            "aud": AUDIENCE,
            "iat": now,
            "exp": now + TTL,
            "ctx": CONTEXT,
            "p": payload,
        }
        return jwt.encode(claims, self._key, algorithm="HS256")

    def open(self, token: str) -> str:
        claims = jwt.decode(token, self._key, ["HS256"], audience=AUDIENCE, issuer=ISSUER, subject=SUBJECT)
        if (claims["client_id"], claims["ctx"]) != (CLIENT, CONTEXT):
            raise ValueError("bound to something else")
        payload: str = claims["p"]
        return payload


class ItsDangerous:
    """Its signer, which is faster than its serializers: signed, readable. The salt binds."""

    name = "itsdangerous"

    def __init__(self) -> None:
        salt = "\0".join((AUDIENCE, ISSUER, CLIENT, SUBJECT, CONTEXT))
        self._signer = TimestampSigner(os.urandom(32), salt=salt)

    def seal(self, payload: str) -> str:
        return self._signer.sign(payload).decode()

    def open(self, token: str) -> str:
        payload: bytes = self._signer.unsign(token, max_age=TTL)
        return payload.decode()


def everyone() -> list[Peer]:
    return [Boundary(), BoundaryRetry(), Fernet(), PyJwt(), ItsDangerous()]
