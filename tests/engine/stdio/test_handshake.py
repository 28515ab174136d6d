"""Both eras of the protocol: how the client finds out, and what it remembers of it."""

from __future__ import annotations

import asyncio
import os
import signal

import pytest
from mcp import MCPError
from mcp_types import ElicitResult

from checks.waiting import until
from mcp_patchbay.engine.client import ping
from servers.cases.recorded import Recorded, connected


async def test_a_server_of_the_newer_era_is_recognised():
    async with connected("subscriber") as server:
        assert (server.client.era, server.client.era_guessed, server.client.restarted) == ("modern", False, False)
        assert await server.call("echo", {"text": "hi"}) == "hi"


async def test_a_server_that_answers_the_probe_with_an_error_is_of_the_older_era_for_sure():
    async with connected("late_answers") as server:
        assert (server.client.era, server.client.era_guessed, server.client.restarted) == ("legacy", False, False)


async def test_silence_on_the_probe_leads_to_initialize_on_the_same_process_and_counts_as_a_guess():
    async with connected("silent_on_probe", probe_limit=0.3) as server:
        assert (server.client.era, server.client.era_guessed, server.client.restarted) == ("legacy", True, False)
        assert int(await server.call("pid")) == server.process.pid
        assert server.sent()[:2] == ["server/discover", "initialize"]


async def test_a_server_that_exits_on_the_probe_is_started_again_in_the_older_era():
    async with connected("exits_on_probe") as server:
        assert (server.client.era, server.client.era_guessed, server.client.restarted) == ("legacy", False, True)
        assert server.stderr == [b"fatal: expected initialize"]
        assert await server.call("echo") == "{}"


async def test_the_remembered_older_era_needs_no_probe():
    async with connected("exits_on_probe", mode="legacy") as server:
        assert not server.client.restarted
        assert server.sent()[0] == "initialize"


async def test_the_servers_error_in_the_handshake_comes_out_as_it_is():
    server = Recorded("content_length", mode="legacy", read_timeout=0.3)
    with pytest.raises(MCPError, match="timed out"):
        async with server.client:
            pass


async def test_a_server_that_is_killed_while_connecting_fails_the_connecting_at_once():
    server = Recorded("silent", mode="legacy")
    connecting = asyncio.create_task(server.client.__aenter__())
    await until(lambda: server.noise)
    os.kill(server.process.pid, signal.SIGKILL)
    with pytest.raises(MCPError, match="ended by SIGKILL"):
        await connecting


@pytest.mark.parametrize(
    ("answer", "words"), [("empty", "not valid: capabilities: Field required"), ("version", "1999-01-01")]
)
async def test_a_handshake_that_is_no_mcp_says_what_is_wrong_with_it(answer, words):
    with pytest.raises(MCPError, match=words):
        async with connected("broken_handshake", answer):
            pass


@pytest.mark.parametrize("case", ["late_answers", "subscriber"])
async def test_a_ping_gives_the_seconds_it_took_in_either_era(case):
    async with connected(case) as server:
        assert 0 < await ping(server.client, 10) < 10
        expected = "server/discover" if server.client.era == "modern" else "ping"
        assert server.sent()[-1] == expected


async def test_an_error_answer_proves_life_and_silence_does_not():
    async with connected("deaf") as server:
        await ping(server.client, 10)
        wait = asyncio.create_task(server.call("any"))
        await until(lambda: "tools/call" in server.sent())
        with pytest.raises(MCPError, match="timed out"):
            await ping(server.client, 0.2)
        wait.cancel()
        await asyncio.wait([wait])


@pytest.mark.parametrize(("case", "tool"), [("subscriber", "echo"), ("results", "fits")])
@pytest.mark.parametrize("listed", [False, True])
async def test_a_call_never_causes_a_list_that_nobody_asked_for(case, tool, listed):
    async with connected(case) as server:
        if listed:
            await server.client.list_all_tools_raw()
        asked = server.sent().count("tools/list")
        await server.client.call_tool_raw(tool, {"text": "hi"})
        assert server.sent().count("tools/list") == asked
        assert server.sent()[-1] == "tools/call"


async def test_input_that_a_tool_asks_for_on_the_way_is_given_in_further_rounds():
    async def elicit(context, params):
        return ElicitResult(action="accept", content={"name": "Ada"})

    async with connected("subscriber", elicitation_callback=elicit) as server:
        assert await server.call("greet") == "Hello Ada"
        assert server.sent().count("tools/call") == 2


async def test_input_that_nobody_can_give_is_an_error():
    async with connected("subscriber") as server:
        result = await asyncio.gather(server.client.call_tool_raw("greet", {}), return_exceptions=True)
        assert isinstance(result[0], MCPError) or result[0][0]["isError"]


async def test_progress_comes_in_the_newer_era_too():
    reports = []

    async def on_progress(progress, total, message):
        reports.append((progress, total, message))

    async with connected("subscriber") as server:
        await server.client.call_tool_raw("count", {"to": 3}, on_progress=on_progress)
        await until(lambda: len(reports) == 3)
    assert reports[-1] == (3.0, 3.0, "number 3")


async def test_a_call_cut_short_in_the_newer_era_leaves_the_connection_whole():
    async with connected("subscriber") as server:
        with pytest.raises(MCPError, match="timed out"):
            await server.call("wait_for_ever", timeout=0.2)
        assert server.sent()[-1] == "notifications/cancelled"
        assert await server.call("echo", {"text": "still here"}) == "still here"


async def test_list_changes_are_told_in_the_older_era():
    told = []
    async with connected("list_changed", on_list_changed=told.append) as server:
        await server.client.watch_lists()  # ends at once: nothing needs to be kept open
        await server.call("change")
        await until(lambda: told == ["tools", "prompts", "resources"])


async def test_list_changes_are_told_in_the_newer_era_while_the_subscription_is_kept():
    told = []
    async with connected("subscriber", on_list_changed=told.append) as server:
        watching = asyncio.create_task(server.client.watch_lists())
        await until(lambda: any("acknowledged" in m.get("method", "") for m in server.messages("in")))
        await server.call("grow", {"name": "grown"})
        await until(lambda: told == ["tools"])
        assert "grown" in [tool["name"] for tool in (await server.client.list_all_tools_raw())[0]]
        watching.cancel()
        await asyncio.wait([watching])
    assert told == ["tools"]


async def test_each_process_is_told_of_before_it_is_spoken_to():
    told = []

    async def on_process(process):
        told.append((process.pid, process.received))

    async with connected("exits_on_probe", on_process=on_process) as server:
        assert len(told) == 2
        assert told[1] == (server.process.pid, 0)
