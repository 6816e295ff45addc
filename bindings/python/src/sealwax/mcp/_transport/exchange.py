"""Messages around HTTP and stdio, before the SDK sees them."""

from __future__ import annotations

from contextvars import ContextVar
from typing import TYPE_CHECKING, Any

from .._caller import Caller
from .._options import document
from .._sdk_types import HANDSHAKE_PROTOCOL_VERSIONS, IS_SECOND, ServerRequestContext
from .message import read_message
from .negotiated import Negotiated, negotiated

if TYPE_CHECKING:
    from ..._documents import Step
    from ..._engine import Exchange
    from .._options import GuardConfig


#: The key in the scope of an HTTP request under which its :class:`TransportExchange` is.
SCOPE_KEY = "sealwax.session"
#: What is being served: a :class:`TransportExchange` without a scope, for the SDK serves a message
#: in the context that it was read in, and within its handler the handler's exchange.
served: ContextVar[object] = ContextVar("sealwax_served", default=None)


class Transport:
    """A guard's rules for transport sessions."""

    def __init__(self, config: GuardConfig, **settings: Any) -> None:
        self.config = config
        self.engine = config.engines.engine(transport=document(modern=IS_SECOND, **settings))


class TransportExchange:
    """One message on its way to the SDK."""

    def __init__(
        self, config: GuardConfig, engine: Exchange, request: Any = None, message: bytes = b""
    ) -> None:
        self.config, self.engine, self.over_http = config, engine, request is not None
        #: The time that is left for the engine's questions at the handlers.
        self.within_ms: int | None = None
        #: What was negotiated when the session of the message began.
        self.negotiated: Negotiated | None = None
        #: Whether the guard at the handlers goes on with what is known here.
        self.continues = False
        self.caller = Caller(config, context(request, message))

    async def drive(self, step: Step) -> Step:
        """Answer the engine's questions; return the step that is for the transport."""
        step = await self.caller.drive(self.engine, step)
        if step["step"] == "deliver":
            self.within_ms, self.negotiated = step["withinMs"], negotiated(step)
            self.continues = self.caller.known is not None or bool(step.get("report"))
        return step

    def close(self) -> None:
        """Release the message."""
        self.engine.free()
        self.caller.close()


def context(request: Any, message: bytes) -> ServerRequestContext[Any, Any]:
    """Return what `principal` gets of a message."""
    said = read_message(message)
    said = said if isinstance(said, dict) else {}
    params, nobodys = said.get("params"), None
    return ServerRequestContext[Any, Any](
        session=nobodys,  # type: ignore[arg-type]
        lifespan_context={},
        protocol_version=HANDSHAKE_PROTOCOL_VERSIONS[-1],
        method=str(said.get("method") or ""),
        params=params if isinstance(params, dict) else None,
        request_id=said.get("id"),
        request=request,
    )
