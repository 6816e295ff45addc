"""Sealwax in Python against its peers: a JSON object a line (benches/run.py says which).

bench.py [quick]
"""

from __future__ import annotations

import gc
import json
import os
import random
import string
import sys
import threading
from statistics import median
from time import perf_counter_ns, time
from typing import TYPE_CHECKING, Any

import peers
import sealwax

if TYPE_CHECKING:
    from collections.abc import Callable

    Sides = tuple[Callable[[str], Any], Callable[[str], Any]]

SIZES = (64, 256, 1024, 4096)
THREADS = 8
TURNS = 10


class Ours:
    """As a server does: the principal's view and the request's context serve a whole request."""

    def __init__(self) -> None:
        keys = sealwax.KeyRing([sealwax.Key.generate()])
        self.codec = sealwax.Codec(keys=keys, audience=peers.AUDIENCE)
        self.sealer = self._sealer()

    def _sealer(self) -> sealwax.Sealer:
        view = self.codec.view(subject=peers.SUBJECT, client=peers.CLIENT, issuer=peers.ISSUER)
        context = sealwax.request_context(peers.METHOD, peers.TARGET, peers.ARGUMENTS)
        return view.request_state(context)

    def seal(self, payload: str) -> str:
        return self.sealer.seal(payload.encode())

    def open(self, token: str) -> str:
        return self.sealer.open(token).payload.decode()

    def request_seal(self, payload: str) -> str:
        """Seal with nothing computed beforehand, as do the two below."""
        return self._sealer().seal(payload.encode())

    def request_open(self, token: str) -> str:
        return self._sealer().open(token).payload.decode()

    def request(self, token: str) -> str:
        """Do all that a retried request needs, from its principal and its arguments on."""
        sealer = self._sealer()
        return sealer.seal(sealer.open(token).payload)


class Alone(Ours):
    """Our token with all that it is bound to computed beforehand."""

    name = "token-alone"


def main() -> None:
    quick = sys.argv[1:] == ["quick"]
    turn_ns, turns = (300_000, 25) if quick else (1_000_000, 301)
    ours = Ours()
    everyone = [*peers.everyone(), Alone()]
    for size in SIZES:
        payload = "".join(random.Random(size).choices(string.ascii_letters + string.digits, k=size))
        for peer in everyone:
            against(ours, peer, payload, turn_ns, turns)
    parts(turn_ns, turns)
    threads(ours, seconds=0.5 if quick else 3)
    memory(ours, tokens=10**5 if quick else 10**7)


def against(ours: Ours, peer: peers.Peer | Alone, payload: str, turn_ns: int, turns: int) -> None:
    tokens = ours.seal(payload), peer.seal(payload)
    if (ours.open(tokens[0]), peer.open(tokens[1])) != (payload, payload):
        raise ValueError(f"{peer.name} does not open what it sealed")
    works: list[tuple[str, Sides, tuple[str, str]]] = [
        ("seal", (ours.seal, peer.seal), (payload, payload)),
        ("open", (ours.open, peer.open), tokens),
    ]
    if type(peer) is peers.Boundary:
        works += [
            # What it is bound to, it computes for each.
            ("request-seal", (ours.request_seal, peer.seal), (payload, payload)),
            ("request-open", (ours.request_open, peer.open), tokens),
            ("request", (ours.request, peer.request), tokens),
        ]
    if type(peer) is Alone:
        works = [
            ("request-seal", (ours.request_seal, peer.seal), (payload, payload)),
            ("request-open", (ours.request_open, peer.open), tokens),
        ]
    for op, sides, arguments in works:
        ours_ns, peer_ns = duel(sides, arguments, turn_ns, turns)
        show(
            size=len(payload),
            op=op,
            ours_ns=ours_ns,
            peer=peer.name,
            peer_ns=peer_ns,
            ratio=peer_ns / ours_ns,
            ours_length=len(tokens[0]),
            peer_length=len(tokens[1]),
        )


