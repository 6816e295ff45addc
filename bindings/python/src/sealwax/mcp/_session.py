"""The data-layer session of one request, as its handler has it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from .. import _json

if TYPE_CHECKING:
    from collections.abc import Callable

    from .. import SessionMetadata
    from .._engine import Document, Exchange


class Session:
    """The session of the request that is being served. Made by a guard.

    Two requests at once may write it: then the client keeps what it is answered last, and both
    are of the same generation. With a ledger only one of them can :meth:`write`, and the other's
    result is discarded; what they :meth:`update` they all keep.
    """

    def __init__(self, exchange: Exchange, opened: Document) -> None:
        self._exchange = exchange
        self._opened = opened
        text = opened["value"]
        self._value = None if text is None else _json.loads(text.encode())
        self._updates: list[Callable[[Any], Any]] = []

    @property
    def id(self) -> str:
        """The session id. Not for logs: whoever has it may delete the session; log the ulid."""
        identity: str = self._opened["id"]
        return identity

    @property
    def ulid(self) -> str:
        """The same for as long as the session lives: for logs, and for the key of a row."""
        ulid: str = self._opened["ulid"]
        return ulid

    @property
    def generation(self) -> int | None:
        """How often the value was written before; ``None`` where the server holds it."""
        return None if self._opened["value"] is None else self._opened["generation"]

    @property
    def value(self) -> Any:
        """The value, as it was written last; ``None`` where the server holds it."""
        return self._value

    def write(self, value: Any) -> None:
        """Have a value of JSON leave with the response, if that is no JSON-RPC error."""
        self._exchange.write(_json.dumps("value", value))
        self._value = value

    def update(self, function: Callable[[Any], Any]) -> Any:
        """Write what a function makes of the value, and return it.

        With a ledger, if somebody else wrote meanwhile, the function is called again with their
        value when the result leaves, at most 32 times: what it does beside is done again too, and
        what the result tells of the value is of the first time. Other than :meth:`write`, it loses
        nobody's write; after a :meth:`write` in the same request nothing is called again.
        """
        value = function(self._value)
        self._exchange.update(_json.dumps("value", value))
        self._updates.append(function)
        self._value = value
        return value

    def again(self, text: str) -> tuple[Document, bytes | None]:
        """Apply the functions to what somebody else wrote, as an event has it."""
        try:
            value = _json.loads(text.encode())
            for function in self._updates:
                value = function(value)
            return {"updated": {}}, _json.dumps("value", value)
        except Exception as error:
            # Its message is not for the log: it may hold what the session does.
            found = type(error).__name__
            return {"updated": {"failed": f"update: expected a value, found {found}"}}, None

    def fork(self) -> SessionMetadata:
        """Return the metadata of a new session that begins with this one's value.

        It is for the client to send with requests of that session: hand it out in a result.
        """
        metadata: Any = self._exchange.fork()
        return metadata  # type: ignore[no-any-return]

    def __repr__(self) -> str:
        return f"<Session {self.ulid}, generation {self.generation}>"
