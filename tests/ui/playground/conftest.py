"""The playground on a real engine with a real server in this process."""

from __future__ import annotations

from collections.abc import AsyncIterator
from pathlib import Path

import pytest
from PySide6.QtCore import QObject
from PySide6.QtWidgets import QApplication, QFileDialog

from mcp_patchbay.domain.servers import BuiltinServer, ServerSpec, StdioServer
from mcp_patchbay.engine.hub import ServerHub
from mcp_patchbay.stores.history import HistoryStore
from mcp_patchbay.stores.paths import HOME_VARIABLE, Paths
from mcp_patchbay.stores.secrets import SessionStore
from mcp_patchbay.stores.servers_file import ServersFile
from mcp_patchbay.ui import theme
from mcp_patchbay.ui.bridge import EngineBridge
from mcp_patchbay.ui.playground import PlaygroundDialog
from mcp_patchbay.ui.workspace import Workspace
from ui.playground.tool_server import ToolServer


@pytest.fixture(scope="session", autouse=True)
def the_look(qapp: QApplication) -> None:
    """The program's look; and once, what Qt opens for good with the first file dialog."""
    theme.apply(qapp, "light")
    dialog = QFileDialog()
    dialog.show()
    qapp.processEvents()
    dialog.close()
    dialog.deleteLater()
    qapp.processEvents()


@pytest.fixture
async def tool_server() -> ToolServer:
    return ToolServer()


@pytest.fixture
def history(tmp_path: Path) -> HistoryStore:
    return HistoryStore(tmp_path / "history.jsonl")


@pytest.fixture
async def workspace(tmp_path: Path, tool_server: ToolServer) -> AsyncIterator[Workspace]:
    """A ready server with tools, and one that is off."""
    paths = Paths(environ={HOME_VARIABLE: str(tmp_path / "home")})
    paths.create()
    specs = [
        ServerSpec("github", BuiltinServer(tool_server.server), timeout=30.0),
        ServerSpec("off", StdioServer("no-such-command"), enabled=False),
    ]
    made = Workspace(ServersFile(paths.servers_file), SessionStore(), transient=specs)
    made.load()
    hub = ServerHub(made.servers())
    await made.attach(hub)
    await hub.init()
    yield made
    await hub.cleanup()


@pytest.fixture
async def playground(
    workspace: Workspace, history: HistoryStore, qapp: QApplication
) -> AsyncIterator[PlaygroundDialog]:
    """The window, following the engine."""
    owner = QObject()
    bridge = EngineBridge(owner)
    assert workspace.hub is not None
    bridge.attach(workspace.hub)
    dialog = PlaygroundDialog(workspace, history)
    dialog.connect_bridge(bridge)
    dialog.show()
    qapp.processEvents()
    yield dialog
    await dialog.shut()
    bridge.detach()
    dialog.close()
    dialog.deleteLater()
    owner.deleteLater()
    qapp.processEvents()
