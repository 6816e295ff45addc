"""Self-contained sessions: what was negotiated, sealed into what a client sends with each request.

Of ``Mcp-Session-Id``, revisions to 2025-11-25, and of SEP-1359.
"""

from __future__ import annotations

import time
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import pydantic_core
from mcp.server.context import ServerRequestContext
from mcp_types.version import HANDSHAKE_PROTOCOL_VERSIONS

from .. import (
    InternalError,
    InvalidArgument,
    Malformed,
    PrincipalMismatch,
    Refused,
    SealwaxError,
    TooLarge,
    answer,
)
from .._native import lib
from .._sealer import check_ttl, default_ttl
from ._exchange import Exchange
from ._refusal import token_id

if TYPE_CHECKING:
    from collections.abc import Mapping

    from ._guard import Guard

#: Characters at most of a session, for servers and proxies must take it as a header.
HEADER_LIMIT = 4_096
TERMINATE = "session/terminate"
ABSENT: Any = object()


@dataclass(frozen=True, slots=True)
class Negotiated:
    """What client and server agreed on when the session began."""

    protocol_version: str
    client_capabilities: dict[str, Any]
    #: ``name`` and ``version``.
    client_info: dict[str, str]
    server_capabilities: dict[str, Any]
    #: The id of the session's token: for logs.
    id: str
    #: When the session ends, in Unix seconds.
    expires_at: int | None
    _token: str = field(repr=False)


class SelfContained:
    """Seals and opens the sessions of a guard."""

    def __init__(self, guard: Guard, *, ttl: int | None, sep1359: bool) -> None:
        self.guard, self.sep1359 = guard, sep1359
        self._ttl = ttl
        if ttl is not None:
            # What the core would say of it when a request comes, said now.
            check_ttl(ttl)
        self._life = ttl or default_ttl(lib.SEALWAX_KIND_SESSION)

    def exchange(self, message: Any, request: Any = None) -> Exchange:
        """Return the exchange of a message that the SDK has not seen."""
        sent = message if isinstance(message, dict) else {}
        params = sent.get("params")
        nobodys: Any = None
        ctx = ServerRequestContext[Any, Any](
            session=nobodys,
            lifespan_context={},
            protocol_version=HANDSHAKE_PROTOCOL_VERSIONS[-1],
            method=str(sent.get("method", "")),
            params=params if isinstance(params, dict) else None,
            request_id=sent.get("id"),
            request=request,
        )
        return Exchange(self.guard, ctx)

    async def seal(self, exchange: Exchange, params: Any, result: Mapping[str, Any]) -> str:
        """Seal what an ``initialize`` negotiated."""
        asked = params if isinstance(params, dict) else {}
        info = asked.get("clientInfo")
        if not isinstance(info, dict) or "protocolVersion" not in result:
            raise InvalidArgument("initialize: expected clientInfo and protocolVersion")
        negotiated = {
            "protocolVersion": result["protocolVersion"],
            "clientCapabilities": asked.get("capabilities") or {},
            "clientInfo": {name: info.get(name) for name in ("name", "version")},
            "serverCapabilities": result.get("capabilities") or {},
        }
        token = (await exchange.view()).session().seal_json(negotiated, ttl=self._ttl)
        if len(token) > HEADER_LIMIT:
            raise TooLarge(f"expected a session of at most {HEADER_LIMIT}, found {len(token)}")
        return token

    async def open(self, exchange: Exchange, token: object) -> Negotiated:
        """Open a session that came back, and have it accepted."""
        sealer = (await exchange.view()).session()
        if not isinstance(token, str):
            raise Malformed(f"session: expected a text, found {type(token).__name__}")
        if len(token) > HEADER_LIMIT:
            raise TooLarge(f"expected a session of at most {HEADER_LIMIT}, found {len(token)}")
        try:
            opened = sealer.open(token)
        except PrincipalMismatch:
            if self.sep1359 and self.guard.accept is not None:
                # It is authentic, so that its id is, but it was not opened: it ends by then.
                end = time.time() + self._life
                await exchange.ended("session", token_id(token) or "", end)
            raise
        found = _read(opened.json(), opened.token_id, opened.expires_at, token)
        await exchange.accept("session", opened.token_id, opened.expires_at)
        return found

    @property
    def can_end(self) -> bool:
        """Whether an end would be remembered: else it is not offered."""
        return self.guard.accept is not None

    async def end(self, exchange: Exchange, session: Negotiated) -> None:
        """Have the end of a session remembered."""
        await exchange.ended("session", session.id, session.expires_at)

    def not_asked(self, exchange: Exchange, session: Negotiated) -> None:
        """Report an end that no answer could confirm: it is dropped, and the session goes on."""
        error = Malformed(f"{TERMINATE}: expected a request, found a notification")
        exchange.report("session", error, session.id)

    def timeout(self) -> int:
        """Return how many seconds a session that begins now has."""
        return self._life


def _read(value: Any, identity: str, expires_at: int | None, token: str) -> Negotiated:
    try:
        return Negotiated(
            value["protocolVersion"],
            value["clientCapabilities"],
            value["clientInfo"],
            value["serverCapabilities"],
            identity,
            expires_at,
            token,
        )
    except (KeyError, TypeError):
        raise Malformed("session: expected what was negotiated, found another payload") from None


def read_message(text: str | bytes) -> Any:
    """Read JSON as the SDK will, so that both see the same; ``None`` where it is none."""
    try:
        return pydantic_core.from_json(text)
    except ValueError:
        return None


def take_session(message: Any) -> Any:
    """Take the session id off a message, for the SDK has no place for it."""
    if not isinstance(message, dict):
        return ABSENT
    if "sessionId" in message:
        return message.pop("sessionId")
    result = message.get("result")
    return result.pop("sessionId", ABSENT) if isinstance(result, dict) else ABSENT


def put_session(message: Any, session_id: str) -> None:
    """Put the session id on a message: into its result, or at the top of what has a method."""
    if "method" in message:
        message["sessionId"] = session_id
    elif isinstance(message.get("result"), dict):
        message["result"]["sessionId"] = session_id


def refused_answer(identity: Any, error: SealwaxError, session_id: Any) -> dict[str, Any]:
    """Return the JSON-RPC error of SEP-1359, or of what failed here."""
    internal = None if isinstance(error, Refused) else InternalError()
    echoed = session_id if isinstance(session_id, str) else None
    told = answer("sep-1359", internal, session_id=echoed)["error"]
    return {"jsonrpc": "2.0", "id": identity, "error": told}
