"""The playground's window: choose a tool, fill in its arguments, run it, see what came of it."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, Any

from PySide6.QtCore import QByteArray, QSettings, QSize, Qt, QTimer
from PySide6.QtGui import QGuiApplication, QHideEvent, QKeySequence, QShortcut
from PySide6.QtWidgets import QDialog, QSplitter, QWidget

from mcp_patchbay.domain.state import ServerState
from mcp_patchbay.engine import tasks
from mcp_patchbay.ui.playground.arguments import ArgumentsPane
from mcp_patchbay.ui.playground.call import RunningCall
from mcp_patchbay.ui.playground.copy_as import as_command_line, as_json_rpc, as_python
from mcp_patchbay.ui.playground.history_pane import HistoryPane
from mcp_patchbay.ui.playground.result import ResultPane
from mcp_patchbay.ui.playground.sessions import ToolSession, past_call
from mcp_patchbay.ui.playground.tool_tree import ToolKey, ToolTree
from mcp_patchbay.ui.widgets import ElidedLabel, button, card, hbox, label, line, vbox

if TYPE_CHECKING:
    from collections.abc import Coroutine

    from mcp_patchbay.domain.catalog import ToolInfo
    from mcp_patchbay.domain.state import Snapshot
    from mcp_patchbay.stores.history import HistoryStore, PastCall
    from mcp_patchbay.ui.bridge import EngineBridge
    from mcp_patchbay.ui.playground.failure import CallEnd
    from mcp_patchbay.ui.workspace import Workspace

FIRST_SIZE = QSize(1180, 760)
GATHER_MS = 30
"""Changes of servers that come together are looked at together."""
FEW_TOOLS = 40
"""With no more tools than these, every server's list is open at first."""
END_LIMIT = 5.0
"""Seconds that calls get to end at quit."""


