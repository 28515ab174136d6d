"""The tray icon: the worst health of all servers, a menu, and word of what went wrong."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING

from PySide6.QtCore import QObject, QRect, QTimer, Signal
from PySide6.QtWidgets import QSystemTrayIcon

from mcp_patchbay.domain.state import Level, ServerState, Snapshot, worst_level
from mcp_patchbay.ui import theme
from mcp_patchbay.ui.texts import text_of
from mcp_patchbay.ui.tray_icons import Panel, panel_under, tray_icon
from mcp_patchbay.ui.tray_menu import TrayMenu
from mcp_patchbay.ui.tray_news import News, NewsDesk

if TYPE_CHECKING:
    from collections.abc import Sequence

POLL_INTERVAL = 3000
"""Milliseconds between two looks for a tray."""
SETTLE_INTERVAL = 300
"""Milliseconds after which a new icon has its place in the panel."""
GATHER_INTERVAL = 400
"""Milliseconds in which news are gathered into one notification."""
NOTIFICATION_TIME = 10_000
SINGLY = 2
"""So many news are told one by one; more of them at once are told together."""

Icon = QSystemTrayIcon.MessageIcon


class Tray(QObject):
    """Shows itself as soon as there is a tray and again when the tray comes back. Feed it with `set_snapshots`."""

    start_requested = Signal(str)
    stop_requested = Signal(str)
    restart_requested = Signal(str)
    log_requested = Signal(str)
    open_requested = Signal()
    toggle_requested = Signal()
    """The icon was clicked: show the window, or hide it."""
    pause_requested = Signal(bool)
    """True: stop all servers for now; False: start those again."""
    quit_requested = Signal()
    available_changed = Signal(bool)

    def __init__(self, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self.notifications_enabled = True
        self.available = False
        """Whether there is a tray, so that a hidden window can be reached."""
        self._snapshots: Sequence[Snapshot] = ()
        self._panel: Panel = "unknown"
        self._icon: QSystemTrayIcon | None = None
        self._news = NewsDesk()
        self._waiting: list[News] = []
        self.menu = TrayMenu()
        for name in ("start", "stop", "restart", "log", "open", "pause", "quit"):
            getattr(self.menu, f"{name}_requested").connect(getattr(self, f"{name}_requested"))
        self._poll = QTimer(self, interval=POLL_INTERVAL)
        self._poll.timeout.connect(self.look_for_tray)
        self._settle = QTimer(self, singleShot=True, interval=SETTLE_INTERVAL)
        self._settle.timeout.connect(self.look_at_panel)
        self._gather = QTimer(self, singleShot=True, interval=GATHER_INTERVAL)
        self._gather.timeout.connect(self._tell)
        theme.theme.changed.connect(self.on_theme_changed)
        self._shut = False
        self.set_snapshots(())

    def start(self) -> None:
        """Look for a tray now and from time to time."""
        self.look_for_tray()
        self._poll.start()

    def shut(self) -> None:
        """Take the icon away, for good; nothing is shown or told any more."""
        if self._shut:
            return
        self._shut = True
        theme.theme.changed.disconnect(self.on_theme_changed)
        for timer in (self._poll, self._settle, self._gather):
            timer.stop()
        self._waiting.clear()
        self._remove_icon()
        self.menu.close()
        self.menu.deleteLater()

    def set_snapshots(self, snapshots: Sequence[Snapshot]) -> None:
        """Show these servers, and tell what is new."""
        if self._shut:
            return
        self._snapshots = snapshots
        news = self._news.hear(snapshots)
        if news and self.notifications_enabled:
            self._waiting = [old for old in self._waiting if old.snapshot.name not in {n.snapshot.name for n in news}]
            self._waiting += news
            self._gather.start()
        self.refresh()

    def say(self, title: str, text: str) -> None:
        """Tell something that is not about a server's health."""
        self._notify(title, text, Icon.Information)

    def set_paused(self, paused: bool) -> None:
        """Whether the servers are paused: the menu then offers to resume."""
        if self._shut:  # work that the quit cut short still says that it is done
            return
        self.menu.set_paused(paused)

    @property
    def level(self) -> Level:
        """The worst health of all servers."""
        return worst_level(list(self._snapshots))

    def refresh(self) -> None:
        """Bring icon, tooltip and menu to the present state and colours."""
        icon = tray_icon(self.level, self._panel)
        if self._icon is not None:
            if self._icon.icon().cacheKey() != icon.cacheKey():
                self._icon.setIcon(icon)
            if self._icon.toolTip() != (tooltip := self.tooltip()):
                self._icon.setToolTip(tooltip)
        self.menu.set_snapshots(
            self._snapshots, self.headline(), tray_icon(self.level, "dark" if theme.is_dark() else "light")
        )

    def tooltip(self) -> str:
        """How many servers are ready, in words."""
        total, ready = len(self._snapshots), self._count(ServerState.READY)
        if not total:
            return self.tr("No servers")
        if total == 1:
            return self.tr("1 server, ready") if ready else self.tr("1 server, not ready")
        return self.tr("{ready} of {total} servers ready").format(ready=ready, total=total)

    def headline(self) -> str:
        """How many servers are ready, and how many need someone."""
        total, ready = len(self._snapshots), self._count(ServerState.READY)
        if not total:
            return self.tr("No servers")
        parts = [self.tr("{ready} of {total} ready").format(ready=ready, total=total)]
        if failed := self._count(ServerState.FAILED):
            parts.append(self.tr("{0} failed").format(failed))
        if waiting := self._count(ServerState.NEEDS_AUTH):
            parts.append(self.tr("{0} to sign in").format(waiting))
        return ", ".join(parts)

    def look_for_tray(self) -> None:
        """Make the icon when a tray is there: one that was made before it came stays invisible."""
        available = QSystemTrayIcon.isSystemTrayAvailable()
        if available and self._icon is None:
            self._make_icon()
        elif not available:
            self._remove_icon()
        self.look_at_panel()
        if available != self.available:
            self.available = available
            self.available_changed.emit(available)

    def look_at_panel(self) -> None:
        """Take the marks that are readable on the panel as it is now."""
        panel = panel_under(self._icon.geometry() if self._icon is not None else QRect())
        if panel != self._panel:
            self._panel = panel
            self.refresh()

    def on_theme_changed(self) -> None:
        """The panel may have changed with the system's colours; the menu's icons surely have."""
        self.look_at_panel()
        self.refresh()

    def on_icon_activated(self, reason: QSystemTrayIcon.ActivationReason) -> None:
        """A click shows or hides the window; on macOS it opens the menu, which is enough."""
        if reason is QSystemTrayIcon.ActivationReason.Trigger and sys.platform != "darwin":
            self.toggle_requested.emit()

    def _make_icon(self) -> None:
        self._icon = QSystemTrayIcon(self)
        self._icon.setContextMenu(self.menu)
        self._icon.activated.connect(self.on_icon_activated)
        self._icon.messageClicked.connect(self.open_requested)
        self.refresh()
        self._icon.show()
        self._settle.start()

    def _remove_icon(self) -> None:
        if self._icon is not None:
            self._icon.hide()
            self._icon.deleteLater()
            self._icon = None

    def _count(self, state: ServerState) -> int:
        return sum(snapshot.state is state for snapshot in self._snapshots)

    def _tell(self) -> None:
        """Show what was gathered."""
        news, self._waiting = self._waiting, []
        if len(news) <= SINGLY:
            for one in news:
                self._notify(*self._words(one))
            return
        troubled = [one.snapshot.name for one in news if one.trouble is not None]
        well = [one.snapshot.name for one in news if one.trouble is None]
        if troubled:
            title = self.tr("{0} servers need attention").format(len(troubled))
            self._notify(title, ", ".join(troubled), Icon.Warning)
        if well:
            self._notify(self.tr("{0} servers are ready again").format(len(well)), ", ".join(well), Icon.Information)

    def _words(self, news: News) -> tuple[str, str, Icon]:
        name, summary = news.snapshot.name, text_of(news.snapshot.health.summary)
        if news.trouble == "failed":
            return self.tr("{0} failed").format(name), summary, Icon.Critical
        if news.trouble == "needs_auth":
            return self.tr("{0} needs a sign-in").format(name), summary, Icon.Information
        return self.tr("{0} is ready again").format(name), self.tooltip(), Icon.Information

    def _notify(self, title: str, text: str, icon: Icon) -> None:
        if self._icon is not None and self.notifications_enabled:
            self._icon.showMessage(title, text, icon, NOTIFICATION_TIME)
