"""The playground with the real engine and a real server behind it."""

from __future__ import annotations

import asyncio
import json
from dataclasses import replace
from typing import Any

from PySide6.QtCore import QSettings, Qt
from PySide6.QtGui import QGuiApplication
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QAbstractButton, QComboBox, QLabel, QLineEdit, QProgressBar, QTreeView, QWidget

from mcp_patchbay.domain.filters import Filters, Patterns
from mcp_patchbay.stores.history import HistoryStore
from mcp_patchbay.ui.delegates import Role
from mcp_patchbay.ui.playground import PlaygroundDialog
from mcp_patchbay.ui.playground.blocks import LinkView, LongText, Picture
from mcp_patchbay.ui.playground.json_views import JsonTree, RowsTable
from mcp_patchbay.ui.playground.result import RAW, STRUCTURED


def words(widget: QWidget) -> str:
    """All that can be read in a widget now."""
    return "\n".join(label.text() for label in widget.findChildren(QLabel) if label.isVisible())


def shown(playground: PlaygroundDialog, kind: type) -> Any:
    """The first widget of that kind that is visible in the result."""
    return next((widget for widget in playground.outcome.findChildren(kind) if widget.isVisible()), None)


async def choose(playground: PlaygroundDialog, tool: str, qwait: Any, arguments: str | None = None) -> None:
    playground.select("github", tool)
    await qwait.until(lambda: playground._current is not None and playground._current.info is not None
                      and playground._current.tool == tool)  # fmt: skip
    if arguments is not None:
        playground.arguments.set_raw_text(arguments)


async def run(playground: PlaygroundDialog, tool: str, qwait: Any, arguments: str | None = None) -> None:
    await choose(playground, tool, qwait, arguments)
    playground.run_button.click()
    session = playground._current
    assert session is not None
    await qwait.until(lambda: session.end is not None)


def tools_listed(playground: PlaygroundDialog) -> list[str]:
    group = playground.tree.model.item(0)
    return [group.child(row).text() for row in range(group.rowCount())] if group else []


async def test_the_tools_of_ready_servers_are_listed_and_the_others_counted(playground, qwait) -> None:
    await qwait.until(lambda: len(tools_listed(playground)) == 9)
    assert playground.tree.model.rowCount() == 1
    assert playground.tree.search.placeholderText() == "Search 9 tools"
    assert "1 server is not ready and is left out." in words(playground.tree)


async def test_searching_shows_what_matches_and_enter_chooses_it(playground, qwait) -> None:
    await qwait.until(lambda: tools_listed(playground))
    playground.tree.search.setText("issues pull")
    group = playground.tree.filter.index(0, 0)
    assert [
        playground.tree.filter.index(n, 0, group).data() for n in range(playground.tree.filter.rowCount(group))
    ] == ["search_issues"]
    QTest.keyClick(playground.tree.search, Qt.Key.Key_Return)
    assert playground._current.tool == "search_issues"


async def test_a_call_sends_exactly_the_arguments_that_the_raw_json_shows(playground, tool_server, qwait) -> None:
    sent = '{"query": "crash", "per_page": 9007199254740993, "sort": null, "more": [1.0, true]}'
    await choose(playground, "search_issues", qwait, sent)
    playground.run_button.click()  # 9007199254740993 is above the schema's maximum
    assert playground.run_button.text() == "Run anyway"
    assert tool_server.calls == []
    playground.run_button.click()
    await qwait.until(lambda: tool_server.calls)
    assert json.dumps(tool_server.calls[0][1]) == json.dumps(json.loads(sent))
    await qwait.until(lambda: playground._current.end is not None)


async def test_a_result_of_flat_objects_is_a_table_and_its_structure_a_tree(playground, qwait) -> None:
    await run(playground, "search_issues", qwait, '{"query": "crash"}')
    table = shown(playground, RowsTable)
    assert [table.model().headerData(n, Qt.Orientation.Horizontal) for n in range(4)] == [
        "Issue",
        "Title",
        "State",
        "Updated",
    ]
    assert table.model().index(0, 1).data() == "Crash on start when config.toml is empty"
    assert "Done in" in words(playground.outcome)
    assert "5 rows" in playground.outcome._about.accessibleName()
    playground.outcome.tabs.setCurrentIndex(STRUCTURED)
    tree = shown(playground, JsonTree)
    issues = tree.model().index(0, 0)
    assert (issues.data(), issues.siblingAtColumn(1).data()) == ("issues", "[5]")
    assert tree.model().index(0, 0, tree.model().index(4, 0, issues)).siblingAtColumn(1).data() == '"#4698"'
    playground.outcome.tabs.setCurrentIndex(RAW)
    raw = shown(playground, LongText)
    assert json.loads(raw.view.toPlainText())["structuredContent"]["issues"][0]["Issue"] == "#4812"


