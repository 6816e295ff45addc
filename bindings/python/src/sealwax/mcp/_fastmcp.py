"""What FastMCP needs: it takes every exception for a tool's own, but for those it knows."""

from fastmcp.exceptions import ToolError

from ._refusal import HandleRefused


class FastMCPHandleRefused(HandleRefused, ToolError):
    """A refused handle that FastMCP turns into a tool result of its text and nothing else."""
