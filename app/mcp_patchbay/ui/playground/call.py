"""One call of a tool, from Run to its end."""

from __future__ import annotations

import copy
import time
from typing import TYPE_CHECKING, Any

from PySide6.QtCore import QObject, Signal

from mcp_patchbay.engine import tasks
from mcp_patchbay.ui.playground.failure import CallEnd

if TYPE_CHECKING:
    import asyncio

    from mcp_patchbay.engine.hub import ServerHub


class RunningCall(QObject):
    """A call under way: how far it is, and a way to stop it.

    Args:
        hub: what carries it out.
        limit: seconds after which the hub gives up.
    """

    progressed = Signal()
    ended = Signal(object)
    """A CallEnd. It comes once, also when the call was cancelled."""

    def __init__(self, hub: ServerHub, server: str, tool: str, arguments: dict[str, Any], limit: float) -> None:
        super().__init__()
        self.server, self.tool, self.limit = server, tool, limit
        self.arguments = copy.deepcopy(arguments)  # what is edited meanwhile was not sent
        self.began_at = time.time()
        self.progress: float | None = None
        self.total: float | None = None
        self.message = ""
        self.is_cancelled = False
        self._hub = hub
        self._began = time.monotonic()
        self.task = tasks.start(self._run(), name=f"playground: {server}: {tool}")
        self.task.add_done_callback(self._on_task_ended)

    @property
    def seconds(self) -> float:
        """How long it takes so far."""
        return time.monotonic() - self._began

    @property
    def percent(self) -> int | None:
        """How far it is, 0 to 100; None when the server does not say."""
        if self.progress is None or not self.total or self.total <= 0:
            return None
        return max(0, min(100, int(100 * self.progress / self.total)))

    def cancel(self) -> None:
        """Stop it; the server is told."""
        self.is_cancelled = True
        self.task.cancel()

    async def _run(self) -> CallEnd:
        result, failure = None, None
        try:
            result = await self._hub.call_tool(self.server, self.tool, self.arguments, on_progress=self._on_progress)
        except Exception as error:  # every failure is shown to the person who made the call
            failure = error
        return CallEnd(self.arguments, self.seconds, result, failure)

    def _on_task_ended(self, task: asyncio.Task[CallEnd]) -> None:
        """A callback, because a task that is cancelled before its first step runs no `except`."""
        self.ended.emit(CallEnd(self.arguments, self.seconds) if task.cancelled() else task.result())

    async def _on_progress(self, progress: float, total: float | None, message: str | None) -> None:
        self.progress, self.total = progress, total
        self.message = message or self.message
        self.progressed.emit()
