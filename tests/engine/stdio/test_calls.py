"""Limits, progress, cancelling and the server's own questions, on real processes."""

from __future__ import annotations

import asyncio
import json

import pytest
from mcp import MCPError
from mcp_types import CreateMessageResult, ElicitResult, ListRootsResult, TextContent

from checks.waiting import until
from mcp_patchbay.engine.stdio.pending import RequestTimeoutError
from servers.cases.recorded import connected


async def test_a_call_over_its_limit_is_cancelled_at_the_server_and_its_late_answer_ignored():
    async with connected("late_answers") as server:
        with pytest.raises(RequestTimeoutError, match=r"timed out after 0\.2 s"):
            await server.call("slow", timeout=0.2)
        timed_out = server.messages("out")[-2]["id"]
        seen = json.loads(await server.call("release"))
        assert seen == {"calls": 1, "cancelled": [timed_out]}
        assert json.loads(await server.call("stats")) == seen


async def test_a_call_cancelled_by_its_caller_is_cancelled_at_the_server():
    async with connected("late_answers") as server:
        call = asyncio.create_task(server.call("slow"))
        await until(lambda: "tools/call" in server.sent())
        call.cancel()
        await asyncio.wait([call])
        assert call.cancelled()
        assert json.loads(await server.call("stats"))["cancelled"] == [server.messages("out")[-3]["id"]]


async def test_progress_is_reported_and_extends_the_limit():
    reports = []

    async def on_progress(progress, total, message):
        reports.append((progress, total, message))

    async with connected("progress") as server:
        work = {"steps": 8, "pause": 0.25}
        assert await server.call("work", work, timeout=1, on_progress=on_progress) == "had token: True"
        await until(lambda: len(reports) == 8)
    assert reports[0] == (1.0, 8.0, "step 1")


async def test_a_progress_token_is_sent_though_nobody_listens():
    async with connected("progress") as server:
        assert await server.call("work", {"steps": 1, "pause": 0}) == "had token: True"


async def test_requests_for_what_was_not_declared_are_refused_at_once():
    async with connected("uninvited_requests") as server:
        assert json.loads(await server.call("ask")) == {"e1": -32600, "s1": -32600, "r1": -32600}
        declared = next(m for m in server.messages("out") if m["method"] == "initialize")["params"]["capabilities"]
        assert declared == {}


async def test_who_declares_sampling_elicitation_and_roots_answers_them():
    async def sample(context, params):
        return CreateMessageResult(role="assistant", content=TextContent(text="sampled"), model="m")

    async def elicit(context, params):
        return ElicitResult(action="accept", content={"ok": True})

    async def roots(context):
        return ListRootsResult(roots=[])

    callbacks = {"sampling_callback": sample, "elicitation_callback": elicit, "list_roots_callback": roots}
    async with connected("uninvited_requests", **callbacks) as server:
        assert json.loads(await server.call("ask")) == {"e1": "result", "s1": "result", "r1": "result"}
        declared = next(m for m in server.messages("out") if m["method"] == "initialize")["params"]["capabilities"]
        assert set(declared) == {"sampling", "elicitation", "roots"}


async def test_a_handler_may_talk_to_the_server_before_it_answers():
    async def sample(context, params):
        await context.session.send_ping()
        return CreateMessageResult(role="assistant", content=TextContent(text="sampled"), model="m")

    async with connected("conversation", sampling_callback=sample) as server:
        answer = json.loads(await server.call("ask"))
        assert answer["result"]["content"]["text"] == "sampled"
        assert server.sent()[-1] == "ping"


async def test_the_clock_of_a_call_stands_still_while_a_person_is_asked():
    answer_given = asyncio.Event()

    async def sample(context, params):
        await answer_given.wait()
        return CreateMessageResult(role="assistant", content=TextContent(text="sampled"), model="m")

    async with connected("conversation", sampling_callback=sample) as server:
        asking = asyncio.create_task(server.call("ask", timeout=0.3))
        other = asyncio.get_running_loop().create_future()
        asyncio.get_running_loop().call_later(0.9, other.set_result, None)  # three times the limit
        await other
        assert not asking.done()
        answer_given.set()
        assert "sampled" in await asking


async def test_a_question_that_the_server_withdraws_ends_its_handler_and_gets_no_answer():
    ended = []

    async def sample(context, params):
        try:
            await context.session.send_ping()
        except asyncio.CancelledError:
            ended.append("cancelled")
            raise

    async with connected("conversation", sampling_callback=sample) as server:
        answer = json.loads(await server.call("ask_and_withdraw"))
        assert answer == {"jsonrpc": "2.0", "id": "q2", "result": {}}
        assert ended == ["cancelled"]
        assert not any(message.get("id") == "q1" for message in server.messages("out"))


async def test_a_server_that_reads_no_more_holds_senders_up_only_until_their_limit():
    async with connected("deaf") as server:
        calls = [server.call("any", {"x": "y" * 500_000}, timeout=0.5) for _ in range(8)]
        results = await asyncio.gather(*calls, return_exceptions=True)
        assert all(isinstance(result, RequestTimeoutError) for result in results)
        assert server.process.stdin.get_write_buffer_size() < 3 * 2**20


async def test_a_thousand_calls_at_once_each_get_their_own_answer():
    async with connected("bad_utf8") as server:
        answers = await asyncio.gather(*(server.client.session.request_raw("ping") for _ in range(1000)))
        assert answers == [{}] * 1000


async def test_ids_that_the_caller_chooses_do_not_collide_with_our_own():
    async with connected("late_answers") as server:
        process = server.process
        chosen = str(process._next_id + 2)
        slow = asyncio.create_task(
            process.send_raw_request("tools/call", {"name": "slow", "arguments": {}}, {"request_id": chosen})
        )
        await until(lambda: "tools/call" in server.sent())
        with pytest.raises(ValueError, match="already in flight"):
            await process.send_raw_request("ping", {}, {"request_id": int(chosen)})
        await asyncio.gather(*(process.send_raw_request("ping", {}) for _ in range(4)))
        await server.call("release")
        assert (await slow)["content"][0]["text"] == "late answer"


async def test_a_dead_servers_calls_all_fail_with_its_exit_code():
    async with connected("conversation") as server:
        waiting = [asyncio.create_task(server.call("ask", timeout=20)) for _ in range(1)]
        for call in waiting:
            call.cancel()
        results = await asyncio.gather(server.call("die"), server.call("ask"), return_exceptions=True)
        for error in results:
            assert isinstance(error, MCPError)
            assert str(error) == "Connection closed: the server exited with code 7"
        with pytest.raises(MCPError, match="exited with code 7"):
            await server.call("ask")
