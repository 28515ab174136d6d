"""What the hub promises, on real servers: in memory and over stdio."""

import asyncio
import sys

import pytest
from mcp.server import MCPServer

from mcp_patchbay.domain.errors import BlockedError, ConfigError, NotConnectedError, NotFoundError, TimedOutError
from mcp_patchbay.domain.events import (
    LogGrew,
    ServerError,
    ServerStarted,
    ServerStopped,
    StateChanged,
    ToolsChanged,
    TrafficGrew,
)
from mcp_patchbay.domain.filters import Filters, Patterns
from mcp_patchbay.domain.servers import BuiltinServer, HttpServer, ServerSpec, StdioServer
from mcp_patchbay.domain.state import ServerState
from mcp_patchbay.engine.hub import ServerHub

from .conftest import Listener

LATE = (LogGrew, TrafficGrew)
"""Events that tell of bursts when they are over."""
FILTERS = Patterns(allow=("allowed-tool", "pattern-*"), block=("blocked-tool",))


def two_tools(*names: str) -> MCPServer:
    server = MCPServer("memory", log_level="ERROR")
    for name in names or ("echo", "add"):

        def tool(text: str = "", name: str = name) -> str:
            return f"{name} {text}"

        server.add_tool(tool, name=name)
    return server


def slow_server(seconds: float) -> MCPServer:
    server = MCPServer("slow", log_level="ERROR")

    @server.tool()
    async def wait() -> str:
        await asyncio.sleep(seconds)
        return "done"

    return server


def in_memory(name: str, server: MCPServer | None = None, **settings) -> ServerSpec:
    return ServerSpec(name=name, target=BuiltinServer(server or two_tools()), **settings)


def missing(name: str) -> ServerSpec:
    return ServerSpec(name=name, target=StdioServer("no-such-command-anywhere"))


async def test_three_concurrent_inits_load_once(hub):
    one = hub(in_memory("a"))
    heard = Listener(one)
    await asyncio.gather(one.init(), one.init(), one.init())
    assert [event.name for event in heard.of(ServerStarted)] == ["a"]
    assert len(await one.list_tools()) == 2


async def test_a_failing_server_is_told_and_the_rest_load(hub):
    one = hub(in_memory("a"), missing("broken"), in_memory("b"))
    heard = Listener(one)
    await one.init()
    assert [one.snapshot(name).state for name in ("a", "broken", "b")] == [
        ServerState.READY,
        ServerState.FAILED,
        ServerState.READY,
    ]
    (error,) = heard.of(ServerError)
    assert error.name == "broken"
    assert "no-such-command-anywhere" in str(error.error)


async def test_a_server_can_be_added_found_changed_and_deleted(hub):
    one = hub()
    await one.init()
    await one.add_server(in_memory("a", description="first"))
    assert one.get_server("a").description == "first"
    with pytest.raises(ConfigError, match="Server with name a already exists"):
        await one.add_server(in_memory("a"))
    await one.update_server(in_memory("a", two_tools("other"), description="second"))
    assert one.get_server("a").description == "second"
    assert [tool.name for tool in await one.list_tools("a")] == ["other"]
    await one.delete_server("a")
    await one.delete_server("a")
    assert one.get_server("a") is None
    assert one.servers() == ()


async def test_switching_off_and_on_again_brings_the_tools_back(hub):
    one = hub(in_memory("a"))
    heard = Listener(one)
    await one.init()
    await one.set_server_active("a", False)
    assert one.snapshot("a").state is ServerState.DISABLED
    assert await one.list_tools() == []
    await one.set_server_active("a", True)
    assert len(await one.list_tools("a")) == 2
    assert [len(heard.of(kind)) for kind in (ServerStarted, ServerStopped)] == [2, 1]


async def test_tools_of_all_servers_and_of_one(hub):
    one = hub(in_memory("a"), in_memory("b", two_tools("x")))
    await one.init()
    assert [(t.server, t.name) for t in await one.list_tools()] == [("a", "echo"), ("a", "add"), ("b", "x")]
    (tool,) = await one.list_tools("b")
    assert (tool.server, tool.id[0], len(tool.id)) == ("b", "f", 33)
    assert tool.description == "b - x"
    assert (await one.call_tool("b", "x", {"text": "hi"})).text == "x hi"