def duel(
    sides: Sides,
    arguments: tuple[str, str],
    turn_ns: int,
    turns: int,
) -> tuple[float, float]:
    """Let two sides work by turns, so that whatever the machine does hits both.

    Returns the medians of nanoseconds for one call of each.
    """
    calls = [max(1, int(turn_ns / turn(*each, 20))) for each in zip(sides, arguments, strict=True)]
    times: tuple[list[float], list[float]] = ([], [])
    gc.disable()
    for number in range(turns):
        for side in (0, 1) if number % 2 == 0 else (1, 0):
            times[side].append(turn(sides[side], arguments[side], calls[side]))
    gc.enable()
    return median(times[0]), median(times[1])


def turn(call: Callable[[str], Any], argument: str, calls: int) -> float:
    start = perf_counter_ns()
    for _ in range(calls):
        call(argument)
    return (perf_counter_ns() - start) / calls


def parts(turn_ns: int, turns: int) -> None:
    """What a request costs beside its tokens, in nanoseconds: its context of arguments in either order, and the view."""
    names = {"issuer": peers.ISSUER, "client": peers.CLIENT, "subject": peers.SUBJECT}

    def view(keys: int) -> Callable[[str], Any]:
        ring = sealwax.KeyRing([sealwax.Key.generate() for _ in range(keys)])
        codec = sealwax.Codec(keys=ring, audience=peers.AUDIENCE)
        return lambda _: codec.view(**names)

    def context(arguments: dict[str, Any]) -> Callable[[str], Any]:
        return lambda _: sealwax.request_context(peers.METHOD, peers.TARGET, arguments)

    sorted_ = dict(sorted(peers.ARGUMENTS.items()))
    contexts = duel((context(sorted_), context(peers.ARGUMENTS)), ("", ""), turn_ns, turns)
    views = duel((view(1), view(3)), ("", ""), turn_ns, turns)
    names_of = ("context", "context-unsorted", "view", "view-3-keys")
    show(parts=dict(zip(names_of, [*contexts, *views], strict=True)))


def threads(ours: Ours, *, seconds: float) -> None:
    """Tokens a second of one codec, by one thread and by several.

    Sealed and opened at the largest size allowed, where the work outside the interpreter's lock,
    if there is one, is the most that it can be.
    """
    keys = sealwax.KeyRing([sealwax.Key.generate()])
    codec = sealwax.Codec(keys=keys, audience=peers.AUDIENCE, payload_limit=1 << 20)
    sealer = codec.view(subject=peers.SUBJECT).cursor("tools/list")
    found: dict[str, Any] = {}
    for name, payload, one in (("4096", os.urandom(4096), ours.sealer), ("1048576", bytes(1 << 20), sealer)):
        # By turns, of which some find the machine idle.
        best = {1: 0.0, THREADS: 0.0}
        for _ in range(TURNS):
            for count in best:
                best[count] = max(best[count], throughput(one, payload, count, seconds / TURNS))
        found[name] = {str(count): round(most) for count, most in best.items()}
        found[name]["ratio"] = round(found[name][str(THREADS)] / found[name]["1"], 2)
    show(threads={"cores": len(os.sched_getaffinity(0)), "bytes": found})


def throughput(sealer: sealwax.Sealer, payload: bytes, count: int, seconds: float) -> float:
    made = [0] * count
    until = time() + seconds

    def work(number: int) -> None:
        while time() < until:
            sealer.open(sealer.seal(payload))
            made[number] += 1

    workers = [threading.Thread(target=work, args=(number,)) for number in range(count)]
    for worker in workers:
        worker.start()
    for worker in workers:
        worker.join()
    return sum(made) / seconds


def memory(ours: Ours, *, tokens: int) -> None:
    """What is resident before and after so many tokens, sealed and opened."""
    payload = b"x" * 64
    sealer = ours.sealer
    for _ in range(1000):
        sealer.open(sealer.seal(payload))
    before = resident()
    for _ in range(tokens):
        sealer.open(sealer.seal(payload))
    show(memory={"tokens": tokens, "rss_before": before, "rss_after": resident()})


def resident() -> int:
    with open("/proc/self/statm", encoding="ascii") as statm:
        return int(statm.read().split()[1]) * os.sysconf("SC_PAGE_SIZE")


def show(**line: Any) -> None:
    print(json.dumps({"language": "python", **line}), flush=True)


if __name__ == "__main__":
    main()
