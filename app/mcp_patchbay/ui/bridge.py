"""Carries the engine's events to Qt: queued signals with frozen values, bursts merged."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING, Generic, TypeVar

from PySide6.QtCore import QObject, Qt, QTimer, Signal

from mcp_patchbay.domain.events import (
    CallFinished,
    Event,
    LogGrew,
    ServerAdded,
    ServerError,
    ServerRemoved,
    StateChanged,
    ToolsChanged,
    TrafficGrew,
)

if TYPE_CHECKING:
    from collections.abc import Callable

    from mcp_patchbay.domain.state import Snapshot
    from mcp_patchbay.engine.hub import ServerHub

INTERVAL = 0.05
"""Seconds between two signals of one kind for one server."""
T = TypeVar("T")


class EngineBridge(QObject):
    """The hub's events as Qt signals, each delivered in a turn of its own, never inside the engine's code.

    `snapshot_changed`, `log_grew` and `traffic_grew` come at most 20 times a second for a server, always with the last
    word at the end; a server's snapshot never comes before `server_added` nor after `server_removed`.
    """

    snapshot_changed = Signal(object)
    """A `Snapshot`."""
    server_added = Signal(str)
    server_removed = Signal(str)
    tools_changed = Signal(str)
    log_grew = Signal(str)
    traffic_grew = Signal(str)
    call_finished = Signal(object)
    """A `Call`."""
    server_error = Signal(str, object)
    """A server's name and the `PatchbayError`."""

    _arrived = Signal(object)

    def __init__(self, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._unsubscribe: Callable[[], None] | None = None
        self._snapshots: _Throttle[Snapshot] = _Throttle(self.snapshot_changed.emit, self)
        self._logs: _Throttle[str] = _Throttle(self.log_grew.emit, self)
        self._traffic: _Throttle[str] = _Throttle(self.traffic_grew.emit, self)
        self._arrived.connect(self.on_event_arrived, Qt.ConnectionType.QueuedConnection)

    def attach(self, hub: ServerHub) -> None:
        """Hear this hub from now on, and no other."""
        self.detach()
        self._unsubscribe = hub.subscribe(self._arrived.emit)

    def detach(self) -> None:
        """Hear nothing any more; what has not been delivered yet is dropped."""
        if self._unsubscribe is not None:
            self._unsubscribe()
            self._unsubscribe = None
        for throttle in (self._snapshots, self._logs, self._traffic):
            throttle.clear()

    def on_event_arrived(self, event: Event) -> None:
        """Pass one event on, at once or merged with those that follow."""
        if self._unsubscribe is None:
            return
        match event:
            case StateChanged(snapshot):
                self._snapshots.offer(snapshot.name, snapshot)
            case LogGrew(name):
                self._logs.offer(name, name)
            case TrafficGrew(name):
                self._traffic.offer(name, name)
            case ToolsChanged(name):
                self.tools_changed.emit(name)
            case CallFinished(call):
                self.call_finished.emit(call)
            case ServerError(name, error):
                self.server_error.emit(name, error)
            case ServerAdded(name):
                self.server_added.emit(name)
            case ServerRemoved(name):
                for throttle in (self._snapshots, self._logs, self._traffic):
                    throttle.forget(name)
                self.server_removed.emit(name)
            case _:  # ServerStarted, ServerStopped and CallStarted: their snapshots say it
                pass


class _Throttle(QObject, Generic[T]):
    """Lets the first value of a key pass at once and then the latest one every `INTERVAL` seconds."""

    def __init__(self, emit: Callable[[T], None], parent: QObject) -> None:
        super().__init__(parent)
        self._emit = emit
        self._waiting: dict[str, T] = {}
        self._emitted: dict[str, float] = {}
        self._timer = QTimer(self, singleShot=True, timerType=Qt.TimerType.PreciseTimer)
        self._timer.timeout.connect(self.on_timer_timeout)

    def offer(self, key: str, value: T) -> None:
        """Pass the value on, now or, unless a later one replaces it, when its key's interval is over."""
        now = time.monotonic()
        if now >= self._due(key):
            self._pass_on(key, value, now)
            return
        self._waiting[key] = value
        if not self._timer.isActive():
            self._start(now)

    def forget(self, key: str) -> None:
        """Drop what waits for this key."""
        self._waiting.pop(key, None)
        self._emitted.pop(key, None)

    def clear(self) -> None:
        """Drop all that waits."""
        self._waiting.clear()
        self._emitted.clear()
        self._timer.stop()

    def on_timer_timeout(self) -> None:
        """Pass on what is due."""
        now = time.monotonic()
        for key in [key for key in self._waiting if now >= self._due(key)]:
            if key in self._waiting:  # a receiver may have dropped it
                self._pass_on(key, self._waiting[key], now)
        if self._waiting:
            self._start(now)

    def _due(self, key: str) -> float:
        return self._emitted.get(key, float("-inf")) + INTERVAL

    def _pass_on(self, key: str, value: T, now: float) -> None:
        self._waiting.pop(key, None)
        self._emitted[key] = now
        self._emit(value)

    def _start(self, now: float) -> None:
        wait = min(self._due(key) for key in self._waiting) - now
        self._timer.start(max(0, round(wait * 1000 + 0.5)))
