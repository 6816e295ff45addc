"""What remembers in one process: fairly, and until nothing opens any longer."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING, Any

import pytest
import wire
from carriers import CARRIERS, Handle, HandleState, RequestState, view
from shop import codec
from test_data_layer import ask, call, created
from test_data_layer import served as served_with_sessions
from test_guard import KEYS, SYSTEMS, served

import sealwax
from sealwax.mcp import AcceptUnavailable, Presented, Principal, SingleUse

if TYPE_CHECKING:
    from collections.abc import Iterator

pytestmark = pytest.mark.anyio
NEVER = None


def presented(kind: Any, whose: str | None, end: int | None = NEVER) -> Iterator[Presented]:
    number = 0
    while True:
        number += 1
        principal = None if whose is None else Principal(subject=whose)
        yield Presented(kind, f"{kind} {whose} {number}", principal, end)


def filled(once: SingleUse, ids: Iterator[Presented], *, ends: bool) -> int:
    """Have as many remembered as there is room for, and return how many that were."""
    for number, one in enumerate(ids):
        try:
            if ends:
                once.ended(one)
            else:
                assert once.accept(one)
        except AcceptUnavailable:
            return number
        # Whatever else was remembered, this one is.
        assert not once.accept(one)
    raise AssertionError


@pytest.mark.parametrize("ends", [True, False])
@pytest.mark.parametrize("whose", [None, "alice"])
def test_one_principal_fills_half_and_whoever_comes_finds_room(
    ends: bool, whose: str | None
) -> None:
    kind = "session" if ends else "request-state"
    once = SingleUse(capacity=1_000)
    assert filled(once, presented(kind, whose), ends=ends) == 500
    assert filled(once, presented(kind, "bob"), ends=ends) == 250
    assert filled(once, presented(kind, "carol"), ends=ends) == 125
    for newcomer in range(5):
        assert filled(once, presented(kind, f"newcomer {newcomer}"), ends=ends) >= 1


def test_of_two_at_once_each_has_a_third() -> None:
    once, full = SingleUse(capacity=900), set[str]()
    ids = {name: presented("session", name) for name in ("alice", "bob")}
    counts = dict.fromkeys(ids, 0)
    while len(full) < len(ids):
        for name, one in ids.items():
            try:
                once.ended(next(one))
                counts[name] += 1
            except AcceptUnavailable:
                full.add(name)
    assert counts == {"alice": 300, "bob": 300}


def test_what_is_spent_and_what_ended_are_apart() -> None:
    once = SingleUse(capacity=10)
    assert filled(once, presented("session", "alice"), ends=True) == 5
    assert filled(once, presented("request-state", "alice"), ends=False) == 5
    assert once.accept(next(presented("cursor", "alice")))


def test_what_is_over_is_forgotten_first() -> None:
    once, now = SingleUse(capacity=4), int(time.time())
    over, lives = presented("session", "alice", now - 1), presented("handle", "alice", now + 60)
    for one in (next(over), next(over), next(over), next(over)):
        once.ended(one)
    assert filled(once, lives, ends=True) == 2
    with pytest.raises(AcceptUnavailable, match="found 2 of its own that live, and 2 of 4 free"):
        once.ended(next(lives))


@SYSTEMS
async def test_what_accepts_is_told_when_nothing_opens_any_longer(system: str) -> None:
    """Rounded up, and the largest skew later: no replica opens it then."""
    asked: list[Presented] = []

    class Asked(SingleUse):
        def accept(self, presented: Presented, /) -> bool:
            asked.append(presented)
            return super().accept(presented)

        def ended(self, presented: Presented, /) -> None:
            asked.append(presented)

    alice = view(codec(KEYS), wire.principal("alice"))
    async with served(system, accept=Asked()) as of:
        for carrier in CARRIERS:
            asked.clear()
            good = await carrier.good(of.client)
            assert carrier.taken(await carrier.present(of.client, good))
            if isinstance(carrier, Handle):
                await of.client.call_tool(carrier.end, {"handle": good})
            if carrier.kind == "handle":
                ends_at_ms = alice.verify_handle("basket", good, max_age=3600).ends_at_ms
                assert ends_at_ms is not None
                end = -(-ends_at_ms // 1000)
            elif isinstance(carrier, HandleState):
                end = alice.handle_state("order").open(good).expires_at or 0
            elif isinstance(carrier, RequestState):
                context = sealwax.request_context("tools/call", "ask", {"id": 7})
                end = alice.request_state(context).open(good).expires_at or 0
            else:
                end = alice.cursor("resources/list").open(good).expires_at or 0
            assert {one.expires_at for one in asked} == {end + 300}
            assert len(asked) == 1 + isinstance(carrier, Handle)


async def test_one_user_who_ends_sessions_does_not_keep_others_from_it() -> None:
    async with served_with_sessions(guard={"accept": SingleUse(capacity=6)}) as of:
        told = []
        while True:
            session = await created(of.client)
            answer = await ask(of.client, "sessions/delete", session)
            if "error" in answer:
                break
            told.append(session)
        assert answer == sealwax.answer("data-layer", sealwax.InternalError())
        assert len(told) == 3
        # Its own sessions are served, and another's end.
        assert "error" not in await call(of.client, "count", session)
        async with wire.over_http(of.url, "bob", mode="2026-07-28") as bob:
            ended = await created(bob)
            assert "error" not in await ask(bob, "sessions/delete", ended)
            assert "error" in await call(bob, "count", ended)
        assert "error" in await call(of.client, "count", told[0])


@SYSTEMS
async def test_one_user_who_ends_handles_is_served_round_trips(system: str) -> None:
    async with served(system, accept=SingleUse(capacity=2)) as of:
        for failed in (False, True):
            handle = await Handle().good(of.client)
            ended = await of.client.call_tool("end", {"handle": handle})
            assert ended.is_error is failed
        carrier = RequestState()
        state = await carrier.good(of.client)
        assert carrier.taken(await carrier.present(of.client, state))
        assert of.codes == ["accept_unavailable"]
