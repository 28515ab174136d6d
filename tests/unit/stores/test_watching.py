"""Changes of servers.json from outside: noticed, waited for, and never taken for "no servers"."""

from __future__ import annotations

import asyncio
import contextlib
import os
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING

import pytest

from checks.waiting import until
from mcp_patchbay.domain.servers import ServerSpec
from mcp_patchbay.stores.servers_file import ServersFile

if TYPE_CHECKING:
    from collections.abc import AsyncIterator
    from pathlib import Path

ONE = '{"servers": {"a": {"id": "a", "command": "x"}}}'
TWO = '{"servers": {"a": {"id": "a", "command": "x"}, "b": {"id": "b", "command": "y"}}}'


class Watched:
    """A file under watch, and what the watching gave."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self.file = ServersFile(path, settle=0.8, look_every=0.2)
        self.news: list[list[str]] = []

    def last_is(self, names: list[str]) -> bool:
        return self.news[-1:] == [names]

    async def run(self) -> None:
        async with contextlib.aclosing(self.file.watch()) as changes:
            async for specs in changes:
                self.news.append([spec.name for spec in specs])


@pytest.fixture
async def watched(tmp_path: Path) -> AsyncIterator[Watched]:
    path = tmp_path / "servers.json"
    path.write_text(ONE)
    watched = Watched(path)
    watched.file.load()
    task = asyncio.create_task(watched.run())
    yield watched
    task.cancel()
    with contextlib.suppress(asyncio.CancelledError):
        await task


async def test_an_edit_in_place_is_noticed(watched: Watched) -> None:
    watched.path.write_text(TWO)
    await until(lambda: watched.news == [["a", "b"]])


async def test_an_editor_that_writes_by_rename_is_noticed_every_time(watched: Watched) -> None:
    for text, names in ((TWO, ["a", "b"]), (ONE, ["a"]), (TWO, ["a", "b"])):
        other = watched.path.with_name("servers.json.swp")
        other.write_text(text)
        os.replace(other, watched.path)
        await until(partial(watched.last_is, names))


async def test_what_we_write_ourselves_is_not_reported(watched: Watched) -> None:
    def switched_off(servers: dict[str, ServerSpec]) -> dict[str, ServerSpec]:
        return {name: replace(spec, enabled=False) for name, spec in servers.items()}

    await asyncio.to_thread(watched.file.change, switched_off)
    watched.path.write_text(TWO)
    await until(lambda: watched.news)
    assert watched.news == [["a", "b"]]


async def test_an_outside_edit_that_takes_our_change_back_is_reported(watched: Watched) -> None:
    await asyncio.to_thread(watched.file.change, lambda _servers: {})
    assert watched.file.latest == ()
    watched.path.write_text(ONE)
    await until(lambda: watched.news == [["a"]])


async def test_a_half_written_file_is_read_again_a_moment_later(watched: Watched) -> None:
    looked = asyncio.Event()
    look = watched.file._look

    def seen() -> tuple[bool, bool]:
        outcome = look()
        if outcome == (True, False):
            loop.call_soon_threadsafe(looked.set)
        return outcome

    loop = asyncio.get_running_loop()
    watched.file._look = seen  # type: ignore[method-assign]
    watched.path.write_text(TWO[: len(TWO) // 2])
    await asyncio.wait_for(looked.wait(), 10)
    assert watched.file.problem is None
    watched.path.write_text(TWO)
    await until(lambda: watched.news)
    assert watched.news == [["a", "b"]]


async def test_a_file_that_stays_damaged_is_a_problem_and_the_servers_stay_as_they_were(watched: Watched) -> None:
    watched.path.write_text(TWO[:-5])
    await until(lambda: watched.file.problem)
    await until(lambda: watched.news)
    assert watched.news == [["a"]]
    watched.path.write_text(TWO)
    await until(lambda: watched.file.problem is None)
    await until(lambda: watched.news == [["a"], ["a", "b"]])


async def test_a_deleted_file_means_no_servers_only_when_it_stays_away(watched: Watched) -> None:
    watched.path.unlink()
    watched.path.write_text(TWO)
    await until(lambda: watched.news == [["a", "b"]])
    watched.path.unlink()
    await until(lambda: watched.news == [["a", "b"], []])
    assert watched.file.problem is None


async def test_a_change_that_only_touches_a_comment_is_no_news(watched: Watched) -> None:
    watched.path.write_text("// hello\n" + ONE)
    await until(lambda: watched.file._known is not None and watched.file._known.startswith(b"// hello"))
    watched.path.write_text(TWO)
    await until(lambda: watched.news)
    assert watched.news == [["a", "b"]]
