"""The Lua scripts against `vectors/ledger.json`, in a real Valkey: replies, values, and their expiry."""

import json
import pathlib
import re
import subprocess
import sys

import redis
from servers import Valkey, wait_until

ROOT = pathlib.Path(__file__).resolve().parents[2]


def lua(name: str) -> str:
    parts = ["prelude", *(["fence"] if name in ("open", "admit") else []), name, "finish"]
    return "".join((ROOT / f"mcp/src/ledger/{part}.lua").read_text() for part in parts)


def processes(server: redis.Redis) -> dict[str, str]:
    """Return what a fence may have as its store's process."""
    run, id = server.info("server")["run_id"], server.info("replication")["master_replid"]
    return {
        "RUN": f"{run}.{id}.0",
        "PROMOTED": f"{run}.{id[::-1]}.0",
        "EVICTED": f"{run}.{id}.7",
        "FORMER": run,
        "OTHER": f"{run[::-1]}.{id}.7",
    }


def resolved(text: str | None, now: int, run: dict[str, str]) -> str | None:
    """Return a text of the vectors with its times and the server's process."""
    if text is None:
        return None
    parts = [str(now + int(part[1:])) if re.fullmatch(r"@-?\d+", part) else part for part in text.split(" ")]
    return " ".join(run.get(part, part) for part in parts)


def play(server: redis.Redis, case: dict, run: dict[str, str]) -> str | None:
    """Play a case within one second of the server's; return what differs."""
    now = int(server.time()[0])
    values = [resolved(value, now, run) for value in case["values"]]
    before = {key: (value, -1) for key, value in zip(case["keys"], values, strict=True) if value is not None}
    server.flushall()
    for key, (value, _) in before.items():
        server.set(key, value)
    args = [resolved(arg, now, run) for arg in case["args"]]
    reply = server.eval(lua(case["script"]), len(case["keys"]), *case["keys"], *args)
    left = {key: (server.get(key), server.expiretime(key)) for key in server.scan_iter()}
    if int(server.time()[0]) != now:
        return play(server, case, run)
    after = before
    for key, kept in case["after"].items():
        after.pop(key, None)
        if kept is not None:
            value, until = (resolved(part, now, run) for part in kept)
            after[key] = (value, int(until) if until else -1)
    expected = [resolved(part, now, run) for part in case["reply"]]
    if reply != expected:
        return f"found {reply}, expected {expected}"
    return None if left == after else f"found {left}, expected {after}"


def a_replica_that_takes_writes() -> str | None:
    """It has all that its master's fence says of it but the process, and may lack what the master wrote last."""
    keys = [f"swl1:{{0123456789abcdef}}:{part}" for part in ("began", "fence", "p:x", "u:r:1", "e:r:1")]
    with Valkey(repl_diskless_sync_delay="0") as master, Valkey(replica_read_only="no") as replica:
        replica.follow(master.port)
        run = processes(master.client)["RUN"]
        reply = now = None
        while now is None or now != int(replica.client.time()[0]):
            now = int(master.client.time()[0])
            master.client.mset({keys[0]: 0, keys[1]: f"0 {run} {now}"})
            wait_until(lambda now=now: replica.client.get(keys[1]) == f"0 {run} {now}")
            args = ["at1", "0", "0", "once", now, now, 0, "", "", ""]
            reply = replica.client.eval(lua("admit"), len(keys), *keys, *args)
    return None if reply == ["unknown", "0", "0"] else f"a replica that takes writes: {reply}"


def a_process_with_the_data_of_another() -> str | None:
    """Within a second the fence goes by `master_replid`: what a process finds in its file is not its own."""
    with Valkey(repl_diskless_sync_delay="0") as master, Valkey(repl_diskless_sync_delay="0") as replica:
        replica.follow(master.port)
        servers = (master, replica)
        before = [server.client.info("replication")["master_replid"] for server in servers]
        for server in servers:
            wait_until(lambda server=server: not server.client.info("persistence")["rdb_bgsave_in_progress"])
            server.client.save()
        for server in servers:
            server.kill()
            server.start()
        after = [server.client.info("replication")["master_replid"] for server in servers]
    # A replica has that of its master, as long as it is one.
    return None if before[0] == before[1] and len({*before, *after}) == 3 else f"processes: {before}, {after}"


def main() -> None:
    cases = json.loads((ROOT / "tests/vectors/ledger.json").read_text())["cases"]
    with Valkey() as started:
        server = started.client
        run = processes(server)
        failed = [f"{json.dumps(case)}\n{found}\n" for case in cases if (found := play(server, case, run))]
    failed += filter(None, [a_replica_that_takes_writes(), a_process_with_the_data_of_another()])
    print("\n".join(failed) + f"{len(cases) - len(failed)} passed, {len(failed)} failed")
    # What no vector has: the core and the scripts, side by side. As many commands on every machine; `make -C tests/assurance/edges` has more.
    evaluate = [sys.executable, pathlib.Path(__file__).with_name("evaluate.py"), "0", "1"]
    sys.exit(bool(failed) or subprocess.run(evaluate, check=False).returncode)


if __name__ == "__main__":
    main()
