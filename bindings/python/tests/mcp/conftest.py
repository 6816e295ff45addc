from __future__ import annotations

from typing import TYPE_CHECKING, Any

import ledgers
import pytest
from ledgers import SHARED, Store

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path


@pytest.fixture
def anyio_backend() -> str:
    return "asyncio"


@pytest.fixture(scope="session")
def valkey() -> Iterator[int]:
    """The port of a Valkey."""
    with ledgers.valkey() as server:
        yield server.port


@pytest.fixture(params=SHARED)
def shared(request: Any, valkey: int, tmp_path: Path) -> Store:
    """A store of several processes."""
    return Store(request.param, valkey, tmp_path)
