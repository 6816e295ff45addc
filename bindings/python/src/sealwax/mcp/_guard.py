"""The guard of a server."""

from __future__ import annotations

import inspect
from typing import TYPE_CHECKING, Any, Literal, TypeVar, overload

from .. import Codec, InvalidArgument, _json
from .._engine import document_of
from .._lifetime import check_ttl
from .._native import flag
from .._view import check_handle_type
from ._caller import Caller
from ._handler.exchange import exchange_of
from ._handler.handles import ReferenceHandles, SelfContainedHandles, written
from ._handler.links import Links
from ._handler.sessions import Sessions, needed
from ._options import EngineFactory, document, names
from ._principal import checked
from ._refusal import LedgerUnavailable, why
from ._sdk_types import IS_SECOND
from ._transport import http
from ._transport.exchange import Transport

if TYPE_CHECKING or IS_SECOND:
    from ._handler.sdk import install, low_level
else:
    from ._former.sdk import install, low_level

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from .. import Principal
    from ..ledger import Ledger
    from ._handler.sessions import Initial, Required
    from ._hooks import OnEvent, OnRefused
    from ._options import Fallback, LedgerOptions, QuestionOf
    from ._principal import Anonymous, PrincipalOf
    from ._transport.negotiated import Negotiated

    Question = TypeVar("Question", bound=QuestionOf)


