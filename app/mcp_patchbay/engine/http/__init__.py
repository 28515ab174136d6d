"""MCP over HTTP: streamable HTTP and the older SSE, through one HTTP client of our own."""

from __future__ import annotations

from typing import TYPE_CHECKING

from mcp_patchbay.engine.http.client import is_session_lost as session_lost
from mcp_patchbay.engine.http.errors import describe_http_error, shown_url
from mcp_patchbay.engine.http.transport import HttpTransport, clean_headers

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    import httpx2

    from mcp_patchbay.domain.errors import PatchbayError
    from mcp_patchbay.domain.records import Direction
    from mcp_patchbay.domain.servers import HttpType

__all__ = ["HttpTransport", "clean_headers", "describe_http_error", "http_transport", "session_lost", "shown_url"]


def _ignore(*_: object) -> None:
    """Nobody listens."""


def http_transport(
    url: str,
    type: HttpType = "streamable-http",  # noqa: A002 - the field's name in every config
    headers: Mapping[str, str] | None = None,
    *,
    on_traffic: Callable[[Direction, bytes], None] = _ignore,
    on_eof: Callable[[PatchbayError], None] = _ignore,
    auth: httpx2.Auth | None = None,
    connect_timeout: float = 30.0,
    ca_bundle: str | None = None,
    shown_as: str = "",
) -> HttpTransport:
    """A transport for mcp's `Client` to a URL.

    Args:
        url: the endpoint, with secrets already put in.
        type: "streamable-http" or "sse".
        headers: the user's own, with secrets already put in.
        on_traffic: each JSON-RPC message as bytes, and which way it went.
        on_eof: hears once, while idle too, why the server or the session is gone.
        auth: signs requests, such as mcp's OAuth provider.
        connect_timeout: seconds for each connection, and for an SSE server to announce its endpoint.
        ca_bundle: a file of certificates to trust besides the system's.
        shown_as: the URL for messages, such as the one of the config with its placeholders; by default `url`.

    Raises:
        ConfigError: a header that HTTP cannot carry; it names the header, never its value.
    """
    return HttpTransport(
        url,
        type,
        headers or {},
        on_traffic=on_traffic,
        on_lost=on_eof,
        auth=auth,
        connect_timeout=connect_timeout,
        ca_bundle=ca_bundle,
        shown_as=shown_as or url,
    )
