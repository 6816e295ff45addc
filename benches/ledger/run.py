"""Says what a ledger costs, with a real Valkey; prints a table, and writes target/bench/ledger.json.

Usage: python benches/ledger/run.py ROOT FOLDER [quick] LANGUAGE=COMMAND [LANGUAGE=COMMAND ...]

FOLDER is for files of SQLite: a real disk, as a service has it. Each command is run with the store's address, FOLDER and
maybe `quick`, and prints a JSON object a line: the question, the language, the case, the nanoseconds that passed in each
call of each side, turn by turn, and which side the others are compared with. Each turn is compared with its neighbour,
so ratios of one run hold on a busy machine; microseconds do not. Run with the address and `serve`, a command serves as
fast as it can.
"""

import json
import os
import pathlib
import shlex
import subprocess
import sys
import tempfile
import time
from concurrent.futures import ThreadPoolExecutor
from itertools import repeat
from statistics import median, quantiles

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parents[1] / "tests" / "ledger"))

import redis  # noqa: E402
from common import Ledger, Token, new_attempt, new_id, open_for_good  # noqa: E402
from scripts import lua  # noqa: E402
from servers import Valkey  # noqa: E402

#: How long a record of these lives, in seconds.
LIFE = 900
#: As long as what seals 1 kB.
STATE = "x" * 1400
#: How many times the bare round trip an admission should take at most.
TARGET = 1.3
#: Requests at once in one process: the programs have it too.
AT_ONCE = 16


def main(root, folder, *arguments):
    quick = arguments[0] == "quick"
    commands = dict(argument.split("=", 1) for argument in arguments[quick:])
    pathlib.Path(folder).mkdir(parents=True, exist_ok=True)
    load = os.getloadavg()[0]
    rows = []
    with tempfile.TemporaryDirectory(dir=folder) as files:
        for command in commands.values():
            # A store for each: what one leaves behind is not the next one's.
            with Valkey() as store:
                rows += asked(command, store, files, quick)
        for language in ("node", "python"):
            rows += rates(language, commands[language], quick)
    rows += [in_the_store(5 if quick else 100), *memory(2500 if quick else 100_000)]
    print(table(rows))
    print(f"load of the machine: {load:.1f} before, {os.getloadavg()[0]:.1f} after")
    summary = pathlib.Path(root, "target/bench/ledger.json")
    summary.parent.mkdir(parents=True, exist_ok=True)
    summary.write_text(json.dumps({"load": load, "rows": rows}, indent=1) + "\n")


def asked(command, store, folder, quick):
    words = [*shlex.split(command), store.address, folder, *(["quick"] if quick else [])]
    run = subprocess.run(words, stdout=subprocess.PIPE, text=True, check=True)
    for line in run.stdout.splitlines():
        yield from compared(**json.loads(line))


def compared(question, language, case, base, times):
    """Compare each side with the base, turn by turn."""
    bare = times.pop(base)
    for side, turns in times.items():
        pairs = [(median(ours), median(theirs)) for ours, theirs in zip(turns, bare, strict=True)]
        ratios = [ours / theirs for ours, theirs in pairs]
        low, _, high = quantiles(ratios)
        p50, p99 = percentiles(turns)
        base_p50, base_p99 = percentiles(bare)
        yield {
            **{"question": question, "language": language, "case": case, "side": side, "base": base},
            **{"p50_us": p50, "p99_us": p99, "base_p50_us": base_p50, "base_p99_us": base_p99},
            **{"ratio": median(ratios), "middle_half": [low, high]},
            "added_p50_us": median(ours - theirs for ours, theirs in pairs) / 1000,
            "added_p99_us": p99 - base_p99,
        }


def percentiles(turns):
    cuts = quantiles((ns / 1000 for turn in turns for ns in turn), n=100, method="inclusive")
    return cuts[49], cuts[98]


# ---- requests a second, of several processes with one store ----


def rates(language, command, quick):
    milliseconds, turns = (100, 2) if quick else (500, 8)
    print(f"{language}: requests a second", file=sys.stderr, flush=True)
    with Valkey() as store:
        words = [*shlex.split(command), store.address, "serve"]
        pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "text": True}
        servers = [subprocess.Popen(words, **pipes) for _ in range(4)]
        try:
            for server in servers:
                assert server.stdout.readline() == "ready\n"
            yield compared_rates(language, servers[:1], milliseconds, turns)
            yield compared_rates(language, servers, milliseconds, turns)
        finally:
            for server in servers:
                server.stdin.close()
                server.wait()


def compared_rates(language, servers, milliseconds, turns):
    found, failed = {"none": [], "redis": []}, 0

    def served(server, engine, lasts):
        server.stdin.write(f"{engine} {lasts}\n")
        server.stdin.flush()
        return json.loads(server.stdout.readline())

    with ThreadPoolExecutor(len(servers)) as everyone:
        for turn in range(turns + 1):
            # The first is not counted: it is warming up.
            lasts = milliseconds if turn else 4 * milliseconds
            for engine in sorted(found, reverse=turn % 2 == 1):
                each = [*everyone.map(served, servers, repeat(engine), repeat(lasts))]
                failed += sum(one["failed"] for one in each)
                if turn:
                    found[engine].append(sum(one["per_s"] for one in each))
    ratios = [ours / theirs for ours, theirs in zip(found["redis"], found["none"], strict=True)]
    low, _, high = quantiles(ratios)
    return {
        **{"question": "rate", "language": language, "processes": len(servers), "at_once": AT_ONCE},
        **{"none_per_s": median(found["none"]), "redis_per_s": median(found["redis"])},
        **{"ratio": median(ratios), "middle_half": [low, high], "failed": failed},
    }


