"""A client program as people write it: it starts the server that its arguments name, asks, and
reads the answer from the text of the tool's result.
"""

# ruff: noqa: T201

import asyncio
import json
import os
import sys

from mcp import ClientSession, StdioServerParameters
from mcp.client.stdio import stdio_client


async def main() -> None:
    """Ask one question and print what came of it."""
    server = StdioServerParameters(command=sys.argv[1], args=sys.argv[2:-1], env=dict(os.environ))
    async with stdio_client(server) as (read, write), ClientSession(read, write) as session:
        await session.initialize()
        result = await session.call_tool(
            "agentic_search",
            {"query": sys.argv[-1], "completeness_threshold": 0.7, "max_iterations": 2},
        )
        data = json.loads(result.content[0].text)
        if data["success"]:
            print(f"Completeness: {data['completeness']:.0%}")
            for i in range(len(data["results"])):
                print(f"{i + 1}. {data['results'][i]['title']}")
                print(f"   {data['results'][i]['url']}")
                print(f"   {data['results'][i]['content'][:500]}")
            print(data["report"])
            print(f"Session: {data['session_id']}")


asyncio.run(main())
