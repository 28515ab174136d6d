"""The SDK's `Dispatcher` on a child process: its pipes, orjson and plain futures, on one event loop.

Why not the SDK's own stdio: every message there crosses two memory streams, a pydantic union and a quadratic line
buffer; there is no pid, exit code, stderr or word of an idle end; and one invalid byte ends it. What stands above the
dispatcher (typed session, negotiation, input-required rounds, cache) is the SDK's.
"""

from __future__ import annotations

import asyncio
import contextvars
import logging
import signal
from collections import deque
from collections.abc import Awaitable, Callable, Mapping
from typing import Any

import anyio
import anyio.abc
from mcp.shared.dispatcher import (
    CallOptions,
    OnNotify,
    OnNotifyIntercept,
    OnRequest,
    as_request_id,
    coerce_request_id,
    run_notify_intercept,
)
from mcp.shared.exceptions import MCPError
from mcp.shared.jsonrpc_dispatcher import (
    cancelled_request_id_from_params,
    handler_exception_to_error_data,
    progress_token_from_params,
)
from mcp_types import CONNECTION_CLOSED, INTERNAL_ERROR, INVALID_PARAMS, RequestId

from mcp_patchbay.engine import tasks
from mcp_patchbay.engine.stdio.context import InboundContext
from mcp_patchbay.engine.stdio.framing import LineReader, decode, encode
from mcp_patchbay.engine.stdio.pending import Deadlines, Pending, RequestTimeoutError
from mcp_patchbay.engine.stdio.process import Hooks, Launch, ServerProcess

log = logging.getLogger(__name__)

MAX_MESSAGE = 64 * 2**20
"""Bytes of one message from the server. A larger one fails its call; the connection lives on."""
MAX_INBOUND = 256
"""Requests of the server being handled at once; more are refused, not queued."""
MAX_NOTIFICATIONS = 10_000
"""Notifications that wait for their handler; more are dropped, and said so, never blocking the pipe."""
LAST_WORDS_WAIT = 1.0
"""Seconds that handlers get for what was received before the end."""

Params = Mapping[str, Any] | None


