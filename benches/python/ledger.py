"""What a ledger costs, with the store at an address.

ledger.py STORE FOLDER [quick]
ledger.py STORE serve

FOLDER is for a file of SQLite. With `serve` it serves as fast as it can when it is told to. Prints a JSON object a line
(benches/ledger/run.py says which).
"""

from __future__ import annotations

import gc
import json
import logging
import pathlib
import secrets
import sys
import time
from contextlib import AsyncExitStack
from itertools import count
from time import perf_counter_ns
from typing import TYPE_CHECKING, Any, NamedTuple

import anyio
import anyio.to_thread
import redis.asyncio
import sealwax.ledger
from guard import ARGUMENTS, META, SESSION, Ours, low_level, mcpserver
from key_value.aio.stores.redis import RedisStore
from mcp.shared.memory import create_client_server_memory_streams
from mcp.shared.message import SessionMessage
from mcp_types import JSONRPCRequest

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable

    Call = Callable[[], Awaitable[None]]
    Ask = Callable[[str, dict[str, Any]], Awaitable[dict[str, Any]]]

CLOCK_TOLERANCE = 1
LIFE = 900
#: As long as what seals 1 kB.
STATE = "x" * 1400
AT_ONCE = 16
NAMESPACE = secrets.token_hex(8)


class Effort(NamedTuple):
    turns: int
    #: How many calls each makes before.
    warm: int


def told(question: str, case: str, base: str, times: dict[str, list[list[int]]]) -> None:
    row = {"question": question, "language": "python", "case": case, "base": base, "times": times}
    print(json.dumps(row), flush=True)


def key(*parts: str) -> str:
    return ":".join([f"swl1:{{{NAMESPACE}}}", *parts])


BEGAN = [key("began"), key("fence")]


async def begin(store: str) -> None:
    """Have a ledger remember, and wait until what is made from then on is known."""
    async with redis.asyncio.Redis.from_url(store) as client:
        ledger = sealwax.ledger.Redis(client)
        assert (await ledger.run({"script": "open", "keys": BEGAN, "args": []}))[0] == "ok"
    await anyio.sleep(CLOCK_TOLERANCE + 1)


def admit(kind: str, identity: str, mode: str, *details: str) -> dict[str, Any]:
    letter = "h" if mode == "head" else "u"
    keys = [*BEGAN, key("p", secrets.token_hex(16)), key(letter, kind, identity), key("e", kind, identity)]
    now = int(time.time())
    times = map(str, (now, now, now + LIFE))
    return {
        "script": "admit",
        "keys": keys,
        "args": [secrets.token_hex(8), str(CLOCK_TOLERANCE), "0", mode, *times, *details],
    }


async def by_turns(sides: dict[str, Callable[[], Call]], calls: int, effort: Effort) -> dict[str, list[list[int]]]:
    """Return the nanoseconds that pass in each call, of each side, turn by turn.

    A side makes a call, which is what is timed.
    """
    times: dict[str, list[list[int]]] = {name: [] for name in sides}
    names = list(sides)
    for side in sides.values():
        for _ in range(effort.warm):
            await side()()
    gc.collect()
    for turn in range(effort.turns):
        first = turn % len(names)
        for name in names[first:] + names[:first]:
            made = [sides[name]() for _ in range(calls)]
            found = []
            for call in made:
                start = perf_counter_ns()
                await call()
                found.append(perf_counter_ns() - start)
            times[name].append(found)
    return times


# ---- an admission, and its floor ----


async def admission(store: str, effort: Effort) -> None:
    print("python admission", file=sys.stderr)
    async with redis.asyncio.Redis.from_url(store) as client:
        ledger = sealwax.ledger.Redis(client)

        def bare() -> Call:
            name, value = key("u", "f", secrets.token_hex(16)), secrets.token_hex(8)

            async def call() -> None:
                assert await client.set(name, value, nx=True, ex=LIFE)

            return call

        def ours() -> Call:
            command = admit("r", secrets.token_hex(16), "once", "", "", "")

            async def call() -> None:
                assert (await ledger.run(command))[0] == "ok"

            return call

        times = await by_turns({"set": bare, "admit": ours}, 50, effort)
        told("admission", "redis.asyncio", "set", times)


# ---- what a session's store costs that users have today ----


async def today(store: str, effort: Effort) -> None:
    print("python today", file=sys.stderr)
    async with redis.asyncio.Redis.from_url(store, decode_responses=True) as client:
        ledger = sealwax.ledger.Redis(client)
        theirs = RedisStore(client=client)
        await theirs.put("one", {"state": "x" * 1024}, collection="sessions", ttl=LIFE)
        session = secrets.token_hex(16)
        head = [secrets.token_hex(16), 1]

        def their_call() -> Call:
            async def call() -> None:
                found = await theirs.get("one", collection="sessions")
                assert found is not None
                await theirs.put("one", {**found}, collection="sessions", ttl=LIFE)

            return call

        def ours() -> Call:
            following, until = secrets.token_hex(16), str(int(time.time()) + LIFE)

            async def call() -> None:
                token, generation = head
                seen = [token, str(generation)]
                assert (await ledger.run(admit("s", session, "head", *seen, STATE)))[0] == "ok"
                keys = [key("h", "s", session), key("e", "s", session)]
                commit = {"script": "commit", "keys": keys, "args": [*seen, following, until, STATE]}
                assert (await ledger.run(commit))[0] == "ok"
                head[:] = [following, generation + 1]

            return call

        times = await by_turns({"RedisStore": their_call, "ledger": ours}, 25, effort)
        told("today", "RedisStore", "RedisStore", times)


