"""What makes the question of a confirmation."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import TypeAlias

#: Makes the question of a confirmation from a call's arguments, which it gets by their names.
QuestionOf: TypeAlias = Callable[..., "str | Awaitable[str]"]
