"""The connection to a URL that speaks MCP, as a transport for mcp's `Client`."""

from __future__ import annotations

import asyncio
from contextlib import AsyncExitStack
from typing import TYPE_CHECKING, Any, Self

import anyio
from mcp.client.streamable_http import streamable_http_client
from mcp_types import JSONRPCError

from mcp_patchbay.domain.errors import ConfigError, PatchbayError
from mcp_patchbay.domain.fields import check_header_name, check_header_value
from mcp_patchbay.domain.messages import Message, message
from mcp_patchbay.engine.failures import connection_closed
from mcp_patchbay.engine.http.client import HttpClient, is_ours
from mcp_patchbay.engine.http.errors import describe_http_error
from mcp_patchbay.engine.http.routes import Routes, tls_context
from mcp_patchbay.engine.http.sse import sse_client

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from contextlib import AbstractAsyncContextManager
    from types import TracebackType

    import httpx2
    from mcp.client._transport import ReadStream, TransportStreams, WriteStream
    from mcp.shared.message import SessionMessage

    from mcp_patchbay.domain.records import Direction
    from mcp_patchbay.domain.servers import HttpType

    OnTraffic = Callable[[Direction, bytes], None]

MAX_EVENT_SIZE = 64 * 1024 * 1024
"""Bytes of the largest event that is taken from a server."""
OWN_HEADERS = frozenset({"content-length", "transfer-encoding", "connection", "mcp-session-id", "last-event-id"})
"""Headers that the transport itself writes: a user's would break the connection."""


def clean_headers(headers: Mapping[str, str]) -> dict[str, str]:
    """The headers as they are sent: trimmed, without empty ones, a pasted "Name: " before the value taken off.

    Raises:
        ConfigError: a header that HTTP cannot carry. It names the header, never the value.
    """
    cleaned = {}
    for name, value in headers.items():
        name = name.strip()
        value = value.strip()
        if value.lower().startswith(f"{name.lower()}:"):
            value = value[len(name) + 1 :].strip()
        if problem := check_header_name(name) or check_header_value(name, value):
            raise _header_error(name, problem)
        if name.lower() in OWN_HEADERS:
            raise _header_error(name, message("error.header_own", name=name))
        if value:
            cleaned[name] = value
    return cleaned


class HttpTransport:
    """An mcp `Transport` over HTTP. Enter it once; leave it in the same task."""

    def __init__(
        self,
        url: str,
        type: HttpType,  # noqa: A002 - the field's name in every config
        headers: Mapping[str, str],
        *,
        on_traffic: OnTraffic,
        on_lost: Callable[[PatchbayError], None],
        auth: httpx2.Auth | None,
        connect_timeout: float,
        ca_bundle: str | None,
        shown_as: str,
    ) -> None:
        self._url = url
        self._type = type
        self._headers = clean_headers(headers)
        self._on_traffic = on_traffic
        self._on_lost = on_lost
        self._auth = auth
        self._connect_timeout = connect_timeout
        self._ca_bundle = ca_bundle
        self._shown_as = shown_as
        self._client: HttpClient | None = None
        self._stack = AsyncExitStack()
        self._over = False

    async def __aenter__(self) -> TransportStreams:
        async with AsyncExitStack() as stack:
            routes = Routes(await asyncio.to_thread(tls_context, self._ca_bundle))
            self._client = await stack.enter_async_context(
                HttpClient(
                    routes,
                    self._shown_as,
                    self._headers,
                    auth=self._auth,
                    connect_timeout=self._connect_timeout,
                    on_lost=self._lose,
                )
            )
            read_stream, write_stream = await stack.enter_async_context(self._streams(self._client))
            self._stack = stack.pop_all()
        reader = TappedReader(read_stream, self._on_traffic, lambda: self._lose(connection_closed()))
        return reader, TappedWriter(write_stream, self._on_traffic)

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> bool | None:
        self._end()
        return await self._stack.__aexit__(kind, error, trace)

    def describe(self, raised: BaseException) -> PatchbayError:
        """Put an exception that came out of this connection into words. Never holds a secret."""
        if self._client is None:
            return describe_http_error(raised, self._shown_as)
        return self._client.describe(raised)

    def failure_of(self, raised: BaseException) -> PatchbayError | None:
        """What HTTP says of a request that failed; None when the error is the server's own JSON-RPC error."""
        return self._client.failure_of(raised) if self._client else None

    def _streams(self, client: HttpClient) -> AbstractAsyncContextManager[TransportStreams]:
        if self._type == "sse":
            return sse_client(
                client,
                self._url,
                connect_timeout=self._connect_timeout,
                max_event_size=MAX_EVENT_SIZE,
                on_broken=lambda error: self._lose(client.describe(error)),
            )
        return streamable_http_client(self._url, http_client=client, max_sse_event_size=MAX_EVENT_SIZE)

    def _lose(self, error: PatchbayError) -> None:
        """Tell once that the connection is gone; not when we are ending it ourselves."""
        if not self._over:
            self._over = True
            self._on_lost(error)

    def _end(self) -> None:
        self._over = True


class TappedReader:
    """A read stream that shows what comes in, and tells when it ends."""

    def __init__(self, stream: ReadStream[Any], on_traffic: OnTraffic, on_end: Callable[[], None]) -> None:
        self._stream = stream
        self._on_traffic = on_traffic
        self._on_end = on_end

    @property
    def last_context(self) -> Any:
        """The sender's context of the message that came last; mcp's dispatcher asks for it."""
        return getattr(self._stream, "last_context", None)

    async def receive(self) -> SessionMessage | Exception:
        try:
            item: SessionMessage | Exception = await self._stream.receive()
        except (anyio.EndOfStream, anyio.ClosedResourceError):
            self._on_end()
            raise
        if not isinstance(item, Exception) and not _made_here(item):
            self._on_traffic("in", _raw(item))
        return item

    async def aclose(self) -> None:
        await self._stream.aclose()

    def __aiter__(self) -> Self:
        return self

    async def __anext__(self) -> SessionMessage | Exception:
        try:
            return await self.receive()
        except anyio.EndOfStream:
            raise StopAsyncIteration from None

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.aclose()


class TappedWriter:
    """A write stream that shows what goes out."""

    def __init__(self, stream: WriteStream[SessionMessage], on_traffic: OnTraffic) -> None:
        self._stream = stream
        self._on_traffic = on_traffic

    async def send(self, item: SessionMessage, /) -> None:
        self._on_traffic("out", _raw(item))
        await self._stream.send(item)

    async def aclose(self) -> None:
        await self._stream.aclose()

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.aclose()


def _raw(item: SessionMessage) -> bytes:
    return item.message.model_dump_json(by_alias=True, exclude_unset=True).encode()


def _made_here(item: SessionMessage) -> bool:
    return isinstance(item.message, JSONRPCError) and is_ours(item.message.error.data)


def _header_error(name: str, problem: Message) -> ConfigError:
    return ConfigError(message("error.field.title"), problem, message("error.field.hint"), field=f"headers.{name}")
