"""The server editor on a real workspace: what is typed is what is saved, tested and asked about."""

from __future__ import annotations

import sys
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest
from PySide6.QtCore import Qt
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QAbstractButton, QComboBox, QLineEdit, QPlainTextEdit, QTableView, QWidget

from checks.waiting import until
from mcp_patchbay.domain.drafts import Entry
from mcp_patchbay.domain.errors import LaunchError
from mcp_patchbay.domain.filters import Filters, Patterns
from mcp_patchbay.domain.messages import plain
from mcp_patchbay.domain.placeholders import secret_reference
from mcp_patchbay.domain.servers import BuiltinServer, HttpServer, ServerSpec, StdioServer, read_server
from mcp_patchbay.domain.state import ServerState
from mcp_patchbay.engine.hub import ServerHub
from mcp_patchbay.ui.editor import ServerEditor
from mcp_patchbay.ui.editor.dialog import CONNECTION, FILTERS, PROMPTS
from mcp_patchbay.ui.workspace import Workspace
from servers.launch import stdio_spec

from .conftest import Secrets

Open = Callable[..., ServerEditor]


def saved(path: Path) -> str:
    return path.read_text()


def texts(widget: QWidget) -> str:
    """All that the labels of a widget say."""
    from PySide6.QtWidgets import QLabel

    return " | ".join(label.text() for label in widget.findChildren(QLabel) if label.isVisibleTo(widget))


def quiet(name: str = "api") -> ServerSpec:
    """A server that is off, with a secret."""
    spec = ServerSpec(name, HttpServer("https://h/mcp"), enabled=False)
    headers = {"Authorization": secret_reference(spec.id, "headers.Authorization"), "X-Mode": "fast"}
    return replace(spec, target=HttpServer("https://h/mcp", headers=headers))


async def save(editor: ServerEditor) -> None:
    """Click Save and wait until it is done."""
    closed: list[int] = []
    editor.finished.connect(closed.append)
    QTest.mouseClick(editor.save, Qt.MouseButton.LeftButton)
    await until(lambda: closed, what="saved and closed")


async def activated(editor: ServerEditor) -> None:
    """Wait until the editor has the keyboard."""
    editor.activateWindow()
    await until(editor.isActiveWindow, what="the window has the keyboard")


# ---- saving
async def test_a_typed_command_is_saved_as_it_was_typed(open_editor: Open, workspace: Workspace) -> None:
    editor = open_editor()
    QTest.keyClicks(editor.connection.name, "files")
    command = editor.connection.command
    QTest.keyClicks(command.command, "npx")
    command.args.set_lines(["-y", "a b"])
    command.env.set_entries([Entry("MODE", "fast")])
    editor.connection.timeout.setText("90")
    editor.tool_filters.set_texts("read_*", "")
    editor.notes.setPlainText("for me")
    heard: list[ServerSpec] = []
    editor.saved.connect(heard.append)
    await save(editor)
    (spec,) = workspace.servers()
    assert heard == [spec]
    assert (spec.name, spec.target) == ("files", StdioServer("npx", ("-y", "a b"), {"MODE": "fast"}))
    assert (spec.timeout, spec.connect_timeout, spec.description) == (90.0, None, "for me")
    assert spec.filters == Filters(Patterns(("read_*",)))
    assert not spec.unconfirmed


async def test_a_url_is_saved_with_its_type_and_its_secret_goes_to_the_keyring(
    open_editor: Open, workspace: Workspace, secrets: Secrets, path: Path
) -> None:
    editor = open_editor(kind="url")
    editor.connection.name.setText("api")
    editor.connection.url.url.setText("https://h/sse")
    editor.connection.url.type.set_current(1)
    model = editor.connection.url.headers.model
    row = model.add(Entry())
    assert model.setData(model.index(row, 0), "Authorization")
    assert model.setData(model.index(row, 1), "Bearer s3cret")
    await save(editor)
    (spec,) = workspace.servers()
    assert spec.target == HttpServer(
        "https://h/sse", "sse", {"Authorization": secret_reference(spec.id, "headers.Authorization")}
    )
    assert secrets.all() == {(spec.id, "headers.Authorization"): "Bearer s3cret"}
    assert "s3cret" not in saved(path)


