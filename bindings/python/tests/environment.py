"""The clock and the randomness in the tests' hands, while a block runs.

`make test` preloads the C tests' environment.c, which stands in front of the C library's, so that
the wheel under test is the one that ships: it knows of no clock but the system's. On Windows it is
a library of its own, which SEALWAX_ENVIRONMENT names.
"""

from __future__ import annotations

import ctypes
import os
from contextlib import contextmanager
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator

_preloaded = ctypes.CDLL(os.environ.get("SEALWAX_ENVIRONMENT"))
_preloaded.environment_stop_clock.argtypes = [ctypes.c_uint64]
_preloaded.environment_set_random.argtypes = [ctypes.c_char_p, ctypes.c_size_t]
#: The times at which the running blocks have stopped the clock.
_stopped: list[int] = []


@contextmanager
def at(now_ms: int, random: bytes | None = None) -> Iterator[None]:
    """Stop the clock, and give these bytes as randomness."""
    _stopped.append(now_ms)
    _preloaded.environment_stop_clock(now_ms)
    if random is not None:
        _preloaded.environment_set_random(random, len(random))
    try:
        yield
    finally:
        _preloaded.environment_reset()
        _stopped.pop()
        if _stopped:
            _preloaded.environment_stop_clock(_stopped[-1])


@contextmanager
def without_randomness() -> Iterator[None]:
    _preloaded.environment_deny_random()
    try:
        yield
    finally:
        _preloaded.environment_reset()
