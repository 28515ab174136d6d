"""Which way a request takes: directly or through a proxy, and which certificates are trusted."""

from __future__ import annotations

import asyncio
import ipaddress
import os
import urllib.request
from functools import lru_cache
from typing import TYPE_CHECKING

import httpx2

from mcp_patchbay.domain.errors import ConfigError
from mcp_patchbay.domain.messages import message

if TYPE_CHECKING:
    import ssl

LIMITS = httpx2.Limits(max_connections=None, max_keepalive_connections=20, keepalive_expiry=4.0)
"""Idle connections are given up a little before the 5 s after which uvicorn and Node close them: a request on a
connection that is just being closed would fail."""


def proxy_for(url: httpx2.URL) -> str | None:
    """The proxy that the environment (on Windows and macOS also the system) names for a URL; None for none.

    Loopback never has one. May ask the system, so it is called in a thread.
    """
    if is_loopback(url.host):
        return None
    proxies = urllib.request.getproxies()
    proxy = proxies.get(url.scheme) or proxies.get("all")
    if not proxy or urllib.request.proxy_bypass(url.host) or _in_a_spared_network(url.host, proxies.get("no", "")):
        return None
    scheme, separator, rest = proxy.partition("://")
    if not separator:
        return f"http://{proxy}"
    return f"socks5://{rest}" if scheme == "socks" else proxy  # GNOME writes socks://


def is_loopback(host: str) -> bool:
    """Whether a host is this machine."""
    name = host.strip("[]").rstrip(".").lower()
    if name == "localhost" or name.endswith(".localhost"):
        return True
    try:
        address = ipaddress.ip_address(name)
    except ValueError:
        return False
    return address.is_loopback or address.is_unspecified


def _in_a_spared_network(host: str, no_proxy: str) -> bool:
    """Whether NO_PROXY holds a network such as 10.0.0.0/8 with the host in it, which urllib does not understand."""
    try:
        address = ipaddress.ip_address(host.strip("[]"))
    except ValueError:
        return False
    for entry in no_proxy.split(","):
        try:
            network = ipaddress.ip_network(entry.strip(), strict=False)
        except ValueError:
            continue
        if address in network:
            return True
    return False


def tls_context(ca_bundle: str | None = None) -> ssl.SSLContext:
    """The system's certificates, or those of SSL_CERT_FILE or SSL_CERT_DIR if set, and a bundle of one's own.

    Reads files, so it is called in a thread; the result is shared.

    Raises:
        ConfigError: a file of certificates that cannot be read.
    """
    return _tls_context(ca_bundle, os.environ.get("SSL_CERT_FILE"), os.environ.get("SSL_CERT_DIR"))


@lru_cache(maxsize=8)
def _tls_context(ca_bundle: str | None, cert_file: str | None, cert_folder: str | None) -> ssl.SSLContext:
    try:
        context = httpx2.create_ssl_context()
        if ca_bundle:
            context.load_verify_locations(cafile=ca_bundle)
    except OSError as error:  # ssl.SSLError is one too
        raise ConfigError(
            message("error.certificates.title"),
            message("error.certificates", path=ca_bundle or cert_file or cert_folder, reason=error.strerror or error),
            message("error.certificates.hint"),
        ) from None
    return context


class Routes(httpx2.AsyncBaseTransport):
    """Sends each request directly or through the proxy of its host."""

    def __init__(self, tls: ssl.SSLContext) -> None:
        self._tls = tls
        self._proxies: dict[tuple[str, str], str | None] = {}
        self._ways: dict[str | None, httpx2.AsyncHTTPTransport] = {}

    def proxy_used(self, url: httpx2.URL) -> str | None:
        """The proxy that requests to this URL went through; None for none, or when there was no request."""
        return self._proxies.get((url.scheme, url.host))

    async def handle_async_request(self, request: httpx2.Request) -> httpx2.Response:
        place = (request.url.scheme, request.url.host)
        if place not in self._proxies:
            self._proxies[place] = await asyncio.to_thread(proxy_for, request.url)
        proxy = self._proxies[place]
        if proxy not in self._ways:
            self._ways[proxy] = httpx2.AsyncHTTPTransport(verify=self._tls, trust_env=False, limits=LIMITS, proxy=proxy)
        return await self._ways[proxy].handle_async_request(request)

    async def aclose(self) -> None:
        for way in self._ways.values():
            await way.aclose()
