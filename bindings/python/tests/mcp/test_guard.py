"""The guard's options, and what goes wrong on the server's side, over HTTP by official clients."""

from __future__ import annotations

import logging
import time
from typing import Any

import anyio
import mcp_types as types
import pytest
import shop
import wire
from carriers import CARRIERS, SURE, Cursor, Handle, HandleState, RequestState, outcome, plain
from environment import at
from guarded import KEYS, SYSTEMS, served
from ledgers import Wrapped, memory
from lone import Lone
from mcp.server.lowlevel import Server

import sealwax
from sealwax.mcp import (
    Guard,
    HandleRefused,
    Principal,
    Refusal,
)

pytestmark = pytest.mark.anyio


@pytest.mark.parametrize(
    "gives", ["nothing", "a mapping", "a text", "an error", "a claim", "a refusal", "a number"]
)
async def test_nobody_is_never_anonymous(gives: str, caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.DEBUG)

    async def principal(_ctx: Any) -> Any:
        if gives == "an error":
            raise KeyError("the credential, which no log may hold")
        if gives == "a refusal":
            # Such as of a token of the server's own: the client's is not refused for it.
            raise sealwax.Expired
        if gives == "a number":
            return Principal(shop.ISSUER, None, 7)  # type: ignore[arg-type]
        if gives == "a text":
            return "anonymous"
        if gives == "a claim":
            return sealwax.principal_from_claims({"iss": shop.ISSUER})
        return None if gives == "nothing" else {"subject": "alice"}

    nobody = {"error": {"code": -32602, "message": "Authentication required"}}
    code, cursors = "invalid_argument", Cursor.internal
    if gives == "nothing":
        code, cursors = "unauthenticated", nobody
    async with served(principal=principal) as of:
        told = await RequestState().present(of.client, None)
        assert told == (nobody if gives == "nothing" else RequestState.internal)
        # Lists say who only when there is a cursor.
        assert (await outcome(of.client.session.list_tools()))["tools"]
        assert await Cursor().present(of.client, None) == cursors
        assert await Cursor().present(of.client, "no token") == cursors
        assert set(of.codes) == {code}
        assert all(refusal.principal is None for refusal in of.refusals)
        if gives == "a text":
            assert 'principal="anonymous" in place of a function' in of.refusals[0].message
        assert "ask" not in of.shop.ran
        assert "credential" not in str(of.refusals)
    assert "credential" not in caplog.text


class Panic(BaseException):
    """As PyO3 raises for a panic of Rust."""


class Mute(sealwax.InvalidArgument):
    def __str__(self) -> str:
        raise Panic("the credential")


@pytest.mark.parametrize(
    ("raised", "said"),
    [
        (Panic("the credential"), "found Panic"),
        (SystemExit("the credential"), "found SystemExit"),
        (Mute("the credential"), "found Mute"),
        (sealwax.InvalidArgument("the credential \ud800"), "found InvalidArgument"),
    ],
)
@pytest.mark.parametrize("waits", [False, True])
async def test_whatever_principal_raises_is_a_refusal(
    raised: BaseException, said: str, waits: bool, caplog: pytest.LogCaptureFixture
) -> None:
    async def later(_ctx: Any) -> None:
        await anyio.sleep(0)
        raise raised

    def at_once(_ctx: Any) -> None:
        raise raised

    async with served(principal=later if waits else at_once) as of:
        assert await RequestState().present(of.client, None) == RequestState.internal
        assert await Cursor().present(of.client, "no token") == Cursor.internal
        assert [one.message.split(", ")[-1] for one in of.refusals] == [said] * 2
    assert "credential" not in caplog.text


async def test_nor_does_what_the_authors_other_functions_raise_reach_the_client(
    caplog: pytest.LogCaptureFixture,
) -> None:
    def panic(*_: Any) -> Any:
        raise Panic("the credential")

    class Panicking:
        async def run(self, _command: Any) -> Any:
            panic()

    async with served(ledger=Panicking()) as of:
        state = await RequestState().good(of.client)
        assert await RequestState().present(of.client, state) == RequestState.internal
        assert set(of.codes) == {"ledger_unavailable"}
        assert all(one.message.endswith("found Panic") for one in of.refusals)
    assert "credential" not in caplog.text
    async with served(on_refused=panic, on_event=panic) as of:
        assert await Cursor().present(of.client, "no token") == Cursor.refusal
        state = await RequestState().good(of.client)
        assert RequestState().taken(await RequestState().present(of.client, state))
    guard = Guard(codec=shop.codec(KEYS), principal="anonymous")
    guard.sessions(initial=panic)
    server = Lone(guard, panic).mcpserver(None)
    with wire.listening(server.streamable_http_app(stateless_http=True)) as url:
        told = await wire.raw(url, "sessions/create", {})
    assert told["error"] == {"code": -32603, "message": "Internal error"}


