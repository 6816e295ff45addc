import asyncio

from errand import ARGUMENTS, COMMAND, ENV, URL, Client, errand
from langchain_mcp_adapters.client import MultiServerMCPClient
from langchain_mcp_adapters.resources import load_mcp_resources
from langchain_mcp_adapters.tools import load_mcp_tools


async def main() -> None:
    stdio = {"transport": "stdio", "command": COMMAND, "args": ARGUMENTS, "env": ENV}
    client = MultiServerMCPClient({"it": {"transport": "streamable_http", "url": URL} if URL else stdio})
    async with client.session("it") as session:

        async def tools():
            return [tool.name for tool in await load_mcp_tools(session)]

        async def call(name, arguments):
            (tool,) = [tool for tool in await load_mcp_tools(session) if tool.name == name]
            result = await tool.ainvoke(arguments)
            return result if isinstance(result, str) else result[0]["text"]

        async def read(uri):
            return (await load_mcp_resources(session, uris=[uri]))[0].as_string()

        await errand(Client(tools, call, None, read))


asyncio.run(main())
