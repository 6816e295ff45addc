"""Names for the log what an author's function or a store failed with."""

from __future__ import annotations

import errno
import re
import socket
from contextlib import suppress
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator

#: The form of codes; no other text of an error is named, because it may hold a credential.
_CODE = re.compile(r"[A-Z][A-Z0-9_]{2,40}")
_RESOLVING = {getattr(socket, name): name for name in dir(socket) if name.startswith("EAI_")}


def said(error: BaseException, *own: type[Exception]) -> str | None:
    """Return the text of an error of this package; ``None`` of any other, and of a subclass.

    Theirs may raise, may be no Unicode, and may hold a credential.
    """
    text = error.args[0] if type(error) in own and error.args else None
    return text if type(text) is str and text.isprintable() else None


def named(error: BaseException) -> str:
    """Return the class of an error, after the first code of it or of what caused it."""
    name = type(error).__name__
    # A member of it may raise.
    with suppress(Exception):
        for one in _causes(error):
            for code in _codes(one):
                if isinstance(code, str) and _CODE.fullmatch(code):
                    return f"{code} ({name})"
    return name


def _causes(error: BaseException) -> Iterator[BaseException]:
    found = [error]
    # The list grows while it is read; there may be circles.
    for one in found:
        yield one
        if len(found) < 16:
            context = None if one.__suppress_context__ else one.__context__
            several = getattr(one, "exceptions", ())[:4]
            found += (cause for cause in (one.__cause__, context, *several) if cause)


def _codes(error: BaseException) -> Iterator[object]:
    # Of SQLite, of TLS, and of clients.
    for name in ("sqlite_errorname", "reason", "code"):
        yield getattr(error, name, None)
    if isinstance(error, socket.gaierror):
        yield _RESOLVING.get(error.errno)
    elif isinstance(error, OSError) and type(error).__module__ != "ssl":
        yield errno.errorcode.get(error.errno or 0)
