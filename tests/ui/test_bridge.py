"""The engine's events as Qt signals."""

import asyncio
import time
from collections.abc import Callable
from itertools import pairwise
from pathlib import Path

import pytest

from checks.qt import QWait
from mcp_patchbay.builtin.registry import BuiltinServers
from mcp_patchbay.domain.events import Event, LogGrew, ServerAdded, ServerRemoved, StateChanged, TrafficGrew
from mcp_patchbay.domain.servers import BuiltinServer, ServerSpec, StdioServer
from mcp_patchbay.domain.state import ServerState, Snapshot
from mcp_patchbay.engine.hub import ServerHub
from mcp_patchbay.stores.secrets import SessionStore
from mcp_patchbay.ui.bridge import INTERVAL, EngineBridge


class Events:
    """Where events come from, when the test makes them."""

    def __init__(self) -> None:
        self.listeners: list[Callable[[Event], None]] = []

    def subscribe(self, listener: Callable[[Event], None]) -> Callable[[], None]:
        self.listeners.append(listener)
        return lambda: self.listeners.remove(listener)

    def send(self, event: Event) -> None:
        for listener in self.listeners:
            listener(event)


class Recorder:
    """What a bridge's signals said, in order."""

    def __init__(self, bridge: EngineBridge) -> None:
        self.heard: list[tuple[str, object]] = []
        for name in ("snapshot_changed", "server_added", "server_removed", "tools_changed", "log_grew", "traffic_grew"):
            getattr(bridge, name).connect(lambda value, name=name: self.heard.append((name, value)))
        bridge.call_finished.connect(lambda call: self.heard.append(("call_finished", call)))
        bridge.server_error.connect(lambda server, _error: self.heard.append(("server_error", server)))

    def all(self, name: str) -> list[object]:
        return [value for said, value in self.heard if said == name]


@pytest.fixture
def events() -> Events:
    return Events()


@pytest.fixture
def bridge(events: Events, qapp: object) -> EngineBridge:
    made = EngineBridge()
    made.attach(events)  # type: ignore[arg-type]
    return made


def snapshot(name: str, calls: int = 0, state: ServerState = ServerState.READY) -> Snapshot:
    return Snapshot(ServerSpec(name, StdioServer("x")), state, calls=calls)


async def test_nothing_is_emitted_inside_the_engines_own_code(bridge: EngineBridge, events: Events) -> None:
    recorder = Recorder(bridge)
    events.send(ServerAdded("a"))
    assert recorder.heard == []
    await asyncio.sleep(0.001)
    assert recorder.heard == [("server_added", "a")]


async def test_a_burst_of_snapshots_becomes_its_first_and_its_last(
    bridge: EngineBridge, events: Events, qwait: QWait
) -> None:
    recorder = Recorder(bridge)
    for calls in range(500):
        events.send(StateChanged(snapshot("a", calls)))
        events.send(StateChanged(snapshot("b", calls)))
    await qwait.until(lambda: len(recorder.all("snapshot_changed")) == 4)
    for name in ("a", "b"):
        assert [s.calls for s in recorder.all("snapshot_changed") if s.name == name] == [0, 499]


async def test_snapshots_of_one_server_keep_their_distance(bridge: EngineBridge, events: Events, qwait: QWait) -> None:
    moments: list[float] = []
    bridge.snapshot_changed.connect(lambda _: moments.append(time.monotonic()))
    calls = 0
    while len(moments) < 5:
        events.send(StateChanged(snapshot("a", calls := calls + 1)))
        await asyncio.sleep(0.001)
    assert all(later - earlier >= INTERVAL * 0.99 for earlier, later in pairwise(moments))
    assert calls > 20


async def test_logs_and_traffic_are_merged_too(bridge: EngineBridge, events: Events, qwait: QWait) -> None:
    recorder = Recorder(bridge)
    for _ in range(300):
        events.send(LogGrew("a"))
        events.send(TrafficGrew("a"))
    await qwait.until(lambda: len(recorder.heard) >= 4)
    await asyncio.sleep(INTERVAL * 2)
    assert sorted(recorder.heard) == [("log_grew", "a")] * 2 + [("traffic_grew", "a")] * 2


async def test_nothing_of_a_server_comes_after_it_was_removed(bridge: EngineBridge, events: Events) -> None:
    recorder = Recorder(bridge)
    events.send(ServerAdded("a"))
    for calls in range(3):
        events.send(StateChanged(snapshot("a", calls)))
    events.send(LogGrew("a"))
    events.send(LogGrew("a"))
    events.send(ServerRemoved("a"))
    await asyncio.sleep(INTERVAL * 2)
    assert [name for name, _ in recorder.heard] == ["server_added", "snapshot_changed", "log_grew", "server_removed"]


async def test_nothing_is_delivered_after_detach(bridge: EngineBridge, events: Events) -> None:
    recorder = Recorder(bridge)
    events.send(ServerAdded("a"))
    bridge.detach()
    await asyncio.sleep(INTERVAL * 2)
    assert recorder.heard == []
    assert events.listeners == []


async def test_a_real_hub_is_heard(tmp_path: Path, qwait: QWait, qapp: object) -> None:
    good = ServerSpec("files", BuiltinServer("filesystem", {"allowed_directories": [str(tmp_path)]}))
    bad = ServerSpec("bad", BuiltinServer("filesystem", {"allowed_directories": [str(tmp_path / "missing")]}))
    hub = ServerHub([good, bad], secrets=SessionStore(), builtins=BuiltinServers())
    bridge = EngineBridge()
    bridge.attach(hub)
    recorder = Recorder(bridge)
    try:
        await hub.init()
        await hub.call_tool("files", "list_allowed_directories", {})
        await qwait.until(lambda: recorder.all("call_finished"))
        await qwait.until(
            lambda: any(s.name == "files" and s.state is ServerState.READY for s in recorder.all("snapshot_changed"))
        )
        assert "files" in recorder.all("tools_changed")
        await qwait.until(lambda: "files" in recorder.all("traffic_grew"))
        assert "bad" in recorder.all("server_error")
        await hub.delete_server("files")
        await qwait.until(lambda: recorder.all("server_removed") == ["files"])
    finally:
        await hub.cleanup()
        bridge.detach()
