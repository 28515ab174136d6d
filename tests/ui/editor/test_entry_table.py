"""The table of headers and variables."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from PySide6.QtCore import Qt
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QLineEdit, QMenu

from checks.waiting import until
from mcp_patchbay.domain.drafts import Entry
from mcp_patchbay.ui.delegates import Role
from mcp_patchbay.ui.editor.entry_table import NAME, VALUE, WHERE, EntryTable

STORED = Entry("API_KEY", kept=True, stored="${secret:1/env.API_KEY}")
Keep = Callable[[EntryTable], EntryTable]


@pytest.fixture
async def table(keep: Keep) -> EntryTable:
    table = keep(EntryTable("env", "Environment", "Add variable"))
    table.resize(600, 300)
    table.activateWindow()
    await until(table.isActiveWindow)
    return table


def cell_editor(table: EntryTable) -> QLineEdit:
    """The line in which a cell is typed."""
    return table.view.findChild(QLineEdit)


def shown(table: EntryTable) -> list[list[str]]:
    model = table.model
    return [[model.index(row, column).data() for column in range(3)] for row in range(model.rowCount())]


async def test_a_row_is_added_and_filled_in_by_keyboard_alone(table: EntryTable) -> None:
    table.add_button.setFocus()
    QTest.keyClick(table.add_button, Qt.Key.Key_Space)
    QTest.keyClicks(cell_editor(table), "GITHUB_TOKEN")
    QTest.keyClick(cell_editor(table), Qt.Key.Key_Return)
    await until(lambda: table.view.currentIndex().column() == VALUE)
    editor = await until(lambda: next((e for e in table.view.findChildren(QLineEdit) if not e.text()), None))
    assert editor.echoMode() == QLineEdit.EchoMode.Password
    QTest.keyClicks(editor, "s3cret")
    QTest.keyClick(editor, Qt.Key.Key_Return)
    await until(lambda: table.entries()[0].value)
    assert table.entries() == (Entry("GITHUB_TOKEN", "s3cret", kept=True),)
    assert shown(table) == [["GITHUB_TOKEN", "", "Kept in keyring"]]
    assert table.model.index(0, VALUE).data(Role.KEPT)


def test_a_name_that_looks_secret_is_kept_until_its_user_decides(table: EntryTable) -> None:
    model = table.model
    model.add(Entry())
    model.setData(model.index(0, NAME), "API_KEY")
    assert model.entries[0].kept
    model.setData(model.index(0, NAME), "MODE")
    assert not model.entries[0].kept
    table.view.toggle_kept(0)
    model.setData(model.index(0, NAME), "OTHER")
    assert model.entries[0].kept


def test_a_whole_line_pasted_into_a_cell_is_split(table: EntryTable, keep: Keep) -> None:
    model = table.model
    model.add(Entry())
    model.setData(model.index(0, NAME), "export API_KEY=a=b")
    assert model.entries[0] == Entry("API_KEY", "a=b", kept=True)
    headers = keep(EntryTable("headers", "Headers", "Add header")).model
    headers.add(Entry("Authorization"))
    headers.setData(headers.index(0, VALUE), "Authorization: Bearer x")
    assert headers.entries[0] == Entry("Authorization", "Bearer x", kept=True)
    headers.setData(headers.index(0, VALUE), "Bearer a:b")
    assert headers.entries[0].value == "Bearer a:b"


def test_no_role_of_a_stored_secret_holds_more_than_that_it_is_there(table: EntryTable) -> None:
    table.set_entries([STORED, Entry("A_TOKEN", "s3cret", kept=True)])
    roles = [*range(20), *map(int, Role)]
    said = [
        str(table.model.index(row, column).data(role))
        for row in range(2)
        for column in range(4)
        for role in roles
        if role != Qt.ItemDataRole.EditRole
    ]
    assert not any("s3cret" in text for text in said)
    assert table.model.index(0, VALUE).data(Qt.ItemDataRole.AccessibleTextRole) == "hidden"


async def test_a_stored_secret_opens_empty_and_stays_when_nothing_is_typed(table: EntryTable) -> None:
    table.set_entries([STORED])
    table.view.edit_cell(0, VALUE)
    assert cell_editor(table).text() == ""
    QTest.keyClick(cell_editor(table), Qt.Key.Key_Return)
    await until(lambda: cell_editor(table) is None)
    assert table.entries() == (STORED,)


async def test_a_stored_secret_is_typed_again_to_move_into_the_file(table: EntryTable) -> None:
    table.set_entries([STORED])
    table.view.setFocus()
    table.view.setCurrentIndex(table.model.index(0, WHERE))
    QTest.keyClick(table.view, Qt.Key.Key_Space)
    assert not table.entries()[0].kept
    QTest.keyClicks(cell_editor(table), "plain")
    QTest.keyClick(cell_editor(table), Qt.Key.Key_Return)
    await until(lambda: table.entries()[0].value == "plain")
    assert shown(table) == [["API_KEY", "plain", "In the file"]]


def test_a_stored_secret_that_is_ticked_again_is_the_old_one(table: EntryTable) -> None:
    table.set_entries([STORED])
    table.view.toggle_kept(0)
    table.view.toggle_kept(0)
    assert table.entries()[0].unchanged_secret


def test_a_click_on_where_moves_a_value(table: EntryTable) -> None:
    table.set_entries([Entry("MODE", "fast")])
    place = table.view.visualRect(table.model.index(0, WHERE)).center()
    QTest.mouseClick(table.view.viewport(), Qt.MouseButton.LeftButton, pos=place)
    assert table.entries() == (Entry("MODE", "fast", kept=True),)


def test_delete_removes_the_row(table: EntryTable) -> None:
    table.set_entries([Entry("A", "1"), Entry("B", "2")])
    table.view.setFocus()
    table.view.show_row(0)
    QTest.keyClick(table.view, Qt.Key.Key_Delete)
    assert table.entries() == (Entry("B", "2"),)


def test_the_menu_of_a_row_clears_its_secret(table: EntryTable) -> None:
    table.set_entries([STORED])
    table.view.on_context_menu_requested(table.view.visualRect(table.model.index(0, NAME)).center())
    menu = table.view.findChild(QMenu)
    assert [action.text() for action in menu.actions() if action.text()] == [
        "Replace value…",
        "Clear value",
        "Move into the file",
        "Remove",
    ]
    menu.actions()[1].trigger()
    menu.close()
    assert table.entries() == (Entry("API_KEY", kept=True),)
