"""The main window on a real workspace: what a person does with mouse and keys, and what the file holds after it."""

from __future__ import annotations

import asyncio
import json
from dataclasses import replace

import pytest
from PySide6.QtCore import QEvent, QMimeData, QPoint, QPointF, QRect, Qt, QUrl
from PySide6.QtGui import QAccessible, QDropEvent, QGuiApplication
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QAbstractButton, QLabel, QLineEdit, QWidget

from mcp_patchbay.domain.servers import HttpServer, ServerSpec, StdioServer
from mcp_patchbay.ui import theme
from mcp_patchbay.ui.details.panel import LOG
from mcp_patchbay.ui.models.server_model import Column
from ui.main_window.sample_servers import files, off


def saved(workspace) -> dict:
    return json.loads(workspace.file.path.read_text("utf-8"))["servers"]


def shown(window) -> list[str]:
    return [window.table.name_at(row) for row in range(window.table.sorted.rowCount())]


def cell(window, name: str, column: Column) -> QRect:
    return window.table.visualRect(window.table.sorted.index(window.table.row_of(name), column))


def click(window, name: str, column: Column) -> None:
    box = cell(window, name, column)
    at = box.center() if column is Column.ON else QPoint(box.x() + 16, box.center().y())
    QTest.mouseClick(window.table.viewport(), Qt.MouseButton.LeftButton, Qt.KeyboardModifier.NoModifier, at)


def heard(signal) -> list:
    calls: list = []
    signal.connect(lambda *arguments: calls.append(arguments))
    return calls


@pytest.fixture
async def three(workspace):
    for spec in (off("alpha"), off("beta"), off("gamma")):
        await workspace.add(spec)
    return workspace


async def test_a_click_on_the_switch_is_saved(three, open_window, qwait):
    window = await open_window()
    click(window, "beta", Column.ON)
    await qwait.until(lambda: saved(three)["beta"].get("enabled", True))
    assert saved(three)["alpha"]["enabled"] is False
    await qwait.until(lambda: window.model.snapshot("beta").spec.enabled)


async def test_space_switches_every_selected_server(three, open_window, qwait):
    window = await open_window()
    window.table.select(["alpha", "gamma"])
    QTest.keyClick(window.table, Qt.Key.Key_Space)
    await qwait.until(lambda: all(saved(three)[name].get("enabled", True) for name in ("alpha", "gamma")))
    assert saved(three)["beta"]["enabled"] is False


async def test_a_deleted_server_comes_back_by_the_notice(three, open_window, qwait):
    window = await open_window()
    window.table.select(["beta"])
    QTest.keyClick(window.table, Qt.Key.Key_Delete)
    await qwait.until(lambda: window.notice.text == "Deleted beta.")
    assert shown(window) == ["alpha", "gamma"]
    assert window.table.current() == "gamma"
    undo = next(b for b in window.notice.findChildren(QAbstractButton) if b.text() == "Undo")
    undo.click()
    await qwait.until(lambda: shown(window) == ["alpha", "beta", "gamma"])
    assert window.table.current() == "beta"
    assert window.notice.text == ""
    assert list(saved(three)) == ["alpha", "beta", "gamma"]


async def test_control_z_brings_several_deleted_servers_back(three, open_window, qwait):
    window = await open_window()
    window.table.select(["alpha", "beta"])
    window.commands.delete.trigger()
    await qwait.until(lambda: window.notice.text == "Deleted 2 servers.")
    assert shown(window) == ["gamma"]
    await qwait.until(lambda: window.commands.undo.isEnabled())
    QTest.keyClick(window.table, Qt.Key.Key_Z, Qt.KeyboardModifier.ControlModifier)
    await qwait.until(lambda: len(shown(window)) == 3)


async def test_control_z_in_the_search_field_does_not_undo_a_deletion(three, open_window, qwait):
    window = await open_window()
    window.table.select(["beta"])
    window.commands.delete.trigger()
    await qwait.until(lambda: window.notice.text)
    window.toolbar.search.setFocus()
    QTest.keyClicks(window.toolbar.search, "gam")
    QTest.keyClick(window.toolbar.search, Qt.Key.Key_Z, Qt.KeyboardModifier.ControlModifier)
    assert three.undo_step is not None