async def test_progress_is_shown_and_cancel_reaches_the_server(playground, tool_server, qwait) -> None:
    await choose(playground, "slow", qwait)
    playground.run_button.setFocus()
    playground.run_button.click()
    bar = shown(playground, QProgressBar)
    await qwait.until(lambda: bar.value() == 62 and bar.maximum() == 100)
    said = words(playground.outcome)
    assert "62 %" in said
    assert "s of at most 30 s" in said
    assert "Searching repository 3 of 5…" in bar.accessibleDescription()
    assert (playground.run_button.text(), playground.run_button.isEnabled()) == ("Running…", False)
    assert playground.outcome.running.cancel.hasFocus()
    playground.outcome.running.cancel.click()
    await asyncio.wait_for(tool_server.cancelled.wait(), 10)
    await qwait.until(lambda: playground._current.end is not None)
    assert playground._current.end.outcome == "cancelled"
    assert "You stopped the call" in words(playground.outcome)
    assert playground.run_button.isEnabled()


async def test_escape_gives_up_a_running_call_and_then_closes_the_window(playground, tool_server, qwait) -> None:
    await choose(playground, "slow", qwait)
    playground.run_button.click()
    QTest.keyClick(playground, Qt.Key.Key_Escape)
    await qwait.until(lambda: playground._current.end is not None)
    assert playground._current.end.outcome == "cancelled"
    assert playground.isVisible()
    QTest.keyClick(playground, Qt.Key.Key_Escape)
    assert not playground.isVisible()


async def test_another_tool_can_be_used_while_one_runs(playground, tool_server, qwait) -> None:
    await choose(playground, "slow", qwait)
    playground.run_button.click()
    await asyncio.wait_for(tool_server.waiting.wait(), 10)
    await run(playground, "echo", qwait, '{"k": 1}')
    assert "Done in" in words(playground.outcome)
    tool_server.go_on.set()
    slow = playground._sessions["github", "slow"]
    await qwait.until(lambda: slow.end is not None)
    assert slow.end.outcome == "ok"
    assert playground._current.tool == "echo"
    await choose(playground, "slow", qwait)
    assert shown(playground, LongText).view.toPlainText() == "done"


async def test_a_tool_that_says_no_is_told_from_a_protocol_error(playground, qwait) -> None:
    await run(playground, "says_no", qwait)
    assert "The tool said no" in words(playground.outcome)
    assert shown(playground, LongText).view.toPlainText() == "no such issue"
    await run(playground, "breaks", qwait)
    said = words(playground.outcome)
    assert "Protocol error" in said
    assert "the index is gone (code -32042)" in said
    assert '"index": "main"' in shown(playground, LongText).view.toPlainText()
    playground.outcome.tabs.setCurrentIndex(RAW)
    raw = shown(playground, LongText).view.toPlainText()
    assert json.loads(raw)["error"] == {"code": -32042, "message": "the index is gone", "data": {"index": "main"}}


async def test_a_call_that_takes_too_long_is_said_to_be_timed_out(playground, workspace, qwait) -> None:
    await workspace.hub.update_server(replace(workspace.hub.get_server("github"), timeout=0.2))
    await run(playground, "slow", qwait)
    assert playground._current.end.outcome == "timeout"
    said = words(playground.outcome)
    assert "Timed out" in said
    assert "timed out after 0.2 s" in said


async def test_a_server_that_stopped_is_said_to_be_not_connected(playground, workspace, qwait) -> None:
    await choose(playground, "echo", qwait, '{"k": 1}')
    session, info = playground._current, playground._current.info
    await workspace.hub.stop("github")
    await qwait.until(lambda: session.info is None)
    assert not playground.run_button.isEnabled()
    assert "github is not ready" in playground._about.accessibleName()
    session.info = info  # as if Run had been pressed a moment before
    playground.on_run()
    await qwait.until(lambda: session.end is not None)
    assert session.end.outcome == "not_connected"
    assert "Not connected" in words(playground.outcome)
    session.info = None
    await workspace.hub.start("github")
    await qwait.until(lambda: session.info is not None)
    assert playground._current is session
    assert playground.arguments.arguments() == {"k": 1}
    assert playground.run_button.isEnabled()


