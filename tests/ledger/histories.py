"""Clients of every language use one ledger while its store fails; their answers are checked (checker.py).

Usage: histories.py SECONDS SEED [SCENARIO ...] LANGUAGE=AGENT [LANGUAGE=AGENT ...]

Each scenario has a store and its faults: killed with `kill -9`, stopped and continued, emptied, full, its clock moved, a fail-over
to a replica that lags, one back to a master that never heard of it, a node of a Cluster killed, the writers of a SQLite file killed.
After each fault every client must go on: those whose state is not the latest accept_since it, those whose session is unknown begin another.
Then all that was used, ended or revoked before is presented again, and must be refused.
"""

import contextlib
import pathlib
import random
import subprocess
import sys
import tempfile
import time

import checker
from common import Ledger, languages, with_files
from servers import Clock, Line, Valkey, wait_until
from world import CLOCK_TOLERANCE, GOES_ON, LIFE, Client, Ender, World


def one_that_keeps(seconds: float, seed: object, commands: dict[str, str]) -> None:
    """A Valkey that writes to its disk before it answers, so that not even `kill -9` loses anything."""
    with Valkey(appendonly="yes", appendfsync="always") as valkey:
        world = World("kept", valkey.address, commands, seed, False, [Ledger()])
        world.play(
            seconds,
            {
                "kill": lambda: killed(valkey, world.chance),
                "stop": lambda: stopped(valkey, world.chance),
                "full": lambda: full(valkey, world.chance),
            },
        )


