"""Adding servers from what a web page or another program says: paste it, see what it is, add it."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, Any

from PySide6.QtCore import QAbstractItemModel, QEvent, QRect, Qt, Signal
from PySide6.QtGui import QKeyEvent, QPainter, QStandardItem, QStandardItemModel
from PySide6.QtWidgets import QDialog, QPlainTextEdit, QStyleOptionViewItem, QWidget

from mcp_patchbay.domain.drafts import Draft, shown_target
from mcp_patchbay.domain.errors import PatchbayError
from mcp_patchbay.domain.servers import InvalidServer, ServerSpec
from mcp_patchbay.engine import tasks
from mcp_patchbay.ui import theme
from mcp_patchbay.ui.delegates import Index, MonoDelegate, Role, RowDelegate
from mcp_patchbay.ui.editor.dialog import SAVE_LIMIT, ServerEditor
from mcp_patchbay.ui.editor.pasted import read_pasted
from mcp_patchbay.ui.texts import error_text, text_of, tooltip
from mcp_patchbay.ui.widgets import FieldError, Table, button, hbox, label, line, vbox

if TYPE_CHECKING:
    from mcp_patchbay.ui.workspace import Workspace

PLACEHOLDER = """npx -y @modelcontextprotocol/server-everything

https://example.com/mcp

