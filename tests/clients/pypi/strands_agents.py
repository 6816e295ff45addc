import asyncio
from uuid import uuid4

from errand import ARGUMENTS, COMMAND, ENV, URL, Client, errand
from mcp import StdioServerParameters
from mcp.client.stdio import stdio_client
from mcp.client.streamable_http import streamable_http_client
from strands.tools.mcp import MCPClient


def connection():
    if URL:
        return streamable_http_client(URL)
    return stdio_client(StdioServerParameters(command=COMMAND, args=ARGUMENTS, env=ENV))


async def main() -> None:
    with MCPClient(connection) as client:

        async def tools():
            return [tool.tool_name for tool in client.list_tools_sync()]

        async def call(name, arguments):
            result = await client.call_tool_async(str(uuid4()), name, arguments)
            return result["content"][0]["text"]

        async def page(cursor):
            found = client.list_resources_sync(cursor)
            return [str(it.uri) for it in found.resources], found.next_cursor

        async def read(uri):
            return client.read_resource_sync(uri).contents[0].text

        await errand(Client(tools, call, page, read))


asyncio.run(main())
