"""The history of calls on disk."""

from __future__ import annotations

import asyncio
import json
import stat
import sys
from dataclasses import replace
from typing import TYPE_CHECKING

import pytest

from mcp_patchbay.stores.history import MAX_RESULT, HistoryStore, PastCall

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

CALL = PastCall(1000.5, "github", "search", {"q": "é", "n": 2**60}, "ok", 0.25, "", {"content": [], "isError": False})


@pytest.fixture
def store(tmp_path: Path) -> HistoryStore:
    return HistoryStore(tmp_path / "state" / "history.jsonl")


async def test_calls_come_back_after_a_restart_newest_first(store: HistoryStore) -> None:
    failed = replace(CALL, at=1001.0, outcome="protocol", note="-32601", result=None)
    await store.add(CALL)
    await store.add(failed)
    assert await HistoryStore(store.path).load() == [failed, CALL]


async def test_without_a_file_there_is_no_history(store: HistoryStore) -> None:
    assert await store.load() == []
    assert not store.path.exists()


@pytest.mark.skipif(sys.platform == "win32", reason="POSIX modes")
async def test_the_file_is_for_its_user_alone(store: HistoryStore) -> None:
    await store.add(CALL)
    assert stat.S_IMODE(store.path.stat().st_mode) == 0o600
    assert stat.S_IMODE(store.path.parent.stat().st_mode) == 0o700


async def test_clearing_forgets_everything(store: HistoryStore) -> None:
    await store.add(CALL)
    await store.clear()
    assert await store.load() == []
    assert not store.path.exists()
    await store.clear()


async def test_a_torn_last_line_costs_only_itself(store: HistoryStore) -> None:
    await store.add(CALL)
    with store.path.open("ab") as stream:
        stream.write(b'{"at": 1, "server": "gi')
    await store.add(replace(CALL, at=2000.0))
    assert [call.at for call in await store.load()] == [2000.0, 1000.5]


@pytest.mark.parametrize(
    "line",
    [
        b"[]",
        b"nonsense",
        b"\xff\xfe",
        b"{}",
        json.dumps({"at": "x", "server": "a", "tool": "b", "arguments": {}, "outcome": "ok", "seconds": 1}).encode(),
        json.dumps({"at": 1, "server": "a", "tool": "b", "arguments": [], "outcome": "ok", "seconds": 1}).encode(),
        json.dumps({"at": 1, "server": "a", "tool": "b", "arguments": {}, "outcome": "?", "seconds": 1}).encode(),
    ],
)
async def test_lines_that_are_no_calls_are_passed_over(store: HistoryStore, line: bytes) -> None:
    await store.add(CALL)
    with store.path.open("ab") as stream:
        stream.write(line + b"\n")
    assert await store.load() == [CALL]


async def test_the_file_stays_bounded_in_calls(tmp_path: Path) -> None:
    store = HistoryStore(tmp_path / "history.jsonl", max_calls=5)
    for n in range(23):
        await store.add(replace(CALL, at=float(n)))
    assert [call.at for call in await store.load()] == [22.0, 21.0, 20.0, 19.0, 18.0]
    assert len(store.path.read_bytes().splitlines()) <= 10


async def test_the_file_stays_bounded_in_bytes(tmp_path: Path) -> None:
    store = HistoryStore(tmp_path / "history.jsonl", max_file=20_000)
    for n in range(50):
        await store.add(replace(CALL, at=float(n), arguments={"text": "x" * 1000}))
        assert store.path.stat().st_size <= 20_000
    assert (await store.load())[0].at == 49.0


async def test_a_large_result_is_not_kept_but_its_call_is(store: HistoryStore) -> None:
    await store.add(replace(CALL, result={"content": ["x" * MAX_RESULT]}))
    assert await store.load() == [replace(CALL, result=None)]


async def test_two_copies_of_the_app_do_not_lose_each_others_calls(tmp_path: Path) -> None:
    stores = [HistoryStore(tmp_path / "history.jsonl", max_calls=40) for _ in range(2)]
    await asyncio.gather(*(stores[n % 2].add(replace(CALL, at=float(n))) for n in range(30)))
    assert sorted(call.at for call in await stores[0].load()) == [float(n) for n in range(30)]


async def test_a_disk_that_refuses_costs_the_history_only(tmp_path: Path, expect_log: Callable[[str], None]) -> None:
    (tmp_path / "file").write_text("in the way")
    store = HistoryStore(tmp_path / "file" / "history.jsonl")
    expect_log("could not be written")
    expect_log("could not be read")
    await store.add(CALL)
    assert await store.load() == []


def test_neither_arguments_nor_results_are_in_a_calls_repr() -> None:
    text = repr(replace(CALL, arguments={"q": "private"}, result={"content": "hidden"}))
    assert "private" not in text
    assert "hidden" not in text
