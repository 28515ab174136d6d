"""What people and servers do at the wrong moment: stop while it starts, delete while it connects, crash while idle."""

import asyncio
import os
import signal
import sys
from contextlib import asynccontextmanager
from pathlib import Path

import anyio
import psutil
import pytest
from mcp.server import MCPServer

from mcp_patchbay.domain.errors import ConnectionLostError, PatchbayError, TimedOutError
from mcp_patchbay.domain.events import ServerRemoved, ServerStarted, StateChanged, ToolsChanged
from mcp_patchbay.domain.servers import BuiltinServer, ServerSpec, StdioServer
from mcp_patchbay.domain.state import ServerState
from mcp_patchbay.engine import connection, start_gate
from mcp_patchbay.engine.clock import Clock
from servers.http_cases.odd_server import Reply, rpc, serving
from servers.launch import http_spec, stdio_spec

from .conftest import Listener

CASES = Path(__file__).parents[1] / "servers" / "cases"
SLEEP = StdioServer("sleep", ("600",))


class QuickClock(Clock):
    """A clock on which pauses pass at once, up to a blink."""

    async def wait(self, event, seconds):
        return await super().wait(event, min(seconds, 0.01))


class PatientClock(Clock):
    """A clock on which no pause ever ends by itself."""

    async def wait(self, event, seconds):
        return await event.wait()


class SilentKeyring:
    """A keyring behind a prompt that nobody answers."""

    def __init__(self):
        self.asked = asyncio.Event()

    async def get(self, server_id, field):
        self.asked.set()
        await asyncio.Event().wait()


def case_spec(name: str, case: str, **settings) -> ServerSpec:
    env = settings.pop("env", {})
    return ServerSpec(name=name, target=StdioServer(sys.executable, (str(CASES / f"{case}.py"),), env), **settings)


def memory_server(tool: str = "echo") -> MCPServer:
    server = MCPServer("memory", log_level="ERROR")
    server.add_tool(lambda: tool, name=tool)
    return server


def in_memory(name: str, server: MCPServer | None = None, **settings) -> ServerSpec:
    return ServerSpec(name=name, target=BuiltinServer(server or memory_server()), **settings)


def state(hub, name: str) -> ServerState:
    return hub.snapshot(name).state


def processes() -> list[psutil.Process]:
    return psutil.Process().children(recursive=True)


# ---- stop in every phase
@pytest.mark.parametrize("spec", [in_memory("a"), ServerSpec(name="a", target=SLEEP)], ids=["memory", "stdio"])
async def test_stop_in_the_same_breath_as_start_ends_stopped(hub, spec):
    one = hub(spec)
    for _ in range(2):
        await one.start("a", wait=False)
        async with asyncio.timeout(10):
            await one.stop("a")
        assert state(one, "a") is ServerState.STOPPED
        assert one.snapshot("a").pid is None
    assert processes() == []


async def test_start_in_the_same_breath_as_stop_ends_ready(hub):
    one = hub(in_memory("a"))
    await one.init()
    stopping = asyncio.create_task(one.stop("a"))
    await asyncio.sleep(0)
    assert state(one, "a") is ServerState.STOPPING
    await one.start("a")
    await stopping
    assert state(one, "a") is ServerState.READY


async def test_a_server_that_waits_for_its_turn_to_start_is_stopped_at_once(hub, monkeypatch):
    monkeypatch.setattr(start_gate, "LONGEST_HOLD", 600.0)
    slow = [ServerSpec(name=f"slow {n}", target=SLEEP) for n in range(start_gate.PLACES)]
    one = hub(*slow, in_memory("a"))
    heard = Listener(one)
    for spec in slow:
        await one.start(spec.name, wait=False)
        await heard.until(spec.name, lambda snapshot: snapshot.pid is not None)
    await one.start("a", wait=False)
    async with asyncio.timeout(5):
        await one.stop("a")
    assert state(one, "a") is ServerState.STOPPED
    assert {state(one, spec.name) for spec in slow} == {ServerState.CONNECTING}


async def test_a_server_that_waits_for_the_keyring_is_stopped_at_once(hub):
    keyring = SilentKeyring()
    target = StdioServer("sleep", ("600",), {"KEY": "${secret:x/env.KEY}"})
    one = hub(ServerSpec(name="a", target=target), secrets=keyring)
    await one.start("a", wait=False)
    async with asyncio.timeout(5):
        await keyring.asked.wait()
        await one.stop("a")
    assert state(one, "a") is ServerState.STOPPED