# ---- what the store itself does ----


def fresh():
    now = int(time.time())
    return Token("once", "r", new_id(), now, now + LIFE)


def head():
    now = int(time.time())
    return Token("head", "s", new_id(), now, now + LIFE, details=(new_id(), "1", STATE))


class Driver:
    """Does commands with the scripts themselves."""

    def __init__(self, store):
        self.client = redis.Redis(port=store.port, decode_responses=True)
        self._digests = {}

    def ask(self, command):
        return self.client.evalsha(*self._packed(command))

    def admit(self, ledger, tokens):
        pipeline = self.client.pipeline(transaction=False)
        for token in tokens:
            pipeline.evalsha(*self._packed(ledger.admit(token)))
        assert all(reply[0] == "ok" for reply in pipeline.execute())

    def _packed(self, command):
        script, keys, args = command.values()
        if script not in self._digests:
            self._digests[script] = self.client.script_load(lua(script))
        return self._digests[script], len(keys), *keys, *args


def in_the_store(turns):
    """Return the microseconds of the store's own work, for an admission and for the bare SET.

    Of its processor, with what it takes to read a command and to write its reply; and those that passed in the command,
    as INFO tells them.
    """
    print("the store's own time", file=sys.stderr, flush=True)
    calls = 500
    found = {}
    with Valkey() as store:
        driver, ledger = Driver(store), Ledger()
        open_for_good(ledger, driver)

        def sets():
            pipeline = driver.client.pipeline(transaction=False)
            for _ in range(calls):
                pipeline.set(ledger.key("u", "f", new_id()), new_attempt(), nx=True, ex=LIFE)
            pipeline.execute()

        def admissions():
            driver.admit(ledger, [fresh() for _ in range(calls)])

        def worked():
            cpu = driver.client.info("cpu")
            return (cpu["used_cpu_user_main_thread"] + cpu["used_cpu_sys_main_thread"]) * 1e6

        for _ in range(turns):
            for name, command, work in (("admit", "evalsha", admissions), ("set", "set", sets)):
                driver.client.config_resetstat()
                start = worked()
                work()
                found.setdefault(f"{name}_cpu_us", []).append((worked() - start) / calls)
                passed = driver.client.info("commandstats")[f"cmdstat_{command}"]["usec"]
                found.setdefault(f"{name}_us", []).append(passed / calls)
    return {"question": "store", **{name: median(times) for name, times in found.items()}}


def memory(count):
    """Tell how many bytes the store has for what it remembers."""
    for case, make, many in (("used", fresh, count), ("head", head, count // 5)):
        print(f"memory: {case}", file=sys.stderr, flush=True)
        with Valkey() as store:
            driver, ledger = Driver(store), Ledger()
            open_for_good(ledger, driver)
            driver.admit(ledger, [make()])
            before, keys = used(store), store.client.dbsize()
            for _ in range(0, many, 500):
                driver.admit(ledger, [make() for _ in range(500)])
            driver.client.close()
            assert store.client.dbsize() - keys == many
            yield {"question": "memory", "case": case, "ids": many, "bytes": (used(store) - before) / many}


def used(store):
    return store.client.info("memory")["used_memory"]


# ---- what is shown ----


def table(rows):
    lines = [
        "microseconds that pass; ratios are the median of those by turn, and where the middle half of the turns lies",
        f"{'':44}{'p50':>9}{'p99':>9}{'base p50':>10}{'p99':>9}{'added p50':>11}{'p99':>9}   ratio",
    ]
    for row in rows:
        show = SHOWN.get(row["question"], side)
        lines.append(show(row))
    return "\n".join(lines)


def side(row):
    name = f"{row['language']:7}{row['question']:10}{row['case']:16}{row['side']:11}"
    numbers = (("p50_us", 9), ("p99_us", 9), ("base_p50_us", 10), ("base_p99_us", 9), ("added_p50_us", 11))
    cells = "".join(f"{row[it]:{width}.0f}" for it, width in (*numbers, ("added_p99_us", 9)))
    # What is added stays the same on a slower network.
    far = f", {TARGET} where SET takes {row['added_p50_us'] / (TARGET - 1):.0f} µs" if row["side"] == "admit" else ""
    return f"{name}{cells}   {ratio(row)}{far}"


def ratio(row):
    low, high = row["middle_half"]
    return f"{row['ratio']:.2f} ({low:.2f} to {high:.2f})"


def rate(row):
    name = f"{row['language']:7}{row['question']:10}{row['processes']} x {row['at_once']} at once"
    late = f", {row['failed']} late" if row["failed"] else ""
    return f"{name:44}{row['redis_per_s']:9.0f}/s, without {row['none_per_s']:.0f}/s   {ratio(row)}{late}"


def store(row):
    name = "store  an admission"
    admit, bare = (
        f"{row[f'{it}_cpu_us']:.1f} µs of its processor ({row[f'{it}_us']:.1f} passed)" for it in ("admit", "set")
    )
    return f"{name:44}  {admit}; SET NX EX {bare}"


def bytes_of(row):
    name = f"memory {row['case']}"
    return f"{name:44}{row['bytes']:9.0f} B for each of {row['ids']}"


SHOWN = {"rate": rate, "store": store, "memory": bytes_of}


if __name__ == "__main__":
    main(*sys.argv[1:])
