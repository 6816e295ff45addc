"""The guard at servers of mcp 1, and of the FastMCP that stands on it: by public members alone."""
