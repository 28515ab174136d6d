"""Models of what one server offers: tools, prompts and resources."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any, NamedTuple

from PySide6.QtCore import QAbstractTableModel, QCoreApplication, QModelIndex, QObject, QPersistentModelIndex, Qt

from mcp_patchbay.domain.catalog import PromptInfo, ResourceInfo, ToolInfo
from mcp_patchbay.ui.delegates import Role
from mcp_patchbay.ui.texts import token_estimate, tokens, tooltip

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

Index = QModelIndex | QPersistentModelIndex
ItemRole = Qt.ItemDataRole
Info = ToolInfo | PromptInfo | ResourceInfo
TOP = QModelIndex()
tr = QCoreApplication.translate
EYE_OPEN, EYE_SHUT = ("eye", "ok"), ("eye-slash", "dim")


class CatalogCell(NamedTuple):
    """One cell: its text, what it is sorted by, and what its delegate wants besides."""

    text: str
    sort: Any = ""
    tone: str = ""
    icon: tuple[str, str] | None = None
    pattern: str = ""
    spoken: str = ""


class CatalogModel(QAbstractTableModel):
    """A table of infos. The rows are replaced only when what the server offers really is another list."""

    def __init__(
        self,
        titles: Sequence[str],
        cells_of: Callable[[Any], list[CatalogCell]],
        right_aligned: frozenset[int] = frozenset(),
        parent: QObject | None = None,
    ) -> None:
        """`cells_of` makes the cells of one info's row, as many as there are `titles`."""
        super().__init__(parent)
        self._titles, self._cells_of, self._right_aligned = tuple(titles), cells_of, right_aligned
        self._infos: list[Info] = []
        self._cells: list[list[CatalogCell]] = []

    def set_infos(self, infos: Sequence[Info]) -> None:
        """Show these infos, in the server's order."""
        if list(infos) == self._infos:
            return
        if [info.id for info in infos] == [info.id for info in self._infos]:
            self._infos, self._cells = list(infos), [self._cells_of(info) for info in infos]
            self.dataChanged.emit(self.index(0, 0), self.index(len(self._infos) - 1, len(self._titles) - 1))
            return
        self.beginResetModel()
        self._infos, self._cells = list(infos), [self._cells_of(info) for info in infos]
        self.endResetModel()

    def infos(self) -> list[Info]:
        """What is shown, in the server's order."""
        return list(self._infos)

    def rowCount(self, parent: Index = TOP) -> int:
        return 0 if parent.isValid() else len(self._infos)

    def columnCount(self, parent: Index = TOP) -> int:
        return 0 if parent.isValid() else len(self._titles)

    def headerData(self, section: int, orientation: Qt.Orientation, role: int = ItemRole.DisplayRole) -> Any:
        if orientation != Qt.Orientation.Horizontal:
            return None
        if role == ItemRole.DisplayRole:
            return self._titles[section]
        if role == ItemRole.TextAlignmentRole:
            side = Qt.AlignmentFlag.AlignRight if section in self._right_aligned else Qt.AlignmentFlag.AlignLeft
            return side | Qt.AlignmentFlag.AlignVCenter
        return None

    def data(self, index: Index, role: int = ItemRole.DisplayRole) -> Any:
        if not index.isValid():
            return None
        info, cell = self._infos[index.row()], self._cells[index.row()][index.column()]
        match role:
            case ItemRole.DisplayRole:
                return cell.text
            case ItemRole.ToolTipRole:
                return tooltip(info.description if cell.text and not cell.pattern else "")
            case ItemRole.AccessibleTextRole:
                return cell.spoken or cell.text
            case ItemRole.TextAlignmentRole if index.column() in self._right_aligned:
                return Qt.AlignmentFlag.AlignRight | Qt.AlignmentFlag.AlignVCenter
            case Role.TONE:
                return cell.tone or None
            case Role.ICON:
                return cell.icon
            case Role.PATTERN:
                return cell.pattern
            case Role.SORT:
                return cell.sort if cell.sort != "" else cell.text.casefold()
            case Role.ITEM:
                return info
            case Role.SEARCH:
                return f"{info.name} {info.description}".casefold()
        return None


