"""What a requestState is bound to: a call that has none is bound to nothing."""

from __future__ import annotations

from typing import Any

import mcp_types as types
import pytest
from shop import SYSTEMS, served

pytestmark = pytest.mark.anyio


@pytest.mark.parametrize("value", [2**53 + 1, "\ud800"])
@pytest.mark.parametrize("system", SYSTEMS[:2])
async def test_a_state_that_cannot_be_bound_is_an_error_for_the_model(
    system: str, value: Any
) -> None:
    async def it(ctx: Any, id: Any = None) -> Any:
        return types.InputRequiredResult(request_state=of.guard.state(ctx, 7))

    async with served(system, it) as of:
        told = await of.raw("tools/call", {"name": "it", "arguments": {"id": value}})
    assert told["result"]["isError"] is True
    text = told["result"]["content"][0]["text"]
    assert text.startswith('Invalid arguments. argument "id": expected')
    (refusal,) = of.refusals
    assert (refusal.kind, refusal.target) == ("request-state", "it")
    assert 'argument "id": expected' in refusal.message
