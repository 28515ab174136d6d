"""What the hub promises holds over every transport, on real servers."""

import asyncio
from contextlib import asynccontextmanager

import pytest

from mcp_patchbay.domain.errors import BlockedError, TimedOutError
from mcp_patchbay.domain.events import ServerStarted, ServerStopped
from mcp_patchbay.domain.filters import Filters, Patterns
from mcp_patchbay.domain.state import ServerState
from servers.launch import everything_server, http_server, http_spec, npm_spec, stdio_spec

from .conftest import Listener

FILTERS = Filters(
    tools=Patterns(allow=("allowed-tool", "pattern-*"), block=("blocked-tool",)),
    prompts=Patterns(allow=("allowed-tool", "pattern-*"), block=("blocked-tool",)),
)
PASSING = ["allowed-tool", "pattern-a", "pattern-b"]
TRANSPORTS = ("stdio", "http", "sse")


@asynccontextmanager
async def spec_over(transport, script, **fields):
    if transport == "stdio":
        yield stdio_spec("a", script, **fields)
    else:
        async with http_server(script, transport) as url:
            yield http_spec("a", url, transport, **fields)


@pytest.mark.parametrize("transport", TRANSPORTS)
async def test_filters_hold_over_every_transport(hub, transport):
    async with spec_over(transport, "two_tools", filters=FILTERS) as spec:
        one = hub(spec)
        heard = Listener(one)
        await one.init()
        assert [tool.name for tool in await one.list_tools()] == PASSING
        assert [prompt.name for prompt in await one.list_prompts()] == PASSING
        assert {t.description for t in await one.list_tools()} == {f"a - {name}" for name in PASSING}
        assert (await one.call_tool("a", "pattern-a", {"text": "x"})).text == "pattern-a x"
        with pytest.raises(BlockedError):
            await one.call_tool("a", "blocked-tool")
        assert "pattern-b" in str(await one.get_prompt("a", "pattern-b"))
        with pytest.raises(BlockedError):
            await one.get_prompt("a", "other")
        await one.cleanup()
        assert await one.list_tools() == []
        assert [len(heard.of(kind)) for kind in (ServerStarted, ServerStopped)] == [1, 1]


@pytest.mark.parametrize("transport", TRANSPORTS)
async def test_a_slow_tool_meets_its_servers_limit(hub, transport):
    async with spec_over(transport, "good", timeout=0.1) as spec:
        one = hub(spec)
        await one.init()
        with pytest.raises(TimedOutError, match=r"0\.1 s"):
            await one.call_tool("a", "slow", {"steps": 1, "seconds": 2.0})
        assert one.snapshot("a").state is ServerState.READY
        assert not (await one.call_tool("a", "slow", {"steps": 1, "seconds": 0.15}, timeout=3)).is_error
        await one.cleanup()


@pytest.mark.parametrize("transport", TRANSPORTS)
async def test_progress_reaches_the_caller(hub, transport):
    async with spec_over(transport, "good") as spec:
        one = hub(spec)
        await one.init()
        told = []

        async def on_progress(progress, total, text):
            told.append((progress, total))

        await one.call_tool("a", "slow", {"steps": 3, "seconds": 0.03}, on_progress=on_progress)
        assert told[-1] == (3, 3)
        await one.cleanup()


@pytest.mark.parametrize("transport", TRANSPORTS)
async def test_a_cancelled_call_ends_at_the_server_too(hub, transport):
    async with spec_over(transport, "patient") as spec:
        one = hub(spec)
        await one.init()
        begun = asyncio.Event()

        async def on_progress(*_):
            begun.set()

        call = asyncio.ensure_future(one.call_tool("a", "wait", on_progress=on_progress))
        await asyncio.wait_for(begun.wait(), 20)
        call.cancel()
        with pytest.raises(asyncio.CancelledError):
            await call
        assert (await one.call_tool("a", "withdrawn", timeout=20)).text == "cancelled"
        await one.cleanup()


async def test_a_cancelled_call_tells_the_server_and_leaves_the_connection(hub):
    one = hub(npm_spec("everything", "server-everything"))
    await one.init()
    name = next(tool.name for tool in await one.list_tools() if "long" in tool.name.lower())
    begun = asyncio.Event()

    async def on_progress(*_):
        begun.set()

    call = asyncio.ensure_future(
        one.call_tool("everything", name, {"duration": 20, "steps": 200}, on_progress=on_progress)
    )
    await asyncio.wait_for(begun.wait(), 20)
    call.cancel()
    with pytest.raises(asyncio.CancelledError):
        await call
    sent = [entry.raw for entry in one.traffic("everything").read(0) if entry.direction == "out"]
    assert any(b"notifications/cancelled" in raw for raw in sent)
    assert not (await one.call_tool("everything", "echo", {"message": "still here"})).is_error


@pytest.mark.parametrize("kind", ["http", "sse"])
async def test_npms_everything_server_works_over_http(hub, kind):
    async with everything_server(kind) as url:
        one = hub(http_spec("everything", url, kind))
        await one.init()
        snapshot = one.snapshot("everything")
        assert snapshot.state is ServerState.READY, snapshot.error
        assert (await one.call_tool("everything", "echo", {"message": "hi"})).text == "Echo: hi"
        assert snapshot.prompts_total > 0
        assert snapshot.resources > 0
        await one.cleanup()


async def test_a_changed_list_is_seen(hub):
    one = hub(stdio_spec("a", "good"))
    heard = Listener(one)
    await one.init()
    before = len(await one.list_tools())
    await one.call_tool("a", "grow", {"name": "new-one"})
    await heard.until("a", lambda snapshot: snapshot.tools_total == before + 1)
    assert "new-one" in [tool.name for tool in await one.list_tools()]


async def test_resources_are_listed_and_read(hub):
    one = hub(stdio_spec("a", "good"))
    await one.init()
    resources = await one.list_resources()
    plain = next(resource for resource in resources if not resource.template)
    assert (await one.read_resource("a", plain.uri))["contents"]
