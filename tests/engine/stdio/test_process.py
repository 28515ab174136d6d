"""Starting servers, noticing their end, and ending them with all they have started."""

from __future__ import annotations

import asyncio
import os
import signal
from pathlib import Path

import anyio
import pytest
from mcp import MCPError

from checks.waiting import until
from mcp_patchbay.engine.client import PatchbayClient
from mcp_patchbay.engine.stdio.dispatcher import exit_words
from mcp_patchbay.engine.stdio.process import Launch
from servers.cases import launch
from servers.cases.recorded import Recorded, connected

pytestmark = pytest.mark.skipif(os.name == "nt", reason="process groups and signals")


def lives(pid: int) -> bool:
    """Whether the process runs; a zombie does not."""
    try:
        return Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()[0] != "Z"
    except OSError:
        return False


async def test_a_server_killed_while_idle_is_noticed_at_once():
    async with connected("late_answers") as server:
        os.kill(server.process.pid, signal.SIGKILL)
        async with asyncio.timeout(5):
            await asyncio.shield(server.process.ended)
        assert server.process.returncode == -signal.SIGKILL
        with pytest.raises(MCPError, match="ended by SIGKILL"):
            await server.call("stats")


async def test_a_server_that_closes_its_stdout_but_lives_on_is_lost_too():
    async with connected("conversation") as server:
        with pytest.raises(MCPError, match="Connection closed"):
            await server.call("close_pipes", timeout=20)
        assert server.process.ended.done()
        assert server.process.returncode is None
        pid = server.process.pid
    assert not lives(pid)


async def test_a_server_that_ends_by_itself_at_the_end_of_stdin_is_not_signalled():
    async with connected("late_answers") as server:
        process = server.process
    assert process.returncode == 0


async def test_a_tree_that_ignores_stdin_and_sigterm_is_killed():
    server = Recorded("unkillable")
    async with server.client:
        pids = [int(pid) for pid in (await server.call("pids")).split()]
        assert all(map(lives, pids))
    await until(lambda: not any(map(lives, pids)))
    assert server.process.returncode == -signal.SIGKILL


async def test_a_child_that_survives_the_server_is_ended_too():
    async with connected("unkillable", "orphan") as server:
        leader, child = (int(pid) for pid in (await server.call("pids")).split())
        assert lives(child)
    assert server.process.returncode == 0
    await until(lambda: not lives(leader) and not lives(child))


async def test_the_tree_of_a_server_that_crashed_is_ended_when_it_is_closed():
    async with connected("unkillable") as server:
        leader, child = (int(pid) for pid in (await server.call("pids")).split())
        os.kill(leader, signal.SIGKILL)
        async with asyncio.timeout(5):
            await asyncio.shield(server.process.ended)
        assert lives(child)
    await until(lambda: not lives(child))


async def test_a_cancelled_owner_still_ends_the_process():
    server = Recorded("unkillable")
    with anyio.move_on_after(20) as scope:
        async with server.client:
            pids = [int(pid) for pid in (await server.call("pids")).split()]
            scope.cancel()
            await anyio.sleep_forever()
    await until(lambda: not any(map(lives, pids)))


async def test_connecting_can_be_cancelled_and_leaves_no_process():
    server = Recorded("silent", probe_limit=60)
    connecting = asyncio.create_task(server.client.__aenter__())
    await until(lambda: server.noise)
    connecting.cancel()
    await asyncio.wait([connecting])
    assert connecting.cancelled()
    assert not lives(server.process.pid)


@pytest.mark.parametrize(
    ("command", "error"),
    [
        (Launch(("/no/such/command",), {}), FileNotFoundError),
        (Launch(("/bin/sh",), {}, cwd="/no/such/folder"), FileNotFoundError),
        (Launch((__file__,), {}), PermissionError),
        (Launch(("/bin/sh", "a\0b"), {}), ValueError),
    ],
)
async def test_what_cannot_be_started_says_so_unwrapped(command, error):
    with pytest.raises(error):
        await PatchbayClient(command).__aenter__()


async def test_the_environment_is_exactly_the_one_given(tmp_path):
    env_file = tmp_path / "env"
    command = Launch(("/bin/sh", "-c", f"/usr/bin/env > {env_file}; pwd >> {env_file}"), {"ONLY": "this"}, "/")
    with pytest.raises(MCPError):
        await PatchbayClient(command, mode="legacy").__aenter__()
    lines = env_file.read_text().splitlines()
    assert "ONLY=this" in lines
    assert lines[-1] == "/"
    assert not {line.partition("=")[0] for line in lines[:-1]} - {"ONLY", "PWD", "OLDPWD", "SHLVL", "_"}


async def test_what_the_body_raises_comes_out_as_it_is():
    with pytest.raises(ZeroDivisionError):
        async with connected("results"):
            raise ZeroDivisionError


def test_a_launch_keeps_arguments_and_environment_out_of_its_repr():
    text = repr(launch("results", "--token=hush", KEY="hush"))
    assert "hush" not in text
    assert "hush" not in repr(PatchbayClient(launch("results", "--token=hush", KEY="hush")))


def test_exit_words_name_the_code_or_the_signal():
    assert exit_words(None) == ""
    assert exit_words(3) == ": the server exited with code 3"
    assert exit_words(-15) == ": the server was ended by SIGTERM"
    assert exit_words(-250) == ": the server was ended by signal 250"
