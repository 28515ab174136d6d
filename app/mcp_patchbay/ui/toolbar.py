"""The toolbar of the main window."""

from __future__ import annotations

from typing import TYPE_CHECKING

from PySide6.QtCore import QSize, Qt
from PySide6.QtWidgets import QMenu, QSizePolicy, QToolBar, QToolButton, QWidget

from mcp_patchbay.ui import theme
from mcp_patchbay.ui.widgets import BUTTON_ICON, SearchField, tool_button

if TYPE_CHECKING:
    from collections.abc import Sequence

    from mcp_patchbay.ui.commands import Commands

SEARCH_WIDTHS = (130, 248)


class MainToolBar(QToolBar):
    """Add, Import, Start, Stop, Restart, Playground, search and the menu. Every button can be reached with Tab."""

    def __init__(self, commands: Commands, table_menus: Sequence[QMenu]) -> None:
        super().__init__()
        self.setWindowTitle(self.tr("Toolbar"))
        self.setObjectName("toolbar")
        self.setMovable(False)
        self.setContextMenuPolicy(Qt.ContextMenuPolicy.PreventContextMenu)
        self.setToolButtonStyle(Qt.ToolButtonStyle.ToolButtonTextBesideIcon)
        self.setIconSize(BUTTON_ICON)

        self.add_button = QToolButton()
        self.add_button.setDefaultAction(commands.add)
        self.add_button.setToolButtonStyle(Qt.ToolButtonStyle.ToolButtonTextBesideIcon)
        self.add_button.setPopupMode(QToolButton.ToolButtonPopupMode.MenuButtonPopup)
        self.add_button.setMenu(
            self._menu(self.add_button, [commands.add_command, commands.add_url, commands.add_builtin])
        )
        self.addWidget(self.add_button)

        self.import_button = QToolButton()
        self.import_button.setText(self.tr("Import"))
        self.import_button.setToolTip(self.tr("Import servers from JSON"))
        self.import_button.setAccessibleName(self.tr("Import servers from JSON"))
        self.import_button.setIcon(theme.icon("file-import"))
        self.import_button.setToolButtonStyle(Qt.ToolButtonStyle.ToolButtonTextBesideIcon)
        self.import_button.setPopupMode(QToolButton.ToolButtonPopupMode.InstantPopup)
        self.import_button.setMenu(self._menu(self.import_button, [commands.import_clipboard, commands.import_file]))
        self.addWidget(self.import_button)

        self.addSeparator()
        self.addActions([commands.start, commands.stop, commands.restart])
        self.addSeparator()
        self.addAction(commands.playground)

        space = QWidget()
        space.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Preferred)
        self.addWidget(space)
        self.search = SearchField(self.tr("Search (Ctrl+F)"))
        self.search.setAccessibleName(self.tr("Search servers"))
        self.search.setMinimumWidth(SEARCH_WIDTHS[0])
        self.search.setMaximumWidth(SEARCH_WIDTHS[1])
        self.addWidget(self.search)

        self.menu_button = tool_button("gear", self.tr("Menu"))
        self.menu_button.setFixedSize(QSize(32, 32))
        self.menu_button.setPopupMode(QToolButton.ToolButtonPopupMode.InstantPopup)
        self.menu_button.setMenu(self._main_menu(commands, table_menus))
        self.addWidget(self.menu_button)

        for action in (commands.start, commands.stop, commands.restart, commands.playground):
            self.widgetForAction(action).setFocusPolicy(Qt.FocusPolicy.TabFocus)
        for first in (self.add_button, self.import_button):
            first.setFocusPolicy(Qt.FocusPolicy.TabFocus)

    def _main_menu(self, commands: Commands, table_menus: Sequence[QMenu]) -> QMenu:
        menu = self._menu(self.menu_button, [commands.undo, commands.pause])
        menu.addSeparator()
        for table_menu in table_menus:
            menu.addMenu(table_menu)
        menu.addSeparator()
        menu.addActions([commands.open_config, commands.open_logs])
        themes = menu.addMenu(theme.icon("circle-half-stroke", "dim"), self.tr("Theme"))
        themes.addActions(commands.themes.actions())
        menu.addSeparator()
        menu.addActions([commands.about, commands.quit])
        return menu

    @staticmethod
    def _menu(parent: QWidget, actions: list) -> QMenu:  # type: ignore[type-arg]
        menu = QMenu(parent)
        menu.addActions(actions)
        return menu