{ "mcpServers": { … } }"""


class PasteDialog(QDialog):
    """Takes a command, a URL or JSON. One server goes on to the editor (`chosen`); several are added from here."""

    chosen = Signal(object)
    """A single server was understood and is to be looked at in the editor: its ServerSpec, or None for a blank form."""
    added = Signal(list)
    """Several servers were added: their names."""

    def __init__(self, workspace: Workspace, parent: QWidget | None = None, text: str = "") -> None:
        """`text` is what is pasted already, for example by a drop on the main window."""
        super().__init__(parent)
        self._workspace = workspace
        self._servers: list[ServerSpec] = []
        self.setWindowTitle(self.tr("Add servers"))
        self.text = QPlainTextEdit()
        self.text.setAccessibleName(self.tr("A command, a URL or JSON"))
        self.text.setPlaceholderText(PLACEHOLDER)
        self.text.setFont(theme.font(12, mono=True))
        self.text.setTabChangesFocus(True)
        self.text.document().setDocumentMargin(8)
        self.note = FieldError(self.text)
        self._model = QStandardItemModel(0, 2)
        self._model.setHorizontalHeaderLabels([self.tr("Name"), self.tr("What it starts or reaches")])
        self.found = Table(head=32)
        self.found.setModel(self._model)
        self.found.setAccessibleName(self.tr("Servers in the text"))
        self.found.setItemDelegateForColumn(0, CheckedNameDelegate(self.found))
        self.found.setItemDelegateForColumn(1, MonoDelegate(self.found))
        self.found.set_widths(200, 0)
        self.by_hand = button(self.tr("Fill in by hand"), "pen", link=True)
        self.cancel = button(self.tr("Cancel"))
        self.go_on = button(self.tr("Continue"), primary=True)
        self.go_on.setDefault(True)
        hint = self.tr("Nothing is started before you click Start. Keys and tokens go to the keyring.")
        body = vbox(
            label(self.tr("Paste a command, a URL or JSON"), bold=True),
            (self.text, 1),
            self.note,
            (self.found, 1),
            label(hint, 12, role="dim", wrap=True),
            margins=(20, 16, 20, 12),
        )
        foot = hbox(self.by_hand, None, self.cancel, self.go_on, margins=(20, 10, 20, 12))
        self.setLayout(vbox((body, 1), line(), foot, spacing=0))
        self.resize(640, 480)
        self.text.textChanged.connect(self.on_text_changed)
        self._model.itemChanged.connect(self._update_button)
        self.by_hand.clicked.connect(self.on_by_hand_clicked)
        self.cancel.clicked.connect(self.reject)
        self.go_on.clicked.connect(self.on_go_on_clicked)
        self.text.setPlainText(text)
        self.on_text_changed()

    def on_text_changed(self) -> None:
        text = self.text.toPlainText()
        self._servers = []
        self.note.clear()
        if text.strip():
            try:
                self._servers = read_pasted(text, {server.name for server in self._workspace.servers()})
            except PatchbayError as error:
                self.note.show_error(text_of(error.message))
        self._show_found()

    def ticked(self) -> list[ServerSpec]:
        """The servers that are to be added."""
        rows = range(self._model.rowCount())
        states = [self._model.item(row, 0).checkState() == Qt.CheckState.Checked for row in rows]
        return [spec for spec, on in zip(self._servers, states, strict=True) if on]

    def on_by_hand_clicked(self) -> None:
        self.chosen.emit(None)
        self.accept()

    def on_go_on_clicked(self) -> None:
        if len(self._servers) == 1:
            self.chosen.emit(self._servers[0])
            self.accept()
        else:
            tasks.start(self._add(self.ticked()), name="add servers")

    async def _add(self, servers: list[ServerSpec]) -> None:
        self.go_on.setEnabled(False)
        names: list[str] = []
        try:
            for spec in servers:
                ready, secrets = Draft.from_spec(spec).with_secrets_kept().to_spec()
                await asyncio.wait_for(self._workspace.add(ready, secrets), SAVE_LIMIT)
                names.append(ready.name)
        except PatchbayError as error:
            self._say_failed(error_text(error))
        except TimeoutError:
            self._say_failed(self.tr("The keyring did not answer. Unlock it and try again."))
        else:
            self.accept()
        finally:
            if names:
                self.added.emit(names)

    def _say_failed(self, reason: str) -> None:
        self.on_text_changed()  # those that were added are named anew, so that nothing is added over them
        self.note.show_error(reason)

    def _show_found(self) -> None:
        self._model.removeRows(0, self._model.rowCount())
        for spec in self._servers:
            self._model.appendRow(_row(spec))
        self.found.setVisible(bool(self._servers))
        self._update_button()

    def _update_button(self, _item: object = None) -> None:
        count = len(self.ticked())
        several = len(self._servers) > 1
        texts = self.tr("Add 1 server") if count == 1 else self.tr("Add {0} servers").format(count)
        self.go_on.setText(texts if several else self.tr("Continue"))
        self.go_on.setEnabled(count > 0 or len(self._servers) == 1)

    def done(self, result: int) -> None:
        super().done(result)
        self.deleteLater()


class CheckedNameDelegate(RowDelegate):
    """A name with a tick box before it; a click anywhere on it, or Space, changes the tick."""

    def draw(self, painter: QPainter, box: QRect, index: Index) -> None:
        ticked = _is_ticked(index)
        mark = QRect(box.x(), box.center().y() - 6, 14, 14)
        if index.flags() & Qt.ItemFlag.ItemIsUserCheckable:
            theme.icon("square-check" if ticked else "square", "accent" if ticked else "border").paint(painter, mark)
        super().draw(painter, box.adjusted(22, 0, 0, 0), index)

    def editorEvent(
        self, event: QEvent, model: QAbstractItemModel, _option: QStyleOptionViewItem, index: Index
    ) -> bool:
        clicked = event.type() == QEvent.Type.MouseButtonRelease
        pressed = isinstance(event, QKeyEvent) and event.key() == Qt.Key.Key_Space
        if not (clicked or pressed) or not index.flags() & Qt.ItemFlag.ItemIsUserCheckable:
            return False
        state = Qt.CheckState.Unchecked if _is_ticked(index) else Qt.CheckState.Checked
        return model.setData(index, state, Qt.ItemDataRole.CheckStateRole)


def _is_ticked(index: Index) -> bool:
    return Qt.CheckState(index.data(Qt.ItemDataRole.CheckStateRole)) == Qt.CheckState.Checked


def _row(spec: ServerSpec) -> list[QStandardItem]:
    broken = isinstance(spec.target, InvalidServer)
    name, target = QStandardItem(spec.name), QStandardItem(shown_target(spec.target))
    for item in (name, target):
        item.setEditable(False)
        item.setToolTip(tooltip(item.text()))
        item.setData("dim" if broken else "text", Role.TONE)
    name.setCheckable(not broken)
    name.setEnabled(not broken)
    name.setCheckState(Qt.CheckState.Unchecked if broken else Qt.CheckState.Checked)
    return [name, target]


async def add_by_pasting(workspace: Workspace, parent: QWidget | None = None, text: str = "", **editor: Any) -> None:
    """Let a person add servers by pasting, and look at a single one in the editor. Returns when all is closed.

    `editor` are the keywords of `ServerEditor`, such as `find_command`.
    """
    chosen: list[ServerSpec | None] = []
    dialog = PasteDialog(workspace, parent, text)
    dialog.chosen.connect(chosen.append)
    dialog.open()
    await finished(dialog)
    if chosen:
        following = ServerEditor(workspace, parent=parent, pasted=chosen[0], **editor)
        following.open()
        await finished(following)


async def finished(dialog: QDialog) -> int:
    """Wait until a dialog is closed; returns its result. A person may take as long as they like."""
    closed: asyncio.Future[int] = asyncio.get_running_loop().create_future()

    def on_finished(result: int) -> None:
        if not closed.done():
            closed.set_result(result)

    dialog.finished.connect(on_finished)
    return await closed