async def test_a_server_that_never_lists_its_tools_can_be_stopped(hub):
    one = hub(case_spec("a", "silent_lists"))
    heard = Listener(one)
    await one.start("a", wait=False)
    await heard.until(
        "a", lambda snapshot: any(s.title.key == "step.lists" for s in snapshot.steps if s.kind == "running")
    )
    async with asyncio.timeout(10):
        await one.stop("a")
    assert state(one, "a") is ServerState.STOPPED
    assert processes() == []


async def test_a_deaf_server_is_stopped_without_waiting_for_its_ping(hub, monkeypatch):
    monkeypatch.setattr(connection, "PING_LIMIT", 600.0)
    one = hub(stdio_spec("a", "good"), clock=QuickClock())
    await one.init()
    os.kill(one.snapshot("a").pid, signal.SIGSTOP)
    pings = len(one.traffic("a"))
    while len(one.traffic("a")) == pings:
        await asyncio.sleep(0)
    async with asyncio.timeout(15):
        await one.stop("a")
    assert state(one, "a") is ServerState.STOPPED
    assert processes() == []


# ---- servers that fail in their own ways
async def test_a_deaf_server_leaves_ready_and_the_limit_named_is_the_pings(hub, monkeypatch):
    monkeypatch.setattr(connection, "PING_LIMIT", 0.2)
    one = hub(stdio_spec("a", "good"), clock=QuickClock(), retry=False)
    heard = Listener(one)
    await one.init()
    os.kill(one.snapshot("a").pid, signal.SIGSTOP)
    lost = await heard.until("a", lambda snapshot: snapshot.state is not ServerState.READY)
    assert isinstance(lost.error, TimedOutError)
    assert "0.2 s" in str(lost.error)


async def test_a_server_that_closes_stdout_but_lives_is_lost_and_ended(hub):
    one = hub(case_spec("a", "closes_stdout"), retry=False)
    await one.init()
    with pytest.raises(ConnectionLostError):
        await one.call_tool("a", "close")
    heard = Listener(one)
    await heard.until("a", lambda snapshot: snapshot.state is not ServerState.READY)
    await one.stop("a")
    assert processes() == []


async def test_a_server_in_this_process_whose_task_fails_is_lost_and_comes_back(hub):
    crash = asyncio.Event()

    async def fail() -> None:
        await crash.wait()
        crash.clear()
        raise ValueError("the index is gone")

    @asynccontextmanager
    async def lifespan(_server):
        async with anyio.create_task_group() as group:
            group.start_soon(fail)
            yield {}
            group.cancel_scope.cancel()

    server = MCPServer("fragile", lifespan=lifespan, log_level="ERROR")
    server.add_tool(lambda: "hello", name="echo")
    one = hub(in_memory("a", server), clock=QuickClock())
    heard = Listener(one)
    await one.init()
    crash.set()
    await heard.until("a", lambda snapshot: snapshot.state is not ServerState.READY, limit=5)
    back = await heard.until("a", lambda snapshot: snapshot.state is ServerState.READY)
    assert back.error is None
    assert (await one.call_tool("a", "echo")).text == "hello"
    assert len(heard.of(ServerStarted)) == 2


async def test_one_server_object_serves_two_names_and_a_check_at_once(hub):
    server = memory_server()
    one = hub(in_memory("a", server), in_memory("b", server))
    await one.init()
    report = await one.check_server_status(in_memory("c", server))
    assert report.ok
    await one.stop("a")
    assert (await one.call_tool("b", "echo")).text == "echo"


async def test_a_crash_on_start_costs_hardly_more_processes_than_tries(hub, tmp_path):
    starts = tmp_path / "starts"
    one = hub(case_spec("a", "crashes_in_both_eras", env={"CASE_STARTS": str(starts)}), clock=QuickClock())
    heard = Listener(one)
    await one.init()
    failed = await heard.until("a", lambda snapshot: snapshot.state is ServerState.FAILED)
    assert "the database is locked" in str(failed.error)
    assert len(starts.read_text().splitlines()) == failed.attempts + 1


async def test_an_older_server_that_crashed_for_a_while_still_connects_later(hub, tmp_path):
    """A probe ends it too, so after a crash in both eras the older one has to be tried again."""
    ready = tmp_path / "ready"
    script = f"[ -e {ready} ] || exit 3; exec {sys.executable} {CASES / 'exits_on_probe.py'}"
    one = hub(ServerSpec(name="a", target=StdioServer("sh", ("-c", script))), clock=QuickClock())
    heard = Listener(one)
    await one.start("a", wait=False)
    await heard.until("a", lambda snapshot: snapshot.state is ServerState.RETRYING)
    ready.touch()
    assert (await heard.until("a", lambda s: s.state in (ServerState.READY, ServerState.FAILED))).error is None


