"""What can be done in the main window: one QAction each, for the toolbar, the menus and the keyboard."""

from __future__ import annotations

from typing import TYPE_CHECKING

from PySide6.QtCore import QObject, Qt
from PySide6.QtGui import QAction, QActionGroup, QKeySequence

from mcp_patchbay.domain.servers import InvalidServer
from mcp_patchbay.domain.state import ServerState, Snapshot
from mcp_patchbay.ui import theme

if TYPE_CHECKING:
    from PySide6.QtWidgets import QWidget

STARTABLE = {ServerState.DISABLED, ServerState.STOPPED, ServerState.FAILED, ServerState.NEEDS_AUTH}
RUNNING = {
    ServerState.CONNECTING,
    ServerState.READY,
    ServerState.RETRYING,
    ServerState.NEEDS_AUTH,
    ServerState.FAILED,
}
THEMES: tuple[theme.Mode, ...] = ("system", "light", "dark")


class Commands(QObject):
    """The actions. The window connects them; `fit` enables what makes sense for the selection."""

    def __init__(self, window: QWidget, table: QWidget) -> None:
        """`table` is where the keys work that mean something else in a text field, such as Delete."""
        super().__init__(window)
        key = Qt.Key
        self._window, self._table = window, table
        self.add = self._make(self.tr("Add"), "plus", "Ctrl+N", tip=self.tr("Add a server"))
        self.add_command = self._make(self.tr("Command (stdio)…"), "terminal", dim=True)
        self.add_url = self._make(self.tr("URL (http, sse)…"), "globe", dim=True)
        self.add_builtin = self._make(self.tr("Built-in server…"), "folder-tree", dim=True)
        self.import_clipboard = self._make(self.tr("Paste from the clipboard…"), "paste", dim=True)
        self.import_file = self._make(self.tr("Open a file…"), "folder-open", "Ctrl+O", dim=True)
        self.start = self._make(self.tr("Start"), "play", tip=self.tr("Start the selected servers"))
        self.stop = self._make(self.tr("Stop"), "stop", tip=self.tr("Stop the selected servers for now"))
        self.restart = self._make(self.tr("Restart"), "rotate-right", "F5", tip=self.tr("Restart the selected servers"))
        self.playground = self._make(self.tr("Playground"), "flask", "Ctrl+P", tip=self.tr("Try tools by hand"))
        self.find = self._make(self.tr("Search servers"), "magnifying-glass", "Ctrl+F")
        self.edit = self._make(self.tr("Edit…"), "pen", key.Key_F2, key.Key_Return, key.Key_Enter, table_only=True)
        self.duplicate = self._make(self.tr("Duplicate"), "clone", "Ctrl+D", table_only=True)
        self.delete = self._make(self.tr("Delete"), "trash-can", key.Key_Delete, table_only=True)
        self.paste = self._make(self.tr("Paste servers"), "paste", QKeySequence.StandardKey.Paste, table_only=True)
        self.copy_name = self._make(self.tr("Copy name"), "copy", QKeySequence.StandardKey.Copy, table_only=True)
        self.switch_on = self._make(self.tr("Switch on"), "power-off")
        self.switch_off = self._make(self.tr("Switch off"), "power-off")
        self.show_log = self._make(self.tr("Show log"), "file-lines", "Ctrl+L")
        self.undo = self._make(self.tr("Undo"), "rotate-left", QKeySequence.StandardKey.Undo)
        self.pause = self._make(self.tr("Pause all"), "pause", dim=True)
        self.open_config = self._make(self.tr("Open the config folder"), "folder-open", dim=True)
        self.open_logs = self._make(self.tr("Open the log folder"), "folder-open", dim=True)
        self.about = self._make(self.tr("About Patchbay"), "circle-info", dim=True)
        self.quit = self._make(self.tr("Quit"), "power-off", QKeySequence.StandardKey.Quit, dim=True)
        self.themes = QActionGroup(self)
        for mode, text in zip(THEMES, (self.tr("Like the system"), self.tr("Light"), self.tr("Dark")), strict=True):
            choice = self.themes.addAction(text)
            choice.setCheckable(True)
            choice.setData(mode)

    def fit(self, selected: list[Snapshot], *, has_engine: bool) -> None:
        """Enable what can be done with the selected servers."""
        usable = [s for s in selected if not isinstance(s.spec.target, InvalidServer)]
        self.start.setEnabled(has_engine and any(s.state in STARTABLE for s in usable))
        self.stop.setEnabled(any(s.state in RUNNING for s in selected))
        self.restart.setEnabled(has_engine and any(s.state in RUNNING for s in selected))
        self.switch_on.setEnabled(any(not s.spec.enabled for s in usable))
        self.switch_off.setEnabled(any(s.spec.enabled for s in selected))
        self.edit.setEnabled(len(selected) == 1)
        self.duplicate.setEnabled(len(selected) == 1)
        self.show_log.setEnabled(len(selected) == 1)
        self.delete.setEnabled(bool(selected))
        self.copy_name.setEnabled(bool(selected))

    def _make(
        self,
        text: str,
        icon: str,
        *keys: QKeySequence | QKeySequence.StandardKey | str | int,
        tip: str = "",
        dim: bool = False,
        table_only: bool = False,
    ) -> QAction:
        action = QAction(theme.icon(icon, "dim" if dim else "text"), text, self)
        action.setShortcuts([QKeySequence(key) for key in keys])
        if keys:
            shown = action.shortcut().toString(QKeySequence.SequenceFormat.NativeText)
            action.setToolTip(f"{tip or text} ({shown})")
        elif tip:
            action.setToolTip(tip)
        if table_only:
            action.setShortcutContext(Qt.ShortcutContext.WidgetShortcut)
        (self._table if table_only else self._window).addAction(action)
        return action
