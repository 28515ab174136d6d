"""The main window with the real engine and the built-in file server behind it."""

from __future__ import annotations

import subprocess
import sys

import pytest
from PySide6.QtCore import Qt
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QAbstractButton, QLineEdit

from mcp_patchbay.domain.state import ServerState
from mcp_patchbay.ui.delegates import Role
from mcp_patchbay.ui.details.panel import LOG, TOOLS, TRAFFIC
from mcp_patchbay.ui.models.server_model import Column
from mcp_patchbay.ui.models.traffic_model import TrafficColumn
from ui.main_window.sample_servers import files, off

PAINTS_WITHOUT = """
import asyncio, sys
from pathlib import Path
from PySide6.QtWidgets import QApplication
from mcp_patchbay.stores.paths import HOME_VARIABLE, Paths
from mcp_patchbay.stores.secrets import SessionStore
from mcp_patchbay.stores.servers_file import ServersFile
from mcp_patchbay.stores.settings import SettingsFile
from mcp_patchbay.ui import theme
from mcp_patchbay.ui.main_window import MainWindow
from mcp_patchbay.ui.workspace import Workspace
app = QApplication([])
theme.apply(app, "light")
paths = Paths(environ={HOME_VARIABLE: sys.argv[1]})
paths.create()
workspace = Workspace(ServersFile(paths.servers_file), SessionStore())
window = MainWindow(workspace, SettingsFile(paths.settings_file), paths)
window.show()
app.processEvents()
assert not window.grab().isNull()
print(sorted({name.partition(".")[0] for name in sys.modules} & {"mcp", "pydantic", "qtawesome", "keyring"}))
"""


@pytest.fixture
async def live(workspace, open_window, engine, tmp_path, qwait):
    """A window on a ready file server and one that is off."""
    folder = tmp_path / "notes"
    folder.mkdir()
    await workspace.add(files("notes", folder))
    await workspace.add(off("other"))
    window = await open_window()
    window.table.select(["notes"])
    await engine(window)
    await qwait.until(lambda: state(window) is ServerState.READY)
    return window


def state(window, name: str = "notes") -> ServerState:
    return window.model.snapshot(name).state


def tools(window) -> dict[str, bool]:
    model = window.details.tools.model
    return {info.name: info.visible for info in model.infos()}


def text(window, column: Column) -> str:
    return window.model.index(window.model.row_of("notes"), column).data()


async def test_a_server_that_becomes_ready_fills_its_row_and_its_tools(live, qwait):
    await qwait.until(lambda: "read_file" in tools(live))
    assert text(live, Column.STATE) == "Ready"
    assert text(live, Column.TOOLS) == "11 / 11"
    assert live.details.tabs.tabText(TOOLS) == "Tools 11 / 11"
    await qwait.until(lambda: "tokens" in live.status_line._counts.text())


async def test_a_pattern_typed_into_the_tools_page_holds_tools_back_at_once(live, workspace, qwait):
    await qwait.until(lambda: tools(live).get("write_file"))
    live.details.show_tab(TOOLS)
    add = [b for b in live.details.tools.chips.findChildren(QAbstractButton) if b.text() == "Add pattern"]
    add[1].click()
    field = next(f for f in live.details.tools.chips.findChildren(QLineEdit))
    QTest.keyClicks(field, "write_*")
    QTest.keyClick(field, Qt.Key.Key_Return)
    await qwait.until(lambda: tools(live).get("write_file") is False)
    assert workspace.get("notes").filters.tools.block == ("write_*",)
    await qwait.until(lambda: text(live, Column.TOOLS) == "10 / 11")
    page = live.details.tools
    row = next(r for r in range(page.sorted.rowCount()) if page.sorted.index(r, 1).data() == "write_file")
    assert (page.sorted.index(row, 3).data(), page.sorted.index(row, 3).data(Role.PATTERN)) == ("block", "write_*")


