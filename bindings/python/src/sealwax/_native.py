"""The C library: loads it, checks its ABI, and calls it."""

from __future__ import annotations

import sys
from os import path
from typing import TYPE_CHECKING, Any, NoReturn, TypeAlias

from ._errors import InternalError, InvalidArgument, by_code
from ._ffi import ffi as ffi

if TYPE_CHECKING:
    from collections.abc import Callable

_LIBRARY = {"darwin": "libsealwax.dylib", "win32": "sealwax.dll"}.get(sys.platform, "libsealwax.so")
lib: Any = ffi.dlopen(path.join(path.dirname(__file__), "_lib", _LIBRARY))
if lib.sealwax_abi_version() != lib.SEALWAX_ABI_VERSION:
    raise ImportError(
        f"sealwax: expected a library of ABI {lib.SEALWAX_ABI_VERSION}, "
        f"found {lib.sealwax_abi_version()}: install the wheel anew"
    )

# Outputs are written before they are read, so allocations are not cleared.
_allocate = ffi.new_allocator(should_clear_after_alloc=False)
_TEXT = ffi.typeof("char[]")
_BYTES = ffi.typeof("uint8_t[]")
_SIZE = ffi.typeof("size_t *")
_OPENED = ffi.typeof("sealwax_opened *")
_ERROR = ffi.typeof("sealwax_error *")
NULL: Any = ffi.NULL
#: SEALWAX_NEVER, which does not fit an enum.
NEVER = 2**64 - 1


def call(function: Callable[..., int], *arguments: Any) -> None:
    """Call `function`; raise the error that it reports."""
    error = _allocate(_ERROR)
    if function(*arguments, error):
        fail(error)


def call_for_text(
    function: Callable[..., int], *arguments: Any, capacity: int, more: Any = ()
) -> str:
    """Call `function` and return the text that it writes, at most `capacity` bytes.

    `more` are the outputs that follow the text.
    """
    out, length = _allocate(_TEXT, capacity), _allocate(_SIZE)
    call(function, *arguments, out, capacity, length, *more)
    written: bytes = ffi.unpack(out, length[0])
    return written.decode()


def call_for_bytes(
    function: Callable[..., int], *arguments: Any, capacity: int, more: Any = ()
) -> bytes:
    """Call `function` and return the bytes that it writes, at most `capacity`."""
    out, length = _allocate(_BYTES, capacity), _allocate(_SIZE)
    call(function, *arguments, out, capacity, length, *more)
    written: bytes = ffi.buffer(out, length[0])[:]
    return written


#: The outputs of a call that seals or opens: the text, its capacity, a buffer over it and its
#: length; the facts of an opened token and a buffer over them; the error. A bare tuple, which
#: Python unpacks twice as fast as a named one.
OutParams: TypeAlias = "tuple[Any, int, Any, Any, Any, Any, Any]"


class Pool(list[OutParams]):
    """The free out-parameters of one codec.

    Five allocations take longer than C takes for a small token, so calls reuse them: that saves
    0.7 of the 2.8 µs to seal 64 bytes. The pool grows to the number of calls at once. It needs no
    lock: `pop` and `append` are atomic, in free-threaded Python too.
    """

    __slots__ = ("capacity",)

    def __init__(self, capacity: int) -> None:
        super().__init__()
        self.capacity = capacity

    def new(self) -> OutParams:
        """Return new ones; append them to the pool once its call has succeeded."""
        out, opened = _allocate(_TEXT, self.capacity), _allocate(_OPENED)
        length, error = _allocate(_SIZE), _allocate(_ERROR)
        return out, self.capacity, ffi.buffer(out), length, opened, ffi.buffer(opened), error


def fail(error: Any) -> NoReturn:
    """Raise the error that a call reported."""
    code = string(lib.sealwax_code(error.status))
    raise by_code.get(code, InternalError)(string(error.message))


def string(characters: Any) -> str:
    """Return a NUL-terminated text."""
    return str(ffi.string(characters), "utf-8")


def own(pointer_type: str, function: Callable[..., int], *arguments: Any) -> Any:
    """Make a C object, freed with the Python object that holds it."""
    place = ffi.new(f"{pointer_type} **")
    call(function, *arguments, place)
    return ffi.gc(place[0], getattr(lib, f"{pointer_type}_free"))


def text(name: str, value: str) -> bytes:
    """Return the UTF-8 of a text argument."""
    try:
        return utf8(name, value, errors="strict")
    except UnicodeEncodeError:
        pass
    # Not while that one is handled: it has the text, and would stay in the `__context__` of this.
    raise InvalidArgument(f"{name}: expected Unicode without lone surrogates")


def optional_text(name: str, value: str | None) -> bytes | None:
    """Return the UTF-8 of an optional text argument."""
    return None if value is None else text(name, value)


def untrusted(name: str, value: str) -> bytes:
    """Return a client's text as bytes; the core refuses lone surrogates."""
    return utf8(name, value, errors="surrogatepass")


def utf8(name: str, value: str, *, errors: str) -> bytes:
    """Encode a `str`, and only a `str`."""
    if not isinstance(value, str):
        raise TypeError(f"{name}: expected str, found {type(value).__name__}")
    # Not by the method of a subclass, which may return anything.
    return str.encode(value, errors=errors)


def plain(name: str, value: str) -> str:
    """Return a text without its subclass: that may answer anything, also to ``==`` and `hash`."""
    if not isinstance(value, str):
        raise TypeError(f"{name}: expected str, found {type(value).__name__}")
    return str.__str__(value)


def data(name: str, value: bytes | bytearray | memoryview) -> bytes:
    """Return a bytes-like argument as bytes, and not of a subclass.

    C reads as many bytes as `len` says, so that must be true.
    """
    if type(value) is bytes:
        return value
    if not isinstance(value, (bytes, bytearray, memoryview)):
        raise TypeError(f"{name}: expected bytes, found {type(value).__name__}")
    try:
        return memoryview(value).tobytes()
    except ValueError:
        raise InvalidArgument(f"{name}: expected bytes, found a released memoryview") from None


def pair(value: bytes | None) -> tuple[Any, int]:
    """Return a pointer and a size, as C takes bytes; ``None`` is NULL."""
    return (NULL, 0) if value is None else (value, len(value))


def number(name: str, value: int | None) -> Any:
    """Return a pointer to a number, or NULL."""
    if value is None:
        return NULL
    if not isinstance(value, int) or isinstance(value, bool):
        raise TypeError(f"{name}: expected int, found {type(value).__name__}")
    # Without its subclass, which may print as anything.
    value = int.__index__(value)
    try:
        return ffi.new("uint64_t *", value)
    except OverflowError:
        # Python refuses to print a very long one.
        found = value if value.bit_length() <= 128 else f"one of {value.bit_length()} bits"
        raise InvalidArgument(f"{name}: expected 0 or more, found {found}") from None


def flag(name: str, value: object) -> bool:
    """Return a flag; raise for anything else, such as a text, which may say ``"false"``."""
    if not isinstance(value, bool):
        raise TypeError(f"{name}: expected bool, found {type(value).__name__}")
    return value


version = string(lib.sealwax_version())


class Opaque:
    """A base class that forbids copying and pickling, because the objects hold keys."""

    __slots__ = ()

    def __reduce__(self) -> NoReturn:
        raise TypeError(f"{type(self).__name__} holds keys: it is neither copied nor pickled")
