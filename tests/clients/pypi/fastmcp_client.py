import asyncio

from errand import ARGUMENTS, COMMAND, ENV, URL, errand, of
from fastmcp import Client as FastMCPClient
from fastmcp.client.transports import StdioTransport


async def main() -> None:
    async with FastMCPClient(URL or StdioTransport(COMMAND, ARGUMENTS, env=ENV)) as client:
        await errand(of(client, lambda cursor: client.list_resources_mcp(cursor=cursor)))


asyncio.run(main())
