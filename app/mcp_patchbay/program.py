"""The window's program: it puts the layers together, shows the window first, and ends everything in order."""

from __future__ import annotations

import asyncio
import gc
import logging
import os
import sys
from typing import TYPE_CHECKING, Any

from PySide6.QtCore import QObject, QSettings, Qt, QTimer
from PySide6.QtWidgets import QApplication

from mcp_patchbay import __version__
from mcp_patchbay.domain.errors import PatchbayError
from mcp_patchbay.engine import tasks
from mcp_patchbay.stores.config_text import environment_servers
from mcp_patchbay.stores.first_start import first_start_spec
from mcp_patchbay.stores.history import HistoryStore
from mcp_patchbay.stores.memory import StateFile
from mcp_patchbay.stores.paths import Paths
from mcp_patchbay.stores.secrets import KeyringStore, open_secret_store
from mcp_patchbay.stores.servers_file import ServersFile
from mcp_patchbay.stores.settings import SettingsFile
from mcp_patchbay.stores.tokens import KeyringTokens
from mcp_patchbay.ui import app_log, event_loop, theme
from mcp_patchbay.ui.bridge import EngineBridge
from mcp_patchbay.ui.crash_trace import crash_trace
from mcp_patchbay.ui.icons import app_icon
from mcp_patchbay.ui.instance import SingleInstance
from mcp_patchbay.ui.main_window import MainWindow
from mcp_patchbay.ui.signals import EndingSignals
from mcp_patchbay.ui.texts import error_text, text_of
from mcp_patchbay.ui.tray import Tray
from mcp_patchbay.ui.workspace import Workspace

if TYPE_CHECKING:
    from collections.abc import Coroutine
    from pathlib import Path

    from mcp_patchbay.domain.drafts import Kind
    from mcp_patchbay.domain.servers import ServerSpec, StdioServer
    from mcp_patchbay.domain.state import Snapshot
    from mcp_patchbay.engine.hub import ServerHub
    from mcp_patchbay.ui.playground import PlaygroundDialog

log = logging.getLogger(__name__)

CLEANUP_LIMIT = 4.5
"""Seconds in which everything must have ended after the program was asked to."""


def run_program(*, hidden: bool = False, debug: bool = False, config: Path | None = None) -> int:
    """Run the program until its user quits; the exit status. A second start raises the first one's window."""
    leave_imports_alone()
    paths = Paths(config)
    paths.create()
    app = QApplication(["mcp-patchbay"])  # what window managers know it by
    app.setApplicationName("Patchbay")  # what notification daemons call it
    app.setApplicationDisplayName("Patchbay")
    app.setApplicationVersion(__version__)
    app.setDesktopFileName("mcp-patchbay")
    app.setWindowIcon(app_icon())
    app.setQuitOnLastWindowClosed(False)
    instance = SingleInstance(paths.state)
    match instance.claim(["--hidden"] if hidden else []):
        case "handed_over":
            return 0
        case "no_answer":
            print("mcp-patchbay: it is running already, but does not answer", file=sys.stderr)
            return 1
    try:
        return event_loop.run(Program(app, paths, instance, debug=debug).run(hidden=hidden), app)
    finally:
        instance.release()


def leave_imports_alone() -> None:
    """Keep PySide from reading the source of every module that is imported from now on.

    It looks whether they use its features, which nothing here does. In a thread beside the main one it misses some
    modules and comes to others too early; asking a half imported pydantic then makes the import of mcp fail, once in
    some dozen starts.
    """
    feature = sys.modules.get("shibokensupport.feature")
    if feature is not None:
        vars(feature)["_mod_uses_pyside"] = lambda _module: False


