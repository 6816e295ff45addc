"""Clients of every language ask one ledger while its store is hurt; what they were answered is checked (checker.py).

Usage: histories.py SECONDS SEED [SCENARIO ...] LANGUAGE=AGENT [LANGUAGE=AGENT ...]

Each scenario has a store and what happens to it: killed with `kill -9`, stopped and continued, emptied, full, its clock moved,
a fail-over to a replica that lags, a node of a Cluster killed, the writers of a SQLite file killed. After each fault every client must go
on: those whose state is not the latest adopt it, those that are unknown begin anew. Then whatever was used, ended or
revoked until then is presented again, and must be refused.
"""

import contextlib
import itertools
import pathlib
import random
import secrets
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field

import checker
from checker import Checker
from common import ALLOWANCE, Agent, Died, Ledger, Token, languages, new_attempt, new_id
from servers import Clock, Line, Valkey, wait_until

LIFE = 600
SKEW = 300
#: How many seconds everybody may take to go on after a fault: the allowance, and what a client takes to connect again on a busy
#: machine.
GOES_ON = 120
#: Of what is over, so many are presented again after each fault.
REPLAYED = 100


class Client:
    """Somebody who asks by an agent, which is started again whenever it dies."""

    def __init__(self, world: "World", language: str, ledger: Ledger) -> None:
        self.world, self.language, self.ledger = world, language, ledger
        self.agent: Agent | None = None
        self.progress = 0
        self.chance = random.Random(world.chance.random())

    def ask(self, command: dict) -> list[str]:
        try:
            self.agent = self.agent or self.world.agent(self.language)
            return self.agent.ask(command)
        except Died as error:
            self.agent = None
            return ["failed", str(error)]

    def ask_twice(self, command: dict) -> Iterator[list[str]]:
        """Give the reply, and where there was none that of a second try, as a guard's engine does."""
        reply = self.ask(command)
        yield reply
        if reply[0] == "failed":
            self.world.failures.append(f"{self.language}: {reply[1]}")
            yield self.ask(command)

    def run(self) -> None:
        while not self.world.stopped.is_set():
            if not self.step():
                time.sleep(0.05)
            time.sleep(0.005)

    def close(self) -> None:
        if self.agent:
            self.agent.close()

    def step(self) -> bool:
        """Do something, and say whether it was done."""
        raise NotImplementedError


class Spender(Client):
    """Uses new ids, and tries to use old ones again."""

    def __init__(self, *about) -> None:
        super().__init__(*about)
        self.past: list[Token] = []

    def step(self) -> bool:
        if self.past and self.chance.random() < 0.4:
            self.spend(self.chance.choice(self.past[-50:]))
            return True
        now = int(time.time())
        token = Token("once", "r", new_id(), now, now + self.chance.choice([LIFE, LIFE, LIFE, 3]))
        self.past.append(token)
        done = self.spend(token)
        self.progress += done
        return done

    def spend(self, token: Token) -> bool:
        attempt = new_attempt()
        for reply in self.ask_twice(self.ledger.admit(token, attempt=attempt)):
            self.world.checker.used(token.id, attempt, reply)
        return reply[0] == "ok"

    def replay(self) -> None:
        for token in self.past:
            self.spend(token)


@dataclass
class Session:
    """A session and the state that a client has of it; its value counts its writes."""

    id: str = field(default_factory=new_id)
    created: int = field(default_factory=lambda: int(time.time()))
    token: str = field(default_factory=new_id)
    generation: int = 0
    count: int = 0
    issued: int = field(default_factory=lambda: int(time.time()))

    @property
    def until(self) -> int:
        return self.issued + LIFE

    @property
    def state(self) -> str:
        """What is sealed, as far as these clients need it."""
        return f"{self.count}.{self.issued}"

    def head(self) -> Token:
        details = (self.token, str(self.generation), self.state)
        return Token("head", "s", self.id, self.issued, self.until, self.created, details)

    def at(self, token: str, generation: str, state: str) -> "Session":
        count, issued = map(int, state.split("."))
        return Session(self.id, self.created, token, int(generation), count, issued)

    def next(self) -> "Session":
        return Session(self.id, self.created, new_id(), self.generation + 1, self.count + 1, int(time.time()))