class Guard:
    """Seals what leaves an MCP server for its clients, and opens and checks what comes back.

    One guard can protect several servers.

    `codec` holds the keys and the name of the service. `principal` resolves the caller of a
    request; a server without authentication passes ``"anonymous"``. There is no default. A request
    of an authenticated user at a guard with ``"anonymous"`` is served, and warned of once.
    `on_refused` is called with each refusal and its reason, which the logger ``sealwax.mcp`` gets
    too, and the client never. `on_event` is called with whatever was opened, sealed, ended or
    revoked; :mod:`sealwax.otel` makes metrics of both. `ledger` records used and ended tokens and
    the latest state of each session (:mod:`sealwax.ledger`); without it a token can be used any
    number of times until it expires. `time_limit` is for all that is asked of it for one request
    together, in seconds, 60 at most; one command has three tenths of it.
    `request_state_ttl` is the lifetime of a ``requestState`` in seconds, and `confirm_ttl` the time
    that a user may take to confirm a call (:meth:`confirm`), each 600 by default. `only`
    maps a tool or a prompt to the arguments that its ``requestState`` is bound to; the others may
    differ when the client comes back.

    >>> import sealwax, sealwax.mcp
    >>> from mcp.server import MCPServer
    >>> keys = sealwax.KeyRing([sealwax.Key.generate()])  # a server has Codec.from_env
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
        on_event: OnEvent | None = None,
        time_limit: float = 1.0,
        ledger: Ledger | None = None,
        ledger_options: LedgerOptions | None = None,
        request_state_ttl: int | None = None,
        confirm_ttl: int | None = None,
        only: Mapping[str, Sequence[str]] | None = None,
    ) -> None:
        if not isinstance(codec, Codec):
            raise TypeError(f"codec: expected a sealwax.Codec, found {type(codec).__name__}")
        if principal != "anonymous" and not callable(principal):
            raise InvalidArgument('principal: expected a function, or "anonymous" by that name')
        for name, hook in {"on_refused": on_refused, "on_event": on_event}.items():
            if inspect.iscoroutinefunction(hook):
                raise TypeError(f"{name}: expected a plain function: no answer waits for it")
        if ledger is None and ledger_options is not None:
            raise InvalidArgument("ledger_options: expected a ledger too, found none")
        options: Any = {"local": getattr(ledger, "local", False), **(ledger_options or {})}
        self.codec, self.principal = codec, principal
        self.on_refused, self.on_event = on_refused, on_event
        self.ledger = ledger
        self.engines = EngineFactory(
            codec,
            document(
                events=on_event is not None,
                # The engine refuses what is out of bounds.
                time_limit_ms=int(1000 * min(max(time_limit, 0), 100)),
                request_state_ttl=request_state_ttl,
                confirm_ttl=confirm_ttl,
                only={target: names(f"only.{target}", one) for target, one in (only or {}).items()},
                ledger=None if ledger is None else document(**options),
            ),
        )
        self.engine = self.engines.engine()
        self._sessions: Sessions | None = None
        self.questions: dict[str, QuestionOf | str | None] = {}
        self._protects = self.has_warned = False
        self.confirms = self.confirms_destructive = False

    def protect(self, server: Any) -> None:
        """Install this guard in a server, before the server serves.

        `server` is an ``MCPServer``, the SDK's low-level ``Server``, or a ``FastMCP``. The guard
        replaces the SDK's own ``RequestStateBoundary``. Raises :class:`InvalidArgument` for a
        server that was made with `request_state_security`. (An ``MCPServer``'s cannot be told from
        the SDK's default if it is a single key.)

        With mcp 1 `server` is a low-level ``Server``, a FastMCP, or its application for HTTP: what
        ``streamable_http_app()`` or ``http_app()`` gives.
        """
        for tool, question in self.questions.items():
            if question is None:
                raise InvalidArgument(
                    f"confirm {tool!r}: expected a question, found none: pass a text, or put "
                    f"@guard.confirm({tool!r}) above the function that makes it"
                )
        install(self, self._sessions, server)
        self._protects = True

    async def revoke(
        self, principal: Principal | Anonymous, *, retain_for: int | None = None
    ) -> None:
        """Sign a principal out everywhere: refuse all tokens and sessions that began until now.

        The ledger keeps this for 400 days, longer than anything lives; `retain_for` are fewer
        seconds, at least the longest lifetime of anything that the service issues, now or later. A
        principal who signs in again within the ledger's `clock_tolerance` has to repeat it.
        `on_refused` and the log get ``ledger_unconfirmed`` if no replica of the store confirmed it,
        so that a fail-over could lose it. Raises :class:`InvalidArgument` without a ledger, and
        :class:`LedgerUnavailable` if the store may not have recorded it.
        """
        whom = principal if principal == "anonymous" else checked(principal)
        asked = self.engine.revoke(document_of(whom), retain_for)
        step = await Caller(self, None).finish(*asked)
        if step["step"] != "done":
            raise LedgerUnavailable(str(why(step)))

    def opened(self, ctx: Any) -> Any:
        """Return the value of :meth:`state` from the round before; ``None`` in the first.

        `ctx` is the handler's context, of ``MCPServer``, of FastMCP, or of the low-level server. A
        state of plain text is in the SDK's own ``ctx.request_state``. Raises
        :class:`InvalidArgument` in a request that cannot carry a ``requestState``, such as a list.
        """
        state = exchange_of(self, ctx).state()
        return None if state is None else _json.loads(state.encode())

    def state(self, ctx: Any, value: Any) -> str:
        """Seal a JSON value as the `request_state` of an ``InputRequiredResult``.

        The token tells nothing wherever it is shown. Raises :class:`InvalidArgument` if the server
        is not protected or the request cannot carry a ``requestState``, or :class:`TypeError` too
        if JSON cannot hold the value, and :class:`TooLarge` for one over the codec's
        `payload_limit`.
        """
        return exchange_of(self, ctx).seal_state(value)

    def idempotency_key(self, ctx: Any) -> str:
        """Return a key for an API that does a thing once for each: ``Idempotency-Key``.

        It is 32 letters and digits, the same at every retry of a request, and different for every
        user, confirmation and state. A call without a confirmation or a ``requestState`` has the
        same key whenever it is made again with the same arguments. Raises as :meth:`opened`.
        """
        x = exchange_of(self, ctx)
        x.state()
        return x.engine.idempotency_key()

    def session_id(self, ctx: Any) -> str | None:
        """Return the id of the session, to key rows of your own; ``None`` without one.

        It is verified, and the same for the session's whole life: that of a data-layer session, or
        of ``Mcp-Session-Id`` and SEP-1359 behind :meth:`asgi` and :meth:`run_stdio`.
        """
        x = exchange_of(self, ctx)
        if x.session is not None:
            return x.session.ulid
        settled = x.outer and x.outer.negotiated
        return settled.id if settled else None

    @overload
    def confirm(self, tool: str, question: str, *, fallback: Fallback = "refuse") -> None: ...
    @overload
    def confirm(
        self, tool: str, *, fallback: Fallback = "refuse"
    ) -> Callable[[Question], Question]: ...
    def confirm(
        self, tool: str, question: str | None = None, *, fallback: Fallback = "refuse"
    ) -> Callable[[Question], Question] | None:
        """Run a tool only for a call that its user confirmed: its handler needs no code for it.

        Call it before :meth:`protect`. `question` has arguments of the call in braces, shown as
        JSON; ``{{`` is a brace. Without it, this decorates the function that makes the question: it
        gets all arguments of the call by their names, as the client sent them, and may be
        asynchronous. If it raises, the tool does not run.

        A client of revision 2026-07-28 that elicits is asked by ``input_required``, an earlier one
        by ``elicitation/create`` on its connection, one that shows the pages of servers (MCP Apps)
        by a card. For others the tool does not run; with the `fallback` ``"preview"`` the model
        asks and brings the answer, which proves no consent. The confirmation is bound to the user,
        the tool, the arguments and the question, and counts for ten minutes (`confirm_ttl`); with a
        `ledger` it counts once.

        Over HTTP, an earlier client is asked only where nobody else can answer: with
        ``"anonymous"``, with mcp 1, or in a session that the SDK binds to the access token that it
        has checked. Where a FastMCP is mounted in another, protect that one, and confirm the tool
        by its name there: a call that nobody confirmed does not run here.

        >>> import sealwax, sealwax.mcp
        >>> from mcp.server import MCPServer
        >>> keys = sealwax.KeyRing([sealwax.Key.generate()])
        >>> codec = sealwax.Codec(keys=keys, audience="https://mcp.example.com")
        >>> guard = sealwax.mcp.Guard(codec=codec, principal="anonymous")
        >>> guard.confirm("delete_note", "Delete note {id}?")
        >>> @guard.confirm("empty")
        ... async def _(folder: str, **_others: object) -> str:
        ...     return f"Delete all notes in {folder!r}?"
        >>> server = MCPServer("notes")
        >>> @server.tool()
        ... def delete_note(id: int) -> str:
        ...     return f"deleted {id}"
        >>> guard.protect(server)
        """
        self._expect_unprotected("confirm")
        for name, given in {"tool": tool, "question": question}.items():
            if not isinstance(given, str) and (name == "tool" or given is not None):
                raise TypeError(f"{name}: expected a text, found {type(given).__name__}")
        self.engines.confirm(tool, message=question, fallback=fallback)
        # One without a function yet runs for nobody.
        self.questions[tool], self.confirms = question, True
        if question is not None:
            return None

        def asks(function: Question) -> Question:
            self.questions[tool] = function
            return function

        return asks

    def confirm_destructive(self, *, fallback: Fallback = "refuse") -> None:
        """Confirm each tool that the server's own ``tools/list`` marks as destructive.

        By the specification that is each one unless its annotations have a ``readOnlyHint`` of true
        or a ``destructiveHint`` of false. Its user is asked ``Run {tool} with {arguments}?``; all
        else is as :meth:`confirm` has it, and a tool of that keeps its own question.
        """
        self._expect_unprotected("confirm")
        self.engines.add(confirmDestructive={"fallback": fallback})
        self.confirms = self.confirms_destructive = True

    def _expect_unprotected(self, call: str) -> None:
        if self._protects:
            raise InvalidArgument(f"{call}: expected to be called before guard.protect(server)")

    def reference_handles(
        self, handle_type: str, *, max_age: int | None = None
    ) -> ReferenceHandles:
        """Return the handles of a type whose state the server keeps, by the handle's ulid.

        They expire after `max_age` seconds, or when their key is removed from the ring.
        """
        check_handle_type(handle_type)
        return ReferenceHandles(self, document(type=handle_type, max_age=max_age))

    def self_contained_handles(
        self,
        handle_type: str,
        *,
        ttl: int | None = None,
        max_age: int | None = None,
        single_use: bool = False,
    ) -> SelfContainedHandles:
        """Return the handles of a type that hold their state themselves.

        They expire after `ttl` seconds, 24 hours by default, and `max_age` seconds after the first
        of their chain, however often they were renewed; by default there is no such limit. With
        `single_use`, which needs a ledger, renewing a handle ends it; opening it does not.
        """
        check_handle_type(handle_type)
        check_ttl(ttl)
        if flag("single_use", single_use) and self.ledger is None:
            raise InvalidArgument("single_use: expected a guard with a ledger")
        common = document(
            type=handle_type, self_contained=True, ttl=ttl, max_age=max_age, once=single_use
        )
        return SelfContainedHandles(self, common)

    def links(self, name: str, *, ttl: int | None = None, once: bool = False) -> Links:
        """Return the links of a name, which any replica seals and opens.

        A name is a lowercase letter, then up to 31 lowercase letters or digits. Links expire after
        `ttl` seconds, 24 hours by default. With `once`, which needs a ledger, each is good once.
        """
        check_handle_type(name)
        check_ttl(ttl)
        return Links(self, document(type=name, ttl=ttl, once=flag("once", once)))

    async def cursor(
        self,
        ctx: Any,
        position: Any,
        *,
        argument: str = "cursor",
        list: str | None = None,
        ttl: int | None = None,
    ) -> str:
        """Return a cursor for the result of a tool, to get back in an argument of the next call.

        `position` is a JSON value: where the next page begins. The cursor is bound to the user, the
        tool and the call's other arguments, and expires after `ttl` seconds, 24 hours by default.
        `list` tells what the list is made of, such as its version. Raises :class:`HandleRefused`
        for arguments that nothing can be bound to, and a `position` over the codec's
        `payload_limit`, or that JSON cannot hold.

        >>> import sealwax, sealwax.mcp
        >>> from mcp.server import MCPServer
        >>> from mcp.server.mcpserver import Context
        >>> keys = sealwax.KeyRing([sealwax.Key.generate()])
        >>> codec = sealwax.Codec(keys=keys, audience="https://mcp.example.com")
        >>> guard = sealwax.mcp.Guard(codec=codec, principal="anonymous")
        >>> server, rows = MCPServer("notes"), range(100)
        >>> guard.protect(server)
        >>> @server.tool()
        ... async def notes(ctx: Context, cursor: str | None = None) -> dict[str, object]:
        ...     at = await guard.position(ctx) or 0
        ...     following = await guard.cursor(ctx, at + 20) if at + 20 < len(rows) else None
        ...     return {"rows": [*rows[at : at + 20]], "cursor": following}
        """
        check_ttl(ttl)
        operation = document(op="cursor", type=argument, list=list, ttl=ttl)
        made = await exchange_of(self, ctx).handle(operation, written(position))
        return str(made["handle"])

    async def position(self, ctx: Any, *, argument: str = "cursor", list: str | None = None) -> Any:
        """Return the position of the cursor that a call brought; ``None`` for the first page.

        What no guard could have made is the first page too: models fill in every argument that they
        know of. Raises :class:`HandleRefused` for a cursor that was altered, has expired, or is of
        another user, tool, call or `list`.
        """
        operation = document(op="position", type=argument, list=list)
        value = (await exchange_of(self, ctx).handle(operation)).get("value")
        return None if value is None else _json.loads(value.encode())

    def sessions(
        self,
        *,
        initial: Initial | None = None,
        ttl: int | None = None,
        no_expiry: bool = False,
        required: Required | Literal[True] | None = None,
        held_by_server: bool = False,
    ) -> Sessions:
        """Serve data-layer sessions: one JSON value each, which the client keeps.

        Call it once, before :meth:`protect`. `initial` takes the context of the request that
        creates a session and returns its first value; it may be asynchronous. A session ends after
        `ttl` seconds without a write, 24 hours by default, or with `no_expiry` only at the codec's
        `session_max_age`. `required` names the requests that need a session, as
        ``{"methods": [...], "tools": [...]}``; ``True`` means all but ``initialize``, ``ping``,
        ``server/discover``, lists, and ``sessions/create``. With `held_by_server` a session is its
        id alone, and the server keeps its value, by ulid.

        Ending a session needs a ledger; without one ``sessions/delete`` is an unknown method. With
        a ledger, a request with an older state is answered with the latest one (LEDGER.md), and no
        handler runs.
        """
        self._expect_unprotected("sessions")
        settings = document(
            ttl=ttl,
            no_expiry=no_expiry,
            required=needed(required),
            held_by_server=held_by_server,
        )
        if self._sessions is not None:
            raise InvalidArgument("sessions: expected to be called once, found a second time")
        sessions = Sessions(self, initial, settings)
        self.engines.add(sessions=settings)
        self._sessions, self.engines.first = sessions, sessions.first
        return sessions

    def asgi(
        self,
        app: Any,
        *,
        required: bool = True,
        ttl: int | None = None,
        idle: int | None = None,
        on_lost: Literal["refuse", "serve"] = "refuse",
        sep1359: bool = False,
        max_request_body_size: int = 4 * 1024 * 1024,
    ) -> Any:
        """Wrap a stateless server, to give clients of revisions up to 2025-11-25 their sessions.

        `app` is the result of ``streamable_http_app(stateless_http=True)`` of an ``MCPServer`` or
        ``http_app(stateless_http=True)`` of a FastMCP, whose endpoint is wrapped inside of its
        authentication; or an ASGI application of your own, wrapped as it is.

        The answer to ``initialize`` has a header ``Mcp-Session-Id``: a token that holds the
        negotiated session, for `ttl` seconds, 30 days by default. Later requests are verified
        before the server sees them. With `required` a request without the header gets 400; one
        whose session is refused gets 404. With a ledger, ``DELETE`` ends a session; with `idle`, it
        also ends after that many seconds without a request. Requests of revision 2026-07-28 pass
        unchanged.

        With ``on_lost="serve"`` a request whose session is lost (it has expired, its key was
        retired, or it is of another audience) is served as one without a session, and the log says
        so: for clients that begin no session after a 404. Another user's session, and one that was
        ended, are refused always.

        With `sep1359` messages carry the session too, for clients of SEP-1359. As it specifies, a
        session that another principal presents ends, if the guard has a ledger: a thief of the
        token can end the session.

        `principal` gets a context with the HTTP request and the message, and no `session`. A
        stateless server of these revisions cannot ask its client: it has no elicitation, sampling
        or roots.

        >>> import sealwax, sealwax.mcp
        >>> from mcp.server import MCPServer
        >>> keys = sealwax.KeyRing([sealwax.Key.generate()])
        >>> codec = sealwax.Codec(keys=keys, audience="https://mcp.example.com")
        >>> guard = sealwax.mcp.Guard(codec=codec, principal="anonymous")
        >>> server = MCPServer("notes")
        >>> guard.protect(server)
        >>> app = guard.asgi(server.streamable_http_app(stateless_http=True))
        """
        if on_lost not in ("refuse", "serve"):
            raise InvalidArgument(f"on_lost: expected 'refuse' or 'serve', found {on_lost!r}")
        transport = Transport(
            self, required=required, ttl=ttl, idle=idle, on_lost=on_lost, sep1359=sep1359
        )
        return http.install(app, transport, limit=max_request_body_size)

    async def run_stdio(
        self, server: Any, *, ttl: int | None = None, idle: int | None = None
    ) -> None:
        """Serve stdio with the sessions of SEP-1359, which outlive the process.

        `server` is as for :meth:`protect`; call that first. A client that sends ``sessionId``
        continues its session after a restart, because the token holds what was negotiated. `ttl`
        and `idle` are as for :meth:`asgi`. A :class:`sealwax.ledger.Memory` does not outlive the
        process: it refuses all sessions older than itself.
        """
        low = low_level(server)
        # Which mcp 1 has not what it takes for.
        from ._transport import stdio

        transport = Transport(self, required=False, ttl=ttl, idle=idle, sep1359=True)
        await stdio.run(low, transport)

    def negotiated(self, ctx: Any) -> Negotiated | None:
        """Return what was negotiated when the session of a request began; see :meth:`asgi`.

        ``None`` if the request has no such session, and on stdio, where the SDK knows it.
        """
        outer = exchange_of(self, ctx).outer
        return outer.negotiated if outer is not None and outer.over_http else None

    def __repr__(self) -> str:
        return f"<Guard of {self.codec!r}>"
