"""What went wrong between us and a URL, in words: name, connection, TLS, proxy or HTTP status. Never with a secret."""

from __future__ import annotations

import errno
import os
import socket
import ssl
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

import httpx2
from mcp.shared.exceptions import MCPError

from mcp_patchbay.domain.errors import AuthError, ConfigError, NetworkError, PatchbayError
from mcp_patchbay.domain.messages import message, plain

if TYPE_CHECKING:
    from collections.abc import Iterator

PROXY_STATUSES = frozenset({407, 502, 503, 504})
STATUS_MESSAGES = {
    400: "error.http_400",
    404: "error.http_404",
    405: "error.http_405",
    406: "error.http_406",
    410: "error.http_404",
    429: "error.http_429",
}
UNREACHABLE = frozenset({errno.ENETUNREACH, errno.EHOSTUNREACH, errno.ENETDOWN, errno.EHOSTDOWN})
# OpenSSL's X509_V_ERR_* numbers.
CERTIFICATE_MESSAGES = {
    9: "error.tls_not_yet",
    10: "error.tls_expired",
    18: "error.tls_self_signed",
    19: "error.tls_issuer",
    20: "error.tls_issuer",
    21: "error.tls_issuer",
    62: "error.tls_host",
    64: "error.tls_host",
}


def shown_url(url: str) -> str:
    """A URL as it may be shown: without user name, password, query and fragment, which may be secrets."""
    try:
        parts = urlsplit(url)
    except ValueError:
        return "the URL"
    host = parts.netloc.rpartition("@")[2]
    return f"{parts.scheme}://{host}{parts.path}" if host else parts.path


def describe_http_error(
    raised: BaseException, url: str, *, status: int | None = None, proxy: str | None = None, signed: bool = False
) -> PatchbayError:
    """Put a failed exchange into words.

    Args:
        raised: what was raised; groups and chains of causes are looked into.
        url: where the request went; only what `shown_url` leaves of it is said.
        status: the HTTP status, if an answer came.
        proxy: the URL of the proxy that was used, if any.
        signed: whether the request carried credentials.

    Returns:
        a NetworkError, an AuthError for 401 and 403, a ConfigError for a URL that cannot be one.
    """
    leaves = list(_leaves(raised))
    for leaf in leaves:
        if isinstance(leaf, PatchbayError):
            return leaf
        if isinstance(leaf, httpx2.HTTPStatusError):
            return status_error(leaf.response.status_code, url, proxy=proxy, signed=signed)
    if status is not None and status >= 300:
        return status_error(status, url, proxy=proxy, signed=signed)
    causes = [cause for leaf in leaves for cause in _chain(leaf)]
    for cause in causes:
        if isinstance(cause, MCPError):
            return odd_answer(cause, url) or NetworkError(
                message("error.http.title"), plain(cause.message), message("error.http_4xx.hint")
            )
    return _proxy_trouble(causes, proxy) or _connection_trouble(causes, url)


def status_error(status: int, url: str, *, proxy: str | None = None, signed: bool = False) -> NetworkError:
    """What an HTTP status of 300 or more means for someone who wants to use an MCP server at `url`."""
    where = shown_url(url)
    if proxy is not None and status in PROXY_STATUSES:
        return NetworkError(
            message("error.proxy.title"),
            message("error.proxy_status", proxy=shown_url(proxy), status=status, url=where),
            message("error.proxy.hint"),
            status=status,
        )
    if status in (401, 403):
        key = f"error.http_{status}" + ("_signed" if signed and status == 401 else "")
        return AuthError(
            message("error.http_auth.title"),
            message(key, url=where),
            message("error.http_auth.hint"),
            status=status,
        )
    if status < 400:
        key = "error.http_3xx"
    else:
        key = STATUS_MESSAGES.get(status, "error.http_5xx" if status >= 500 else "error.http_4xx")
    return NetworkError(
        message("error.http.title"), message(key, url=where, status=status), message(f"{key}.hint"), status=status
    )


def endpoint_error(announced: str, url: str) -> NetworkError:
    """An SSE server told us to send messages, and with them our credentials, to another origin."""
    parts = urlsplit(announced)
    return NetworkError(
        message("error.http.title"),
        message("error.sse_endpoint", url=shown_url(url), address=parts.netloc.rpartition("@")[2]),
        message("error.sse_endpoint.hint"),
    )


def silent_error(url: str, seconds: float) -> NetworkError:
    """Connected, but not the answer that a server of this type begins with."""
    return NetworkError(
        message("error.net.title"),
        message("error.net_silent", url=shown_url(url), seconds=seconds),
        message("error.net_silent.hint"),
    )


