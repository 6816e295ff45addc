"""The guard's options, and what goes wrong on the server's side, over HTTP by official clients."""

from __future__ import annotations

import logging
from contextlib import asynccontextmanager
from typing import TYPE_CHECKING, Any

import anyio
import mcp_types as types
import pytest
import shop
import wire
from carriers import CARRIERS, SURE, Cursor, Handle, HandleState, RequestState, outcome, plain
from lone import Lone
from mcp.server.lowlevel import Server

import sealwax
from sealwax.mcp import (
    Guard,
    HandleRefused,
    Presented,
    Principal,
    Refusal,
    principal_from_access_token,
)

if TYPE_CHECKING:
    from collections.abc import AsyncIterator

    from mcp import Client

pytestmark = pytest.mark.anyio
KEYS = str(sealwax.Key.generate().to_text())
SYSTEMS = pytest.mark.parametrize("system", shop.SYSTEMS)


class Served:
    """A shop that is served, what its guard refused, and alice's client."""

    def __init__(self, url: str, of: shop.Shop, refusals: list[Refusal], client: Client) -> None:
        self.url, self.shop, self.refusals, self.client = url, of, refusals, client

    @property
    def codes(self) -> list[str]:
        return [refusal.code for refusal in self.refusals]


@asynccontextmanager
async def served(
    system: str = "mcpserver", *, stateless: bool = True, mode: str = "2026-07-28", **options: Any
) -> AsyncIterator[Served]:
    refusals: list[Refusal] = []
    defaults = {
        "codec": shop.codec(KEYS),
        "principal": principal_from_access_token,
        "on_refused": refusals.append,
    }
    of = shop.Shop(Guard(**{**defaults, **options}))
    with wire.listening(wire.app(system, of, stateless=stateless)) as url:
        async with wire.over_http(url, "alice", mode=mode) as client:
            yield Served(url, of, refusals, client)


@pytest.mark.parametrize("token", [7, True, [], {"v": 1}, ""])
async def test_a_token_that_is_no_text_is_refused_like_any_other(token: Any) -> None:
    async with served() as of:
        call = {"name": "ask", "arguments": {"id": 7}, "requestState": token}
        answers = [
            await wire.raw(of.url, "tools/call", call, name="ask"),
            await wire.raw(of.url, "resources/list", {"cursor": token}),
        ]
        assert [answer["error"] for answer in answers] == [
            RequestState.refusal["error"],
            Cursor.refusal["error"],
        ]
        assert of.codes == ["malformed", "malformed"]
        assert of.shop.ran == []


@SYSTEMS
@pytest.mark.parametrize(
    "gives", ["nothing", "a mapping", "an error", "a claim", "a refusal", "a number"]
)
async def test_nobody_is_never_anonymous(
    system: str, gives: str, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.DEBUG)

    async def principal(_ctx: Any) -> Any:
        if gives == "an error":
            raise KeyError("the credential, which no log may hold")
        if gives == "a refusal":
            # Such as of a token of the server's own: the client's is not refused for it.
            raise sealwax.Expired
        if gives == "a number":
            return Principal(shop.ISSUER, None, 7)  # type: ignore[arg-type]
        if gives == "a claim":
            return sealwax.principal_from_claims({"iss": shop.ISSUER})
        return None if gives == "nothing" else {"subject": "alice"}

    async with served(system, principal=principal) as of:
        told = await RequestState().present(of.client, None)
        assert told == RequestState.internal
        # Lists say who only when there is a cursor.
        assert (await outcome(of.client.session.list_tools()))["tools"]
        assert await Cursor().present(of.client, None) == Cursor.internal
        assert await Cursor().present(of.client, "no token") == Cursor.internal
        assert set(of.codes) == {"invalid_argument"}
        assert all(refusal.principal is None for refusal in of.refusals)
        assert "ask" not in of.shop.ran
        assert "credential" not in str(of.refusals)
    assert "credential" not in caplog.text


async def test_the_principal_is_asked_once_for_a_request() -> None:
    asked: list[str] = []

    async def principal(ctx: Any) -> Principal:
        asked.append(ctx.method)
        await anyio.sleep(0)
        return wire.principal("alice")

    async with served(principal=principal) as of:
        order, cursor = await HandleState().good(of.client), await Cursor().good(of.client)
        asked.clear()
        await of.client.call_tool("add", {"handle": order, "item": "milk"})
        await Cursor().present(of.client, cursor)
        await of.client.session.list_tools()
        assert asked == ["tools/call", "resources/list"]


