"""The library's machines: a frame in, a frame out, in the form of docs/engine.md."""

from __future__ import annotations

import json
from struct import Struct
from threading import Lock
from typing import TYPE_CHECKING, Any

from . import _json
from ._errors import InvalidArgument
from ._native import NULL, Opaque, fail, ffi, lib

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from typing_extensions import Self

_new, _on, _free = lib.sealwax_machine_new, lib.sealwax_machine_on, lib.sealwax_machine_free
_EVENT = lib.SEALWAX_EVENT
#: What is before the texts, by their number.
_HEADS = [Struct(f"<BBH{count}i").pack for count in range(14)]
#: What is before those of an answer, which has two: kind, flags and their lengths.
HEAD = Struct("<BxHii")
_decode = json.JSONDecoder().decode
#: Free outputs: a machine, an answer's address as two types, its length, and an error. `pop` and
#: `append` are atomic, as those of `Pool` are.
_out_params: list[tuple[Any, Any, Any, Any, Any]] = []


def frame(kind: int, texts: Sequence[bytes | None] = (), flags: int = 0) -> bytes:
    """Write a frame."""
    lengths = [-1 if text is None else len(text) for text in texts]
    head = _HEADS[len(texts)](kind, len(texts), flags, *lengths)
    return head + b"".join(filter(None, texts))


def text_of(answer: bytes) -> str:
    """Return the one text of an answer."""
    return answer[HEAD.size :].decode()


class Machine(Opaque):
    """A guard, an exchange, a ledger in memory. Threads may share it until it is freed."""

    __slots__ = ("_lock", "_machine", "began")

    def __init__(self, machine: Any) -> None:
        """Take ownership of the C object; :meth:`new` makes one."""
        self._machine = machine
        #: When the handler's result or operation came, in nanoseconds: of an exchange.
        self.began = 0
        # An answer is valid until the next call on the machine, and cffi releases the GIL.
        self._lock = Lock()

    @classmethod
    def new(
        cls, given: bytes, parent: Machine | None = None, codec: Any = NULL
    ) -> tuple[Self, bytes]:
        """Make one by a frame; return it and its answer."""
        of = NULL if parent is None else parent._living()
        out_params = _new_out_params()
        made, answer, said, length, error = out_params
        if _new(codec, of, given, len(given), made, answer, length, error):
            fail(error)
        machine, text = cls(made[0]), ffi.unpack(said[0], length[0])
        _out_params.append(out_params)
        return machine, text

    def tell(self, given: bytes) -> bytes:
        """Tell it a frame; return its answer."""
        out_params = _new_out_params()
        _, answer, said, length, error = out_params
        with self._lock:
            if _on(self._living(), given, len(given), answer, length, error):
                fail(error)
            text: bytes = ffi.unpack(said[0], length[0])
        _out_params.append(out_params)
        return text

    def on(self, event: Any) -> Any:
        """Report what became of its last step, a document; return the next step."""
        return _decode(text_of(self.tell(frame(_EVENT, (_json.document(event),)))))

    def free(self) -> None:
        """Free it; this cancels an exchange at any step."""
        with self._lock:
            machine, self._machine = self._machine, None
        if machine is not None:
            _free(machine)

    def __del__(self, free: Callable[[Any], None] = _free) -> None:
        if self._machine is not None:
            free(self._machine)

    def _living(self) -> Any:
        if self._machine is None:
            raise InvalidArgument(
                "expected a request that is being served, found one that was answered or cancelled"
            )
        return self._machine


def _new_out_params() -> tuple[Any, Any, Any, Any, Any]:
    try:
        return _out_params.pop()
    except IndexError:
        # Of `char`, cffi makes bytes at once.
        made, said = ffi.new("sealwax_machine **"), ffi.new("const char **")
        answer = ffi.cast("void *", said)
        return made, answer, said, ffi.new("size_t *"), ffi.new("sealwax_error *")
