"""Adding servers by pasting."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator, Callable
from pathlib import Path

import pytest
from PySide6.QtCore import Qt
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication

from checks.waiting import until
from mcp_patchbay.domain.errors import PatchbayError
from mcp_patchbay.domain.servers import HttpServer, InvalidServer, ServerSpec, StdioServer
from mcp_patchbay.domain.state import ServerState
from mcp_patchbay.engine import tasks
from mcp_patchbay.engine.hub import ServerHub
from mcp_patchbay.ui.editor import PasteDialog, ServerEditor, add_by_pasting
from mcp_patchbay.ui.editor.pasted import read_pasted, usable
from mcp_patchbay.ui.workspace import Workspace

from .conftest import Secrets

SEVERAL = json.dumps(
    {
        "mcpServers": {
            "everything": {"command": "npx", "args": ["-y", "a b"], "env": {"API_KEY": "s3cret", "MODE": "fast"}},
            "api": {"url": "https://h.invalid/mcp", "headers": {"Authorization": "Bearer s3cret"}},
            "typo": {"comand": "x"},
        }
    }
)
Open = Callable[..., PasteDialog]


@pytest.fixture
async def open_dialog(workspace: Workspace) -> AsyncIterator[Open]:
    gone: list[bool] = []
    opened: list[PasteDialog] = []

    def make(text: str = "") -> PasteDialog:
        dialog = PasteDialog(workspace, text=text)
        dialog.destroyed.connect(lambda: gone.append(True))
        dialog.open()
        opened.append(dialog)
        return dialog

    yield make
    if len(gone) < len(opened):
        opened[-1].reject()
    await until(lambda: len(gone) == len(opened))


def saved(path: Path) -> str:
    return path.read_text()


def shown(dialog: PasteDialog) -> list[tuple[str, str]]:
    model = dialog.found.model()
    return [(model.index(row, 0).data(), model.index(row, 1).data()) for row in range(model.rowCount())]


# ---- what is understood
@pytest.mark.parametrize(
    ("text", "name", "target"),
    [
        ("$ npx -y @modelcontextprotocol/server-everything", "everything",
         StdioServer("npx", ("-y", "@modelcontextprotocol/server-everything"))),
        ("API_KEY=x uvx mcp-server-git", "git", StdioServer("uvx", ("mcp-server-git",), {"API_KEY": "x"})),
        ("https://mcp.linear.app/mcp", "linear", HttpServer("https://mcp.linear.app/mcp")),
        ("https://mcp.linear.app/sse\n", "linear", HttpServer("https://mcp.linear.app/sse", "sse")),
        ('{"command": "npx", "args": ["-y", "mcp-server-x"]}', None, StdioServer("npx", ("-y", "mcp-server-x"))),
        ('```json\n{"mcpServers": {"a": {"command": "x"}}}\n```', "a", StdioServer("x")),
        ('Add this:\n\n```json\n{"mcpServers": {"a": {"command": "x"}}}\n```\n\nThen restart.', "a", StdioServer("x")),
        ('Add this:\n{\n  "mcpServers": {"a": {"command": "x"}}\n}\nThen restart.', "a", StdioServer("x")),
        ("`npx -y foo`", "foo", StdioServer("npx", ("-y", "foo"))),
        ('"a": {"command": "x"}', "a", StdioServer("x")),
    ],
)  # fmt: skip
def test_a_command_a_url_or_json_is_understood(text: str, name: str | None, target: object) -> None:
    (spec,) = read_pasted(text)
    assert spec.target == target
    assert spec.unconfirmed
    assert name is None or spec.name == name


def test_names_that_are_taken_get_a_number() -> None:
    assert [spec.name for spec in read_pasted(SEVERAL, {"api"})] == ["everything", "api 2", "typo"]
    assert read_pasted("npx foo", {"foo"})[0].name == "foo 2"


def test_an_entry_that_cannot_be_used_does_not_spoil_the_rest() -> None:
    servers = read_pasted(SEVERAL)
    assert isinstance(servers[2].target, InvalidServer)
    assert [spec.name for spec in usable(servers)] == ["everything", "api"]


@pytest.mark.parametrize("text", ['{"mcpServers": {"a": {"command": "x"}', '{"mcpServers": {}}', "cd /x && npx y", "'"])
def test_what_is_not_understood_says_why(text: str) -> None:
    with pytest.raises(PatchbayError) as refusal:
        read_pasted(text)
    assert str(refusal.value)


# ---- the dialog
async def test_one_server_goes_on_to_the_editor(open_dialog: Open) -> None:
    dialog = open_dialog()
    chosen: list[ServerSpec | None] = []
    dialog.chosen.connect(chosen.append)
    assert not dialog.go_on.isEnabled()
    dialog.text.setPlainText('npx -y "a b"')
    assert shown(dialog) == [("a b", 'npx -y "a b"')]
    QTest.mouseClick(dialog.go_on, Qt.MouseButton.LeftButton)
    assert chosen[0] is not None
    assert chosen[0].target == StdioServer("npx", ("-y", "a b"))


async def test_several_are_listed_with_what_they_start_and_added_unconfirmed(
    open_dialog: Open, workspace: Workspace, hub: ServerHub, secrets: Secrets, path: Path
) -> None:
    dialog = open_dialog(SEVERAL)
    assert shown(dialog)[:2] == [("everything", 'npx -y "a b"'), ("api", "https://h.invalid/mcp")]
    assert dialog.go_on.text() == "Add 2 servers"
    added: list[list[str]] = []
    dialog.added.connect(added.append)
    QTest.mouseClick(dialog.go_on, Qt.MouseButton.LeftButton)
    await until(lambda: added)
    assert added == [["everything", "api"]]
    assert [spec.unconfirmed for spec in workspace.servers()] == [True, True]
    assert {snapshot.state for snapshot in hub.snapshots()} == {ServerState.STOPPED}
    assert sorted(secrets.all().values()) == ["Bearer s3cret", "s3cret"]
    assert "s3cret" not in saved(path)


async def test_a_server_that_is_unticked_is_not_added(open_dialog: Open, workspace: Workspace) -> None:
    dialog = open_dialog(SEVERAL)
    place = dialog.found.visualRect(dialog.found.model().index(0, 0)).center()
    QTest.mouseClick(dialog.found.viewport(), Qt.MouseButton.LeftButton, pos=place)
    assert dialog.go_on.text() == "Add 1 server"
    dialog.found.setCurrentIndex(dialog.found.model().index(1, 0))
    QTest.keyClick(dialog.found, Qt.Key.Key_Space)
    assert not dialog.go_on.isEnabled()
    QTest.keyClick(dialog.found, Qt.Key.Key_Space)
    QTest.mouseClick(dialog.go_on, Qt.MouseButton.LeftButton)
    await until(workspace.servers)
    assert [spec.name for spec in workspace.servers()] == ["api"]


async def test_broken_json_says_where(open_dialog: Open) -> None:
    dialog = open_dialog('{"mcpServers": {\n  "a": {"command": }\n}}')
    assert dialog.note.is_error
    assert "2" in dialog.note.text()
    assert not dialog.go_on.isEnabled()


async def test_pasting_one_server_ends_in_the_editor_with_everything_filled_in(workspace: Workspace) -> None:
    flow = tasks.start(add_by_pasting(workspace, text="MODE=fast uvx mcp-server-git"), name="add by pasting")

    def top(kind: type) -> list[PasteDialog | ServerEditor]:
        return [widget for widget in QApplication.topLevelWidgets() if isinstance(widget, kind) and widget.isVisible()]

    (dialog,) = await until(lambda: top(PasteDialog))
    QTest.mouseClick(dialog.go_on, Qt.MouseButton.LeftButton)
    (editor,) = await until(lambda: top(ServerEditor))
    assert editor.connection.name.text() == "git"
    QTest.mouseClick(editor.save, Qt.MouseButton.LeftButton)
    await asyncio.wait_for(flow, 10)
    (spec,) = workspace.servers()
    assert spec.target == StdioServer("uvx", ("mcp-server-git",), {"MODE": "fast"})
    assert spec.unconfirmed


async def test_a_blank_form_can_be_had_instead(open_dialog: Open) -> None:
    dialog = open_dialog()
    chosen: list[ServerSpec | None] = []
    dialog.chosen.connect(chosen.append)
    QTest.mouseClick(dialog.by_hand, Qt.MouseButton.LeftButton)
    assert chosen == [None]
