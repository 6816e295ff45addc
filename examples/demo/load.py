"""Users that go on working while something happens to the fleet."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from contextlib import contextmanager
from http.client import HTTPResponse
from threading import Event, Thread

from fleet import Client, Fleet
from proxy import RoundRobin
from servers import Server, key_id

TOKEN = re.compile(rb"sw1\.[\w-]+")


class Load(RoundRobin):
    """Passes the users' requests on, and keeps the tokens that they bring."""

    def __init__(self, fleet: Fleet) -> None:
        super().__init__(fleet.proxy.servers, lambda *_: None)
        self.failed: list[object] = []
        self.requests = 0
        self._sealwax = fleet.sealwax
        self._brought: list[bytes] = []

    def _ask(self, command: str, path: str, headers: dict[str, str], body: bytes) -> tuple[Server, HTTPResponse | None]:
        self.requests += 1
        self._brought += TOKEN.findall(body)
        return super()._ask(command, path, headers, body)

    def keys_in_use(self) -> set[str]:
        """Return the ids of the keys of the last tokens that came since this was asked."""
        brought, self._brought = self._brought[-20:], []
        return {key_id(self._sealwax, token.decode()) for token in brought}

    def work(self, client: Client, over: Event) -> None:
        """Fill a basket, turn pages and answer questions, with what the last step gave."""
        kept, cursor = client.call("new_basket"), None
        while not over.is_set():
            basket = json.loads(kept["text"])
            steps = {"basket": basket["basket"], "item": f"item {len(basket['items'])}"}
            kept = client.call("new_basket") if len(basket["items"]) > 9 else client.call("add_to_basket", **steps)
            page = client.ask(page=cursor)
            cursor = page.get("nextCursor")
            asked = client.call("delete_note", id=25)
            told = client.answer({"confirm": False})
            if kept.get("isError") or "items" not in page or "asked" not in asked or told["text"] != "note 25 kept":
                self.failed += [kept, page, asked, told]
                return
            over.wait(0.2)


@contextmanager
def under_load(fleet: Fleet, commands: list[str]) -> Iterator[Load]:
    """Let users work, by each of the clients, until the end of the block."""
    over = Event()
    with Load(fleet) as load:
        clients = [Client(f"client {n}", command, load.url, f"user {n}") for n, command in enumerate(commands)]
        threads = [Thread(target=load.work, args=[client, over]) for client in clients]
        for thread in threads:
            thread.start()
        try:
            yield load
        finally:
            over.set()
            for thread in threads:
                thread.join()
            for client in clients:
                client.end()
