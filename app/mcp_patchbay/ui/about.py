"""About: versions of what is inside, and the licences of others' work."""

from __future__ import annotations

import platform
from importlib.metadata import PackageNotFoundError, distribution, version

from PySide6.QtCore import QSize, Qt, qVersion
from PySide6.QtGui import QGuiApplication
from PySide6.QtWidgets import QDialog, QGridLayout, QLabel, QTreeWidget, QTreeWidgetItem, QWidget

from mcp_patchbay import __version__
from mcp_patchbay.ui.icons import app_icon
from mcp_patchbay.ui.widgets import button, hbox, inset, label, line, vbox

COMPONENTS = (  # distributions whose work is shipped with the app
    "PySide6_Essentials", "shiboken6", "mcp", "qasync", "QtAwesome", "keyring", "httpx2", "anyio", "pydantic",
    "starlette", "uvicorn", "orjson", "jsonschema", "platformdirs", "psutil", "rich", "watchfiles", "wcmatch",
)  # fmt: skip
LICENCES = {  # where the metadata holds a whole text or says too little
    "PySide6_Essentials": "LGPL-3.0-only",
    "shiboken6": "LGPL-3.0-only",
    "QtAwesome": "MIT; Font Awesome 6 Free: OFL-1.1 and CC-BY-4.0",
}
LONGEST_LICENCE = 60


class AboutDialog(QDialog):
    """Versions and licences, to read and to copy."""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setWindowTitle(self.tr("About Patchbay"))
        self.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        self.resize(560, 560)
        mark = QLabel()
        mark.setPixmap(app_icon().pixmap(QSize(48, 48)))
        purpose = label(self.tr("Runs your MCP servers in one place."), role="dim")
        title = vbox(label("Patchbay", 22, bold=True), purpose, spacing=2)

        grid = QGridLayout()
        grid.setContentsMargins(16, 12, 16, 12)
        grid.setHorizontalSpacing(16)
        grid.setColumnStretch(1, 1)
        for row, (name, value) in enumerate(versions()):
            grid.addWidget(label(name, 12, role="dim"), row, 0)
            grid.addWidget(label(value, 12, selectable=True), row, 1)

        self.licences = QTreeWidget()
        self.licences.setAccessibleName(self.tr("Licences of third parties"))
        self.licences.setHeaderLabels([self.tr("Component"), self.tr("Version"), self.tr("Licence")])
        self.licences.setObjectName("plain_list")
        self.licences.setRootIsDecorated(False)
        self.licences.addTopLevelItems([QTreeWidgetItem(list(row)) for row in components()])
        for column in range(2):
            self.licences.resizeColumnToContents(column)

        copy = button(self.tr("Copy versions"), "copy")
        copy.clicked.connect(self._on_copy)
        close = button(self.tr("Close"), primary=True)
        close.clicked.connect(self.accept)
        close.setDefault(True)
        self.setLayout(
            vbox(
                hbox(mark, title, None, spacing=16),
                inset(grid),
                label(self.tr("Patchbay itself is under the MIT licence. It stands on:"), 12, role="dim"),
                (self.licences, 1),
                line(),
                hbox(copy, None, close),
                margins=(20, 20, 20, 16),
                spacing=12,
            )
        )

    def _on_copy(self) -> None:
        QGuiApplication.clipboard().setText("\n".join(f"{name} {value}" for name, value in versions()))


def versions() -> list[tuple[str, str]]:
    """Name and version of what matters in a report."""
    return [
        ("Patchbay", __version__),
        ("Python", platform.python_version()),
        ("Qt", qVersion() or ""),
        ("PySide6", _version("PySide6_Essentials")),
        ("mcp", _version("mcp")),
        ("System", platform.platform()),
    ]


def components() -> list[tuple[str, str, str]]:
    """Name, version and licence of each component that is installed."""
    return [(name, _version(name), _licence(name)) for name in COMPONENTS if _version(name)]


def _version(name: str) -> str:
    try:
        return version(name)
    except PackageNotFoundError:
        return ""


def _licence(name: str) -> str:
    if name in LICENCES:
        return LICENCES[name]
    metadata = distribution(name).metadata
    for key in ("License-Expression", "License"):
        text = (metadata.get_all(key) or [""])[0].strip()
        if text and len(text) <= LONGEST_LICENCE and "\n" not in text:
            return str(text)
    classifiers = [c for c in metadata.get_all("Classifier") or [] if c.startswith("License ::")]
    return classifiers[0].rpartition(" :: ")[2] if classifiers else ""
