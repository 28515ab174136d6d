"""The one place where asyncio tasks start: each is kept alive, named, and its failure is heard.

Imports nothing of mcp, so that the UI can use it before the first paint.
"""

from __future__ import annotations

import asyncio
import logging
from typing import TYPE_CHECKING, Any, TypeVar

if TYPE_CHECKING:
    from collections.abc import Callable, Coroutine

log = logging.getLogger(__name__)
T = TypeVar("T")

_running: set[asyncio.Task[Any]] = set()


def start(
    work: Coroutine[Any, Any, T], *, name: str, on_error: Callable[[BaseException], None] | None = None
) -> asyncio.Task[T]:
    """Start `work` as a task that is kept alive until it ends.

    A failure goes to `on_error`; without one, to the task's own awaiter and, since nobody may await it, to the log.
    """
    task = asyncio.get_running_loop().create_task(work, name=name)
    _running.add(task)

    def done(ended: asyncio.Task[T]) -> None:
        _running.discard(ended)
        if ended.cancelled() or (error := ended.exception()) is None:
            return
        if on_error is not None:
            on_error(error)
        else:
            log.error("task %s failed", ended.get_name(), exc_info=error)

    task.add_done_callback(done)
    return task


async def stop(tasks: list[asyncio.Task[Any]], *, within: float) -> None:
    """Cancel the tasks and wait for them, at most `within` seconds."""
    for task in tasks:
        task.cancel()
    if tasks:
        await asyncio.wait(tasks, timeout=within)