class StdioDispatcher(ServerProcess):
    """A running server to call. `await start(launch)`, hand it to a session, `await stop()` at the end.

    Every failure of a call is an `MCPError`.

    Attributes:
        ended: a future that is done once the server can no longer be talked to: it closed its pipes or exited.
        received: how many JSON-RPC messages have come; 0 at the end means that it never understood us.
    """

    def __init__(self, hooks: Hooks, max_message: int = MAX_MESSAGE) -> None:
        super().__init__(hooks)
        self.closed = False
        self.received = 0
        self.ended: asyncio.Future[None] = self.loop.create_future()
        self._reader = LineReader(self._line, self._too_big, max_message)
        self._take_stdout, self._stdout_ended = self._reader.feed, self._reader.end
        self._next_id = 0
        self._pending: dict[RequestId, Pending] = {}
        self._deadlines = Deadlines(self.loop, self._pending)
        self._inbound: dict[RequestId, InboundContext] = {}
        self._handlers: set[asyncio.Task[None]] = set()
        self._notifications: deque[Callable[[], Awaitable[None]]] = deque()
        self._notified: asyncio.Future[None] | None = None
        self._flooded = False
        self._on_request: OnRequest | None = None
        self._on_notify: OnNotify | None = None
        self._intercept: OnNotifyIntercept | None = None
        self._run_context = contextvars.copy_context()

    @classmethod
    async def start(cls, launch: Launch, hooks: Hooks, max_message: int = MAX_MESSAGE) -> StdioDispatcher:
        """Start the command.

        Raises:
            OSError: it could not be started.
            ValueError: an argument or variable that no process can be given.
        """
        dispatcher = cls(hooks, max_message)
        await dispatcher.spawn(launch)
        return dispatcher

    def lost(self) -> None:
        """Fail every waiting call with CONNECTION_CLOSED. Harmless to call again, also from cancelled scopes."""
        super().lost()
        if self.closed:
            return
        self.closed = True
        self._deadlines.close()
        for call in self._pending.values():
            call.fail(self._closed_error())
        self.resume_writing()
        if not self.ended.done():
            self.ended.set_result(None)

    def _closed_error(self) -> MCPError:
        return MCPError(CONNECTION_CLOSED, "Connection closed" + exit_words(self.returncode))

    # ---- receiving: plain callbacks without any await, so answers, cancels and the intercept keep the wire's order
    def _line(self, line: bytes) -> None:
        try:
            value = decode(line)
        except ValueError:
            value = None
        # A list is a batch, as servers of 2025-03-26 may send it.
        messages = value if type(value) is list and value else [value]
        if not all(type(message) is dict and message.get("jsonrpc") == "2.0" for message in messages):
            if line.strip():
                self.tell(self.hooks.on_noise, line)
            return
        self.tell(self.hooks.on_traffic, "in", line)
        for message in messages:
            self._message(message)

    def _message(self, message: dict[str, Any]) -> None:
        self.received += 1
        method, request_id = message.get("method"), as_request_id(message.get("id"))
        if method is None:
            self._response(request_id, message)
        elif type(method) is str:
            params = message.get("params")
            params = params if type(params) is dict else None
            if request_id is None:
                self._notification(method, params)
            else:
                self._request(request_id, method, params)

    def _response(self, request_id: RequestId | None, message: dict[str, Any]) -> None:
        call = self._pending.get(coerce_request_id(request_id)) if request_id is not None else None
        if call is None or call.future.done():
            return  # a late answer is no news
        result, error = message.get("result"), message.get("error")
        if error is None and type(result) is dict:
            call.future.set_result(result)
        elif type(error) is dict and type(error.get("code")) is int:
            call.fail(MCPError(error["code"], str(error.get("message", "")), error.get("data")))
        else:  # waiting for the limit would hide what the server did wrong
            call.fail(MCPError(INTERNAL_ERROR, "The server's answer is neither a result nor an error"))

    def _too_big(self, raw_id: Any, size: int) -> None:
        reason = f"it has {size} bytes, the limit is {self._reader.limit}"
        key = coerce_request_id(raw_id) if raw_id is not None else None
        if key is None and len(self._pending) == 1:  # only that one's answer can be meant (or a huge notification)
            key = next(iter(self._pending))
        if key is not None and (call := self._pending.get(key)) is not None:
            call.fail(MCPError(INTERNAL_ERROR, f"The server's answer is too big: {reason}"))
        self.tell(self.hooks.on_noise, f"A message was dropped: {reason}".encode())

    def _notification(self, method: str, params: Params) -> None:
        if method == "notifications/cancelled":
            request_id = cancelled_request_id_from_params(params)
            if request_id is not None and (context := self._inbound.get(coerce_request_id(request_id))) is not None:
                context.cancel()
        elif method == "notifications/progress" and params:
            self._progress(params)
        if not run_notify_intercept(self._intercept, method, params):
            self._queue(lambda: self._notify_handler(method, params))

    def _progress(self, params: Mapping[str, Any]) -> None:
        token, progress = as_request_id(params.get("progressToken")), _number(params.get("progress"))
        call = self._pending.get(coerce_request_id(token)) if token is not None else None
        if call is None or progress is None:
            return
        self._deadlines.renew(call)
        if (on_progress := call.on_progress) is not None:
            total, text = _number(params.get("total")), params.get("message")
            self._queue(lambda: on_progress(progress, total, text if type(text) is str else None))

    async def _notify_handler(self, method: str, params: Params) -> None:
        if self._on_notify is not None:
            await self._on_notify(InboundContext(self, None), method, params)

    def _queue(self, deliver: Callable[[], Awaitable[None]]) -> None:
        if len(self._notifications) >= MAX_NOTIFICATIONS:
            if not self._flooded:
                self.tell(self.hooks.on_noise, b"More notifications than can be handled: some are lost")
            self._flooded = True
            return
        self._notifications.append(deliver)
        if self._notified is not None and not self._notified.done():
            self._notified.set_result(None)

    async def _deliver_notifications(self) -> None:
        """One consumer, so handlers see notifications and progress in the wire's order."""
        while True:
            if not self._notifications:
                self._flooded, self._notified = False, self.loop.create_future()
                await self._notified
            deliver = self._notifications.popleft()
            try:
                await deliver()
            except asyncio.CancelledError:
                if (task := asyncio.current_task()) is None or task.cancelling():
                    raise  # else a handler let some inner cancel out: not our end
            except Exception:
                log.exception("a notification handler raised")

    # ---- requests of the server
    def _request(self, request_id: RequestId, method: str, params: Params) -> None:
        on_request = self._on_request
        if on_request is None or len(self._inbound) >= MAX_INBOUND:
            self._send({"jsonrpc": "2.0", "id": request_id, "error": {"code": INTERNAL_ERROR, "message": "Too busy"}})
            return
        key = coerce_request_id(request_id)
        context = InboundContext(self, request_id, progress_token_from_params(params))
        self._inbound[key] = context
        # The calls' clock stands still meanwhile: a person may be asked, and no call can go on before the answer.
        release = self._deadlines.hold()
        handler = self._run_context.copy().run(
            tasks.start, self._handle(on_request, context, method, params, release), name=f"answer {method}"
        )
        context.task = handler
        self._handlers.add(handler)

        def done(_: asyncio.Task[None]) -> None:  # a task cancelled before its first step runs no `finally`
            self._handlers.discard(handler)
            if self._inbound.get(key) is context:  # not a newer request under the same id
                del self._inbound[key]
            release()

        handler.add_done_callback(done)

    async def _handle(
        self,
        on_request: OnRequest,
        context: InboundContext,
        method: str,
        params: Params,
        release: Callable[[], None],
    ) -> None:
        answer: dict[str, Any]
        try:
            answer = {"result": await on_request(context, method, params)}
        except asyncio.CancelledError:
            if not context.cancelled:  # we are shutting down; a request the server has withdrawn gets no answer
                error = {"code": CONNECTION_CLOSED, "message": "Connection closed"}
                self._send({"jsonrpc": "2.0", "id": context.request_id, "error": error})
            raise
        except Exception as raised:
            answer = {"error": _error_body(raised, method)}
        finally:
            context.close()
            release()  # not later: writing the answer may wait for a server that does not read
        if not context.cancelled:
            await self._drained()
            self._send({"jsonrpc": "2.0", "id": context.request_id, **answer})

    # ---- sending
    def _write(self, line: bytes) -> None:
        self.tell(self.hooks.on_traffic, "out", line)
        self.stdin.write(line + b"\n")

    def _send(self, message: dict[str, Any]) -> None:
        if not self.closed:
            self._write(encode(message))

    async def _drained(self) -> None:
        while self.writable is not None:
            await asyncio.shield(self.writable)  # shared by all senders: one being cancelled must not cancel it

    async def notify(self, method: str, params: Params, opts: CallOptions | None = None) -> None:
        """Send a notification; after the end it is dropped. Waits while the server does not read its stdin."""
        await self._drained()
        self._send({"jsonrpc": "2.0", "method": method} | ({"params": params} if params is not None else {}))

    async def send_raw_request(self, method: str, params: Params, opts: CallOptions | None = None) -> dict[str, Any]:
        """Send a request and wait for its result.

        Raises:
            MCPError: the server's error, `RequestTimeoutError`, CONNECTION_CLOSED, or INVALID_PARAMS: not JSON.
            RuntimeError: called before `run`.
        """
        if self.closed:
            raise self._closed_error()
        if self._on_request is None:
            raise RuntimeError("send_raw_request called before run()")
        options = opts or {}
        request_id, key = self._choose_id(options.get("request_id"))
        call = Pending(self.loop.create_future(), method, options.get("on_progress"))
        line = _request_line(request_id, method, params, with_token=call.on_progress is not None)
        self._pending[key] = call
        # The clock covers a blocked write too: a server that does not read is as silent as one that does not answer.
        if (limit := options.get("timeout")) is not None:
            self._deadlines.watch(call, limit)
        written = False
        try:
            while self.writable is not None and not call.future.done():
                await asyncio.wait((self.writable, call.future), return_when=asyncio.FIRST_COMPLETED)
            if not call.future.done():
                self._write(line)
                written = True
            return await call.future
        except (asyncio.CancelledError, RequestTimeoutError) as stopped:
            if written and options.get("cancel_on_abandon", True):
                late = isinstance(stopped, RequestTimeoutError)
                note = {"requestId": request_id, "reason": str(stopped) if late else "caller cancelled"}
                self._send({"jsonrpc": "2.0", "method": "notifications/cancelled", "params": note})
            raise
        finally:
            self._pending.pop(key, None)
            if call.future.done() and not call.future.cancelled():
                call.future.exception()  # an error that nobody awaits any more is not "never retrieved"

    def _choose_id(self, wanted: RequestId | None) -> tuple[RequestId, RequestId]:
        """The id to send and the key it is kept under."""
        if wanted is not None:
            if (key := coerce_request_id(wanted)) in self._pending:
                raise ValueError(f"request id {wanted!r} is already in flight")
            return wanted, key
        self._next_id += 1
        while self._next_id in self._pending:  # a caller chose that id; only they may get the error
            self._next_id += 1
        return self._next_id, self._next_id

    # ---- life
    async def run(
        self,
        on_request: OnRequest,
        on_notify: OnNotify,
        on_notify_intercept: OnNotifyIntercept | None = None,
        *,
        task_status: anyio.abc.TaskStatus[None] = anyio.TASK_STATUS_IGNORED,
    ) -> None:
        """Live until the server is lost or the caller cancels. Reading itself happens in the protocol's callbacks."""
        self._run_context = contextvars.copy_context()
        self._on_notify, self._intercept, self._on_request = on_notify, on_notify_intercept, on_request
        deliverer = tasks.start(self._deliver_notifications(), name=f"notifications of process {self.pid}")
        try:
            task_status.started()
            await asyncio.shield(self.ended)
            await self._until(lambda: not self._notifications, LAST_WORDS_WAIT)  # a last log line may explain the end
        finally:
            running: list[asyncio.Task[Any]] = [deliverer, *self._handlers]
            with anyio.CancelScope(shield=True):
                await tasks.stop(running, within=LAST_WORDS_WAIT)
            self.lost()


