"""A fleet as a story: one MCP server, a replica of it in each language, and two clients that do not notice.

    fleet.py SEALWAX TYPESCRIPT PYTHON RUST CLIENT CLIENT

SEALWAX is the command; the next three start examples/notes.* each; the last two are official clients. A
proxy hands every request to the next replica, and the replicas share nothing but a key.
"""

from __future__ import annotations

import json
import os
import shlex
import subprocess
import sys
import time
from contextlib import ExitStack
from typing import Any

import jwt
from proxy import RoundRobin
from servers import Server, keygen
from story import bold, faint, paint

#: What signs the users' tokens; the proxy's servers verify them, each with the library of its language.
JWT_SECRET = os.urandom(32).hex()


class Client:
    """A conversation of one user, by an official client in a process of its own."""

    def __init__(self, name: str, command: str, url: str, user: str) -> None:
        self.name = name
        claims = {"iss": "https://idp.example.com", "sub": user, "client_id": "demo", "exp": int(time.time()) + 3600}
        bearer = jwt.encode(claims, JWT_SECRET, algorithm="HS256")
        self._process = subprocess.Popen(
            [*shlex.split(command), url, bearer], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
        )
        self._hear()

    def ask(self, **order: Any) -> Any:
        self.say(order)
        return self._hear()

    def call(self, name: str, **arguments: Any) -> Any:
        return self.ask(call={"name": name, "arguments": arguments})

    def say(self, what: Any) -> None:
        self._process.stdin.write(json.dumps(what) + "\n")
        self._process.stdin.flush()

    def answer(self, content: dict[str, Any]) -> Any:
        """Answer what a tool asked; the client then retries the call with the state."""
        self.say(content)
        return self._hear()

    def _hear(self) -> Any:
        line = self._process.stdout.readline()
        if not line:
            sys.exit(f"{self.name} ended with {self._process.wait()}")
        return json.loads(line)

    def end(self) -> None:
        self._process.stdin.close()
        if self._process.wait(30) != 0:
            sys.exit(f"{self.name} ended badly")


class Fleet:
    def __init__(self, sealwax: str, commands: dict[str, str]) -> None:
        self.sealwax = sealwax
        self.commands = commands
        self.keys = [keygen(sealwax)]
        self.running = ExitStack()
        self.by: list[str] = []
        servers = [self.start(name) for name in commands]
        self.proxy = self.running.enter_context(RoundRobin(servers, self.seen))

    def start(self, name: str) -> Server:
        env = {"SEALWAX_KEYS": " ".join(self.keys), "NOTES_JWT_SECRET": JWT_SECRET}
        return self.running.enter_context(Server(name, shlex.split(self.commands[name]), env))

    def restart_with(self, keys: list[str]) -> None:
        """Give the replicas other keys, one after another, as a deployment does."""
        self.keys = keys
        for at, old in enumerate(self.proxy.servers):
            self.proxy.servers[at] = self.start(old.name)
            old.kill()

    def seen(self, server: Server, method: str) -> None:
        self.by.append(server.name)

    def told(self, what: str, expected: bool, found: Any) -> None:
        """Tell what came, and who served it."""
        if not expected:
            sys.exit(f"{what}: found {found}")
        print(f"  {paint('32', '✓')} {what:<58}{faint(' → '.join(self.by))}")
        self.by.clear()


def items(basket: Any) -> list[str]:
    return json.loads(basket["text"])["items"]


def handle(basket: Any) -> str:
    return json.loads(basket["text"])["basket"]