async def test_a_principal_that_is_not_found_is_looked_for_once() -> None:
    asked: list[str] = []

    def principal(ctx: Any) -> None:
        asked.append(ctx.method)

    async def tools(ctx: Any, _params: Any) -> types.ListToolsResult:
        for _ in range(2):
            with pytest.raises(HandleRefused) as refused:
                await of.rows.mint(ctx)
            assert refused.value.tool_result == Handle.internal
        return types.ListToolsResult(tools=[])

    of = shop.Shop(Guard(codec=shop.codec(KEYS), principal=principal))
    server: Server[Any] = Server("shop", on_list_tools=tools)
    of.guard.protect(server)
    with wire.listening(server.streamable_http_app(stateless_http=True)) as url:
        async with wire.over_http(url, "alice") as client:
            assert (await client.list_tools()).tools == []
    assert asked == ["tools/list"]


@SYSTEMS
async def test_anonymous_by_name(system: str) -> None:
    async with served(system, principal="anonymous") as of:
        for carrier in CARRIERS:
            good = await carrier.good(of.client)
            assert carrier.taken(await carrier.present(of.client, good))
        assert of.refusals == []


@SYSTEMS
async def test_a_stateful_server_of_an_older_revision(system: str) -> None:
    async with served(system, stateless=False, mode="legacy") as of:
        for carrier in (Cursor(), Handle(), HandleState()):
            good = await carrier.good(of.client)
            assert carrier.taken(await carrier.present(of.client, good))


class Deciding:
    """Accepts as it is told, and keeps what it was asked."""

    def __init__(self, answer: Any) -> None:
        self.answer = answer
        self.asked: list[Presented] = []
        self.ends: list[Presented] = []

    async def accept(self, presented: Presented) -> Any:
        self.asked.append(presented)
        return await self.decide()

    async def ended(self, presented: Presented) -> None:
        self.ends.append(presented)
        await self.decide()

    async def decide(self) -> Any:
        if self.answer == "slow":
            await anyio.sleep(30)
        if isinstance(self.answer, Exception):
            raise self.answer
        return self.answer


class Blocking:
    """What a plain function must not do."""

    def accept(self, _presented: Presented) -> bool:
        import time

        time.sleep(0.3)
        return True

    def ended(self, _presented: Presented) -> None:
        """Nothing to do."""


@SYSTEMS
@pytest.mark.parametrize("answer", [True, False, None, "slow", OSError("redis is down")])
async def test_what_accepts_decides_and_fails_closed(system: str, answer: Any) -> None:
    accept = Deciding(answer)
    async with served(system, accept=accept, accept_timeout=0.2) as of:
        for carrier in CARRIERS:
            of.refusals.clear()
            good = await carrier.good(of.client)
            assert of.refusals == []
            told = await carrier.present(of.client, good)
            if answer is True:
                assert carrier.taken(told)
                continue
            code = "not_accepted" if answer is False else "accept_unavailable"
            assert of.codes == [code]
            expected = carrier.refusal if answer is False else carrier.internal
            assert {name: told.get(name) for name in expected} == expected
            assert of.refusals[0].token_id == accept.asked[-1].id
        assert [presented.kind for presented in accept.asked] == [one.kind for one in CARRIERS]
        assert all(one.principal == wire.principal("alice") for one in accept.asked)
        assert all(one.expires_at is not None for one in accept.asked)
        # What is not verified is not asked about.
        accept.asked.clear()
        for carrier in CARRIERS:
            await carrier.present(of.client, "no token")
        assert accept.asked == []


async def test_a_plain_function_that_takes_too_long_is_too_late() -> None:
    async with served(accept=Blocking(), accept_timeout=0.2) as of:
        cursor = await Cursor().good(of.client)
        assert await Cursor().present(of.client, cursor) == Cursor.internal
        assert of.codes == ["accept_unavailable"]


