"""The fleet as a story: what a request carries, from one replica to the next, and clients that do not notice.

    fleet_requests.py SEALWAX NAME=COMMAND... -- CLIENT CLIENT

SEALWAX is the command; each COMMAND starts examples/notes in a language; the last two are official clients.
"""

from __future__ import annotations

import json
import sys
import time
from typing import Any

from fleet import Client, Fleet, groups, named
from load import under_load
from servers import key_id
from story import bold, faint


def items(basket: Any) -> list[str]:
    return json.loads(basket["text"])["items"]


def handle(basket: Any) -> str:
    return json.loads(basket["text"])["basket"]


def tell(sealwax: str, replicas: list[str], clients: list[str]) -> None:
    fleet = Fleet(sealwax, named(replicas))
    with fleet.running:
        print(bold(f"\nA fleet: replicas in {', '.join(fleet.commands)}, one key, every request to the next of them"))
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

        print(bold("\nThe key is rotated while two more users work: the replicas run on, and read a file again"))
        with under_load(fleet, clients) as load:
            fleet.rotate("add")
            old, new = (key_id(sealwax, key) for key in fleet.keys)
            of = {old: "the old key", new: "the new key"}
            fleet.rotate("promote")
            for at, (client, user, kept) in enumerate(ends):
                ends[at] = (client, user, go_on(fleet, client, kept))
            print()
            made = {of[key_id(sealwax, kept[0])] for _, _, kept in ends}
            fleet.told("what they have now is of the new key", made == {"the new key"}, made)
            # An operator asks the metrics; here the proxy sees every token.
            while not load.failed and {of[key] for key in load.keys_in_use()} != {"the new key"}:
                time.sleep(0.2)
            fleet.told("the two others bring no token of the old one any more", not load.failed, load.failed)
            fleet.rotate("retire")
            for at, (client, user, kept) in enumerate(ends):
                ends[at] = (client, user, go_on(fleet, client, kept, pages=False))
        print()
        fleet.told(
            f"{load.requests} requests of the two others meanwhile, and none refused", not load.failed, load.failed
        )

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
        refusals = {json.dumps(bob.call("add_to_basket", basket=basket[0], item="x")) for _ in fleet.commands}
        refusals |= {
            json.dumps(alice.call("add_to_basket", basket=basket[0][:-1] + "-", item="x")) for _ in fleet.commands
        }
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
    (command, *servers), official = groups(sys.argv[1:])
    tell(command, servers, official)