def _connection_trouble(causes: list[BaseException], url: str) -> PatchbayError:
    where = shown_url(url)
    host = _host_and_port(url)
    for cause in causes:
        if isinstance(cause, socket.gaierror):
            return _unreachable("error.net_name", host=host)
        if isinstance(cause, ssl.SSLError):
            return _tls_trouble(cause, host)
        if isinstance(cause, httpx2.ConnectTimeout | httpx2.PoolTimeout):
            return _unreachable("error.net_timeout", host=host)
        if isinstance(cause, httpx2.TimeoutException):
            return _unreachable("error.net_no_answer", url=where)
        if isinstance(cause, httpx2.InvalidURL | httpx2.UnsupportedProtocol):
            return ConfigError(
                message("error.url.title"), message("error.url", url=where), message("error.url.hint"), field="url"
            )
    for cause in causes:
        if isinstance(cause, ConnectionRefusedError):
            return _unreachable("error.net_refused", host=host)
        if isinstance(cause, OSError) and cause.errno in UNREACHABLE:
            return _unreachable("error.net_no_route", host=host, reason=os.strerror(cause.errno))
        if isinstance(cause, httpx2.RemoteProtocolError | httpx2.ReadError | httpx2.WriteError | httpx2.CloseError):
            return _unreachable("error.net_broken", url=where)
    reason = next((str(cause) for cause in causes if isinstance(cause, httpx2.ConnectError)), "")
    return _unreachable("error.net_other", url=where, reason=reason or type(causes[0]).__name__)


def _proxy_trouble(causes: list[BaseException], proxy: str | None) -> NetworkError | None:
    if proxy is None:
        return None
    shown = shown_url(proxy)
    if any(isinstance(cause, ssl.SSLError) for cause in causes):
        return None  # through the tunnel already: the server's own trouble
    for cause in causes:
        if isinstance(cause, httpx2.ProxyError):
            text = message("error.proxy_refused", proxy=shown, reason=str(cause))
        elif isinstance(cause, httpx2.ConnectError | httpx2.ConnectTimeout):
            text = message("error.proxy_down", proxy=shown)
        else:
            continue
        return NetworkError(message("error.proxy.title"), text, message("error.proxy.hint"))
    return None


def _tls_trouble(cause: ssl.SSLError, host: str) -> NetworkError:
    key, reason = "error.tls_other", cause.reason or ""
    if isinstance(cause, ssl.SSLCertVerificationError):
        key, reason = CERTIFICATE_MESSAGES.get(cause.verify_code, key), cause.verify_message
    elif cause.reason in ("WRONG_VERSION_NUMBER", "UNKNOWN_PROTOCOL", "HTTP_REQUEST", "RECORD_LAYER_FAILURE"):
        key = "error.tls_none"
    elif isinstance(cause, ssl.SSLEOFError):
        reason = "the server broke it off"
    return NetworkError(
        message("error.tls.title"), message(key, host=host, reason=reason or "unknown"), message(f"{key}.hint")
    )


def odd_answer(cause: MCPError, url: str) -> NetworkError | None:
    """What mcp's own transport says of an answer that is no MCP; None when the error is the server's own."""
    where, said = shown_url(url), cause.message
    if said.startswith("Redirect to"):
        return NetworkError(message("error.http.title"), plain(said), message("error.http_3xx.hint"))
    if said.startswith("Unexpected content type"):
        kind = said.partition(": ")[2].partition(";")[0] or "nothing"
        text = message("error.http_not_mcp", url=where, kind=kind)
        return NetworkError(message("error.http.title"), text, message("error.http_404.hint"))
    return None


def _unreachable(key: str, **args: object) -> NetworkError:
    return NetworkError(message("error.net.title"), message(key, **args), message(f"{key}.hint"))


def _host_and_port(url: str) -> str:
    """Host and port of a URL, for people."""
    try:
        parts = urlsplit(url)
        port = parts.port or (443 if parts.scheme == "https" else 80)
    except ValueError:
        return shown_url(url)
    return f"{parts.hostname}:{port}"


def _leaves(raised: BaseException) -> Iterator[BaseException]:
    if isinstance(raised, BaseExceptionGroup):
        for inner in raised.exceptions:
            yield from _leaves(inner)
    else:
        yield raised


def _chain(raised: BaseException) -> Iterator[BaseException]:
    """An exception and what led to it; groups among the causes are looked into."""
    seen: set[int] = set()
    waiting: list[BaseException | None] = [raised]
    while waiting:
        cause = waiting.pop(0)
        if cause is None or id(cause) in seen:
            continue
        seen.add(id(cause))
        yield cause
        if isinstance(cause, BaseExceptionGroup):
            waiting += cause.exceptions
        waiting.append(cause.__cause__ or cause.__context__)