async def test_a_copy_is_made_below_and_selected(three, open_window, qwait):
    window = await open_window()
    window.table.select(["alpha"])
    QTest.keyClick(window.table, Qt.Key.Key_D, Qt.KeyboardModifier.ControlModifier)
    await qwait.until(lambda: window.table.current() == "alpha copy")
    assert list(saved(three)) == ["alpha", "alpha copy", "beta", "gamma"]


@pytest.mark.parametrize("key", [Qt.Key.Key_F2, Qt.Key.Key_Return])
async def test_the_keyboard_opens_the_editor(three, open_window, key):
    window = await open_window()
    asked = heard(window.edit_requested)
    window.table.select(["beta"])
    QTest.keyClick(window.table, key)
    assert asked == [("beta",)]


async def test_keys_ask_for_what_the_window_cannot_do_itself(three, open_window):
    window = await open_window()
    added, played = heard(window.add_requested), heard(window.playground_requested)
    QTest.keyClick(window, Qt.Key.Key_N, Qt.KeyboardModifier.ControlModifier)
    QTest.keyClick(window, Qt.Key.Key_P, Qt.KeyboardModifier.ControlModifier)
    assert added == [("",)]
    assert played == [("alpha", "")]


async def test_control_f_searches_and_escape_ends_it(three, open_window):
    window = await open_window()
    QTest.keyClick(window, Qt.Key.Key_F, Qt.KeyboardModifier.ControlModifier)
    assert window.focusWidget() is window.toolbar.search
    QTest.keyClicks(window.toolbar.search, "gam")
    assert shown(window) == ["gamma"]
    assert window.table.current() == "gamma"
    QTest.keyClick(window.toolbar.search, Qt.Key.Key_Escape)
    assert shown(window) == ["alpha", "beta", "gamma"]


async def test_a_narrow_window_gives_the_message_the_room(three, open_window, qapp):
    window = await open_window(1180)
    hidden = lambda: [column for column in Column if window.table.isColumnHidden(column)]  # noqa: E731
    assert hidden() == []
    window.resize(1050, 760)
    qapp.processEvents()
    assert hidden() == [Column.TRANSPORT]
    window.resize(900, 600)
    qapp.processEvents()
    assert hidden() == [Column.TRANSPORT, Column.LATENCY, Column.SINCE]
    window.resize(1180, 760)
    qapp.processEvents()
    assert hidden() == []


async def test_the_window_remembers_itself(three, open_window):
    first = await open_window()
    first.resize(1111, 700)
    first.table.sortByColumn(Column.NAME, Qt.SortOrder.DescendingOrder)
    first.table.setColumnWidth(Column.NAME, 301)
    first.table._show_column(Column.CALLS, False)
    first.table.select(["beta"])
    first.details.show_tab(LOG)
    first.splitter.setSizes([300, 300])
    sizes = first.splitter.sizes()
    first.hide()
    second = await open_window(1111, 700)
    assert shown(second) == ["gamma", "beta", "alpha"]
    assert second.table.columnWidth(Column.NAME) == 301
    assert second.table.isColumnHidden(Column.CALLS)
    assert second.table.current() == "beta"
    assert second.details.tabs.currentIndex() == LOG
    assert second.splitter.sizes() == sizes


async def test_a_damaged_memory_is_as_good_as_none(three, open_window, paths):
    (paths.config / "window.ini").write_bytes(b"[General]\ncolumns=@ByteArray(rubbish)\ntab=no\n\xff\x00")
    window = await open_window()
    assert shown(window) == ["alpha", "beta", "gamma"]


async def test_what_was_pasted_shows_its_exact_command_before_it_runs(workspace, open_window):
    environment = {"NODE_OPTIONS": "--require ./x.js", "API_KEY": "hunter2"}
    command = StdioServer("npx", ("-y", "a server", "--flag"), env=environment, cwd="/srv")
    await workspace.add(ServerSpec("pasted", command, unconfirmed=True))
    window = await open_window()
    texts = [text.text() for text in window.details.overview.findChildren(QLabel) if text.isVisible()]
    expected = 'npx -y "a server" --flag\nin /srv\nwith "NODE_OPTIONS=--require ./x.js" API_KEY=•••'
    assert expected in texts
    start = next(b for b in window.details.overview.findChildren(QAbstractButton) if b.text() == "Start")
    assert start.property("primary") is True


