"""The SDK's `DispatchContext` of one message from the server."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import anyio
from mcp.shared.exceptions import NoBackChannelError
from mcp.shared.transport_context import TransportContext

if TYPE_CHECKING:
    import asyncio
    from collections.abc import Mapping

    from mcp.shared.dispatcher import CallOptions, Outbound
    from mcp_types import ProgressToken, RequestId

PIPE = TransportContext(kind="stdio", can_send_request=True)


class InboundContext:
    """What a handler knows of the message it handles, and its way back to the server."""

    transport = PIPE
    message_metadata = None

    def __init__(self, back: Outbound, request_id: RequestId | None, token: ProgressToken | None = None) -> None:
        self.request_id = request_id
        self.task: asyncio.Task[None] | None = None
        self.cancelled = False
        self._back = back
        self._token = token
        self._open = True
        self._event: anyio.Event | None = None

    @property
    def can_send_request(self) -> bool:
        return self._open

    @property
    def cancel_requested(self) -> anyio.Event:
        # Made on first use, inside the handler's task: the receive path runs in no task, where anyio finds no backend.
        if self._event is None:
            self._event = anyio.Event()
            if self.cancelled:
                self._event.set()
        return self._event

    def cancel(self) -> None:
        """The server has withdrawn its request: end the handler; it gets no answer."""
        self.cancelled = True
        if self._event is not None:
            self._event.set()
        if self.task is not None:
            self.task.cancel()

    def close(self) -> None:
        """The request is handled: nothing goes back through this context any more."""
        self._open = False

    async def send_raw_request(
        self, method: str, params: Mapping[str, Any] | None, opts: CallOptions | None = None
    ) -> dict[str, Any]:
        if not self._open:
            raise NoBackChannelError(method)
        return await self._back.send_raw_request(method, params, opts)

    async def notify(self, method: str, params: Mapping[str, Any] | None, opts: CallOptions | None = None) -> None:
        if self._open:
            await self._back.notify(method, params, opts)

    async def progress(self, progress: float, total: float | None = None, message: str | None = None) -> None:
        if self._token is None:
            return
        said = {"progressToken": self._token, "progress": progress, "total": total, "message": message}
        await self.notify("notifications/progress", {key: value for key, value in said.items() if value is not None})
