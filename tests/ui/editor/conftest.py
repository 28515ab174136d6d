"""What the editor's tests share: a real workspace with a real engine, and dialogs that are gone afterwards."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable, Iterator
from pathlib import Path
from typing import Any, TypeVar

import pytest
from PySide6.QtWidgets import QApplication, QFileDialog, QWidget

from mcp_patchbay.builtin.registry import BuiltinServers
from mcp_patchbay.engine.hub import ServerHub
from mcp_patchbay.stores.secrets import SessionStore
from mcp_patchbay.stores.servers_file import ServersFile
from mcp_patchbay.ui import theme
from mcp_patchbay.ui.editor import ServerEditor
from mcp_patchbay.ui.widgets import search_field
from mcp_patchbay.ui.workspace import Workspace

W = TypeVar("W", bound=QWidget)


class Secrets(SessionStore):
    """Secrets in memory, which a test may count. Reading them is noted: the editor never does."""

    def __init__(self) -> None:
        super().__init__()
        self.read: list[str] = []

    async def get(self, server_id: str, field: str) -> str | None:
        self.read.append(field)
        return await super().get(server_id, field)

    def all(self) -> dict[tuple[str, str], str]:
        return dict(self._secrets)


@pytest.fixture
def secrets() -> Secrets:
    return Secrets()


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "servers.json"


@pytest.fixture
def workspace(path: Path, secrets: Secrets) -> Workspace:
    """A workspace without an engine, as in the first second of the app."""
    return Workspace(ServersFile(path), secrets)


@pytest.fixture
async def hub(workspace: Workspace, secrets: Secrets) -> AsyncIterator[ServerHub]:
    """The workspace's engine."""
    hub = ServerHub(secrets=secrets, builtins=BuiltinServers())
    await workspace.attach(hub)
    yield hub
    await hub.cleanup()


@pytest.fixture(scope="session", autouse=True)
def look(qapp: QApplication) -> None:
    """The program's own look, on which sizes depend; and once, what Qt opens for good with the first file dialog."""
    theme.apply(qapp, "light")
    for window in (QFileDialog(), search_field("")):
        window.show()
        qapp.processEvents()
        window.close()
        window.deleteLater()
    qapp.processEvents()


@pytest.fixture
def keep(qapp: QApplication, look: None) -> Iterator[Callable[[W], W]]:
    """Shows a widget, and takes it away after the test."""
    kept: list[QWidget] = []

    def show(widget: W) -> W:
        kept.append(widget)
        widget.show()
        return widget

    yield show
    for widget in kept:
        widget.close()
        widget.deleteLater()


@pytest.fixture
async def open_editor(workspace: Workspace, look: None) -> AsyncIterator[Callable[..., ServerEditor]]:
    """Opens editors on the workspace, and leaves them at the end without saving."""
    opened: list[ServerEditor] = []

    def make(*args: Any, **settings: Any) -> ServerEditor:
        editor = ServerEditor(workspace, *args, **settings)
        opened.append(editor)
        gone.append(False)
        place = len(gone) - 1
        editor.destroyed.connect(lambda: gone.__setitem__(place, True))
        editor.open()
        return editor

    gone: list[bool] = []
    yield make
    from checks.waiting import until

    for editor, is_gone in zip(opened, list(gone), strict=True):
        if not is_gone:
            editor.on_discard_clicked()
    await until(lambda: all(gone), what="the editors are gone")