async def test_a_builtin_is_saved_with_its_folders(open_editor: Open, workspace: Workspace, tmp_path: Path) -> None:
    editor = open_editor(kind="builtin")
    editor.connection.name.setText("mine")
    editor.connection.builtin.folders.set_lines([str(tmp_path)])
    await save(editor)
    assert workspace.servers()[0].target == BuiltinServer("filesystem", {"allowed_directories": [str(tmp_path)]})


async def test_a_server_that_is_edited_keeps_what_is_not_shown_and_its_secret_is_never_read(
    open_editor: Open, workspace: Workspace, secrets: Secrets
) -> None:
    spec = replace(quiet(), extra={"autoApprove": ["x"]})
    await workspace.add(spec, {"headers.Authorization": "Bearer s3cret"})
    secrets.read.clear()
    editor = open_editor(spec)
    assert not editor.is_changed()
    editor.connection.name.setText("renamed")
    await save(editor)
    (new,) = workspace.servers()
    assert new == replace(spec, name="renamed")
    assert secrets.all() == {(spec.id, "headers.Authorization"): "Bearer s3cret"}
    assert secrets.read == []


async def test_a_header_that_is_removed_leaves_the_keyring(
    open_editor: Open, workspace: Workspace, secrets: Secrets
) -> None:
    spec = quiet()
    await workspace.add(spec, {"headers.Authorization": "Bearer s3cret"})
    editor = open_editor(spec)
    editor.connection.url.headers.model.remove(0)
    await save(editor)
    assert workspace.servers()[0].target == HttpServer("https://h/mcp", headers={"X-Mode": "fast"})
    assert secrets.all() == {}


async def test_save_jumps_to_the_first_error_and_counts_them(open_editor: Open, workspace: Workspace) -> None:
    editor = open_editor()
    editor.tabs.setCurrentIndex(FILTERS)
    QTest.mouseClick(editor.save, Qt.MouseButton.LeftButton)
    await until(lambda: editor.tabs.currentIndex() == CONNECTION)
    assert "2 fields need your attention" in texts(editor)
    assert "Give the server a name" in texts(editor)
    assert "Enter a command" in texts(editor)
    assert editor.save.isEnabled()
    assert editor.connection.name.accessibleDescription() == "Give the server a name"
    assert workspace.servers() == ()


async def test_a_bad_pattern_is_flagged_beside_its_field_and_save_goes_there(
    open_editor: Open, workspace: Workspace
) -> None:
    editor = open_editor()
    editor.connection.name.setText("a")
    editor.connection.command.command.setText("npx")
    editor.prompt_filters.set_texts("", "ok\n[bad")
    await until(lambda: "1 field needs your attention" in texts(editor))
    QTest.mouseClick(editor.save, Qt.MouseButton.LeftButton)
    await until(lambda: editor.tabs.currentIndex() == PROMPTS)
    assert "[bad: a bracket is not closed" in texts(editor.prompt_filters)
    assert editor.prompt_filters.block.textCursor().blockNumber() == 1
    editor.prompt_filters.set_texts("", "ok")
    await until(lambda: "attention" not in texts(editor))


async def test_what_is_not_typed_yet_is_not_called_wrong_before_save(open_editor: Open) -> None:
    editor = open_editor(kind="url")
    editor.connection.url.url.setText("ftp://h")
    await until(lambda: "Start with http:// or https://" in texts(editor))
    assert "Give the server a name" not in texts(editor)


async def test_a_name_that_is_taken_is_refused_beside_the_name(open_editor: Open, workspace: Workspace) -> None:
    await workspace.add(quiet("taken"))
    editor = open_editor()
    editor.connection.name.setText("taken")
    await until(lambda: "There is a server named taken already" in texts(editor))


