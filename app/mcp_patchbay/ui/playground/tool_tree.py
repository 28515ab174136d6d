"""The left side of the playground: the visible tools of all servers that are ready."""

from __future__ import annotations

from contextlib import contextmanager
from typing import TYPE_CHECKING

from PySide6.QtCore import QModelIndex, QPersistentModelIndex, QSize, QSortFilterProxyModel, Qt, Signal
from PySide6.QtGui import QStandardItem, QStandardItemModel
from PySide6.QtWidgets import QAbstractItemView, QStyleOptionViewItem, QTreeView, QWidget

from mcp_patchbay.ui.delegates import Role, ToolTreeDelegate
from mcp_patchbay.ui.texts import tooltip
from mcp_patchbay.ui.widgets import card, hbox, holder, icon_label, label, search_field, vbox

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

    from mcp_patchbay.domain.catalog import ToolInfo

ToolKey = tuple[str, str]
"""A server's name and a tool's name."""
ROW = 28


class ToolTreeModel(QStandardItemModel):
    """Servers and their tools. Only what changed is touched, so that selection and scrolling stay."""

    def set_servers(self, names: Sequence[str]) -> None:
        """Keep exactly these servers, in this order."""
        for row in reversed(range(self.rowCount())):
            if self.item(row).text() not in names:
                self.removeRow(row)
        for row, name in enumerate(names):
            at = self._row_of(name)
            if at < 0:
                self.insertRow(row, [self._group(name)])
            elif at != row:
                self.insertRow(row, self.takeRow(at))

    def set_tools(self, server: str, tools: Iterable[ToolInfo]) -> None:
        """Keep exactly these tools of a server, in the order of their names."""
        row = self._row_of(server)
        if row < 0:
            return
        group = self.item(row)
        wanted = {tool.name: tool for tool in sorted(tools, key=lambda tool: (tool.name.casefold(), tool.name))}
        for place in reversed(range(group.rowCount())):
            if group.child(place).text() not in wanted:
                group.removeRow(place)
        for place, tool in enumerate(wanted.values()):
            child = group.child(place)
            if child is None or child.text() != tool.name:
                child = QStandardItem(tool.name)
                child.setEditable(False)
                group.insertRow(place, [child])
            child.setData(tool, Role.ITEM)
            title = f"{tool.title}\n" if tool.title != tool.name else ""
            child.setToolTip(tooltip(title + tool.description))
        group.setData(str(len(wanted)), Role.SUBTEXT)
        group.setAccessibleText(self.tr("{0}, {1} tools").format(server, len(wanted)))

    def tool_index(self, key: ToolKey) -> QModelIndex:
        """The row of a tool; an invalid index when it is not there."""
        row = self._row_of(key[0])
        group = self.item(row) if row >= 0 else None
        for place in range(group.rowCount() if group else 0):
            if group is not None and group.child(place).text() == key[1]:
                return group.child(place).index()
        return QModelIndex()

    def server_index(self, server: str) -> QModelIndex:
        """The row of a server."""
        row = self._row_of(server)
        return self.item(row).index() if row >= 0 else QModelIndex()

    def count(self) -> int:
        """How many tools there are."""
        return sum(self.item(row).rowCount() for row in range(self.rowCount()))

    def _row_of(self, server: str) -> int:
        return next((row for row in range(self.rowCount()) if self.item(row).text() == server), -1)

    def _group(self, name: str) -> QStandardItem:
        group = QStandardItem(name)
        group.setEditable(False)
        group.setSelectable(False)
        group.setData(False, Role.EXPANDED)
        group.setToolTip(tooltip(name))
        return group


class ToolFilter(QSortFilterProxyModel):
    """Tools whose name, title or description, or whose server, holds what is searched for."""

    def __init__(self, parent: QWidget) -> None:
        super().__init__(parent)
        self._words: list[str] = []
        self.setRecursiveFilteringEnabled(True)
        self.setAutoAcceptChildRows(False)

    def set_text(self, text: str) -> None:
        """Search for all of these words."""
        self.beginFilterChange()
        self._words = text.casefold().split()
        self.endFilterChange(QSortFilterProxyModel.Direction.Rows)

    def filterAcceptsRow(self, row: int, parent: QModelIndex) -> bool:  # type: ignore[override]
        if not parent.isValid():
            return not self._words  # a server is shown for its tools' sake
        index = self.sourceModel().index(row, 0, parent)
        tool = index.data(Role.ITEM)
        if tool is None:
            return not self._words
        said = f"{tool.server} {tool.name} {tool.title} {tool.description}".casefold()
        return all(word in said for word in self._words)


class ToolRowDelegate(ToolTreeDelegate):
    """A server or tool, `ROW` pixels high."""

    def sizeHint(self, _option: QStyleOptionViewItem, _index: QModelIndex | QPersistentModelIndex) -> QSize:
        return QSize(100, ROW)


