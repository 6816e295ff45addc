"""What an author makes one of."""

from __future__ import annotations

import inspect
from typing import TYPE_CHECKING, Any, Literal, TypedDict

from .. import Codec, InvalidArgument, _json
from .._codec import check_handle_type
from .._sealer import check_ttl
from . import _http, _stdio
from ._asking import Asking
from ._exchange import exchange_of
from ._handles import HeldHandles, ServerHandles
from ._ledger_client import LedgerClient
from ._principal import checked
from ._refusal import AcceptUnavailable
from ._rules import Rules
from ._servers import install, low_level
from ._sessions import Sessions
from ._transport import Transport

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from .. import Principal
    from .._engine import Document
    from ..ledger import Ledger
    from ._accept import Accept
    from ._negotiated import Negotiated
    from ._principal import Anonymous, PrincipalOf
    from ._refusal import OnRefused
    from ._sessions import Initial, Required


class LedgerOptions(TypedDict, total=False):
    """How a ledger is used."""

    #: Tells apart two ledgers of one audience in one store.
    label: str
    #: How far clocks may differ, in seconds: 5 unless set, and 0 for a ledger of the same machine.
    allowance: int
    #: Lets in what is older than the ledger, if it was made from this moment on, in Unix seconds:
    #: for the day when the ledger is introduced. What ended or was used since is let in too.
    adopt: int
    #: A ``requestState`` may come back any number of times.
    reusable_request_state: bool


def _options(ledger: Ledger | None, options: LedgerOptions | None) -> Document | None:
    if ledger is None:
        if options is not None:
            raise InvalidArgument("ledger_options: expected a ledger too, found none")
        return None
    told = dict(options or {})
    reusable = told.pop("reusable_request_state", False)
    local = getattr(ledger, "local", False)
    return {**told, "local": local, "reusableRequestState": reusable}


