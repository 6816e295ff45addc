import asyncio

from errand import ARGUMENTS, COMMAND, ENV, URL, errand, of
from mcp import ClientSession, StdioServerParameters
from mcp.client.stdio import stdio_client
from mcp.client.streamable_http import streamablehttp_client


async def main() -> None:
    stdio = StdioServerParameters(command=COMMAND, args=ARGUMENTS, env=ENV)
    async with (
        streamablehttp_client(URL) if URL else stdio_client(stdio) as (read, write, *_),
        ClientSession(read, write) as session,
    ):
        await session.initialize()
        await errand(of(session))


asyncio.run(main())
