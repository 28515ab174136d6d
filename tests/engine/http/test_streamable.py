"""Streamable HTTP on real servers."""

from __future__ import annotations

import asyncio
import json

import pytest
from mcp.shared.exceptions import MCPError

from checks.logs import ExpectLog
from engine.http.connecting import Heard, connected, failure, transport
from mcp_patchbay.domain.errors import AuthError, NetworkError
from mcp_patchbay.engine.http import session_lost
from servers import launch
from servers.http_cases.odd_server import OddServer, Reply, Request, rpc, serving


@pytest.mark.parametrize("mode", ["auto", "legacy"])
async def test_a_real_server_of_either_era_is_connected_and_its_traffic_shown(mode: str) -> None:
    heard = Heard()
    async with launch.http_server("good") as url, connected(transport(heard, url), mode) as client:
        tools = (await client.list_tools()).tools
        assert tools
    sent = [json.loads(raw) for direction, raw in heard.traffic if direction == "out"]
    got = [json.loads(raw) for direction, raw in heard.traffic if direction == "in"]
    assert "tools/list" in [message.get("method") for message in sent]
    assert any("tools" in message.get("result", {}) for message in got)
    assert heard.losses == []


async def test_a_header_is_sent_trimmed_and_a_wrong_one_is_a_matter_of_signing_in() -> None:
    async with launch.http_server("header_check") as url:
        right = transport(Heard(), url, headers={"Authorization": "  Bearer let-me-in\n"})
        async with connected(right) as client:
            assert (await client.list_tools()).tools
        wrong = await failure(transport(Heard(), url, headers={"Authorization": "Bearer secret-123"}))
        none = await failure(transport(Heard(), url))
    assert isinstance(wrong, AuthError)
    assert wrong.status == 401
    assert "rejected the token" in str(wrong)
    assert "secret-123" not in str(wrong)
    assert isinstance(none, AuthError)
    assert "wants a sign-in" in str(none)


@pytest.mark.parametrize(
    ("reply", "kind", "words"),
    [
        (Reply(401, b'{"error": "invalid_token"}'), AuthError, "wants a sign-in"),
        (Reply(403, b"no", "text/plain"), AuthError, "does not let you in"),
        (Reply(404, b"<html>", "text/html"), NetworkError, "no MCP endpoint"),
        (Reply(405), NetworkError, "does not take MCP requests"),
        (Reply(500, b"oops", "text/plain"), NetworkError, "problem of its own (HTTP 500)"),
        (
            Reply(302, headers={"Location": "https://elsewhere.test/mcp?token=secret-123"}),
            NetworkError,
            "elsewhere.test",
        ),
        (Reply(200, b"<html>", "text/html"), NetworkError, "answers with text/html"),
        (Reply(raw=b"SSH-2.0-OpenSSH_9\r\n\r\n"), NetworkError, "broke the connection off"),
    ],
)
async def test_what_a_url_answers_is_told_apart(
    reply: Reply, kind: type[NetworkError], words: str, expect_log: ExpectLog
) -> None:
    expect_log("not followed", must_come=False)  # mcp's own words
    expect_log("Unexpected content type", must_come=False)

    async def handler(request: Request) -> Reply:
        return reply

    async with serving(handler) as server:
        error = await failure(transport(Heard(), server.url() + "?key=secret-123"))
    assert type(error) is kind
    assert words in str(error)
    assert error.hint is not None
    assert "secret-123" not in f"{error} {error.hint} {error!r}"


@pytest.mark.expect_log("not followed")
async def test_a_redirect_to_another_origin_takes_no_token_there() -> None:
    async def innocent(request: Request) -> Reply:
        return rpc(request.message)

    async with serving(innocent) as other:

        async def handler(request: Request) -> Reply:
            return Reply(307, headers={"Location": other.url()})

        async with serving(handler) as server:
            await failure(transport(Heard(), server.url(), headers={"X-Api-Key": "secret-123"}))
        assert other.requests == []


async def test_a_redirect_within_the_origin_is_followed() -> None:
    async def handler(request: Request) -> Reply:
        return rpc(request.message) if request.target == "/mcp/" else Reply(307, headers={"Location": "/mcp/"})

    async with serving(handler) as server, connected(transport(Heard(), server.url())) as client:
        assert [tool.name for tool in (await client.list_tools()).tools] == ["echo"]


@pytest.mark.parametrize("status", [404, 405, 406, 400, 501])
async def test_a_server_that_refuses_the_optional_stream_is_connected_all_the_same(status: int) -> None:
    async def handler(request: Request) -> Reply:
        if request.method != "POST":
            return Reply(status, b"no stream here", "text/plain")
        return rpc(request.message, Mcp_Session_Id="s")

    heard = Heard()
    async with serving(handler) as server, connected(transport(heard, server.url()), "legacy") as client:
        await client.call_tool("echo", {"a": 1})
        assert server.count("GET") <= 2
    assert heard.losses == []


def forgetful(reply: Reply) -> tuple[OddServer, dict[str, bool]]:
    """A server with a session, which it forgets when `state["gone"]` is set; then it gives `reply`."""
    state = {"gone": False}

    async def handler(request: Request) -> Reply:
        if request.method == "GET":
            return Reply(405)
        if state["gone"] and request.method == "POST":
            return reply
        return rpc(request.message, Mcp_Session_Id="s")

    return OddServer(handler), state


