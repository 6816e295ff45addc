"""Checks that a summary is complete, with no judgement of the times: every language, peer, size and op; every server,
request and protection.

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
SERVERS = {"rust": ["rmcp"], "node": ["memory", "http"], "python": ["mcpserver", "lowlevel", "fastmcp"]}
#: No SDK protects sessions.
PROTECTED = [("plain", "codec"), ("state", "codec"), ("plain", "guard"), ("state", "guard"), ("session", "guard")]


def expected():
    for language, peers in PEERS.items():
        yield from itertools.product([language], peers, SIZES, ["seal", "open"])
    yield from itertools.product(["rust"], ["rmcp-request"], SIZES, ["request"])
    for language, servers in SERVERS.items():
        for server, protected in itertools.product(servers, PROTECTED):
            yield language, server, *protected


def told(row):
    return tuple(row[it] for it in ("language", "peer", "size", "op", "server", "request", "protection") if it in row)


def is_right(row):
    if "peer" in row:
        return row["ours_ns"] > 0 and abs(row["ratio"] * row["ours_ns"] - row["peer_ns"]) < 1
    low, high = row["middle_half_ns"]
    return row["bare_ns"] > 0 and row["ratio"] > 0 and low <= row["added_ns"] <= high


def main(summary):
    summary = json.loads(pathlib.Path(summary).read_text())
    rows = summary["tokens"] + summary["requests"]
    missing = set(expected()) - {told(row) for row in rows}
    wrong = [row for row in rows if not is_right(row)]
    for what in [*missing, *wrong]:
        print(f"missing or wrong: {what}")
    print(f"{len(rows) - len(wrong)} passed, {len(missing) + len(wrong)} failed")
    sys.exit(bool(missing or wrong))


if __name__ == "__main__":
    main(*sys.argv[1:])
