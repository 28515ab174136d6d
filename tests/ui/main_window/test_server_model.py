"""The status table's model: what it says of a server, and how little it touches when something changes."""

from __future__ import annotations

from dataclasses import replace

import pytest
from PySide6.QtCore import QPersistentModelIndex, Qt
from PySide6.QtTest import QAbstractItemModelTester

from mcp_patchbay.domain.errors import field_error
from mcp_patchbay.domain.servers import InvalidServer, ServerSpec, StdioServer
from mcp_patchbay.domain.state import ServerState, Snapshot
from mcp_patchbay.ui.delegates import Role
from mcp_patchbay.ui.models.server_facts import target_line
from mcp_patchbay.ui.models.server_model import Column, ServerModel
from mcp_patchbay.ui.models.sorted_model import SortedModel
from ui.main_window.sample_servers import sample_servers

NOW = 1_800_000_000.0


class Clock:
    now = NOW

    def __call__(self) -> float:
        return self.now


@pytest.fixture
def clock() -> Clock:
    return Clock()


@pytest.fixture
def model(qapp: object, clock: Clock) -> ServerModel:
    made = ServerModel(clock=clock)
    QAbstractItemModelTester(made, QAbstractItemModelTester.FailureReportingMode.Warning, made)
    made.set_servers(sample_servers(NOW))
    return made


def text(model: ServerModel, name: str, column: Column, role: int = Qt.ItemDataRole.DisplayRole) -> object:
    row = model.row_of(name)
    assert row is not None
    return model.index(row, column).data(role)


def changes_of(model: ServerModel) -> list[tuple[str, Column]]:
    """Fills up with the cells that the model says have changed."""
    heard: list[tuple[str, Column]] = []

    def on_changed(first: object, last: object, *_: object) -> None:
        assert first == last
        heard.append((model.snapshots()[first.row()].name, Column(first.column())))  # type: ignore[attr-defined]

    model.dataChanged.connect(on_changed)
    model.modelReset.connect(lambda: pytest.fail("a change must not reset the table"))
    return heard


def test_a_call_touches_only_the_cells_that_show_calls_and_latency(model):
    heard = changes_of(model)
    before = model.snapshot("fetch")
    model.update(replace(before, calls=10, latencies=(*before.latencies, 25.0)))
    assert heard == [("fetch", Column.LATENCY), ("fetch", Column.CALLS)]
    assert text(model, "fetch", Column.CALLS) == "10 / 0"


def test_an_update_that_changes_nothing_visible_touches_nothing(model):
    heard = changes_of(model)
    model.update(replace(model.snapshot("fetch"), pid=99))
    assert heard == []


def test_news_of_an_unknown_server_is_ignored(model):
    heard = changes_of(model)
    model.update(Snapshot(ServerSpec("stranger", StdioServer("x")), ServerState.READY))
    assert heard == []
    assert model.row_of("stranger") is None


def test_rows_that_stay_keep_their_place_in_a_selection(model):
    kept = QPersistentModelIndex(model.index(model.row_of("time"), Column.NAME))
    model.modelReset.connect(lambda: pytest.fail("a new list must not reset the table"))
    servers = {snapshot.name: snapshot for snapshot in sample_servers(NOW)}
    new = Snapshot(ServerSpec("new", StdioServer("x")), ServerState.STOPPED)
    model.set_servers([servers["time"], new, servers["postgres"], servers["files"]])
    assert [snapshot.name for snapshot in model.snapshots()] == ["time", "new", "postgres", "files"]
    assert kept.data() == "time"
    assert kept.row() == 0


def test_time_touches_only_what_shows_time(model, clock):
    heard = changes_of(model)
    clock.now += 1
    model.tick()
    assert set(heard) == {("memory", Column.STATE), ("memory", Column.SINCE), ("playwright", Column.SINCE)}
    assert text(model, "memory", Column.STATE) == "Retrying in 7 s"
    assert text(model, "memory", Column.SINCE) == "41 s"


def test_a_retry_that_is_due_shows_no_seconds(model, clock):
    clock.now += 60
    model.tick()
    assert text(model, "memory", Column.STATE) == "Retrying"


def test_tools_and_latency_are_unknown_while_a_server_is_not_ready(model):
    assert text(model, "postgres", Column.TOOLS) == "–"
    assert text(model, "postgres", Column.LATENCY) == "–"
    assert text(model, "files", Column.TOOLS) == "7 / 11"
    assert text(model, "github", Column.LATENCY) == "184 ms"