async def test_a_filter_changes_the_list_at_once_and_a_blocked_call_is_refused(playground, workspace, qwait) -> None:
    await choose(playground, "echo", qwait)
    before = workspace.hub.get_server("github")
    session, info = playground._current, playground._current.info
    await workspace.hub.update_server(replace(before, filters=Filters(tools=Patterns(block=("echo",)))))
    await qwait.until(lambda: "echo" not in tools_listed(playground))
    assert len(tools_listed(playground)) == 8
    session.info = info  # as if Run had been pressed a moment before the change
    playground.on_run()
    await qwait.until(lambda: session.end is not None)
    assert session.end.outcome == "blocked"
    assert "Blocked by a filter" in words(playground.outcome)


async def test_switching_tools_never_sends_another_tools_values(playground, tool_server, qwait) -> None:
    await choose(playground, "add", qwait, '{"a": 1, "b": 2}')
    await choose(playground, "multiply", qwait)
    assert playground.arguments.arguments() == {}
    await run(playground, "multiply", qwait, '{"a": 3, "b": 4}')
    await run(playground, "add", qwait)
    assert tool_server.calls == [("multiply", {"a": 3, "b": 4}), ("add", {"a": 1, "b": 2})]


async def test_run_points_out_what_is_missing_before_it_sends_it(playground, tool_server, qwait) -> None:
    await choose(playground, "add", qwait)
    QTest.keyClick(playground, Qt.Key.Key_Return, Qt.KeyboardModifier.ControlModifier)
    assert tool_server.calls == []
    assert words(playground.arguments).count("needed") >= 2
    assert playground.run_button.text() == "Run anyway"
    QTest.keyClick(playground, Qt.Key.Key_Return, Qt.KeyboardModifier.ControlModifier)
    await qwait.until(lambda: tool_server.calls == [("add", {})])
    await qwait.until(lambda: playground._current.end is not None)


async def test_raw_json_that_is_not_valid_is_never_sent(playground, tool_server, qwait) -> None:
    await choose(playground, "echo", qwait, '{"a": ')
    playground.run_button.click()
    playground.run_button.click()
    assert playground._current.call is None
    assert tool_server.calls == []


async def test_every_content_block_is_shown_in_order_and_text_stays_plain(playground, qwait) -> None:
    await run(playground, "content", qwait)
    texts = [text.view.toPlainText() for text in playground.outcome.findChildren(LongText)]
    assert texts == ["first <b>not bold</b>", "embedded", "last"]
    assert [(p.picture.width(), p.picture.height()) for p in playground.outcome.findChildren(Picture)] == [(64, 32)]
    assert len(playground.outcome.findChildren(LinkView)) == 1
    said = "\n".join(label.text() for label in playground.outcome.findChildren(QLabel))
    for part in (
        "not valid base64",
        "This picture cannot be shown",
        "Audio · audio/wav · 60",
        "file:///tmp/../etc/report.pdf",
        "mem://notes · text/plain · 8",
        "mem://a/r.pdf · application/pdf · 8",
    ):
        assert part in said
    buttons = [button.text() for button in playground.outcome.findChildren(QAbstractButton)]
    assert buttons.count("Save…") == 5
    assert buttons.count("Open") == 1


async def test_a_long_text_is_cut_until_all_of_it_is_asked_for(playground, qwait) -> None:
    await run(playground, "long_text", qwait)
    text = shown(playground, LongText)
    assert len(text.view.toPlainText()) == 200_000
    [more] = [button for button in text.findChildren(QAbstractButton) if button.text() == "Show all"]
    more.click()
    assert len(text.view.toPlainText()) == 300_100
    assert not more.isVisible()


async def test_calls_are_in_the_history_also_after_a_restart(playground, workspace, history, qwait) -> None:
    await run(playground, "search_issues", qwait, '{"query": "crash", "state": "open"}')
    await run(playground, "breaks", qwait)
    await qwait.until(lambda: [call.tool for call in playground.history.model.calls] == ["breaks", "search_issues"])
    kept = HistoryStore(history.path)

    async def saved() -> list[str]:
        return [call.tool for call in await kept.load()]

    while await saved() != ["breaks", "search_issues"]:
        await asyncio.sleep(0.01)
    again = PlaygroundDialog(workspace, kept)
    again.show()
    await qwait.until(lambda: len(again.history.model.calls) == 2)
    again.refresh()
    await qwait.until(lambda: tools_listed(again))
    again.history.on_row_chosen(again.history.model.index(1, 0))
    assert again._current.tool == "search_issues"
    assert again.arguments.arguments() == {"query": "crash", "state": "open"}
    combo = next(c for c in again.arguments.findChildren(QComboBox) if c.accessibleName() == "state")
    assert combo.currentText() == "open"
    assert shown(again, RowsTable) is not None
    again.history.on_row_chosen(again.history.model.index(0, 0))
    assert "-32042" in words(again.outcome)
    again.history.clear.click()
    await qwait.until(lambda: not history.path.exists())
    assert again.history.model.calls == []
    await again.shut()
    again.close()
    again.deleteLater()


