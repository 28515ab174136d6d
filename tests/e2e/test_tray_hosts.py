"""The tray icon on every kind of host: StatusNotifier, XEmbed, one that comes late, and none."""

from __future__ import annotations

import json
import re
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path

import pytest

from desk import status_notifier
from desk.notifications import recorded
from desk.session import desk_session
from e2e.conftest import StartApp
from e2e.sample_servers import OFF, stdio

MISSING = {"command": "no-such-command-of-patchbay"}
COUNT_COLOURS = """
import json, sys
from PySide6.QtGui import QGuiApplication
app = QGuiApplication([])
x, y, width, height = map(int, sys.argv[1:])
picture = app.primaryScreen().grabWindow(0, x, y, width, height).toImage()
print(len({picture.pixel(x, y) for x in range(picture.width()) for y in range(picture.height())}))
"""


def output(desktop: Mapping[str, str], *command: str) -> str:
    done = subprocess.run(command, env=desktop, capture_output=True, text=True, timeout=60, check=True)
    return done.stdout


def docked_icon(desktop: Mapping[str, str]) -> tuple[int, ...] | None:
    """Where on the screen the XEmbed tray holds the app's icon: x, y, width, height."""
    tree = output(desktop, "xwininfo", "-root", "-tree")
    found = re.search(r'"trayer"\).*?"Patchbay": .*? (\d\d)x(\d\d)\+\S+ +\+(\d+)\+(\d+)\n', tree, re.DOTALL)
    if found is None:
        return None
    width, height, x, y = map(int, found.groups())
    return x, y, width, height


def test_the_menu_lists_the_servers_and_starts_and_stops_them(start_app: StartApp) -> None:
    app = start_app("--hidden", servers={"weather": stdio("good"), "off": OFF})
    app.until(lambda: app.tray_states() == {"weather": "ready", "off": "off"}, "the menu lists the servers")
    with app.tray() as (hand, item):
        said = hand.properties(item)
        assert said["ToolTip"][2] == "1 of 2 servers ready"
        assert said["IconPixmap"]
    app.click_in_tray("weather", "Stop")
    app.until(lambda: app.tray_states()["weather"] == "stopped", "it is stopped")
    app.until(lambda: app.family() == [], "its process is gone")
    assert app.saved()["weather"].get("enabled", True)
    app.click_in_tray("weather", "Start")
    app.until(lambda: app.tray_states()["weather"] == "ready", "it is ready again")
    app.click_in_tray("Pause all")
    app.until(lambda: app.tray_states()["weather"] == "stopped", "all are paused")
    app.click_in_tray("Resume")
    app.until(lambda: app.tray_states()["weather"] == "ready", "it is resumed")


def test_one_failure_is_told_once(start_app: StartApp) -> None:
    before = len(recorded())
    app = start_app(servers={"gone": MISSING, "weather": stdio("good")})
    app.until_table(gone="Failed", weather="Ready")
    app.until(lambda: len(recorded()) > before, "a notification")
    app.select("gone")
    app.press("Start")  # what stays as it was is no news
    app.until_table(gone="Failed")
    app.click_in_tray("weather", "Restart")
    app.until_table(gone="Failed", weather="Ready")
    app.terminate()
    assert [(n["app"], n["summary"]) for n in recorded()[before:]] == [("Patchbay", "gone failed")]


@pytest.mark.limit(240)
def test_on_an_xembed_tray_the_icon_is_docked_and_opens_the_window(start_app: StartApp) -> None:
    with desk_session(tray="xembed", notify="none", keyring="off") as desktop:
        app = start_app("--hidden", servers={"weather": stdio("good")}, desktop=desktop)
        x, y, width, height = app.until(lambda: docked_icon(desktop), "the icon in the tray")
        place = [str(number) for number in (x, y, width, height)]

        def is_drawn() -> bool:
            return int(output(desktop, sys.executable, "-c", COUNT_COLOURS, *place)) > 3

        app.until(is_drawn, "the icon is drawn")
        app.click({"box": [x, y, width, height]})
        app.until_table(weather="Ready")
        app.terminate()


@pytest.mark.limit(240)
def test_without_a_tray_closing_the_window_quits_and_a_late_tray_gets_the_icon(start_app: StartApp) -> None:
    with desk_session(tray="none", notify="none") as desktop:
        app = start_app(servers={"off": OFF}, desktop=desktop)
        app.until_table(off="Off")
        app.activate()
        app.key("alt+F4")
        app.wait_for_end()

        late = start_app(servers={"off": OFF}, desktop=desktop)
        late.until_table(off="Off")
        host = subprocess.Popen([sys.executable, str(Path(status_notifier.__file__)), "watch"], env=desktop)
        try:
            late.until(lambda: has_owner(desktop, status_notifier.WATCHER), "the tray is there")
            late.until(lambda: late.tray_states() == {"off": "off"}, "the icon is there")
            late.activate()
            late.key("alt+F4")
            late.until(lambda: late.windows() == [], "the window is closed")
            late.click_in_tray("Open Patchbay")
            late.until_table(off="Off")
            late.terminate()
        finally:
            host.terminate()
            host.wait(10)


def has_owner(desktop: Mapping[str, str], name: str) -> bool:
    """Whether someone owns the name on the desktop's bus."""
    bus = "org.freedesktop.DBus"
    asked = ["dbus-send", "--session", "--print-reply=literal", f"--dest={bus}", "/", f"{bus}.NameHasOwner"]
    return json.loads(output(desktop, *asked, f"string:{name}").split()[-1]) is True
