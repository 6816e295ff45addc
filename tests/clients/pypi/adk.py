import asyncio

from errand import ARGUMENTS, COMMAND, ENV, URL, Client, errand
from google.adk.tools.mcp_tool import McpToolset, StdioConnectionParams, StreamableHTTPConnectionParams
from mcp import StdioServerParameters


async def main() -> None:
    stdio = StdioServerParameters(command=COMMAND, args=ARGUMENTS, env=ENV)
    where = StreamableHTTPConnectionParams(url=URL) if URL else StdioConnectionParams(server_params=stdio)
    toolset = McpToolset(connection_params=where)

    async def tools():
        return [tool.name for tool in await toolset.get_tools()]

    async def call(name, arguments):
        (tool,) = [tool for tool in await toolset.get_tools() if tool.name == name]
        result = await tool.run_async(args=arguments, tool_context=None)
        return result["content"][0]["text"] if "content" in result else str(result)

    async def page(_cursor):
        return await toolset.list_resources(), None

    async def read(uri):
        # It knows resources by their names alone.
        (name,) = [name for name in await toolset.list_resources() if name.endswith(uri.replace("note:///", " "))]
        return (await toolset.read_resource(name))[0].text

    await errand(Client(tools, call, page, read))
    await toolset.close()


asyncio.run(main())
