"""What a requestState is bound to: a call that has none is bound to nothing."""

from __future__ import annotations

from typing import Any

import mcp_types as types
import pytest
import wire
from guarded import KEYS
from lone import SYSTEMS, Lone
from shop import codec

from sealwax.mcp import Guard, Refusal

pytestmark = pytest.mark.anyio
#: What languages read differently.
UNBINDABLE = [2**53 + 1, 6.02214076e23, "\ud800"]


async def call(url: str, **params: Any) -> dict[str, Any]:
    return await wire.raw(url, "tools/call", {"name": "it", **params}, name="it")


@pytest.mark.parametrize("value", UNBINDABLE)
@pytest.mark.parametrize(
    ("system", "how"), [(system, how) for system in SYSTEMS[:2] for how in ("ours", "plain")]
)
async def test_a_state_that_cannot_be_bound_is_an_error_for_the_model(
    system: str, value: Any, how: str
) -> None:
    refusals: list[Refusal] = []
    guard = Guard(codec=codec(KEYS), principal="anonymous", on_refused=refusals.append)

    async def it(ctx: Any) -> Any:
        state = guard.state(ctx, 7) if how == "ours" else "7"
        return types.InputRequiredResult(request_state=state)

    with wire.listening(wire.app(system, None, where=Lone(guard, it))) as url:
        told = await call(url, arguments={"id": value})
    assert told["result"]["isError"] is True
    text = told["result"]["content"][0]["text"]
    assert text.startswith('Invalid arguments. argument "id": expected')
    (refusal,) = refusals
    assert (refusal.kind, refusal.target) == ("request-state", "it")
    assert 'argument "id": expected' in refusal.message
