"""The list of arguments or folders."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from PySide6.QtCore import Qt
from PySide6.QtGui import QGuiApplication
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QLineEdit

from checks.waiting import until
from mcp_patchbay.ui.editor.line_list import LineList, Lines


@pytest.fixture
def lines(keep: Callable[[LineList], LineList]) -> LineList:
    made = keep(LineList("Arguments", "Add argument"))
    made.resize(500, 200)
    made.set_lines(["a", "b", "c"])
    return made


def view(lines: LineList) -> Lines:
    return lines.findChild(Lines)


def test_lines_are_moved_by_keyboard(lines: LineList) -> None:
    lines.show_row(0)
    QTest.keyClick(view(lines), Qt.Key.Key_Down, Qt.KeyboardModifier.AltModifier)
    assert lines.lines() == ("b", "a", "c")
    QTest.keyClick(view(lines), Qt.Key.Key_Down, Qt.KeyboardModifier.AltModifier)
    QTest.keyClick(view(lines), Qt.Key.Key_Down, Qt.KeyboardModifier.AltModifier)
    assert lines.lines() == ("b", "c", "a")
    QTest.keyClick(view(lines), Qt.Key.Key_Up, Qt.KeyboardModifier.AltModifier)
    assert lines.lines() == ("b", "a", "c")


def test_the_current_line_is_removed(lines: LineList) -> None:
    heard: list[int] = []
    lines.changed.connect(lambda: heard.append(1))
    lines.show_row(1)
    QTest.keyClick(view(lines), Qt.Key.Key_Delete)
    assert lines.lines() == ("a", "c")
    assert heard


async def test_a_line_is_edited_in_place(lines: LineList) -> None:
    lines.show_row(1)
    QTest.keyClick(view(lines), Qt.Key.Key_Return)
    editor = view(lines).findChild(QLineEdit)
    editor.selectAll()
    QTest.keyClicks(editor, "new")
    QTest.keyClick(editor, Qt.Key.Key_Return)
    await until(lambda: lines.lines() == ("a", "new", "c"))


async def test_a_new_line_opens_for_typing(lines: LineList) -> None:
    lines.add_line()
    editor = view(lines).findChild(QLineEdit)
    QTest.keyClicks(editor, "d")
    QTest.keyClick(editor, Qt.Key.Key_Return)
    await until(lambda: lines.lines() == ("a", "b", "c", "d"))


def test_pasted_lines_become_one_line_each(lines: LineList) -> None:
    QGuiApplication.clipboard().setText("x\n\n y \n")
    lines.show_row(0)
    QTest.keyClick(view(lines), Qt.Key.Key_V, Qt.KeyboardModifier.ControlModifier)
    assert lines.lines() == ("a", "x", "y", "b", "c")


def test_an_empty_list_takes_no_room(lines: LineList) -> None:
    lines.set_lines([])
    assert not view(lines).isVisible()
    assert lines.add_button.isVisible()