def tell(sealwax: str, typescript: str, python: str, rust: str, *clients: str) -> None:
    fleet = Fleet(sealwax, {"TypeScript": typescript, "Python": python, "Rust": rust})
    with fleet.running:
        print(bold("\nA fleet: three replicas in three languages, one key, every request to the next of them"))
        ends = []
        for name, user, command in zip(["TypeScript", "Python"], ["alice", "bob"], clients, strict=True):
            client = Client(f"the {name} client", command, fleet.proxy.url, user)
            fleet.by.clear()
            ends.append((client, user, converse(fleet, client, user)))

        print(bold("\nThe replica in Python is killed"))
        fleet.proxy.servers[1].kill()
        for at, (client, user, kept) in enumerate(ends):
            ends[at] = (client, user, go_on(fleet, client, kept))
        fleet.proxy.servers[1] = fleet.start("Python")

        print(
            bold(
                "\nThe key is rotated: the new one to all, then in front, then alone when the old ones' work has ended"
            )
        )
        old, new = fleet.keys[0], keygen(sealwax)
        fleet.restart_with([old, new])
        fleet.restart_with([new, old])
        for at, (client, user, kept) in enumerate(ends):
            ends[at] = (client, user, go_on(fleet, client, kept))
        fleet.restart_with([new])
        for at, (client, user, kept) in enumerate(ends):
            ends[at] = (client, user, go_on(fleet, client, kept, pages=False))

        print(
            bold("\nAnother agent of alice's, in the other language, shares what it is given and keeps the rest apart")
        )
        shared = ends[0][2]
        agent = Client("the Python client", clients[1], fleet.proxy.url, "alice")
        fleet.by.clear()
        added = agent.call("add_to_basket", basket=shared[0], item="of the agent")
        fleet.told("an item more in alice's basket", items(added) == [*shared[1], "of the agent"], added)
        own = agent.call("new_basket")
        fleet.told("a basket of the agent's own is empty", items(own) == [], own)
        agent.end()

        print(bold("\nWhat is another's, or changed, is refused by each of them alike"))
        (alice, _, basket), (bob, _, _) = ends[0], ends[1]
        refusals = {json.dumps(bob.call("add_to_basket", basket=basket[0], item="x")) for _ in range(3)}
        refusals |= {json.dumps(alice.call("add_to_basket", basket=basket[0][:-1] + "-", item="x")) for _ in range(3)}
        fleet.told("one answer for both, whoever is asked", len(refusals) == 1, refusals)
        print(faint(f"    {json.loads(refusals.pop())['text']}"))
        for client, _, _ in ends:
            client.end()


def converse(fleet: Fleet, client: Client, user: str) -> tuple[str, list[str], str]:
    """Begin a conversation; return the basket, what should be in it, and a cursor."""
    print(f"\n  {client.name}, as {user}")
    fleet.told("a basket, in a handle that holds it", (basket := client.call("new_basket"))["text"], basket)
    basket = client.call("add_to_basket", basket=handle(basket), item="tea")
    fleet.told("an item more", items(basket) == ["tea"], basket)
    page = client.ask(page=None)
    fleet.told("the first of the list's pages", page["items"] == 10, page)
    page = client.ask(page=page["nextCursor"])
    fleet.told("the next one, by its cursor", page["items"] == 10, page)
    confirm(fleet, client)
    return handle(basket), ["tea"], page["nextCursor"]


def go_on(fleet: Fleet, client: Client, kept: tuple[str, list[str], str], pages: bool = True) -> tuple:
    """Go on with what an earlier replica gave."""
    print(f"\n  {client.name}, with what it had")
    basket, inside, cursor = kept
    inside = [*inside, f"item {len(inside) + 1}"]
    added = client.call("add_to_basket", basket=basket, item=inside[-1])
    fleet.told("an item more in the same basket", items(added) == inside, added)
    if pages:
        page = client.ask(page=cursor)
        fleet.told("the last page of the list", page["items"] == 5 and not page.get("nextCursor"), page)
    confirm(fleet, client)
    return handle(added), inside, cursor


def confirm(fleet: Fleet, client: Client) -> None:
    asked = client.call("delete_note", id=25)
    fleet.told("a note is to be deleted: the server asks back", asked == {"asked": "Delete note 25?"}, asked)
    kept = client.answer({"confirm": False})
    fleet.told("the answer comes with the sealed state: it is kept", kept["text"] == "note 25 kept", kept)


if __name__ == "__main__":
    tell(*sys.argv[1:])
