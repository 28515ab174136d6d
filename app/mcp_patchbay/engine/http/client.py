"""The HTTP client of one connection: it knows what became of each request, and turns failures into their own words."""

from __future__ import annotations

import json
import logging
import re
from collections import OrderedDict
from typing import TYPE_CHECKING, Any

import httpx2
from mcp.shared.exceptions import MCPError
from mcp_types import CONNECTION_CLOSED, INTERNAL_ERROR

from mcp_patchbay import __version__
from mcp_patchbay.engine.http.errors import describe_http_error, odd_answer, status_error

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from mcp_patchbay.domain.errors import PatchbayError
    from mcp_patchbay.engine.http.routes import Routes

log = logging.getLogger(__name__)

LONGEST_ANSWER = 3600.0
"""Seconds of silence after which a request is given up here; the limits of calls are kept elsewhere and are shorter."""
GOODBYE = 2.0
"""Seconds that ending a session may take."""
BODY_LIMIT = 64 * 1024
FAILURES_KEPT = 256
MARK = "patchbay"
SESSION_HEADER = "mcp-session-id"
NO_SESSION = re.compile(
    rb"session.{0,40}(not found|not exist|expired|terminated|gone|invalid|unknown|lost|closed)"
    rb"|(no valid|invalid|unknown|expired|missing|no such).{0,12}session",
    re.IGNORECASE | re.DOTALL,
)


class HttpClient(httpx2.AsyncClient):
    """An `httpx2.AsyncClient` for MCP's transports.

    A request that fails once the connection stands costs that request only: it is answered here, with a JSON-RPC error
    that `failure_of` and `is_session_lost` read. What ends the connection is told to `on_lost`, once.

    Args:
        routes: the transport below.
        url: the server's URL as it may be shown.
        headers: sent with each request, cleaned.
        auth: signs requests, such as mcp's OAuth provider.
        connect_timeout: seconds for making a connection.
        on_lost: hears why the server is gone, or the session.
    """

    def __init__(
        self,
        routes: Routes,
        url: str,
        headers: Mapping[str, str],
        *,
        auth: httpx2.Auth | None,
        connect_timeout: float,
        on_lost: Callable[[PatchbayError], None],
    ) -> None:
        super().__init__(
            transport=routes,
            headers={"User-Agent": f"mcp-patchbay/{__version__}", **headers},
            auth=auth,
            timeout=httpx2.Timeout(connect_timeout, read=LONGEST_ANSWER, pool=None),
            trust_env=False,
        )
        self._routes = routes
        self._url = url
        self._on_lost = on_lost
        self._answered = False
        self._stream_opened = False
        self._failures: OrderedDict[int, PatchbayError] = OrderedDict()
        self._failure_count = 0

    async def send(self, request: httpx2.Request, **options: Any) -> httpx2.Response:
        if request.method == "DELETE":
            return await self._say_goodbye(request)
        if request.method == "GET":  # a stream on which nothing may come for hours
            request.extensions["timeout"] = {**request.extensions["timeout"], "read": None}
        try:
            response = await super().send(request, **options)
        except httpx2.TransportError as raised:
            return self._on_unsent(request, raised)
        if response.status_code < 400:
            self._answered |= response.status_code < 300
            self._stream_opened |= request.method == "GET" and response.status_code == 200
            return response
        return await self._on_refused(request, response)

    def describe(self, raised: BaseException) -> PatchbayError:
        """Put an exception of this connection into words."""
        return self.failure_of(raised) or describe_http_error(
            raised, self._url, proxy=self._routes.proxy_used(httpx2.URL(self._url))
        )

    def failure_of(self, raised: BaseException) -> PatchbayError | None:
        """What became of the request that this error answers; None when the error is the server's own."""
        if isinstance(raised, BaseExceptionGroup):
            return next((found for inner in raised.exceptions if (found := self.failure_of(inner))), None)
        known = self._failures.get(_marks(raised).get("failure", 0))
        return known or (odd_answer(raised, self._url) if isinstance(raised, MCPError) else None)

    async def _say_goodbye(self, request: httpx2.Request) -> httpx2.Response:
        """End the session. Nobody cares what the server says to it, if anything."""
        request.extensions["timeout"] = httpx2.Timeout(GOODBYE).as_dict()
        try:
            await super().send(request)
        except httpx2.HTTPError as raised:
            log.debug("the session was not ended: %r", raised)
        return httpx2.Response(204, request=request)

    def _on_unsent(self, request: httpx2.Request, raised: httpx2.TransportError) -> httpx2.Response:
        """No answer came. Before the first answer of all, that is the connection's failure; later the request's."""
        if not self._answered:
            raise raised
        error = self._worded(request, raised)
        if isinstance(raised, httpx2.NetworkError | httpx2.RemoteProtocolError | httpx2.ProxyError):
            self._on_lost(error)
        if request.method != "POST":
            raise raised
        return self._answer(request, error, CONNECTION_CLOSED)

    async def _on_refused(self, request: httpx2.Request, response: httpx2.Response) -> httpx2.Response:
        body = await _short_body(response)
        signed = "authorization" in request.headers
        proxy = self._routes.proxy_used(request.url)
        error: PatchbayError = status_error(response.status_code, self._url, proxy=proxy, signed=signed)
        lost = self._is_session_lost(request, response, body)
        if lost and request.method == "GET":
            self._on_lost(error)
        said = _json_rpc_error(body)
        if request.method != "POST" or (said is not None and not lost and response.status_code not in (401, 403)):
            return response
        await response.aclose()
        return self._answer(request, error, said["code"] if said else INTERNAL_ERROR, session_lost=lost)

    def _is_session_lost(self, request: httpx2.Request, response: httpx2.Response, body: bytes) -> bool:
        """404 on a session means that the server forgot it; some say 400. A GET that never worked means nothing."""
        if SESSION_HEADER not in request.headers or (request.method == "GET" and not self._stream_opened):
            return False
        return response.status_code == 404 or (response.status_code == 400 and NO_SESSION.search(body) is not None)

    def _worded(self, request: httpx2.Request, raised: BaseException) -> PatchbayError:
        return describe_http_error(raised, self._url, proxy=self._routes.proxy_used(request.url))

    def _answer(
        self, request: httpx2.Request, error: PatchbayError, code: int, *, session_lost: bool = False
    ) -> httpx2.Response:
        """The answer to a POST that the server did not give."""
        request_id = _request_id(request)
        if request_id is None:  # a notification: nobody waits
            log.debug("a notification was not delivered: %s", error)
            return httpx2.Response(202, request=request)
        self._failure_count += 1
        self._failures[self._failure_count] = error
        if len(self._failures) > FAILURES_KEPT:
            self._failures.popitem(last=False)
        marks = {"failure": self._failure_count, "session_lost": session_lost}
        reply = {"code": code, "message": str(error), "data": {MARK: marks}}
        return httpx2.Response(200, json={"jsonrpc": "2.0", "id": request_id, "error": reply}, request=request)