def tool_model(parent: QObject) -> CatalogModel:
    """Tools: visible or not, name, description, what decided, estimated tokens."""

    def cells(tool: ToolInfo) -> list[CatalogCell]:
        tone = "" if tool.visible else "dim"
        cost = offer_tokens(tool)
        return [
            _visibility(tool, tr("Catalog", "visible"), tr("Catalog", "held back by a filter")),
            CatalogCell(tool.name, tone=tone),
            CatalogCell(first_line(tool.description), tone=tone),
            _decision(tool),
            CatalogCell(tokens(cost) if tool.visible else "0", cost if tool.visible else 0, tone),
        ]

    titles = (
        "",
        tr("Catalog", "Tool"),
        tr("Catalog", "Description"),
        tr("Catalog", "Decided by"),
        tr("Catalog", "Tokens"),
    )
    return CatalogModel(titles, cells, frozenset({4}), parent)


def prompt_model(parent: QObject) -> CatalogModel:
    """Prompts: visible or not, name, description, arguments, what decided."""

    def cells(prompt: PromptInfo) -> list[CatalogCell]:
        tone = "" if prompt.visible else "dim"
        arguments = ", ".join(f"{a.get('name', '?')}{'' if a.get('required') else '?'}" for a in prompt.arguments)
        return [
            _visibility(prompt, tr("Catalog", "visible"), tr("Catalog", "held back by a filter")),
            CatalogCell(prompt.name, tone=tone),
            CatalogCell(first_line(prompt.description), tone=tone),
            CatalogCell(arguments, tone="dim"),
            _decision(prompt),
        ]

    titles = (
        "",
        tr("Catalog", "Prompt"),
        tr("Catalog", "Description"),
        tr("Catalog", "Arguments"),
        tr("Catalog", "Decided by"),
    )
    return CatalogModel(titles, cells, parent=parent)


def resource_model(parent: QObject) -> CatalogModel:
    """Resources and templates: which of both, name, URI, type, description."""

    def cells(resource: ResourceInfo) -> list[CatalogCell]:
        icon = ("shapes", "link") if resource.template else ("file-lines", "dim")
        kind = tr("Catalog", "template") if resource.template else tr("Catalog", "resource")
        return [
            CatalogCell("", kind, icon=icon, spoken=kind),
            CatalogCell(resource.name),
            CatalogCell(resource.uri),
            CatalogCell(kind, tone="link" if resource.template else "dim"),
            CatalogCell(resource.mime_type, tone="dim"),
            CatalogCell(first_line(resource.description)),
        ]

    titles = (
        "",
        tr("Catalog", "Name"),
        tr("Catalog", "URI"),
        tr("Catalog", "Kind"),
        tr("Catalog", "Type"),
        tr("Catalog", "Description"),
    )
    return CatalogModel(titles, cells, parent=parent)


def offer_tokens(offer: ToolInfo | PromptInfo) -> int:
    """About how many tokens a tool or prompt costs in a client's context: its name, description and input."""
    keys = ("name", "description", "inputSchema", "arguments")
    described = {key: offer.raw[key] for key in keys if key in offer.raw}
    return token_estimate(json.dumps(described, ensure_ascii=False, separators=(",", ":"), default=str))


def first_line(text: str) -> str:
    """A text's first line that says something."""
    return next((line.strip() for line in text.splitlines() if line.strip()), "")


def _visibility(info: ToolInfo | PromptInfo, shown: str, hidden: str) -> CatalogCell:
    return CatalogCell(
        "", not info.visible, icon=EYE_OPEN if info.visible else EYE_SHUT, spoken=shown if info.visible else hidden
    )


def _decision(info: ToolInfo | PromptInfo) -> CatalogCell:
    decision = info.decision
    tone = "ok" if decision.visible else "dim"
    return CatalogCell(decision.rule, str(decision), tone, pattern=decision.pattern, spoken=str(decision))
