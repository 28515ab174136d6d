"""Draw the README's pictures from the running program.

    PYTHONPATH=tests python -m e2e.draw_pictures FOLDER [WIDTH HEIGHT]

Needs ImageMagick's `import` and `convert`. Each theme gets a desktop session and a home folder of its own, with real
servers in it: npm's, Python ones, the built-in one, one whose command is missing, one behind a key, one that is off.
"""

from __future__ import annotations

import json
import os
import shlex
import shutil
import subprocess
import sys
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from desk.session import desk_session
from e2e.running_app import RunningApp
from e2e.sample_servers import url_server
from e2e.test_filters_and_playground import choose, open_playground
from e2e.test_tray_hosts import docked_icon
from servers.launch import npm_server, script_path

HOME = Path("/home/ada")
SIZE = (1180, 760)
COMMANDS = {
    "mcp-server-everything": npm_server("server-everything"),
    "mcp-server-filesystem": npm_server("server-filesystem"),
    "mcp-server-memory": npm_server("server-memory"),
    "weather-mcp": (sys.executable, str(script_path("good"))),
    "notes-mcp": (sys.executable, str(script_path("two_tools"))),
}
ONE_NOTE = {"tools": {"allow": ["allowed-tool", "pattern-*"], "block": ["*-b"]}}


def servers(home: Path, locked: str) -> dict[str, Any]:
    """What the pictures show, as in servers.json."""
    return {
        "fetch": {"command": "uvx-nightly", "args": ["mcp-server-fetch"]},
        "vault": {"url": locked},
        "everything": {"command": "mcp-server-everything", "args": ["stdio"]},
        "projects": {"command": "mcp-server-filesystem", "args": [str(home / "Projects")]},
        "memory": {"command": "mcp-server-memory"},
        "weather": {"command": "weather-mcp", "args": ["--units", "metric"], "description": "Rain or shine"},
        "notes": {"command": "notes-mcp", "filters": ONE_NOTE},
        "files": {
            "type": "builtin", "builtin": "filesystem", "options": {"allowed_directories": [str(home / "Documents")]},
        },
        "linear": {"type": "sse", "url": "https://mcp.linear.app/sse", "enabled": False},
    }  # fmt: skip


class Painter:
    """Takes pictures of one theme."""

    def __init__(self, folder: Path, theme: str, size: tuple[int, int]) -> None:
        self._folder, self._theme, self._size = folder, theme, size

    @contextmanager
    def app(self, base: Path, desktop: Mapping[str, str], entries: dict[str, Any] | None) -> Iterator[RunningApp]:
        """The app on these servers; None: as at the very first start."""
        home = base / "patchbay"
        (home / "config").mkdir(parents=True, exist_ok=True)
        (home / "config" / "settings.json").write_text(json.dumps({"theme": self._theme}))
        servers_file = home / "config" / "servers.json"
        servers_file.unlink(missing_ok=True)
        if entries is not None:
            servers_file.write_text(json.dumps({"version": 1, "servers": entries}))
        path = os.pathsep.join([str(base / ".local/bin"), "/usr/local/bin", "/usr/bin", "/bin"])
        own = {"PATH": path, "HOME": str(base), "PYENV_ROOT": str(base / ".pyenv")}
        app = RunningApp(home, desktop={**desktop, **own})
        try:
            yield app
        finally:
            app.close()

    def size(self, app: RunningApp, title: str = "Patchbay") -> None:
        """Bring a window to the pictures' size."""
        app.activate(title)
        width, height = map(str, self._size)
        app._xdotool("getactivewindow", "windowmove", "40", "24", "windowsize", width, height)
        app.until(lambda: f"Geometry: {width}x{height}" in app._xdotool("getactivewindow", "getwindowgeometry"), "size")

    def shoot(self, app: RunningApp, name: str, area: str = "") -> None:
        """Take the active window, or an area of the screen, into NAME-THEME.png."""
        app._xdotool("mousemove", "2", "700")
        app.until(lambda: area or app.reader.seen(), "a quiet window")
        window = "root" if area else app._xdotool("getactivewindow").strip()
        file = str(self._folder / f"{name}-{self._theme}.png")
        subprocess.run(["import", "-silent", "-window", window, file], env=app.environment, check=True, timeout=60)
        crop = ["-crop", area, "+repage"] if area else []
        subprocess.run(["convert", file, *crop, "-strip", "+dither", "-colors", "256", file], check=True, timeout=60)