async def test_an_unknown_server_lists_nothing_and_its_call_fails(hub):
    one = hub(in_memory("a"))
    await one.init()
    assert await one.list_tools("nobody") == []
    assert await one.list_prompts("nobody") == []
    with pytest.raises(NotFoundError, match="MCP Client nobody not found"):
        await one.call_tool("nobody", "echo")
    with pytest.raises(NotFoundError, match="MCP Client nobody not found"):
        await one.get_prompt("nobody", "hello")


async def test_an_unknown_tool_fails(hub):
    one = hub(in_memory("a"))
    await one.init()
    with pytest.raises(NotFoundError, match="a has no tool named nothing"):
        await one.call_tool("a", "nothing")


async def test_filters_hold_when_listing_and_when_calling(hub):
    server = two_tools("allowed-tool", "pattern-a", "blocked-tool", "other")
    one = hub(in_memory("a", server, filters=Filters(tools=FILTERS)))
    await one.init()
    assert [tool.name for tool in await one.list_tools()] == ["allowed-tool", "pattern-a"]
    hidden = {t.name: t.decided_by for t in await one.list_tools("a", include_hidden=True)}
    assert hidden == {
        "allowed-tool": "allow allowed-tool",
        "pattern-a": "allow pattern-*",
        "blocked-tool": "not allowed",
        "other": "not allowed",
    }
    for name in ("blocked-tool", "other"):
        with pytest.raises(BlockedError):
            await one.call_tool("a", name)
    assert not (await one.call_tool("a", "pattern-a")).is_error


async def test_prompts_are_filtered_like_tools(hub):
    server = two_tools()
    for name in ("allowed-tool", "pattern-a", "blocked-tool"):

        def prompt(name: str = name) -> str:
            return f"prompt {name}"

        server.prompt(name=name)(prompt)
    one = hub(in_memory("a", server, filters=Filters(prompts=FILTERS)))
    await one.init()
    assert [p.name for p in await one.list_prompts()] == ["allowed-tool", "pattern-a"]
    got = await one.get_prompt("a", "pattern-a")
    assert "prompt pattern-a" in str(got["messages"])
    with pytest.raises(BlockedError):
        await one.get_prompt("a", "blocked-tool")
    with pytest.raises(NotFoundError):
        await one.get_prompt("a", "nothing")


async def test_new_filters_apply_without_a_reconnect(hub):
    spec = in_memory("a", two_tools("one", "two"))
    one = hub(spec)
    await one.init()
    heard = Listener(one)
    changed = ServerSpec(name="a", target=spec.target, id=spec.id, filters=Filters(tools=Patterns(block=("two",))))
    await one.update_server(changed)
    assert [tool.name for tool in await one.list_tools()] == ["one"]
    assert (one.snapshot("a").tools_visible, one.snapshot("a").tools_total) == (1, 2)
    assert heard.of(ServerStopped) == []
    assert heard.of(ToolsChanged)
    assert heard.of(StateChanged)


@pytest.mark.parametrize(("limit", "passes"), [(0.1, False), (0.3, True)])
async def test_a_servers_own_time_limit_holds(hub, limit, passes):
    one = hub(in_memory("a", slow_server(0.15), timeout=limit))
    await one.init()
    if passes:
        assert (await one.call_tool("a", "wait")).text == "done"
    else:
        with pytest.raises(TimedOutError, match=r"0\.1 s"):
            await one.call_tool("a", "wait")
    assert one.snapshot("a").state is ServerState.READY


async def test_a_server_without_a_limit_has_the_hubs(hub):
    one = hub(in_memory("a", slow_server(0.15)), default_timeout=0.1)
    await one.init()
    with pytest.raises(TimedOutError):
        await one.call_tool("a", "wait")


