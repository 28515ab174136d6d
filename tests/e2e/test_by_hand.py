"""Servers added, changed, switched and deleted by keyboard and mouse: table, tray menu and file agree at each step."""

from __future__ import annotations

import re
import subprocess
import sys
from collections.abc import Iterator

import pytest

from e2e.conftest import StartApp
from e2e.running_app import ON, RunningApp
from e2e.sample_servers import OFF, script_path, stdio, url_server

KEY = "Bearer open-sesame-4711"
HIDDEN = ["hidden", "Kept in keyring"]
READ_FROM_KEYRING = "import keyring, sys; print(keyring.get_password('mcp-patchbay', sys.argv[1]))"


@pytest.fixture(params=["http", "sse"])
def locked_url(request: pytest.FixtureRequest) -> Iterator[str]:
    """The URL of a server that wants `KEY`."""
    with url_server("header_check", KEY.removeprefix("Bearer "), kind=request.param) as url:
        yield url


def until_all_agree(app: RunningApp, **states: str) -> None:
    """Wait until table and tray show exactly these servers in these states; the file has them, too."""
    app.until(lambda: app.table() == states, f"the table shows {states}")
    in_tray = {name: {"Not started": "stopped"}.get(state, state.lower()) for name, state in states.items()}
    app.until(lambda: app.tray_states() == in_tray, f"the tray shows {in_tray}")
    assert {name: entry.get("enabled", True) for name, entry in app.saved().items()} == {
        name: state != "Off" for name, state in states.items()
    }


def paste(app: RunningApp, text: str) -> None:
    """Add what the text says, up to the editor."""
    app.activate()
    app.key("ctrl+n")
    app.until_open("Add servers")
    app.type_into("A command, a URL or JSON", text)
    app.press("Continue")
    app.until_open("Add server")


def in_keyring(app: RunningApp, user: str) -> str:
    """What the desktop's keyring holds under that name."""
    command = [sys.executable, "-c", READ_FROM_KEYRING, user]
    done = subprocess.run(command, env=app.environment, capture_output=True, text=True, timeout=60, check=True)
    return done.stdout.strip()


def add_with_key(app: RunningApp, url: str) -> str:
    """Add the server behind a key with that key in a header, start it, and give back the secret's name."""
    paste(app, url)
    app.type_into("Name", "vault")
    app.press("Add header")
    app.until(lambda: len(app.reader.rows("Headers")) == 1, "a header can be typed")
    app.type("Authorization")
    app.key("Return")
    app.until(lambda: app.reader.rows("Headers")[0][0]["name"] == "Authorization", "its value can be typed")
    app.type(KEY)
    app.key("Return")
    app.until(lambda: [cell["name"] for cell in app.reader.rows("Headers")[0][1:3]] == HIDDEN, "the value is hidden")
    app.press("Save")
    app.until_table(vault="Not started")
    app.select("vault")
    app.press("Start")
    app.until_table(vault="Ready")
    kept = re.fullmatch(r"\$\{secret:(.+)\}", app.saved()["vault"]["headers"]["Authorization"])
    assert kept is not None
    return kept[1]


def test_a_server_is_added_edited_switched_deleted_and_brought_back_by_hand(start_app: StartApp) -> None:
    app = start_app(servers={"other": OFF})
    until_all_agree(app, other="Off")

    paste(app, f"{sys.executable} {script_path('good')}")
    app.type_into("Name", "weather")
    app.key("Return")
    until_all_agree(app, other="Off", weather="Not started")
    assert app.family() == []
    app.select("weather")
    app.press("Start")
    until_all_agree(app, other="Off", weather="Ready")

    app.select("weather")
    app.key("F2")
    app.until_open("Edit server")
    app.type_into("Name", "forecast")
    app.press("Notes", "page tab")
    app.type_into("Notes", "rain or shine")
    app.press("Save")
    until_all_agree(app, other="Off", forecast="Ready")
    assert app.saved()["forecast"]["description"] == "rain or shine"

    app.select("forecast")
    app.key("space")
    until_all_agree(app, other="Off", forecast="Off")
    app.until(lambda: app.family() == [], "its process is gone")
    app.click(app.row("forecast")[ON])
    until_all_agree(app, other="Off", forecast="Ready")

    app.select("forecast")
    app.key("Delete")
    until_all_agree(app, other="Off")
    app.until_said("Deleted forecast.")
    app.key("ctrl+z")
    until_all_agree(app, other="Off", forecast="Ready")


def test_several_rows_are_stopped_and_deleted_together(start_app: StartApp) -> None:
    app = start_app(servers={"one": stdio("good"), "two": stdio("good"), "rest": OFF})
    until_all_agree(app, one="Ready", two="Ready", rest="Off")
    app.select("one")
    app.key("shift+Down")
    app.press("Stop")
    until_all_agree(app, one="Stopped", two="Stopped", rest="Off")
    app.activate()
    app.select("one")
    app.key("shift+Down", "Delete")
    until_all_agree(app, rest="Off")
    app.key("ctrl+z")
    until_all_agree(app, one="Ready", two="Ready", rest="Off")


def test_a_key_typed_in_the_editor_lives_in_the_keyring_alone_and_works_after_a_restart(
    start_app: StartApp, locked_url: str
) -> None:
    app = start_app(servers={})
    user = add_with_key(app, locked_url)
    assert in_keyring(app, user) == KEY
    app.terminate()
    again = start_app()
    again.until_table(vault="Ready")
    again.terminate()
    assert f"${{secret:{user}}}" in again.servers_file.read_text()
    written = again.everything_written()
    assert KEY.removeprefix("Bearer ") not in written


@pytest.mark.parametrize("locked_url", ["http"], indirect=True)
def test_undo_brings_a_deleted_server_back_with_its_key_and_quitting_forgets_the_key(
    start_app: StartApp, locked_url: str
) -> None:
    app = start_app(servers={})
    user = add_with_key(app, locked_url)
    app.select("vault")
    app.key("Delete")
    app.until(lambda: "vault" not in app.saved(), "it is deleted")
    assert in_keyring(app, user) == KEY
    app.until_said("No servers yet")
    app.key("ctrl+z")
    app.until_table(vault="Ready")
    app.select("vault")
    app.key("Delete")
    app.until(lambda: "vault" not in app.saved(), "it is deleted again")
    app.terminate()
    assert in_keyring(app, user) == "None"