async def test_a_principal_that_is_not_found_is_looked_for_once() -> None:
    asked: list[str] = []

    def principal(ctx: Any) -> None:
        asked.append(ctx.method)

    async def tools(ctx: Any, _params: Any) -> types.ListToolsResult:
        for _ in range(2):
            with pytest.raises(HandleRefused) as refused:
                await of.rows.mint(ctx)
            (content,) = refused.value.tool_result["content"]
            assert content["text"] == refused.value.error.message == "Authentication required"
        return types.ListToolsResult(tools=[])

    of = shop.Shop(Guard(codec=shop.codec(KEYS), principal=principal))
    server: Server[Any] = Server("shop", on_list_tools=tools)
    of.guard.protect(server)
    with wire.listening(server.streamable_http_app(stateless_http=True)) as url:
        async with wire.over_http(url, "alice") as client:
            assert (await client.list_tools()).tools == []
    assert asked == ["tools/list"]


@SYSTEMS
async def test_a_stateful_server_of_an_older_revision(system: str) -> None:
    async with served(system, stateless=False, mode="legacy") as of:
        for carrier in (Cursor(), Handle(), HandleState()):
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
        for carrier in CARRIERS:
            of.refusals.clear()
            ledger.answer = None
            good = await carrier.good(of.client)
            assert of.refusals == []
            ledger.answer = answer
            told = await carrier.present(of.client, good)
            assert set(of.codes) == {"ledger_unavailable"}
            expected = carrier.internal
            assert {name: told.get(name) for name in expected} == expected
        # What is not verified is not asked about.
        ledger.asked.clear()
        for carrier in CARRIERS:
            await carrier.present(of.client, "no token")
        assert "admit" not in {command["script"] for command in ledger.asked}


async def test_null_reaches_a_handler_as_absent() -> None:
    seen: list[Any] = []

    async def resources(ctx: Any, _params: Any) -> types.ListResourcesResult:
        seen.append(dict(ctx.params))
        return types.ListResourcesResult(resources=[])

    server: Server[Any] = Server("shop", on_list_resources=resources)
    Guard(codec=shop.codec(KEYS), principal="anonymous").protect(server)
    with wire.listening(server.streamable_http_app(stateless_http=True)) as url:
        told = await wire.raw(url, "resources/list", {"cursor": None})
    assert "error" not in told
    assert [sorted(params) for params in seen] == [["_meta"]]


async def test_a_hook_that_raises_changes_nothing(caplog: pytest.LogCaptureFixture) -> None:
    def hook(_refusal: Refusal) -> None:
        raise RuntimeError("the hook's own")

    async with served(on_refused=hook) as of:
        for carrier in CARRIERS:
            told = await carrier.present(of.client, "no token")
            assert {name: told.get(name) for name in carrier.refusal} == carrier.refusal
    expected = "on_refused: expected a function that does not raise, found RuntimeError"
    assert caplog.text.count(expected) == len(CARRIERS)


@SYSTEMS
async def test_arguments_bind_as_they_came(system: str) -> None:
    """`pad` has a default, and a schema makes 7 of "7": neither is what the client sent."""
    async with served(system) as of:
        carrier = RequestState()
        state = await carrier.good(of.client)
        context = sealwax.request_context("tools/call", "ask", {"id": 7})
        view = shop.codec(KEYS).view(**wire.principal("alice")._asdict())
        view.request_state(context).open(state)
        for other in ({"id": 7, "pad": 0}, {"id": "7"}):
            call = of.client.session.call_tool(
                "ask",
                other,
                input_responses=SURE,
                request_state=state,
                allow_input_required=True,
            )
            assert await outcome(call) == carrier.refusal


@SYSTEMS
async def test_prompts_and_resources_have_rounds_too(system: str) -> None:
    async with served(system) as of:
        session = of.client.session
        more: dict[str, Any] = {"allow_input_required": True}
        prompt = "ask" if system == "lowlevel" else "quiz"
        asked = await session.get_prompt(prompt, {"id": "7"}, **more)
        assert isinstance(asked, types.InputRequiredResult)
        retry = {"input_responses": SURE, "request_state": asked.request_state, **more}
        told = plain(await session.get_prompt(prompt, {"id": "7"}, **retry))
        assert '"asked": 7' in told["messages"][0]["content"]["text"]
        other = await outcome(session.get_prompt(prompt, {"id": "8"}, **retry))
        assert other == RequestState.refusal

        asked = await session.read_resource("secret:///a", **more)
        assert isinstance(asked, types.InputRequiredResult)
        retry = {"input_responses": SURE, "request_state": asked.request_state, **more}
        told = plain(await session.read_resource("secret:///a", **retry))
        assert '"asked": 7' in told["contents"][0]["text"]
        other = await outcome(session.read_resource("secret:///b", **retry))
        assert other == RequestState.refusal


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"principal": "alice"}, "principal: expected a function"),
        ({"principal": None}, "principal: expected a function"),
        ({"time_limit": 0}, "time limit: expected at least a millisecond and at most 60 seconds"),
        ({"time_limit": float("inf")}, "time limit: expected at least a millisecond"),
        ({"request_state_ttl": 0}, "ttl"),
        ({"only": {"ask": []}}, "at least one of the named"),
        ({"only": {"ask": ["i\ud800d"]}}, "only|surrogate"),
        ({"only": {"": ["id"]}}, "target"),
    ],
)
def test_a_mistake_is_told_at_set_up(options: dict[str, Any], message: str) -> None:
    given = {"codec": shop.codec(KEYS), "principal": "anonymous", **options}
    with pytest.raises(sealwax.InvalidArgument, match=message):
        Guard(**given)


