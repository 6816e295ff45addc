from __future__ import annotations

from typing import TYPE_CHECKING

import ledgers
import pytest

if TYPE_CHECKING:
    from collections.abc import Iterator


@pytest.fixture
def anyio_backend() -> str:
    return "asyncio"


@pytest.fixture(scope="session")
def valkey() -> Iterator[int]:
    """The port of a Valkey."""
    with ledgers.valkey() as server:
        yield server.port