class ToolTree(QWidget):
    """Search field, tree and a line about the servers that are left out."""

    tool_chosen = Signal(str, str)
    """Server and tool."""

    def __init__(self) -> None:
        super().__init__()
        self._chosen: ToolKey | None = None
        self._open_before: set[str] | None = None  # the servers that were open when a search began
        self._is_changing = False
        self.model = ToolTreeModel(self)
        self.filter = ToolFilter(self)
        self.filter.setSourceModel(self.model)
        self.search = search_field("")
        self.search.textChanged.connect(self.on_search_changed)
        self.search.returnPressed.connect(self.on_search_entered)
        self.view = QTreeView()
        self.view.setProperty("bare", True)
        self.view.setHeaderHidden(True)
        self.view.setRootIsDecorated(False)
        self.view.setIndentation(0)
        self.view.setUniformRowHeights(True)
        self.view.setModel(self.filter)
        self.view.setItemDelegate(ToolRowDelegate(self))
        self.view.setEditTriggers(QAbstractItemView.EditTrigger.NoEditTriggers)
        self.view.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self.view.setExpandsOnDoubleClick(False)
        self.view.setAccessibleName(self.tr("Tools by server"))
        self.view.clicked.connect(self.on_row_clicked)
        self.view.expanded.connect(lambda index: self._note_expanded(index, True))
        self.view.collapsed.connect(lambda index: self._note_expanded(index, False))
        self.view.selectionModel().currentChanged.connect(self.on_current_changed)
        self._left_out = label("", 12, role="dim", wrap=True)
        self._left_out_line = holder(hbox(icon_label("circle-info", "dim", 13), (self._left_out, 1), spacing=6))
        framed = card(vbox((self.view, 1), margins=(3, 3, 3, 3)))
        self.setLayout(vbox(self.search, (framed, 1), self._left_out_line, spacing=8))
        self.setMinimumWidth(200)
        self.show_count()

    def choose(self, key: ToolKey) -> bool:
        """Bring a tool into view and select it; whether it is there."""
        index = self.filter.mapFromSource(self.model.tool_index(key))
        self._chosen = key
        if not index.isValid():
            with self._keeping_choice():
                pass
            return False
        self.view.expand(index.parent())
        self.view.setCurrentIndex(index)
        self.view.scrollTo(index)
        return True

    def show_servers(self, tools: Mapping[str, Sequence[ToolInfo]]) -> None:
        """Show these servers and their tools. The choice stays, also while the chosen tool is gone."""
        with self._keeping_choice():
            self.model.set_servers(list(tools))
            for server, offered in tools.items():
                self.model.set_tools(server, offered)
        self.show_count()

    def tool_at(self, key: ToolKey) -> ToolInfo | None:
        """What is known of a listed tool; None for one that is not listed."""
        index = self.model.tool_index(key)
        tool: ToolInfo | None = index.data(Role.ITEM) if index.isValid() else None
        return tool

    def first_tool(self, server: str = "") -> ToolKey | None:
        """The first tool of a server, or of all."""
        for row in range(self.model.rowCount()):
            group = self.model.item(row)
            if group.rowCount() and server in ("", group.text()):
                return group.text(), group.child(0).text()
        return None

    def expand(self, server: str) -> None:
        """Open a server's list."""
        self.view.expand(self.filter.mapFromSource(self.model.server_index(server)))

    def show_count(self) -> None:
        """Say how many tools can be searched."""
        count = self.model.count()
        text = self.tr("Search 1 tool") if count == 1 else self.tr("Search {0} tools").format(count)
        self.search.setPlaceholderText(text)
        self.search.setAccessibleName(text)

    def show_left_out(self, names: Sequence[str], text: str = "") -> None:
        """Say which servers are not in the list, or something else in their place."""
        count = len(names)
        if not text and count:
            many = self.tr("{0} servers are not ready and are left out.").format(count)
            text = self.tr("1 server is not ready and is left out.") if count == 1 else many
        self._left_out.setText(text)
        self._left_out.setToolTip(tooltip("\n".join(names)))
        self._left_out_line.setVisible(bool(text))

    def _note_expanded(self, index: QModelIndex, expanded: bool) -> None:
        if not index.parent().isValid():  # expandAll tells of tools too, which have nothing to expand
            self.filter.setData(index, expanded, Role.EXPANDED)

    def on_search_changed(self, text: str) -> None:
        searching = bool(text.strip())
        if searching and self._open_before is None:
            self._open_before = {group.data() for group in self._groups() if self.view.isExpanded(group)}
        with self._keeping_choice():
            self.filter.set_text(text)
        if searching:
            self.view.expandAll()
        elif self._open_before is not None:
            self._open_again(self._open_before)
            self._open_before = None
        current = self.view.currentIndex()
        if current.isValid():
            self.view.scrollTo(current)

    def _groups(self) -> list[QModelIndex]:
        return [self.filter.index(row, 0) for row in range(self.filter.rowCount())]

    def _open_again(self, servers: set[str]) -> None:
        """Open these servers' lists, and the one with the chosen tool; what a search took away came back closed."""
        for group in self._groups():
            expanded = group.data() in servers or (self._chosen is not None and group.data() == self._chosen[0])
            self.view.setExpanded(group, expanded)
            self._note_expanded(group, expanded)

    def on_search_entered(self) -> None:
        """Enter goes to the first tool that was found."""
        group = self.filter.index(0, 0)
        if group.isValid() and self.filter.rowCount(group):
            self.view.setCurrentIndex(self.filter.index(0, 0, group))
            self.view.setFocus()

    def on_row_clicked(self, index: QModelIndex) -> None:
        if not index.parent().isValid():
            self.view.setExpanded(index, not self.view.isExpanded(index))

    def on_current_changed(self, current: QModelIndex, _before: QModelIndex) -> None:
        tool = current.data(Role.ITEM) if current.isValid() else None
        if tool is not None and not self._is_changing:
            self._chosen = (tool.server, tool.name)
            self.tool_chosen.emit(tool.server, tool.name)

    @contextmanager
    def _keeping_choice(self) -> Iterator[None]:
        """When the chosen row goes, the view would go to another one; that is no person's choice."""
        self._is_changing = True
        try:
            yield
            row = self.model.tool_index(self._chosen) if self._chosen is not None else QModelIndex()
            self.view.setCurrentIndex(self.filter.mapFromSource(row))
        finally:
            self._is_changing = False
