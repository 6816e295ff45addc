"""Links, handles and the cursors of tools, in the manners of Python."""

from __future__ import annotations

from typing import Any

import pytest
from shop import ALL, guard, served

import sealwax
from sealwax.mcp import HandleRefused, LinkRefused, OpenedLink, Principal

pytestmark = pytest.mark.anyio


@ALL
async def test_a_link_of_a_tool_is_opened_at_any_route_by_its_user_alone(system: str) -> None:
    async def it(ctx: Any) -> Any:
        assert await of.guard.position(ctx) is None
        link = await of.guard.links("report", ttl=900).seal(ctx, {"id": 7})
        return {"link": link, "cursor": await of.guard.cursor(ctx, 20)}

    async with served(system, it) as of:
        told: Any = (await of.client.call_tool("it", {})).structured_content
    found = await guard().links("report").open(told["link"])
    assert isinstance(found.principal, Principal)
    assert found == OpenedLink({"id": 7}, found.principal, found.id)
    assert len(found.id) == 32
    assert "value" not in repr(found)
    reports = of.guard.links("report")
    assert await reports.open(told["link"], by=found.principal) == found
    with pytest.raises(LinkRefused, match=r"^Not found$") as refused:
        await reports.open(told["link"], by="anonymous")
    assert refused.value.status == 404
    assert isinstance(refused.value.__cause__, sealwax.PrincipalMismatch)
    for sent in (told["cursor"], None, b"sw1.", 7, ["sw1."], "\ud800"):
        with pytest.raises(LinkRefused, match=r"^Not found$"):
            await reports.open(sent)


async def test_the_cause_of_a_refused_cursor_has_its_code() -> None:
    causes = list[Any]()

    async def it(ctx: Any, cursor: str | None = None, n: float = 1) -> Any:
        try:
            await of.guard.position(ctx, list="v2")
            return {"cursor": await of.guard.cursor(ctx, 20, list="v1")}
        except HandleRefused as refused:
            causes.append(refused.__cause__)
            return {}

    async with served("mcpserver", it) as of:
        told: Any = (await of.client.call_tool("it", {})).structured_content
        await of.client.call_tool("it", told)
        await of.client.call_tool("it", {"n": 1e300})
    assert [cause.code for cause in causes] == ["stale", "invalid_request"]
    for cause in causes:
        assert sealwax.answer("cursor", cause) == sealwax.answer("cursor")


async def test_mistakes_are_told() -> None:
    """Nobody is not anybody, and what uses a link up is a flag."""
    made = guard()
    reports = made.links("report")
    consume: Any
    with pytest.raises(sealwax.InvalidArgument, match=r"^by: expected the user who is signed in"):
        await reports.open("", by=None)  # type: ignore[arg-type]
    with pytest.raises(TypeError, match=r"^by: expected a Principal, found str$"):
        await reports.open("", by="alice")  # type: ignore[arg-type]
    for consume in (None, "false", 0):
        with pytest.raises(TypeError, match=r"^consume: expected bool, found "):
            await reports.open("", consume=consume)
    for name, ttl in (("Report", 900), ("report", 0)):
        with pytest.raises(sealwax.InvalidArgument):
            made.links(name, ttl=ttl)
    no: Any = "no"
    with pytest.raises(TypeError, match=r"^once: expected bool, found str$"):
        made.links("report", once=no)
    with pytest.raises(TypeError, match=r"^single_use: expected bool, found str$"):
        made.self_contained_handles("basket", single_use=no)


async def test_a_short_handle_is_of_a_whole_number() -> None:
    wrong: list[Any] = [-1, 1 << 32, 7.0, True, "7", None]

    async def it(ctx: Any) -> Any:
        for number in wrong:
            with pytest.raises(sealwax.InvalidArgument, match=r"^number: expected a whole number"):
                await of.shop.rows.mint_short(ctx, number)
        return {"handle": await of.shop.rows.mint_short(ctx, 7)}

    async with served("mcpserver", it) as of:
        told: Any = (await of.client.call_tool("it", {})).structured_content
    assert told["handle"].startswith("basket_7_")


@pytest.mark.parametrize("value", [float("nan"), object()])
async def test_what_json_cannot_hold_is_reported(value: Any) -> None:
    async def it(ctx: Any) -> Any:
        made = of.guard
        for sealed in (
            of.shop.held.seal(ctx, value),
            made.links("report").seal(ctx, value),
            made.cursor(ctx, value),
        ):
            with pytest.raises(HandleRefused, match="server failed"):
                await sealed
        with pytest.raises((sealwax.InvalidArgument, TypeError), match="JSON"):
            made.state(ctx, value)
        return {}

    async with served("mcpserver", it) as of:
        assert not (await of.client.call_tool("it", {})).is_error
    ours = ("handle-state", "link", "cursor", "request-state")
    found = [(refusal.code, refusal.kind) for refusal in of.refusals]
    assert found == [("invalid_argument", kind) for kind in ours]
