"""What hatch_build.py generates: the C library's declarations, parsed."""

from typing import Any

ffi: Any
