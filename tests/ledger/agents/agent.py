"""Runs commands at a ledger: reads a JSON command a line, and writes a JSON reply a line.

Usage: agent.py redis://HOST:PORT[?cluster] | sqlite:PATH | memory

LEDGER_CLIENT names another client's package: `valkey` here, `redis` in TypeScript.

A reply is an array of texts, or `{"failed": "…"}`. What takes longer than a second has failed: a guard gives it 300 ms,
which a test on a busy machine cannot.
"""

import importlib
import json
import os
import sys

import anyio
import sealwax.ledger

TIMEOUT = 1


def made(address: str) -> sealwax.ledger.Ledger:
    if address == "memory":
        return sealwax.ledger.Memory()
    if address.startswith("sqlite:"):
        return sealwax.ledger.SQLite(address.removeprefix("sqlite:"))
    url, _, cluster = address.partition("?")
    name = os.environ.get("LEDGER_CLIENT", "redis")
    client = getattr(importlib.import_module(f"{name}.asyncio"), name.capitalize() + ("Cluster" if cluster else ""))
    return sealwax.ledger.Redis(client.from_url(url))


async def main(address: str) -> None:
    ledger = None
    # Meanwhile the client may notice that a connection is over.
    while line := await anyio.to_thread.run_sync(sys.stdin.readline):
        try:
            ledger = ledger or made(address)
            with anyio.fail_after(TIMEOUT):
                reply = await ledger.run(json.loads(line))
        except Exception as error:
            reply = {"failed": f"{type(error).__name__}: {error}"}
        print(json.dumps(reply), flush=True)


if __name__ == "__main__":
    anyio.run(main, sys.argv[1])
