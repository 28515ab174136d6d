"""Patchbay as its user has it: a process with a window, a tray icon and files, seen and used from outside."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
import uuid
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import psutil

from desk.status_notifier import Item, TrayHand, tray_hand
from e2e.screen_reader import ScreenReader, Thing

LIMIT = 40.0
"""Seconds that things may take on a busy machine. Nothing waits longer than it must."""
HAND_LIMIT = 20.0
STEP = 0.1
"""Seconds between two looks: each costs the app as much as a screen reader does."""
RUN_MARK = "E2E_RUN"
ON, STATE, NAME, TOOLS = 0, 1, 2, 4
HEADER_HEIGHT = 32
MAIN_WINDOW = "Patchbay"


class RunningApp:
    """One run of the app, on a home folder of its own, in this desktop session or in that of `desktop`."""

    def __init__(
        self,
        home: Path,
        *arguments: str,
        env: Mapping[str, str] | None = None,
        desktop: Mapping[str, str] = os.environ,
    ) -> None:
        self.home = home
        self.servers_file = home / "config" / "servers.json"
        self.run_id = uuid.uuid4().hex
        self.environment = {**desktop, "MCP_PATCHBAY_HOME": str(home), RUN_MARK: self.run_id, **(env or {})}
        self.output = home.parent / f"{home.name}.out"
        with self.output.open("ab") as output:
            self.process = subprocess.Popen(
                [sys.executable, "-m", "mcp_patchbay.main", *arguments],
                env=self.environment,
                stdin=subprocess.DEVNULL,
                stdout=output,
                stderr=output,
            )
        self.reader = ScreenReader(self.process.pid, self.environment)

    # ---- what can be seen
    def until(self, condition: Callable[[], Any], what: str, limit: float = LIMIT) -> Any:
        """Wait until it is so, as long as the app runs."""

        deadline = time.monotonic() + limit
        while not (said := condition()):
            assert self.process.poll() is None, f"the app ended: {self.output.read_text('utf-8', 'replace')}"
            if time.monotonic() > deadline:
                raise AssertionError(f"did not come within {limit:g} s: {what}; in sight was:\n{self.texts()}")
            time.sleep(STEP)
        return said

    def texts(self) -> str:
        """All names and texts in sight."""
        said = (text for thing in self.reader.seen() for text in (thing["name"], thing["text"]))
        return "\n".join(text for text in said if text)

    def thing(self, name: str, role: str = "") -> Thing | None:
        """What has this name, in the topmost window that has it."""
        fitting = [t for t in self.reader.seen() if t["name"] == name and role in ("", t["role"])]
        return fitting[-1] if fitting else None

    def table(self) -> dict[str, str]:
        """The servers in the window's table, each with its state in words."""
        return {_server(row): row[STATE]["name"] for row in self.reader.rows("Servers")}

    def row(self, server: str) -> list[Thing]:
        """The cells of a server's row."""
        found: list[Thing] = self.until(
            lambda: next((row for row in self.reader.rows("Servers") if _server(row) == server), None), f"row {server}"
        )
        return found

    def until_table(self, **states: str | None) -> None:
        """Wait until each of these servers is in that state; None: it is not in the table."""
        seen: list[dict[str, str]] = [{}]

        def agrees() -> bool:
            seen[0] = self.table()
            return bool(seen[0]) and all(seen[0].get(name) == state for name, state in states.items())

        try:
            self.until(agrees, "the table")
        except AssertionError as error:
            raise AssertionError(f"the table is {seen[0]}, not {states}: {error}") from None

    def until_said(self, text: str) -> None:
        """Wait until the window says it somewhere."""
        self.until(lambda: text in self.texts(), f"{text!r} in the window")

    def windows(self) -> list[str]:
        """The ids of the windows that are open."""
        return self._xdotool("search", "--all", "--onlyvisible", "--pid", str(self.process.pid), "--name", ".").split()

    # ---- what a hand does
    def activate(self, title: str = MAIN_WINDOW) -> None:
        """Bring the window of that title to the front, so that keys go there."""

        def is_active() -> bool:
            found = self._xdotool(
                "search", "--all", "--onlyvisible", "--pid", str(self.process.pid), "--name", f"^{title}( — |$)"
            )
            if not found:
                return False
            if self._xdotool("getactivewindow").strip() in found.split():
                return True
            self._xdotool("windowactivate", found.split()[-1])
            return False

        self.until(is_active, f"the window {title!r} is in front")

    def until_open(self, title: str) -> None:
        """Wait until a dialog of that title has the keyboard."""
        self.until(
            lambda: self._xdotool("getactivewindow", "getwindowname").startswith(f"{title} — "), f"the dialog {title!r}"
        )

    def key(self, *keys: str) -> None:
        """Press keys, as xdotool names them: "ctrl+n", "Return"."""
        self._xdotool("key", "--clearmodifiers", *keys)

    def type_into(self, name: str, text: str) -> None:
        """Type a text into the field of that name, in the place of what stands there."""
        self.until(lambda: self._focus(name), f"{name!r} has the keyboard")
        self.key("ctrl+a")
        self.type(text)
        self.until(lambda: (self.thing(name, "text") or {}).get("text") == text, f"{text!r} stands in {name!r}")

    def type(self, text: str) -> None:
        """Type a text into whatever has the keyboard."""
        self._xdotool("type", "--delay", "4", "--", text)

    def click(self, thing: Thing) -> None:
        """Click into the middle of what can be seen."""
        x, y, width, height = thing["box"]
        self._xdotool("mousemove", str(x + width // 2), str(y + height // 2), "click", "1")

    def press(self, name: str, role: str = "push button") -> None:
        """Wait for a button and press it."""
        self.until(lambda: (thing := self.thing(name, role)) and thing["enabled"], f"the button {name!r}")
        self.reader.ask("do", name, role)

    def select(self, server: str) -> None:
        """Click on a server's name in the table, with a turn of the wheel where it is out of sight."""
        self.activate()
        self.until(lambda: self._is_in_sight(server), f"{server} is in sight")
        self.click(self.row(server)[NAME])
        self.until(lambda: self.row(server)[NAME]["focused"], f"{server} is selected")

    def _is_in_sight(self, server: str) -> bool:
        table, cell = self.thing("Servers", "table"), self.row(server)[NAME]
        if table is None:
            return False
        x, top, width, height = table["box"]
        above = cell["box"][1] < top + HEADER_HEIGHT
        if not above and cell["box"][1] + cell["box"][3] <= top + height:
            return True
        self._xdotool("mousemove", str(x + width // 2), str(top + height // 2), "click", "4" if above else "5")
        return False

    def _focus(self, name: str) -> bool:
        thing = self.thing(name, "text")
        if thing is not None and not thing["focused"]:
            self.reader.ask("focus", name, "text")
        return thing is not None and bool(thing["focused"])

    def _xdotool(self, *arguments: str) -> str:
        command = ["xdotool", *arguments]
        done = subprocess.run(
            command, env=self.environment, capture_output=True, text=True, timeout=HAND_LIMIT, check=False
        )
        return done.stdout

    # ---- the tray
    @contextmanager
    def tray(self) -> Iterator[tuple[TrayHand, Item]]:
        """A hand on the tray icon of this app."""
        with tray_hand(self.environment["DBUS_SESSION_BUS_ADDRESS"]) as hand:

            def mine() -> Item | None:
                return next((item for item in hand.items() if hand.pid(item) == self.process.pid), None)

            yield hand, self.until(mine, "the tray icon")

    def tray_states(self) -> dict[str, str]:
        """The servers in the tray's menu, each with its state."""
        with self.tray() as (hand, item):
            labels = [str(entry.get("label", "")).replace("_", "") for entry in hand.menu(item)]
        lines = (label.partition("  –  ") for label in labels)
        return {name: state for name, dash, state in lines if dash}

    def click_in_tray(self, *labels: str) -> None:
        """Click on an entry of the tray's menu; a server's line is found by its name."""
        with self.tray() as (hand, item):
            shown = [str(entry.get("label", "")).replace("_", "") for entry in hand.menu(item)]
            path = [next((s for s in shown if s.startswith(f"{label}  –  ")), label) for label in labels]
            hand.click(item, *path)

    # ---- files, and other programs on them
    def saved(self) -> dict[str, Any]:
        """The servers in servers.json."""
        if not self.servers_file.exists():
            return {}
        servers: dict[str, Any] = json.loads(self.servers_file.read_text())["servers"]
        return servers

    def command_line(self, *arguments: str) -> tuple[int, Any]:
        """Run the CLI on the same files; its exit status and its JSON."""
        done = subprocess.run(
            [sys.executable, "-m", "mcp_patchbay.main", *arguments, "--json"],
            env=self.environment, capture_output=True, text=True, timeout=60, check=False,
        )  # fmt: skip
        return done.returncode, json.loads(done.stdout) if done.stdout.strip() else None

    def everything_written(self) -> str:
        """All that the app wrote to its files and to its output; the keyring is not among it."""
        files = [path for path in self.home.rglob("*") if path.is_file()]
        return "\n".join(path.read_text("utf-8", "replace") for path in [*files, self.output])

    def errors_logged(self) -> list[str]:
        """The errors in the app's log, and what it wrote to its output when it broke down."""
        logs = [path for path in self.home.rglob("*.log*") if path.is_file()]
        lines = [line for path in [*logs, self.output] for line in path.read_text("utf-8", "replace").splitlines()]
        return [line for line in lines if " ERROR " in line or " CRITICAL " in line or "Traceback" in line]

    # ---- its end
    def family(self) -> list[psutil.Process]:
        """Every process that this run started, directly or not."""
        found = []
        for process in psutil.process_iter():
            try:
                if process.environ().get(RUN_MARK) == self.run_id and process.status() != psutil.STATUS_ZOMBIE:
                    found.append(process)
            except psutil.Error:
                continue
        return [process for process in found if process.pid not in (self.process.pid, self.reader.pid)]

    def terminate(self) -> float:
        """Ask it to end as the system does; the seconds it took."""
        began = time.monotonic()
        self.process.send_signal(signal.SIGTERM)
        return self.wait_for_end() - began

    def wait_for_end(self) -> float:
        """Wait until it has ended well; when that was, on the monotonic clock."""
        assert self.process.wait(LIMIT) == 0, self.output.read_text("utf-8", "replace")
        return time.monotonic()

    def close(self) -> None:
        """End whatever is left of it."""
        if self.process.poll() is None:
            self.process.terminate()
            try:
                self.process.wait(LIMIT)
            except subprocess.TimeoutExpired:
                self.process.kill()
                self.process.wait(LIMIT)
        self.reader.close()
        for process in self.family():
            process.kill()


def _server(row: list[Thing]) -> str:
    """The name in a row; the cell says "NAME, TARGET"."""
    return str(row[NAME]["name"]).partition(", ")[0]
