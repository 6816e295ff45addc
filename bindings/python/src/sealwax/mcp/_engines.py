"""An author's settings of a guard, in the engine's form."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from .. import InvalidArgument
from .._engine import Guard as Engine
from .._engine import seconds

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from .. import Codec
    from .._engine import Document
    from ._handler.sessions import Sessions


class EngineFactory:
    """A codec and settings, from which each part of a guard makes its engine."""

    def __init__(
        self,
        codec: Codec,
        *,
        has_accept: bool,
        request_state_ttl: int | None,
        only: Mapping[str, Sequence[str]] | None,
        ledger: Document | None = None,
    ) -> None:
        self._codec = codec
        self._settings: Document = {
            "hasAccept": has_accept,
            "requestStateTtl": seconds("request_state_ttl", request_state_ttl),
            "ledger": ledger,
            "only": {target: _names(target, names) for target, names in (only or {}).items()},
        }
        self.sessions: Sessions | None = None
        # Raises now for wrong settings.
        self.engine()

    def engine(self, transport: Document | None = None) -> Engine:
        """Return an engine; `transport` has the settings of a wrapper around HTTP or stdio."""
        sessions = None if self.sessions is None else self.sessions.settings
        return Engine(self._codec, {**self._settings, "sessions": sessions, "transport": transport})

    def take(self, sessions: Sessions) -> None:
        """Add data-layer sessions."""
        if self.sessions is not None:
            raise InvalidArgument("sessions: expected to be called once, found a second time")
        self.sessions = sessions
        self.engine()

    async def first(self, ctx: Any) -> tuple[Document, bytes | None]:
        """Return the first value of a session as an event."""
        assert self.sessions is not None
        return await self.sessions.first(ctx)


def _names(target: str, names: Any) -> list[str]:
    if isinstance(names, str) or not all(isinstance(name, str) for name in names):
        raise TypeError(f"only: expected a list of names for {target}, found another")
    return list(names)