async def test_after_cleanup_lists_are_empty_and_all_are_stopped(hub):
    one = hub(in_memory("a"), in_memory("b"))
    heard = Listener(one)
    await one.init()
    await one.cleanup()
    assert await one.list_tools() == []
    assert {one.snapshot(name).state for name in ("a", "b")} == {ServerState.STOPPED}
    assert sorted(event.name for event in heard.of(ServerStopped)) == ["a", "b"]


async def test_a_check_never_disturbs_the_running_server(hub):
    spec = in_memory("a")
    one = hub(spec)
    await one.init()
    heard, written = Listener(one), (one.log("a").total, one.traffic("a").total)
    report = await one.check_server_status(in_memory("a", two_tools("x", "y", "z")))
    assert report.ok
    assert [tool.name for tool in report.tools] == ["x", "y", "z"]
    assert [event for event in heard.events if not isinstance(event, LATE)] == []
    assert (one.log("a").total, one.traffic("a").total) == written
    assert one.snapshot("a").state is ServerState.READY


async def test_a_check_of_a_broken_server_says_why(hub):
    report = await hub().check_server_status(missing("m"))
    assert not report.ok
    assert "no-such-command-anywhere" in str(report.snapshot.error)
    assert [step.kind for step in report.snapshot.steps][:2] == ["done", "failed"]


async def test_renaming_keeps_the_connection(hub):
    one = hub(in_memory("old"), in_memory("other"))
    await one.init()
    heard = Listener(one)
    await one.rename_server("old", "new")
    assert [spec.name for spec in one.servers()] == ["new", "other"]
    assert {tool.server for tool in await one.list_tools("new")} == {"new"}
    assert heard.of(ServerStopped) == []
    with pytest.raises(ConfigError):
        await one.rename_server("new", "other")


async def test_stop_is_for_this_run_and_start_brings_it_back(hub):
    one = hub(in_memory("a"))
    await one.init()
    await one.stop("a")
    assert one.snapshot("a").state is ServerState.STOPPED
    assert one.get_server("a").enabled
    with pytest.raises(NotConnectedError):
        await one.call_tool("a", "echo")
    await one.start("a")
    assert one.snapshot("a").state is ServerState.READY


async def test_pause_all_stops_every_server_and_resume_starts_those_again(hub):
    one = hub(in_memory("a"), in_memory("b"), in_memory("off", enabled=False))
    await one.init()
    await one.pause_all()
    assert one.paused
    assert [one.snapshot(n).state.value for n in ("a", "b", "off")] == ["stopped", "stopped", "disabled"]
    await one.resume()
    assert not one.paused
    assert len(await asyncio.wait_for(_until_tools(one, 4), 10)) == 4
    assert one.snapshot("off").state is ServerState.DISABLED


async def _until_tools(hub, count):
    changed = asyncio.Event()
    leave = hub.subscribe(lambda _event: changed.set())
    while len(tools := await hub.list_tools()) < count:
        await changed.wait()
        changed.clear()
    leave()
    return tools


async def test_an_unconfirmed_server_starts_only_after_start(hub):
    one = hub(in_memory("a", unconfirmed=True))
    await one.init()
    assert one.snapshot("a").state is ServerState.STOPPED
    assert one.snapshot("a").health.action == "start"
    await one.start("a")
    assert one.snapshot("a").state is ServerState.READY


def test_all_four_kinds_of_config_construct():
    specs = [
        in_memory("memory"),
        ServerSpec(name="stdio", target=StdioServer(sys.executable)),
        ServerSpec(name="http", target=HttpServer("http://127.0.0.1:1/mcp")),
        ServerSpec(name="sse", target=HttpServer("http://127.0.0.1:1/sse", type="sse")),
    ]
    one = ServerHub(specs)
    assert [one.snapshot(spec.name).spec.transport for spec in specs] == ["builtin", "stdio", "streamable-http", "sse"]


async def test_a_listener_that_fails_costs_the_others_nothing(hub, expect_log):
    one = hub(in_memory("a"))
    expect_log("a listener failed")

    def bad(_event):
        raise ValueError("mine")

    one.subscribe(bad)
    heard = Listener(one)
    await one.init()
    assert heard.of(ServerStarted)
