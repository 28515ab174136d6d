"""What comes out of a server's pipes, however odd, on real processes."""

from __future__ import annotations

import pytest
from mcp import MCPError

from checks.waiting import until
from servers.cases.recorded import Recorded, connected


async def test_stray_lines_on_stdout_are_kept_apart_from_the_protocol():
    async with connected("stdout_noise") as server:
        assert await server.call("echo") == "fine"
    assert server.noise == [
        b"My Server version 1.2.3",
        b"\x1b[32m[dotenv] loaded 4 vars\x1b[0m",
        b"42",
        b"null",
        b'{"level":"info","msg":"hello"}',
        b"[1,2]",
        b"DEBUG calling",
    ]
    assert not any(raw in server.noise for _, raw in server.traffic)


async def test_invalid_utf8_costs_neither_the_line_nor_the_connection():
    logged = []

    async def on_log(params):
        logged.append(params.data)

    async with connected("bad_utf8", logging_callback=on_log) as server:
        assert await server.call("echo") == "still alive"
        await until(lambda: logged)
    assert server.noise == [b"\xff\xfe not utf-8"]
    assert logged == ["caf\ufffd"]


async def test_large_answers_arrive_and_one_over_the_limit_fails_alone():
    async with connected("big_message", max_message=8 * 2**20) as server:
        for kb in (63, 65, 5120):
            assert len(await server.call("big", {"kb": kb})) == kb * 1024 // 3
        with pytest.raises(MCPError, match=r"answer is too big: it has 9\d{6} bytes, the limit is 8388608"):
            await server.call("big", {"kb": 9000})
        assert len(await server.call("big", {"kb": 3})) == 1024
    assert [line for line in server.noise if line.startswith(b"A message was dropped")]


async def test_a_flood_on_stderr_is_drained_line_by_line_and_holds_nothing_up():
    async with connected("stderr_flood") as server:
        for _ in range(5):
            assert await server.call("spam") == "answered"
        await until(lambda: server.stderr.count(b"INFO 02047 " + b"." * 50) == 6)
        # Nothing ends the last progress report, so it is given out after a moment.
        await until(lambda: server.stderr[-1].startswith(b"progress   4095/4096"))
    assert max(map(len, server.stderr)) < 200
    assert b"" not in server.stderr


async def test_what_a_server_of_another_framing_says_can_be_quoted():
    server = Recorded("content_length", probe_limit=0.5, read_timeout=0.5)
    with pytest.raises(MCPError, match=r"'initialize' timed out after 0\.5 s"):
        await server.client.__aenter__()
    assert server.noise[0].startswith(b"Content-Length: ")
    assert server.outputs


async def test_null_in_optional_fields_is_as_good_as_left_out():
    async with connected("null_optionals") as server:
        tools, notes = await server.client.list_all_tools_raw()
        assert [tool["name"] for tool in tools] == ["echo"]
        assert not notes
        assert await server.client.list_all_prompts_raw() == ([], [])
        assert server.client.instructions is None


async def test_integers_over_64_bits_nan_and_lone_surrogates_survive():
    async with connected("results") as server:
        result, _ = await server.client.call_tool_raw("raw_number", {"sent": 2**70})
        assert result["structuredContent"]["big"] == 123456789012345678901
        assert result["structuredContent"]["nan"] != result["structuredContent"]["nan"]
        assert result["structuredContent"]["half"] == "\ud800"
        assert server.messages("out")[-1]["params"]["arguments"] == {"sent": 2**70}


async def test_an_answer_under_its_id_as_text_and_one_in_a_batch_are_found():
    logged = []

    async def on_log(params):
        logged.append(params.data)

    async with connected("results", logging_callback=on_log) as server:
        assert await server.call("string_id") == "found"
        assert await server.client.call_tool_raw("batch", {}) == ({"content": []}, [])
        await until(lambda: logged == ["batched"])


async def test_an_answer_that_is_neither_result_nor_error_fails_at_once():
    async with connected("results") as server:
        with pytest.raises(MCPError, match="neither a result nor an error"):
            await server.call("no_result")


async def test_what_json_cannot_hold_is_refused_and_never_sent():
    async with connected("results") as server:
        with pytest.raises(MCPError, match="cannot be sent as JSON"):
            await server.call("fits", {"a": object()})
        assert "tools/call" not in server.sent()


async def test_log_messages_reach_their_handler_in_order():
    logged = []

    async def on_log(params):
        logged.append(params.data)

    async with connected("conversation", logging_callback=on_log) as server:
        assert await server.call("log_in_order") == "done"
        await until(lambda: len(logged) == 300)
    assert logged == list(range(300))


async def test_traffic_holds_both_directions_as_they_went():
    async with connected("results") as server:
        await server.call("string_id")
    assert [way for way, _ in server.traffic][:4] == ["out", "in", "out", "in"]
    assert server.sent() == ["server/discover", "initialize", "notifications/initialized", "tools/call"]
    assert not any(raw.endswith(b"\n") for _, raw in server.traffic)
