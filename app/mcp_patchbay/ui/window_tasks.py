"""The tasks that a window started: their failures are said in it, and it does not go before they have ended."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, Any

from mcp_patchbay.engine import tasks

if TYPE_CHECKING:
    from collections.abc import Callable, Coroutine

FINISH_LIMIT = 1.0
"""Seconds that running work gets at quit: enough to save, and what waits for a person is not waited for."""
CANCEL_LIMIT = 0.5


class WindowTasks:
    """Starts work for a window. `on_error` hears the exception of what fails."""

    def __init__(self, on_error: Callable[[BaseException], None]) -> None:
        self._on_error = on_error
        self._running: set[asyncio.Task[Any]] = set()

    def start(self, work: Coroutine[Any, Any, object], name: str) -> None:
        """Start `work` and return at once."""
        task = tasks.start(work, name=f"window: {name}", on_error=self._on_error)
        self._running.add(task)
        task.add_done_callback(self._running.discard)

    async def finish(self, within: float = FINISH_LIMIT) -> None:
        """Wait until all has ended; after `within` seconds the rest is cancelled."""
        if self._running:
            await asyncio.wait(self._running, timeout=within)
        await tasks.stop(list(self._running), within=CANCEL_LIMIT)
