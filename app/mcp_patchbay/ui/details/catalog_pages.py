"""The pages Tools, Prompts and Resources: what a server offers and what its filters let through."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from PySide6.QtCore import QItemSelectionModel, QModelIndex, QPersistentModelIndex, Qt, Signal
from PySide6.QtGui import QAction, QGuiApplication, QKeySequence
from PySide6.QtWidgets import QLabel, QMenu, QStackedWidget, QWidget

from mcp_patchbay.domain.globs import matches
from mcp_patchbay.ui.delegates import IconDelegate, MonoDelegate, NumberDelegate, Role, RowDelegate, RuleDelegate
from mcp_patchbay.ui.details.filter_chips import FilterChips
from mcp_patchbay.ui.models.catalog_model import CatalogModel, offer_tokens, prompt_model, resource_model, tool_model
from mcp_patchbay.ui.models.sorted_model import SortedModel
from mcp_patchbay.ui.texts import tokens
from mcp_patchbay.ui.widgets import Table, hbox, label, vbox

if TYPE_CHECKING:
    from collections.abc import Sequence

    from PySide6.QtCore import QPoint

    from mcp_patchbay.domain.catalog import PromptInfo, ToolInfo
    from mcp_patchbay.domain.filters import Patterns

Index = QModelIndex | QPersistentModelIndex


class CatalogPage(QWidget):
    """A table of what a server offers, or a line that says why there is nothing."""

    activated = Signal(object)
    """The info whose row was double-clicked or entered."""

    def __init__(self, accessible_name: str) -> None:
        super().__init__()
        self.table = Table(inside=True)
        self.table.setAccessibleName(accessible_name)
        self.table.setSortingEnabled(True)
        self.table.activated.connect(self._on_row_activated)
        self.table.setContextMenuPolicy(Qt.ContextMenuPolicy.CustomContextMenu)
        self.table.customContextMenuRequested.connect(self._on_menu_requested)
        self.sorted = SortedModel(self)
        copy = QAction(self.tr("Copy name"), self.table)
        copy.setShortcut(QKeySequence.StandardKey.Copy)
        copy.setShortcutContext(Qt.ShortcutContext.WidgetShortcut)
        copy.triggered.connect(self._on_copy)
        self.table.addAction(copy)
        self._copy = copy
        self._nothing = label("", role="dim", wrap=True)
        self._nothing.setAlignment(Qt.AlignmentFlag.AlignCenter)
        self._stack = QStackedWidget()
        self._stack.addWidget(self.table)
        self._stack.addWidget(self._nothing)

    def set_model(self, model: CatalogModel, widths: Sequence[int], delegates: dict[int, RowDelegate]) -> None:
        """Show `model`; a width of 0 takes what is left."""
        self.model = model
        self.sorted.setSourceModel(model)
        self.table.setModel(self.sorted)
        self.table.setItemDelegate(RowDelegate(self.table))
        for column, delegate in delegates.items():
            delegate.setParent(self.table)
            self.table.setItemDelegateForColumn(column, delegate)
        self.table.set_widths(*widths)
        self.table.horizontalHeader().setSortIndicator(-1, Qt.SortOrder.AscendingOrder)

    def set_infos(self, infos: Sequence[Any], nothing: str) -> None:
        """Show these infos; without any, say `nothing`. The selected one stays selected."""
        current = self.current()
        self.model.set_infos(infos)
        self._nothing.setText(nothing)
        self._stack.setCurrentIndex(0 if infos else 1)
        if current is not None and self.current() is None:
            self.select(current.id)

    def current(self) -> Any:
        """The info of the current row, or None."""
        return self.table.currentIndex().data(Role.ITEM)

    def select(self, info_id: str) -> None:
        """Make the info with that id the current one, if it is there."""
        for row in range(self.sorted.rowCount()):
            index = self.sorted.index(row, 0)
            if index.data(Role.ITEM).id == info_id:
                flags = QItemSelectionModel.SelectionFlag
                self.table.selectionModel().setCurrentIndex(index, flags.ClearAndSelect | flags.Rows)

    def menu_for(self, info: Any) -> QMenu:
        """The context menu of an info."""
        menu = QMenu(self)
        menu.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        menu.addAction(self._copy)
        return menu

    def _on_row_activated(self, index: Index) -> None:
        self.activated.emit(index.data(Role.ITEM))

    def _on_menu_requested(self, at: QPoint) -> None:
        info = self.table.indexAt(at).data(Role.ITEM)
        if info is not None:
            self.menu_for(info).popup(self.table.viewport().mapToGlobal(at))

    def _on_copy(self) -> None:
        info = self.current()
        if info is not None:
            QGuiApplication.clipboard().setText(getattr(info, "uri", info.name))


class FilteredPage(CatalogPage):
    """A catalog page with the filters above it."""

    filters_change_requested = Signal(object)
    """The `Patterns` that are wanted instead."""

    def __init__(self, accessible_name: str) -> None:
        super().__init__(accessible_name)
        self.chips = FilterChips()
        self.chips.change_requested.connect(self.filters_change_requested)
        self.visible_count: QLabel = label("", 12, bold=True)
        self.visible_note: QLabel = label("", 12, role="dim")
        head = hbox((self.chips, 1), self.visible_count, self.visible_note, margins=(16, 0, 16, 0), spacing=6)
        self.setLayout(vbox(head, (self._stack, 1), margins=(3, 8, 3, 3), spacing=8))

    def show_filters(self, patterns: Patterns) -> None:
        """Show the filters that hold."""
        self.chips.set_patterns(patterns)

    def count_text(self, infos: Sequence[ToolInfo | PromptInfo]) -> str:
        """Such as "11 of 14 visible"."""
        if not infos:
            return ""
        return self.tr("{0} of {1} visible").format(sum(i.visible for i in infos), len(infos))


class ToolsPage(FilteredPage):
    """The tools of a server. Entering one asks for the playground."""

    def __init__(self) -> None:
        super().__init__(self.tr("Tools"))
        delegates = {0: IconDelegate(), 1: MonoDelegate(), 3: RuleDelegate(), 4: NumberDelegate()}
        self.set_model(tool_model(self), (36, 210, 0, 220, 90), delegates)

    def set_infos(self, infos: Sequence[ToolInfo], nothing: str) -> None:
        super().set_infos(infos, nothing)
        self.visible_count.setText(self.count_text(infos))
        costs = [(tool.visible, offer_tokens(tool)) for tool in infos]
        paid = sum(cost for visible, cost in costs if visible)
        saved = sum(cost for visible, cost in costs if not visible)
        note = self.tr("·  {0} tokens").format(tokens(paid)) if costs else ""
        self.visible_note.setText(note + (self.tr(", saves {0}").format(tokens(saved)) if saved else ""))

    def menu_for(self, info: ToolInfo) -> QMenu:
        menu = QMenu(self)
        menu.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        try_it = menu.addAction(self.tr("Try in the Playground"), lambda: self.activated.emit(info))
        try_it.setEnabled(info.visible)
        menu.addAction(self._copy)
        if info.visible and matches(info.name, info.name):
            menu.addSeparator()
            menu.addAction(self.tr("Block this tool"), lambda: self._on_block(info))
        return menu

    def _on_block(self, tool: ToolInfo) -> None:
        self.filters_change_requested.emit(self.chips.with_blocked(tool.name))


class PromptsPage(FilteredPage):
    """The prompts of a server."""

    def __init__(self) -> None:
        super().__init__(self.tr("Prompts"))
        delegates = {0: IconDelegate(), 1: MonoDelegate(), 3: MonoDelegate(), 4: RuleDelegate()}
        self.set_model(prompt_model(self), (36, 210, 0, 220, 180), delegates)

    def set_infos(self, infos: Sequence[PromptInfo], nothing: str) -> None:
        super().set_infos(infos, nothing)
        self.visible_count.setText(self.count_text(infos))


class ResourcesPage(CatalogPage):
    """The resources and resource templates of a server; a template is marked as one."""

    def __init__(self) -> None:
        super().__init__(self.tr("Resources"))
        self.set_model(resource_model(self), (36, 190, 300, 80, 140, 0), {0: IconDelegate(), 2: MonoDelegate()})
        self.table.setProperty("inside", "top")  # the line under the tabs is its upper edge
        self.setLayout(vbox((self._stack, 1), margins=(3, 0, 3, 3)))
