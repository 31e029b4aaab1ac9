"""Runs the official Python client of the Model Context Protocol against `epitome mcp` and `/mcp` of `epitome serve`.

    tests/clients/run

Nothing leaves this machine. Exits with 1 at the first thing that is not as it should be.
"""

import asyncio
import json
import os
import re
import subprocess
import sys
import tempfile
import urllib.request

from mcp import ClientSession, StdioServerParameters
from mcp.client.stdio import stdio_client
from mcp.client.streamable_http import create_mcp_http_client, streamable_http_client

EXAMPLE = os.path.join(os.path.dirname(__file__), "..", "..", "examples", "session.jsonl")
TOKEN = "a-token-of-the-service"


def check(what, got, expected):
    if got != expected:
        sys.exit(f"{what}: {got!r} instead of {expected!r}")


async def ask(session, tool, arguments):
    result = await session.call_tool(tool, arguments)
    return bool(result.is_error), "".join(part.text for part in result.content)


async def talk(session, *further):
    """What every way to the tools has to answer about the example session; `further` are the tools behind the first three."""
    await session.initialize()
    tools = (await session.list_tools()).tools
    check("tools", [tool.name for tool in tools], ["search_history", "recall", "context_status", *further])
    failed, text = await ask(session, "search_history", {"queries": ["which partner joins on the fingerprint column?"]})
    check("search", (failed, "HLV-2209" in text), (False, True))
    failed, text = await ask(session, "recall", {"handle": "#0", "limit": 20})
    check("recall", (failed, "characters 0 to 20 of" in text), (False, True))
    failed, text = await ask(session, "context_status", {})
    check("status", (failed, text.startswith("The context holds")), (False, True))
    failed, text = await ask(session, "recall", {"handle": "ffffffff"})
    check("unknown handle", (failed, "Nothing is kept" in text), (True, True))


async def over_stdio(binary, *arguments, further=(), **environment):
    server = StdioServerParameters(command=binary, args=["mcp", *arguments], env={**os.environ, **environment})
    async with stdio_client(server) as (reader, writer), ClientSession(reader, writer) as session:
        await talk(session, *further)


async def over_http(url, headers):
    async with create_mcp_http_client(headers=headers) as client:
        async with streamable_http_client(url, http_client=client) as streams:
            async with ClientSession(streams[0], streams[1]) as session:
                await talk(session, "compact_context")


def imported(base):
    with open(EXAMPLE, "rb") as file:
        request = urllib.request.Request(f"{base}/v1/sessions/import", data=file.read(), headers={
            "authorization": f"Bearer {TOKEN}", "content-type": "application/octet-stream"})
    with urllib.request.build_opener(urllib.request.ProxyHandler({})).open(request) as answer:
        return json.load(answer)["sessions"][0]["id"]


def main():
    binary = os.path.abspath(sys.argv[1])
    asyncio.run(over_stdio(binary, EXAMPLE))
    print("`epitome mcp FILE` answers the protocol's own client")
    service = subprocess.Popen(
        [binary, "serve", "--listen", "127.0.0.1:0", "--store", "sqlite::memory:", "--token-variable", "SERVICE_TOKEN"],
        stderr=subprocess.PIPE, text=True, env={**os.environ, "SERVICE_TOKEN": TOKEN})
    try:
        found = next((m for line in service.stderr if (m := re.search(r"serves on (http://\S+)", line))), None)
        if found is None:
            sys.exit("the service did not start")
        base = found.group(1)
        session = imported(base)
        asyncio.run(over_http(f"{base}/mcp", {"authorization": f"Bearer {TOKEN}", "x-epitome-session": session}))
        print("`/mcp` of the service does so too")
        asyncio.run(over_stdio(binary, "--url", base, "--session", session, "--token-variable", "SERVICE_TOKEN",
                               further=["compact_context"], SERVICE_TOKEN=TOKEN))
        print("and `epitome mcp --url` in front of it")
    finally:
        service.terminate()
        service.wait(timeout=60)


if __name__ == "__main__":
    main()