class Program(QObject):
    """Everything that lives as long as the program does."""

    def __init__(self, app: QApplication, paths: Paths, instance: SingleInstance, *, debug: bool) -> None:
        super().__init__()
        self.app = app
        self.paths = paths
        self.log = app_log.AppLog(paths.logs, debug=debug)
        self.settings = SettingsFile(paths.settings_file)
        self.memory = StateFile(paths.state_file)
        self.workspace = Workspace(
            ServersFile(paths.servers_file), KeyringStore(self.memory), _servers_of_environment()
        )
        self.hub: ServerHub | None = None
        self.bridge = EngineBridge(self)
        self.playground: PlaygroundDialog | None = None
        self._ending = asyncio.Event()
        self._background: list[asyncio.Task[Any]] = []
        instance.started_again.connect(self.on_second_start)

    async def run(self, *, hidden: bool) -> int:
        """Show the window, bring the engine up behind it, and stay until the end is asked for."""
        signals = EndingSignals(self.quit)
        with self.log.catching(asyncio.get_running_loop()), crash_trace(self.paths.logs):
            try:
                theme.apply(self.app, self.settings.current.theme)
                self.workspace.load()
                self.tray = Tray(self)
                self.window = MainWindow(self.workspace, self.settings, self.paths)
                self._connect()
                if not (hidden or self.settings.current.start_hidden):
                    self.show_window()
                    await painted(self.window)
                self._apply_settings()
                self.tray.start()
                await self._bring_up_engine()
                await self._ending.wait()
            finally:
                await self._end()
                signals.close()
        return 0

    def quit(self) -> None:
        """Ask for the end; `run` does it."""
        self._ending.set()

    def show_window(self) -> None:
        """Bring the window to the front."""
        self.window.setWindowState(self.window.windowState() & ~Qt.WindowState.WindowMinimized)
        self.window.show()
        self.window.raise_()
        self.window.activateWindow()

    # ---- bringing up
    async def _bring_up_engine(self) -> None:
        make_hub, secrets = await asyncio.gather(asyncio.to_thread(_import_engine), open_secret_store(self.memory))
        self.workspace.secrets = secrets
        if secrets.availability.notice is not None:
            self.window.notice.say(text_of(secrets.availability.notice))
        self.hub = make_hub(
            [],
            default_timeout=self.settings.current.default_timeout,
            secrets=secrets,
            tokens=KeyringTokens(secrets),
            memory=self.memory,
        )
        self.bridge.attach(self.hub)
        self.bridge.snapshot_changed.connect(self.on_snapshot_changed)
        self.bridge.server_removed.connect(self._show_in_tray)
        self.log.known_secrets = self.hub.known_secrets
        self.window.connect_bridge(self.bridge)
        await self._first_start()
        await self.hub.init()  # it has no servers yet: this ends what a crashed run left
        await self.workspace.attach(self.hub)
        self._background.append(tasks.start(self.workspace.watch(), name="watch servers.json"))
        self._show_in_tray()
        # A start makes many objects that stay: the collector need not look at them again and again.
        gc.collect()
        gc.freeze()
        gc.set_threshold(20_000, 50, 50)

    async def _first_start(self) -> None:
        """Without any servers.json, the built-in server on a sample folder is there and ready."""
        if self.workspace.file.exists() or self.workspace.problem is not None:
            return
        from mcp_patchbay.builtin.filesystem.sample import create_sample

        try:
            await asyncio.to_thread(create_sample, self.paths.sample_folder)
            await self.workspace.add(first_start_spec(self.paths))
        except (OSError, PatchbayError) as error:
            self.window.notice.say(error_text(error), "error")

    # ---- ending
    async def _end(self) -> None:
        self.bridge.detach()
        if hasattr(self, "tray"):
            self.tray.shut()
        try:
            async with asyncio.timeout(CLEANUP_LIMIT):
                # Side by side: a server that ignores its end takes seconds, and a dialog may hold the window.
                await asyncio.gather(*self._ends())
        except TimeoutError:
            log.warning("not everything had ended after %g s", CLEANUP_LIMIT)
        self.workspace.secrets.close()
        await self.settings.close()
        await self.memory.close()

    def _ends(self) -> list[Coroutine[Any, Any, None]]:
        ends = [tasks.stop(self._background, within=1.0), self.workspace.finish()]
        if self.playground is not None:
            ends.append(self.playground.shut())
        if hasattr(self, "window"):
            ends.append(self.window.shut())
        if self.hub is not None:
            ends.append(self.hub.cleanup())
        return ends

    # ---- wiring
    def _connect(self) -> None:
        self.workspace.subscribe(self._show_in_tray)
        self.settings.subscribe(lambda _settings: self._apply_settings())
        window, tray = self.window, self.tray
        window.quit_requested.connect(self.quit)
        window.closed.connect(self.on_window_closed)
        window.add_requested.connect(self.on_add_requested)
        window.edit_requested.connect(self.on_edit_requested)
        window.sign_in_requested.connect(self.on_edit_requested)
        window.import_requested.connect(self.on_import_requested)
        window.playground_requested.connect(self.on_playground_requested)
        tray.open_requested.connect(self.show_window)
        tray.toggle_requested.connect(self.on_tray_clicked)
        tray.quit_requested.connect(self.quit)
        tray.start_requested.connect(lambda name: window.deeds.start([name]))
        tray.stop_requested.connect(lambda name: window.deeds.stop([name]))
        tray.restart_requested.connect(lambda name: window.deeds.restart([name]))
        tray.log_requested.connect(self.on_log_requested)
        tray.pause_requested.connect(lambda _pause: window.deeds.toggle_pause())
        window.deeds.done.connect(lambda: tray.set_paused(self.workspace.paused))

    def _apply_settings(self) -> None:
        self.tray.notifications_enabled = self.settings.current.notifications
        if self.hub is not None:
            self.hub.default_timeout = self.settings.current.default_timeout

    def _start(self, work: Any, name: str) -> None:
        self.window.deeds.run(work, name)

    # ---- slots
    def on_snapshot_changed(self, _snapshot: Snapshot) -> None:
        self._show_in_tray()

    def on_second_start(self, arguments: list[str]) -> None:
        if "--hidden" not in arguments:
            self.show_window()

    def on_window_closed(self) -> None:
        if not (self.settings.current.close_to_tray and self.tray.available):
            self.quit()
        elif not self.settings.current.first_close_hint_shown:
            self.settings.change(first_close_hint_shown=True)
            self.tray.say(
                self.tr("Patchbay is still running"),
                self.tr("Your servers keep running. Open or quit Patchbay from its icon here."),
            )

    def on_tray_clicked(self) -> None:
        if self.window.isVisible() and self.window.isActiveWindow():
            self.window.hide()
        else:
            self.show_window()

    def on_log_requested(self, name: str) -> None:
        self.show_window()
        self.window.show_server(name, log=True)

    def on_add_requested(self, kind: str) -> None:
        from mcp_patchbay.ui.editor import ServerEditor, add_by_pasting

        if not kind:
            self._start(add_by_pasting(self.workspace, self.window, find_command=find_command), "add")
            return
        kinds: dict[str, Kind] = {"stdio": "command", "http": "url", "builtin": "builtin"}
        editor = ServerEditor(self.workspace, parent=self.window, kind=kinds[kind], find_command=find_command)
        editor.saved.connect(self.on_saved)
        editor.open()

    def on_edit_requested(self, name: str) -> None:
        from mcp_patchbay.ui.editor import ServerEditor

        spec = self.workspace.get(name)
        if spec is not None:
            editor = ServerEditor(self.workspace, spec, self.window, find_command=find_command)
            editor.saved.connect(self.on_saved)
            editor.open()

    def on_saved(self, spec: ServerSpec) -> None:
        self.window.show_server(spec.name)

    def on_import_requested(self, text: str) -> None:
        from mcp_patchbay.ui.editor import add_by_pasting

        self._start(add_by_pasting(self.workspace, self.window, text, find_command=find_command), "import")

    def on_playground_requested(self, server: str, tool: str) -> None:
        from mcp_patchbay.ui.playground import PlaygroundDialog

        if self.playground is None:
            history = HistoryStore(self.paths.state / "history.jsonl")
            memory = QSettings(str(self.paths.config / "playground.ini"), QSettings.Format.IniFormat)
            self.playground = PlaygroundDialog(self.workspace, history, memory)
            self.playground.connect_bridge(self.bridge)
        self.playground.show()
        self.playground.raise_()
        self.playground.activateWindow()
        self.playground.select(server, tool)

    def _show_in_tray(self, _name: str = "") -> None:
        self.tray.set_snapshots([self.workspace.snapshot(spec.name) for spec in self.workspace.servers()])


async def painted(window: MainWindow) -> None:
    """Wait until the window has been painted once: Qt handles paint events before a timer of no length."""
    turned = asyncio.Event()
    QTimer.singleShot(0, turned.set)
    await turned.wait()
    window.repaint()


async def find_command(target: StdioServer) -> str:
    """Which file a command is, for the editor's "Found: ...".

    Raises:
        LaunchError: it was not found; it says what was searched where.
    """
    from mcp_patchbay.engine.spawn.resolve import resolve

    return (await resolve(target, environ=os.environ)).found


def _import_engine() -> Any:
    """Import what takes longer than a second, off the loop, and give back what makes a hub."""
    from mcp_patchbay.builtin.registry import BuiltinServers
    from mcp_patchbay.engine.hub import ServerHub

    def make(specs: list[ServerSpec], **ports: Any) -> ServerHub:
        return ServerHub(specs, builtins=BuiltinServers(), **ports)

    return make


def _servers_of_environment() -> list[ServerSpec]:
    try:
        return environment_servers(os.environ)
    except PatchbayError as error:
        log.warning("MCP_SERVERS: %s", error)
        return []
