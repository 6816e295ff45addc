"""Exchanges of the engine that are freed at once, and not when Python collects them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import anyio

from sealwax import _engine, _machine

if TYPE_CHECKING:
    from collections.abc import Callable


class Live:
    """Counts the exchanges that began, and those that were freed; `__del__` is not counted."""

    def __init__(self, patch: Callable[[Any, str, Any], None]) -> None:
        self.begun = self.freed = 0
        init, free = _engine.Exchange.__init__, _machine._free

        def begun(exchange: _engine.Exchange, *made_of: Any) -> None:
            init(exchange, *made_of)
            self.begun += 1

        def freed(pointer: Any) -> None:
            free(pointer)
            self.freed += 1

        patch(_engine.Exchange, "__init__", begun)
        patch(_machine, "_free", freed)

    async def expect(self, begun: int | None = None) -> None:
        """Wait until as many began, or any number, and all of them were freed."""
        with anyio.move_on_after(20):
            while self.freed != self.begun or begun not in (None, self.begun):
                await anyio.sleep(0.01)
        assert self.freed == self.begun
        assert begun in (None, self.begun)
