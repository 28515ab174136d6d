"""The details card: name, state and tabs of the selected server."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING

from PySide6.QtCore import Signal
from PySide6.QtGui import QGuiApplication
from PySide6.QtWidgets import QFrame, QSizePolicy, QStackedWidget

from mcp_patchbay.domain.servers import InvalidServer
from mcp_patchbay.domain.state import ServerState, Snapshot
from mcp_patchbay.ui.details.catalog_pages import PromptsPage, ResourcesPage, ToolsPage
from mcp_patchbay.ui.details.facts import report
from mcp_patchbay.ui.details.log_page import LogPage
from mcp_patchbay.ui.details.overview import Overview
from mcp_patchbay.ui.details.traffic_page import TrafficPage
from mcp_patchbay.ui.models.server_facts import badge_text
from mcp_patchbay.ui.widgets import ElidedLabel, StateBadge, hbox, line, tabs, tool_button, vbox

if TYPE_CHECKING:
    from PySide6.QtGui import QResizeEvent

    from mcp_patchbay.domain.catalog import ToolInfo
    from mcp_patchbay.ui.window_tasks import WindowTasks
    from mcp_patchbay.ui.workspace import Workspace

OVERVIEW, TOOLS, PROMPTS, RESOURCES, LOG, TRAFFIC = range(6)
NAME_WIDTH = 220
NARROW = 860


class DetailsPanel(QFrame):
    """Everything about one server. Changes are asked for by signals."""

    action_requested = Signal(str, str)
    """A server and an action of the Overview, such as "retry"."""
    playground_requested = Signal(str, str)
    """A server and a tool."""
    filters_change_requested = Signal(str, str, object)
    """A server, "tools" or "prompts", and the `Patterns` that are wanted."""
    report_copied = Signal(str)
    """The report about that server is in the clipboard."""

    def __init__(self, workspace: Workspace, tasks: WindowTasks) -> None:
        super().__init__()
        self._tasks = tasks
        self.setObjectName("card")
        self._workspace = workspace
        self._snapshot: Snapshot | None = None

        self._name = ElidedLabel("", 15, bold=True)
        self._name.setMaximumWidth(NAME_WIDTH)
        self._name.setSizePolicy(QSizePolicy.Policy.Maximum, QSizePolicy.Policy.Preferred)
        self._badge = StateBadge()
        self.tabs = tabs(
            [
                self.tr("Overview"),
                self.tr("Tools"),
                self.tr("Prompts"),
                self.tr("Resources"),
                self.tr("Log"),
                self.tr("Traffic"),
            ]
        )
        self.tabs.setAccessibleName(self.tr("Details"))
        self._edit = tool_button("pen", self.tr("Edit the server"), self.tr("Edit"))
        self._edit.clicked.connect(lambda: self._ask("edit"))
        self._copy = tool_button("copy", self.tr("Copy a report about this server"), self.tr("Copy report"))
        self._copy.clicked.connect(self._on_copy_report)

        self.overview = Overview()
        self.overview.action_requested.connect(self._ask)
        self.tools = ToolsPage()
        self.tools.activated.connect(self._on_tool_activated)
        self.tools.filters_change_requested.connect(lambda patterns: self._ask_filters("tools", patterns))
        self.prompts = PromptsPage()
        self.prompts.filters_change_requested.connect(lambda patterns: self._ask_filters("prompts", patterns))
        self.resources = ResourcesPage()
        self.log = LogPage(tasks)
        self.traffic = TrafficPage(tasks)
        self._pages = QStackedWidget()
        for page in (self.overview, self.tools, self.prompts, self.resources, self.log, self.traffic):
            self._pages.addWidget(page)
        self.tabs.currentChanged.connect(self._pages.setCurrentIndex)

        head = hbox(self._name, self._badge, 8, self.tabs, None, self._edit, self._copy, margins=(16, 0, 8, 0))
        self.setLayout(vbox(head, line(), (self._pages, 1), spacing=0))

    @property
    def name(self) -> str:
        """The server that is shown; "" when none is."""
        return "" if self._snapshot is None else self._snapshot.name

    def show_snapshot(self, snapshot: Snapshot) -> None:
        """Show a server, or news of the one that is shown."""
        before, self._snapshot = self._snapshot, snapshot
        same_server = before is not None and before.name == snapshot.name
        self._name.set_full_text(snapshot.name)
        self._badge.set_state(snapshot.state, badge_text(snapshot, time.time()))
        self._name_tabs(snapshot)
        self.overview.show_snapshot(snapshot)
        self.tools.show_filters(snapshot.spec.filters.tools)
        self.prompts.show_filters(snapshot.spec.filters.prompts)
        if not same_server:
            self.show_rings()
        if not same_server or before is None or before.state is not snapshot.state:
            self.load_catalog()

    def tick(self) -> None:
        """Let the times move on."""
        if self._snapshot is not None:
            self._badge.set_state(self._snapshot.state, badge_text(self._snapshot, time.time()))
            self.overview.tick()

    def show_rings(self) -> None:
        """Show the log and traffic of the server from the engine that there is now."""
        hub, name = self._workspace.hub, self.name
        known = hub is not None and hub.get_server(name) is not None
        self.log.show_ring(name, hub.log(name) if hub is not None and known else None)
        self.traffic.show_ring(name, hub.traffic(name) if hub is not None and known else None)

    def load_catalog(self) -> None:
        """Ask the engine what the server offers, and show it."""
        if self._workspace.hub is None:
            self._show_catalog([], [], [])
        else:
            self._tasks.start(self._load_catalog(self.name), f"catalog of {self.name}")

    def on_tools_changed(self, name: str) -> None:
        """What a server offers is something else now."""
        if name == self.name:
            self.load_catalog()

    def on_log_grew(self, name: str) -> None:
        """A server's log has more now."""
        if name == self.name:
            self.log.on_grew()

    def on_traffic_grew(self, name: str) -> None:
        """A server's traffic has more now."""
        if name == self.name:
            self.traffic.on_grew()

    def show_tab(self, tab: int) -> None:
        """Open a tab, such as `LOG`."""
        self.tabs.setCurrentIndex(tab)

    async def _load_catalog(self, name: str) -> None:
        hub = self._workspace.hub
        if hub is None:
            return
        tools = await hub.list_tools(name, include_hidden=True)
        prompts = await hub.list_prompts(name, include_hidden=True)
        resources = await hub.list_resources(name)
        if name == self.name:  # another server may have been selected meanwhile
            self._show_catalog(tools, prompts, resources)

    def _show_catalog(self, tools: list, prompts: list, resources: list) -> None:  # type: ignore[type-arg]
        ready = self._snapshot is not None and self._snapshot.state is ServerState.READY
        waits = self.tr("What {0} offers is listed once it is ready.").format(self.name)
        self.tools.set_infos(tools, self.tr("{0} has no tools.").format(self.name) if ready else waits)
        self.prompts.set_infos(prompts, self.tr("{0} has no prompts.").format(self.name) if ready else waits)
        self.resources.set_infos(resources, self.tr("{0} has no resources.").format(self.name) if ready else waits)

    def _name_tabs(self, snapshot: Snapshot) -> None:
        count = f" {snapshot.tools_visible} / {snapshot.tools_total}" if snapshot.tools_total else ""
        self.tabs.setTabText(TOOLS, self.tr("Tools") + count)
        self._edit.setEnabled(True)
        self._edit.setToolTip(
            self.tr("See what is wrong with the entry")
            if isinstance(snapshot.spec.target, InvalidServer)
            else self.tr("Edit the server")
        )

    def _ask(self, action: str) -> None:
        if action == "show_log":
            self.show_tab(LOG)
        elif self.name:
            self.action_requested.emit(self.name, action)

    def _ask_filters(self, kind: str, patterns: object) -> None:
        self.filters_change_requested.emit(self.name, kind, patterns)

    def _on_tool_activated(self, tool: ToolInfo) -> None:
        self.playground_requested.emit(tool.server, tool.name)

    def _on_copy_report(self) -> None:
        if self._snapshot is not None:
            QGuiApplication.clipboard().setText(report(self._snapshot, time.time()))
            self.report_copied.emit(self.name)

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        self._copy.setText("" if self.width() < NARROW else self.tr("Copy report"))
