"""The guard's side of its ledger: time limits, and failures as refusals."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING

import anyio

from ..ledger import LedgerUnfit

if TYPE_CHECKING:
    from .._engine import Document
    from ..ledger import Ledger

#: The time limit of one command, in seconds. The engine repeats it once.
_COMMAND_TIMEOUT = 0.3


class LedgerClient:
    """Runs the engine's commands on a ledger."""

    def __init__(self, ledger: Ledger) -> None:
        self._ledger = ledger

    async def record(self, step: Document, deadline: float) -> Document:
        """Run a command, and return the reply, or the failure, as an event."""
        try:
            with anyio.fail_after(min(deadline - time.monotonic(), _COMMAND_TIMEOUT)):
                command = {name: step[name] for name in ("script", "keys", "args")}
                return {"ledger": await self._ledger.run(command)}
        except LedgerUnfit as error:
            why = str(error)
        except Exception as error:
            # Its message is not logged: it may hold the store's credentials.
            why = f"expected an answer in {_COMMAND_TIMEOUT} s, found {type(error).__name__}"
        return {"ledger": {"failed": f"ledger: {why}"}}