def is_session_lost(raised: BaseException) -> bool:
    """Whether a request failed because the server has forgotten the session: it was not carried out."""
    if isinstance(raised, BaseExceptionGroup):
        return any(is_session_lost(inner) for inner in raised.exceptions)
    return _marks(raised).get("session_lost") is True


def is_ours(data: object) -> bool:
    """Whether an error's `data` marks an answer that was made here and not by the server."""
    return isinstance(data, dict) and isinstance(data.get(MARK), dict)


def _marks(raised: BaseException) -> dict[str, Any]:
    if isinstance(raised, MCPError) and is_ours(raised.data):
        marks: dict[str, Any] = raised.data[MARK]
        return marks
    return {}


def _request_id(request: httpx2.Request) -> int | str | None:
    try:
        sent = json.loads(request.content)
    except (httpx2.RequestNotRead, ValueError):
        return None
    return sent.get("id") if isinstance(sent, dict) and "method" in sent else None


def _json_rpc_error(body: bytes) -> dict[str, Any] | None:
    """The `error` of a body that is a JSON-RPC error."""
    try:
        said = json.loads(body)
    except ValueError:
        return None
    error = said.get("error") if isinstance(said, dict) and said.get("jsonrpc") == "2.0" else None
    return error if isinstance(error, dict) and isinstance(error.get("code"), int) else None


async def _short_body(response: httpx2.Response) -> bytes:
    """The body of an error, if it is short and comes soon enough."""
    kind = response.headers.get("content-type", "")
    try:
        length = int(response.headers.get("content-length", "0"))
        if kind.startswith("text/event-stream") or length > BODY_LIMIT:
            return b""
        return await response.aread()
    except (ValueError, httpx2.HTTPError):
        return b""
