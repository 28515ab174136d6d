"""`PYTHONPATH=tests python -m ui.editor.draw_pictures FOLDER`: pictures of the server editor, beside the design's.

The server that is tested in them really runs; only its name is made up.
"""

from __future__ import annotations

import asyncio
import os
import sys
import tempfile
from dataclasses import replace
from pathlib import Path

os.environ.setdefault("QT_QPA_PLATFORM", "offscreen")

from PySide6.QtWidgets import QApplication, QDialog

from mcp_patchbay.builtin.registry import BuiltinServers
from mcp_patchbay.domain.filters import Filters, Patterns
from mcp_patchbay.domain.placeholders import secret_reference
from mcp_patchbay.domain.servers import BuiltinServer, HttpServer, ServerSpec, StdioServer
from mcp_patchbay.engine.hub import ServerHub
from mcp_patchbay.stores.secrets import SessionStore
from mcp_patchbay.stores.servers_file import ServersFile
from mcp_patchbay.ui import theme
from mcp_patchbay.ui.editor.dialog import CONNECTION, FILTERS, NOTES, PROMPTS, ServerEditor
from mcp_patchbay.ui.editor.paste_dialog import PasteDialog
from mcp_patchbay.ui.event_loop import AppEventLoop
from mcp_patchbay.ui.workspace import Workspace
from servers.launch import script_path

HOME = os.path.expanduser("~")
PASTED = """{"mcpServers": {
  "everything": {"command": "npx", "args": ["-y", "@modelcontextprotocol/server-everything"]},
  "linear": {"url": "https://mcp.linear.app/sse", "type": "sse"},
  "typo": {"comand": "x"}
}}"""


def stdio() -> ServerSpec:
    spec = ServerSpec("postgres", StdioServer(sys.executable))
    env = {"DATABASE_URI": secret_reference(spec.id, "env.DATABASE_URI"), "PGSSLMODE": "require"}
    target = StdioServer(sys.executable, (str(script_path("good.py")),), env, "/nowhere")
    filters = Filters(Patterns(("{echo,add*}", "slow*"), ("*_all",)))
    return replace(spec, target=target, filters=filters, description="The shop's database, read only.")


class Camera:
    def __init__(self, folder: Path, mode: str) -> None:
        self.folder, self.mode = folder, mode

    async def take(self, dialog: QDialog, name: str) -> None:
        await asyncio.sleep(0.8)
        dialog.grab().save(str(self.folder / f"{name}-{self.mode}.png"))


async def draw(folder: Path, mode: str) -> None:
    workspace = Workspace(ServersFile(Path(tempfile.mkdtemp()) / "servers.json"), SessionStore())
    hub = ServerHub(secrets=workspace.secrets, builtins=BuiltinServers())
    await workspace.attach(hub)
    camera = Camera(folder, mode)
    spec = stdio()
    await workspace.add(replace(spec, enabled=False), {"env.DATABASE_URI": "postgres://secret"})

    async def find(server: StdioServer) -> str:
        return f"{HOME}/.local/bin/{Path(server.command).name}"

    editor = ServerEditor(workspace, spec, find_command=find)
    editor.open()
    await camera.take(editor, "editor-connection")
    editor.connection.command.cwd.setText("/tmp")
    editor.on_test_clicked()
    await camera.take(editor, "editor-running")
    while editor._test is not None:
        await asyncio.sleep(0.05)
    editor.connection.command.env.view.setCurrentIndex(editor.connection.command.env.model.index(0, 1))
    editor.connection.command.env.view.setFocus()
    await camera.take(editor, "editor-tested")
    editor.tabs.setCurrentIndex(FILTERS)
    await camera.take(editor, "editor-filters")
    editor.tool_filters.block.setPlainText("*_all\n[ab")
    await camera.take(editor, "editor-filters-bad")
    editor.tabs.setCurrentIndex(PROMPTS)
    await camera.take(editor, "editor-prompts")
    editor.tabs.setCurrentIndex(NOTES)
    await camera.take(editor, "editor-notes")
    editor.tabs.setCurrentIndex(CONNECTION)
    editor.resize(600, 480)
    editor.reject()
    await camera.take(editor, "editor-small")
    editor.on_discard_clicked()

    url = ServerSpec("linear", HttpServer("http://127.0.0.1:9/mcp", headers={"Authorization": "${secret:x/y}"}))
    editor = ServerEditor(workspace, pasted=url)
    editor.open()
    editor.on_test_clicked()
    await asyncio.sleep(1)
    while editor._test is not None:
        await asyncio.sleep(0.05)
    await camera.take(editor, "editor-url")
    editor.on_discard_clicked()

    editor = ServerEditor(
        workspace, ServerSpec("files", BuiltinServer("filesystem", {"allowed_directories": ["/tmp"]}))
    )
    editor.open()
    await camera.take(editor, "editor-builtin")
    editor.on_discard_clicked()

    editor = ServerEditor(workspace)
    editor.open()
    editor.on_save_clicked()
    await camera.take(editor, "editor-blank")
    editor.on_discard_clicked()

    for name, text in (("paste-empty", ""), ("paste-several", PASTED), ("paste-bad", "cd /x && npx y")):
        dialog = PasteDialog(workspace, text=text)
        dialog.open()
        await camera.take(dialog, name)
        dialog.reject()
    await hub.cleanup()


def main() -> None:
    app = QApplication(sys.argv[:1])
    app.setQuitOnLastWindowClosed(False)  # else closing one would stop the loop
    folder = Path(sys.argv[1])
    folder.mkdir(parents=True, exist_ok=True)
    with AppEventLoop(app) as loop:
        for mode in ("light", "dark"):
            theme.apply(app, mode)
            loop.run_until_complete(draw(folder, mode))


if __name__ == "__main__":
    main()
