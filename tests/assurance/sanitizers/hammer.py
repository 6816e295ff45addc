"""Python threads that share whatever the package lets them share: `hammer.py SECONDS [race]`.

One codec, its views, guards, exchanges and a ledger are used by all threads, while one replaces the keys and each drops
what others use. What is opened is compared with what was sealed. The sanitizers watch the library meanwhile. With `race`
the ledger has no lock, and its reply is read while another thread replaces it: that must be seen.
"""

import itertools
import sys
import threading
import time
from contextlib import nullcontext

import sealwax
from sealwax import _engine, ledger

THREADS = 4
PAYLOAD = bytes(range(256)) * 4
ALICE = sealwax.Principal(subject="alice")
CALL = {"method": "tools/call", "target": "t", "modern": True, "principal": ALICE}
COMMAND = {"script": "open", "keys": ["began", "fence"], "args": []}


class Shared:
    """What all threads use, and replace under each other's hands."""

    def __init__(self, race: bool) -> None:
        self.codec = sealwax.Codec(keys=ring(), audience="https://mcp.example.com")
        self.view = self.codec.view(subject="alice")
        self.memory = ledger.Memory(capacity=1 << 20)
        if race:
            self.memory._lock = nullcontext()
        self.guards()

    def tokens(self) -> None:
        sealer = self.view.session()
        assert sealer.open(sealer.seal(PAYLOAD)).payload == PAYLOAD

    def views(self) -> None:
        self.view = self.codec.view(subject=f"user {time.monotonic_ns() % 100}")
        self.view.verify_handle("order", self.view.mint_handle("order"))
        self.view.verify_session_id(self.view.mint_session_id())

    def keys(self) -> None:
        assert self.codec.set_keys(ring())

    def guards(self) -> None:
        self.guard = _engine.Guard(self.codec, {"events": True})
        self.exchange, _ = self.guard.message(**CALL)

    def exchanges(self) -> None:
        """Another thread may have freed it, or gone on with it."""
        exchange = self.exchange
        try:
            assert exchange.seal_state(b"[1]").startswith("sw1.")
            exchange.on({"result": {"members": {"resultType": "input_required"}}})
            exchange.free()
        except sealwax.InvalidArgument:
            self.exchange, _ = self.guard.message(**CALL)

    def ledgers(self) -> None:
        """Nothing is awaited: its first step is its last."""
        try:
            self.memory.run(COMMAND).send(None)
        except StopIteration as stop:
            assert stop.value[0] == "ok", stop.value


def ring() -> sealwax.KeyRing:
    return sealwax.KeyRing([sealwax.Key.generate()])


def main(seconds: float, race: bool) -> None:
    shared = Shared(race)
    ended, counts, failures = time.monotonic() + seconds, [0] * THREADS, []
    operations = [shared.tokens, shared.views, shared.keys, shared.guards, shared.exchanges, shared.ledgers]

    def hammer(thread: int) -> None:
        # Each begins elsewhere.
        own = operations[thread:] + operations[:thread] + [shared.tokens, shared.exchanges]
        try:
            for operation in itertools.cycle(own):
                if time.monotonic() > ended or failures:
                    return
                operation()
                counts[thread] += 1
        except Exception as error:
            failures.append(error)
            raise

    threads = [threading.Thread(target=hammer, args=(n,)) for n in range(THREADS)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    gil = getattr(sys, "_is_gil_enabled", lambda: True)()
    print(f"{THREADS} threads, {sum(counts)} operations, {'with' if gil else 'without'} a GIL")
    sys.exit(bool(failures))


main(float(sys.argv[1]), "race" in sys.argv)