async def test_a_pattern_that_is_no_glob_is_refused_beside_its_field(live, workspace):
    live.details.show_tab(TOOLS)
    chips = live.details.tools.chips
    next(b for b in chips.findChildren(QAbstractButton) if b.text() == "Add pattern").click()
    field = next(f for f in chips.findChildren(QLineEdit))
    QTest.keyClicks(field, "[a")
    QTest.keyClick(field, Qt.Key.Key_Return)
    assert field.property("bad") is True
    assert field.accessibleDescription()
    assert not workspace.get("notes").filters.tools


async def test_stop_is_for_this_run_and_start_brings_it_back(live, workspace, qwait):
    live.commands.stop.trigger()
    await qwait.until(lambda: state(live) is ServerState.STOPPED)
    assert workspace.get("notes").enabled
    await qwait.until(lambda: live.commands.start.isEnabled() and not live.commands.stop.isEnabled())
    live.commands.start.trigger()
    await qwait.until(lambda: state(live) is ServerState.READY)


async def test_switching_off_and_on_again_follows_in_the_row(live, qwait):
    live.table.setFocus()
    QTest.keyClick(live.table, Qt.Key.Key_Space)
    await qwait.until(lambda: state(live) is ServerState.DISABLED)
    assert text(live, Column.TOOLS) == "–"
    QTest.keyClick(live.table, Qt.Key.Key_Space)
    await qwait.until(lambda: state(live) is ServerState.READY)


async def test_traffic_is_shown_with_methods_and_bodies(live, qwait):
    live.details.show_tab(TRAFFIC)
    page = live.details.traffic
    await qwait.until(lambda: page.model.rowCount() > 2)
    methods = {page.model.index(row, TrafficColumn.METHOD).data() for row in range(page.model.rowCount())}
    assert "tools/list" in methods
    page.table.selectRow(0)
    assert '"jsonrpc"' in page.body.toPlainText()


async def test_the_log_grows_while_it_is_looked_at(live, workspace, qwait):
    live.details.show_tab(LOG)
    before = live.details.log.model.rowCount()
    workspace.hub._connection("notes").recorder.note("info", "something happened")
    await qwait.until(lambda: live.details.log.model.rowCount() > before)


async def test_double_clicking_a_tool_asks_for_the_playground(live, qwait):
    asked = []
    live.playground_requested.connect(lambda server, tool: asked.append((server, tool)))
    await qwait.until(lambda: "read_file" in tools(live))
    live.details.show_tab(TOOLS)
    page = live.details.tools
    index = page.sorted.index(0, 1)
    page.table.activated.emit(index)
    assert asked == [("notes", index.data())]


async def test_pause_all_and_resume(live, qwait):
    live.commands.pause.trigger()
    await qwait.until(lambda: state(live) is ServerState.STOPPED)
    await qwait.until(lambda: live.commands.pause.text() == "Resume all")
    live.commands.pause.trigger()
    await qwait.until(lambda: state(live) is ServerState.READY)


async def test_a_deleted_server_comes_back_ready(live, qwait):
    live.commands.delete.trigger()
    await qwait.until(lambda: live.model.row_of("notes") is None)
    await qwait.until(lambda: live.commands.undo.isEnabled())
    live.commands.undo.trigger()
    await qwait.until(lambda: live.model.row_of("notes") is not None and state(live) is ServerState.READY)
    assert live.details.name == "notes"


async def test_the_report_for_the_clipboard_says_what_a_helper_needs(live, qwait, qapp):
    live.details._copy.click()
    await qwait.until(lambda: "report" in live.notice.text)
    report = qapp.clipboard().text()
    assert report.startswith("notes: Ready")
    assert "Protocol:" in report


def test_the_window_paints_before_mcp_and_pydantic_are_loaded(tmp_path):
    run = subprocess.run(
        [sys.executable, "-c", PAINTS_WITHOUT, str(tmp_path)], capture_output=True, text=True, timeout=60, check=False
    )
    assert run.stdout.strip() == "[]", run.stderr
