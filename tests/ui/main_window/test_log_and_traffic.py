"""Log and traffic: rings that grow at the end and lose at the front, and a view that respects its reader."""

from __future__ import annotations

import json

import pytest
from PySide6.QtGui import QGuiApplication
from PySide6.QtTest import QAbstractItemModelTester
from PySide6.QtWidgets import QFileDialog

from mcp_patchbay.domain.records import LogLine, TrafficEntry
from mcp_patchbay.engine.rings import LogRing, TrafficRing
from mcp_patchbay.ui.details.log_page import LogPage
from mcp_patchbay.ui.details.traffic_page import TrafficPage, json_line
from mcp_patchbay.ui.models.log_model import LogColumn, LogModel
from mcp_patchbay.ui.models.traffic_model import TrafficColumn, TrafficModel
from mcp_patchbay.ui.window_tasks import WindowTasks


def write(ring: LogRing, *texts: str, level: str = "info") -> None:
    for text in texts:
        ring.append(LogLine(1000.0, "stderr", level, text.encode()))


def texts(model: LogModel) -> list[str]:
    return [model.index(row, LogColumn.TEXT).data() for row in range(model.rowCount())]


@pytest.fixture
def errors():
    return []


@pytest.fixture
def log_page(qapp, errors):
    page = LogPage(WindowTasks(errors.append))
    page.resize(700, 300)
    page.show()
    yield page
    page.deleteLater()


@pytest.fixture
def traffic_page(qapp, errors):
    page = TrafficPage(WindowTasks(errors.append))
    page.resize(900, 400)
    page.show()
    yield page
    page.deleteLater()


def test_the_model_follows_a_ring_that_loses_its_oldest_lines(qapp):
    ring = LogRing(max_items=3)
    model = LogModel()
    QAbstractItemModelTester(model, QAbstractItemModelTester.FailureReportingMode.Warning, model)
    model.set_ring(ring)
    write(ring, "a", "b")
    model.refresh()
    assert texts(model) == ["a", "b"]
    write(ring, "c", "d")
    model.refresh()
    assert texts(model) == ["b", "c", "d"]
    write(ring, *"efghij")
    model.refresh()
    assert texts(model) == ["h", "i", "j"]


def test_lines_that_are_gone_before_they_were_seen_do_no_harm(qapp):
    ring = LogRing(max_items=2)
    model = LogModel()
    model.set_ring(ring)
    write(ring, "a", "b")
    model.refresh()
    write(ring, "c", "d", "e")
    assert model.index(0, LogColumn.TEXT).data() in ("a", None)
    model.refresh()
    assert texts(model) == ["d", "e"]


def test_a_cleared_view_shows_only_what_comes_after(qapp):
    ring = LogRing()
    model = LogModel()
    model.set_ring(ring)
    write(ring, "a", "b")
    model.refresh()
    model.clear()
    write(ring, "c")
    model.refresh()
    assert texts(model) == ["c"]
    assert len(ring) == 3


def test_the_log_stays_at_the_end_while_its_end_is_in_view(log_page, qapp):
    ring = LogRing()
    log_page.show_ring("a", ring)
    for number in range(200):
        write(ring, f"line {number}")
    log_page.on_grew()
    qapp.processEvents()
    bar = log_page.table.verticalScrollBar()
    assert bar.maximum() > 0
    assert bar.value() == bar.maximum()


def test_a_reader_of_older_lines_is_left_alone(log_page, qapp):
    ring = LogRing(max_items=300)
    log_page.show_ring("a", ring)
    for number in range(250):
        write(ring, f"line {number}")
    log_page.on_grew()
    qapp.processEvents()
    table = log_page.table
    table.verticalScrollBar().setValue(100 * 22)
    assert not table.is_following()
    seen = table.indexAt(table.viewport().rect().topLeft()).siblingAtColumn(LogColumn.TEXT).data()
    for number in range(250, 330):
        write(ring, f"line {number}")
    log_page.on_grew()
    qapp.processEvents()
    assert table.indexAt(table.viewport().rect().topLeft()).siblingAtColumn(LogColumn.TEXT).data() == seen
    assert not table.is_following()
    table.jump_to_end()
    assert table.is_following()


