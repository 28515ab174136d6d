"""What is kept of one server's talk, and the word to listeners that there is more of it."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING

from mcp_patchbay.domain.events import Event, LogGrew, TrafficGrew
from mcp_patchbay.domain.records import Direction, LogLine, LogSource, TrafficEntry
from mcp_patchbay.engine.rings import LogRing, TrafficRing

if TYPE_CHECKING:
    from collections.abc import Callable

    from mcp_patchbay.engine.clock import Clock

MERGE = 0.05
"""Seconds in which news of growth is merged: at most 20 times a second."""


class Recorder:
    """A server's log and traffic, bounded. `name` is asked each time, since servers are renamed."""

    def __init__(self, name: Callable[[], str], emit: Callable[[Event], None], clock: Clock) -> None:
        self.log = LogRing()
        self.traffic = TrafficRing()
        self._name = name
        self._emit = emit
        self._clock = clock
        self._timers: dict[type[LogGrew] | type[TrafficGrew], asyncio.TimerHandle] = {}

    def line(self, source: LogSource, level: str, raw: bytes) -> None:
        """Keep one line of the log."""
        self.log.append(LogLine(self._clock.time(), source, level, raw))
        self._grew(LogGrew)

    def note(self, level: str, text: str) -> None:
        """A line of ours."""
        self.line("patchbay", level, text.encode("utf-8", "replace"))

    def message(self, direction: Direction, raw: bytes) -> None:
        """Keep one JSON-RPC message."""
        self.traffic.append(TrafficEntry(self._clock.time(), direction, raw))
        self._grew(TrafficGrew)

    def hide(self, masks: tuple[str, ...]) -> None:
        """Hide these secrets, and those of earlier connections, from whoever reads."""
        known = tuple(dict.fromkeys((*self.log.masks, *masks)))
        self.log.masks = self.traffic.masks = known

    def close(self) -> None:
        """No more news; what was kept stays readable."""
        for timer in self._timers.values():
            timer.cancel()
        self._timers.clear()

    def _grew(self, kind: type[LogGrew] | type[TrafficGrew]) -> None:
        if kind not in self._timers:
            self._timers[kind] = asyncio.get_running_loop().call_later(MERGE, self._tell, kind)

    def _tell(self, kind: type[LogGrew] | type[TrafficGrew]) -> None:
        self._timers.pop(kind, None)
        self._emit(kind(self._name()))