@pytest.mark.parametrize(
    "reply",
    [
        Reply(404, b"gone", "text/plain"),
        Reply(404, b'{"jsonrpc":"2.0","id":null,"error":{"code":-32001,"message":"Session not found"}}'),
        Reply(400, b"session gone", "text/plain"),
        Reply(400, b'{"jsonrpc":"2.0","id":null,"error":{"code":-32000,"message":"No valid session ID provided"}}'),
    ],
)
async def test_a_forgotten_session_is_recognised(reply: Reply) -> None:
    server, state = forgetful(reply)
    await server.start()
    try:
        async with connected(transport(Heard(), server.url()), "legacy") as client:
            await client.list_tools()
            state["gone"] = True
            with pytest.raises(MCPError) as caught:
                await client.call_tool("echo", {})
            assert session_lost(caught.value)
    finally:
        await server.stop()


async def test_a_servers_own_error_is_no_lost_session_and_arrives_as_it_is() -> None:
    own = b'{"jsonrpc":"2.0","id":null,"error":{"code":-32602,"message":"bad session_id argument","data":{"x":1}}}'
    server, state = forgetful(Reply(400, own))
    await server.start()
    try:
        made = transport(Heard(), server.url())
        async with connected(made, "legacy") as client:
            await client.list_tools()
            state["gone"] = True
            with pytest.raises(MCPError) as caught:
                await client.call_tool("echo", {})
            assert not session_lost(caught.value)
            assert made.failure_of(caught.value) is None
            assert (caught.value.code, caught.value.data) == (-32602, {"x": 1})
    finally:
        await server.stop()


async def test_a_call_that_meets_an_http_error_fails_alone_and_names_the_status() -> None:
    async def handler(request: Request) -> Reply:
        message = request.message
        if message.get("method") == "tools/call" and message["params"]["arguments"].get("bad"):
            return Reply(502, b"secret-123", "text/plain")
        return rpc(message)

    heard = Heard()
    async with serving(handler) as server:
        made = transport(heard, server.url())
        async with connected(made) as client:
            await client.list_tools()
            calls = [client.call_tool("echo", {"bad": number % 2}) for number in range(6)]
            results = await asyncio.gather(*calls, return_exceptions=True)
    failed = [made.failure_of(result) for result in results if isinstance(result, BaseException)]
    assert len(failed) == 3
    assert all(isinstance(error, NetworkError) and error.status == 502 for error in failed)
    assert "secret-123" not in repr(results)
    assert heard.losses == []


async def test_a_server_that_is_gone_costs_the_call_and_is_told_as_a_loss() -> None:
    server, _ = forgetful(Reply())
    await server.start()
    heard = Heard()
    made = transport(heard, server.url())
    async with connected(made, "legacy") as client:
        await client.list_tools()
        await server.stop()
        with pytest.raises(MCPError) as caught:
            await client.call_tool("echo", {})
        assert made.failure_of(caught.value) is await heard.loss()
        assert isinstance(await heard.loss(), NetworkError)
    assert len(heard.losses) == 1


@pytest.mark.limit(120)
async def test_a_killed_server_is_noticed_while_idle() -> None:
    heard = Heard()
    async with launch.http_server("good") as url, connected(transport(heard, url), "legacy") as client:
        await client.list_tools()
        await _end_server(url)
        loss = await heard.loss()
    assert "refused the connection" in str(loss)


async def _end_server(url: str) -> None:
    """Kill the process that listens at a URL and that this test has started."""
    import psutil

    port = int(url.rpartition(":")[2].partition("/")[0])
    for child in psutil.Process().children(recursive=True):
        if any(c.laddr.port == port and c.status == psutil.CONN_LISTEN for c in child.net_connections("tcp")):
            child.kill()
            return
    raise AssertionError("no such server")


async def test_closing_by_ourselves_is_no_loss() -> None:
    heard = Heard()
    async with launch.http_server("good") as url, connected(transport(heard, url), "legacy") as client:
        await client.list_tools()
    assert heard.losses == []


async def test_a_hanging_goodbye_does_not_hold_up_the_end() -> None:
    never = asyncio.Event()

    async def handler(request: Request) -> Reply:
        if request.method == "DELETE":
            await never.wait()
        return Reply(405) if request.method == "GET" else rpc(request.message, Mcp_Session_Id="s")

    async with serving(handler) as server:
        async with asyncio.timeout(15):
            async with connected(transport(Heard(), server.url()), "legacy") as client:
                await client.list_tools()
        assert server.count("DELETE") == 1


async def test_an_event_of_several_megabytes_arrives() -> None:
    text = "x" * (3 * 1024 * 1024)

    async def handler(request: Request) -> Reply:
        message = request.message
        if message.get("method") != "tools/call":
            return rpc(message) if request.method == "POST" else Reply(405)
        result = {"content": [{"type": "text", "text": text}]}
        data = json.dumps({"jsonrpc": "2.0", "id": message["id"], "result": result})
        return Reply(200, f"event: message\ndata: {data}\n\n".encode(), "text/event-stream")

    async with serving(handler) as server, connected(transport(Heard(), server.url())) as client:
        await client.list_tools()
        result = await client.call_tool("echo", {})
        assert result.content[0].text == text  # type: ignore[union-attr]
