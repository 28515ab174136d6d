"""What our stdio does by itself holds for in-process and HTTP servers too."""

from __future__ import annotations

import asyncio
import json

import pytest
from mcp import MCPError
from mcp.client.streamable_http import streamable_http_client
from mcp.server import MCPServer
from mcp.server.mcpserver import Context
from mcp_types import ElicitResult
from pydantic import BaseModel

from checks.waiting import until
from mcp_patchbay.engine.client import PatchbayClient
from mcp_patchbay.engine.stdio.process import Hooks
from servers.launch import http_server


class Name(BaseModel):
    """What `greet` asks for."""

    name: str


def inside() -> MCPServer:
    """A server in this process."""
    server = MCPServer("inside")

    @server.tool()
    def double(x: int) -> int:
        return 2 * x

    @server.tool(structured_output=False)
    async def work(steps: int, pause: float, ctx: Context) -> str:
        for step in range(steps):
            await asyncio.sleep(pause)
            await ctx.report_progress(step + 1, steps)
        return "worked"

    @server.tool(structured_output=False)
    async def greet(ctx: Context) -> str:
        answer = await ctx.elicit("Who are you?", Name)
        return f"Hello {answer.data.name}"

    return server


@pytest.mark.parametrize("mode", ["auto", "legacy"])
async def test_a_server_in_this_process_is_called_alike_and_has_traffic(mode):
    traffic = []
    hooks = Hooks(on_traffic=lambda direction, raw: traffic.append((direction, json.loads(raw))))
    async with PatchbayClient(inside(), mode=mode, hooks=hooks) as client:
        tools, notes = await client.list_all_tools_raw()
        result, warnings = await client.call_tool_raw("double", {"x": 4}, timeout=5)
        assert ([tool["name"] for tool in tools], notes, warnings) == (["double", "work", "greet"], [], [])
        assert result["structuredContent"] == {"result": 8}
        assert client.era == ("modern" if mode == "auto" else "legacy")
    (_, asked), (_, answered) = traffic[-2:]
    assert (asked["method"], asked["params"]["arguments"]) == ("tools/call", {"x": 4})
    assert (answered["id"], answered["result"]) == (asked["id"], result)


@pytest.mark.parametrize("mode", ["auto", "legacy"])
async def test_progress_extends_the_limit_in_this_process(mode):
    async with PatchbayClient(inside(), mode=mode) as client:
        result, _ = await client.call_tool_raw("work", {"steps": 6, "pause": 0.2}, timeout=0.8)
        assert result["content"][0]["text"] == "worked"
        with pytest.raises(MCPError, match=r"'tools/call' timed out after 0\.2 s"):
            await client.call_tool_raw("work", {"steps": 1, "pause": 30}, timeout=0.2)
        assert (await client.call_tool_raw("double", {"x": 1}, timeout=5))[0]["structuredContent"] == {"result": 2}


async def test_the_clock_stands_still_while_a_person_is_asked_in_this_process():
    answer_given = asyncio.Event()

    async def elicit(context, params):
        await answer_given.wait()
        return ElicitResult(action="accept", content={"name": "Ada"})

    async with PatchbayClient(inside(), mode="legacy", elicitation_callback=elicit) as client:
        asking = asyncio.create_task(client.call_tool_raw("greet", {}, timeout=0.3))
        thrice_the_limit = asyncio.get_running_loop().create_future()
        asyncio.get_running_loop().call_later(0.9, thrice_the_limit.set_result, None)
        await thrice_the_limit
        assert not asking.done()
        answer_given.set()
        assert (await asking)[0]["content"][0]["text"] == "Hello Ada"


@pytest.mark.parametrize("mode", ["auto", "legacy"])
async def test_an_http_server_is_listed_called_and_watched_alike(mode):
    told, reports = [], []

    async def on_progress(progress, total, message):
        reports.append(progress)

    async with http_server("good.py") as url:
        transport = streamable_http_client(url)
        async with PatchbayClient(transport, mode=mode, on_list_changed=told.append) as client:
            assert client.era == ("modern" if mode == "auto" else "legacy")
            assert "echo" in [tool["name"] for tool in (await client.list_all_tools_raw())[0]]
            work = {"seconds": 1.5, "steps": 5}
            result, warnings = await client.call_tool_raw("slow", work, timeout=1, on_progress=on_progress)
            assert (result["content"][0]["text"], warnings) == ("slept 1.5 s", [])
            await until(lambda: len(reports) == 5)
            with pytest.raises(MCPError, match=r"timed out after 0\.3 s"):
                await client.call_tool_raw("slow", {"seconds": 30, "steps": 1}, timeout=0.3)
            watching = asyncio.create_task(client.watch_lists())
            # A subscription may not be open yet when the first change is made, so go on changing until one is told.
            names = (f"grown_{count}" for count in range(1000))
            while not told:
                await client.call_tool_raw("grow", {"name": next(names)}, timeout=5)
            assert set(told) == {"tools"}
            watching.cancel()
            await asyncio.wait([watching])
