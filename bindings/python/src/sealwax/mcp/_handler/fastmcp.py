"""The exceptions for FastMCP, which takes any unknown exception for the tool's own."""

from fastmcp.exceptions import ToolError

from .._refusal import HandleRefused


class FastMCPHandleRefused(HandleRefused, ToolError):
    """A refused handle, which FastMCP turns into a tool result of its text alone."""
