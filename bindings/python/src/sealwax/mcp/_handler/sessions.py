"""Data-layer sessions: one value each, which the client keeps and only the server reads."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import TYPE_CHECKING, Any, Literal, TypeAlias, TypedDict

from mcp.types import RequestParams

from ... import InvalidArgument
from .._caller import made
from .exchange import exchange_of
from .session import CREATE, DELETE

if TYPE_CHECKING:
    from mcp.server.lowlevel import Server

    from ..._documents import AskStep, SessionSettings
    from ..._engine import Told
    from .._options import GuardConfig
    from .session import Session

#: Returns the first value of a new session, from the context of the request that creates it.
Initial: TypeAlias = Callable[[Any], Any]


class Required(TypedDict, total=False):
    """The requests that need a session."""

    #: Methods, such as ``resources/read``.
    methods: Sequence[str]
    #: Names of tools.
    tools: Sequence[str]


class Sessions:
    """The data-layer sessions of a guard.

    Clients create them with ``sessions/create``, and delete them with ``sessions/delete`` if the
    guard has a ledger. A request whose session is not valid is refused, also if its handler does
    not use the session. Lists never depend on a session: the handler of a ``*/list`` method gets
    none.

    >>> import sealwax, sealwax.mcp
    >>> from mcp.server import MCPServer
    >>> from mcp.server.mcpserver import Context
    >>> keys = sealwax.KeyRing([sealwax.Key.generate()])
    >>> codec = sealwax.Codec(keys=keys, audience="https://mcp.example.com")
    >>> guard = sealwax.mcp.Guard(codec=codec, principal="anonymous")
    >>> sessions = guard.sessions(initial=lambda ctx: 0, required={"tools": ["count"]})
    >>> server = MCPServer("counter")
    >>> guard.protect(server)
    >>> @server.tool()
    ... async def count(ctx: Context) -> int:
    ...     session = sessions.of(ctx)
    ...     session.write(session.value + 1)
    ...     return session.value
    """

    def __init__(
        self, config: GuardConfig, initial: Initial | None, settings: SessionSettings
    ) -> None:
        """Set the first value and the settings in the engine's form; a guard makes these."""
        if settings.get("heldByServer") is (initial is not None):
            raise InvalidArgument(
                "initial: expected a function that gives the first value of a session, or none "
                "with held_by_server=True, for nothing would hold it"
            )
        self._config, self._initial = config, initial

    def of(self, ctx: Any) -> Session | None:
        """Return the session of a request, if it has one. `ctx` is the handler's context."""
        return exchange_of(self._config, ctx).session

    def install(self, server: Server[Any]) -> None:
        """Serve the methods of sessions."""
        for method in (CREATE, DELETE):
            if server.get_request_handler(method) is not None:
                raise InvalidArgument(f"server: expected none that serves {method}, found one")
            server.add_request_handler(method, RequestParams, self._builtin)

    async def _builtin(self, ctx: Any, _params: Any) -> dict[str, Any]:
        """Return the engine's result, so that the SDK adds its envelope."""
        result: dict[str, Any] = json.loads(exchange_of(self._config, ctx).builtin_result() or "{}")
        return result

    async def first(self, ctx: Any, _asked: AskStep) -> Told:
        """Return the first value of a session, or why there is none."""
        assert self._initial is not None
        return await made("initial", partial(self._initial, ctx))


def needed(required: Required | Literal[True] | None) -> Any:
    """Return the requests that need a session in the engine's form."""
    if required is True or required is None:
        return required
    if not isinstance(required, Mapping) or set(required) - {"methods", "tools"}:
        raise InvalidArgument(
            'required: expected True, or {"methods": [...], "tools": [...]}, found another'
        )
    # The engine refuses a text in place of a list.
    given: Any = required
    return {kind: one if isinstance(one, str) else list(one) for kind, one in given.items()}
