"""Traffic of a server in this process: there is no wire, so its messages are written down as if there were one."""

from __future__ import annotations

import itertools
from typing import TYPE_CHECKING, Any

import anyio
import anyio.abc
from mcp.shared.dispatcher import run_notify_intercept
from mcp.shared.exceptions import MCPError
from mcp_types import CONNECTION_CLOSED

from mcp_patchbay.engine.stdio.framing import encode

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from mcp.shared.dispatcher import (
        CallOptions,
        DispatchContext,
        Dispatcher,
        OnNotify,
        OnNotifyIntercept,
        OnRequest,
    )

    from mcp_patchbay.domain.records import Direction


class TappedDispatcher:
    """Passes everything on to `inner`, and tells `on_traffic` of each request, answer and notification.

    In memory a request runs in its caller's task, so that it would outlive the session: here it ends with it.
    """

    def __init__(self, inner: Dispatcher[Any], on_traffic: Callable[[Direction, bytes], None]) -> None:
        self._inner = inner
        self._on_traffic = on_traffic
        self._ids = itertools.count(1)
        self._under_way: set[anyio.CancelScope] = set()

    async def send_raw_request(
        self, method: str, params: Mapping[str, Any] | None, opts: CallOptions | None = None
    ) -> dict[str, Any]:
        request_id = next(self._ids)
        self._tell("out", id=request_id, method=method, params=params)
        try:
            result = await self._send_until_closed(method, params, opts)
        except MCPError as error:
            self._tell("in", id=request_id, error=error.error.model_dump(by_alias=True, exclude_none=True))
            raise
        self._tell("in", id=request_id, result=result)
        return result

    async def _send_until_closed(
        self, method: str, params: Mapping[str, Any] | None, opts: CallOptions | None
    ) -> dict[str, Any]:
        with anyio.CancelScope() as scope:
            self._under_way.add(scope)
            try:
                return await self._inner.send_raw_request(method, params, opts)
            finally:
                self._under_way.discard(scope)
        raise MCPError(CONNECTION_CLOSED, "Connection closed")

    async def notify(self, method: str, params: Mapping[str, Any] | None, opts: CallOptions | None = None) -> None:
        self._tell("out", method=method, params=params)
        await self._inner.notify(method, params, opts)

    async def run(
        self,
        on_request: OnRequest,
        on_notify: OnNotify,
        on_notify_intercept: OnNotifyIntercept | None = None,
        *,
        task_status: anyio.abc.TaskStatus[None] = anyio.TASK_STATUS_IGNORED,
    ) -> None:
        async def answer(
            context: DispatchContext[Any], method: str, params: Mapping[str, Any] | None
        ) -> dict[str, Any]:
            self._tell("in", id=context.request_id, method=method, params=params)
            try:
                result = await on_request(context, method, params)
            except MCPError as error:
                self._tell("out", id=context.request_id, error=error.error.model_dump(by_alias=True, exclude_none=True))
                raise
            self._tell("out", id=context.request_id, result=result)
            return result

        def hear(method: str, params: Mapping[str, Any] | None) -> bool:
            self._tell("in", method=method, params=params)
            return run_notify_intercept(on_notify_intercept, method, params)

        try:
            await self._inner.run(answer, on_notify, hear, task_status=task_status)
        finally:
            for scope in tuple(self._under_way):
                scope.cancel()

    def _tell(self, direction: Direction, **fields: Any) -> None:
        message = {"jsonrpc": "2.0", **{key: value for key, value in fields.items() if value is not None}}
        try:
            line = encode(message)
        except (TypeError, ValueError):  # without a wire, what has no form in JSON can pass too
            line = encode({"jsonrpc": "2.0", "method": str(fields.get("method", ""))})
        self._on_traffic(direction, line)
