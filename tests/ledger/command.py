"""`sealwax ledger`, of every package, at a real Valkey: the guards of every language read its records.

Usage: command.py NAME=SEALWAX [NAME=SEALWAX ...] -- LANGUAGE=AGENT [LANGUAGE=AGENT ...]

Each SEALWAX is the command of a package.
"""

import hashlib
import itertools
import pathlib
import shlex
import subprocess
import sys
import tempfile
import time
from concurrent.futures import ProcessPoolExecutor

from common import TOLERANCE, Agent, Ledger, Token, languages, new_id
from servers import Clock, Valkey, wait_until

AUDIENCE = "https://mcp.example.com"
SETTINGS = {"repl_diskless_sync_delay": "0"}


def namespace() -> str:
    """As specified in LEDGER.md."""
    pieces = [b"sealwax ledger 1", b"ledger", AUDIENCE.encode(), b""]
    pae = len(pieces).to_bytes(8, "little") + b"".join(len(one).to_bytes(8, "little") + one for one in pieces)
    return hashlib.sha256(pae).hexdigest()[:16]


class Operator:
    def __init__(self, sealwax: str, url: str) -> None:
        self._start = [*shlex.split(sealwax), "ledger"]
        self._end = [url, "--audience", AUDIENCE]

    def run(self, action: str, *options: str) -> tuple[int, str]:
        command = [*self._start, action, *self._end, *options]
        done = subprocess.run(command, capture_output=True, text=True, check=False, timeout=60)
        return done.returncode, done.stdout + done.stderr

    def expect(self, status: int, told: str, action: str, *options: str) -> None:
        found = self.run(action, *options)
        if found[0] != status or told not in found[1]:
            sys.exit(f"{action}: expected {status} and {told!r}, found {found}")


def what_it_writes_is_read(sealwax: str, commands: dict[str, str]) -> None:
    with Valkey(**SETTINGS) as store:
        operator, ledger = Operator(sealwax, store.address), Ledger(namespace())
        end = ("--kind", "session", "--id")
        operator.expect(0, "never", "check")
        operator.expect(2, "none: check the URL", "end", *end, new_id())
        operator.expect(0, "begun", "begin", "--clock-tolerance", str(TOLERANCE))
        operator.expect(0, "remembers since: 20", "check")
        over, other, now = new_id(), new_id(), int(time.time())
        operator.expect(0, f"ended: {over}", "end", *end, over)
        for language, command in commands.items():
            agent = Agent(language, command, store.address)
            # What is sealed from now on is known, by a clock that is behind too.
            reply = agent.ask(ledger.admit(Token("once", "r", new_id(), now - TOLERANCE, now + 600)))
            if reply != ["ok", "0"]:
                sys.exit(f"{language}: {reply}")
            for kind in "st":
                reply = agent.ask(ledger.admit(Token("live", kind, over, now, now + 600)))
                if reply != ["ended", "0"]:
                    sys.exit(f"{language}: {reply}")
            reply = agent.ask(ledger.admit(Token("live", "s", other, now, now + 600)))
            if reply != ["ok", "0"]:
                sys.exit(f"{language}: {reply}")
            agent.close()


def what_a_store_lacks_is_told(sealwax: str) -> None:
    with Valkey(maxmemory="100mb", maxmemory_policy="allkeys-lru") as store:
        for action in ("check", "begin"):
            Operator(sealwax, store.address).expect(1, "ledger_unfit: maxmemory-policy", action)
    with Valkey(**SETTINGS) as master, Valkey(**SETTINGS) as replica:
        replica.follow(master.port)
        Operator(sealwax, replica.address).expect(1, "ledger_unfit: role", "check")
        operator = Operator(sealwax, master.address)
        operator.expect(0, "min-replicas-to-write is 0", "check")
        operator.expect(0, "begun", "begin", "--clock-tolerance", "0")
        operator.expect(0, "It is not known here", "revoke", "--subject", "alice")
        replica.pause()
        operator.expect(1, "no replica confirmed it", "revoke", "--subject", "alice")
        replica.go_on()
        wait_until(lambda: master.client.execute_command("WAIT", 1, 100))
        operator.expect(0, "revoked", "revoke", "--subject", "alice")


def a_clock_that_is_behind_is_told(sealwax: str) -> None:
    """What began by now is younger than the store's time: it would not be revoked."""
    with tempfile.TemporaryDirectory() as folder, Valkey(clock := Clock(pathlib.Path(folder))) as store:
        operator = Operator(sealwax, store.address)
        operator.expect(0, "begun", "begin", "--clock-tolerance", "0")
        clock.jump(-600)
        operator.expect(1, "found ahead", "revoke", "--subject", "alice")
        clock.jump(0)
        operator.expect(0, "revoked", "revoke", "--subject", "alice")


def what_cannot_be_used_is_told(sealwax: str) -> None:
    with Valkey(**SETTINGS) as store:
        store.client.config_set("requirepass", "hunter2")
        place = f"127.0.0.1:{store.port}"
        Operator(sealwax, f"redis://:hunter2@{place}").expect(0, "never", "check")
        # The wrong password, none, no TLS; and nothing listens on port 1.
        addresses = [
            f"redis://:hunter3@{place}",
            f"redis://{place}",
            f"rediss://:hunter3@{place}",
            "redis://:hunter3@127.0.0.1:1",
        ]
        for wrong in addresses:
            operator = Operator(sealwax, wrong)
            status, told = operator.run("check")
            if status != 2 or not told.startswith("sealwax: ledger_unavailable: ") or "hunter" in told:
                sys.exit(f"{wrong}: {status}, {told!r}")
            operator.expect(2, "\n  tip: check the URL", "check")


def shows(package: str, sealwax: str, agents: dict[str, str]) -> str:
    what_it_writes_is_read(sealwax, agents)
    what_a_store_lacks_is_told(sealwax)
    a_clock_that_is_behind_is_told(sealwax)
    what_cannot_be_used_is_told(sealwax)
    return f"command of {package}: what it writes every language reads; what a store lacks is told"


def main(sealwax: dict[str, str], agents: dict[str, str]) -> None:
    # They wait more than they work. Processes, as a store gets its clock from the environment of the one that starts it.
    with ProcessPoolExecutor(len(sealwax)) as pool:
        for said in pool.map(shows, sealwax, sealwax.values(), itertools.repeat(agents)):
            print(said, flush=True)


if __name__ == "__main__":
    end = sys.argv.index("--")
    main(languages(sys.argv[1:end]), languages(sys.argv[end + 1 :]))
