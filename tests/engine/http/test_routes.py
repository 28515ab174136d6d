"""Proxies and certificates."""

from __future__ import annotations

import ssl
import subprocess
from pathlib import Path

import httpx2
import pytest

from engine.http.connecting import Heard, connected, failure, transport
from mcp_patchbay.domain.errors import ConfigError
from mcp_patchbay.engine.http.routes import is_loopback, proxy_for, tls_context
from servers import launch
from servers.http_cases.odd_server import Reply, Request, rpc, serving

PROXY_NAMES = ("http_proxy", "https_proxy", "all_proxy", "no_proxy")


@pytest.fixture(autouse=True)
def no_proxies(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in PROXY_NAMES:
        monkeypatch.delenv(name, raising=False)
        monkeypatch.delenv(name.upper(), raising=False)


async def dead_proxy(request: Request) -> Reply:
    return Reply(502, b"proxy cannot reach that", "text/plain")


async def plain_server(request: Request) -> Reply:
    return rpc(request.message) if request.method == "POST" else Reply(405)


async def test_loopback_never_goes_through_the_proxy(monkeypatch: pytest.MonkeyPatch) -> None:
    async with serving(dead_proxy) as proxy, serving(plain_server) as server:
        for name in ("HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY"):
            monkeypatch.setenv(name, proxy.url(""))
        for host in ("127.0.0.1", "localhost"):
            url = server.url().replace("127.0.0.1", host)
            async with connected(transport(Heard(), url)) as client:
                assert (await client.list_tools()).tools
        assert proxy.requests == []


async def test_other_hosts_do_and_the_error_names_the_proxy(monkeypatch: pytest.MonkeyPatch) -> None:
    async with serving(dead_proxy) as proxy:
        monkeypatch.setenv("HTTP_PROXY", proxy.url("").replace("http://", "http://user:secret-123@"))
        error = await failure(transport(Heard(), "http://mcp.example.test/mcp"))
        assert proxy.requests[0].target == "http://mcp.example.test/mcp"
        assert f"The proxy http://127.0.0.1:{proxy.port} answered 502" in str(error)
        assert "secret-123" not in str(error)


async def test_a_proxy_that_refuses_the_tunnel_or_is_not_there_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    async with serving(dead_proxy) as proxy:
        monkeypatch.setenv("HTTPS_PROXY", proxy.url(""))
        assert "refused: 502" in str(await failure(transport(Heard(), "https://mcp.example.test/mcp")))
        assert proxy.requests[0].method == "CONNECT"
    down = str(await failure(transport(Heard(), "https://mcp.example.test/mcp")))
    assert down == f"The proxy http://127.0.0.1:{proxy.port} cannot be reached"


@pytest.mark.parametrize(
    ("host", "expected"),
    [
        ("example.com", "http://proxy:3128"),
        ("spared.example.com", None),
        ("10.1.2.3", None),
        ("11.1.2.3", "http://proxy:3128"),
        ("127.0.0.2", None),
        ("[::1]", None),
    ],
)
def test_no_proxy_holds_names_and_networks(monkeypatch: pytest.MonkeyPatch, host: str, expected: str | None) -> None:
    monkeypatch.setenv("HTTPS_PROXY", "proxy:3128")
    monkeypatch.setenv("NO_PROXY", "spared.example.com, 10.0.0.0/8")
    assert proxy_for(httpx2.URL(f"https://{host}/mcp")) == expected


def test_the_spelling_of_gnome_for_socks_is_understood(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ALL_PROXY", "socks://127.0.0.1:1080/")
    assert proxy_for(httpx2.URL("https://example.com")) == "socks5://127.0.0.1:1080/"


async def test_a_socks_proxy_can_be_used(monkeypatch: pytest.MonkeyPatch) -> None:
    async with serving(dead_proxy) as gone:
        pass
    monkeypatch.setenv("ALL_PROXY", f"socks5://127.0.0.1:{gone.port}")
    assert "cannot be reached" in str(await failure(transport(Heard(), "http://example.test/mcp")))


@pytest.mark.parametrize(
    ("host", "local"),
    [("LOCALHOST.", True), ("a.localhost", True), ("::1", True), ("0.0.0.0", True), ("localhost.com", False)],
)
def test_loopback_is_recognised(host: str, local: bool) -> None:
    assert is_loopback(host) is local


@pytest.fixture(scope="module")
def certificate(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Path]:
    """A self-signed certificate for localhost, and its key."""
    folder = tmp_path_factory.mktemp("tls")
    certificate, key = folder / "cert.pem", folder / "key.pem"
    command = ["openssl", "req", "-x509", "-newkey", "rsa:2048", "-nodes", "-days", "1", "-subj", "/CN=localhost"]
    command += ["-addext", "subjectAltName=DNS:localhost", "-keyout", str(key), "-out", str(certificate)]
    subprocess.run(command, check=True, capture_output=True, timeout=30)
    return certificate, key


@pytest.fixture
async def tls_port(certificate: tuple[Path, Path]):
    """The port of a server that speaks TLS with the certificate."""
    import asyncio

    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(*certificate)

    async def answer(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await reader.readuntil(b"\r\n\r\n")
        writer.write(Reply(418).encoded())
        writer.close()

    server = await asyncio.start_server(answer, "127.0.0.1", 0, ssl=context)
    yield server.sockets[0].getsockname()[1]
    server.close()


async def test_a_certificate_that_is_not_trusted_is_named_as_the_trouble(tls_port: int) -> None:
    error = await failure(transport(Heard(), f"https://localhost:{tls_port}/mcp"))
    assert str(error) == f"The certificate of localhost:{tls_port} is signed by itself"


async def test_a_bundle_of_ones_own_is_trusted_but_the_name_must_fit(
    tls_port: int, certificate: tuple[Path, Path]
) -> None:
    bundle = str(certificate[0])
    reached = await failure(transport(Heard(), f"https://localhost:{tls_port}/mcp", ca_bundle=bundle))
    assert "HTTP 418" in str(reached)
    foreign = await failure(transport(Heard(), f"https://127.0.0.1:{tls_port}/mcp", ca_bundle=bundle))
    assert "is for another name" in str(foreign)


async def test_ssl_cert_file_is_respected(
    tls_port: int, certificate: tuple[Path, Path], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("SSL_CERT_FILE", str(certificate[0]))
    assert "HTTP 418" in str(await failure(transport(Heard(), f"https://localhost:{tls_port}/mcp")))


def test_a_bundle_that_is_missing_or_none_is_said(tmp_path: Path) -> None:
    (tmp_path / "none.pem").write_text("not a certificate")
    for name in ("missing.pem", "none.pem"):
        with pytest.raises(ConfigError, match=name):
            tls_context(str(tmp_path / name))


async def test_a_server_without_tls_behind_https_is_said() -> None:
    async with launch.http_server("good") as url:
        error = await failure(transport(Heard(), url.replace("http:", "https:")))
    assert "does not speak TLS" in str(error)


@pytest.mark.parametrize(
    ("url", "words"),
    [
        ("http://no-such-host.invalid/mcp", "The name of no-such-host.invalid:80 was not found"),
        ("ftp://example.test/mcp", "is not a URL that starts with http"),
    ],
)
async def test_a_url_that_leads_nowhere_says_why(url: str, words: str) -> None:
    assert words in str(await failure(transport(Heard(), url)))


async def test_a_port_where_nothing_listens_is_said() -> None:
    async with serving(plain_server) as server:
        pass
    for kind in ("streamable-http", "sse"):
        error = await failure(transport(Heard(), server.url(), kind))
        assert str(error) == f"127.0.0.1:{server.port} refused the connection"