async def test_a_name_that_was_taken_meanwhile_is_refused_by_the_file(
    open_editor: Open, workspace: Workspace, monkeypatch: pytest.MonkeyPatch
) -> None:
    editor = open_editor()
    editor.connection.name.setText("a")
    editor.connection.command.command.setText("npx")
    await workspace.add(quiet("a"))
    monkeypatch.setattr(editor, "problems", list)  # what the form knew before the other one came
    QTest.mouseClick(editor.save, Qt.MouseButton.LeftButton)
    await until(lambda: "Server with name a already exists" in texts(editor))
    assert editor.isVisible()
    assert [spec.transport for spec in workspace.servers()] == ["streamable-http"]


async def test_a_folder_that_is_not_there_is_refused_and_the_near_one_offered(
    open_editor: Open, tmp_path: Path, workspace: Workspace
) -> None:
    (tmp_path / "shop").mkdir()
    editor = open_editor()
    editor.connection.name.setText("a")
    editor.connection.command.command.setText("npx")
    editor.connection.command.cwd.setText(str(tmp_path / "shpo"))
    QTest.mouseClick(editor.save, Qt.MouseButton.LeftButton)
    await until(lambda: f"This folder does not exist. Did you mean {tmp_path / 'shop'}?" in texts(editor))
    assert workspace.servers() == ()
    editor.connection.command.cwd.setText(str(tmp_path / "shop"))
    await save(editor)
    assert workspace.servers()[0].target == StdioServer("npx", cwd=str(tmp_path / "shop"))


async def test_an_entry_that_cannot_be_used_shows_what_is_wrong_at_once(open_editor: Open) -> None:
    editor = open_editor(read_server("typo", {"comand": "x"}))
    await until(lambda: "Enter a command" in texts(editor))


# ---- the command
async def test_a_command_is_looked_for_while_it_is_typed(open_editor: Open) -> None:
    asked: list[str] = []

    async def find(server: StdioServer) -> str:
        asked.append(server.command)
        if server.command == "uvx":
            return "/opt/bin/uvx"
        raise LaunchError(plain("Command not found"), plain(f"{server.command} was not found"))

    editor = open_editor(find_command=find)
    editor.connection.command.command.setText("uvx")
    await until(lambda: "Found: /opt/bin/uvx" in texts(editor))
    editor.connection.command.command.setText("nope")
    await until(lambda: "nope was not found" in texts(editor))
    assert asked == ["uvx", "nope"]


async def test_a_pasted_command_line_is_split(open_editor: Open) -> None:
    editor = open_editor()
    form = editor.connection.command
    form.command.setFocus()
    form.command.insert("")
    from PySide6.QtGui import QGuiApplication

    QGuiApplication.clipboard().setText('$ API_KEY=s3cret MODE=fast npx -y "a b"')
    form.command.paste()
    assert form.command.text() == "npx"
    assert form.args.lines() == ("-y", "a b")
    assert form.env.entries() == (Entry("API_KEY", "s3cret", kept=True), Entry("MODE", "fast"))


async def test_a_typed_command_line_is_split_when_the_field_is_left(open_editor: Open) -> None:
    editor = open_editor()
    form = editor.connection.command
    await activated(editor)
    form.command.setFocus()
    QTest.keyClicks(form.command, "uvx postgres-mcp")
    assert form.args.lines() == ()
    QTest.keyClick(form.command, Qt.Key.Key_Tab)
    assert (form.command.text(), form.args.lines()) == ("uvx", ("postgres-mcp",))


async def test_a_path_with_blanks_is_not_split(open_editor: Open, tmp_path: Path) -> None:
    program = tmp_path / "my server"
    program.touch()
    form = open_editor().connection.command
    QTest.keyClicks(form.command, str(program))
    form.split_command()
    assert (form.command.text(), form.args.lines()) == (str(program), ())


