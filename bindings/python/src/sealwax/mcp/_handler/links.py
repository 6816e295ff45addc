"""Links: texts that are sealed in a handler and opened elsewhere, by whoever has them."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from ... import InvalidArgument, Principal, _json
from ..._engine import client_value, document_of
from ..._native import flag
from .._caller import Caller
from .._principal import Anonymous, checked
from .._refusal import LinkRefused, why
from .exchange import exchange_of
from .handles import written

if TYPE_CHECKING:
    from .._options import GuardConfig

_ANYBODY: Any = object()


@dataclass(frozen=True, slots=True)
class OpenedLink:
    """What a link opened to."""

    #: The value, as it was sealed.
    value: Any = field(repr=False)
    #: Whose it is: the caller for whom it was sealed, whoever opened it.
    principal: Principal | Anonymous
    #: The id of its token, the same at every opening: 32 hex digits.
    id: str


class Links:
    """Links of one name: texts that are safe in a URL.

    >>> import sealwax, sealwax.mcp
    >>> from mcp.server import MCPServer
    >>> from mcp.server.mcpserver import Context
    >>> from starlette.requests import Request
    >>> from starlette.responses import PlainTextResponse
    >>> keys = sealwax.KeyRing([sealwax.Key.generate()])
    >>> codec = sealwax.Codec(keys=keys, audience="https://mcp.example.com")
    >>> guard = sealwax.mcp.Guard(codec=codec, principal="anonymous")
    >>> reports, server = guard.links("report", ttl=900), MCPServer("reports")
    >>> guard.protect(server)
    >>> @server.tool()
    ... async def report(number: int, ctx: Context) -> str:
    ...     return f"https://mcp.example.com/reports/{await reports.seal(ctx, number)}"
    >>> @server.custom_route("/reports/{link}", methods=["GET"])
    ... async def show(request: Request) -> PlainTextResponse:
    ...     try:
    ...         opened = await reports.open(request.path_params["link"])
    ...     except sealwax.mcp.LinkRefused as refused:
    ...         return PlainTextResponse(str(refused), refused.status)
    ...     return PlainTextResponse(f"Report {opened.value}")
    """

    def __init__(self, config: GuardConfig, settings: dict[str, Any]) -> None:
        """Set what all operations have; a guard makes these."""
        self._config, self._settings = config, settings

    async def seal(self, ctx: Any, value: Any) -> str:
        """Seal a JSON value for the caller. `ctx` is the handler's context.

        Raises :class:`HandleRefused` for a value over the codec's `payload_limit`, and for one that
        JSON cannot hold.
        """
        operation: Any = {"op": "sealLink", **self._settings}
        sealed = await exchange_of(self._config, ctx).handle(operation, written(value))
        return str(sealed["handle"])

    async def open(
        self, link: object, *, consume: bool = True, by: Principal | Anonymous = _ANYBODY
    ) -> OpenedLink:
        """Open what came, at a route of any web framework.

        One that is good `once` is used up, unless `consume` is false, for a GET: mail programs and
        chats fetch links to preview them. With `by`, the user who is signed in, nobody else can
        open it. Raises :class:`LinkRefused` unless it is accepted, and :class:`InvalidArgument` if
        `by` is ``None``.
        """
        whom = None if by is _ANYBODY else _signed_in(by)
        operation: Any = {"op": "openLink", **self._settings, "by": whom}
        operation["handle"] = client_value(link)
        operation["keep"] = not flag("consume", consume)
        caller = Caller(self._config, None)
        step: Any = await caller.finish(*self._config.engine.link(operation))
        if step["step"] != "done":
            raise LinkRefused(step.get("status") or 500) from why(step)
        owner = step["principal"]
        principal: Any = "anonymous" if owner.get("anonymous") else Principal(**owner)
        return OpenedLink(_json.loads(step["value"].encode()), principal, step["id"])


def _signed_in(by: object) -> Any:
    """Return who opens a link as a document."""
    if by is None:
        raise InvalidArgument("by: expected the user who is signed in, found none")
    if by == "anonymous":
        return document_of("anonymous")
    if not isinstance(by, Principal):
        raise TypeError(f"by: expected a Principal, found {type(by).__name__}")
    return document_of(checked(by))
