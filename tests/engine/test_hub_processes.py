"""Processes that crash, ignore their end, are not there, or want a key: what the hub makes of them."""

import asyncio
import os
import signal

import psutil
import pytest

from mcp_patchbay.domain.errors import ConnectionLostError, LaunchError
from mcp_patchbay.domain.events import ServerStarted, ServerStopped
from mcp_patchbay.domain.servers import HttpServer, ServerSpec, StdioServer
from mcp_patchbay.domain.state import ServerState
from mcp_patchbay.engine.clock import Clock
from servers.launch import http_server, http_spec, stdio_spec

from .conftest import Listener


class QuickClock(Clock):
    """A clock on which pauses pass at once, up to a blink."""

    async def wait(self, event, seconds):
        return await super().wait(event, min(seconds, 0.01))


def alive(pid: int) -> bool:
    try:
        return psutil.Process(pid).status() != psutil.STATUS_ZOMBIE
    except psutil.NoSuchProcess:
        return False


async def test_a_killed_server_leaves_ready_at_once_and_comes_back(hub):
    one = hub(stdio_spec("a", "good"))
    heard = Listener(one)
    await one.init()
    first = one.snapshot("a").pid
    os.kill(first, signal.SIGKILL)
    lost = await heard.until("a", lambda snapshot: snapshot.state is not ServerState.READY, limit=5)
    assert lost.state is ServerState.RETRYING
    back = await heard.until("a", lambda snapshot: snapshot.state is ServerState.READY)
    assert back.pid != first
    assert [len(heard.of(kind)) for kind in (ServerStarted, ServerStopped)] == [2, 1]


async def test_a_crash_during_a_call_fails_the_call_and_says_why(hub):
    one = hub(stdio_spec("a", "crashing"))
    heard = Listener(one)
    await one.init()
    with pytest.raises(ConnectionLostError, match="exit code 9"):
        await one.call_tool("a", "crash", {"code": 9})
    snapshot = await heard.until("a", lambda snapshot: snapshot.error is not None)
    assert "giving up with 9" in str(snapshot.error)


async def test_a_server_that_never_starts_is_given_up_with_its_last_words(hub):
    one = hub(stdio_spec("a", "crashing", "now", "3"), clock=QuickClock())
    heard = Listener(one)
    await one.init()
    snapshot = await heard.until("a", lambda snapshot: snapshot.state is ServerState.FAILED)
    assert snapshot.attempt == snapshot.attempts
    assert "exit code 3" in str(snapshot.error)
    assert "the database is locked" in str(snapshot.error)
    assert heard.states("a").count(ServerState.CONNECTING) == snapshot.attempts


async def test_nothing_is_left_of_a_server_that_ignores_its_end(hub, tmp_path):
    pids = tmp_path / "pids"
    one = hub(stdio_spec("a", "stubborn", pids))
    await one.init()
    family = [int(line) for line in pids.read_text().split()]
    assert len(family) >= 2
    assert all(map(alive, family))
    await one.cleanup()
    assert not any(map(alive, family))
    assert one.snapshot("a").state is ServerState.STOPPED


async def test_switching_off_and_on_leaks_no_process(hub):
    one = hub(stdio_spec("a", "good"))
    await one.init()
    for _ in range(3):
        first = one.snapshot("a").pid
        await one.set_server_active("a", False)
        assert not alive(first)
        await one.set_server_active("a", True)
    assert len(psutil.Process().children()) == 1


async def test_a_start_is_aborted_by_stop(hub):
    one = hub(ServerSpec(name="a", target=StdioServer("sleep", ("600",))))
    heard = Listener(one)
    await one.start("a", wait=False)
    started = await heard.until("a", lambda snapshot: snapshot.pid is not None or snapshot.state.value != "connecting")
    assert started.state is ServerState.CONNECTING
    await asyncio.wait_for(one.stop("a"), 15)
    assert one.snapshot("a").state is ServerState.STOPPED
    assert psutil.Process().children() == []


async def test_a_missing_command_says_what_was_searched_and_is_not_retried(hub):
    one = hub(ServerSpec(name="a", target=StdioServer("no-such-command-anywhere")))
    await one.init()
    snapshot = one.snapshot("a")
    assert snapshot.state is ServerState.FAILED
    assert isinstance(snapshot.error, LaunchError)
    assert str(snapshot.health.summary) == "no-such-command-anywhere was not found"
    assert "Searched for no-such-command-anywhere in: " in str(snapshot.health.detail)
    assert snapshot.health.action == "install"


async def test_something_that_is_not_mcp_is_named_by_its_first_words(hub):
    target = StdioServer("sh", ("-c", "echo Content-Length: 52; sleep 60"))
    one = hub(ServerSpec(name="a", target=target, connect_timeout=1.0), retry=False)
    await one.init()
    snapshot = one.snapshot("a")
    assert snapshot.state is ServerState.FAILED
    assert "Content-Length: 52" in str(snapshot.error)


async def test_a_refused_url_says_so(hub):
    one = hub(ServerSpec(name="a", target=HttpServer("http://127.0.0.1:9/mcp")), retry=False)
    await one.init()
    snapshot = one.snapshot("a")
    assert snapshot.state is ServerState.FAILED
    assert "127.0.0.1" in str(snapshot.error)
    assert "refused" in str(snapshot.error).lower()


@pytest.mark.parametrize("kind", ["http", "sse"])
async def test_a_server_that_wants_a_key_waits_for_sign_in_and_works_with_the_key(hub, kind):
    async with http_server("header_check", kind) as url:
        headers = {"Authorization": "${secret:the-id/headers.Authorization}"}

        class Keyring:
            async def get(self, server_id, field):
                return {("the-id", "headers.Authorization"): "Bearer let-me-in"}.get((server_id, field))

        one = hub(http_spec("no-key", url, kind), http_spec("key", url, kind, headers=headers), secrets=Keyring())
        heard = Listener(one)
        await one.init()
        assert one.snapshot("no-key").state is ServerState.NEEDS_AUTH
        assert one.snapshot("no-key").health.action == "sign_in"
        assert heard.states("no-key").count(ServerState.CONNECTING) == 1
        assert one.snapshot("key").state is ServerState.READY, one.snapshot("key").error
        assert (await one.call_tool("key", "whoami")).text == "someone with the key"
        kept = b"".join(entry.raw for entry in one.traffic("key").read(0))
        assert b"let-me-in" not in kept
        assert "let-me-in" not in repr(one.snapshots())
        await one.cleanup()


async def test_a_secret_a_server_prints_is_masked_in_its_log(hub):
    class Keyring:
        async def get(self, server_id, field):
            return "sesame-open-now"

    target = StdioServer("sh", ("-c", "echo my key is $KEY >&2; exit 3"), env={"KEY": "${secret:x/env.KEY}"})
    one = hub(ServerSpec(name="a", target=target), secrets=Keyring(), retry=False)
    await one.init()
    assert "sesame-open-now" not in str(one.snapshot("a").error)
    lines = [line.text for line in one.log("a").read(0)]
    assert any("my key is •••" in line for line in lines)
    assert not any("sesame-open-now" in line for line in lines)
