"""Every engine of every language against one model: random commands, the next by any agent, on one store.

Usage: model.py SECONDS SEED LANGUAGE=AGENT [LANGUAGE=AGENT ...]

The model is the one that makes `vectors/ledger.json`, and shares no code with the core. All languages share a
Valkey and a SQLite file; a ledger in memory is its own process's. What is expected depends on the second in
which a command is done, so each begins well within one; a service whose command straddled two is left alone.
"""

import collections
import json
import pathlib
import random
import sys
import tempfile
import time
from concurrent.futures import ThreadPoolExecutor

from common import TOLERANCE, Agent, Ledger, Token, languages, with_files
from servers import Valkey

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "vectors"))
import ledger as reference

reference.TOLERANCE = TOLERANCE

#: Commands to a service before another takes its place.
LIFE = 400
SERVICES = 6
#: The least number of commands for each store, on however slow a machine.
LEAST = 300


class Service:
    """A ledger of few ids, so that commands meet, and its model."""

    def __init__(self, chance: random.Random) -> None:
        self.chance = chance
        self.ledger = Ledger(f"{chance.getrandbits(64):016x}")
        self.records: dict[str, tuple[str, int]] = {}
        self.history: list[tuple] = []

    def expected(self, command: dict, now: int) -> list[str]:
        """Do a command in the model."""
        reference.NOW = now
        alive = {key: value for key, (value, until) in self.records.items() if until == 0 or until > now}
        store = reference.Store(command["keys"], [alive.get(key) for key in command["keys"]])
        try:
            reply = getattr(store, command["script"])(command["keys"], command["args"])
        except reference.Refused as refused:
            reply = refused.args
        for key in command["keys"]:
            value, until = store.records.get(key, (None, None))
            if value is None:
                self.records.pop(key, None)
            elif until != "kept":
                self.records[key] = (value, until)
        return [str(part) for part in reply]

    def begin(self, reply: list[str]) -> None:
        """Take over the time since which it has records: a ledger in memory has them from before its first command."""
        _, began, since, now, _ = reply
        self.records[self.ledger.key("began")] = (began, 0)
        self.records[self.ledger.key("fence")] = (f"{since} RUN {now}", 0)

    def command(self, now: int) -> dict:
        pick = self.chance.choice
        kind = self.chance.random()
        if kind < 0.02:
            return self.ledger.open()
        if kind < 0.03:
            asked = now + pick([-5, 0, 0, 0, 1, 301])
            return self.ledger.revoke(pick(["alice", "bob"]), pick([1, 2, 2, 60]), asked)
        until = self.until(now)
        if kind < 0.2:
            seen = (f"token{self.chance.randrange(6)}", self.chance.randrange(4))
            return self.ledger.commit(
                f"s{self.chance.randrange(4)}", seen, f"token{self.chance.randrange(6)}", until, "x"
            )
        tokens = [self.token(place, now) for place in range(pick([1, 1, 1, 2, 3]))]
        return self.ledger.admit(
            *tokens,
            attempt=f"at{self.chance.randrange(4)}",
            who=pick(["alice", "bob"]),
            accept_since=pick([0, 0, now - 5]),
        )

    def token(self, place: int, now: int) -> Token:
        pick = self.chance.choice
        mode = pick(["once"] * 4 + ["head"] * 4 + ["unused", "live", "idle", "idle", "end", "force"])
        # No id twice in one command: a place has its own.
        kind = "s" if mode == "head" else pick("rrrts")
        name = f"s{place}" if kind == "s" else f"id{place}{self.chance.randrange(3)}"
        began = int(self.records[self.ledger.key("began")][0])
        edges = [now - 1, now + TOLERANCE, now + TOLERANCE + 1, began + TOLERANCE, began + TOLERANCE + 1]
        issued = now if self.chance.random() < 0.7 else pick(edges)
        details = {
            "idle": (str(pick([1, 2, 60])), "", ""),
            "head": (f"token{self.chance.randrange(6)}", str(self.chance.randrange(4)), "state"),
        }.get(mode, ("", "", ""))
        return Token(mode, kind, name, issued, self.until(now), issued - pick([0, 0, 0, 5]), details)

    def until(self, now: int) -> int:
        return now + self.chance.choice(
            [1, 2, 3, 5, 600, -now, 0, -10] if self.chance.random() < 0.3 else [1, 2, 3, 600]
        )


