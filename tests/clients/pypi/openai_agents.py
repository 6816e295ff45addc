import asyncio

from agents.mcp import MCPServerStdio, MCPServerStreamableHttp
from errand import ARGUMENTS, COMMAND, ENV, URL, Client, errand, text_of


async def main() -> None:
    stdio = {"command": COMMAND, "args": ARGUMENTS, "env": ENV}
    async with MCPServerStreamableHttp({"url": URL}) if URL else MCPServerStdio(stdio) as server:

        async def tools():
            return [tool.name for tool in await server.list_tools()]

        async def call(name, arguments):
            return text_of(await server.call_tool(name, arguments))

        async def page(cursor):
            found = await server.list_resources(cursor)
            return [str(it.uri) for it in found.resources], getattr(found, "next_cursor", None)

        async def read(uri):
            return (await server.read_resource(uri)).contents[0].text

        await errand(Client(tools, call, page, read))


asyncio.run(main())
