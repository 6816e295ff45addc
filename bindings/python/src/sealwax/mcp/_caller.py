"""The author's callbacks for one request."""

from __future__ import annotations

import inspect
import logging
import time
from functools import partial
from typing import TYPE_CHECKING, Any, TypeAlias

import anyio

from .. import InvalidArgument, Principal, _json
from .._cause import named, said
from .._engine import Told, document_of
from .._log import write
from ..ledger import LedgerError, LedgerUnfit
from ._hooks import logger, observe, report
from ._principal import checked, is_signed_in
from ._sdk_types import MCPError

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Mapping

    from mcp.server.context import ServerRequestContext

    from .. import _documents as documents
    from .._engine import Exchange
    from ._options import GuardConfig
    from ._principal import Anonymous

    #: Answers a question of the engine's.
    Answer: TypeAlias = Callable[[documents.AskStep], Awaitable[Told]]


class Caller:
    """Answers the engine's questions, and resolves the caller at most once per request.

    A wrapper around the server shares it with the guard at the handlers.
    """

    def __init__(self, config: GuardConfig, ctx: ServerRequestContext[Any, Any] | None) -> None:
        self._config = config
        #: What the author's function gets.
        self.ctx = ctx
        self._arrived = 0 if config.on_event is None else time.perf_counter_ns()
        self._finding: anyio.Event | None = None
        self._failed: Told | None = None
        #: The caller, if it was resolved.
        self.known: Principal | Anonymous | None = (
            "anonymous" if config.principal == "anonymous" else None
        )
        if self.known and ctx is not None and not config.has_warned and is_signed_in(ctx):
            config.has_warned = True
            write(
                logger,
                logging.WARNING,
                'sealwax: principal: expected a function, found "anonymous" and a request of an '
                "authenticated user: any user who gets hold of another's token can use it. Pass "
                "principal=sealwax.mcp.principal_from_access_token, or a function of your own",
            )

    async def drive(
        self,
        exchange: Exchange,
        step: documents.Step,
        more: Mapping[str, Answer] | None = None,
    ) -> documents.Step:
        """Answer the engine's questions; return the first step that is none of these.

        `more` answers those that depend on a handler's request.
        """
        asked: Any = {"principal": self._who, "ledger": self._record, **(more or {})}
        while True:
            for entry in step.get("refused") or ():
                report(self._config, entry)
            if events := step.get("events"):
                micros = (time.perf_counter_ns() - (exchange.began or self._arrived)) // 1000
                for one in events:
                    observe(self._config, one, micros)
            if step["step"] != "ask" or step["name"] not in asked:
                return step
            step = exchange.told(await asked[step["name"]](step))

    async def finish(self, exchange: Exchange, step: documents.Step) -> documents.Step:
        """Answer the questions of an exchange that one step ends."""
        try:
            return await self.drive(exchange, step)
        finally:
            exchange.free()

    async def _who(self, _step: documents.AskStep) -> Told:
        await self.identify()
        return self._failed or Told(_json.document(document_of(self.known)))

    async def identify(self) -> None:
        """Resolve the caller once, also for a handler that uses two handles at a time."""
        while self._finding is not None:
            await self._finding.wait()
        if self.known is not None or self._failed is not None:
            return
        principal_of: Any = self._config.principal
        try:
            found = principal_of(self.ctx)
            if type(found) is not Principal and inspect.isawaitable(found):
                self._finding = anyio.Event()
                try:
                    found = await found
                finally:
                    self._finding.set()
                    self._finding = None
            if found is None:
                self._failed = Told(b"null")
            else:
                self.known = checked(found)
        except BaseException as error:
            self._failed = failed(error, InvalidArgument)

    async def _record(self, step: documents.AskStep) -> Told:
        assert self._config.ledger is not None
        asked: Any = step
        command = {name: asked[name] for name in ("script", "keys", "args", "withinMs")}
        run = partial(self._config.ledger.run, command)
        return await in_time(step, run, LedgerError, LedgerUnfit)

    def close(self) -> None:
        """Release the request: a task that the handler left behind may still hold this."""
        if self.known is None and self._failed is None:
            self._failed = Told(wrong="expected before the answer had left")
        self.ctx = None


def ends(error: BaseException) -> bool:
    """Return whether an exception ends a task or the program: all others are of who raises them."""
    return isinstance(error, (anyio.get_cancelled_exc_class(), GeneratorExit, KeyboardInterrupt))


def failed(error: BaseException, *own: type[Exception]) -> Told:
    """Return why there is no answer: the text of an error of this package, of any other its type.

    Raises what ends a task or the program.
    """
    if ends(error):
        raise error
    wrong = said(error, *own)
    return Told(wrong=wrong) if wrong else Told(threw=named(error))


async def in_time(
    step: documents.AskStep, answer: Callable[[], Awaitable[Any]], *own: type[Exception]
) -> Told:
    """Return what a store or a client answers within the time of a question, or why it does not."""
    seconds = (step.get("withinMs") or 0) / 1000
    until = time.monotonic() + seconds
    try:
        with anyio.fail_after(seconds):
            found = await answer()
        # Also of one that cannot be interrupted.
        if time.monotonic() > until:
            raise TimeoutError
        return Told(_json.document(found))
    except TimeoutError:
        return Told()
    except BaseException as error:
        return failed(error, *own)


async def made(name: str, function: Callable[[], Any]) -> Told:
    """Return what an author's function makes, at once or later, or why it makes nothing."""
    try:
        value = function()
        return Told(_json.dumps(name, await value if inspect.isawaitable(value) else value))
    except MCPError:
        raise
    except BaseException as error:
        return failed(error)
