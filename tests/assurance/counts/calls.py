"""What a call of the Python package takes of the C library, and what a request to a guarded server of the SDK does.

calls.py BENCHES

BENCHES is the folder of the benches in Python. A line for each: operation, what, count. `calls` are those of functions of
the library, `allocations` the objects of cffi.
"""

from __future__ import annotations

import inspect
import sys
from collections import Counter
from contextlib import AsyncExitStack
from importlib.util import find_spec, module_from_spec, spec_from_file_location
from pathlib import Path
from typing import TYPE_CHECKING, Any

import anyio

if TYPE_CHECKING:
    from collections.abc import Callable

TIMES = 50
ALLOCATING = ("buffer", "from_buffer", "gc", "new", "new_handle")
found: Counter[str] = Counter()


def counted(function: Any, what: str) -> Any:
    def counting(*given: Any, **named: Any) -> Any:
        found[what] += 1
        return function(*given, **named)

    return counting


class Library:
    """The C library, whose calls are counted."""

    def __init__(self, of: Any) -> None:
        self._of = of

    def __getattr__(self, name: str) -> Any:
        member = getattr(self._of, name)
        return counted(member, "calls") if callable(member) else member


class Ffi:
    """cffi, whose allocations are counted."""

    def __init__(self, of: Any) -> None:
        self._of = of

    def __getattr__(self, name: str) -> Any:
        member = getattr(self._of, name)
        return counted(member, "allocations") if name in ALLOCATING else member

    def dlopen(self, *given: Any) -> Any:
        return Library(self._of.dlopen(*given))

    def new_allocator(self, *given: Any, **named: Any) -> Any:
        return counted(self._of.new_allocator(*given, **named), "allocations")


def count_the_library() -> None:
    """Put the above in front of what `sealwax` imports."""
    package = find_spec("sealwax")
    assert package is not None and package.submodule_search_locations
    (folder,) = package.submodule_search_locations
    spec = spec_from_file_location("sealwax._ffi", Path(folder, "_ffi.py"))
    assert spec is not None and spec.loader is not None
    module: Any = module_from_spec(spec)
    sys.modules["sealwax._ffi"] = module
    spec.loader.exec_module(module)
    module.ffi = Ffi(module.ffi)


async def count(operation: str, run: Callable[[], Any]) -> None:
    async def all_times() -> None:
        for _ in range(TIMES):
            outcome = run()
            if inspect.isawaitable(outcome):
                await outcome

    await all_times()
    found.clear()
    await all_times()
    for what in ("calls", "allocations"):
        print(operation, what, found[what] / TIMES)


async def main() -> None:
    count_the_library()
    sys.path.insert(0, sys.argv[1])
    import guard as bench
    import sealwax

    keys = sealwax.KeyRing([sealwax.Key.generate()])
    codec = sealwax.Codec(keys=keys, audience=bench.AUDIENCE)
    caller = bench.PRINCIPAL._asdict()

    def context() -> bytes:
        return sealwax.request_context("tools/call", "delete_note", bench.ARGUMENTS)

    sealer = codec.view(**caller).request_state(context())
    payload = bench.COMPACT.encode()
    token = sealer.seal(payload)
    await count("seal", lambda: sealer.seal(payload))
    await count("open", lambda: sealer.open(token))
    await count("context", context)
    await count("view", lambda: codec.view(**caller))

    async with AsyncExitStack() as stack:
        for request in ("plain", "state", "session"):
            protection = bench.Ours(sessions=request == "session")
            server = bench.lowlevel(protection)
            protection.install(server)
            ask = await stack.enter_async_context(bench.connected(server))
            await count(request, await bench.prepared(request, "guard", ask))


if __name__ == "__main__":
    anyio.run(main)
