"""The core's evaluation against its Lua, in a real Valkey: random commands, by replies and by what is left in the store.

Usage: evaluate.py SECONDS SEED

`mcp/src/ledger/evaluate.rs` runs in this process, through the Python package; the scripts as they are, but for the clock,
which is a key. So it jumps, to and fro, and by years. What other tests leave out: settings that change from command to
command, records that vanish or that are not the ledger's, and arguments that no guard sends. Commands are sent in
batches, and the state that each left is compared. Half of the runs are at a server that forbids INFO.
"""

import collections
import json
import random
import re
import sys
import time

import redis
from common import Token
from model import Service
from scripts import lua
from sealwax._native import call_for_text, lib, pair
from servers import Valkey

CLOCK = "call('TIME')[1]"
#: The store's own clock removes nothing of so late a time; what has ended by the clock of a run is removed by the run.
LATER = 20 * 365 * 86_400
BATCH = 100
#: Commands until the service is another one.
LIFE = 400
LEFT = (
    "local left = {} for _, key in ipairs(KEYS) do left[#left + 1] = redis.call('GET', key) or false "
    "left[#left + 1] = redis.call('EXPIRETIME', key) end return left"
)

State = dict[str, tuple[str, int]]


def evaluated(command: dict, now: int, values: list[str | None]) -> dict:
    """Have the core evaluate a command, as LEDGER.md says for stores with transactions."""
    written, had = json.dumps(command).encode(), json.dumps(values).encode()
    # The reply is at most as long as the stored values and the command, plus a few numbers.
    room = 2 * (len(written) + len(had) + 4096)
    return json.loads(call_for_text(lib.sealwax_ledger_evaluate, *pair(written), now, *pair(had), capacity=room))


