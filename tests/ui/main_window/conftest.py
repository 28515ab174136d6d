"""A real workspace on files of its own, windows on it, and the engine with the built-in servers."""

from __future__ import annotations

from collections.abc import AsyncIterator, Awaitable, Callable
from pathlib import Path

import pytest
from PySide6.QtWidgets import QApplication, QFileDialog

from checks.waiting import until
from mcp_patchbay.builtin.registry import BuiltinServers
from mcp_patchbay.engine.hub import ServerHub
from mcp_patchbay.stores.paths import HOME_VARIABLE, Paths
from mcp_patchbay.stores.secrets import SessionStore
from mcp_patchbay.stores.servers_file import ServersFile
from mcp_patchbay.stores.settings import SettingsFile
from mcp_patchbay.ui import theme
from mcp_patchbay.ui.bridge import EngineBridge
from mcp_patchbay.ui.main_window import MainWindow
from mcp_patchbay.ui.workspace import Workspace


@pytest.fixture(scope="session", autouse=True)
def the_look(qapp: QApplication) -> None:
    """The program's look; and once, what Qt opens for good with the first window and the first file dialog."""
    theme.apply(qapp, "light")
    dialog = QFileDialog()
    dialog.show()
    qapp.processEvents()
    dialog.close()
    dialog.deleteLater()
    qapp.processEvents()


@pytest.fixture
def paths(tmp_path: Path) -> Paths:
    made = Paths(environ={HOME_VARIABLE: str(tmp_path / "home")})
    made.create()
    return made


@pytest.fixture
def workspace(paths: Paths) -> Workspace:
    made = Workspace(ServersFile(paths.servers_file), SessionStore())
    made.load()
    return made


@pytest.fixture
async def settings(paths: Paths) -> AsyncIterator[SettingsFile]:
    made = SettingsFile(paths.settings_file)
    yield made
    await made.close()


@pytest.fixture
async def open_window(
    workspace: Workspace, settings: SettingsFile, paths: Paths
) -> AsyncIterator[Callable[..., Awaitable[MainWindow]]]:
    """Opens windows on the workspace, all of which are shut at the end."""
    windows: list[MainWindow] = []

    async def open_one(width: int = 1180, height: int = 760) -> MainWindow:
        window = MainWindow(workspace, settings, paths)
        windows.append(window)
        window.resize(width, height)
        window.show()
        window.activateWindow()
        window.table.setFocus()
        await until(window.isActiveWindow, what="the window is active")
        return window

    yield open_one
    for window in windows:
        await window.shut()


@pytest.fixture
async def engine(workspace: Workspace) -> AsyncIterator[Callable[[MainWindow], Awaitable[ServerHub]]]:
    """Gives a window the engine, and ends it."""
    engines: list[tuple[ServerHub, EngineBridge]] = []

    async def attach(window: MainWindow) -> ServerHub:
        hub = ServerHub(workspace.servers(), secrets=workspace.secrets, builtins=BuiltinServers())
        bridge = EngineBridge(window)
        bridge.attach(hub)
        engines.append((hub, bridge))
        await workspace.attach(hub)
        window.connect_bridge(bridge)
        await hub.init()
        return hub

    yield attach
    for hub, bridge in engines:
        await hub.cleanup()
        bridge.detach()
