"""Asking the login shell for its PATH."""

from __future__ import annotations

import asyncio
import sys
from pathlib import Path

import psutil
import pytest

from checks.waiting import until
from mcp_patchbay.engine.spawn.login_shell import login_path

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="Windows has no login shell")


def shell(path: Path, body: str) -> dict[str, str]:
    """An environment whose SHELL is a script; `eval "$2"` in it runs what it is asked."""
    path.write_text(f"#!/bin/sh\n{body}\n")
    path.chmod(0o755)
    return {"SHELL": str(path), "HOME": str(path.parent), "PATH": "/usr/bin:/bin"}


async def test_what_rc_files_print_does_not_get_into_the_path(tmp_path: Path) -> None:
    environ = shell(tmp_path / "sh", 'echo welcome; PATH="/opt/x:$PATH"; printf "no newline"; eval "$2"; echo bye')
    assert await login_path(environ) == "/opt/x:/usr/bin:/bin"


async def test_the_shell_is_asked_once_by_all(tmp_path: Path) -> None:
    environ = shell(tmp_path / "sh", 'echo x >> "$HOME/asked"; eval "$2"')
    answers = await asyncio.gather(*(login_path(environ) for _ in range(5)))
    assert answers == ["/usr/bin:/bin"] * 5
    assert await login_path(environ) == "/usr/bin:/bin"
    assert (tmp_path / "asked").read_text() == "x\n"


async def test_a_shell_that_hangs_is_ended_with_all_it_started(tmp_path: Path) -> None:
    environ = shell(tmp_path / "sh", 'sleep 600 & echo $! > "$HOME/pid"; sleep 600')
    assert await login_path(environ, limit=1.0) is None
    pid = int((tmp_path / "pid").read_text())
    await until(lambda: not psutil.pid_exists(pid) or psutil.Process(pid).status() == psutil.STATUS_ZOMBIE)


@pytest.mark.parametrize("body", ["exit 1", "echo only noise", 'eval "unset PATH; $2"'])
async def test_a_shell_that_does_not_tell_costs_nothing(tmp_path: Path, body: str) -> None:
    assert await login_path(shell(tmp_path / "sh", body)) is None


async def test_a_shell_that_is_not_there_costs_nothing(tmp_path: Path) -> None:
    assert await login_path({"SHELL": str(tmp_path / "no-such-shell")}) is None


async def test_a_caller_that_gives_up_does_not_take_the_answer_from_the_others(tmp_path: Path) -> None:
    environ = shell(tmp_path / "sh", f'while [ ! -e "{tmp_path}/go" ]; do sleep 0.02; done; eval "$2"')
    hasty, patient = asyncio.ensure_future(login_path(environ)), asyncio.ensure_future(login_path(environ))
    await asyncio.sleep(0)
    hasty.cancel()
    (tmp_path / "go").touch()
    assert await patient == "/usr/bin:/bin"
    assert hasty.cancelled()