async def test_the_log_shows_what_a_server_asked_for_though_nobody_answers_it(hub):
    one = hub(case_spec("a", "uninvited_requests"))
    await one.init()
    for tool in await one.list_tools():
        await one.call_tool("a", tool.name)
    asked = {line.text for line in one.log("a").read(0) if line.source == "patchbay"}
    assert {"The server asked for sampling/createMessage", "The server asked for elicitation/create"} <= asked


async def test_a_server_that_keeps_changing_its_lists_is_listed_ever_more_slowly(hub, monkeypatch):
    monkeypatch.setattr(connection, "RELIST_PAUSES", (0.0, 600.0))
    one = hub(case_spec("a", "list_changed"))
    await one.init()
    heard = Listener(one)
    for times in (1, 2):
        await one.call_tool("a", "change")
        await heard.until("a", lambda _snapshot, times=times: len(heard.of(ToolsChanged)) >= times)
    for _ in range(3):  # each seen as one more change, long before the pause is over
        await one.call_tool("a", "change")
    sent = [entry.raw for entry in one.traffic("a").read(0) if entry.direction == "out"]
    assert sum(b'"tools/list"' in raw for raw in sent) == 3


# ---- retry
async def test_a_manual_start_during_the_pause_is_at_once_and_counts_anew(hub):
    one = hub(ServerSpec(name="a", target=StdioServer("sh", ("-c", "exit 3"))), clock=PatientClock())
    heard = Listener(one)
    await one.init()
    assert (state(one, "a"), one.snapshot("a").attempt) == (ServerState.RETRYING, 1)
    await asyncio.wait_for(one.start("a"), 30)
    assert (state(one, "a"), one.snapshot("a").attempt) == (ServerState.RETRYING, 1)
    assert heard.states("a").count(ServerState.CONNECTING) == 2


async def test_a_storm_of_restarts_leaves_one_process(hub):
    one = hub(stdio_spec("a", "good"))
    await one.init()
    await asyncio.gather(*(one.restart("a", wait=False) for _ in range(10)))
    heard = Listener(one)
    await heard.until("a", lambda snapshot: snapshot.state is ServerState.READY)
    assert [child.pid for child in processes()] == [one.snapshot("a").pid]


# ---- changes of settings
async def test_a_server_deleted_while_it_connects_leaves_nothing_and_says_nothing_more(hub):
    one = hub(ServerSpec(name="a", target=SLEEP))
    heard = Listener(one)
    await one.start("a", wait=False)
    await heard.until("a", lambda snapshot: snapshot.pid is not None)
    await asyncio.wait_for(one.delete_server("a"), 15)
    assert isinstance(heard.events[-1], ServerRemoved)
    assert processes() == []


async def test_a_name_is_free_at_once_and_the_deleted_server_does_not_speak_in_its_place(hub):
    one = hub(stdio_spec("a", "good"))
    await one.init()
    deleting = asyncio.create_task(one.delete_server("a"))
    await asyncio.sleep(0)
    heard = Listener(one)
    await one.add_server(in_memory("a"))
    await deleting
    assert heard.states("a") == [ServerState.CONNECTING, ServerState.READY]
    assert processes() == []


async def test_a_delete_whose_caller_gives_up_is_still_carried_out_and_cleanup_waits_for_it(hub, tmp_path):
    one = hub(stdio_spec("a", "stubborn", tmp_path / "pids"))
    await one.init()
    deleting = asyncio.create_task(one.delete_server("a"))
    await asyncio.sleep(0)
    deleting.cancel()
    await one.cleanup()
    assert processes() == []


async def test_an_update_during_a_call_ends_the_call_and_brings_the_new_server(hub):
    entered = asyncio.Event()
    server = MCPServer("slow", log_level="ERROR")

    @server.tool()
    async def wait() -> str:
        entered.set()
        await asyncio.Event().wait()
        return ""

    spec = in_memory("a", server)
    one = hub(spec)
    await one.init()
    call = asyncio.create_task(one.call_tool("a", "wait"))
    await entered.wait()
    await asyncio.wait_for(one.update_server(in_memory("a", memory_server("new"), id=spec.id)), 10)
    with pytest.raises(PatchbayError):
        await call
    assert [tool.name for tool in await one.list_tools("a")] == ["new"]


async def test_an_update_whose_caller_gives_up_is_still_carried_out(hub):
    spec = in_memory("a")
    one = hub(spec)
    heard = Listener(one)
    await one.init()
    updating = asyncio.create_task(one.update_server(in_memory("a", memory_server("new"), id=spec.id)))
    await asyncio.sleep(0)
    updating.cancel()
    await heard.until("a", lambda snapshot: snapshot.state is not ServerState.READY)
    await heard.until("a", lambda snapshot: snapshot.state is ServerState.READY)
    assert [tool.name for tool in await one.list_tools("a")] == ["new"]