def test_the_log_can_be_searched_and_narrowed_to_a_level(log_page):
    ring = LogRing()
    write(ring, "apple", "pear")
    write(ring, "apple is rotten", level="error")
    log_page.show_ring("a", ring)
    log_page.search.setText("apple")
    assert log_page.table.model().rowCount() == 2
    log_page.level.setCurrentIndex(log_page.level.findData("error"))
    assert log_page.table.model().rowCount() == 1


def test_a_hidden_log_reads_nothing_until_it_is_seen(log_page):
    ring = LogRing()
    log_page.show_ring("a", ring)
    log_page.hide()
    write(ring, "a")
    log_page.on_grew()
    assert log_page.model.rowCount() == 0
    log_page.show()
    assert log_page.model.rowCount() == 1


def test_selected_lines_are_copied_whole_and_in_order(log_page):
    ring = LogRing()
    write(ring, "first", "second")
    log_page.show_ring("a", ring)
    log_page.table.selectAll()
    log_page.table.copy_selection()
    lines = QGuiApplication.clipboard().text().splitlines()
    assert [line.split()[-1] for line in lines] == ["first", "second"]


async def test_the_log_is_saved_as_it_is_shown(log_page, tmp_path, qwait):
    ring = LogRing()
    write(ring, "ä")
    log_page.show_ring("a", ring)
    file = tmp_path / "a.log"
    log_page.save()
    dialog = log_page.findChild(QFileDialog)
    dialog.fileSelected.emit(str(file))
    dialog.close()
    await qwait.until(lambda: file.exists() and file.read_text("utf-8").endswith("stderr  info  ä\n"))


async def test_a_file_that_cannot_be_written_is_said(log_page, tmp_path, qwait, errors):
    log_page.save()
    dialog = log_page.findChild(QFileDialog)
    dialog.fileSelected.emit(str(tmp_path / "no" / "such" / "folder"))
    dialog.close()
    await qwait.until(lambda: errors)
    assert isinstance(errors[0], FileNotFoundError)


def message(direction: str, time: float, **body: object) -> TrafficEntry:
    return TrafficEntry(time, direction, json.dumps({"jsonrpc": "2.0", **body}).encode())  # type: ignore[arg-type]


def test_an_answer_names_the_request_it_belongs_to_and_how_long_it_took(qapp):
    ring = TrafficRing()
    model = TrafficModel()
    QAbstractItemModelTester(model, QAbstractItemModelTester.FailureReportingMode.Warning, model)
    ring.append(message("out", 10.0, id=1, method="tools/list"))
    ring.append(message("in", 10.1, id=1, method="ping"))  # the server's own request may have the same id
    ring.append(message("out", 10.2, id=1, result={}))
    ring.append(message("in", 10.5, id=1, error={"code": -1, "message": "no"}))
    model.set_ring(ring)
    methods = [model.index(row, TrafficColumn.METHOD).data() for row in range(4)]
    assert methods == ["tools/list", "ping", "ping · result", "tools/list · error"]
    assert model.index(3, TrafficColumn.TOOK).data() == "500 ms"
    assert model.index(3, TrafficColumn.DIRECTION).data(11) == "received"  # AccessibleTextRole


def test_odd_traffic_is_listed_and_breaks_nothing(qapp):
    ring = TrafficRing()
    model = TrafficModel()
    for raw in (b"[1]", b"\xff\xfe", b"", b'{"id": {"a": 1}, "result": 1}'):
        ring.append(TrafficEntry(1.0, "in", raw))
    model.set_ring(ring)
    assert [bool(model.index(row, TrafficColumn.METHOD).data()) for row in range(4)] == [True] * 4


def test_a_selected_message_is_shown_indented(traffic_page):
    ring = TrafficRing()
    ring.append(message("out", 1.0, id=1, method="ping"))
    traffic_page.show_ring("a", ring)
    traffic_page.table.selectRow(0)
    assert '\n  "method": "ping"' in traffic_page.body.toPlainText()


def test_traffic_is_saved_as_one_json_object_a_line():
    lines = [json_line(message("in", 2.5, id=7, result="ü")), json_line(TrafficEntry(3.0, "in", b"oops"))]
    assert json.loads(lines[0]) == {
        "time": 2.5,
        "direction": "in",
        "message": {"jsonrpc": "2.0", "id": 7, "result": "ü"},
    }
    assert json.loads(lines[1]) == {"time": 3.0, "direction": "in", "raw": "oops"}
