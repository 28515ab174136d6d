"""What an app started and lost in a crash is ended by the next one, and nothing else ever is."""

from __future__ import annotations

import asyncio
import os
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

import psutil
import pytest

from checks.waiting import until
from engine.orphans.crashing_app import Ledger
from mcp_patchbay.engine import orphans

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="on Windows the Job Object leaves no orphans")

APP = Path(__file__).with_name("crashing_app.py")


def lives(pid: int) -> bool:
    with suppress(psutil.Error):
        return psutil.Process(pid).status() != psutil.STATUS_ZOMBIE
    return False


async def kill(pid: int) -> None:
    """A signal is only sent: for a moment the process is still there, and would be found."""
    os.kill(pid, 9)
    await until(lambda: not lives(pid))


@contextmanager
def app(path: Path, *arguments: str) -> Iterator[tuple[subprocess.Popen[str], list[int]]]:
    """Another run of the app, with the pids of its server and grandchild, which are ended afterwards in any case."""
    command = [sys.executable, str(APP), str(path), *arguments]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        pids = [int(word) for word in process.stdout.readline().split()]
        try:
            if not arguments:
                process.wait(timeout=20)
            yield process, pids
        finally:
            for pid in pids:
                with suppress(ProcessLookupError):
                    os.kill(pid, 9)


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "state.json"


async def test_a_server_lost_in_a_crash_is_ended_with_its_children(path: Path) -> None:
    with app(path) as (_, pids):
        assert [lives(pid) for pid in pids] == [True, True]
        ledger = Ledger(str(path))
        assert await orphans.end_orphans(ledger) == 2
        assert [lives(pid) for pid in pids] == [False, False]
        assert ledger.recall(orphans.TOPIC, orphans.KEY) is None


async def test_a_child_that_outlived_its_server_is_ended_too(path: Path) -> None:
    with app(path) as (_, [server, grandchild]):
        await kill(server)
        assert await orphans.end_orphans(Ledger(str(path))) == 1
        assert not lives(grandchild)


async def test_the_servers_of_an_app_that_still_runs_are_let_alone(path: Path) -> None:
    with app(path, "stay") as (_, pids):
        ledger = Ledger(str(path))
        assert await orphans.end_orphans(ledger) == 0
        assert [lives(pid) for pid in pids] == [True, True]
        assert len(ledger.recall(orphans.TOPIC, orphans.KEY)) == 1


def altered(ledger: Ledger, **values: Any) -> None:
    ledger.remember(orphans.TOPIC, orphans.KEY, [ledger.recall(orphans.TOPIC, orphans.KEY)[0] | values])


@pytest.mark.parametrize("values", [{"started": 1.0}, {"run": "f" * 32}])
async def test_a_process_with_another_start_or_marker_is_a_stranger(path: Path, values: dict[str, Any]) -> None:
    with app(path) as (_, [server, grandchild]):
        await kill(grandchild)
        ledger = Ledger(str(path))
        altered(ledger, **values)
        assert await orphans.end_orphans(ledger) == 0
        assert lives(server)
        assert ledger.recall(orphans.TOPIC, orphans.KEY) is None


async def test_a_stranger_with_a_recorded_pid_and_no_marker_is_let_alone(path: Path) -> None:
    with app(path) as (_, _):
        ledger = Ledger(str(path))
        stranger = await asyncio.create_subprocess_exec("sleep", "600", start_new_session=True)
        altered(ledger, pid=stranger.pid, started=psutil.Process(stranger.pid).create_time())
        assert await orphans.end_orphans(ledger) == 0
        assert lives(stranger.pid)
        stranger.kill()
        await stranger.wait()


async def test_what_was_ended_in_order_is_struck_out(path: Path) -> None:
    ledger = Ledger(str(path))
    await orphans.record(ledger, os.getpid())
    assert ledger.recall(orphans.TOPIC, orphans.KEY)[0]["pid"] == os.getpid()
    assert await orphans.end_orphans(ledger) == 0
    orphans.forget(ledger, os.getpid())
    assert ledger.recall(orphans.TOPIC, orphans.KEY) is None


async def test_a_ledger_of_another_version_does_no_harm(path: Path) -> None:
    ledger = Ledger(str(path))
    ledger.remember(orphans.TOPIC, orphans.KEY, [{"pid": os.getppid(), "other": 1}])
    assert await orphans.end_orphans(ledger) == 0
