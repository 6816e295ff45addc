"""Makes the calls of calls.py in Wasmtime: `engine.py MODULE < CALLS`."""

import json
import sys

from wasmtime import FuncType, Linker, Module, Store, ValType, WasiConfig

store = Store()
linker = Linker(store.engine)
linker.allow_shadowing = True
linker.define_wasi()
store.set_wasi(WasiConfig())
I32, I64 = ValType.i32(), ValType.i64()
current: dict = {}


def clock_time_get(_clock: int, _precision: int, at: int) -> int:
    write(at, ((current.get("clock") or 0) * 10**6).to_bytes(8, "little"))
    return 0


def random_get(at: int, length: int) -> int:
    given = bytes.fromhex(current.get("random") or "")
    write(at, given if len(given) == length else bytes(length))
    return 0


for function, types in (clock_time_get, [I32, I64, I32]), (random_get, [I32, I32]):
    linker.define_func("wasi_snapshot_preview1", function.__name__, FuncType(types, [I32]), function)
exports = linker.instantiate(store, Module.from_file(store.engine, sys.argv[1])).exports(store)
memory = exports["memory"]


def read(at: int, length: int) -> bytes:
    return bytes(memory.read(store, at, at + length))


def write(at: int, data: bytes) -> None:
    memory.write(store, data, at)


def call(name: str, *args: int) -> int | None:
    return exports[name](store, *args)


class Places:
    """The memory of one case."""

    def __init__(self) -> None:
        self.all: list[tuple[int, int]] = []
        self.named: dict[str, int] = {}

    def give(self, data: bytes) -> int:
        at = call("sealwax_alloc", len(data)) & 0xFFFFFFFF
        self.all.append((at, len(data)))
        write(at, data)
        return at

    def argument(self, of: dict) -> int:
        match of:
            case {"i32": number} | {"i64": number}:
                return number
            case {"load": name}:
                return int.from_bytes(read(self.named[name], 4), "little")
            case {"out": size, "as": name}:
                self.named[name] = self.give(bytes(size))
                return self.named[name]
        data = bytearray.fromhex(of["bytes"])
        for address in of.get("addresses", ()):
            data[address["at"] : address["at"] + 4] = self.argument(address["of"]).to_bytes(4, "little")
        return self.give(bytes(data))


call("_initialize")
cases = 0
for line in sys.stdin:
    current = json.loads(line)
    places = Places()
    for step in current["steps"]:
        if name := step.get("check"):
            found = read(places.named[name] + step["offset"], len(step["bytes"]) // 2).hex()
            assert found == step["bytes"], (current["name"], name, found, step["bytes"])
            continue
        returned = call(step["call"], *map(places.argument, step["args"]))
        assert step.get("returns") in (None, returned), (current["name"], step["call"], returned)
    for place in places.all:
        call("sealwax_free", *place)
    cases += 1
assert cases > 300, cases
print(f"{cases} cases in Wasmtime; {memory.data_len(store) // 1024} kB of memory")
