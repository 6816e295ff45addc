"""Lifetimes and ends, as C has them."""

from __future__ import annotations

from typing import Any

from ._native import NEVER, call, ffi, flag, lib, number


def check_ttl(ttl: int | None) -> None:
    """Raise for a lifetime, in seconds, that sealing would refuse."""
    if ttl is not None:
        call(lib.sealwax_check_ttl, number("ttl", ttl)[0])


def lifetime(ttl: int | None, *, no_expiry: bool) -> Any:
    """Return a lifetime for C; NULL for the kind's default."""
    if flag("no_expiry", no_expiry) and ttl is not None:
        raise TypeError("expected ttl or no_expiry, found both")
    if no_expiry:
        return ffi.new("sealwax_lifetime *", {"no_expiry": True})
    if ttl is None:
        return ffi.NULL
    return ffi.new("sealwax_lifetime *", {"ttl": number("ttl", ttl)[0]})


def unless_never(time: int) -> int | None:
    """Return a time, or ``None`` for C's "never"."""
    return None if time == NEVER else time