async def test_a_line_that_needs_a_shell_says_so(open_editor: Open) -> None:
    editor = open_editor()
    QTest.keyClicks(editor.connection.command.command, "cd /x && npx y")
    editor.connection.command.split_command()
    assert "&& needs a shell" in texts(editor)


# ---- testing
async def test_a_test_connects_for_real_and_fills_the_preview(
    open_editor: Open, hub: ServerHub, workspace: Workspace
) -> None:
    spec = stdio_spec("good", "good")
    editor = open_editor(pasted=spec)
    editor.tool_filters.set_texts("echo", "")
    assert "Test the connection to see the tools" in texts(editor.tool_filters)
    QTest.mouseClick(editor.connection.card.test, Qt.MouseButton.LeftButton)
    await until(lambda: "Connected in" in texts(editor.connection.card), 30)
    assert "A good server 1.2.3" in texts(editor.connection.card)
    assert "9 tools" in texts(editor.connection.card)
    assert "1 of 9 tools pass" in texts(editor.tool_filters)
    assert workspace.servers() == ()
    assert hub.servers() == ()


async def test_patterns_say_at_once_which_of_them_decided(open_editor: Open, hub: ServerHub, tmp_path: Path) -> None:
    spec = ServerSpec("files", BuiltinServer("filesystem", {"allowed_directories": [str(tmp_path)]}))
    editor = open_editor(pasted=spec)
    editor.on_test_clicked()
    await until(lambda: "Connected" in texts(editor.connection.card), 30)
    tab = editor.tool_filters
    tab.set_texts("read_*\nlist_*", "*_directory")
    model = tab.preview.model()

    def decision(name: str) -> tuple[str, str]:
        from mcp_patchbay.ui.delegates import Role

        row = next(row for row in range(model.rowCount()) if model.index(row, 1).data() == name)
        return model.index(row, 2).data(), model.index(row, 2).data(Role.PATTERN)

    assert decision("read_file") == ("allow", "read_*")
    assert decision("list_directory") == ("block", "*_directory")
    assert decision("write_file") == ("not allowed", "")
    tab.search.setText("write")
    assert model.rowCount() == 1


async def test_a_failed_test_says_why_and_what_to_do(open_editor: Open, hub: ServerHub) -> None:
    editor = open_editor()
    editor.connection.command.command.setText("no-such-command-here")
    editor.on_test_clicked()
    card = editor.connection.card
    await until(lambda: "Command not found" in texts(card), 30)
    assert "no-such-command-here was not found" in texts(card)
    assert "Install it" in texts(card)


async def test_a_test_can_be_cancelled(open_editor: Open, hub: ServerHub) -> None:
    editor = open_editor()
    editor.connection.command.command.setText(sys.executable)
    editor.connection.command.args.set_lines(["-c", "input()"])  # never answers
    editor.on_test_clicked()
    card = editor.connection.card
    await until(lambda: card.cancel.isVisible())
    QTest.mouseClick(card.cancel, Qt.MouseButton.LeftButton)
    await until(lambda: "Not tested yet" in texts(card), 30)
    assert card.test.isVisible()


async def test_a_test_uses_secrets_that_are_not_saved(open_editor: Open, hub: ServerHub, secrets: Secrets) -> None:
    editor = open_editor(pasted=stdio_spec("good", "good"))
    env = editor.connection.command.env
    env.set_entries([Entry("API_TOKEN", "s3cret", kept=True)])
    editor.on_test_clicked()
    await until(lambda: "Connected" in texts(editor.connection.card), 30)
    assert secrets.all() == {}


async def test_before_the_engine_is_there_a_test_says_so(open_editor: Open) -> None:
    editor = open_editor()
    editor.connection.command.command.setText("npx")
    editor.on_test_clicked()
    await until(lambda: "The engine is not there yet" in texts(editor.connection.card))