class Writer(Client):
    """Writes a session that others write too."""

    def __init__(self, world: "World", language: str, ledger: Ledger, place: str) -> None:
        super().__init__(world, language, ledger)
        self.place = place
        self.session = world.sessions.setdefault(place, Session())

    def step(self) -> bool:
        check, session = self.world.checker, self.session
        began = time.monotonic()
        for reply in self.ask_twice(self.ledger.admit(session.head())):
            check.admitted(session.id, session.token, reply, began)
        if reply[0] == "stale":
            self.session = session.at(*reply[2:5])
            return True
        if reply[0] in ("unknown", "ended", "expired", "revoked"):
            self.begin_anew()
        if reply[0] != "ok":
            return False
        written = session.next()
        command = self.ledger.commit(
            session.id, (session.token, session.generation), written.token, written.until, written.state
        )
        for reply in self.ask_twice(command):
            check.committed(session.id, session.token, written.token, reply, time.monotonic())
        if reply[0] == "ok":
            self.session = written
            self.progress += 1
        elif reply[0] == "stale":
            self.session = session.at(*reply[1:4])
        return reply[0] in ("ok", "stale")

    def begin_anew(self) -> None:
        """Share the session that somebody else began already, or begin one."""
        with self.world.lock:
            if self.world.sessions[self.place].id == self.session.id:
                self.world.sessions[self.place] = Session()
            self.session = self.world.sessions[self.place]


class Ender(Client):
    """Begins something, uses it and ends it; signs somebody out everywhere."""

    def __init__(self, *about) -> None:
        super().__init__(*about)
        self.past: list[tuple[str, Token, str]] = []

    def step(self) -> bool:
        now, who = int(time.time()), f"user{secrets.token_hex(4)}"
        token = Token("live", self.chance.choice("kht"), new_id(), now, now + LIFE)
        # A session's key is another.
        if self.chance.random() < 0.4:
            token = Session().head()
        name = f"{token.kind} {token.id}"
        self.past.append((name, token, who))
        if not self.opens(name, token, who):
            return False
        if self.chance.random() < 0.3:
            command = self.ledger.revoke(who)
        else:
            command = self.ledger.admit(Token("end", token.kind, token.id, now, token.until + SKEW), who=who)
        for reply in self.ask_twice(command):
            self.world.checker.ended(name, reply, time.monotonic())
        self.opens(name, token, who)
        self.progress += reply[0] == "ok"
        return reply[0] == "ok"

    def opens(self, name: str, token: Token, who: str) -> bool:
        began = time.monotonic()
        for reply in self.ask_twice(self.ledger.admit(token, who=who)):
            self.world.checker.opened(name, reply, began)
        return reply[0] == "ok"

    def replay(self) -> None:
        for over in self.past:
            self.opens(*over)


