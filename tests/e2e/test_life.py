"""The program's life: first start, end, crash of a server, second start, files that change under it."""

from __future__ import annotations

import json
import os
import signal
import stat
import sys
from pathlib import Path

import psutil
import pytest
from checks.waiting import until_sync
from e2e.conftest import StartApp
from servers.launch import script_path

GOOD = {"command": sys.executable, "args": [str(script_path("good"))]}
OFF = {"command": "nothing", "enabled": False}
pytestmark = pytest.mark.limit(150)


def test_the_first_start_has_a_server_that_is_ready(start_app: StartApp) -> None:
    app = start_app()
    app.until_table(filesystem="ready")
    assert app.saved()["filesystem"]["builtin"] == "filesystem"
    assert stat.S_IMODE(app.servers_file.stat().st_mode) == 0o600
    app.until_said("Add a server")
    assert app.terminate() < 15


def test_a_killed_server_leaves_ready_and_comes_back(start_app: StartApp) -> None:
    app = start_app(servers={"weather": GOOD})
    app.until_table(weather="ready")
    (server,) = [child for child in psutil.Process(app.process.pid).children() if "good" in " ".join(child.cmdline())]
    os.kill(server.pid, signal.SIGKILL)
    until_sync(lambda: not app.table()["weather"].lower().startswith("ready"), 10, "the row leaves ready")
    app.until_table(weather="ready")
    app.terminate()


def test_sigterm_ends_the_app_and_every_server_with_its_family(start_app: StartApp, tmp_path: Path) -> None:
    pids = tmp_path / "pids"
    stubborn = {"command": sys.executable, "args": [str(script_path("stubborn")), str(pids)]}
    app = start_app(servers={"stubborn": stubborn, "weather": GOOD})
    app.until_table(stubborn="ready", weather="ready")
    family = [psutil.Process(int(line)) for line in pids.read_text().split()]
    family += psutil.Process(app.process.pid).children(recursive=True)
    took = app.terminate()
    print(f"SIGTERM to exit, with a server that ignores it: {took:.2f} s")
    assert took < 15
    assert [process for process in family if process.is_running() and process.status() != "zombie"] == []


def test_a_second_start_raises_the_first_and_ends(start_app: StartApp) -> None:
    first = start_app("--hidden", servers={"off": OFF})
    with first.tray():
        assert first.seen() == []
    second = start_app()
    assert second.process.wait(30) == 0
    until_sync(lambda: first.seen() != [], 30, "the window of the first")
    first.until_table(off="off")
    first.terminate()


def test_an_outside_edit_is_applied_live(start_app: StartApp) -> None:
    app = start_app(servers={"off": OFF})
    app.until_table(off="off")
    replacement = app.servers_file.with_name("edited")
    replacement.write_text(json.dumps({"version": 1, "servers": {"weather": GOOD}}))
    replacement.rename(app.servers_file)
    app.until_table(weather="ready")
    assert "off" not in app.table()
    app.terminate()


def test_a_broken_file_is_said_and_kept(start_app: StartApp) -> None:
    broken = '{"version": 1,\n "servers": {"a" {}}}'
    app = start_app(text=broken)
    app.until_said("line 2")
    app.terminate()
    assert app.servers_file.read_text() == broken


def test_servers_of_the_environment_are_there_for_the_run_only(start_app: StartApp) -> None:
    extra = json.dumps([{"name": "from-env", **GOOD}])
    app = start_app(servers={"off": OFF}, env={"MCP_SERVERS": extra})
    app.until_table(**{"from-env": "ready", "off": "off"})
    app.terminate()
    assert list(app.saved()) == ["off"]
