import asyncio

from errand import ARGUMENTS, COMMAND, ENV, URL, Client, errand, text_of
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

        async def page(cursor):
            found = await session.list_resources(cursor)
            return [str(it.uri) for it in found.resources], found.nextCursor

        async def tools():
            return [tool.name for tool in (await session.list_tools()).tools]

        async def call(name, arguments):
            return text_of(await session.call_tool(name, arguments))

        async def read_text(uri):
            return (await session.read_resource(uri)).contents[0].text

        await errand(Client(tools, call, page, read_text))


asyncio.run(main())
