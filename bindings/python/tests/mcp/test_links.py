"""Links, handles and the cursors of tools, in the manners of Python."""

from __future__ import annotations

from typing import Any

import pytest
import shop
import wire
from guarded import KEYS
from ledgers import Wrapped, memory
from lone import SYSTEMS, Lone

import sealwax
from sealwax.mcp import (
    Guard,
    HandleRefused,
    LinkRefused,
    OpenedLink,
    Principal,
    Refusal,
    principal_from_access_token,
)

pytestmark = pytest.mark.anyio


def guard(**options: Any) -> Guard:
    return Guard(codec=shop.codec(KEYS), principal=principal_from_access_token, **options)


@pytest.mark.parametrize("system", SYSTEMS)
async def test_a_link_of_a_tool_is_opened_at_any_route_by_its_user_alone(system: str) -> None:
    made = guard()
    reports = made.links("report", ttl=900)

    async def it(ctx: Any) -> Any:
        assert await made.position(ctx) is None
        return {"link": await reports.seal(ctx, {"id": 7}), "cursor": await made.cursor(ctx, 20)}

    with wire.listening(wire.app(system, None, where=Lone(made, it))) as url:
        async with wire.over_http(url, "alice") as client:
            told: Any = (await client.call_tool("it", {})).structured_content
    found = await guard().links("report").open(told["link"])
    assert isinstance(found.principal, Principal)
    assert found == OpenedLink({"id": 7}, found.principal, found.id)
    assert len(found.id) == 32
    assert "value" not in repr(found)
    assert await reports.open(told["link"], by=found.principal) == found
    with pytest.raises(LinkRefused, match=r"^Not found$") as refused:
        await reports.open(told["link"], by="anonymous")
    assert refused.value.status == 404
    assert isinstance(refused.value.__cause__, sealwax.PrincipalMismatch)
    with pytest.raises(LinkRefused, match=r"^Not found$"):
        await reports.open(told["cursor"])


async def test_nobody_is_not_anybody() -> None:
    reports = guard().links("report")
    with pytest.raises(sealwax.InvalidArgument, match=r"^by: expected the user who is signed in"):
        await reports.open("", by=None)  # type: ignore[arg-type]
    with pytest.raises(TypeError, match=r"^by: expected a Principal, found str$"):
        await reports.open("", by="alice")  # type: ignore[arg-type]


@pytest.mark.parametrize("consume", [None, "false", 0])
async def test_what_uses_a_link_up_is_a_flag(consume: Any) -> None:
    with pytest.raises(TypeError, match=r"^consume: expected bool, found "):
        await guard().links("report").open("", consume=consume)


@pytest.mark.parametrize("sent", [None, b"sw1.", 7, ["sw1."], "\ud800"])
async def test_what_is_no_text_is_not_found(sent: object) -> None:
    with pytest.raises(LinkRefused, match=r"^Not found$"):
        await guard().links("report").open(sent)


async def test_mistakes_are_told_at_set_up() -> None:
    for name, ttl in (("Report", 900), ("report", 0)):
        with pytest.raises(sealwax.InvalidArgument):
            guard().links(name, ttl=ttl)
    no: Any = "no"
    with pytest.raises(TypeError, match=r"^once: expected bool, found str$"):
        guard().links("report", once=no)
    with pytest.raises(TypeError, match=r"^single_use: expected bool, found str$"):
        guard().self_contained_handles("basket", single_use=no)


@pytest.mark.parametrize("system", SYSTEMS)
async def test_a_short_handle_is_of_a_whole_number(system: str) -> None:
    made = guard()
    rows = made.reference_handles("row")
    wrong: list[Any] = [-1, 1 << 32, 7.0, True, "7", None]

    async def it(ctx: Any) -> Any:
        for number in wrong:
            with pytest.raises(sealwax.InvalidArgument, match=r"^number: expected a whole number"):
                await rows.mint_short(ctx, number)
        handle = await rows.mint_short(ctx, 7)
        return {"handle": handle, "number": await rows.check_short(ctx, handle)}

    with wire.listening(wire.app(system, None, where=Lone(made, it))) as url:
        async with wire.over_http(url, "alice") as client:
            told: Any = (await client.call_tool("it", {})).structured_content
    assert told["handle"].startswith("row_7_")
    assert told["number"] == 7


@pytest.mark.parametrize("value", [float("nan"), object()])
async def test_what_json_cannot_hold_is_reported(value: Any) -> None:
    refusals: list[Refusal] = []
    made = guard(on_refused=refusals.append)
    baskets, reports = made.self_contained_handles("basket"), made.links("report")

    async def it(ctx: Any) -> Any:
        for sealed in (baskets.seal(ctx, value), reports.seal(ctx, value), made.cursor(ctx, value)):
            with pytest.raises(HandleRefused, match="server failed"):
                await sealed
        with pytest.raises((sealwax.InvalidArgument, TypeError), match="JSON"):
            made.state(ctx, value)
        return {}

    with wire.listening(wire.app("mcpserver", None, where=Lone(made, it))) as url:
        async with wire.over_http(url, "alice") as client:
            assert not (await client.call_tool("it", {})).is_error
    kinds = [(refusal.code, refusal.kind) for refusal in refusals]
    ours = ("handle-state", "link", "cursor", "request-state")
    assert kinds == [("invalid_argument", kind) for kind in ours]


async def test_links_open_the_ledger_once() -> None:
    ledger = Wrapped(memory())
    made = guard(ledger=ledger)

    async def it(ctx: Any) -> Any:
        return {"link": await made.links("report").seal(ctx, 7)}

    with wire.listening(wire.app("mcpserver", None, where=Lone(made, it))) as url:
        async with wire.over_http(url, "alice") as client:
            told: Any = (await client.call_tool("it", {})).structured_content
    ledger.asked.clear()
    for _ in range(2):
        await made.links("report").open(told["link"])
    assert [command["script"] for command in ledger.asked] == ["open", "admit", "admit"]
