"""The guard's side of its ledger: asked in time, and never taken for a yes."""

from __future__ import annotations

import time
from contextlib import suppress
from typing import TYPE_CHECKING

import anyio

from ..ledger import LedgerUnfit
from ._refusal import AcceptUnavailable, logger

if TYPE_CHECKING:
    from .._engine import Document
    from .._engine import Guard as Engine
    from ..ledger import Ledger

#: How long one command may take, in seconds. The engine tries it once more.
_PATIENCE = 0.3


class Recorder:
    """Has a ledger do what the engine asks."""

    def __init__(self, ledger: Ledger, engine: Engine) -> None:
        self._ledger, self._engine = ledger, engine

    async def record(self, step: Document, deadline: float) -> Document:
        """Do a command, and return the reply as an event has it."""
        try:
            with anyio.fail_after(min(deadline - time.monotonic(), _PATIENCE)):
                return {"ledger": await self.run(step)}
        except LedgerUnfit as error:
            why = str(error)
        except Exception as error:
            # Its message is not for the log: it may hold the store's credentials.
            why = f"expected an answer in {_PATIENCE} s, found {type(error).__name__}"
        return {"ledger": {"failed": f"ledger: {why}"}}

    async def run(self, step: Document) -> list[str]:
        """Do a command."""
        return await self._ledger.run({name: step[name] for name in ("script", "keys", "args")})

    async def revoke(self, principal: Document, lives: int | None) -> None:
        """Refuse whatever of a principal began until now, or raise."""
        command = self._engine.revoke(principal, lives)
        reply: list[str] = []
        with suppress(Exception):
            with anyio.fail_after(_PATIENCE):
                reply = await self.run(command)
        if not reply:
            with anyio.fail_after(_PATIENCE):
                reply = await self.run(command)
        confirmed = "unconfirmed" not in reply
        if reply[0] != "ok" or (reply[1] == "2" and not confirmed):
            raise AcceptUnavailable(f"ledger: expected ok, found {' '.join(reply)}")
        if not confirmed:
            logger.warning("revoke: ledger_unconfirmed: a fail-over would forget it: do it again")
