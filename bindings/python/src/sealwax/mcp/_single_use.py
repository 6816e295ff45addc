"""Single use, remembered by one process."""

from __future__ import annotations

import heapq
import math
import threading
import time
from collections import Counter
from typing import TYPE_CHECKING

from .. import InvalidArgument
from ._refusal import AcceptUnavailable

if TYPE_CHECKING:
    from .. import Principal
    from ._accept import Presented


class SingleUse:
    """Accepts each ``requestState`` once, and anything else until it was ended. In memory.

    It remembers an id until nothing of the token opens any longer, 300 seconds after it expired.
    Full of tokens that live, it fails rather than forget one: the client is told of an internal
    error, and keeps its token. There is room for `capacity` round trips that were begun, and apart
    from them for `capacity` handles and sessions that ended. Of one principal no more are
    remembered, in each, than there is room left: one alone fills half, two have a third each, and
    who comes next finds some. All who are anonymous are one principal.

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
        self._spent, self._ended = _Remembered(capacity), _Remembered(capacity)
        self._lock = threading.Lock()

    def accept(self, presented: Presented, /) -> bool:
        """Return whether it is new, and remember it if it may be used once only."""
        with self._lock:
            if presented.id in self._spent or presented.id in self._ended:
                return False
            if presented.kind == "request-state":
                self._spent.add(presented)
            return True

    def ended(self, presented: Presented, /) -> None:
        """Remember that it ended."""
        with self._lock:
            if presented.id not in self._ended:
                self._ended.add(presented)


class _Remembered:
    """Ids, until they are over: so many in all, and of one principal no more than are left free.

    The dynamic threshold of A. K. Choudhury and E. L. Hahne, "Dynamic queue length thresholds for
    shared-memory packet switches", IEEE/ACM Transactions on Networking 6 (1998).
    """

    def __init__(self, capacity: int) -> None:
        self._capacity = capacity
        self._whose: dict[str, Principal | None] = {}
        self._held: Counter[Principal | None] = Counter()
        self._by_expiry: list[tuple[float, str]] = []

    def __contains__(self, identity: str) -> bool:
        return identity in self._whose

    def add(self, presented: Presented) -> None:
        self._forget(time.time())
        whose = presented.principal
        held, room = self._held[whose], self._capacity - len(self._whose)
        if held >= room:
            raise AcceptUnavailable(
                f"expected room for one more of a principal's, found {held} of its own that live, "
                f"and {room} of {self._capacity} free: raise capacity"
            )
        self._whose[presented.id] = whose
        self._held[whose] += 1
        expiry = math.inf if presented.expires_at is None else presented.expires_at
        heapq.heappush(self._by_expiry, (expiry, presented.id))

    def _forget(self, now: float) -> None:
        while self._by_expiry and self._by_expiry[0][0] <= now:
            whose = self._whose.pop(heapq.heappop(self._by_expiry)[1])
            self._held[whose] -= 1
            if not self._held[whose]:
                del self._held[whose]
