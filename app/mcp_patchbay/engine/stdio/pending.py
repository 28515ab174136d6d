"""Requests that wait for the server's answer, and their limits."""

from __future__ import annotations

from dataclasses import dataclass
from math import inf
from typing import TYPE_CHECKING, Any

from mcp.shared.exceptions import MCPError
from mcp_types import REQUEST_TIMEOUT

if TYPE_CHECKING:
    import asyncio
    from collections.abc import Callable, Mapping

    from mcp.shared.dispatcher import ProgressFnT

PROGRESS_FACTOR = 10
PROGRESS_SECONDS = 30 * 60.0
"""Progress renews a call's limit, but no call takes longer than ten times its limit or 30 minutes, if that is more."""


class RequestTimeoutError(MCPError):
    """Our own limit ran out. A server may send the same code itself, but only this earns it a cancel notification."""

    def __init__(self, method: str, seconds: float) -> None:
        super().__init__(REQUEST_TIMEOUT, f"Request {method!r} timed out after {seconds:g} s")
        self.seconds = seconds


@dataclass(slots=True, eq=False)
class Pending:
    """One request under way. Times are of the loop's clock."""

    future: asyncio.Future[dict[str, Any]]
    method: str
    on_progress: ProgressFnT | None = None
    limit: float = inf
    started: float = 0.0
    deadline: float = inf
    latest: float = inf

    def fail(self, error: MCPError) -> None:
        """Let the waiter have the error, unless it has its answer."""
        if not self.future.done():
            self.future.set_exception(error)


class Deadlines:
    """The limits of all calls on one connection, on one shared timer: one for each costs a tenth of the throughput."""

    def __init__(self, loop: asyncio.AbstractEventLoop, pending: Mapping[Any, Pending]) -> None:
        self._loop = loop
        self._pending = pending
        self._timer: asyncio.TimerHandle | None = None
        self._holds = 0
        self._held_since = 0.0

    def watch(self, call: Pending, limit: float) -> None:
        """Fail the call after `limit` seconds without its answer and without progress."""
        call.limit, call.started = limit, self._loop.time()
        call.deadline = call.started + limit
        call.latest = call.started + max(PROGRESS_FACTOR * limit, PROGRESS_SECONDS)
        if not self._holds and (self._timer is None or call.deadline < self._timer.when()):
            self._arm(call.deadline)

    def renew(self, call: Pending) -> None:
        """The server reported progress on the call."""
        # The timer stays: should it come too early, it finds nothing due and is set anew.
        if call.limit < inf:
            call.deadline = min(self._loop.time() + call.limit, call.latest)

    def hold(self) -> Callable[[], None]:
        """Stop the clock: the server waits for an answer of ours, perhaps for a person.

        What comes back lets the clock go on; it may be called more than once.
        """
        self._holds += 1
        if self._holds == 1:
            self._held_since = self._loop.time()
            self.close()
        held = True

        def release() -> None:
            nonlocal held
            if held:
                held = False
                self._release()

        return release

    def _release(self) -> None:
        """The time that the clock stood still counts for no call."""
        self._holds -= 1
        if self._holds:
            return
        now = self._loop.time()
        for call in self._pending.values():
            stood = now - max(self._held_since, call.started)
            call.deadline += stood
            call.latest += stood
        self._arm_next()

    def close(self) -> None:
        """Set no timer any more, until the next call."""
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None

    def _arm(self, when: float) -> None:
        self.close()
        self._timer = self._loop.call_at(when, self._expire, when)

    def _arm_next(self) -> None:
        waiting = [call.deadline for call in self._pending.values() if call.deadline < inf and not call.future.done()]
        if waiting:
            self._arm(min(waiting))

    def _expire(self, due: float) -> None:
        now, self._timer = max(self._loop.time(), due), None
        for call in self._pending.values():
            if call.deadline <= now:
                seconds = call.limit if call.deadline < call.latest else round(call.latest - call.started)
                call.fail(RequestTimeoutError(call.method, seconds))
        self._arm_next()
