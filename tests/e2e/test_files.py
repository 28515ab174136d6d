"""servers.json changes under the running program, or cannot be read."""

from __future__ import annotations

import json

from e2e.conftest import StartApp
from e2e.running_app import RunningApp
from e2e.sample_servers import OFF, stdio

BROKEN = '{"version": 1,\n "servers": {"a" {}}}'


def edit_outside(app: RunningApp, text: str) -> None:
    """Save as editors do: a new file in the place of the old one."""
    written = app.servers_file.with_name("edited")
    written.write_text(text)
    written.replace(app.servers_file)


def test_an_edit_from_outside_is_applied_live(start_app: StartApp) -> None:
    app = start_app(servers={"off": OFF})
    app.until_table(off="Off")
    edit_outside(app, json.dumps({"version": 1, "servers": {"weather": stdio("good")}}))
    app.until_table(weather="Ready", off=None)
    app.until(lambda: app.tray_states() == {"weather": "ready"}, "the tray follows")
    edit_outside(app, json.dumps({"version": 1, "servers": {"off": OFF}}))
    app.until_table(weather=None, off="Off")
    app.until(lambda: app.family() == [], "the server's process is gone")


def test_a_broken_file_is_said_with_its_place_and_never_overwritten(start_app: StartApp) -> None:
    app = start_app(text=BROKEN)
    app.until_said("line 2")
    app.terminate()
    assert app.servers_file.read_text() == BROKEN


def test_a_file_that_breaks_while_the_app_runs_leaves_the_servers_running(start_app: StartApp) -> None:
    app = start_app(servers={"weather": stdio("good")})
    app.until_table(weather="Ready")
    edit_outside(app, BROKEN)
    app.until_said("line 2")
    app.until_table(weather="Ready")
    assert app.servers_file.read_text() == BROKEN
    app.press("Restore the last good one")
    app.until(lambda: "weather" in app.servers_file.read_text(), "the last good file is back")
    app.until_table(weather="Ready")
    assert any(path.read_text() == BROKEN for path in app.home.rglob("servers*") if path.is_file())


def test_servers_of_the_environment_are_there_for_the_run_and_never_saved(start_app: StartApp) -> None:
    extra = json.dumps([{"name": "from-env", **stdio("good")}])
    app = start_app(servers={"off": OFF}, env={"MCP_SERVERS": extra})
    app.until_table(**{"from-env": "Ready", "off": "Off"})
    app.select("off")
    app.key("ctrl+d")
    app.until(lambda: len(app.saved()) == 2, "a copy of the other server is saved")
    app.terminate()
    assert "from-env" not in app.servers_file.read_text()