async def test_a_server_renamed_while_it_connects_is_ready_under_its_new_name(hub):
    one = hub(stdio_spec("old", "slow_start", "0.3"))
    heard = Listener(one)
    await one.start("old", wait=False)
    await heard.until("old", lambda snapshot: snapshot.pid is not None)
    await one.rename_server("old", "new")
    await heard.until("new", lambda snapshot: snapshot.state is ServerState.READY)
    assert {tool.server for tool in await one.list_tools()} == {"new"}


async def test_a_renamed_server_is_resumed_and_one_switched_off_meanwhile_is_not(hub):
    one = hub(in_memory("old"), in_memory("off"))
    heard = Listener(one)
    await one.init()
    await one.pause_all()
    await one.rename_server("old", "new")
    await one.set_server_active("off", False)
    await one.resume()
    await heard.until("new", lambda snapshot: snapshot.state is ServerState.READY)
    assert state(one, "off") is ServerState.DISABLED


# ---- the end
async def test_cleanup_during_init_ends_both(hub):
    one = hub(*(ServerSpec(name=f"{n}", target=SLEEP) for n in range(6)))
    heard = Listener(one)
    starting = asyncio.create_task(one.init())
    await heard.until("0", lambda snapshot: snapshot.pid is not None)
    await one.cleanup()
    await asyncio.wait_for(starting, 5)
    assert {snapshot.state for snapshot in one.snapshots()} == {ServerState.STOPPED}
    assert processes() == []


async def test_nothing_starts_after_cleanup(hub):
    one = hub(stdio_spec("a", "good"))
    await asyncio.gather(one.cleanup(), one.cleanup())
    await one.init()
    await one.add_server(stdio_spec("b", "good"))
    await one.start("a")
    await one.restart("b")
    report = await one.check_server_status(stdio_spec("c", "good"))
    assert not report.ok
    assert {snapshot.state for snapshot in one.snapshots()} == {ServerState.STOPPED}
    assert processes() == []


async def test_cleanup_ends_a_check_too(hub):
    one = hub()
    checking = asyncio.create_task(one.check_server_status(ServerSpec(name="a", target=SLEEP)))
    while not processes():
        await asyncio.sleep(0)
    await one.cleanup()
    assert processes() == []
    assert not (await asyncio.wait_for(checking, 5)).ok


@pytest.mark.parametrize("ending", ["stop", "restart", "start"])
async def test_a_caller_that_gives_up_harms_nobody(hub, ending):
    one = hub(stdio_spec("a", "good"))
    await one.init()
    waiting = asyncio.create_task(getattr(one, ending)("a"))
    await asyncio.sleep(0)
    waiting.cancel()
    await asyncio.wait([waiting])
    await one.start("a")
    assert state(one, "a") is ServerState.READY
    assert len(processes()) == 1


# ---- sessions that are forgotten
async def test_all_calls_that_a_forgotten_session_refuses_are_made_once_more(hub):
    sessions: list[str] = []
    refusing: list[str] = []
    all_came, renewing = asyncio.Event(), asyncio.Event()

    def hear(event):
        if refusing and isinstance(event, StateChanged) and event.snapshot.state is ServerState.CONNECTING:
            renewing.set()

    async def handle(request):
        if request.method != "POST":
            return Reply(405)
        message = request.message
        if message.get("method") == "server/discover":
            return Reply(404)
        if message.get("method") == "initialize":
            sessions.append(f"session-{len(sessions) + 1}")
            return rpc(message, Mcp_Session_Id=sessions[-1])
        if message.get("method") == "tools/call" and request.headers["mcp-session-id"] == "session-1":
            refusing.append(message["params"]["arguments"]["n"])
            if len(refusing) == 5:
                all_came.set()
            await all_came.wait()
            if refusing[0] != message["params"]["arguments"]["n"]:  # the others hear it once the first has
                await renewing.wait()
                for _ in range(100):
                    await asyncio.sleep(0)
            return Reply(404)
        return rpc(message)

    async with serving(handle) as server:
        one = hub(http_spec("a", server.url()))
        heard = Listener(one)
        one.subscribe(hear)
        await one.init()
        results = await asyncio.gather(*(one.call_tool("a", "echo", {"n": n}) for n in range(5)))
        assert [result.text for result in results] == [f'{{"n": {n}}}' for n in range(5)]
        assert sorted(refusing) == list(range(5))
        assert len(sessions) == 2
        assert len(heard.of(ServerStarted)) == 2
        await one.cleanup()
