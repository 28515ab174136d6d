"""The requests that go through one server's connection, and what is counted of them."""

from __future__ import annotations

import asyncio
import itertools
from collections import deque
from contextlib import suppress
from dataclasses import replace
from typing import TYPE_CHECKING, Any, TypeVar

from mcp_patchbay.domain.catalog import ToolResult
from mcp_patchbay.domain.errors import PatchbayError
from mcp_patchbay.domain.events import CallFinished, CallStarted
from mcp_patchbay.domain.records import Call, Outcome
from mcp_patchbay.engine import failures

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Mapping

    from mcp.shared.dispatcher import ProgressFnT

    from mcp_patchbay.engine.client import PatchbayClient
    from mcp_patchbay.engine.connection import Connection

T = TypeVar("T")

MAX_IN_FLIGHT = 64
LATENCIES_KEPT = 20

_call_ids = itertools.count(1)


class Calls:
    """Sends requests through a connection: at most `MAX_IN_FLIGHT` tool calls at once, errors in words for people.

    A request that a server refused because it had forgotten the session was not carried out: it is sent once more in
    the new session, unseen by the caller.

    Attributes:
        running: how many tool calls are under way or wait for their turn.
        total, failed: how many calls have ended, and how many of them without a result or with the tool's "no".
        latencies: milliseconds that the latest calls took.
    """

    def __init__(self, connection: Connection) -> None:
        self.running = self.total = self.failed = 0
        self.latencies: deque[float] = deque(maxlen=LATENCIES_KEPT)
        self._connection = connection
        self._places = asyncio.Semaphore(MAX_IN_FLIGHT)

    async def call_tool(
        self, tool: str, arguments: Mapping[str, Any], *, timeout: float, on_progress: ProgressFnT | None
    ) -> ToolResult:
        """Call a tool whose name was checked. `timeout` is in seconds.

        Raises:
            TimedOutError, ProtocolError, ConnectionLostError, NotConnectedError
        """
        connection, clock = self._connection, asyncio.get_running_loop().time
        call = Call(next(_call_ids), connection.spec.name, tool, connection.now())

        def send(client: PatchbayClient) -> Awaitable[tuple[Mapping[str, Any], list[str]]]:
            return client.call_tool_raw(tool, dict(arguments), timeout=timeout, on_progress=on_progress)

        connection.tell(CallStarted(call))
        outcome: Outcome = "cancelled"
        began = clock()
        self.running += 1
        try:
            async with self._places:
                began = clock()
                raw, warnings = await self.request(f"{connection.spec.name}: {tool}", send, timeout)
            result = ToolResult(raw, clock() - began, tuple(warnings))
            outcome = "tool_error" if result.is_error else "ok"
            self.latencies.append(result.seconds * 1000)
            return result
        except PatchbayError as error:
            outcome = failures.call_outcome(error)
            raise
        finally:
            self.running -= 1
            self.total += 1
            self.failed += outcome not in ("ok", "cancelled")
            connection.tell(CallFinished(replace(call, seconds=clock() - began, outcome=outcome)))
            connection.publish_soon()

    async def request(self, what: str, send: Callable[[PatchbayClient], Awaitable[T]], timeout: float) -> T:
        """Send any request through the client; errors as for `call_tool`.

        `what` names it for people; `timeout`, in seconds, is what `send` keeps, and how long a new session is awaited.
        """
        try:
            return await self._send(what, send, timeout)
        except failures.SessionExpired:
            with suppress(TimeoutError):
                async with asyncio.timeout(timeout):
                    await self._connection.settled()
        try:
            return await self._send(what, send, timeout)
        except failures.SessionExpired as twice:
            raise twice.error from None

    async def _send(self, what: str, send: Callable[[PatchbayClient], Awaitable[T]], timeout: float) -> T:
        connection = self._connection
        opened = connection.opened
        if opened is None:
            raise failures.not_connected(connection.spec.name, connection.state)
        try:
            with opened.request():
                return await send(opened.client)
        except asyncio.CancelledError:
            raise
        except BaseException as raised:
            expired = opened.session_lost(raised)
            if expired:
                connection.on_expired(opened)
            error = failures.describe(raised, what, opened.opening, timeout)
            raise (failures.SessionExpired(error) if expired else error) from None
