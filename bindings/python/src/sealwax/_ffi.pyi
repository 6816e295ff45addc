"""The C library's declarations, parsed: hatch_build.py generates this module."""

from typing import Any

ffi: Any