@contextmanager
def home_folder() -> Iterator[Path]:
    """A home folder with some commands in ~/.local/bin. It is for a moment at HOME, as paths are in the pictures."""
    HOME.mkdir()
    try:
        for name in (".local/bin", "Projects", "Documents"):
            (HOME / name).mkdir(parents=True)
        for name, command in COMMANDS.items():
            script = HOME / ".local" / "bin" / name
            script.write_text(f"#!/bin/sh\nexec {shlex.join(command)}\n")
            script.chmod(0o755)
        yield HOME
    finally:
        shutil.rmtree(HOME)


def call(app: RunningApp, tool: str, said: str, **arguments: str) -> None:
    """Look for a tool, fill in its form, run it and wait until something is said."""
    app.key("ctrl+f", "ctrl+a")
    app.type(tool)
    choose(app, tool)
    for name, value in arguments.items():
        if app.thing(name, "text"):
            app.type_into(name, value)
        else:
            app.click(app.thing(name, "combo box") or {})
            app.type(value)
            app.key("Return")
            app.until_said(f'"{name}": "{value}"')
    app.key("ctrl+Return")
    app.until_said(said)
    app.key("ctrl+f", "ctrl+a", "Delete")


def raise_details(app: RunningApp, by: int) -> None:
    """Drag the handle below the table, so that all of the details can be seen."""
    table = app.thing("Servers", "table")
    assert table is not None
    x, y, width, height = table["box"]
    handle = (x + width // 2, y + height + 6)
    app._xdotool("mousemove", *map(str, handle), "mousedown", "1")
    app._xdotool("mousemove", str(handle[0]), str(handle[1] - by // 2))
    app._xdotool("mousemove", str(handle[0]), str(handle[1] - by), "mouseup", "1")


def menus(app: RunningApp) -> list[str]:
    """The menus that are open, by X: they are no windows to a screen reader."""
    tree = app._xdotool("search", "--all", "--onlyvisible", "--pid", str(app.process.pid), "--class", "patchbay")
    return [window for window in tree.split() if "MENU" in window_type(app, window)]


def window_type(app: RunningApp, window: str) -> str:
    """What kind of window it is."""
    command = ["xprop", "-id", window, "_NET_WM_WINDOW_TYPE"]
    return subprocess.run(command, env=app.environment, capture_output=True, text=True, timeout=20, check=False).stdout


def draw_first_start(painter: Painter, base: Path, desktop: Mapping[str, str]) -> None:
    with painter.app(base, desktop, None) as app:
        app.until_table(filesystem="Ready")
        painter.size(app)
        painter.shoot(app, "first-start")


def draw_windows(painter: Painter, base: Path, desktop: Mapping[str, str], locked: str) -> None:
    entries = servers(base, locked)
    with painter.app(base, desktop, entries) as app:
        ready = dict.fromkeys(("everything", "projects", "memory", "weather", "notes", "files"), "Ready")
        app.until_table(**ready, fetch="Failed", vault="Needs sign-in", linear="Off")
        painter.size(app)
        app.select("weather")
        open_playground(app, "weather", "echo")
        painter.size(app, "Playground")
        call(app, "get-tiny-image", "Picture · image/png")
        call(app, "get-sum", "Done in", a="4180", b="531")
        call(app, "get-structured-content", "Done in", location="Chicago")
        painter.shoot(app, "playground")
        app.key("Escape")
        app.activate()
        app.select("notes")
        app.key("F2")
        app.until_open("Edit server")
        app.press("Filters", "page tab")
        app.until_said("tools pass")
        painter.shoot(app, "editor")
        app.key("Escape")
        app.activate()
        app.select("fetch")
        raise_details(app, 48)
        painter.shoot(app, "main")
        app.key("alt+F4")
        app.until(lambda: not app.reader.seen(), "a free screen")
        x, y, width, height = docked_icon(desktop) or (0, 0, 0, 0)
        app._xdotool("mousemove", str(x + width // 2), str(y + height // 2), "click", "3")
        app.until(lambda: len(menus(app)) == 1, "the tray's menu")
        app.key("Down", "Right")
        app.until(lambda: len(menus(app)) == 2, "a server's menu")
        painter.shoot(app, "tray", "600x450+680+0")
        app.key("Escape", "Escape", "Escape")


def main() -> None:
    folder = Path(sys.argv[1]).resolve()
    folder.mkdir(parents=True, exist_ok=True)
    size = (int(sys.argv[2]), int(sys.argv[3])) if len(sys.argv) > 3 else SIZE
    for theme in ("light", "dark"):
        painter = Painter(folder, theme, size)
        session = desk_session(tray="xembed", notify="none", size="1280x860x24")
        with home_folder() as home, url_server("header_check") as locked, session as desktop:
            draw_first_start(painter, home, desktop)
            draw_windows(painter, home, desktop, locked)


if __name__ == "__main__":
    main()