async def test_a_running_servers_tools_are_known_without_a_test(
    open_editor: Open, hub: ServerHub, workspace: Workspace, tmp_path: Path
) -> None:
    spec = ServerSpec(
        "files",
        BuiltinServer("filesystem", {"allowed_directories": [str(tmp_path)]}),
        filters=Filters(Patterns(("read_*",))),
    )
    await workspace.add(spec)
    await until(lambda: hub.snapshot("files").state is ServerState.READY, 30)
    editor = open_editor(spec)
    await until(lambda: "2 of 11 tools pass" in texts(editor.tool_filters))


# ---- leaving
async def test_an_editor_without_changes_closes_without_a_question(open_editor: Open, workspace: Workspace) -> None:
    editor = open_editor(quiet())
    closed: list[int] = []
    editor.finished.connect(closed.append)
    QTest.keyClick(editor, Qt.Key.Key_Escape)
    assert closed == [0]


async def test_changes_are_asked_about_in_place(open_editor: Open) -> None:
    editor = open_editor()
    QTest.keyClicks(editor.connection.name, "x")
    QTest.keyClick(editor, Qt.Key.Key_Escape)
    assert editor.isVisible()
    assert "You have changes that are not saved." in texts(editor)
    QTest.mouseClick(editor.keep_editing, Qt.MouseButton.LeftButton)
    assert "You have changes" not in texts(editor)
    editor.close()
    assert editor.isVisible()
    closed: list[int] = []
    editor.finished.connect(closed.append)
    QTest.mouseClick(editor.discard, Qt.MouseButton.LeftButton)
    assert closed == [0]


async def test_closing_ends_a_test_that_runs(open_editor: Open, hub: ServerHub) -> None:
    editor = open_editor()
    editor.connection.command.command.setText(sys.executable)
    editor.connection.command.args.set_lines(["-c", "input()"])
    editor.on_test_clicked()
    await until(lambda: editor.connection.card.cancel.isVisible())
    gone: list[bool] = []
    editor.destroyed.connect(lambda: gone.append(True))
    editor.on_discard_clicked()
    await until(lambda: gone)  # the checks after each test find a process or task that is left


async def test_what_was_pasted_is_saved_unconfirmed(
    open_editor: Open, workspace: Workspace, hub: ServerHub, secrets: Secrets
) -> None:
    spec = ServerSpec("api", HttpServer("https://h.invalid/mcp", headers={"Authorization": "Bearer s3cret"}))
    editor = open_editor(pasted=spec)
    assert "starts only after you have clicked Start" in texts(editor)
    await save(editor)
    (new,) = workspace.servers()
    assert new.unconfirmed
    assert hub.snapshot("api").state is ServerState.STOPPED
    assert list(secrets.all().values()) == ["Bearer s3cret"]


# ---- for everybody
async def test_every_field_has_an_accessible_name(open_editor: Open) -> None:
    editor = open_editor()
    kinds = (QLineEdit, QPlainTextEdit, QComboBox, QTableView)
    fields = [field for kind in kinds for field in editor.findChildren(kind)]
    nameless = [field for field in fields if not field.accessibleName() and not isinstance(field.parent(), QComboBox)]
    assert nameless == []
    buttons = editor.findChildren(QAbstractButton)
    assert [b for b in buttons if not (b.text() or b.accessibleName()) and b.isVisibleTo(editor)] == []


async def test_the_whole_form_can_be_reached_by_tab(open_editor: Open) -> None:
    editor = open_editor()
    await activated(editor)
    editor.connection.name.setFocus()
    reached = set()
    for _ in range(60):
        focused = editor.focusWidget()
        reached.add(focused)
        QTest.keyClick(focused, Qt.Key.Key_Tab)
    form = editor.connection.command
    wanted = {
        editor.connection.name, form.command, form.args.add_button, form.env.add_button, form.cwd,
        editor.connection.timeout, editor.connection.card.test, editor.cancel, editor.save, editor.tabs,
    }  # fmt: skip
    assert wanted <= reached
