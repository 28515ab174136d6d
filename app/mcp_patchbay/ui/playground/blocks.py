"""The content blocks of a result, each as a person wants to see it. Nothing is fetched, and text stays plain text."""

from __future__ import annotations

import base64
import binascii
from collections.abc import Mapping
from typing import Any

from PySide6.QtCore import QBuffer, QByteArray, QCoreApplication, QRect, QSize, Qt
from PySide6.QtGui import QGuiApplication, QImage, QImageReader, QPainter, QPaintEvent
from PySide6.QtWidgets import QLabel, QPlainTextEdit, QSizePolicy, QWidget

from mcp_patchbay.domain.json_text import ValueTextError, json_text, parse_json
from mcp_patchbay.ui import texts
from mcp_patchbay.ui.code_view import CodeView
from mcp_patchbay.ui.playground.json_views import RowsTable, bounded_json, table_rows
from mcp_patchbay.ui.playground.saving import EXTENSIONS, file_name, open_with_its_program, save
from mcp_patchbay.ui.widgets import button, hbox, icon_label, inset, label, set_role, tool_button, vbox

SHOWN_AT_ONCE = 200_000
"""Characters of a text that are shown unasked."""
PARSED_TEXT = 2_000_000
"""Characters of a text up to which it is tried as JSON."""
MOST_LINES = 18
"""Lines of a text among other blocks; it scrolls beyond."""
PICTURE_FORMATS = frozenset({b"bmp", b"gif", b"jpeg", b"png", b"webp"})  # an SVG could name files of this machine
PICTURE_HEIGHT = 480
tr = QCoreApplication.translate


def block_view(block: Any, *, alone: bool = False) -> QWidget:
    """The view of one content block; one that is `alone` takes all the room there is."""
    if isinstance(block, Mapping):
        kind = block.get("type")
        if kind == "text" and isinstance(block.get("text"), str):
            return text_view(block["text"], alone=alone)
        if kind in ("image", "audio") and isinstance(block.get("data"), str):
            return data_view(block["data"], _text(block, "mimeType"), kind, kind)
        if kind == "resource" and isinstance(block.get("resource"), Mapping):
            return resource_view(block["resource"])
        if kind == "resource_link" and isinstance(block.get("uri"), str):
            return LinkView(block)
    return unknown_view(block)


def text_view(text: str, *, alone: bool = False) -> QWidget:
    """A text: a table or indented JSON when it is JSON of that kind, otherwise as it came."""
    if text.lstrip()[:1] in ("{", "[") and len(text) <= PARSED_TEXT:
        try:
            return value_view(parse_json(text), alone=alone)
        except ValueTextError:
            pass
    return LongText(text, alone=alone, code=False)