def test_errors_are_red_only_above_zero(model):
    assert text(model, "postgres", Column.CALLS, Role.TONE) == "error"
    assert text(model, "time", Column.CALLS, Role.TONE) is None


@pytest.mark.parametrize(
    ("name", "link"),
    [("postgres", "Retry"), ("sentry", "Sign in…"), ("pasted", "Start"), ("memory", ""), ("files", ""), ("linear", "")],
)
def test_the_message_offers_the_one_thing_that_helps(model, name, link):
    assert text(model, name, Column.MESSAGE, Role.LINK) == link


def test_only_a_failure_is_red(model):
    tones = {s.name: text(model, s.name, Column.MESSAGE, Role.TONE) for s in model.snapshots()}
    assert [name for name, tone in tones.items() if tone == "error"] == ["postgres"]


def test_an_entry_that_cannot_be_used_is_off_and_says_why(model):
    broken = InvalidServer(field_error("args", "must be a list"), {"command": "x", "args": "y"})
    model.set_servers([Snapshot(ServerSpec("broken", broken, enabled=False), ServerState.DISABLED)])
    assert text(model, "broken", Column.STATE) == "Off"
    assert text(model, "broken", Column.MESSAGE) == "args: must be a list"
    assert text(model, "broken", Column.MESSAGE, Role.LINK) == "Edit…"
    assert not model.index(0, Column.ON).flags() & Qt.ItemFlag.ItemIsUserCheckable


def test_the_switch_asks_and_waits_for_the_server(model):
    asked = []
    model.switch_requested.connect(lambda name, on: asked.append((name, on)))
    index = model.index(model.row_of("linear"), Column.ON)
    model.setData(index, Qt.CheckState.Checked, Qt.ItemDataRole.CheckStateRole)
    assert asked == [("linear", True)]
    assert Qt.CheckState(index.data(Qt.ItemDataRole.CheckStateRole)) == Qt.CheckState.Unchecked


def test_a_screen_reader_hears_state_switch_and_counts_in_words(model):
    spoken = Qt.ItemDataRole.AccessibleTextRole
    assert text(model, "linear", Column.ON, spoken) == "linear is switched off"
    assert text(model, "memory", Column.STATE, spoken) == "Retrying in 8 s"
    assert text(model, "files", Column.TOOLS, spoken) == "7 of 11 tools visible"
    assert text(model, "postgres", Column.CALLS, spoken) == "12 calls, 3 errors"
    assert text(model, "sentry", Column.MESSAGE, spoken) == "Sign in… to see its tools"


def test_markup_in_a_servers_words_is_shown_as_it_is(model):
    evil = ServerSpec("evil", StdioServer("<b>bold</b>"), description="<img src=x>")
    model.set_servers([Snapshot(evil, ServerState.STOPPED)])
    tip = text(model, "evil", Column.NAME, Qt.ItemDataRole.ToolTipRole)
    assert "<img" not in str(tip)
    assert "&lt;img" in str(tip)


def test_what_needs_a_person_is_sorted_first_and_ties_keep_the_files_order(model):
    table = SortedModel()
    table.setSourceModel(model)
    table.sort(Column.STATE)
    names = [table.index(row, Column.NAME).data() for row in range(table.rowCount())]
    assert names == [
        "postgres", "sentry", "memory", "playwright", "files", "github", "fetch", "time", "pasted", "linear",
    ]  # fmt: skip
    table.sort(Column.LATENCY)
    assert table.index(0, Column.NAME).data() == "files"
    assert table.headerData(Column.LATENCY, Qt.Orientation.Horizontal) == "Latency  ↑"


def test_a_search_finds_names_commands_and_states(model):
    table = SortedModel()
    table.setSourceModel(model)

    def found(words: str) -> list[str]:
        table.search(words)
        return [table.index(row, Column.NAME).data() for row in range(table.rowCount())]

    assert found("UVX time") == ["time"]
    assert found("sign-in") == ["sentry"]
    assert found("sse") == ["linear"]
    assert found("no such thing") == []
    assert len(found("")) == 10


def test_a_search_follows_what_changes(model):
    table = SortedModel()
    table.setSourceModel(model)
    table.search("failed")
    assert table.rowCount() == 1
    model.update(replace(model.snapshot("postgres"), state=ServerState.READY, error=None))
    assert table.rowCount() == 0


def test_a_url_is_shown_without_its_password():
    from mcp_patchbay.domain.servers import HttpServer

    assert target_line(ServerSpec("a", HttpServer("https://me:hunter2@example.org/mcp"))) == "example.org/mcp"
