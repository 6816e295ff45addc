"""The guard's side of its ledger: time limits, and failures as refusals."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING

import anyio

from ..ledger import LedgerError

if TYPE_CHECKING:
    from .._engine import Document
    from ..ledger import Ledger


class LedgerClient:
    """Runs the engine's commands on a ledger.

    One command may take three tenths of `limit`, in seconds, so that the engine can repeat it once.
    """

    def __init__(self, ledger: Ledger, limit: float) -> None:
        self._ledger = ledger
        self.timeout = 0.3 * limit

    async def record(self, step: Document, deadline: float) -> Document:
        """Run a command, and return the reply, or the failure, as an event."""
        try:
            with anyio.fail_after(min(deadline - time.monotonic(), self.timeout)):
                command = {name: step[name] for name in ("script", "keys", "args")}
                return {"ledger": await self._ledger.run(command)}
        except LedgerError as error:
            why = str(error)
        except Exception as error:
            # Its message is not logged: it may hold the store's credentials.
            why = f"expected an answer in {self.timeout:g} s, found {type(error).__name__}"
        return {"ledger": {"failed": f"ledger: {why}"}}
