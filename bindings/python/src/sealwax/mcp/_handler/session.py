"""The data-layer session of one request, for its handler."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from mcp.server.streamable_http import MCP_SESSION_ID_HEADER

from ... import _json
from .._sdk_types import SPEC_CLIENT_METHODS, SPEC_CLIENT_NOTIFICATION_METHODS

if TYPE_CHECKING:
    from mcp.server.context import ServerRequestContext

    from ... import SessionMetadata
    from ..._documents import OpenedSession
    from ..._engine import Exchange

#: The member of ``_meta`` that carries the metadata of a session.
SESSION_META_KEY = "io.modelcontextprotocol/session"
CREATE, DELETE = "sessions/create", "sessions/delete"
#: Methods whose params the SDK's models read; the author's own methods may have a ``meta``.
_OF_SDK_MODELS = SPEC_CLIENT_METHODS | SPEC_CLIENT_NOTIFICATION_METHODS | {CREATE, DELETE}


class Session:
    """The session of the request that is being served.

    Without a ledger, the last of two concurrent writes wins, and both have the same generation.
    With a ledger only one of two concurrent requests can :meth:`write`; the other's result is
    discarded, and its client hears that the state is stale.
    """

    def __init__(self, exchange: Exchange, opened: OpenedSession) -> None:
        self._exchange = exchange
        #: The session id. Log the ulid instead: with the id, its user can delete the session.
        self.id = opened["id"]
        #: The session's ulid, stable for its lifetime: for logs, and as a key in a store.
        self.ulid = opened["ulid"]
        #: The number of writes before this request; 0 if the server holds the value.
        self.generation = opened["generation"]
        text = opened["value"]
        self._value = None if text is None else _json.loads(text.encode())

    @property
    def value(self) -> Any:
        """The value, as it was written last; ``None`` if the server holds it."""
        return self._value

    def write(self, value: Any) -> None:
        """Send a new JSON value with the response, unless that is a JSON-RPC error."""
        self._exchange.write(_json.dumps("value", value))
        self._value = value

    def fork(self) -> SessionMetadata:
        """Return the metadata of a new session that begins with this one's value.

        Return it to the client in a result, to send with the requests of that session.
        """
        metadata: Any = self._exchange.fork()
        return metadata  # type: ignore[no-any-return]

    def __repr__(self) -> str:
        return f"<Session {self.ulid}, generation {self.generation}>"


def sent_session(ctx: ServerRequestContext[Any, Any]) -> tuple[object, object] | None:
    """Return the session metadata of a message: an id and a state, as they came."""
    params = ctx.params or {}
    if ctx.method in _OF_SDK_MODELS and params.get("meta") is not None:
        # A model would also take it, unopened, by the field's name in Python.
        return None, None
    meta = params.get("_meta")
    metadata = meta.get(SESSION_META_KEY) if isinstance(meta, Mapping) else None
    if metadata is None:
        return None
    named = metadata if isinstance(metadata, Mapping) else {}
    return named.get("sessionId"), named.get("state")


def sent_header(ctx: ServerRequestContext[Any, Any]) -> str | None:
    """Return the header of a message over HTTP."""
    if ctx.request is None:
        return None
    # Several headers are joined, which never equals the id of the message.
    return ",".join(ctx.request.headers.getlist(MCP_SESSION_ID_HEADER)) or None