@pytest.mark.parametrize("carrier", [Handle(), HandleState()], ids=["handle", "handle-state"])
async def test_what_accepts_is_told_of_an_end(carrier: Handle) -> None:
    accept = Deciding(True)
    async with served(accept=accept) as of:
        handle = await carrier.good(of.client)
        assert not (await of.client.call_tool(carrier.end, {"handle": handle})).is_error
        await carrier.present(of.client, handle)
        assert accept.ends == accept.asked
        accept.answer = OSError("redis is down")
        told = plain(await of.client.call_tool(carrier.end, {"handle": handle}))
        assert told["content"] == carrier.internal["content"]
        assert (await of.client.call_tool(carrier.end, {"handle": "no token"})).is_error
        assert of.codes == ["accept_unavailable", "malformed"]


async def test_without_what_remembers_nothing_ends() -> None:
    async with served() as of:
        handle = await Handle().good(of.client)
        told = plain(await of.client.call_tool("end", {"handle": handle}))
        assert told["content"] == Handle.internal["content"]
        assert "expected a guard with a ledger or `accept`" in of.refusals[0].message


async def test_a_request_state_lives_as_long_as_its_author_said() -> None:
    async with served(request_state_ttl=1) as of:
        carrier = RequestState()
        late = await carrier.good(of.client)
        await anyio.sleep(1.1)
        assert await carrier.present(of.client, late) == carrier.refusal
        assert of.codes == ["expired"]


@SYSTEMS
async def test_null_is_absent(system: str) -> None:
    """As the SDK takes it, and clients send it."""
    async with served(system) as of:
        call: dict[str, Any] = {"name": "ask", "arguments": {"id": 7}}
        read: dict[str, Any] = {"uri": "secret:///a"}
        for method, params, name in (
            ("tools/call", call, "ask"),
            ("resources/read", read, "secret:///a"),
        ):
            told = await wire.raw(of.url, method, {**params, "requestState": None}, name=name)
            assert told["result"]["resultType"] == "input_required"
        told = await wire.raw(of.url, "resources/list", {"cursor": None})
        assert told["result"]["resources"][0]["uri"] == "item:///0"
        assert of.refusals == []


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
    assert caplog.text.count("on_refused raised") == len(CARRIERS)


async def test_no_log_holds_a_token(caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.DEBUG, "sealwax.mcp")
    async with served(accept=Deciding(False)) as of:
        for carrier in CARRIERS:
            good = await carrier.good(of.client)
            for token in (good, good[:-9], good + "A" * 9_000):
                await carrier.present(of.client, token)
            ours = [record for record in caplog.records if record.name == "sealwax.mcp"]
            assert len(ours) >= 3
            said = " ".join([*(record.getMessage() for record in ours), str(of.refusals)])
            assert good[10:30] not in said
            caplog.clear()


@SYSTEMS
async def test_what_is_too_large_to_seal_does_not_leave(
    system: str, caplog: pytest.LogCaptureFixture
) -> None:
    async with served(system) as of:
        call = of.client.session.call_tool(
            "ask", {"id": 7, "pad": 5_000}, allow_input_required=True
        )
        assert await outcome(call) == RequestState.internal
        order = await of.client.call_tool("seal", {"items": ["x" * 5_000]})
        assert plain(order)["content"] == HandleState.internal["content"]
        assert of.codes == ["too_large", "too_large"]
        assert "at most" in of.refusals[0].message
    assert "xxxxx" not in " ".join(
        record.getMessage() for record in caplog.records if record.name == "sealwax.mcp"
    )


@SYSTEMS
async def test_only_the_named_arguments_bind(system: str) -> None:
    async with served(system, only={"ask": ["id"]}) as of:
        carrier = RequestState()
        state = await carrier.good(of.client)

        async def again(arguments: dict[str, Any]) -> dict[str, Any]:
            call = of.client.session.call_tool(
                "ask",
                arguments,
                input_responses=SURE,
                request_state=state,
                allow_input_required=True,
            )
            return await outcome(call)

        assert "error" not in await again({"id": 7, "pad": 1})
        assert await again({"id": 8}) == carrier.refusal
        # None of the names: nothing to bind to.
        assert (await again({"pad": 1})) == carrier.internal
        assert of.codes == ["unauthentic", "invalid_argument"]


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
async def test_arguments_that_cannot_bind_are_no_secret_of_the_client(system: str) -> None:
    """Beyond 2^53 languages differ: a handler may have them, and a round trip may not."""
    async with served(system) as of:
        call = of.client.session.call_tool("ask", {"id": 2**53}, allow_input_required=True)
        assert await outcome(call) == RequestState.internal
        assert of.codes == ["invalid_argument"]