def one_that_forgets(seconds: float, seed: object, commands: dict[str, str]) -> None:
    """A Valkey without any persistence, and with a clock that jumps."""
    with tempfile.TemporaryDirectory() as folder, Valkey(clock := Clock(pathlib.Path(folder))) as valkey:
        world = World("forgotten", valkey.address, commands, seed, True, [Ledger()])
        faults = {
            "kill": lambda: killed(valkey, world.chance),
            "empty": lambda: emptied(valkey),
            "clock ahead": lambda: ahead(valkey, clock, world),
            "clock behind": lambda: behind(valkey, clock, 2 * (LIFE + CLOCK_TOLERANCE), world),
            "clock a little behind": lambda: behind(valkey, clock, CLOCK_TOLERANCE // 5, world),
            "full": lambda: full(valkey, world.chance),
        }
        world.play(seconds, faults)


def emptied(valkey: Valkey) -> None:
    valkey.client.flushall()


def killed(valkey: Valkey, chance: random.Random) -> None:
    valkey.kill()
    time.sleep(chance.uniform(0, 0.5))
    valkey.start()


def stopped(valkey: Valkey, chance: random.Random) -> None:
    """Longer than a command may take."""
    valkey.pause()
    time.sleep(chance.uniform(0.2, 2))
    valkey.go_on()


def full(valkey: Valkey, chance: random.Random) -> None:
    valkey.client.config_set("maxmemory", 1)
    time.sleep(chance.uniform(0.2, 0.8))
    valkey.client.config_set("maxmemory", 0)


def ahead(valkey: Valkey, clock: Clock, world: World) -> None:
    """Moves the store's clock ahead for a while; the keys that expire meanwhile are gone.

    Until the ledger was asked something at that time, however long this takes: a clock that was ahead while nobody asked
    is not noticed, as LEDGER.md says, and on a busy machine all clients may be silent for a second.
    """

    def noticed() -> bool:
        kept = valkey.client.get(world.clients[0].ledger.key("fence"))
        return int(kept.split(" ")[2]) > time.time() + CLOCK_TOLERANCE

    clock.jump(2 * (LIFE + CLOCK_TOLERANCE))
    time.sleep(world.chance.uniform(0.5, 1))
    wait_until(noticed, GOES_ON)
    clock.jump(0)


def behind(valkey: Valkey, clock: Clock, seconds: int, world: World) -> list[Client]:
    """Moves the store's clock back for a while.

    Whom it says meanwhile to have signed out, is: their tokens are of the time before. The clients themselves revoke
    somebody in just that moment once in many runs.
    """
    revoker = Ender(world, world.chance.choice(list(world.commands)), world.clients[0].ledger)
    begun = [revoker.begin() for _ in range(10)]
    clock.jump(-seconds)
    wait_until(lambda: valkey.client.time()[0] < time.time() - seconds / 2)
    for one in filter(None, begun):
        revoker.end(*one, revoke=True)
    time.sleep(world.chance.uniform(0.5, 1))
    clock.jump(0)
    revoker.close()
    return [revoker]


def fail_over(seconds: float, seed: object, commands: dict[str, str]) -> None:
    """A master whose replica lags behind when it takes over, at the master's address."""
    with contextlib.ExitStack() as stack:
        settings = {"repl_diskless_sync_delay": "0"}
        now = {"master": stack.enter_context(Valkey(**settings)), "replica": stack.enter_context(Valkey(**settings))}
        port = now["master"].port
        now["line"] = Line(port)
        now["replica"].follow(now["line"].port)
        world = World("fail-over", now["master"].address, commands, seed, True, [Ledger()])

        def fails_over() -> None:
            before = world.checker.answers["end ok unconfirmed"]
            now["line"].held.set()
            time.sleep(world.chance.uniform(0.3, 1))
            # `WAIT` has half of a command's time, and the Java agent gives a command three times as long as the others.
            wait_until(lambda: world.checker.answers["end ok unconfirmed"] > before)
            now["master"].kill()
            now["line"].cut()
            now["replica"].take_over(port)
            now["master"].close()
            now["master"] = now["replica"]
            now["replica"] = stack.enter_context(Valkey(**settings))
            now["line"] = Line(port)
            now["replica"].follow(now["line"].port)

        world.play(seconds, {"fail-over": fails_over})
        confirmed = [world.checker.answers[f"end ok{said}"] for said in ("", " unconfirmed")]
        if 0 in confirmed:
            sys.exit(f"fail-over: expected ends that a replica confirmed, and some that none did, found {confirmed}")


def fail_back(seconds: float, seed: object, commands: dict[str, str]) -> None:
    """A master that follows its replica over a link that never syncs, and takes over again when that one dies.

    There is one master at all times, and each process lasts; what the other one was told is gone.
    """
    with contextlib.ExitStack() as stack:
        settings = {"repl_diskless_sync_delay": "0"}
        master = stack.enter_context(Valkey(**settings))
        front = Line(master.port)
        stack.callback(front.cut)
        world = World("fail-back", f"redis://127.0.0.1:{front.port}", commands, seed, True, [Ledger()])

        def new_replica() -> Valkey:
            replica = stack.enter_context(Valkey(**settings))
            replica.follow(master.port)
            return replica

        replica = new_replica()

        def fails_back() -> list[Client]:
            nonlocal replica
            link = Line(replica.port)
            link.held.set()
            master.client.replicaof("127.0.0.1", link.port)
            replica.client.replicaof("NO", "ONE")
            front.move(replica.port)
            # Long enough for tokens to be used there.
            world.everybody_goes_on("fail-over")
            time.sleep(world.chance.uniform(0.3, 1))
            used_there = world.replayers()
            replica.kill()
            master.client.replicaof("NO", "ONE")
            front.move(master.port)
            link.cut()
            replica = new_replica()
            return used_there

        world.play(seconds, {"fail-back": fails_back})


def cluster(seconds: float, seed: object, commands: dict[str, str]) -> None:
    """A Cluster of three, of which one is killed and comes back."""
    with contextlib.ExitStack() as stack:
        settings = {
            "cluster_enabled": "yes",
            "cluster_node_timeout": "2000",
            "cluster_require_full_coverage": "no",
            "appendonly": "yes",
            "appendfsync": "always",
        }
        nodes = [stack.enter_context(Valkey(**settings)) for _ in range(3)]
        edges = [0, 5461, 10923, 16384]
        for at, node in enumerate(nodes):
            node.client.execute_command("CLUSTER", "ADDSLOTSRANGE", edges[at], edges[at + 1] - 1)
            node.client.execute_command("CLUSTER", "MEET", "127.0.0.1", nodes[0].port)
        for node in nodes:
            wait_until(lambda node=node: "cluster_state:ok" in node.client.execute_command("CLUSTER", "INFO"))
            wait_until(lambda node=node: "cluster_known_nodes:3" in node.client.execute_command("CLUSTER", "INFO"))
        # One service on each node.
        ledgers: dict[int, Ledger] = {}
        while len(ledgers) < 3:
            ledger = Ledger()
            slot = nodes[0].client.execute_command("CLUSTER", "KEYSLOT", ledger.key("began"))
            ledgers[next(at for at in range(3) if slot < edges[at + 1])] = ledger
        world = World("Cluster", f"{nodes[0].address}?cluster", commands, seed, False, list(ledgers.values()))
        world.play(
            seconds,
            {
                "kill": lambda: killed(world.chance.choice(nodes), world.chance),
                "stop": lambda: stopped(world.chance.choice(nodes), world.chance),
            },
        )


def sqlite(seconds: float, seed: object, commands: dict[str, str]) -> None:
    """A SQLite file, whose writers are killed in the middle of a command."""
    with tempfile.TemporaryDirectory() as folder:
        world = World("SQLite", f"sqlite:{folder}/ledger.db", with_files(commands), seed, False, [Ledger()])

        def writers_killed() -> None:
            for client in world.clients:
                if agent := client.agent:
                    agent.kill()
                    time.sleep(world.chance.uniform(0, 0.1))

        world.play(seconds, {"writers killed": writers_killed})


SCENARIOS = {
    "kept": one_that_keeps,
    "forgotten": one_that_forgets,
    "fail-over": fail_over,
    "fail-back": fail_back,
    "Cluster": cluster,
    "SQLite": sqlite,
}


def main(seconds: float, seed: int, names: list[str], commands: dict[str, str]) -> None:
    if len(names) == 1:
        SCENARIOS[names[0]](seconds, seed, commands)
        return
    checker.prove()
    # All at once, because they mostly wait; each in a process of its own.
    about = [f"{language}={command}" for language, command in commands.items()]
    running = [subprocess.Popen([sys.executable, __file__, str(seconds), str(seed), name, *about]) for name in names]
    sys.exit(any([one.wait() for one in running]))


if __name__ == "__main__":
    named = [argument for argument in sys.argv[3:] if "=" not in argument]
    main(float(sys.argv[1]), int(sys.argv[2]), named or list(SCENARIOS), languages(sys.argv[3 + len(named) :]))