class PlaygroundDialog(QDialog):
    """Calls any visible tool by hand. Opened with `show()`; closing it hides it, and calls go on.

    Args:
        workspace: the user's servers; its hub may come later.
        history: where calls are kept.
        settings: where the window remembers its place; None remembers nothing.
    """

    def __init__(
        self,
        workspace: Workspace,
        history: HistoryStore,
        settings: QSettings | None = None,
        parent: QWidget | None = None,
    ) -> None:
        super().__init__(parent)
        self._workspace = workspace
        self._settings = settings
        self._sessions: dict[ToolKey, ToolSession] = {}
        self._current: ToolSession | None = None
        self._wanted: ToolKey | None = None  # asked for, but not listed yet
        self._ready: tuple[str, ...] | None = None
        self._work: set[asyncio.Task[None]] = set()
        self._insists = False  # Run was pressed although the schema says no
        self.tree = ToolTree()
        self.arguments = ArgumentsPane()
        self.outcome = ResultPane()
        self.history = HistoryPane(history)
        self._name = label("", 15, bold=True)
        self._server = ElidedLabel("", 13, role="dim")
        self._about = ElidedLabel("", 12, role="dim")
        self.run_button = button(self.tr("Run"), "play", primary=True)
        self._later = QTimer(self)
        self._later.setSingleShot(True)
        self._later.setInterval(GATHER_MS)
        self._later.timeout.connect(self.refresh)
        self._build()
        self._connect()
        self._restore()
        self._show_session()

    # ---- for others
    def connect_bridge(self, bridge: EngineBridge) -> None:
        """Follow the engine from now on."""
        bridge.snapshot_changed.connect(self.on_snapshot_changed)
        bridge.tools_changed.connect(self.on_tools_changed)
        self.refresh()

    def select(self, server: str = "", tool: str = "") -> None:
        """Show a tool, or the first one of a server or of all; at once, or as soon as it is listed."""
        self._wanted = (server, tool)
        self._choose_wanted()
        self.refresh()

    def refresh(self) -> None:
        """Look again at what servers and tools there are."""
        self._start(self._refresh(), "list tools")

    async def shut(self) -> None:
        """End the calls under way and keep them in the history, so that nothing is left running; bounded in time."""
        self._remember()
        self._unsubscribe()
        self._later.stop()
        calls = [session.call for session in self._sessions.values() if session.call is not None]
        await tasks.stop([call.task for call in calls], within=END_LIMIT)
        if self._work:
            await asyncio.wait(self._work, timeout=END_LIMIT)
        await tasks.stop(list(self._work), within=END_LIMIT)

    # ---- slots
    def on_snapshot_changed(self, snapshot: Snapshot) -> None:
        was_ready = snapshot.name in (self._ready or ())
        if was_ready != (snapshot.state is ServerState.READY):
            self._later.start()

    def on_tools_changed(self, _server: str) -> None:
        self._later.start()

    def on_tool_chosen(self, server: str, tool: str) -> None:
        if self._current is None or (self._current.server, self._current.tool) != (server, tool):
            self._go_to((server, tool))

    def on_run(self) -> None:
        session, hub = self._current, self._workspace.hub
        if session is None or session.call is not None or session.info is None or hub is None:
            return
        arguments = self.arguments.arguments()
        if arguments is None or (self.arguments.problems() and not self._insists):
            self.arguments.reveal_problems()
            self._insists = arguments is not None
            self._show_run_button()
            return
        spec = self._workspace.get(session.server)
        limit = (spec.timeout if spec else None) or hub.default_timeout
        call = RunningCall(hub, session.server, session.tool, arguments, limit)
        session.call, session.end = call, None
        call.ended.connect(lambda end: self.on_call_ended(session, end))
        had_focus = self.run_button.hasFocus()
        self._show_outcome()
        if had_focus:
            self.outcome.running.cancel.setFocus()

    def on_call_ended(self, session: ToolSession, end: CallEnd) -> None:
        call, session.call, session.end = session.call, None, end
        if call is not None:
            self._start(self.history.add(past_call(session, call.began_at, end)), "keep call")
            call.deleteLater()
        if session is self._current:
            had_focus = self.outcome.running.cancel.hasFocus()
            self._show_outcome()
            if had_focus and self.run_button.isEnabled():
                self.run_button.setFocus()

    def on_cancel(self) -> None:
        if self._current is not None and self._current.call is not None:
            self._current.call.cancel()
            self.outcome.show_running(self._current.call)

    def on_arguments_changed(self) -> None:
        self._insists = False
        self._show_run_button()

    def on_past_call_chosen(self, past: PastCall) -> None:
        key = (past.server, past.tool)
        self._keep_text()
        self._session(key).recall(past)
        self._go_to(key, keep=False)

    def on_copy(self, form: str) -> None:
        session = self._current
        if session is None:
            return
        shown = session.call or session.end
        arguments = shown.arguments if shown is not None else self.arguments.arguments() or {}
        if form == "json-rpc":
            text = as_json_rpc(session.tool, arguments)
        elif form == "python":
            text = as_python(self._workspace.get(session.server), session.server, session.tool, arguments)
        else:
            text = as_command_line(session.server, session.tool, arguments)
        QGuiApplication.clipboard().setText(text)

    # ---- inside
    def _start(self, work: Coroutine[Any, Any, None], name: str) -> None:
        task = tasks.start(work, name=f"playground: {name}")
        self._work.add(task)
        task.add_done_callback(self._work.discard)

    async def _refresh(self) -> None:
        hub = self._workspace.hub
        names = [spec.name for spec in self._workspace.servers()]
        if hub is None:
            self.tree.show_left_out(names, self.tr("The servers are not started yet."))
            return
        ready = tuple(n for n in names if self._workspace.snapshot(n).state is ServerState.READY)
        tools = [tool for tool in await hub.list_tools() if tool.server in ready]
        new = [name for name in ready if name not in (self._ready or ())]
        self._ready = ready
        self.tree.show_servers({name: [tool for tool in tools if tool.server == name] for name in ready})
        self.tree.show_left_out([name for name in names if name not in ready])
        if len(tools) <= FEW_TOOLS:
            for name in new:
                self.tree.expand(name)
        self._take_infos({(tool.server, tool.name): tool for tool in tools})
        if self._wanted is None and self._current is None:
            self._wanted = ("", "")
        self._choose_wanted()

    def _take_infos(self, infos: dict[ToolKey, ToolInfo]) -> None:
        for key, session in self._sessions.items():
            before, session.info = session.schema, infos.get(key)
            if session is self._current and (session.info is None or before != session.schema):
                self._keep_text()
                self._show_session()
            elif session is self._current:
                self._show_head()

    def _choose_wanted(self) -> None:
        if self._wanted is None:
            return
        server, tool = self._wanted
        key = (server, tool) if tool else self.tree.first_tool(server)
        if key is not None and self.tree.tool_at(key) is not None:
            self._wanted = None
            self.on_tool_chosen(*key)
            self.tree.choose(key)
            if server:  # a person asked for it elsewhere, and now fills it in
                self.arguments.focus_first()

    def _session(self, key: ToolKey) -> ToolSession:
        return self._sessions.setdefault(key, ToolSession(*key))

    def _go_to(self, key: ToolKey, *, keep: bool = True) -> None:
        if keep:
            self._keep_text()
        self._wanted = None
        session = self._current = self._session(key)
        session.info = self.tree.tool_at(key)
        self._show_session()
        self.tree.choose(key)

    def _keep_text(self) -> None:
        if self._current is not None:
            self._current.text = self.arguments.raw_text()

    def _show_session(self) -> None:
        self._insists = False
        session = self._current
        self.arguments.setEnabled(session is not None)
        if session is not None:
            self.arguments.show_tool(session.schema, session.text)
        self._show_head()
        self._show_outcome()

    def _show_head(self) -> None:
        session = self._current
        if session is None:
            self._name.setText(self.tr("No tool chosen"))
            self._server.set_full_text("")
            self._about.set_full_text(self.tr("Choose one at the left."))
            return
        self._name.setText(session.tool)
        self._server.set_full_text(session.server)
        gone = self.tr("{0} is not ready, or has no such tool now.").format(session.server)
        self._about.set_full_text(gone if session.info is None else session.info.description)
        self._show_run_button()

    def _show_outcome(self) -> None:
        session = self._current
        if session is not None and session.call is not None:
            self.outcome.show_running(session.call)
        elif session is not None and session.end is not None:
            self.outcome.show_end(session.end)
        else:
            self.outcome.show_nothing(self.tr("Press Run, or Ctrl+Enter, to call the tool."))
        self._show_run_button()

    def _show_run_button(self) -> None:
        session = self._current
        running = session is not None and session.call is not None
        runs_anyway = self._insists and bool(self.arguments.problems())
        text = self.tr("Running…") if running else self.tr("Run anyway") if runs_anyway else self.tr("Run")
        self.run_button.setText(text)
        self.run_button.setEnabled(session is not None and session.info is not None and not running)
        self.run_button.setToolTip(self.tr("Call the tool (Ctrl+Enter)"))

    def _build(self) -> None:
        self.setWindowTitle(self.tr("Playground"))
        self.setWindowFlag(Qt.WindowType.WindowMaximizeButtonHint, True)
        self.run_button.setMinimumWidth(112)
        titles = vbox(hbox(self._name, (self._server, 1)), self._about, spacing=2)
        head = hbox((titles, 1), self.run_button, margins=(16, 10, 16, 10), spacing=12)
        top = card(vbox(head, line(), (self.arguments, 1), spacing=0))
        self.history.setMinimumWidth(180)
        self.outcome.setMinimumWidth(410)
        below = self._splitter(Qt.Orientation.Horizontal, self.outcome, self.history, sizes=(600, 288))
        right = self._splitter(Qt.Orientation.Vertical, top, below, sizes=(452, 264))
        whole = self._splitter(Qt.Orientation.Horizontal, self.tree, right, sizes=(248, 900))
        below.setStretchFactor(0, 1)
        whole.setStretchFactor(0, 1)
        whole.setStretchFactor(1, 4)
        self._splitters = {"result": below, "rows": right, "tools": whole, "arguments": self.arguments.splitter}
        self.setLayout(vbox((whole, 1), margins=(16, 16, 16, 16)))
        QWidget.setTabOrder(self.tree.view, self.arguments)
        QWidget.setTabOrder(self.arguments, self.run_button)

    def _splitter(self, way: Qt.Orientation, *parts: QWidget, sizes: tuple[int, int]) -> QSplitter:
        splitter = QSplitter(way)
        splitter.setHandleWidth(12)
        splitter.setChildrenCollapsible(False)
        for part in parts:
            splitter.addWidget(part)
        splitter.setSizes(list(sizes))
        return splitter

    def _connect(self) -> None:
        self.tree.tool_chosen.connect(self.on_tool_chosen)
        self.run_button.clicked.connect(self.on_run)
        self.arguments.changed.connect(self.on_arguments_changed)
        self.outcome.cancel_requested.connect(self.on_cancel)
        self.outcome.copy_requested.connect(self.on_copy)
        self.history.chosen.connect(self.on_past_call_chosen)
        for keys in ("Ctrl+Return", "Ctrl+Enter"):
            QShortcut(QKeySequence(keys), self).activated.connect(self.on_run)
        QShortcut(QKeySequence.StandardKey.Find, self).activated.connect(self.tree.search.setFocus)
        self._unsubscribe = self._workspace.subscribe(self._later.start)
        self._start(self.history.load(), "history")

    def _restore(self) -> None:
        kept = self._settings
        if kept is None or not self.restoreGeometry(_bytes(kept.value("playground/geometry"))):
            self.resize(FIRST_SIZE)
        if kept is not None:
            for name, splitter in self._splitters.items():
                splitter.restoreState(_bytes(kept.value(f"playground/{name}")))

    def _remember(self) -> None:
        if self._settings is not None:
            self._settings.setValue("playground/geometry", self.saveGeometry())
            for name, splitter in self._splitters.items():
                self._settings.setValue(f"playground/{name}", splitter.saveState())

    def reject(self) -> None:
        """Escape gives up the call that is running; without one it closes the window."""
        if self._current is not None and self._current.call is not None:
            self.on_cancel()
        else:
            super().reject()

    def hideEvent(self, event: QHideEvent) -> None:
        self._remember()
        super().hideEvent(event)


def _bytes(value: object) -> QByteArray:
    return value if isinstance(value, QByteArray) else QByteArray()