async def test_start_confirms_what_was_pasted(workspace, open_window, qwait):
    await workspace.add(ServerSpec("pasted", HttpServer("http://localhost:1/mcp"), unconfirmed=True))
    window = await open_window()
    click(window, "pasted", Column.MESSAGE)
    await qwait.until(lambda: "unconfirmed" not in saved(workspace)["pasted"])


async def test_an_action_that_fails_is_said_calmly(three, open_window, qwait):
    window = await open_window()
    window.perform(["alpha"], "restart")  # there is no engine yet
    await qwait.until(lambda: window.notice.text)
    assert "engine" in window.notice.text.casefold()


@pytest.mark.expect_log("servers.json, line 1")
async def test_a_file_that_cannot_be_read_is_said_and_the_last_good_one_can_be_restored(three, open_window, qwait):
    three.file.path.write_text("{ not json")
    three.load()
    window = await open_window()
    await qwait.until(lambda: "line 1" in window.notice.text)
    restore = next(b for b in window.notice.findChildren(QAbstractButton) if "Restore" in b.text())
    restore.click()
    await qwait.until(lambda: three.problem is None)
    assert {"alpha", "beta"} <= set(saved(three))
    await qwait.until(lambda: window.notice.text == "")


async def test_an_outside_change_is_shown_without_losing_the_selection(three, open_window):
    window = await open_window()
    window.table.select(["gamma"])
    await three.update("alpha", replace(three.get("alpha"), description="changed"))
    await three.add(off("delta"))
    assert shown(window) == ["alpha", "beta", "gamma", "delta"]
    assert window.table.selected() == ["gamma"]


async def test_an_empty_program_offers_what_helps(workspace, open_window):
    window = await open_window()
    assert window.welcome.isVisible()
    asked = heard(window.add_requested), heard(window.import_requested)
    for button in window.welcome.findChildren(QAbstractButton):
        if button.text() in ("Add a server…", "Import…"):
            button.click()
    assert asked == ([("",)], [("",)])
    await workspace.add(off("alpha"))
    assert window.table.isVisible()


async def test_the_cards_stay_until_another_server_is_there(workspace, open_window, tmp_path):
    await workspace.add(files("filesystem", tmp_path))
    window = await open_window()
    assert window.cards.isVisible()
    assert not window.details.isVisible()
    await workspace.add(off("alpha"))
    assert window.details.isVisible()


async def test_dismissed_cards_do_not_come_back(workspace, open_window, settings, tmp_path):
    await workspace.add(files("filesystem", tmp_path))
    window = await open_window()
    window.cards.dismissed.emit()
    assert window.details.isVisible()
    assert settings.current.first_start_dismissed
    assert (await open_window()).details.isVisible()


async def test_a_folder_becomes_a_file_server_that_may_only_read(workspace, open_window, tmp_path, qwait):
    window = await open_window()
    folder = tmp_path / "notes"
    folder.mkdir()
    window.deeds.add_folder(str(folder))
    await qwait.until(lambda: window.table.current() == "notes")
    decide = workspace.get("notes").filters.tools.decide
    assert [tool for tool in ("read_file", "write_file", "move_file", "edit_file") if decide(tool).visible] == [
        "read_file"
    ]


async def test_a_dropped_file_is_offered_for_import(workspace, open_window, tmp_path, qwait):
    window = await open_window()
    asked = heard(window.import_requested)
    file = tmp_path / "mcp.json"
    file.write_text('{"mcpServers": {}}', "utf-8")
    data = QMimeData()
    data.setUrls([QUrl.fromLocalFile(str(file))])
    buttons, keys = Qt.MouseButton.LeftButton, Qt.KeyboardModifier.NoModifier
    window.dropEvent(QDropEvent(QPointF(5, 5), Qt.DropAction.CopyAction, data, buttons, keys))
    await qwait.until(lambda: asked)
    assert asked == [('{"mcpServers": {}}',)]


async def test_pasting_into_the_table_offers_the_text_for_import(three, open_window):
    window = await open_window()
    asked = heard(window.import_requested)
    QGuiApplication.clipboard().setText('{"command": "uvx"}')
    QTest.keyClick(window.table, Qt.Key.Key_V, Qt.KeyboardModifier.ControlModifier)
    assert asked == [('{"command": "uvx"}',)]