async def test_a_call_is_copied_as_json_rpc_python_and_a_command(playground, qwait) -> None:
    await choose(playground, "echo", qwait, '{"k": "it\'s"}')
    copied = {}
    for form in ("json-rpc", "python", "command"):
        playground.outcome.copy_requested.emit(form)
        copied[form] = QGuiApplication.clipboard().text()
    assert json.loads(copied["json-rpc"])["params"] == {"name": "echo", "arguments": {"k": "it's"}}
    assert "import subprocess" in copied["python"]
    assert copied["command"].startswith("mcp-patchbay call github echo ")
    QGuiApplication.clipboard().clear()


async def test_a_list_that_a_search_took_away_comes_back_open(playground, qwait) -> None:
    await choose(playground, "slow", qwait)
    tree = playground.tree
    tree.search.setText("no tool is called so")
    assert tree.filter.rowCount() == 0
    tree.search.clear()
    group = tree.filter.index(0, 0)
    assert tree.view.isExpanded(group)
    assert group.data(Role.EXPANDED)


async def test_searching_does_not_leave_the_tool_that_is_shown(playground, qwait) -> None:
    await choose(playground, "slow", qwait)
    playground.tree.search.setText("echo")
    assert playground._current.tool == "slow"
    playground.tree.search.clear()
    assert playground._current.tool == "slow"
    assert playground.tree.view.currentIndex().data() == "slow"


async def test_the_list_does_not_jump_when_servers_change(playground, workspace, qwait) -> None:
    await choose(playground, "slow", qwait)
    view = playground.findChild(QTreeView)
    current = view.currentIndex()
    before = workspace.hub.get_server("github")
    await workspace.hub.update_server(replace(before, filters=Filters(tools=Patterns(block=("add", "echo")))))
    await qwait.until(lambda: len(tools_listed(playground)) == 7)
    assert view.currentIndex().data() == "slow"
    assert view.isExpanded(current.parent())
    await workspace.hub.update_server(before)
    await qwait.until(lambda: len(tools_listed(playground)) == 9)
    assert view.currentIndex().data() == "slow"


async def test_it_works_before_the_engine_is_there(workspace, history, qwait) -> None:
    hub, workspace.hub = workspace.hub, None
    early = PlaygroundDialog(workspace, history)
    early.show()
    early.select("github", "echo")
    await qwait.until(lambda: "not started yet" in words(early.tree))
    assert not early.run_button.isEnabled()
    workspace.hub = hub
    early.refresh()
    await qwait.until(lambda: early._current is not None)
    assert early._current.tool == "echo"
    await early.shut()
    early.close()
    early.deleteLater()


async def test_it_remembers_its_place_and_its_parts(workspace, history, tmp_path, qapp) -> None:
    settings = QSettings(str(tmp_path / "window.ini"), QSettings.Format.IniFormat)
    first = PlaygroundDialog(workspace, history, settings)
    first.resize(first.minimumSizeHint().width(), 650)  # no screen is too narrow for it
    first.show()
    qapp.processEvents()
    first._splitters["rows"].setSizes([250, 350])
    sizes = first._splitters["rows"].sizes()
    first.close()
    second = PlaygroundDialog(workspace, history, settings)
    second.show()
    qapp.processEvents()
    assert second.size() == first.size()
    assert second._splitters["rows"].sizes() == sizes
    for dialog in (first, second):
        await dialog.shut()
        dialog.close()
        dialog.deleteLater()


async def test_every_control_has_an_accessible_name(playground, qwait) -> None:
    await run(playground, "search_issues", qwait, '{"query": "x", "filters": [{"field": "label"}]}')
    for kind in (QAbstractButton, QLineEdit, QComboBox, QTreeView):
        for widget in playground.findChildren(kind):
            if widget.isVisible() and widget.focusPolicy() != Qt.FocusPolicy.NoFocus:
                parent = widget.parentWidget()
                named = widget.accessibleName() or getattr(widget, "text", str)() or parent.accessibleName()
                assert named, f"{widget} in {parent} has no name"
