"""The guard's side of its ledger: asked in time, and never taken for a yes."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING

import anyio

from ..ledger import LedgerUnfit

if TYPE_CHECKING:
    from .._engine import Document
    from ..ledger import Ledger

#: How long one command may take, in seconds. The engine tries it once more.
_COMMAND_TIMEOUT = 0.3


class LedgerClient:
    """Has a ledger do what the engine asks."""

    def __init__(self, ledger: Ledger) -> None:
        self._ledger = ledger

    async def record(self, step: Document, deadline: float) -> Document:
        """Do a command, and return the reply as an event has it."""
        try:
            with anyio.fail_after(min(deadline - time.monotonic(), _COMMAND_TIMEOUT)):
                command = {name: step[name] for name in ("script", "keys", "args")}
                return {"ledger": await self._ledger.run(command)}
        except LedgerUnfit as error:
            why = str(error)
        except Exception as error:
            # Its message is not for the log: it may hold the store's credentials.
            why = f"expected an answer in {_COMMAND_TIMEOUT} s, found {type(error).__name__}"
        return {"ledger": {"failed": f"ledger: {why}"}}
