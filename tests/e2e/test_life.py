"""The program's life: first start, a server that dies, a second start, the end."""

from __future__ import annotations

import os
import signal
import stat
import subprocess
import sys
import time
from pathlib import Path

import psutil

from e2e.conftest import StartApp
from e2e.running_app import TOOLS, RunningApp
from e2e.sample_servers import OFF, stdio

END_LIMIT = 15.0
"""Seconds, on a loaded machine, for what shall take five at most; the tests print what it took."""
SAY_WHAT_IS_LOADED_AT_THE_FIRST_PAINT = """
import sys
from mcp_patchbay import program
painted = program.painted
async def tell(window):
    await painted(window)
    assert window.isVisible()
    print("loaded:", sorted({"mcp", "pydantic", "keyring"} & set(sys.modules)), flush=True)
    window.quit_requested.emit()
program.painted = tell
sys.exit(program.run_program())
"""


def server_process(app: RunningApp, script: str) -> psutil.Process:
    """The process of the sample server that the app started."""
    (found,) = [p for p in app.family() if any(script in word for word in p.cmdline())]
    return found


def test_the_first_start_opens_a_window_with_a_server_that_is_ready(start_app: StartApp) -> None:
    app = start_app()
    app.until_table(filesystem="Ready")
    assert app.windows()
    assert app.row("filesystem")[TOOLS]["name"] == "11 of 11 tools visible"
    app.until_said("Bring in your servers")
    assert app.saved()["filesystem"]["builtin"] == "filesystem"
    assert stat.S_IMODE(app.servers_file.stat().st_mode) == 0o600
    status, called = app.command_line("call", "filesystem", "list_allowed_directories", "{}")
    assert (status, called["ok"]) == (0, True)


def test_the_window_is_painted_before_the_engine_is_imported(tmp_path: Path) -> None:
    done = subprocess.run(
        [sys.executable, "-c", SAY_WHAT_IS_LOADED_AT_THE_FIRST_PAINT],
        env={**os.environ, "MCP_PATCHBAY_HOME": str(tmp_path)},
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )
    assert "loaded: []" in done.stdout, done.stdout + done.stderr


def test_a_module_that_cannot_be_asked_anything_is_imported_all_the_same(tmp_path: Path) -> None:
    (tmp_path / "touchy.py").write_text("def __getattr__(name): raise ImportError(name)")
    code = "from mcp_patchbay import program; program.leave_imports_alone(); import touchy; print('imported')"
    done = subprocess.run(
        [sys.executable, "-c", code],
        env={**os.environ, "PYTHONPATH": str(tmp_path)},
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )
    assert done.stdout == "imported\n", done.stderr


def test_a_killed_server_leaves_ready_at_once_and_comes_back(start_app: StartApp) -> None:
    app = start_app(servers={"weather": stdio("good")})
    app.until_table(weather="Ready")
    assert app.tray_states() == {"weather": "ready"}
    server_process(app, "good.py").send_signal(signal.SIGKILL)
    killed = time.monotonic()
    app.until(lambda: app.table()["weather"] != "Ready", "the row leaves ready", limit=END_LIMIT)
    print(f"kill -9 to the row leaving ready: {time.monotonic() - killed:.2f} s")
    app.until_table(weather="Ready")
    print(f"kill -9 to ready again: {time.monotonic() - killed:.2f} s")
    app.until(lambda: app.tray_states() == {"weather": "ready"}, "the tray follows")


def test_sigterm_ends_the_app_and_every_process_of_a_server_that_will_not_go(
    start_app: StartApp, tmp_path: Path
) -> None:
    pids = tmp_path / "pids"
    app = start_app(servers={"stubborn": stdio("stubborn", str(pids)), "weather": stdio("good")})
    app.until_table(stubborn="Ready", weather="Ready")
    stubborn = [int(line) for line in pids.read_text().split()]
    assert {process.pid for process in app.family()} > set(stubborn)
    assert len(stubborn) == 3
    seconds = app.terminate()
    print(f"SIGTERM to exit, with a server that will not go: {seconds:.2f} s")
    assert seconds < END_LIMIT
    assert app.family() == []
    assert [pid for pid in stubborn if psutil.pid_exists(pid) and psutil.Process(pid).status() != "zombie"] == []


def test_quit_in_the_tray_menu_ends_the_app_and_its_servers(start_app: StartApp) -> None:
    app = start_app(servers={"weather": stdio("good")})
    app.until_table(weather="Ready")
    app.click_in_tray("Quit")
    app.wait_for_end()
    assert app.family() == []


def test_ctrl_q_ends_the_app(start_app: StartApp) -> None:
    app = start_app(servers={"off": OFF})
    app.until_table(off="Off")
    app.activate()
    app.key("ctrl+q")
    app.wait_for_end()


def test_a_hidden_start_shows_a_tray_icon_and_a_second_start_brings_the_window(start_app: StartApp) -> None:
    first = start_app("--hidden", servers={"weather": stdio("good")})
    first.until(lambda: first.tray_states() == {"weather": "ready"}, "the server is ready")
    assert first.windows() == []
    second = start_app()
    second.wait_for_end()
    first.until_table(weather="Ready")
    assert first.windows()


def test_a_closed_window_stays_in_the_tray_and_comes_back_from_there(start_app: StartApp) -> None:
    app = start_app(servers={"off": OFF})
    app.until_table(off="Off")
    with app.tray() as (hand, item):
        app.activate()
        app.key("alt+F4")
        app.until(lambda: app.windows() == [], "the window is closed")
        hand.activate(item)
        app.until_table(off="Off")