# ---- what an engine adds to a request ----


def engine(name: str, store: str, folder: str) -> dict[str, Any]:
    """Return what a guard is given."""
    if name == "none":
        return {}
    if name == "memory":
        return {"ledger": sealwax.ledger.Memory()}
    if name == "sqlite":
        return {"ledger": sealwax.ledger.SQLite(pathlib.Path(folder, "python.db"))}
    ledger = sealwax.ledger.Redis(redis.asyncio.Redis.from_url(store))
    return {"ledger": ledger, "ledger_options": {"clock_tolerance": CLOCK_TOLERANCE}}


async def connected(stack: AsyncExitStack, request: str, given: dict[str, Any]) -> Ask:
    """Serve in memory; give what sends a request and returns the answer, whatever else is asked meanwhile."""
    by = Ours(sessions=request == "session", **given)
    server = mcpserver(by)
    by.install(server)
    low = low_level(server)
    ours, theirs = await stack.enter_async_context(create_client_server_memory_streams())
    tasks = await stack.enter_async_context(anyio.create_task_group())
    stack.callback(tasks.cancel_scope.cancel)
    tasks.start_soon(low.run, *theirs, low.create_initialization_options())
    reads, writes = ours
    identities = count(1)
    answers: dict[Any, Any] = {}

    async def receive() -> None:
        async for answer in reads:
            waiting, place = answers[answer.message.id]
            place.append(answer.message)
            waiting.set()

    tasks.start_soon(receive)

    async def ask(method: str, params: dict[str, Any]) -> dict[str, Any]:
        params = {**params, "_meta": {**META, **params.get("_meta", {})}}
        identity, waiting, place = next(identities), anyio.Event(), []
        answers[identity] = waiting, place
        await writes.send(SessionMessage(JSONRPCRequest(jsonrpc="2.0", id=identity, method=method, params=params)))
        await waiting.wait()
        del answers[identity]
        if not hasattr(place[0], "result") or place[0].result.get("isError"):
            raise ValueError(f"{method}: {place[0]}")
        return place[0].result

    return ask


async def state_chain(ask: Ask) -> Call:
    first = {"name": "state", "arguments": ARGUMENTS}
    params = first

    async def call() -> None:
        nonlocal params
        # Where it fails, another chain begins.
        asked, params = params, first
        params = {**first, "requestState": (await ask("tools/call", asked))["requestState"]}

    await call()

    return call


async def session_chain(ask: Ask) -> Call:
    held = (await ask("sessions/create", {}))["session"]

    async def call() -> None:
        sent = {name: held[name] for name in ("sessionId", "state")}
        params = {"name": "session", "arguments": ARGUMENTS, "_meta": {SESSION: sent}}
        held.update((await ask("tools/call", params))["_meta"][SESSION])
        assert held["state"] != sent["state"]

    return call


CHAINS = {"state": state_chain, "session": session_chain}


async def chained(stack: AsyncExitStack, request: str, given: dict[str, Any], chains: int = 1) -> list[Call]:
    """Return calls, each with what the answer to the one before has given; as many chains as that."""
    ask = await connected(stack, request, given)
    deadline = time.monotonic() + 10
    logging.disable()
    while True:
        # What was sealed when the ledger was new is not known to it.
        try:
            await (await CHAINS[request](ask))()
            break
        except ValueError:
            if time.monotonic() > deadline:
                raise
            await anyio.sleep(0.2)
    logging.disable(logging.NOTSET)
    return [await CHAINS[request](ask) for _ in range(chains)]


async def added(store: str, folder: str, effort: Effort) -> None:
    for request in CHAINS:
        print(f"python {request}", file=sys.stderr)
        async with AsyncExitStack() as stack:
            sides: dict[str, Callable[[], Call]] = {}
            for name in ("none", "memory", "sqlite", "redis"):
                (call,) = await chained(stack, request, engine(name, store, folder))
                sides[name] = lambda call=call: call
            told("added", request, "none", await by_turns(sides, 10, effort))


# ---- as many as it can, when it is told to: `ENGINE MILLISECONDS` a line, what it did a line back ----


async def serve(store: str) -> None:
    async with AsyncExitStack() as stack:
        sides = {name: await chained(stack, "state", engine(name, store, ""), AT_ONCE) for name in ("none", "redis")}
        logging.disable()
        print("ready", flush=True)
        while line := await anyio.to_thread.run_sync(sys.stdin.readline):
            name, milliseconds = line.split()
            served, failed, start = 0, 0, time.perf_counter()

            async def one(call: Call, end: float = start + int(milliseconds) / 1000) -> None:
                nonlocal served, failed
                while time.perf_counter() < end:
                    try:
                        await call()
                        served += 1
                    except ValueError:
                        # Late, on a machine that is too busy.
                        failed += 1

            async with anyio.create_task_group() as tasks:
                for call in sides[name]:
                    tasks.start_soon(one, call)
            took = time.perf_counter() - start
            print(json.dumps({"per_s": served / took, "failed": failed}), flush=True)


async def main(store: str, folder: str, *quick: str) -> None:
    if folder == "serve":
        return await serve(store)
    effort = Effort(turns=8, warm=10) if quick else Effort(turns=100, warm=200)
    await begin(store)
    await admission(store, effort)
    await today(store, effort)
    await added(store, folder, effort)


if __name__ == "__main__":
    anyio.run(main, *sys.argv[1:])
