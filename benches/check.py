"""Checks that a summary is complete: every language, peer, size and op, with no judgement of the times.

Usage: python3 benches/check.py target/bench/summary.json
"""

import itertools
import json
import pathlib
import sys

SIZES = [64, 256, 1024, 4096]
PEERS = {
    "rust": ["rmcp", "pasetors", "fernet", "branca", "floor-ring", "floor-rustcrypto"],
    "node": ["official-sequential", "official-concurrent", "jose", "iron-session", "node:crypto"],
    "python": ["boundary", "fernet", "pyjwt", "itsdangerous"],
}


def expected():
    for language, peers in PEERS.items():
        yield from itertools.product([language], peers, SIZES, ["seal", "open"])
    yield from itertools.product(["rust"], ["rmcp-request"], SIZES, ["request"])


def main(summary):
    rows = json.loads(pathlib.Path(summary).read_text())
    found = {(row["language"], row["peer"], row["size"], row["op"]): row for row in rows}
    missing = set(expected()) - set(found)
    wrong = [
        row for row in rows if not (row["ours_ns"] > 0 and abs(row["ratio"] * row["ours_ns"] - row["peer_ns"]) < 1)
    ]
    for what in [*missing, *wrong]:
        print(f"missing or wrong: {what}")
    print(f"{len(rows) - len(wrong)} passed, {len(missing) + len(wrong)} failed")
    sys.exit(bool(missing or wrong))


if __name__ == "__main__":
    main(*sys.argv[1:])
