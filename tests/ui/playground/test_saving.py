"""Saving what a tool sent, and what cannot be shown."""

from __future__ import annotations

import base64
from pathlib import Path
from typing import Any

import pytest
from PySide6.QtWidgets import QAbstractButton, QApplication, QFileDialog, QLabel

from mcp_patchbay.ui.playground.blocks import LongText, block_view, read_picture
from mcp_patchbay.ui.playground.json_views import bounded_json, table_rows
from mcp_patchbay.ui.playground.saving import file_name
from ui.playground.tool_server import png


@pytest.mark.parametrize(
    ("named", "mime", "name"),
    [
        ("../../etc/passwd", "application/pdf", "passwd.pdf"),
        ("C:\\windows\\evil.exe", "image/png", "evil.exe.png"),
        ("mem://notes/report.pdf?x=1", "application/pdf", "report.pdf"),
        ("...", "text/plain; charset=utf-8", "content.txt"),
        ("a\0b|c", "", "a_b_c.bin"),
        ("x" * 500, "audio/wav", "x" * 80 + ".wav"),
        ("run.desktop", "application/x-desktop", "run.desktop.bin"),
    ],
)
def test_a_servers_name_becomes_a_harmless_file_name(named: str, mime: str, name: str) -> None:
    assert file_name(named, mime) == name


@pytest.fixture
def view(qapp: QApplication) -> Any:
    """Makes the view of a block, which goes at the end."""
    made: list[Any] = []

    def make(block: Any) -> Any:
        made.append(block_view(block))
        made[-1].show()
        return made[-1]

    yield make
    for widget in made:
        widget.close()
        widget.deleteLater()


async def test_a_file_is_saved_where_a_person_says(view, tmp_path: Path, qwait) -> None:
    data = bytes(range(256)) * 10
    blob = {"uri": "mem://r.bin", "mimeType": "application/zip", "blob": base64.b64encode(data).decode()}
    shown = view({"type": "resource", "resource": blob})
    [save] = [button for button in shown.findChildren(QAbstractButton) if button.text() == "Save…"]
    save.click()
    dialog = shown.findChild(QFileDialog)
    await qwait.until(dialog.isVisible)
    dialog.fileSelected.emit(str(tmp_path / "r.zip"))
    dialog.reject()
    await qwait.until(lambda: any("Saved as" in label.text() for label in shown.findChildren(QLabel)))
    assert (tmp_path / "r.zip").read_bytes() == data


async def test_a_file_that_cannot_be_saved_is_said(view, tmp_path: Path, qwait) -> None:
    shown = view({"type": "audio", "mimeType": "audio/wav", "data": base64.b64encode(b"RIFF").decode()})
    [save] = [button for button in shown.findChildren(QAbstractButton) if button.text() == "Save…"]
    save.click()
    dialog = shown.findChild(QFileDialog)
    dialog.fileSelected.emit(str(tmp_path / "no such folder" / "a.wav"))
    dialog.reject()
    await qwait.until(lambda: any("Could not be saved" in label.text() for label in shown.findChildren(QLabel)))


@pytest.mark.parametrize("block", [{"type": "json", "json": {"a": 1}}, {}, 7, None, "text", {"type": "image"}, [1]])
def test_a_block_of_an_unknown_kind_is_shown_as_json(view: Any, block: Any) -> None:
    assert view(block).findChild(LongText).view.toPlainText()


def test_only_pictures_of_safe_kinds_are_read(qapp: QApplication) -> None:
    picture = read_picture(png(3, 2))
    assert picture is not None
    assert (picture.width(), picture.height()) == (3, 2)
    assert read_picture(b'<svg xmlns="http://www.w3.org/2000/svg" width="9" height="9"/>') is None
    assert read_picture(b"") is None


def test_a_picture_of_unreasonable_size_is_not_read(qapp: QApplication) -> None:
    assert read_picture(png(1, 1).replace(b"\0\0\0\1\0\0\0\1", b"\0\0\xff\xff\0\0\xff\xff")) is None


def test_flat_objects_are_rows_and_nothing_else_is() -> None:
    assert table_rows([{"a": 1}, {"b": None}]) == [{"a": 1}, {"b": None}]
    assert table_rows({"items": [{"a": 1}]}) == [{"a": 1}]
    for value in ([], [1], [{"a": [1]}], [{}], {"a": 1}, {"a": [{"x": 1}], "b": 2}, "x", None):
        assert table_rows(value) is None


def test_long_json_is_cut_without_being_written_out_whole() -> None:
    text, is_all = bounded_json({"rows": list(range(10**6))}, 1000)
    assert (len(text) <= 1000, is_all) == (True, False)
    assert bounded_json({"a": 1}, 1000) == ('{\n  "a": 1\n}', True)
