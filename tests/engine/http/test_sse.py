"""The older SSE transport on real servers."""

from __future__ import annotations

import asyncio
import json

import pytest
from mcp.shared.exceptions import MCPError

from engine.http.connecting import Heard, connected, failure, transport
from mcp_patchbay.domain.errors import AuthError, NetworkError
from servers import launch
from servers.http_cases.odd_server import Reply, SseServer, serving


async def test_a_real_sse_server_is_connected_with_its_header() -> None:
    heard = Heard()
    async with launch.http_server("header_check", "sse") as url:
        async with connected(
            transport(heard, url, "sse", headers={"Authorization": "Bearer let-me-in"}), "legacy"
        ) as client:
            assert [tool.name for tool in (await client.list_tools()).tools] == ["whoami"]
        refused = await failure(transport(Heard(), url, "sse"))
    assert isinstance(refused, AuthError)
    assert {direction for direction, _ in heard.traffic} == {"in", "out"}
    assert heard.losses == []


@pytest.mark.parametrize("style", ["rel", "bare", "abs"])
async def test_every_form_of_an_endpoint_on_the_same_origin_works(style: str) -> None:
    app = SseServer("")
    async with serving(app) as server:
        app.endpoint = {"rel": "/app/messages?s=1", "bare": "messages?s=1", "abs": server.url("/app/messages?s=1")}[
            style
        ]
        async with connected(transport(Heard(), server.url("/app/sse"), "sse"), "legacy") as client:
            await client.list_tools()
        assert {request.target for request in server.requests if request.method == "POST"} == {"/app/messages?s=1"}


async def test_an_endpoint_of_another_origin_is_refused_and_gets_nothing() -> None:
    stranger = SseServer(None)
    async with serving(stranger) as other, serving(SseServer(other.url("/messages"))) as server:
        error = await failure(
            transport(Heard(), server.url("/sse"), "sse", headers={"Authorization": "Bearer secret-123"})
        )
        assert f"announced another address (127.0.0.1:{other.port})" in str(error)
        assert "secret-123" not in str(error)
        assert other.requests == []


async def test_a_server_that_announces_nothing_is_given_up_within_the_limit() -> None:
    async with serving(SseServer(None)) as server:
        error = await failure(transport(Heard(), server.url("/sse"), "sse", connect_timeout=0.3))
    assert isinstance(error, NetworkError)
    assert "no endpoint within 0.3 s" in str(error)


@pytest.mark.parametrize("reply", [Reply(404, b"nothing", "text/plain"), Reply(502, b"bad gateway", "text/html")])
async def test_a_post_that_is_refused_fails_its_call_at_once(reply: Reply) -> None:
    app = SseServer("/messages")
    async with serving(app) as server:
        made = transport(Heard(), server.url("/sse"), "sse")
        async with connected(made, "legacy") as client:
            await client.list_tools()
            app.post_reply = reply
            with pytest.raises(MCPError) as caught:
                await client.call_tool("echo", {})
            error = made.failure_of(caught.value)
            assert isinstance(error, NetworkError)
            assert error.status == reply.status
            app.post_reply = Reply(202)
            await client.call_tool("echo", {})


async def test_an_event_of_several_megabytes_arrives() -> None:
    app = SseServer("/messages")
    app.tool_text = "x" * (3 * 1024 * 1024)
    async with serving(app) as server, connected(transport(Heard(), server.url("/sse"), "sse"), "legacy") as client:
        await client.list_tools()
        result = await client.call_tool("echo", {})
        assert result.content[0].text == app.tool_text  # type: ignore[union-attr]


async def test_the_end_of_the_stream_is_noticed_while_idle() -> None:
    app, heard = SseServer("/messages"), Heard()
    async with serving(app) as server, connected(transport(heard, server.url("/sse"), "sse"), "legacy") as client:
        await client.list_tools()
        app.outbox.put_nowait(None)
        await heard.loss()
    assert len(heard.losses) == 1


async def test_a_server_that_dies_fails_the_call_under_way() -> None:
    app, heard = SseServer("/messages"), Heard()
    async with serving(app) as server, connected(transport(heard, server.url("/sse"), "sse"), "legacy") as client:
        await client.list_tools()
        app.tool_text = "never said"
        app.outbox = asyncio.Queue()  # answers go nowhere from here on
        call = asyncio.ensure_future(client.call_tool("echo", {}))
        async with asyncio.timeout(10):
            while not any(b"tools/call" in request.body for request in server.requests):
                await asyncio.sleep(0.01)
        await server.stop()
        with pytest.raises(MCPError):
            await call
        await heard.loss()


async def test_an_event_that_is_no_json_is_skipped() -> None:
    app = SseServer("/messages")
    async with serving(app) as server, connected(transport(Heard(), server.url("/sse"), "sse"), "legacy") as client:
        app.outbox.put_nowait(b"no json")
        app.outbox.put_nowait(json.dumps({"jsonrpc": "2.0", "method": "notifications/tools/list_changed"}).encode())
        assert (await client.list_tools()).tools