def exit_words(returncode: int | None) -> str:
    """How a process ended, as the end of a sentence; empty while it is not known."""
    if returncode is None:
        return ""
    if returncode < 0:
        try:
            return f": the server was ended by {signal.Signals(-returncode).name}"
        except ValueError:
            return f": the server was ended by signal {-returncode}"
    return f": the server exited with code {returncode}"


def _number(value: object) -> float | None:
    return float(value) if isinstance(value, int | float) and not isinstance(value, bool) else None


def _request_line(request_id: RequestId, method: str, params: Params, *, with_token: bool) -> bytes:
    message: dict[str, Any] = {"jsonrpc": "2.0", "id": request_id, "method": method}
    if with_token:
        given = params or {}
        params = {**given, "_meta": {**(given.get("_meta") or {}), "progressToken": request_id}}
    if params:
        message["params"] = params
    try:
        return encode(message)
    except (TypeError, ValueError, RecursionError) as error:
        raise MCPError(INVALID_PARAMS, f"This cannot be sent as JSON: {error}") from error


def _error_body(raised: Exception, method: str) -> dict[str, Any]:
    error = handler_exception_to_error_data(raised)
    if error is None:
        log.error("the handler of %r raised", method, exc_info=raised)
        return {"code": INTERNAL_ERROR, "message": "Internal error"}
    body: dict[str, Any] = error.model_dump(by_alias=True, mode="json", exclude_none=True)
    return body
