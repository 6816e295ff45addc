"""Runs every bench, prints a table, and writes target/bench/summary.json and benches/speed.svg.

Usage: python benches/run.py ROOT [quick] NAME=COMMAND [NAME=COMMAND ...]

Each command prints a JSON object a line. Those with a `peer` are measurements of tokens: language, size of the payload
in bytes, op (`seal`, `open`; from the principal and the arguments on `request-seal`, `request-open`, and `request`, which
opens and seals; of a link `link-seal`, `link-open`), the medians of nanoseconds a call, their ratio (peer / ours, so more is better) and the lengths of both
tokens. `node-drawn` is Node where each token draws its randomness by itself. Those with a `server` are measurements of
requests to one in the same process: language, request (`plain`, with a `state`, or with a `session`), and the
nanoseconds of processor time for one of them, turn by turn, by what protects it: `none`, the SDK's own `codec` where it
has one, our `guard`. Turns of several processes are joined. The rest is passed on as it is: `parts` are the nanoseconds
of what a request costs beside its tokens, `starts` (benches/starts.py) the milliseconds of a process.
"""

import gzip
import json
import pathlib
import shlex
import subprocess
import sys
from operator import sub, truediv
from statistics import median, quantiles

from picture import draw

SIZES = [64, 256, 1024, 4096]


def collect(commands, quick):
    tokens, turns, notes = [], {}, []
    for command in commands:
        name, command = command.split("=", 1)
        print(f"running {name} …", file=sys.stderr, flush=True)
        words = shlex.split(command) + (["quick"] if quick else [])
        run = subprocess.run(words, stdout=subprocess.PIPE, text=True, check=True)
        for line in run.stdout.splitlines():
            found = json.loads(line)
            if "server" in found:
                request = turns.setdefault((found["language"], found["server"], found["request"]), {})
                for protection, times in found["turns"].items():
                    request.setdefault(protection, []).extend(times)
            else:
                (tokens if "peer" in found else notes).append(found)
    return tokens, [row for request, found in turns.items() for row in compared(*request, **found)], notes


def compared(language, server, request, none, **protected):
    """Compare what protects a request with nothing, each turn with its neighbour: the machine is as busy in both."""
    for protection, times in protected.items():
        added = [*map(sub, times, none)]
        low, _, high = quantiles(added)
        yield {
            **{"language": language, "server": server, "request": request, "protection": protection},
            "bare_ns": median(none),
            "ratio": median(map(truediv, times, none)),
            "added_ns": median(added),
            "middle_half_ns": [low, high],
        }


def table_of_tokens(rows):
    """Of each peer, how many times our time it takes, by size."""
    lines = ["peer / ours (ours in µs); lengths of ours and the peer's tokens for 64 bytes"]
    lines.append(" " * 54 + "".join(f"{size:>14} B " for size in SIZES))
    groups = dict.fromkeys((row["language"], row["peer"], row["op"]) for row in rows)
    for language, peer, op in groups:
        found = {r["size"]: r for r in rows if (r["language"], r["peer"], r["op"]) == (language, peer, op)}
        lengths = f"{found[64]['ours_length']}/{found[64]['peer_length']}" if 64 in found else ""
        cells = "".join(cell(found.get(size)) for size in SIZES)
        lines.append(f"{language:11}{peer:20} {op:13}{lengths:>9} {cells}")
    return "\n".join(lines)


def cell(row):
    return " " * 17 if row is None else f"{row['ratio']:7.1f} {'(%.2f)' % (row['ours_ns'] / 1000):>9}"


def table_of_requests(rows):
    """Of each request, how many times the time of an unprotected one it takes."""
    lines = ["a request: protected / not (µs added; in the middle half of the turns)"]
    lines.append(f"{'':34}{'µs without':>10}{'by the SDK':>34}{'by our guard':>34}")
    requests = {}
    for row in rows:
        request = requests.setdefault((row["language"], row["server"], row["request"]), {})
        request[row["protection"]] = row
    for (language, server, request), found in requests.items():
        cells = "".join(f"{added(found[it]) if it in found else '':>34}" for it in ("codec", "guard"))
        lines.append(f"{language:7}{server:18} {request:7} {found['guard']['bare_ns'] / 1000:10.1f}{cells}")
    return "\n".join(lines)


def added(row):
    amount, low, high = (f"{ns / 1000:+.1f}" for ns in (row["added_ns"], *row["middle_half_ns"]))
    return f"{row['ratio']:.2f} ({amount}; {low} to {high})"


def main(root, *arguments):
    root = pathlib.Path(root)
    quick = arguments[0] == "quick"
    tokens, requests, notes = collect(arguments[1:] if quick else arguments, quick)
    module = (root / "build/wasm/sealwax.wasm").read_bytes()
    print(table_of_tokens(tokens))
    print(table_of_requests(requests))
    for note in notes:
        print(json.dumps(note))
    print(f"module: {len(module)} bytes, {len(gzip.compress(module, 9))} gzipped")
    summary = root / "target/bench/summary.json"
    summary.parent.mkdir(parents=True, exist_ok=True)
    summary.write_text(json.dumps({"tokens": tokens, "requests": requests, "notes": notes}, indent=1) + "\n")
    # A quick run is too coarse to be shown.
    draw(tokens, summary.with_name("speed.svg") if quick else root / "benches/speed.svg")


if __name__ == "__main__":
    main(*sys.argv[1:])
