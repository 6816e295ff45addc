import asyncio

from errand import ARGUMENTS, COMMAND, ENV, URL, Client, errand, text_of
from fastmcp import Client as FastMCPClient
from fastmcp.client.transports import StdioTransport


async def main() -> None:
    async with FastMCPClient(URL or StdioTransport(COMMAND, ARGUMENTS, env=ENV)) as client:

        async def tools():
            return [tool.name for tool in await client.list_tools()]

        async def call(name, arguments):
            return text_of(await client.call_tool(name, arguments))

        async def page(cursor):
            found = await client.list_resources_mcp(cursor=cursor)
            return [str(it.uri) for it in found.resources], found.next_cursor

        async def read(uri):
            return (await client.read_resource(uri))[0].text

        await errand(Client(tools, call, page, read))


asyncio.run(main())
