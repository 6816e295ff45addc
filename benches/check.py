"""Checks that a summary is complete, with no judgement of the times: every language, peer, size and op; every server,
request and protection; every part of a request, and every start.

Usage: python3 benches/check.py target/bench/summary.json
"""

import itertools
import json
import pathlib
import shutil
import sys

SIZES = [64, 256, 1024, 4096]
PEERS = {
    "rust": ["rmcp", "pasetors", "fernet", "branca", "floor-ring", "floor-rustcrypto"],
    "node": ["official-sequential", "official-concurrent", "jose", "iron-session", "node:crypto"],
    "python": ["boundary", "fernet", "pyjwt", "itsdangerous"],
    "go": ["securecookie", "golang-jwt"],
    "java": ["nimbus", "jjwt", "tink"],
}
#: Of those that compute what a request binds, beside our token with all of it computed.
REQUESTS = {
    "rust": ["rmcp", "token-alone"],
    "node": ["official-sequential", "node:crypto", "token-alone"],
    "python": ["boundary", "token-alone"],
    "c": ["token-alone"],
    "go": ["token-alone"],
    "java": ["token-alone"],
}
PARTS = ["context", "context-unsorted", "view", "view-3-keys"]
STARTS = {"node": ["empty", "sealwax", "jose", "iron-session"], "python": ["empty", "sealwax", "fernet"]}
SERVERS = {"rust": ["rmcp"], "node": ["memory", "http"], "python": ["mcpserver", "lowlevel", "fastmcp"]}
#: No SDK protects sessions.
PROTECTED = [("plain", "codec"), ("state", "codec"), ("plain", "guard"), ("state", "guard"), ("session", "guard")]


#: What tells one row from another.
KEYS = ("language", "peer", "size", "op", "server", "request", "protection", "note", "name")


def expected():
    """Without Go, or Maven, their benches are left out. Those of java-native are not looked for."""
    return (row for row in complete() if shutil.which({"go": "go", "java": "mvn"}.get(row[0], "python3")))


def complete():
    for language, peers in PEERS.items():
        yield from itertools.product([language], peers, SIZES, ["seal", "open"])
    yield from itertools.product(["rust"], ["rmcp-request"], SIZES, ["request"])
    yield from itertools.product(["python"], ["boundary"], SIZES, ["request"])
    yield from itertools.product(["node"], ["jose", "cookie-signature"], SIZES[:3], ["link-seal", "link-open"])
    yield from itertools.product(["node-drawn"], ["node:crypto"], SIZES, ["seal"])
    for language, peers in REQUESTS.items():
        yield from itertools.product([language], peers, SIZES, ["request-seal", "request-open"])
        yield from itertools.product([language], ["parts"], PARTS)
    for language, starts in STARTS.items():
        yield from itertools.product([language], ["starts"], starts)
    for language, servers in SERVERS.items():
        for server, protected in itertools.product(servers, PROTECTED):
            yield language, server, *protected


def told(row):
    return tuple(row[it] for it in KEYS if it in row)


def notes_of(summary):
    """Of each note, what it tells of, one by one."""
    for note in summary["notes"]:
        for what in {"parts", "starts"} & note.keys():
            for name, found in note[what].items():
                yield {"language": note["language"], "note": what, "name": name, "found": found}


def is_right(row):
    if "note" in row:
        # What a start adds to an empty one may be less than what the machine adds.
        return row["found"] > 0 or row["note"] == "starts"
    if "peer" in row:
        return row["ours_ns"] > 0 and abs(row["ratio"] * row["ours_ns"] - row["peer_ns"]) < 1
    low, high = row["middle_half_ns"]
    return row["bare_ns"] > 0 and row["ratio"] > 0 and low <= row["added_ns"] <= high


def main(summary):
    summary = json.loads(pathlib.Path(summary).read_text())
    rows = [*summary["tokens"], *summary["requests"], *notes_of(summary)]
    missing = set(expected()) - {told(row) for row in rows}
    wrong = [row for row in rows if not is_right(row)]
    for what in [*missing, *wrong]:
        print(f"missing or wrong: {what}")
    print(f"{len(rows) - len(wrong)} passed, {len(missing) + len(wrong)} failed")
    sys.exit(bool(missing or wrong))


if __name__ == "__main__":
    main(*sys.argv[1:])
