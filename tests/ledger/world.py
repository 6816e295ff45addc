"""The clients of one store, which ask its ledger while faults befall it."""

import itertools
import random
import secrets
import sys
import threading
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field

from checker import Checker
from common import TOLERANCE, Agent, Died, Ledger, Token, new_attempt, new_id
from servers import wait_until

LIFE = 600
CLOCK_TOLERANCE = 300
#: How many seconds clients may take to go on after a fault: the clock tolerance, and a new connection on a busy machine.
GOES_ON = 120
#: How many of the tokens that are over are presented again after each fault.
REPLAYED = 100


class Client:
    """A client of the ledger by an agent, which is started again whenever it dies."""

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
        """Give the reply and, where there was none, that of a second try, as a guard's engine does."""
        reply = self.ask(command)
        yield reply
        if reply[0] == "failed":
            self.world.failures.append(f"{self.language}: {reply[1]}")
            yield self.ask(command)

    def run(self) -> None:
        while not self.world.stopped.is_set():
            if not self.step():
                time.sleep(0.05)
            # Of no fixed length: a store that answers in steps (each with an fsync) would always have the same one lose.
            time.sleep(self.chance.uniform(0, 0.01))

    def close(self) -> None:
        if self.agent:
            self.agent.close()

    def step(self) -> bool:
        """Do one thing; return whether it succeeded."""
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
        """The sealed state, as far as these clients need it."""
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
            # Who loses the race has been served, too: which of three writers wins is not the ledger's to say. The state was the
            # latest when it was admitted, so another one was written since.
            self.session = session.at(*reply[1:4])
            self.progress += self.session.token != session.token
        return reply[0] in ("ok", "stale")

    def begin_anew(self) -> None:
        """Take the session that another writer began already, or begin one."""
        with self.world.lock:
            if self.world.sessions[self.place].id == self.session.id:
                self.world.sessions[self.place] = Session()
            self.session = self.world.sessions[self.place]


class Ender(Client):
    """Begins a token or session, uses it and ends it; or revokes all of its user's."""

    def __init__(self, *about) -> None:
        super().__init__(*about)
        self.past: list[tuple[str, Token, str]] = []

    def step(self) -> bool:
        begun = self.begin()
        return begun is not None and self.end(*begun, revoke=self.chance.random() < 0.3)

    def begin(self) -> tuple[str, Token, str] | None:
        """Begin a token or session; return it with its name and its user, unless it does not open."""
        now, who = int(time.time()), f"user{secrets.token_hex(4)}"
        token = Token("live", self.chance.choice("kht"), new_id(), now, now + LIFE)
        # A session has a key of another kind.
        if self.chance.random() < 0.4:
            token = Session().head()
        name = f"{token.kind} {token.id}"
        self.past.append((name, token, who))
        return (name, token, who) if self.opens(name, token, who) else None

    def end(self, name: str, token: Token, who: str, *, revoke: bool) -> bool:
        if revoke:
            command = self.ledger.revoke(who)
        else:
            command = self.ledger.admit(
                Token("end", token.kind, token.id, token.issued, token.until + CLOCK_TOLERANCE), who=who
            )
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
        #: The agents of clients that present again the tokens that are over.
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
        """Open every ledger, and wait until tokens that are made now are known to it."""
        for client in self.clients:
            wait_until(lambda client=client: client.ask(client.ledger.open())[0] == "ok", GOES_ON)
        time.sleep(TOLERANCE + 1.1)

    def play(self, seconds: float, faults: dict[str, Callable[[], "list[Client] | None"]]) -> None:
        """Run the faults, each at least once, until the time is over.

        Clients that a fault returns present again what was over in the middle of it.
        """
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
                replayers += faults[name]() or []
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
        """Return clients that will present again all that is over by now."""
        others = []
        for client in self.clients:
            if isinstance(client, Spender | Ender):
                other = type(client)(self, self.chance.choice(list(self.commands)), client.ledger)
                # And a few that have been over for long.
                old = client.past[:-REPLAYED]
                other.past = self.chance.sample(old, min(len(old), REPLAYED // 4)) + client.past[-REPLAYED:]
                others.append(other)
        return others

    def count(self) -> None:
        """Compare the latest state of each session that still exists with its writes."""
        writers = [client for client in self.clients if isinstance(client, Writer)]
        for writer in writers:
            while True:
                reply = writer.ask(writer.ledger.admit(writer.session.head()))
                if reply[0] != "stale":
                    break
                writer.session = writer.session.at(*reply[2:5])
            if reply[0] == "ok":
                self.checker.counted(writer.session.id, writer.session.count)
