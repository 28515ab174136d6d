"""The servers that the suite runs against do what their docstrings say."""

import asyncio
import os
import signal
import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress
from pathlib import Path

import httpx2
import psutil
import pytest
from mcp.client import Client
from mcp.client.sse import sse_client
from mcp.client.stdio import StdioServerParameters, stdio_client
from mcp.client.streamable_http import streamable_http_client

from mcp_patchbay.domain.servers import ServerSpec, StdioServer
from servers import launch


@asynccontextmanager
async def connected(spec: ServerSpec, log: Path) -> AsyncIterator[Client]:
    target = spec.target
    assert isinstance(target, StdioServer)
    parameters = StdioServerParameters(command=target.command, args=list(target.args))
    with log.open("wb") as errors:
        async with Client(stdio_client(parameters, errlog=errors)) as client:
            yield client


async def tool_names(client: Client) -> list[str]:
    return [tool.name for tool in (await client.list_tools()).tools]


async def test_the_good_server_offers_everything(tmp_path: Path) -> None:
    progress: list[float] = []

    async def on_progress(done: float, total: float | None, text: str | None) -> None:
        progress.append(done)

    async with connected(launch.stdio_spec("good", "good.py"), tmp_path / "log") as client:
        assert (await client.call_tool("add", {"a": 1, "b": 2})).structured_content == {"result": 3.0}
        slow = {"seconds": 0.05, "steps": 5}
        await client.call_tool("slow", slow, progress_callback=on_progress)
        assert progress == [1, 2, 3, 4, 5]
        assert (await client.call_tool("image", {})).content[0].mime_type == "image/png"
        assert (await client.call_tool("structured", {"city": "Oslo"})).structured_content["city"] == "Oslo"
        assert (await client.call_tool("fail", {})).is_error
        await client.call_tool("grow", {"name": "extra"})
        assert "extra" in await tool_names(client)
        await client.call_tool("shrink", {"name": "extra"})
        assert "extra" not in await tool_names(client)
        prompt = await client.get_prompt("greet", {"name": "Ada"})
        assert "Ada" in prompt.messages[0].content.text
        assert (await client.read_resource("memo://greeting/Ada")).contents[0].text == "Hello, Ada!"


@pytest.mark.parametrize("kind", ["http", "sse"])
async def test_the_good_server_speaks_http_too(kind: launch.Kind) -> None:
    async with launch.http_server("good.py", kind) as url:
        transport = sse_client(url) if kind == "sse" else streamable_http_client(url)
        async with Client(transport) as client:
            assert "echo" in await tool_names(client)


@pytest.mark.parametrize("kind", ["http", "sse"])
async def test_the_key_is_checked(kind: launch.Kind) -> None:
    async with launch.http_server("header_check.py", kind, port=0) as url:
        async with httpx2.AsyncClient() as client:
            assert (await client.get(url)).status_code == 401
        headers = {"Authorization": "Bearer let-me-in"}
        if kind == "sse":
            async with Client(sse_client(url, headers=headers)) as client:
                assert await tool_names(client) == ["whoami"]
        else:
            async with (
                httpx2.AsyncClient(headers=headers) as http,
                Client(streamable_http_client(url, http_client=http)) as client,
            ):
                assert await tool_names(client) == ["whoami"]


async def test_the_filter_server_has_its_five_tools_and_prompts(tmp_path: Path) -> None:
    names = ["allowed-tool", "pattern-a", "pattern-b", "blocked-tool", "other"]
    async with connected(launch.stdio_spec("two", "two_tools"), tmp_path / "log") as client:
        assert await tool_names(client) == names
        assert [prompt.name for prompt in (await client.list_prompts()).prompts] == names
        assert (await client.call_tool("pattern-a", {"text": "x"})).content[0].text == "pattern-a x"


async def test_a_crash_ends_the_process_with_its_code() -> None:
    process = await asyncio.create_subprocess_exec(
        sys.executable, launch.script_path("crashing"), "now", "9", stderr=asyncio.subprocess.PIPE
    )
    _, errors = await asyncio.wait_for(process.communicate(), launch.START_LIMIT)
    assert process.returncode == 9
    assert b"database is locked" in errors


async def test_a_slow_start_still_ends_in_a_server(tmp_path: Path) -> None:
    async with connected(launch.stdio_spec("slow", "slow_start", 0.2, "chatty"), tmp_path / "log") as client:
        assert await tool_names(client) == ["echo"]
    assert b"downloading" in (tmp_path / "log").read_bytes()


@pytest.mark.expect_log("Failed to parse JSONRPC message")
async def test_noise_does_not_keep_the_chatty_server_from_answering(tmp_path: Path) -> None:
    async with connected(launch.stdio_spec("chatty", "chatty", 5000), tmp_path / "log") as client:
        assert (await client.call_tool("echo", {"text": "hi"})).content[0].text == "hi"
    assert b"stderr line 4999\n" in (tmp_path / "log").read_bytes()
    assert b"\xff\xfe" in (tmp_path / "log").read_bytes()


@pytest.mark.skipif(os.name == "nt", reason="POSIX signals")
async def test_the_stubborn_server_and_its_grandchild_stay_after_sigterm(tmp_path: Path) -> None:
    process = await asyncio.create_subprocess_exec(
        sys.executable, launch.script_path("stubborn"), tmp_path / "pids",
        stdin=asyncio.subprocess.DEVNULL, stdout=asyncio.subprocess.DEVNULL, start_new_session=True,
    )  # fmt: skip
    try:
        async with asyncio.timeout(launch.START_LIMIT):
            while not (tmp_path / "pids").exists() or (tmp_path / "pids").read_text().count("\n") < 3:
                await asyncio.sleep(0.02)
        pids = [int(line) for line in (tmp_path / "pids").read_text().split()]
        os.killpg(process.pid, signal.SIGTERM)
        with suppress(TimeoutError):
            await asyncio.wait_for(process.wait(), 0.5)
        assert [psutil.pid_exists(pid) for pid in pids] == [True, True, True]
    finally:
        os.killpg(process.pid, signal.SIGKILL)
        await process.wait()


async def test_npms_servers_run(tmp_path: Path) -> None:
    async with connected(launch.npm_spec("everything", "server-everything"), tmp_path / "log") as client:
        assert "echo" in await tool_names(client)
    async with connected(launch.npm_spec("memory", "server-memory"), tmp_path / "log") as client:
        assert "create_entities" in await tool_names(client)


@pytest.mark.parametrize("kind", ["http", "sse"])
async def test_npms_everything_server_speaks_http_too(kind: launch.Kind) -> None:
    async with launch.everything_server(kind) as url:
        transport = sse_client(url) if kind == "sse" else streamable_http_client(url)
        async with Client(transport) as client:
            assert "echo" in await tool_names(client)
