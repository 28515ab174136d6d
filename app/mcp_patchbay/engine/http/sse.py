"""The older SSE transport.

mcp's own hangs on a foreign or missing endpoint, breaks off at events of 1 MiB, and loses requests whose POST fails.
"""

from __future__ import annotations

import asyncio
import logging
from contextlib import AsyncExitStack, asynccontextmanager, suppress
from typing import TYPE_CHECKING

import anyio
import httpx2
from mcp.shared._httpx_utils import request_within_origin, sse_within_origin
from mcp.shared.message import ClientMessageMetadata, SessionMessage
from mcp_types import INTERNAL_ERROR, ErrorData, JSONRPCError, JSONRPCRequest, jsonrpc_message_adapter
from pydantic import ValidationError

from mcp_patchbay.engine.http.errors import endpoint_error, silent_error, status_error

if TYPE_CHECKING:
    from collections.abc import AsyncGenerator, AsyncIterator, Callable

    from anyio.streams.memory import MemoryObjectReceiveStream, MemoryObjectSendStream
    from mcp.client._transport import TransportStreams

    Incoming = MemoryObjectSendStream[SessionMessage | Exception]
    Outgoing = MemoryObjectReceiveStream[SessionMessage]

log = logging.getLogger(__name__)


@asynccontextmanager
async def sse_client(
    client: httpx2.AsyncClient,
    url: str,
    *,
    connect_timeout: float,
    max_event_size: int,
    on_broken: Callable[[BaseException], None],
) -> AsyncGenerator[TransportStreams]:
    """Connect to an SSE server: listen on `url`, post to the endpoint that it announces.

    Args:
        client: sends the requests, and answers those that fail.
        url: the URL of the event stream.
        connect_timeout: seconds until the endpoint must have been announced.
        max_event_size: bytes of the largest event that is taken.
        on_broken: hears what broke the stream off.

    Raises:
        NetworkError: no endpoint within the limit, or one of another origin, to which nothing is sent.
        httpx2.HTTPError: the server could not be reached or refused.
    """
    async with AsyncExitStack() as stack:
        try:
            async with asyncio.timeout(connect_timeout):
                source = await stack.enter_async_context(sse_within_origin(client, url, max_event_size=max_event_size))
                source.response.raise_for_status()
                events = aiter(source)
                stack.push_async_callback(events.aclose)  # type: ignore[attr-defined]  # an async generator
                endpoint = await _endpoint(events, source.response.request.url, connect_timeout)
        except TimeoutError:
            raise silent_error(url, connect_timeout) from None
        into, read_stream = anyio.create_memory_object_stream[SessionMessage | Exception](0)
        write_stream, out_of = anyio.create_memory_object_stream[SessionMessage](0)
        async with into, read_stream, write_stream, out_of, anyio.create_task_group() as group:
            group.start_soon(_listen, events, into, on_broken)
            group.start_soon(_post_all, client, endpoint, out_of, into)
            try:
                yield read_stream, write_stream
            finally:
                group.cancel_scope.cancel()


async def _endpoint(
    events: AsyncIterator[httpx2.ServerSentEvent], url: httpx2.URL, connect_timeout: float
) -> httpx2.URL:
    async for event in events:
        if event.event == "endpoint":
            announced = url.join(event.data.strip())
            if announced.origin != url.origin:
                raise endpoint_error(str(announced), str(url))
            return announced
    raise silent_error(str(url), connect_timeout)  # it hung up without a word


async def _listen(
    events: AsyncIterator[httpx2.ServerSentEvent], into: Incoming, on_broken: Callable[[BaseException], None]
) -> None:
    """Hand on what the server says, until the stream ends; then the read stream ends too."""
    async with into:
        try:
            async for event in events:
                if event.event == "message" and event.data:  # an empty one keeps the connection alive
                    await _hand_on(event.data, into)
        except httpx2.HTTPError as error:
            on_broken(error)
        except (anyio.ClosedResourceError, anyio.BrokenResourceError):
            log.debug("nobody listens any more")


async def _hand_on(data: str, into: Incoming) -> None:
    try:
        heard = SessionMessage(jsonrpc_message_adapter.validate_json(data, by_name=False))
    except ValidationError as error:
        log.debug("an event is no JSON-RPC message (%d bytes)", len(data))
        await into.send(error)
        return
    await into.send(heard)


async def _post_all(client: httpx2.AsyncClient, endpoint: httpx2.URL, out_of: Outgoing, into: Incoming) -> None:
    # Requests go side by side: a server may hold a POST until the tool has run, and a cancel must overtake that.
    async with out_of, anyio.create_task_group() as group:
        async for outgoing in out_of:
            if isinstance(outgoing.message, JSONRPCRequest):
                group.start_soon(_post, client, endpoint, outgoing, into)
            else:
                await _post(client, endpoint, outgoing, into)


async def _post(client: httpx2.AsyncClient, endpoint: httpx2.URL, outgoing: SessionMessage, into: Incoming) -> None:
    metadata = outgoing.metadata
    headers = metadata.headers if isinstance(metadata, ClientMessageMetadata) and metadata.headers else {}
    response = await request_within_origin(
        client,
        "POST",
        endpoint,
        content=outgoing.message.model_dump_json(by_alias=True, exclude_unset=True).encode(),
        headers={"Content-Type": "application/json", **headers},
    )
    if not isinstance(outgoing.message, JSONRPCRequest):
        return
    refusal = _refusal(response, outgoing.message.id)
    if refusal is not None:
        with suppress(anyio.ClosedResourceError, anyio.BrokenResourceError):
            await into.send(SessionMessage(refusal))


def _refusal(response: httpx2.Response, request_id: int | str) -> JSONRPCError | None:
    """The error that answers a request whose POST failed; None when the answer is to come over the stream."""
    if response.status_code == 202:
        return None
    try:
        said = jsonrpc_message_adapter.validate_json(response.content, by_name=False)
    except ValidationError:
        said = None
    if isinstance(said, JSONRPCError):
        return JSONRPCError(jsonrpc="2.0", id=request_id, error=said.error)
    if response.status_code < 300:
        return None
    text = str(status_error(response.status_code, str(response.request.url)))
    return JSONRPCError(jsonrpc="2.0", id=request_id, error=ErrorData(code=INTERNAL_ERROR, message=text))