def margin() -> int:
    """Wait until a second has enough left of it, and return it."""
    while not 0.02 < time.time() % 1 < 0.85:
        time.sleep(0.01)
    return int(time.time())


class Store:
    """One store, the agents that share it, and the services on it."""

    def __init__(self, name: str, agents: list[Agent], chance: random.Random) -> None:
        self.name, self.agents, self.chance = name, agents, chance
        self.services: list[Service] = []
        self.verdicts: collections.Counter[str] = collections.Counter()
        self.left = 0

    def ask(self, service: Service, command: dict, now: int) -> list[str] | None:
        """Run a command at an agent; return `None` if its second is not known."""
        agent = self.chance.choice(self.agents)
        reply = agent.ask(command)
        service.history.append((agent.language, now, command, reply))
        if int(time.time()) == now:
            return reply
        self.left += 1
        if service in self.services:
            self.services.remove(service)
        return None

    def step(self) -> str | None:
        """Do one command; return what differs."""
        now = margin()
        if len(self.services) < SERVICES:
            service = Service(self.chance)
            reply = self.ask(service, service.ledger.open(), now)
            if reply:
                if reply[0] != "ok":
                    return f"{self.name}: {reply}"
                service.begin(reply)
                self.services.append(service)
            return None
        service = self.chance.choice(self.services)
        command = service.command(now)
        reply = self.ask(service, command, now)
        if reply is None:
            return None
        expected = service.expected(command, now)
        self.verdicts[f"{command['script']} {reply[0]}"] += 1
        if reply != expected:
            told = "\n".join(json.dumps(one) for one in service.history[-40:])
            return f"{told}\n{self.name}: found {reply}, expected {expected}"
        if len(service.history) > LIFE:
            self.services.remove(service)
        return None

    def play(self, deadline: float) -> str | None:
        found = None
        while not found and (time.monotonic() < deadline or self.verdicts.total() < LEAST):
            found = self.step()
        return found


def main(seconds: float, seed: int, commands: dict[str, str]) -> None:
    with tempfile.TemporaryDirectory() as folder, Valkey() as valkey:
        shared = {"Valkey": valkey.address, "SQLite": f"sqlite:{folder}/ledger.db"}
        stores = [
            Store(
                name,
                [
                    Agent(language, command, address)
                    for language, command in (with_files(commands) if name == "SQLite" else commands).items()
                ],
                random.Random(f"{seed} {name}"),
            )
            for name, address in shared.items()
        ]
        stores += [
            Store(f"memory, {language}", [Agent(language, command, "memory")], random.Random(f"{seed} {language}"))
            for language, command in commands.items()
        ]
        deadline = time.monotonic() + seconds
        with ThreadPoolExecutor(len(stores)) as threads:
            found = list(threads.map(lambda store: store.play(deadline), stores))
        if any(found):
            sys.exit("\n".join(filter(None, found)))
        for store in stores:
            for agent in store.agents:
                agent.close()
    for store in stores:
        verdicts = ", ".join(f"{count} {verdict}" for verdict, count in sorted(store.verdicts.items()))
        print(f"model: {store.name}: {store.verdicts.total()} agreed, {store.left} between two seconds: {verdicts}")
        # Every kind of reply must occur.
        wanted = {
            f"admit {word}" for word in ["ok", "used", "ended", "revoked", "unknown", "expired", "stale", "ahead"]
        }
        wanted |= {f"commit {word}" for word in ["ok", "stale", "ended", "expired", "lost"]} | {"open ok", "revoke ok"}
        missing = wanted - store.verdicts.keys()
        if missing and store.verdicts.total() > 2000:
            sys.exit(f"{store.name}: never answered: {missing}")


if __name__ == "__main__":
    main(float(sys.argv[1]), int(sys.argv[2]), languages(sys.argv[3:]))
