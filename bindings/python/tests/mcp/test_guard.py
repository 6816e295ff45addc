"""The guard's options, and what goes wrong on the server's side, over HTTP by official clients."""

from __future__ import annotations

import logging
import time
from typing import Any

import anyio
import pytest
from carriers import CURSOR, HANDLE, HELD, STATE
from environment import at
from ledgers import Wrapped, memory
from mcp import Client
from shop import ALL, Shop, guard, served

import sealwax
from sealwax.mcp import HandleRefused, Principal

pytestmark = pytest.mark.anyio


class Panic(BaseException):
    """As PyO3 raises for a panic of Rust."""


class Mute(sealwax.InvalidArgument):
    def __str__(self) -> str:
        raise Panic("the credential")


#: What is given or raised, and what its refusal says.
NOBODY = [
    (None, ""),
    ({"subject": "alice"}, ""),
    ("anonymous", 'principal="anonymous" in place of a function'),
    (Principal("https://idp.example.com", None, 7), ""),  # type: ignore[arg-type]
    (KeyError("the credential, which no log may hold"), ", found KeyError"),
    # Such as of a token of the server's own: the client's is not refused for it.
    (sealwax.Expired(), ""),
    (Panic("the credential"), ", found Panic"),
    (SystemExit("the credential"), ", found SystemExit"),
    (Mute("the credential"), ", found Mute"),
    (sealwax.InvalidArgument("the credential \ud800"), ", found InvalidArgument"),
]


@pytest.mark.parametrize("waits", [False, True])
@pytest.mark.parametrize(("given", "said"), NOBODY)
async def test_nobody_is_never_anonymous(
    given: Any, said: str, waits: bool, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.DEBUG)

    def at_once(_ctx: Any) -> Any:
        if isinstance(given, BaseException):
            raise given
        return given

    async def later(ctx: Any) -> Any:
        await anyio.sleep(0)
        return at_once(ctx)

    code, answer = "invalid_argument", STATE.internal
    if given is None:
        code = "unauthenticated"
        answer = {"error": {"code": -32602, "message": "Authentication required"}}
    async with served(principal=later if waits else at_once) as of:
        assert await STATE.present(of.client, None) == answer
        assert await CURSOR.present(of.client, None) == answer
        assert await CURSOR.present(of.client, "no token") == answer
    assert of.codes == [code] * 3
    assert all(one.principal is None and said in one.message for one in of.refusals)
    assert of.shop.ran == []
    assert "credential" not in f"{caplog.text}{of.refusals}"


async def test_nor_does_what_the_authors_other_functions_raise_reach_the_client(
    caplog: pytest.LogCaptureFixture,
) -> None:
    def panic(*_: Any) -> Any:
        raise Panic("the credential")

    class Panicking:
        async def run(self, _command: Any) -> Any:
            panic()

    async with served(ledger=Panicking()) as of:
        assert await STATE.present(of.client, await STATE.good(of.client)) == STATE.internal
        assert set(of.codes) == {"ledger_unavailable"}
        assert all(one.message.endswith("found Panic") for one in of.refusals)
    assert "credential" not in caplog.text
    shop = {"sessions": {"initial": panic}}
    async with served(on_refused=panic, on_event=panic, shop=shop) as of:
        assert CURSOR.refused(await CURSOR.present(of.client, "no token"))
        assert STATE.taken(await STATE.present(of.client, await STATE.good(of.client)))
        told = await of.raw("sessions/create")
        assert told["error"] == {"code": -32603, "message": "Internal error"}
    assert "on_refused: expected a function that does not raise, found Panic" in caplog.text


@ALL
async def test_a_stateful_server_of_an_older_revision(system: str) -> None:
    async with served(system, mode="legacy", app={"stateless": False}) as of:
        for carrier in (CURSOR, HANDLE, HELD):
            good = await carrier.good(of.client)
            assert carrier.taken(await carrier.present(of.client, good))


class Deciding(Wrapped):
    """Answers as it is told."""

    answer: Any = None

    async def changed(self, _command: Any, reply: list[str]) -> Any:
        if self.answer == "slow":
            await anyio.sleep(30)
        if self.answer == "blocks":
            # Nothing can interrupt it.
            time.sleep(0.3)
        if isinstance(self.answer, Exception):
            raise self.answer
        return self.answer or reply


@pytest.mark.parametrize("answer", [True, [7], ["yes"], "slow", "blocks", OSError("down")])
async def test_what_a_ledger_fails_at_is_refused(answer: Any) -> None:
    ledger = Deciding(memory())
    async with served(ledger=ledger, time_limit=0.5) as of:
        for carrier in (STATE, HELD):
            good = await carrier.good(of.client)
            ledger.answer = answer
            assert carrier.refused(await carrier.present(of.client, good), internal=True)
            assert set(of.codes) == {"ledger_unavailable"}
            ledger.answer = None


async def hook(_refusal: Any) -> None:
    """Nothing would wait for it."""


@pytest.mark.parametrize(
    ("error", "options", "message"),
    [
        (sealwax.InvalidArgument, {"principal": "alice"}, "principal: expected a function"),
        (sealwax.InvalidArgument, {"time_limit": 0}, "time limit: expected at least a millisecond"),
        (sealwax.InvalidArgument, {"time_limit": float("inf")}, "at most 60 seconds"),
        (sealwax.InvalidArgument, {"request_state_ttl": 0}, "ttl"),
        (sealwax.InvalidArgument, {"only": {"ask": []}}, "at least one of the named"),
        (sealwax.InvalidArgument, {"only": {"ask": ["i\ud800d"]}}, "only|surrogate"),
        (sealwax.InvalidArgument, {"ledger_options": {}}, "ledger_options: expected a ledger"),
        (TypeError, {"codec": "swk1_"}, r"codec: expected a sealwax\.Codec"),
        (TypeError, {"on_refused": hook}, "on_refused: expected a plain function"),
        (TypeError, {"only": {"ask": "id"}}, "only"),
        (TypeError, {"only": {"ask": [7]}}, "only"),
    ],
)
def test_a_mistake_is_told_at_set_up(
    error: type[Exception], options: dict[str, Any], message: str
) -> None:
    with pytest.raises(error, match=message):
        guard(**options)


def test_so_is_one_about_what_a_guard_makes() -> None:
    made = guard()
    with pytest.raises(TypeError, match=r"server: .* found a builtins\.object, and mcp 2\."):
        made.protect(object())
    for handles in (made.reference_handles, made.self_contained_handles):
        with pytest.raises(sealwax.InvalidArgument):
            handles("Basket")


async def test_a_chain_of_self_contained_handles_has_a_maximum_age_and_one_type() -> None:
    made = guard()
    held = made.self_contained_handles("order", ttl=3600, max_age=60)
    now = int(time.time())

    async def it(ctx: Any) -> dict[str, Any]:
        with at(now * 1000):
            sealed = await held.seal(ctx, 7)
            opened = await held.open(ctx, sealed.handle)
            with pytest.raises(TypeError, match="before: expected one of type basket, found order"):
                await made.self_contained_handles("basket").renew(ctx, opened, 8)
        with at((now + 61) * 1000), pytest.raises(HandleRefused) as refused:
            await held.open(ctx, sealed.handle)
        assert isinstance(refused.value.__cause__, sealwax.Expired)
        return {}

    async with Client(Shop(made, it).mcpserver()) as client:
        assert not (await client.call_tool("it", {})).is_error
