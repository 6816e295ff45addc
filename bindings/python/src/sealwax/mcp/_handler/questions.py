"""What is asked before a tool runs that its user confirms."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Any, Protocol

from ..._engine import Client
from .._caller import in_time, made
from .._transport.message import json_text

if TYPE_CHECKING:
    from collections.abc import Mapping

    from ..._documents import AskStep
    from ..._engine import Told
    from .._caller import Caller
    from .._options import GuardConfig
    from .._transport.negotiated import Negotiated


class Peer(Protocol):
    """The client at the other end of a call's connection."""

    @property
    def capabilities(self) -> object:
        """What it said that it can do, in the call or at ``initialize``, if that is known."""
        ...

    @property
    def can_be_asked(self) -> bool:
        """Whether it can be sent a request while the call waits, and nobody else answers it."""
        ...

    async def elicit(self, params: Mapping[str, Any], caller: Caller) -> Any:
        """Ask its user by ``elicitation/create``; return the result."""
        ...

    async def list_tools(self, params: Mapping[str, Any]) -> Any:
        """Return a page of the server's own list of tools for this client, around the guard."""
        ...


class Confirming:
    """One call of a guard that confirms some."""

    def __init__(
        self, config: GuardConfig, params: Mapping[str, Any], peer: Peer, settled: Negotiated | None
    ) -> None:
        self._config, self._params, self._peer = config, params, peer
        self._settled = settled

    def client(self) -> Client:
        """Return what the engine has to know of the client."""
        capabilities = self._peer.capabilities
        if capabilities is None and self._settled is not None:
            capabilities = self._settled.client_capabilities
        responses = self._params.get("inputResponses")
        return Client(
            None if capabilities is None else json_text(capabilities),
            None if responses is None else json_text(responses),
            self._peer.can_be_asked,
        )

    async def question(self, step: AskStep) -> Told:
        """Return the question, as the author's function makes it."""
        asked: Any = step["params"]
        function: Any = self._config.questions[asked["name"]]
        return await made("confirm", lambda: function(**asked["arguments"]))

    async def elicit(self, caller: Caller, step: AskStep) -> Told:
        """Return what the user answers on the connection, or why there is no answer."""
        params: Any = step.get("params")
        return await in_time(step, partial(self._peer.elicit, params, caller))

    async def list_tools(self, step: AskStep) -> Told:
        """Return a page of the server's own list, or why there is none."""
        return await in_time(step, partial(self._peer.list_tools, step.get("params") or {}))