def value_view(value: Any, *, alone: bool = False) -> QWidget:
    """A JSON value: flat objects as a table, anything else as indented JSON."""
    rows = table_rows(value)
    if rows is None:
        return LongText(value, alone=alone, code=True)
    table = RowsTable(rows)
    if not alone:
        table.setFixedHeight(28 * (1 + min(len(rows), MOST_LINES // 2)) + 4)
    return table


def resource_view(resource: Mapping[str, Any]) -> QWidget:
    """An embedded resource: its text or its bytes, with its address and kind."""
    uri, mime = _text(resource, "uri"), _text(resource, "mimeType")
    if isinstance(resource.get("text"), str):
        text = resource["text"]
        about = _about(uri, mime, len(text.encode("utf-8", "surrogatepass")))
        data = text.encode("utf-8", "replace")
        return _framed(FileRow("file-lines", about, file_name(uri, mime or "text/plain"), data), text_view(text))
    if isinstance(resource.get("blob"), str):
        return data_view(resource["blob"], mime, "image" if mime.startswith("image/") else "file", uri)
    return unknown_view(resource)


def data_view(encoded: str, mime: str, kind: str, named: str) -> QWidget:
    """Bytes that came as base64: a picture is shown, everything can be saved; what cannot be read is said."""
    try:
        data = base64.b64decode("".join(encoded.split()), validate=True)
    except (binascii.Error, ValueError):
        return note_view(
            tr("Blocks", "{0} of type {1} that is not valid base64").format(
                _kind_word(kind), mime or tr("Blocks", "none")
            )
        )
    row = FileRow(_icon(kind), _about(named if "/" in named else _kind_word(kind), mime, len(data)),
                  file_name(named, mime), data, playable=kind == "audio" and mime in EXTENSIONS)  # fmt: skip
    if kind != "image":
        return _framed(row)
    picture = read_picture(data)
    if picture is None:
        return _framed(row, note_view(tr("Blocks", "This picture cannot be shown. It can be saved.")))
    return _framed(row, Picture(picture))


def unknown_view(block: Any) -> QWidget:
    """A block of a kind that is not known: its JSON."""
    return _framed(note_view(tr("Blocks", "A kind of content that Patchbay does not know")), LongText(block, code=True))


def note_view(text: str, icon: str = "circle-info", role: str = "dim") -> QWidget:
    """A remark of ours among the blocks."""
    note = QWidget()
    words = label(text, 12, role=role, wrap=True, selectable=True)
    words.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Preferred)
    note.setLayout(hbox(icon_label(icon, role, 12), (words, 1), spacing=6))
    return note


class LongText(QWidget):
    """A text or JSON value to read; a very long one is cut until all of it is asked for."""

    def __init__(self, shown: Any, *, alone: bool = False, code: bool) -> None:
        super().__init__()
        self._whole = shown
        self._is_code = code
        first, is_all = (
            bounded_json(shown, SHOWN_AT_ONCE) if code else (shown[:SHOWN_AT_ONCE], len(shown) <= SHOWN_AT_ONCE)
        )
        self.view = CodeView() if code else _plain_view()
        self.view.setPlainText(first)
        self.view.setProperty("bare", True)
        self.view.setAccessibleName(self.tr("Text of the result"))
        self._more = button(self.tr("Show all"), "chevron-down", link=True)
        self._more.clicked.connect(self.on_more_clicked)
        self._more.setVisible(not is_all)
        cut = label(self.tr("Only the beginning is shown."), 12, role="dim")
        cut.setVisible(not is_all)
        self._cut = cut
        self.setLayout(vbox((self.view, 1), hbox(cut, self._more, None, margins=(8, 0, 8, 0)), spacing=0))
        if not alone:
            lines = min(self.view.document().blockCount(), MOST_LINES)
            if not code:  # long lines are wrapped
                lines = min(MOST_LINES, sum(1 + len(part) // 90 for part in first[:4000].split("\n")[:MOST_LINES]))
            self.view.setFixedHeight(self.view.fontMetrics().lineSpacing() * max(lines, 1) + 14)

    def on_more_clicked(self) -> None:
        self.view.setPlainText(json_text(self._whole, indent=2) if self._is_code else self._whole)
        self._more.hide()
        self._cut.hide()
        self.view.setFocus()


def _plain_view() -> QPlainTextEdit:
    view = QPlainTextEdit()
    view.setReadOnly(True)
    view.setTabChangesFocus(True)
    view.setTextInteractionFlags(
        Qt.TextInteractionFlag.TextSelectableByMouse | Qt.TextInteractionFlag.TextSelectableByKeyboard
    )
    return view


def read_picture(data: bytes) -> QImage | None:
    """The picture in some bytes, told by the bytes themselves; None when it is none of the safe kinds."""
    buffer = QBuffer()
    buffer.setData(QByteArray(data))
    reader = QImageReader(buffer)
    reader.setDecideFormatFromContent(True)
    reader.setAutoTransform(True)
    if bytes(reader.format().data()) not in PICTURE_FORMATS:
        return None
    picture = reader.read()
    return None if picture.isNull() else picture


class Picture(QWidget):
    """A picture, made smaller when there is not room enough."""

    def __init__(self, picture: QImage) -> None:
        super().__init__()
        self.picture = picture
        words = self.tr("Picture, {0} by {1} pixels").format(picture.width(), picture.height())
        self.setAccessibleName(words)
        self.setToolTip(words)
        policy = QSizePolicy(QSizePolicy.Policy.Preferred, QSizePolicy.Policy.Preferred)
        policy.setHeightForWidth(True)
        self.setSizePolicy(policy)

    def shown_size(self, width: int) -> QSize:
        """How large it is drawn in that width."""
        return self.picture.size().scaled(
            min(width, self.picture.width()),
            min(PICTURE_HEIGHT, self.picture.height()),
            Qt.AspectRatioMode.KeepAspectRatio,
        )

    def sizeHint(self) -> QSize:
        return self.shown_size(640)

    def hasHeightForWidth(self) -> bool:
        return True

    def heightForWidth(self, width: int) -> int:
        return max(1, self.shown_size(width).height())

    def paintEvent(self, _event: QPaintEvent) -> None:
        painter = QPainter(self)
        painter.setRenderHint(QPainter.RenderHint.SmoothPixmapTransform)
        size = self.picture.size().scaled(
            self.size().boundedTo(self.picture.size()), Qt.AspectRatioMode.KeepAspectRatio
        )
        painter.drawImage(QRect(0, 0, max(1, size.width()), max(1, size.height())), self.picture)


class FileRow(QWidget):
    """What some bytes are, and buttons to save or open them."""

    def __init__(self, icon: str, about: str, name: str, data: bytes, *, playable: bool = False) -> None:
        super().__init__()
        self._name, self._data = name, data
        words = label(about, 12, selectable=True, wrap=True)
        words.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Preferred)
        saves = button(self.tr("Save…"), "file-arrow-down", link=True)
        saves.setAccessibleName(self.tr("Save {0}").format(about))
        saves.clicked.connect(lambda: save(self, self._name, self._data, self._say))
        row = hbox(icon_label(icon, "dim", 14), (words, 1), spacing=8)
        if playable:
            opens = button(self.tr("Open"), "play", link=True)
            opens.setAccessibleName(self.tr("Open {0}").format(about))
            opens.clicked.connect(lambda: open_with_its_program(self._name, self._data, self._say))
            row.addWidget(opens)
        row.addWidget(saves)
        self._said: QLabel = label("", 12, role="dim", wrap=True)
        self._said.hide()
        self.setLayout(vbox(row, self._said, spacing=2))

    def _say(self, text: str, well: bool) -> None:
        self._said.setText(text)
        set_role(self._said, "ok" if well else "error")
        self._said.show()


class LinkView(QWidget):
    """A link to a resource. It is shown and can be copied; it is not followed."""

    def __init__(self, block: Mapping[str, Any]) -> None:
        super().__init__()
        uri = str(block["uri"])
        size = block.get("size")
        known = size if isinstance(size, int) and not isinstance(size, bool) else None
        about = _about(_text(block, "title") or _text(block, "name"), _text(block, "mimeType"), known)
        address = label(uri, 12, mono=True, role="link", wrap=True, selectable=True)
        address.setAccessibleName(self.tr("Link to {0}").format(uri))
        copies = tool_button("copy", self.tr("Copy the link"))
        copies.clicked.connect(lambda: QGuiApplication.clipboard().setText(uri))
        words = vbox(address, spacing=2)
        more = " · ".join(part for part in (about, _text(block, "description")) if part)
        if more:
            words.addWidget(label(more, 12, role="dim", wrap=True))
        row = hbox(icon_label("link", "link", 14), (words, 1), copies, margins=(10, 6, 6, 6))
        self.setLayout(vbox(inset(row)))


def _framed(*parts: QWidget) -> QWidget:
    return inset(vbox(*parts, margins=(10, 6, 10, 6), spacing=6))


def _about(named: str, mime: str, size: int | None) -> str:
    parts = [named, mime, "" if size is None else texts.size(size)]
    return " · ".join(part for part in parts if part)


def _icon(kind: str) -> str:
    return {"image": "image", "audio": "volume-high"}.get(kind, "file")


def _kind_word(kind: str) -> str:
    return {"image": tr("Blocks", "Picture"), "audio": tr("Blocks", "Audio")}.get(kind, tr("Blocks", "File"))


def _text(block: Mapping[str, Any], key: str) -> str:
    value = block.get(key)
    return value if isinstance(value, str) else ""