class Guard:
    """Seals what leaves an MCP server for its clients, and opens and checks what comes back.

    One serves a whole server, and several. `codec` has the keys and the service's name.
    `principal` is asked who a request is from, or is ``"anonymous"`` for a server without
    authentication; there is no default. `on_refused` is told of what was refused, and why, which
    the client is not; so is the logger ``sealwax.mcp``. `accept` is asked before a token is
    accepted, and has `accept_timeout` seconds to answer. `ledger` remembers what was used, what
    ended and which state of a session is the latest (:mod:`sealwax.ledger`); without it a token
    can be used as often as anybody likes until it expires. `request_state_ttl` is how many seconds
    a ``requestState`` lives, 600 unless set. `only` names, for a tool or a prompt, the arguments
    that its ``requestState`` is bound to, where the others may differ when the client comes back.

    >>> import sealwax, sealwax.mcp
    >>> from mcp.server import MCPServer
    >>> keys = sealwax.KeyRing([sealwax.Key.generate()])  # a server reads SEALWAX_KEYS
    >>> codec = sealwax.Codec(keys=keys, audience="https://mcp.example.com")
    >>> guard = sealwax.mcp.Guard(codec=codec, principal=sealwax.mcp.principal_from_access_token)
    >>> server = MCPServer("notes")
    >>> guard.protect(server)
    """

    def __init__(
        self,
        *,
        codec: Codec,
        principal: PrincipalOf | Anonymous,
        on_refused: OnRefused | None = None,
        accept: Accept | None = None,
        accept_timeout: float = 1.0,
        ledger: Ledger | None = None,
        ledger_options: LedgerOptions | None = None,
        request_state_ttl: int | None = None,
        only: Mapping[str, Sequence[str]] | None = None,
    ) -> None:
        if not isinstance(codec, Codec):
            raise TypeError(f"codec: expected a sealwax.Codec, found {type(codec).__name__}")
        if principal != "anonymous" and not callable(principal):
            raise InvalidArgument('principal: expected a function, or "anonymous" by that name')
        if inspect.iscoroutinefunction(on_refused):
            raise TypeError("on_refused: expected a plain function: no answer waits for it")
        if not accept_timeout > 0:
            raise InvalidArgument(f"accept_timeout: expected over 0 s, found {accept_timeout}")
        self.codec = codec
        self.principal = principal
        self.on_refused = on_refused
        self.accept = accept
        self.accept_timeout = accept_timeout
        self._rules = Rules(
            codec,
            asks=accept is not None,
            request_state_ttl=request_state_ttl,
            only=only,
            ledger=_options(ledger, ledger_options),
        )
        self.ledger = None if ledger is None else LedgerClient(ledger)
        self._protects = False

    def protect(self, server: Any) -> None:
        """Put this guard between a server and its clients, before it serves.

        `server` is an ``MCPServer``, the SDK's low-level ``Server``, or a ``FastMCP``. The SDK's
        own ``RequestStateBoundary`` makes room for it, and so what it was told: a server that was
        made with a `request_state_security` of its own raises :class:`InvalidArgument`. (Of an
        ``MCPServer`` it cannot be told from the SDK's default if it is but one key.)
        """
        install(self, self._rules, server)
        self._protects = True

    async def revoke(self, principal: Principal | Anonymous, *, lives: int | None = None) -> None:
        """Sign a principal out everywhere: whatever of theirs began until now is refused.

        The ledger keeps that for `lives` seconds, the longest life of anything that the service
        gives out; for ever unless set. Whoever signs in within the ledger's allowance after it has
        to do it again. `on_refused` and the log hear of ``ledger_unconfirmed`` where no replica of
        the store has it, so that a fail-over would forget it. Raises :class:`InvalidArgument`
        without a ledger, and :class:`AcceptUnavailable` where it is not known that anybody was
        signed out.
        """
        asking = Asking(self, None)
        if principal == "anonymous":
            whom: Document = {"anonymous": True}
        else:
            asking.principal = checked(principal)
            whom = asking.principal._asdict()
        step = await asking.drive(*self._rules.engine().revoke(whom, lives))
        if step["step"] != "done":
            raise AcceptUnavailable(step["refused"][-1]["message"])

    def read_state(self, ctx: Any) -> Any:
        """Return what :meth:`write_state` was given in the round before; ``None`` in the first.

        `ctx` is the context that the handler was given: of ``MCPServer``, of FastMCP, or of the
        low-level server. A state of plain text is in the SDK's own ``ctx.request_state``. Raises
        :class:`InvalidArgument` in a request that carries no ``requestState``, such as a list.
        """
        state = exchange_of(self, ctx).state()
        return None if state is None else _json.loads(state.encode())

    def write_state(self, ctx: Any, value: Any) -> str:
        """Return a value of JSON as the `request_state` of an ``InputRequiredResult``.

        It is sealed when the result leaves. Raises :class:`InvalidArgument` where nothing would
        seal it: the server is not protected, or the request carries no ``requestState``.
        """
        exchange_of(self, ctx).state()
        return _json.dumps("state", value).decode()

    def handles(self, handle_type: str, *, max_age: int | None = None) -> ServerHandles:
        """Return the handles of a type: keys of rows that the server keeps.

        They live for `max_age` seconds, or as long as their key is in the ring.
        """
        check_handle_type(handle_type)
        return ServerHandles(self, handle_type, max_age=max_age)

    def held_handles(
        self, handle_type: str, *, ttl: int | None = None, single_use: bool = False
    ) -> HeldHandles:
        """Return the handles of a type that hold their state themselves.

        They live for `ttl` seconds, 24 hours unless set. With `single_use` a handle is used up when
        it is renewed, which takes a ledger: to open it uses up nothing.
        """
        check_handle_type(handle_type)
        if ttl is not None:
            check_ttl(ttl)
        if single_use and self.ledger is None:
            raise InvalidArgument("single_use: expected a guard with a ledger")
        return HeldHandles(self, handle_type, ttl=ttl, single_use=single_use)

    def sessions(
        self,
        *,
        initial: Initial | None = None,
        ttl: int | None = None,
        no_expiry: bool = False,
        required: Required | Literal[True] | None = None,
        held_by_server: bool = False,
    ) -> Sessions:
        """Serve data-layer sessions: of one value of JSON, which the client keeps.

        Called once, before :meth:`protect`. `initial` is given the context of the request that
        creates a session, and gives its first value; it may be asynchronous. A session ends after
        `ttl` seconds without a write, 24 hours unless set, or with `no_expiry` only at the codec's
        `session_max_age`. `required` names what needs a session, as
        ``{"methods": [...], "tools": [...]}``; ``True`` is every request but ``initialize``,
        ``ping``, ``server/discover``, lists, and ``sessions/create``. With `held_by_server` the
        session is its id alone, and what it stands for is in the server's own rows, by ulid.

        A session that ended is refused from then on, for the ledger or `accept` remembers it;
        without both none can be ended, and ``sessions/delete`` is a method that the server does not
        know. With a ledger, whoever sends another state than the latest one is answered with that
        (LEDGER.md), and nothing ran.
        """
        if self._protects:
            raise InvalidArgument("sessions: expected to be called before guard.protect(server)")
        sessions = Sessions(
            self,
            initial=initial,
            ttl=ttl,
            no_expiry=no_expiry,
            required=required,
            held_by_server=held_by_server,
        )
        self._rules.take(sessions)
        return sessions

    def asgi(
        self,
        app: Any,
        *,
        required: bool = True,
        ttl: int | None = None,
        idle: int | None = None,
        sep1359: bool = False,
        max_request_body_size: int = 4 * 1024 * 1024,
    ) -> Any:
        """Give the clients of a stateless server their sessions, of revisions to 2025-11-25.

        `app` is what ``streamable_http_app(stateless_http=True)`` of an ``MCPServer`` or
        ``http_app(stateless_http=True)`` of a FastMCP gives, whose endpoint is wrapped inside of
        what authenticates; or an ASGI application of your own, wrapped as it is. The answer to
        ``initialize`` has a header ``Mcp-Session-Id``, a token that carries what was negotiated,
        for `ttl` seconds, 30 days unless set; later requests are verified before the server sees
        them. With `required` one without the header is answered 400; one whose session is not
        good is answered 404, whatever the reason. ``DELETE`` ends a session, for as long as
        the ledger or `accept` remembers. With `idle`, which takes a ledger, a session ends too when
        it was not seen for so many seconds. Requests of revision 2026-07-28 pass untouched.

        With `sep1359` the session is in the messages too, for a client that puts it there, as
        SEP-1359 has it. Then whoever presents another's session ends it, if there is a ledger or an
        `accept`: so it is specified, and so who stole a token can end the session.

        `principal` is asked with a context that has the HTTP request and the message, and no
        `session`. A stateless server of these revisions cannot ask its client back: there is no
        elicitation, no sampling and no roots.

        >>> import sealwax, sealwax.mcp
        >>> from mcp.server import MCPServer
        >>> keys = sealwax.KeyRing([sealwax.Key.generate()])
        >>> codec = sealwax.Codec(keys=keys, audience="https://mcp.example.com")
        >>> guard = sealwax.mcp.Guard(codec=codec, principal="anonymous")
        >>> server = MCPServer("notes")
        >>> guard.protect(server)
        >>> app = guard.asgi(server.streamable_http_app(stateless_http=True))
        """
        transport = Transport(
            self, self._rules, required=required, ttl=ttl, idle=idle, sep1359=sep1359
        )
        return _http.install(app, transport, limit=max_request_body_size)

    async def run_stdio(
        self, server: Any, *, ttl: int | None = None, idle: int | None = None
    ) -> None:
        """Serve stdio with the sessions of SEP-1359, which outlive the process.

        `server` is as for :meth:`protect`, which has to be called too. A client that sends
        ``sessionId`` finds its session after a restart: what it negotiated is in the token. `idle`
        is as for :meth:`asgi`. A :class:`sealwax.ledger.Memory` does not outlive the process:
        whatever is older than it is refused.
        """
        transport = Transport(self, self._rules, required=False, ttl=ttl, idle=idle, sep1359=True)
        await _stdio.run(low_level(server), transport)

    def negotiated(self, ctx: Any) -> Negotiated | None:
        """Return what was negotiated when the session of a request began; see :meth:`asgi`.

        ``None`` where the request has no such session, and on stdio, where the SDK knows.
        """
        return exchange_of(self, ctx).negotiated

    def __repr__(self) -> str:
        return f"<Guard of {self.codec!r}>"
