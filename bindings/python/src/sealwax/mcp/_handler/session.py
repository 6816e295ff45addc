"""The data-layer session of one request, for its handler."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, TypeVar

from mcp.server.streamable_http import MCP_SESSION_ID_HEADER
from mcp_types.methods import SPEC_CLIENT_METHODS, SPEC_CLIENT_NOTIFICATION_METHODS
from pydantic import BaseModel

from ... import _json
from ..._engine import client_value

if TYPE_CHECKING:
    from collections.abc import Callable

    from mcp.server.context import ServerRequestContext

    from ... import SessionMetadata
    from ..._documents import ClientSession, OpenedSession
    from ..._engine import Exchange, Outcome

#: The member of ``_meta`` that carries the metadata of a session.
SESSION_META_KEY = "io.modelcontextprotocol/session"
CREATE, DELETE = "sessions/create", "sessions/delete"
#: Methods whose params the SDK's models read; the author's own methods may have a ``meta``.
_OF_SDK_MODELS = SPEC_CLIENT_METHODS | SPEC_CLIENT_NOTIFICATION_METHODS | {CREATE, DELETE}
ResultT = TypeVar("ResultT")


class Session:
    """The session of the request that is being served.

    Without a ledger, the last of two concurrent writes wins, and both have the same generation.
    With a ledger only one of two concurrent requests can :meth:`write`; the other's result is
    discarded. Concurrent calls of :meth:`update` all take effect.
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
        self._updates: list[Callable[[Any], Any]] = []
        self._make: Callable[[Any], Any] | None = None
        #: What the function of :meth:`result` made, at first and last.
        self.made: tuple[Any, Any] | None = None

    @property
    def value(self) -> Any:
        """The value, as it was written last; ``None`` if the server holds it."""
        return self._value

    def write(self, value: Any) -> None:
        """Send a new JSON value with the response, unless that is a JSON-RPC error."""
        self._exchange.write(_json.dumps("value", value))
        self._value = value

    def update(self, function: Callable[[Any], Any]) -> Any:
        """Replace the value by ``function(value)``, and return the new value.

        With a ledger no concurrent write is lost: if another request wrote meanwhile, the function
        is called again with the newer value when the result leaves, at most 32 times. It should
        have no side effects. What it returned before may be wrong then, so make the tool's result
        with :meth:`result`. After a :meth:`write` in the same request the function is not called
        again.
        """
        value = function(self._value)
        self._exchange.update(_json.dumps("value", value))
        self._updates.append(function)
        self._value = value
        return value

    def result(self, make: Callable[[Any], ResultT]) -> ResultT:
        """Make the handler's result of the value, and again of the value that is written at last.

        Return what this returns. If :meth:`update` is applied to another request's value, `make`
        is called with the outcome, and what it returns leaves instead: a result of the SDK, such as
        a ``CallToolResult``, a FastMCP ``ToolResult``, or a dict. The last `make` counts. Like
        the functions of :meth:`update` it should have no side effects.
        """
        made = make(self._value)
        _expect_result(made)
        self._make, self.made = make, (made, made)
        return made

    def again(self, text: str) -> Outcome:
        """Apply the functions to the value of another request; return an event."""
        name, expected = "update", "a value"
        try:
            value = _json.loads(text.encode())
            for function in self._updates:
                value = function(value)
            written = _json.dumps("value", value)
            if self._make is not None and self.made is not None:
                name, expected = "result", "a result"
                self.made = self.made[0], self._make(value)
                _expect_result(self.made[1])
        except Exception as error:
            # Its message is not logged: it may hold the session's value.
            found = type(error).__name__
            return {"updated": {"failed": f"{name}: expected {expected}, found {found}"}}, None
        return {"updated": {}}, written

    def fork(self) -> SessionMetadata:
        """Return the metadata of a new session that begins with this one's value.

        Return it to the client in a result, to send with the requests of that session.
        """
        metadata: Any = self._exchange.fork()
        return metadata  # type: ignore[no-any-return]

    def __repr__(self) -> str:
        return f"<Session {self.ulid}, generation {self.generation}>"


def _expect_result(made: Any) -> None:
    if not isinstance(made, (BaseModel, dict)):
        found = type(made).__name__
        raise TypeError(f"result: expected a result of the SDK or a dict, found {found}")


def sent_session(ctx: ServerRequestContext[Any, Any]) -> ClientSession | None:
    """Return the session metadata of a message."""
    params = ctx.params or {}
    if ctx.method in _OF_SDK_MODELS and params.get("meta") is not None:
        # A model would also take it, unopened, by the field's name in Python.
        return {}
    meta = params.get("_meta")
    metadata = meta.get(SESSION_META_KEY) if isinstance(meta, Mapping) else None
    if metadata is None:
        return None
    named = metadata if isinstance(metadata, Mapping) else {}
    return {"id": client_value(named.get("sessionId")), "state": client_value(named.get("state"))}


def sent_header(ctx: ServerRequestContext[Any, Any]) -> str | None:
    """Return the header of a message over HTTP."""
    if ctx.request is None:
        return None
    # Several headers are joined, which never equals the id of the message.
    return ",".join(ctx.request.headers.getlist(MCP_SESSION_ID_HEADER)) or None
