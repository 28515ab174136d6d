"""The tray's menu: a headline, a line a server with its own submenu, and what concerns the whole app."""

from __future__ import annotations

from typing import TYPE_CHECKING

from PySide6.QtCore import QObject, Qt, Signal
from PySide6.QtWidgets import QMenu

from mcp_patchbay.domain.servers import InvalidServer
from mcp_patchbay.domain.state import LEVEL_ORDER, ServerState, Snapshot
from mcp_patchbay.ui import theme
from mcp_patchbay.ui.commands import RUNNING, STARTABLE
from mcp_patchbay.ui.texts import menu_text, text_of

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from PySide6.QtGui import QAction, QIcon

LINE_LENGTH = 60
"""Characters of a server's line; what is longer is cut."""
RETRYABLE = STARTABLE | {ServerState.RETRYING}


class TrayMenu(QMenu):
    """Kept up to date in place: lines change where they are. New lines and a new order wait until it is closed."""

    start_requested = Signal(str)
    stop_requested = Signal(str)
    restart_requested = Signal(str)
    log_requested = Signal(str)
    open_requested = Signal()
    pause_requested = Signal(bool)
    quit_requested = Signal()

    def __init__(self) -> None:
        super().__init__()
        self._snapshots: dict[str, Snapshot] = {}
        self._lines: dict[str, ServerLine] = {}
        self._paused = False
        self.headline = self.addAction("")
        self.headline.setEnabled(False)
        self.addSeparator()
        self._end_of_lines = self.addSeparator()
        self._add("window-maximize", self.tr("Open Patchbay"), self.open_requested.emit)
        self.pause = self._add("pause", "", lambda: self.pause_requested.emit(not self._paused))
        self.addSeparator()
        self._add("power-off", self.tr("Quit"), self.quit_requested.emit)
        self.aboutToShow.connect(self.arrange)
        self.aboutToHide.connect(self.arrange, Qt.ConnectionType.QueuedConnection)
        self.set_paused(False)

    def set_snapshots(self, snapshots: Sequence[Snapshot], headline: str, icon: QIcon) -> None:
        """Show these servers."""
        self._snapshots = {snapshot.name: snapshot for snapshot in snapshots}
        self.headline.setText(headline)
        if self.headline.icon().cacheKey() != icon.cacheKey():
            self.headline.setIcon(icon)
        for name, line in self._lines.items():
            line.show_snapshot(self._snapshots.get(name))
        if not self.isVisible() and self._lines.keys() != self._snapshots.keys():
            self.arrange()
        self._fit_pause()

    def set_paused(self, paused: bool) -> None:
        """Offer Resume instead of Pause all."""
        self._paused = paused
        self.pause.setText(self.tr("Resume") if paused else self.tr("Pause all"))
        self.pause.setIcon(theme.icon("play" if paused else "pause", "dim"))
        self._fit_pause()

    def arrange(self) -> None:
        """Bring the lines to the servers that there are, the worst first."""
        for name in [name for name in self._lines if name not in self._snapshots]:
            line = self._lines.pop(name)
            self.removeAction(line.menuAction())
            line.deleteLater()
        for name, snapshot in self._snapshots.items():
            if name not in self._lines:
                self._lines[name] = ServerLine(snapshot, self)
        place = {name: number for number, name in enumerate(self._snapshots)}
        wanted = sorted(self._lines, key=lambda name: (_rank(self._snapshots[name]), place[name]))
        if wanted != list(self._lines):
            self._lines = {name: self._lines[name] for name in wanted}
        actions = [line.menuAction() for line in self._lines.values()]
        shown = self.actions()
        if [action for action in shown if action in actions] != actions:
            for action in actions:
                self.insertAction(self._end_of_lines, action)
        self._end_of_lines.setVisible(bool(actions))

    def _fit_pause(self) -> None:
        self.pause.setEnabled(self._paused or any(s.state in RUNNING for s in self._snapshots.values()))

    def _add(self, icon: str, text: str, deed: Callable[[], object]) -> QAction:
        action = self.addAction(theme.icon(icon, "dim"), text)
        action.triggered.connect(lambda: deed())
        return action


class ServerLine(QMenu):
    """One server's line and its submenu."""

    def __init__(self, snapshot: Snapshot, menu: TrayMenu) -> None:
        super().__init__(menu)
        name = snapshot.name
        self._name = name
        self._shown: tuple[object, ...] = ()
        self.start = self._add("play", self.tr("Start"), lambda: menu.start_requested.emit(name))
        self.stop = self._add("stop", self.tr("Stop"), lambda: menu.stop_requested.emit(name))
        self.restart = self._add("rotate-right", self.tr("Restart"), lambda: menu.restart_requested.emit(name))
        self.addSeparator()
        self._add("file-lines", self.tr("Show log"), lambda: menu.log_requested.emit(name))
        self.show_snapshot(snapshot)

    def show_snapshot(self, snapshot: Snapshot | None) -> None:
        """Show the server's state; None: it is gone, and the line only waits for the menu to close."""
        self.menuAction().setEnabled(snapshot is not None)
        if snapshot is None:
            return
        words = state_words(self, snapshot)
        usable = not isinstance(snapshot.spec.target, InvalidServer)
        shown = (snapshot.state, words, usable, theme.is_dark())
        if shown == self._shown:  # each change goes to the panel's process, where the menu is shown
            return
        self._shown = shown
        text, badge = f"{self._name}  –  {words}", theme.badge(snapshot.state)
        self.setTitle(menu_text(text if len(text) <= LINE_LENGTH else text[: LINE_LENGTH - 1].rstrip() + "…"))
        self.setIcon(theme.icon(badge.icon, badge.fg.name()))
        self.start.setEnabled(usable and snapshot.state in RETRYABLE)
        self.stop.setEnabled(snapshot.state in RUNNING)
        self.restart.setEnabled(usable and snapshot.state in RUNNING)

    def _add(self, icon: str, text: str, deed: Callable[[], object]) -> QAction:
        action = self.addAction(theme.icon(icon, "dim"), text)
        action.triggered.connect(lambda: deed())
        return action


def state_words(context: QObject, snapshot: Snapshot) -> str:
    """A state for the end of a line, such as "ready" or "failed: password refused"."""
    if snapshot.state is ServerState.FAILED:
        return context.tr("failed: {reason}").format(reason=" ".join(text_of(snapshot.health.summary).split()))
    return {
        ServerState.DISABLED: context.tr("off"),
        ServerState.STOPPED: context.tr("stopped"),
        ServerState.CONNECTING: context.tr("connecting"),
        ServerState.READY: context.tr("ready"),
        ServerState.RETRYING: context.tr("retrying"),
        ServerState.NEEDS_AUTH: context.tr("sign in"),
        ServerState.STOPPING: context.tr("stopping"),
    }[snapshot.state]


def _rank(snapshot: Snapshot) -> tuple[int, bool]:
    """The worst level first, those that are off last; of one level those that need a person first."""
    level = snapshot.health.level
    return -LEVEL_ORDER.index(level), snapshot.state is not ServerState.NEEDS_AUTH
