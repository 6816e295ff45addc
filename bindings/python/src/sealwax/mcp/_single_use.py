"""Single use, remembered by one process."""

from __future__ import annotations

import heapq
import math
import threading
import time
from typing import TYPE_CHECKING

from .. import InvalidArgument
from ._refusal import AcceptUnavailable

if TYPE_CHECKING:
    from ._accept import Presented


class SingleUse:
    """Accepts each ``requestState`` once, and anything else until it was ended. In memory.

    It remembers an id until the token expires. Full of tokens that live, it fails rather than
    forget one, and the server's clients are told to try again later: `capacity` is how many round
    trips are begun within the lifetime of a ``requestState``.

    A token is used up when its handler begins: where that fails, the client begins anew.

    It is the memory of one process. Another replica has its own, and accepts the same token once
    more; a restart forgets all. Where that matters, put a store of all replicas behind
    :class:`Accept`: to set a key if it is not set, with an expiry, is all it needs to do.

    >>> import sealwax, sealwax.mcp
    >>> keys = sealwax.KeyRing([sealwax.Key.generate()])
    >>> codec = sealwax.Codec(keys=keys, audience="https://mcp.example.com")
    >>> once = sealwax.mcp.SingleUse(capacity=50_000)
    >>> guard = sealwax.mcp.Guard(codec=codec, principal="anonymous", accept=once)
    """

    def __init__(self, *, capacity: int = 10_000) -> None:
        if isinstance(capacity, bool) or not isinstance(capacity, int) or capacity < 1:
            raise InvalidArgument(f"capacity: expected 1 or more, found {capacity!r}")
        self._capacity = capacity
        self._remembered: set[str] = set()
        self._by_expiry: list[tuple[float, str]] = []
        self._lock = threading.Lock()

    def accept(self, presented: Presented, /) -> bool:
        """Return whether it is new, and remember it if it may be used once only."""
        with self._lock:
            if presented.id in self._remembered:
                return False
            if presented.kind == "request-state":
                self._remember(presented)
            return True

    def ended(self, presented: Presented, /) -> None:
        """Remember that it ended."""
        with self._lock:
            if presented.id not in self._remembered:
                self._remember(presented)

    def _remember(self, presented: Presented) -> None:
        now = time.time()
        while self._by_expiry and self._by_expiry[0][0] <= now:
            self._remembered.discard(heapq.heappop(self._by_expiry)[1])
        if len(self._remembered) >= self._capacity:
            raise AcceptUnavailable(
                f"expected room for one more, found {self._capacity} that are alive: raise capacity"
            )
        expiry = math.inf if presented.expires_at is None else presented.expires_at
        self._remembered.add(presented.id)
        heapq.heappush(self._by_expiry, (expiry, presented.id))
