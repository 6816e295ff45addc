"""The fleet as a story: sessions with no store, of the data layer and of `Mcp-Session-Id`.

    fleet_sessions.py SEALWAX NAME=COMMAND... -- CLIENT CLIENT

SEALWAX is the command; each COMMAND starts examples/sessions in a language; the last two are official clients.
"""

from __future__ import annotations

import sys

from fleet import Client, Fleet, groups, named
from servers import keygen
from story import bold, faint


def tell(sealwax: str, replicas: list[str], clients: list[str]) -> None:
    fleet = Fleet(sealwax, named(replicas))
    with fleet.running:
        print(bold("\nSessions with no store: the same fleet, a counter in each session"))
        modern = [
            Talk(fleet, f"the {name} client", command, user)
            for name, user, command in zip(["TypeScript", "Python"], ["alice", "bob"], clients, strict=True)
        ]
        older = [
            Talk(fleet, f"{talk.name}, of revision 2025-11-25", talk.command, "carol", "legacy") for talk in modern
        ]
        talks = [*modern, *older]
        for talk in talks:
            talk.begin()
        for talk in modern:
            talk.write("two conversations, ")

        print(bold("\nThe replica in Rust is killed"))
        fleet.proxy.servers[2].kill()
        for talk in talks:
            talk.go_on()
        fleet.proxy.servers[2] = fleet.start("Rust")

        print(bold("\nThe key is rotated: the new one to all, then in front"))
        old, new = fleet.keys[0], keygen(sealwax)
        fleet.restart_with([old, new])
        fleet.restart_with([new, old])
        for talk in talks:
            talk.go_on()
        for talk in modern:
            talk.read("two conversations, ")

        print(bold("\nThe old key is retired: what it made has ended, which clients are told, and begin anew"))
        fleet.restart_with([new])
        for talk in talks:
            talk.over()
        for talk in talks:
            talk.client.end()


class Talk:
    """A client's conversations with the fleet: each of its sessions counts for itself."""

    def __init__(self, fleet: Fleet, name: str, command: str, user: str, *era: str) -> None:
        self.fleet, self.name, self.command = fleet, name, command
        self.client = Client(name, command, fleet.proxy.url, user, *era)
        self.user, self.counted, self.legacy = user, 0, bool(era)
        self.connected = list(fleet.by)
        fleet.by.clear()

    def begin(self) -> None:
        print(f"\n  {self.name}, as {self.user}")
        if self.legacy:
            print(faint(f"    initialize was answered by {' → '.join(self.connected)}"))
            self.tools()
            return
        self.count("first")
        self.count("first")
        other = self.client.ask(session="second", call={"name": "count", "arguments": {}})
        self.fleet.told("another session beside it counts for itself", other["text"] == "1", other)

    def go_on(self) -> None:
        print(f"\n  {self.name}, with what it had")
        if self.legacy:
            self.tools()
        else:
            self.count("first")

    def over(self) -> None:
        if self.legacy:
            gone = self.client.ask(tools=True)
            self.fleet.told(f"{self.name}: it has to initialize again", "error" in gone, gone)
            return
        gone = self.client.ask(session="first", call={"name": "count", "arguments": {}})
        expected = {"code": -32043, "message": "Session not found"}
        self.fleet.told(f"{self.name}: {expected['message']}", gone.get("error") == expected, gone)
        self.counted = 0
        self.count("first")

    def tools(self) -> None:
        listed = self.client.ask(tools=True)
        self.fleet.told("the tools, by the header of initialize", listed == {"tools": 5}, listed)

    def count(self, session: str) -> None:
        self.counted += 1
        told = self.client.ask(session=session, call={"name": "count", "arguments": {}})
        self.fleet.told(f"one more: {self.counted}", told["text"] == str(self.counted), told)

    def write(self, text: str) -> None:
        self.in_second("begin")
        self.in_second("write", text=text)
        self.fleet.told(f"{self.name}: begins in its other session, and writes", True, None)

    def read(self, before: str) -> None:
        self.in_second("write", text="one key")
        ended = self.in_second("end")
        self.fleet.told("the other session's text is whole at its end", ended["text"] == before + "one key", ended)

    def in_second(self, tool: str, **arguments: str) -> dict[str, str]:
        return self.client.ask(session="second", call={"name": tool, "arguments": arguments})


if __name__ == "__main__":
    (command, *servers), official = groups(sys.argv[1:])
    tell(command, servers, official)
