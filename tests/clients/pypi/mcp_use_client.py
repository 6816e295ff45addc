import asyncio

from errand import ARGUMENTS, COMMAND, ENV, URL, Client, errand, text_of
from mcp_use import MCPClient


async def main() -> None:
    server = {"url": URL} if URL else {"command": COMMAND, "args": ARGUMENTS, "env": ENV}
    client = MCPClient.from_dict({"mcpServers": {"it": server}})
    session = await client.create_session("it")

    async def tools():
        return [tool.name for tool in await session.list_tools()]

    async def call(name, arguments):
        return text_of(await session.call_tool(name, arguments))

    async def page(_cursor):
        return [str(it.uri) for it in await session.list_resources()], None

    async def read(uri):
        return (await session.read_resource(uri)).contents[0].text

    await errand(Client(tools, call, page, read))
    await client.close_all_sessions()


asyncio.run(main())