def test_settings_of_sessions_are_corrected() -> None:
    guard = Guard(codec=shop.codec(KEYS), principal="anonymous")
    with pytest.raises(sealwax.InvalidArgument, match="ttl"):
        guard.sessions(initial=lambda _ctx: 0, ttl=0)
    guard.sessions(initial=lambda _ctx: 0, ttl=60)
    with pytest.raises(sealwax.InvalidArgument, match="found a second time"):
        guard.sessions(initial=lambda _ctx: 0)


def test_wrong_types_are_type_errors() -> None:
    async def hook(_refusal: Refusal) -> None:
        """Nothing would wait for it."""

    anything: Any = KEYS
    with pytest.raises(TypeError, match=r"codec: expected a sealwax\.Codec"):
        Guard(codec=anything, principal="anonymous")
    with pytest.raises(TypeError, match="on_refused: expected a plain function"):
        Guard(codec=shop.codec(KEYS), principal="anonymous", on_refused=hook)  # type: ignore[arg-type]
    wrong: Any
    for wrong in ({"ask": "id"}, {"ask": [7]}, {"ask": 7}):
        with pytest.raises(TypeError):
            Guard(codec=shop.codec(KEYS), principal="anonymous", only=wrong)
    guard = Guard(codec=shop.codec(KEYS), principal="anonymous")
    with pytest.raises(TypeError, match=r"server: .* found a builtins\.object, and mcp 2\."):
        guard.protect(object())
    for handles in (guard.reference_handles, guard.self_contained_handles):
        with pytest.raises(sealwax.InvalidArgument):
            handles("Basket")


@SYSTEMS
async def test_a_state_with_an_input_that_nothing_can_be_bound_to_is_the_clients(
    system: str, caplog: pytest.LogCaptureFixture
) -> None:
    """It is said with the tool and the caller, and no handler runs."""
    async with served(system) as of:
        params = {"name": "ask", "arguments": {"id": 2**53 + 1}, "requestState": "sw1.x"}
        told = await wire.raw(of.url, "tools/call", params, name="ask")
        assert told["result"]["isError"] is True
        assert 'argument "id": expected' in told["result"]["content"][0]["text"]
        (refusal,) = of.refusals
        assert (refusal.code, refusal.kind) == ("invalid_request", "request-state")
        assert (refusal.method, refusal.target) == ("tools/call", "ask")
        assert refusal.principal == wire.principal("alice")
        assert 'argument "id": expected' in refusal.message
        assert of.shop.ran == []
    assert 'kind=request-state method="tools/call" target="ask" issuer=' in caplog.text
    assert 'subject="alice"' in caplog.text


async def test_a_chain_of_self_contained_handles_has_a_maximum_age() -> None:
    """However often they were renewed, and each with a lifetime of its own."""
    guard = Guard(codec=shop.codec(KEYS), principal="anonymous")
    held = guard.self_contained_handles("order", ttl=3600, max_age=60)
    now, seen = int(time.time()), list[Any]()

    async def it(ctx: Any) -> dict[str, Any]:
        with at(now * 1000):
            opened = await held.open(ctx, (await held.seal(ctx, 7)).handle)
        with at((now + 59) * 1000):
            second = await held.renew(ctx, opened, 8)
            seen.append((await held.open(ctx, second.handle)).value)
        with at((now + 61) * 1000):
            with pytest.raises(HandleRefused) as refused:
                await held.open(ctx, second.handle)
            seen.append(type(refused.value.__cause__))
        return {}

    server = Lone(guard, it).mcpserver(None)
    with wire.listening(server.streamable_http_app(stateless_http=True)) as url:
        async with wire.over_http(url, "alice", mode="2026-07-28") as client:
            assert not (await client.call_tool("it", {})).is_error
    assert seen == [8, sealwax.Expired]
