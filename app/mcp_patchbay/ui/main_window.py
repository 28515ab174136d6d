"""The main window: the table of servers, the details below, and everything that can be done with both."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from PySide6.QtCore import Qt, QTimer, QUrl, Signal
from PySide6.QtGui import QCloseEvent, QDesktopServices, QGuiApplication
from PySide6.QtWidgets import QApplication, QFileDialog, QMainWindow, QMenu, QSplitter, QStackedWidget

from mcp_patchbay.domain.servers import BuiltinServer
from mcp_patchbay.ui import theme
from mcp_patchbay.ui.about import AboutDialog
from mcp_patchbay.ui.commands import Commands
from mcp_patchbay.ui.deeds import Deeds, looks_like_json
from mcp_patchbay.ui.details.panel import LOG, DetailsPanel
from mcp_patchbay.ui.first_start import FirstStart
from mcp_patchbay.ui.icons import app_icon
from mcp_patchbay.ui.models.catalog_model import offer_tokens
from mcp_patchbay.ui.models.server_model import ServerModel
from mcp_patchbay.ui.notice_bar import NoticeBar
from mcp_patchbay.ui.server_table import ServerTable
from mcp_patchbay.ui.status_line import StatusLine
from mcp_patchbay.ui.toolbar import MainToolBar
from mcp_patchbay.ui.widgets import holder, vbox
from mcp_patchbay.ui.window_memory import WindowMemory

if TYPE_CHECKING:
    from collections.abc import Iterable

    from PySide6.QtCore import QPoint
    from PySide6.QtGui import QDragEnterEvent, QDropEvent, QHideEvent, QShowEvent

    from mcp_patchbay.domain.errors import ConfigFileError
    from mcp_patchbay.domain.state import Snapshot
    from mcp_patchbay.stores.paths import Paths
    from mcp_patchbay.stores.settings import SettingsFile
    from mcp_patchbay.ui.bridge import EngineBridge
    from mcp_patchbay.ui.workspace import Workspace

SERVERS_PAGE, EMPTY_PAGE = range(2)
DETAILS, CARDS = range(2)


class MainWindow(QMainWindow):
    """Shows a workspace. It paints before the engine is there; `connect_bridge` makes it live.

    What it cannot do itself (the editor, the playground, quitting) it asks for by signals.
    """

    add_requested = Signal(str)
    """"stdio", "http", "builtin", or "" when the kind is still open."""
    edit_requested = Signal(str)
    """A server's name."""
    import_requested = Signal(str)
    """JSON to take servers from, as it was pasted, dropped or read."""
    playground_requested = Signal(str, str)
    """A server and a tool, each "" when none is chosen."""
    sign_in_requested = Signal(str)
    """A server's name."""
    closed = Signal()
    """The user closed the window; it is hidden now."""
    quit_requested = Signal()

    def __init__(self, workspace: Workspace, settings: SettingsFile, paths: Paths) -> None:
        super().__init__()
        self._workspace, self._settings, self._paths = workspace, settings, paths
        self._tokens = 0
        self._problem: ConfigFileError | None = None
        self._memory = WindowMemory(paths.config / "window.ini")
        self.setWindowTitle(self.tr("Patchbay"))
        self.setWindowIcon(app_icon())
        self.setAcceptDrops(True)
        self.setMinimumSize(720, 480)

        self.model = ServerModel(self)
        self.table = ServerTable(self.model)
        self.notice = NoticeBar()
        self.deeds = Deeds(workspace, self.notice, self)
        self.details = DetailsPanel(workspace, self.deeds.tasks)
        self.cards = FirstStart(whole=False)
        self.welcome = FirstStart(whole=True)
        self.commands = Commands(self, self.table)
        self.toolbar = MainToolBar(self.commands, [self.table.sort_menu(), self.table.column_menu()])
        self.status_line = StatusLine()

        self._below = QStackedWidget()
        self._below.addWidget(self.details)
        self._below.addWidget(self.cards)
        self.splitter = QSplitter(Qt.Orientation.Vertical)
        self.splitter.addWidget(self.table)
        self.splitter.addWidget(self._below)
        self.splitter.setHandleWidth(12)
        self.splitter.setChildrenCollapsible(False)
        self.splitter.setSizes([364, 274])
        self.splitter.setStretchFactor(0, 1)
        self._pages = QStackedWidget()
        self._pages.addWidget(self.splitter)
        self._pages.addWidget(self.welcome)
        self.setCentralWidget(holder(vbox(self.notice, (self._pages, 1), margins=(16, 12, 16, 12))))
        self.addToolBar(self.toolbar)
        self.setStatusBar(self.status_line)

        self._ticking = QTimer(self)
        self._ticking.setInterval(1000)
        self._ticking.timeout.connect(self._on_tick)
        self._counting = QTimer(self)
        self._counting.setInterval(300)
        self._counting.setSingleShot(True)
        self._counting.timeout.connect(lambda: self.deeds.run(self._count_tokens(), "count tokens"))

        self._connect_commands()
        self._connect_parts()
        self._unsubscribe = workspace.subscribe(self.refresh)
        self.table.setFocus()
        self.refresh()
        self._memory.restore(self)
        if not self.table.current():
            self.table.select_row(0)

    # --- what comes in

    def connect_bridge(self, bridge: EngineBridge) -> None:
        """Hear the engine from now on."""
        bridge.snapshot_changed.connect(self.on_snapshot_changed)
        bridge.tools_changed.connect(self.on_tools_changed)
        bridge.log_grew.connect(self.details.on_log_grew)
        bridge.traffic_grew.connect(self.details.on_traffic_grew)
        self.refresh()
        self._counting.start()

    def refresh(self) -> None:
        """Show the servers that the workspace has now. The selection stays, also on a server that was renamed."""
        names, row = self.table.selected(), self.table.currentIndex().row()
        chosen = {snapshot.spec.id for name in names if (snapshot := self.model.snapshot(name)) is not None}
        self.model.set_servers([self._workspace.snapshot(spec.name) for spec in self._workspace.servers()])
        left = [snapshot.name for snapshot in self.model.snapshots() if snapshot.spec.id in chosen]
        if not left:
            self.table.select_row(row)  # what was selected is gone: go on with what took its place
        elif set(left) != set(names):
            self.table.select(left)
        self._show_current()
        self.details.show_rings()
        self._choose_page()
        self._say_problem()
        self._fit()

    def on_snapshot_changed(self, snapshot: Snapshot) -> None:
        """Something about one server changed."""
        self.model.update(snapshot)
        if snapshot.name == self.table.current():
            self.details.show_snapshot(snapshot)
        self._fit()

    def on_tools_changed(self, name: str) -> None:
        """What a server offers changed."""
        self.details.on_tools_changed(name)
        self._counting.start()

    def show_server(self, name: str, *, log: bool = False) -> None:
        """Bring a server into view, perhaps its log."""
        if self.table.row_of(name) is None:
            self.toolbar.search.clear()
        self.table.select([name])
        if log:
            self.details.show_tab(LOG)

    # --- what a person does

    def perform(self, names: Iterable[str], action: str) -> None:
        """Do one of the health actions, or what a button of the Overview says, with these servers."""
        chosen = list(names)
        match action:
            case "start" | "retry":
                self.deeds.start(chosen)
            case "stop":
                self.deeds.stop(chosen)
            case "restart":
                self.deeds.restart(chosen)
            case "enable":
                self.deeds.switch(chosen, on=True)
            case "sign_in":
                self.sign_in_requested.emit(chosen[0])
            case "edit" | "install":
                self.edit_requested.emit(chosen[0])
            case "playground":
                self.playground_requested.emit(chosen[0], "")
            case "show_log":
                self.show_server(chosen[0], log=True)

    async def _count_tokens(self) -> None:
        hub = self._workspace.hub
        if hub is not None:
            self._tokens = sum(map(offer_tokens, await hub.list_tools()))

    # --- wiring

    def _connect_commands(self) -> None:
        do = self.commands
        do.add.triggered.connect(lambda: self.add_requested.emit(""))
        do.add_command.triggered.connect(lambda: self.add_requested.emit("stdio"))
        do.add_url.triggered.connect(lambda: self.add_requested.emit("http"))
        do.add_builtin.triggered.connect(lambda: self.add_requested.emit("builtin"))
        do.import_clipboard.triggered.connect(self._on_paste)
        do.paste.triggered.connect(self._on_paste)
        do.import_file.triggered.connect(self._on_open_file)
        do.start.triggered.connect(lambda: self.perform(self.table.selected(), "start"))
        do.stop.triggered.connect(lambda: self.perform(self.table.selected(), "stop"))
        do.restart.triggered.connect(lambda: self.perform(self.table.selected(), "restart"))
        do.playground.triggered.connect(lambda: self.playground_requested.emit(self.table.current(), ""))
        do.find.triggered.connect(self._on_find)
        do.edit.triggered.connect(lambda: self.edit_requested.emit(self.table.current()))
        do.duplicate.triggered.connect(lambda: self.deeds.duplicate(self.table.current()))
        do.delete.triggered.connect(lambda: self.deeds.delete(self.table.selected()))
        do.copy_name.triggered.connect(self._on_copy_name)
        do.switch_on.triggered.connect(lambda: self.deeds.switch(self.table.selected(), True))
        do.switch_off.triggered.connect(lambda: self.deeds.switch(self.table.selected(), False))
        do.show_log.triggered.connect(lambda: self.details.show_tab(LOG))
        do.undo.triggered.connect(lambda: self.deeds.undo())
        do.pause.triggered.connect(lambda: self.deeds.toggle_pause())
        do.open_config.triggered.connect(lambda: self._open_folder(self._paths.servers_file.parent))
        do.open_logs.triggered.connect(lambda: self._open_folder(self._paths.logs))
        do.themes.triggered.connect(lambda action: self._on_theme_chosen(action.data()))
        do.about.triggered.connect(lambda: AboutDialog(self).open())
        do.quit.triggered.connect(self.quit_requested)
        for choice in do.themes.actions():
            choice.setChecked(choice.data() == self._settings.current.theme)

    def _connect_parts(self) -> None:
        self.toolbar.search.textChanged.connect(self._on_search_changed)
        self.toolbar.search.returnPressed.connect(self.table.setFocus)
        self.table.current_changed.connect(lambda _name: self._show_current())
        self.table.selection_changed.connect(self._fit)
        self.table.switch_requested.connect(self.deeds.switch)
        self.table.action_requested.connect(lambda name, action: self.perform([name], action))
        self.table.edit_requested.connect(self.edit_requested)
        self.table.setContextMenuPolicy(Qt.ContextMenuPolicy.CustomContextMenu)
        self.table.customContextMenuRequested.connect(self._on_menu_requested)
        self.details.action_requested.connect(lambda name, action: self.perform([name], action))
        self.details.playground_requested.connect(self.playground_requested)
        self.details.filters_change_requested.connect(self.deeds.change_filters)
        self.details.report_copied.connect(
            lambda name: self.notice.say(self.tr("The report about {0} is in the clipboard.").format(name))
        )
        self.deeds.done.connect(self._fit)
        self.deeds.selection_wanted.connect(self.table.select)
        self.deeds.text_read.connect(self.import_requested)
        for page in (self.cards, self.welcome):
            page.import_requested.connect(lambda: self.import_requested.emit(""))
            page.add_requested.connect(lambda: self.add_requested.emit(""))
            page.folder_requested.connect(self._on_folder_requested)
        self.cards.dismissed.connect(self._on_cards_dismissed)

    # --- what is shown

    def _show_current(self) -> None:
        snapshot = self.model.snapshot(self.table.current())
        self.details.setEnabled(snapshot is not None)
        if snapshot is not None:
            self.details.show_snapshot(snapshot)

    def _choose_page(self) -> None:
        specs = self._workspace.servers()
        page = SERVERS_PAGE if specs else EMPTY_PAGE
        if page != self._pages.currentIndex():  # else the keyboard would go to whatever comes next
            self._pages.setCurrentIndex(page)
            (self.table if specs else self.welcome.start_button()).setFocus()
        only_ours = len(specs) == 1 and isinstance(specs[0].target, BuiltinServer)
        new_here = only_ours and not self._settings.current.first_start_dismissed
        self._below.setCurrentIndex(CARDS if new_here else DETAILS)

    def _say_problem(self) -> None:
        """Once for each problem: a notice that was closed stays closed."""
        known, self._problem = self._problem, self._workspace.problem
        if self._problem is not None and self._problem is not known:
            self.deeds.tell_problem(self._problem)
        elif self._problem is None and known is not None:
            self.notice.clear()

    def _fit(self) -> None:
        """Let buttons and counts fit the servers."""
        chosen = [s for name in self.table.selected() if (s := self.model.snapshot(name)) is not None]
        self.commands.fit(chosen, has_engine=self._workspace.hub is not None)
        servers = self.model.snapshots()
        self.commands.playground.setEnabled(bool(servers))
        self.toolbar.search.setEnabled(bool(servers))
        self.commands.undo.setEnabled(self._workspace.undo_step is not None)
        self.commands.pause.setEnabled(self._workspace.hub is not None)
        self.commands.pause.setText(self.tr("Resume all") if self._workspace.paused else self.tr("Pause all"))
        self.status_line.show_servers(servers, self._tokens, self._settings.current.close_to_tray)

    def _on_tick(self) -> None:
        self.model.tick()
        self.details.tick()

    def _on_search_changed(self, text: str) -> None:
        self.table.sorted.search(text)
        if not self.table.current():
            self.table.select_row(0)

    # --- commands that need more than a line

    def _on_find(self) -> None:
        self.toolbar.search.setFocus(Qt.FocusReason.ShortcutFocusReason)
        self.toolbar.search.selectAll()

    def _on_copy_name(self) -> None:
        QGuiApplication.clipboard().setText("\n".join(self.table.selected()))

    def _on_paste(self) -> None:
        self.import_requested.emit(QGuiApplication.clipboard().text())

    def _on_open_file(self) -> None:
        dialog = QFileDialog(self, self.tr("Import servers from a file"))
        dialog.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        dialog.setFileMode(QFileDialog.FileMode.ExistingFile)
        dialog.setNameFilters([self.tr("JSON files (*.json *.jsonc *.json5)"), self.tr("All files (*)")])
        dialog.fileSelected.connect(lambda name: self.deeds.import_file(Path(name)))
        dialog.open()

    def _on_folder_requested(self) -> None:
        dialog = QFileDialog(self, self.tr("A folder for the built-in file server"))
        dialog.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        dialog.setFileMode(QFileDialog.FileMode.Directory)
        dialog.setOption(QFileDialog.Option.ShowDirsOnly)
        dialog.fileSelected.connect(lambda folder: self.deeds.add_folder(folder))
        dialog.open()

    def _on_cards_dismissed(self) -> None:
        self._settings.change(first_start_dismissed=True)
        self._choose_page()
        self.table.setFocus()

    def _on_theme_chosen(self, mode: theme.Mode) -> None:
        self._settings.change(theme=mode)
        app = QApplication.instance()
        if isinstance(app, QApplication):
            theme.apply(app, mode)

    def _open_folder(self, folder: Path) -> None:
        QDesktopServices.openUrl(QUrl.fromLocalFile(str(folder)))

    def _on_menu_requested(self, at: QPoint) -> None:
        do = self.commands
        menu = QMenu(self.table)
        menu.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        if self.table.indexAt(at).isValid():
            menu.addActions([do.start, do.stop, do.restart])
            menu.addSeparator()
            snapshot = self.model.snapshot(self.table.current())
            menu.addAction(do.switch_off if snapshot is not None and snapshot.spec.enabled else do.switch_on)
            menu.addSeparator()
            menu.addActions([do.edit, do.duplicate, do.copy_name, do.show_log, do.playground])
            menu.addSeparator()
            menu.addAction(do.delete)
        else:
            menu.addActions([do.add, do.paste])
        menu.popup(self.table.viewport().mapToGlobal(at))

    # --- Qt

    def dragEnterEvent(self, event: QDragEnterEvent) -> None:
        data = event.mimeData()
        if any(url.isLocalFile() for url in data.urls()) or looks_like_json(data.text()):
            event.acceptProposedAction()

    def dropEvent(self, event: QDropEvent) -> None:
        files = [Path(url.toLocalFile()) for url in event.mimeData().urls() if url.isLocalFile()]
        if files:
            self.deeds.import_file(files[0])
        else:
            self.import_requested.emit(event.mimeData().text())
        event.acceptProposedAction()

    def showEvent(self, event: QShowEvent) -> None:
        super().showEvent(event)
        self._on_tick()
        self._ticking.start()

    def hideEvent(self, event: QHideEvent) -> None:
        super().hideEvent(event)
        self._ticking.stop()
        self._memory.save(self)

    def closeEvent(self, event: QCloseEvent) -> None:
        """Closing only hides: whether the program goes on in the tray is for its owner to say."""
        event.ignore()
        self.hide()
        self.closed.emit()

    async def shut(self) -> None:
        """At quit: end what the window began, in bounded time, let go of the workspace and close for good."""
        self.hide()
        self._unsubscribe()
        self._counting.stop()
        await self.deeds.tasks.finish()
        self.deleteLater()