async def test_closing_hides_the_window_and_says_so(three, open_window):
    window = await open_window()
    closed = heard(window.closed)
    window.close()
    assert not window.isVisible()
    assert closed == [()]


async def test_the_theme_is_chosen_from_the_menu_and_kept(three, open_window, settings):
    window = await open_window()
    try:
        next(a for a in window.commands.themes.actions() if a.data() == "dark").trigger()
        assert theme.is_dark()
        assert settings.current.theme == "dark"
        assert window.palette().window().color().name() == theme.DARK["window"]
    finally:
        theme.apply(QGuiApplication.instance(), "light")


async def test_everything_that_takes_the_focus_has_a_name(three, open_window):
    window = await open_window()

    def name_of(widget: QWidget) -> str:
        interface = QAccessible.queryAccessibleInterface(widget)
        return interface.text(QAccessible.Text.Name) if interface is not None else ""

    takes_focus = [  # the notice's button has its text whenever it is there
        widget
        for widget in window.findChildren(QWidget)
        if widget.focusPolicy() & Qt.FocusPolicy.TabFocus and not isinstance(widget.parent(), QLineEdit)
        if widget.window() is window and widget.parent() is not window.notice
    ]
    nameless = [f"{widget!r} in {widget.parent()!r}" for widget in takes_focus if not name_of(widget)]
    assert nameless == []
    assert window.table in takes_focus


async def test_tab_leaves_the_table_and_goes_through_the_details(three, open_window):
    window = await open_window()
    passed = []
    for _ in range(40):
        QTest.keyClick(window.focusWidget(), Qt.Key.Key_Tab)
        passed.append(window.focusWidget())
    assert window.details.tabs in passed
    assert window.toolbar.search in passed
    assert any(isinstance(widget, QAbstractButton) and widget.text() == "Switch on" for widget in passed)


async def test_a_table_cell_is_read_out_in_words(three, open_window):
    window = await open_window()
    table = QAccessible.queryAccessibleInterface(window.table)
    cells = {table.child(place).text(QAccessible.Text.Name) for place in range(table.childCount())}
    assert cells >= {"alpha is switched off", "Off", "alpha, some-command alpha", "0 calls, 0 errors"}


async def test_about_names_versions_and_licences(three, open_window, qapp):
    from mcp_patchbay.ui.about import AboutDialog, components, versions

    window = await open_window()
    window.commands.about.trigger()
    dialog = window.findChild(AboutDialog)
    assert dialog.isVisible()
    assert {name for name, _ in versions()} >= {"Patchbay", "Python", "Qt", "PySide6", "mcp"}
    assert all(licence for _, _, licence in components())
    dialog.close()
    qapp.sendPostedEvents(dialog, QEvent.Type.DeferredDelete.value)


async def test_a_renamed_server_stays_selected(three, open_window):
    window = await open_window()
    window.table.select(["beta"])
    await three.update("beta", replace(three.get("beta"), name="zeta"))
    assert window.table.selected() == ["zeta"]
    assert window.details.name == "zeta"


async def test_columns_and_sorting_can_be_chosen_from_the_menu(three, open_window):
    window = await open_window()
    sort, columns = window.table.sort_menu(), window.table.column_menu()
    by_name = next(action for action in sort.actions() if action.data() == Column.NAME)
    by_name.trigger()
    by_name.trigger()
    assert shown(window) == ["gamma", "beta", "alpha"]
    columns.aboutToShow.emit()
    since = next(action for action in columns.actions() if action.data() == Column.SINCE)
    assert since.isChecked()
    since.trigger()
    assert window.table.isColumnHidden(Column.SINCE)


async def test_shutting_the_window_does_not_wait_for_a_person(three, open_window, qwait):
    window = await open_window()
    ended: list[str] = []

    async def waits_for_a_dialog() -> None:
        try:
            await asyncio.get_running_loop().create_future()
        finally:
            ended.append("cancelled")

    window.deeds.run(waits_for_a_dialog(), "dialog")
    await asyncio.wait_for(window.deeds.tasks.finish(within=0.05), 2.0)
    assert ended == ["cancelled"]