@SYSTEMS
async def test_each_round_has_a_seal_of_its_own(system: str) -> None:
    async with served(system) as of:
        states = {await RequestState().good(of.client) for _ in range(3)}
        assert len(states) == 3
        assert all(state.startswith("sw1.") for state in states)


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


@SYSTEMS
async def test_a_basket_goes_from_handle_to_handle(system: str) -> None:
    async with served(system) as of:
        first = await HandleState().good(of.client)
        added = await of.client.call_tool("add", {"handle": first, "item": "milk"})
        second = plain(added)["structuredContent"]["handle"]
        told = await HandleState().present(of.client, second)
        assert told["structuredContent"] == {"items": ["tea", "milk"], "generation": 1}
        # The first still holds what it held, and another is apart.
        assert HandleState().taken(await HandleState().present(of.client, first))


async def test_nothing_that_is_sealed_is_read_back(monkeypatch: pytest.MonkeyPatch) -> None:
    """What lives for a second may end before it is read; and what is checked is not sealed."""
    codec = shop.codec(KEYS)

    def never(*_: Any, **__: Any) -> Any:
        raise AssertionError

    with monkeypatch.context() as patched:
        for owner, name in (
            (sealwax.Sealer, "seal"),
            (sealwax.View, "mint_handle"),
            (sealwax.View, "mint_session_id"),
            (sealwax.Sessions, "create"),
        ):
            patched.setattr(owner, name, never)
        guard = Guard(codec=codec, principal="anonymous", request_state_ttl=1)
        forking = Guard(codec=codec, principal="anonymous")
        held, rows = guard.held_handles("order", ttl=1), guard.handles("basket", max_age=1)
        sessions = guard.sessions(held_by_server=True)
        kept = forking.sessions(initial=lambda _ctx: 7, ttl=1)

    async def it(ctx: Any) -> Any:
        order, basket = await held.seal(ctx, 7), await rows.mint(ctx)
        assert (order.expires_at or "")[-1] == (basket.expires_at or "")[-1] == "Z"
        return guard.write_state(ctx, 7) if sessions.of(ctx) is None else None

    async def other(ctx: Any) -> Any:
        return None if kept.of(ctx) is None else 7

    apps = [
        one.asgi(Lone(one, tool).mcpserver(None).streamable_http_app(stateless_http=True), ttl=1)
        for one, tool in ((guard, it), (forking, other))
    ]
    for app in apps:
        with wire.listening(app) as url, monkeypatch.context() as patched:
            for owner, name in (
                (sealwax.Sealer, "open"),
                (sealwax.View, "verify_handle"),
                (sealwax.View, "verify_session_id"),
                (sealwax.Sessions, "open"),
                (sealwax.Sessions, "verify"),
            ):
                patched.setattr(owner, name, never)
            info = {"name": "raw", "version": "0"}
            begin = {"protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": info}
            asked: dict[str, dict[str, Any]] = {
                "tools/call": {"name": "it", "arguments": {}},
                "sessions/create": {},
            }
            for method, params in asked.items():
                told = await wire.raw(url, method, params, name=params.get("name"))
                assert "error" not in told
                assert not told["result"].get("isError")
            told = await wire.raw(url, "initialize", begin, revision="2025-11-25")
            assert "error" not in told


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"principal": "alice"}, "principal: expected a function"),
        ({"principal": None}, "principal: expected a function"),
        ({"accept_timeout": 0}, "accept_timeout: expected over 0 s"),
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


def test_wrong_types_are_type_errors() -> None:
    async def hook(_refusal: Refusal) -> None:
        """Nobody would wait for it."""

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
    with pytest.raises(TypeError, match="server: expected an MCPServer"):
        guard.protect(object())
    for handles in (guard.handles, guard.held_handles):
        with pytest.raises(sealwax.InvalidArgument):
            handles("Basket")
