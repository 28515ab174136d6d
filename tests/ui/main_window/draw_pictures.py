"""Pictures of the main window, to look at: `PYTHONPATH=tests python -m ui.main_window.draw_pictures FOLDER`.

The snapshots are made up; everything that paints them is real.
"""

from __future__ import annotations

import asyncio
import os
import sys
import tempfile
import time
from pathlib import Path

os.environ.setdefault("QT_QPA_PLATFORM", "offscreen")

from PySide6.QtCore import QRect
from PySide6.QtGui import QPainter
from PySide6.QtWidgets import QApplication

from mcp_patchbay.domain.records import LogLine, TrafficEntry
from mcp_patchbay.domain.servers import ServerSpec
from mcp_patchbay.domain.state import Snapshot
from mcp_patchbay.engine.rings import LogRing, TrafficRing
from mcp_patchbay.stores.paths import Paths
from mcp_patchbay.stores.secrets import SessionStore
from mcp_patchbay.stores.servers_file import ServersFile
from mcp_patchbay.stores.settings import SettingsFile
from mcp_patchbay.ui import theme
from mcp_patchbay.ui.about import AboutDialog
from mcp_patchbay.ui.details.panel import LOG, OVERVIEW, PROMPTS, RESOURCES, TOOLS, TRAFFIC
from mcp_patchbay.ui.event_loop import AppEventLoop
from mcp_patchbay.ui.main_window import MainWindow
from mcp_patchbay.ui.workspace import Workspace
from ui.main_window.sample_servers import sample_prompts, sample_resources, sample_servers, sample_tools

SIZES = {"": (1180, 760), "-small": (900, 600)}
LOG_LINES = (
    ("patchbay", "info", b"Starting uvx postgres-mcp --access-mode=restricted"),
    ("stderr", "info", b"Installed 34 packages in 210ms"),
    ("stdout", "warning", b"postgres-mcp 0.3.0 ready to serve"),
    ("server", "debug", b"pool: opening 4 connections"),
    ("stderr", "error", b'psycopg.OperationalError: FATAL: password authentication failed for user "app"'),
    ("patchbay", "error", b"The process ended with exit code 1"),
)
MESSAGES = (
    ("out", b'{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-11-25"}}'),
    ("in", b'{"jsonrpc":"2.0","id":1,"result":{"protocolVersion":"2025-11-25","capabilities":{"tools":{}}}}'),
    ("out", b'{"jsonrpc":"2.0","method":"notifications/initialized"}'),
    ("out", b'{"jsonrpc":"2.0","id":2,"method":"tools/list"}'),
    ("in", b'{"jsonrpc":"2.0","id":2,"error":{"code":-32603,"message":"no database"}}'),
)


class PicturedWorkspace(Workspace):
    """A workspace whose servers are in the states that a picture wants."""

    def __init__(self, folder: Path, snapshots: list[Snapshot]) -> None:
        super().__init__(ServersFile(folder / "servers.json"), SessionStore())
        self.pictured = {snapshot.name: snapshot for snapshot in snapshots}

    def servers(self) -> tuple[ServerSpec, ...]:
        return tuple(snapshot.spec for snapshot in self.pictured.values())

    def snapshot(self, name: str) -> Snapshot:
        return self.pictured[name]


async def draw(app: QApplication, folder: Path, mode: theme.Mode) -> None:
    theme.apply(app, mode)
    for suffix, size in SIZES.items():
        window = make_window(sample_servers(), size)

        async def shot(name: str, window: MainWindow = window, suffix: str = suffix) -> None:
            await settle()
            window.grab().save(str(folder / f"{name}-{mode}{suffix}.png"))

        for server in ("postgres", "sentry", "memory", "playwright", "files", "pasted", "linear"):
            window.table.select([server])
            window.details.show_tab(OVERVIEW)
            await shot(f"1-overview-{server}")
        window.table.select(["files"])
        await settle()
        window.splitter.setSizes([254, 396])
        for page, infos in (
            (window.details.tools, sample_tools()),
            (window.details.prompts, sample_prompts()),
            (window.details.resources, sample_resources()),
        ):
            page.set_infos(infos, "")
        for tab, name in ((TOOLS, "tools"), (PROMPTS, "prompts"), (RESOURCES, "resources")):
            window.details.show_tab(tab)
            await shot(f"2-{name}")
        log, traffic, start = LogRing(), TrafficRing(), time.time() - 60
        for number, (source, level, raw) in enumerate(LOG_LINES * 5):
            log.append(LogLine(start + number * 0.173, source, level, raw))  # type: ignore[arg-type]
        for number, (direction, raw) in enumerate(MESSAGES):
            traffic.append(TrafficEntry(start + number * 0.012, direction, raw))  # type: ignore[arg-type]
        window.details.log.show_ring("files", log)
        window.details.show_tab(LOG)
        await shot("3-log")
        window.details.traffic.show_ring("files", traffic)
        window.details.show_tab(TRAFFIC)
        window.details.traffic.table.selectRow(1)
        await shot("3-traffic")
        window.notice.say("Deleted postgres.", "done", "Undo", lambda: None)
        await shot("4-notice")
        await window.shut()

        only_files = [s for s in sample_servers() if s.name == "files"]
        for name, snapshots in (("5-cards", only_files), ("5-empty", [])):
            fresh = make_window(snapshots, size)
            await settle()
            fresh.grab().save(str(folder / f"{name}-{mode}{suffix}.png"))
            if name == "5-empty" and not suffix:
                draw_add_menu(fresh, folder / f"6-add-menu-{mode}.png")
                about = AboutDialog(fresh)
                about.open()
                await settle()
                about.grab().save(str(folder / f"7-about-{mode}.png"))
                about.close()
            await fresh.shut()
    await settle()


def make_window(snapshots: list[Snapshot], size: tuple[int, int]) -> MainWindow:
    folder = Path(tempfile.mkdtemp(prefix="pictures-"))
    paths = Paths(environ={"MCP_PATCHBAY_HOME": str(folder)})
    paths.create()
    window = MainWindow(PicturedWorkspace(folder, snapshots), SettingsFile(paths.settings_file), paths)
    window.resize(*size)
    window.show()
    window.activateWindow()
    window.table.setFocus()
    return window


def draw_add_menu(window: MainWindow, file: Path) -> None:
    menu, anchor = window.toolbar.add_button.menu(), window.toolbar.add_button
    menu.popup(anchor.mapToGlobal(anchor.rect().bottomLeft()))
    menu.setActiveAction(menu.actions()[0])
    picture = window.grab()
    painter = QPainter(picture)
    painter.drawPixmap(anchor.mapTo(window, anchor.rect().bottomLeft()), menu.grab())
    painter.end()
    menu.hide()
    picture.copy(QRect(0, 0, 480, 176)).save(str(file))


async def settle() -> None:
    for _ in range(5):
        await asyncio.sleep(0.02)


def main() -> None:
    folder = Path(sys.argv[1])
    folder.mkdir(parents=True, exist_ok=True)
    app = QApplication(sys.argv[:1])
    with asyncio.Runner(loop_factory=lambda: AppEventLoop(app)) as runner:
        for mode in ("light", "dark"):
            runner.run(draw(app, folder, mode))  # type: ignore[arg-type]


if __name__ == "__main__":
    main()
