import asyncio

from agent_framework import MCPStdioTool, MCPStreamableHTTPTool
from errand import ARGUMENTS, COMMAND, ENV, URL, Client, errand


async def main() -> None:
    where = MCPStreamableHTTPTool("it", URL) if URL else MCPStdioTool("it", COMMAND, args=ARGUMENTS, env=ENV)
    async with where as client:

        async def tools():
            return [function.name for function in client.functions]

        async def call(name, arguments):
            return (await client.call_tool(name, **arguments))[0].text

        await errand(Client(tools, call))


asyncio.run(main())