class World:
    """The clients of one store."""

    def __init__(
        self, name: str, address: str, commands: dict[str, str], seed: object, loses: bool, ledgers: list[Ledger]
    ) -> None:
        self.name, self.address, self.commands = name, address, commands
        self.chance = random.Random(f"{seed} {name}")
        self.checker = Checker(loses)
        self.stopped, self.lock = threading.Event(), threading.Lock()
        self.sessions: dict[str, Session] = {}
        self.failures: list[str] = []
        self.environment: dict[str, str] = {}
        #: Those who present again what is over.
        self.replaying: dict[str, Agent] = {}
        self.faults = 0
        self.slowest = 0.0
        names = list(commands)
        self.chance.shuffle(names)
        language, ledger = itertools.cycle(names), itertools.cycle(ledgers)
        self.clients: list[Client] = [
            Spender(self, next(language), next(ledger)),
            Spender(self, next(language), next(ledger)),
            Ender(self, next(language), next(ledger)),
        ]
        shared = next(ledger)
        self.clients += [Writer(self, next(language), shared, "shared") for _ in range(3)]

    def agent(self, language: str) -> Agent:
        return Agent(language, self.commands[language], self.address, self.environment)

    def open(self) -> None:
        """Have every ledger begin, and wait until what is made now is known."""
        for client in self.clients:
            wait_until(lambda client=client: client.ask(client.ledger.open())[0] == "ok", GOES_ON)
        time.sleep(ALLOWANCE + 1.1)

    def play(self, seconds: float, faults: dict[str, Callable[[], None]]) -> None:
        """Do the faults, each at least once, as long as there is time."""
        self.open()
        threads = [threading.Thread(target=client.run, daemon=True) for client in self.clients]
        for thread in threads:
            thread.start()
        deadline = time.monotonic() + seconds
        try:
            for at in itertools.count():
                time.sleep(self.chance.uniform(0.2, 0.6))
                name = list(faults)[at] if at < len(faults) else self.chance.choice(list(faults))
                replayers = self.replayers()
                faults[name]()
                self.faults += 1
                self.everybody_goes_on(name)
                for replayer in replayers:
                    replayer.agent = self.replaying.pop(replayer.language, None)
                    replayer.replay()
                    if replayer.agent:
                        self.replaying[replayer.language] = replayer.agent
                if at + 1 >= len(faults) and time.monotonic() > deadline:
                    break
        finally:
            self.stopped.set()
            for thread in threads:
                thread.join(GOES_ON)
        self.count()
        for client in self.clients:
            client.close()
        for agent in self.replaying.values():
            agent.close()
        told = ", ".join(f"{count} {answer}" for answer, count in sorted(self.checker.answers.items()))
        print(
            f"histories: {self.name}: {self.faults} faults, all went on within {self.slowest:.1f} s; {told}", flush=True
        )
        if self.checker.violations:
            sys.exit(
                "\n".join([f"{self.name}: {len(self.checker.violations)} violations", *self.checker.violations[:20]])
            )

    def everybody_goes_on(self, fault: str) -> None:
        began = time.monotonic()
        before = [client.progress for client in self.clients]
        while time.monotonic() < began + GOES_ON:
            if all(client.progress > had for client, had in zip(self.clients, before, strict=True)):
                self.slowest = max(self.slowest, time.monotonic() - began)
                return
            time.sleep(0.02)
        stuck = [
            f"{type(client).__name__} in {client.language}"
            for client, had in zip(self.clients, before, strict=True)
            if client.progress <= had
        ]
        sys.exit(
            f"{self.name}: after {fault} these do not go on: {stuck}; {self.checker.answers}; {self.failures[-5:]}"
        )

    def replayers(self) -> list[Client]:
        """Return those who will present again whatever is over until now."""
        others = []
        for client in self.clients:
            if isinstance(client, Spender | Ender):
                other = type(client)(self, self.chance.choice(list(self.commands)), client.ledger)
                # A few that are long over, too.
                old = client.past[:-REPLAYED]
                other.past = self.chance.sample(old, min(len(old), REPLAYED // 4)) + client.past[-REPLAYED:]
                others.append(other)
        return others

    def count(self) -> None:
        """Ask for the latest state of each session that is there still."""
        writers = [client for client in self.clients if isinstance(client, Writer)]
        for writer in writers:
            while True:
                reply = writer.ask(writer.ledger.admit(writer.session.head()))
                if reply[0] != "stale":
                    break
                writer.session = writer.session.at(*reply[2:5])
            if reply[0] == "ok":
                self.checker.counted(writer.session.id, writer.session.count)


# ---- scenarios ----


def one_that_keeps(seconds: float, seed: object, commands: dict[str, str]) -> None:
    """A Valkey that keeps what it answered, over `kill -9` too: nothing is lost."""
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
            "empty": lambda: valkey.client.flushall(),
            "clock ahead": lambda: jumped(clock, 2 * (LIFE + SKEW), world.chance),
            "clock behind": lambda: jumped(clock, -2 * (LIFE + SKEW), world.chance),
            "full": lambda: full(valkey, world.chance),
        }
        world.play(seconds, faults)


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


def jumped(clock: Clock, seconds: int, chance: random.Random) -> None:
    """The store's clock is another one for a while; what it lets go meanwhile is gone."""
    clock.jump(seconds)
    time.sleep(chance.uniform(0.5, 1))
    clock.jump(0)


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
            now["line"].held.set()
            time.sleep(world.chance.uniform(0.3, 1))
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
    """A SQLite file, whose writers are killed in the midst of what they do."""
    with tempfile.TemporaryDirectory() as folder:
        world = World("SQLite", f"sqlite:{folder}/ledger.db", commands, seed, False, [Ledger()])

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
    "Cluster": cluster,
    "SQLite": sqlite,
}


def main(seconds: float, seed: int, names: list[str], commands: dict[str, str]) -> None:
    if len(names) == 1:
        SCENARIOS[names[0]](seconds, seed, commands)
        return
    checker.prove()
    # At once, for they wait more than they work; each in a process of its own.
    about = [f"{language}={command}" for language, command in commands.items()]
    running = [subprocess.Popen([sys.executable, __file__, str(seconds), str(seed), name, *about]) for name in names]
    sys.exit(any([one.wait() for one in running]))


if __name__ == "__main__":
    named = [argument for argument in sys.argv[3:] if "=" not in argument]
    main(float(sys.argv[1]), int(sys.argv[2]), named or list(SCENARIOS), languages(sys.argv[3 + len(named) :]))