class Run(Service):
    """Random commands to one service, and its records by the core."""

    def __init__(self, chance: random.Random, now: int, run: str) -> None:
        super().__init__(chance)
        self.now = now
        #: What a fence says of the process.
        self.run = run
        self.records: State = {self.ledger.key("began"): (str(now), 0)}

    def alive(self) -> None:
        gone = [key for key, (_, until) in self.records.items() if 0 < until <= self.now]
        for key in gone:
            del self.records[key]

    def next(self) -> tuple[dict, list[str]]:
        """Change the clock and the store, and return a command and the keys that were changed beside it."""
        chance = self.chance
        if chance.random() < 0.3:
            self.now += chance.choice([1, 1, 1, 2, 5, 59, 301, 86_400, 400 * 86_400, -1, -2, -300, -301, -86_400])
            self.now = max(self.now, int(time.time()) + LATER // 2)
        before = set(self.records)
        self.alive()
        changed = list(before - self.records.keys())
        began, fence = self.ledger.key("began"), self.ledger.key("fence")
        # Commands are made about this time; and what is broken would stay so.
        if began not in self.records or chance.random() < 0.1:
            self.records[began] = (str(self.now - chance.choice([0, 1, 2, 301])), 0)
            self.records.pop(fence, None)
            changed += [began, fence]
        command = self.command(self.now)
        if command["script"] == "admit" and chance.random() < 0.3:
            command["args"][1] = str(chance.choice([0, 1, 60, 300]))
        if chance.random() < 0.05:
            at = chance.randrange(len(command["args"])) if command["args"] else None
            if at is not None:
                command["args"][at] = self.hostile(command["args"][at])
        if chance.random() < 0.1:
            key = chance.choice(command["keys"])
            self.foreign(key)
            changed.append(key)
        return command, changed

    def token(self, place: int, now: int) -> Token:
        """Make a token about the time at which the ledger began, if that can be read."""
        key = self.ledger.key("began")
        kept = self.records[key]
        if not re.fullmatch("[0-9]{1,15}", kept[0]):
            self.records[key] = (str(now), 0)
        try:
            return super().token(place, now)
        finally:
            self.records[key] = kept

    def hostile(self, argument: str) -> str:
        others = [
            *("", "0", "-1", "1.5", "1e3", "0x10", " 1", "1 ", "nan", "inf", "x", "ab cd", "\0", "é"),
            "999999999999999",
        ]
        # None with leading zeros: we write none, and for Lua 00 is not the text 0.
        return self.chance.choice([*others, "1" + argument, argument.upper()])

    def foreign(self, key: str) -> None:
        """Evict a record, or put another in its place; now and then one that is almost of the ledger's form."""
        chance, now = self.chance, self.now
        number = chance.choice([0, 1, now - 1, now, now + 1, now + 300, now + 301, 999_999_999_999_999])
        heads = [
            *("t 1 {0} s", "t 1 {0} ", " 1 {0} s", "t 1 {0}", "t\t 1 {0} s", "token1 1 {0} a\vb", "t  1 {0} s"),
            *("t 1 {0} s ", "t -1 {0} s", "token1 3 {0} x y"),
        ]
        fences = [
            *("{0} {1} {0}", "{0} {1} 0", "0 {1} {0}", "{0} {1}", "{0}  {0}", "{0} a\tb {0}", "{0} {1} {0} "),
            *(" {0} {1} {0}", "x {1} {0}"),
        ]
        numbers = ["{0}", "0{0}", "+{0}", "-{0}", "{0}.0", " {0}", "{0}\n", "", "1e3", "0x1f", "at1", "\u0663"]
        kinds = {"fence": fences, "h": heads}
        forms = kinds.get(key.split(":")[2], numbers)
        if chance.random() < 0.3:
            self.records.pop(key, None)
            return
        if chance.random() < 0.1:
            forms = numbers + heads + fences
        value = chance.choice(forms).format(number, self.run)
        self.records[key] = (value, chance.choice([0, 0, now + 5]))

    def evaluated(self, command: dict) -> list[str]:
        """Return the reply of the core, and keep what it writes."""
        values = [self.records.get(key, (None, 0))[0] for key in command["keys"]]
        verdict = evaluated(command, self.now, values)
        if verdict["reply"] == ["unsupported"]:
            return verdict["reply"]
        for write in verdict["writes"]:
            if write["value"] is None:
                self.records.pop(write["key"], None)
            else:
                self.records[write["key"]] = (write["value"], write["until"] or 0)
        # A store with transactions has no process, and a write to it takes no removal along.
        return verdict["reply"]


class Scripts:
    """The scripts at a server, with a clock to set."""

    def __init__(self, client: redis.Redis, run: str) -> None:
        self.client, self.run = client, run
        self.scripts = {}
        for name in ("open", "admit", "commit", "revoke"):
            text = lua(name)
            if text.count(CLOCK) != 1:
                sys.exit(f"{name}.lua: expected the clock once")
            self.scripts[name] = client.script_load(text.replace(CLOCK, "call('GET', 'clock')"))
        self.left = client.script_load(LEFT)

    def batch(self, run: Run, verdicts: collections.Counter) -> str | None:
        """Do a batch by both; return what differs."""
        pipeline, expected = self.client.pipeline(transaction=False), []
        for _ in range(BATCH):
            command, changed = run.next()
            pipeline.set("clock", run.now)
            for key in changed:
                if key not in run.records:
                    pipeline.delete(key)
                    continue
                value, until = run.records[key]
                pipeline.set(key, value, **({"exat": until} if until else {}))
            # It may have been changed for the sake of the generator.
            keys, args = command["keys"], command["args"]
            had = {key: run.records.get(key) for key in keys}
            reply = run.evaluated(command)
            if reply == ["unsupported"]:
                # Not a number: no guard sends it, and Lua reads more as one.
                verdicts["unsupported"] += 1
                continue
            pipeline.evalsha(self.scripts[command["script"]], len(keys), *keys, *args)
            pipeline.evalsha(self.left, len(keys), *keys)
            left = {key: run.records.get(key) for key in keys}
            expected.append((len(pipeline.command_stack) - 2, run.now, command, had, reply, left))
        found = pipeline.execute(raise_on_error=False)
        for at, now, command, had, reply, left in expected:
            verdicts[f"{command['script']} {reply[0]}"] += 1
            values, told = found[at + 1], found[at]
            kept = {
                key: None if value is None else (value.replace(f" {self.run} ", " - "), max(until, 0))
                for key, value, until in zip(command["keys"], values[::2], values[1::2], strict=True)
            }
            left = {key: of and (of[0].replace(f" {self.run} ", " - "), of[1]) for key, of in left.items()}
            if same(reply, told) and kept == left:
                continue
            lines = [f"now {now}", json.dumps(command), f"had {had}", f"evaluate {reply} {left}", f"lua {told} {kept}"]
            return "\n".join(lines)
        return None


def same(reply: list[str], told: object) -> bool:
    if reply[0] == "ok" and isinstance(told, list):
        # Whether a replica should confirm it is the store's to say.
        return told[:-1] == reply[:-1]
    return told == reply


def play(valkey: Valkey, seconds: float, seed: str, *, blind: bool) -> tuple[collections.Counter, str | None]:
    client, chance = valkey.client, random.Random(seed)
    info = client.info()
    run = "-" if blind else f"{info['run_id']}.{info['master_replid']}.0"
    if blind:
        client.execute_command("ACL", "SETUSER", "default", "-info")
    scripts, verdicts, until = Scripts(client, run), collections.Counter(), time.monotonic() + seconds
    found = service = None
    while found is None and (time.monotonic() < until or verdicts.total() < LIFE):
        if service is None or chance.random() < BATCH / LIFE:
            client.flushall()
            service = Run(chance, int(time.time()) + LATER, run)
            key = service.ledger.key("began")
            client.set(key, service.records[key][0])
        found = scripts.batch(service, verdicts)
    return verdicts, found


def main(seconds: float, seed: str) -> None:
    for blind in (False, True):
        with Valkey() as valkey:
            begin = time.monotonic()
            verdicts, found = play(valkey, seconds / 2, f"{seed} {blind}", blind=blind)
            if found is not None:
                sys.exit(f"seed {seed}{', INFO forbidden' if blind else ''}:\n{found}")
            rate = verdicts.total() / (time.monotonic() - begin)
        told = ", ".join(f"{count} {verdict}" for verdict, count in sorted(verdicts.items()))
        print(f"evaluate: {verdicts.total()} agreed{', INFO forbidden' if blind else ''}, {rate:.0f} a second: {told}")


if __name__ == "__main__":
    main(float(sys.argv[1]), sys.argv[2])
