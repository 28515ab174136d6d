"""Processes that this app started and lost in a crash: found and ended at the next start, never anyone else's."""

from __future__ import annotations

import asyncio
import logging
import os
import time
import uuid
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any

import psutil

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from mcp_patchbay.domain.ports import Memory

log = logging.getLogger(__name__)

MARKER = "PATCHBAY_OWNER"
"""The variable in a server's environment that names the run of the app that started it."""
RUN = uuid.uuid4().hex
"""This run of the app."""

TOPIC, KEY = "processes", "started"
SAME_TIME = 2.0
"""Seconds that two readings of one process's start may differ: it is counted from boot, and clocks are set."""
GRACE = 3.0
"""Seconds that an orphan gets to end when asked, before it is killed."""


@dataclass(frozen=True, slots=True)
class Entry:
    """A started process: its pid and start (Unix seconds), the run that started it, and that run's own process."""

    pid: int
    started: float
    run: str
    app_pid: int
    app_started: float


def marker() -> dict[str, str]:
    """What a server's environment must hold for its process to be found again."""
    return {MARKER: RUN}


async def record(ledger: Memory, pid: int) -> None:
    """Write down that this run started the process `pid`, whose environment holds `marker()`."""
    started = await asyncio.to_thread(_start_of, pid)
    app_started = await asyncio.to_thread(_start_of, os.getpid())
    if started is not None and app_started is not None:
        entry = Entry(pid, started, RUN, os.getpid(), app_started)
        _remember(ledger, [*_entries(ledger, without=pid), entry])


def forget(ledger: Memory, pid: int) -> None:
    """Strike out a process that was ended in order."""
    entries = _entries(ledger)
    kept = [entry for entry in entries if entry.pid != pid]
    if len(kept) < len(entries):
        _remember(ledger, kept)


async def end_orphans(ledger: Memory) -> int:
    """End what earlier runs started and lost, with all that descends from it. Takes at most some seconds.

    A process is taken for ours only when its pid, its start and the marker in its environment agree with the ledger,
    and never while the run of the app that started it is still alive.

    Returns:
        how many processes were ended.
    """
    entries = _entries(ledger)
    if not entries:
        return 0
    lost = [entry for entry in entries if not await asyncio.to_thread(_app_lives, entry)]
    ended = await asyncio.to_thread(_end, lost) if lost else 0
    # Read again: others may have been recorded meanwhile.
    _remember(ledger, [entry for entry in _entries(ledger) if entry not in lost])
    return ended


def _entries(ledger: Memory, without: int | None = None) -> list[Entry]:
    entries = []
    for raw in ledger.recall(TOPIC, KEY) or []:
        try:
            entry = Entry(**raw)
        except TypeError:  # of another version
            continue
        if entry.pid != without:
            entries.append(entry)
    return entries


def _remember(ledger: Memory, entries: list[Entry]) -> None:
    ledger.remember(TOPIC, KEY, [asdict(entry) for entry in entries] or None)


def _start_of(pid: int) -> float | None:
    try:
        return psutil.Process(pid).create_time()
    except psutil.Error:
        return None


def _is_start(pid: int, started: float) -> bool:
    now = _start_of(pid)
    return now is not None and abs(now - started) <= SAME_TIME


def _app_lives(entry: Entry) -> bool:
    return entry.run == RUN or _is_start(entry.app_pid, entry.app_started)


def _end(lost: list[Entry]) -> int:
    processes = _orphans(lost)
    for process in processes:
        log.info("ending %s, left by an earlier run", process.pid)
    for ending in ("terminate", "kill"):
        _each(filter(_lives, processes), ending)
        deadline = time.monotonic() + GRACE
        while any(map(_lives, processes)) and time.monotonic() < deadline:
            time.sleep(0.05)
    return len(processes)


def _lives(process: psutil.Process) -> bool:
    """Whether it still runs. A zombie does not: it only waits for its parent to ask for its exit code."""
    try:
        return process.is_running() and process.status() != psutil.STATUS_ZOMBIE
    except psutil.Error:
        return False


def _each(processes: Iterable[psutil.Process], ending: str) -> None:
    for process in processes:
        try:
            getattr(process, ending)()  # psutil looks once more whether the pid is still that process
        except psutil.Error:
            continue


def _orphans(lost: list[Entry]) -> list[psutil.Process]:
    """The lost processes and, by their own marker, those that descend from them."""
    found: dict[int, psutil.Process] = {}
    sessions = {entry.pid: entry.run for entry in lost}
    starts = {entry.pid: entry.started for entry in lost}
    for process in psutil.process_iter():
        run = sessions.get(_session_of(process))
        if run is None or _marker_of(process) != run:
            continue
        if process.pid not in starts or _is_start(process.pid, starts[process.pid]):
            found[process.pid] = process
    for process in list(found.values()):
        for child in _descendants(process):
            found.setdefault(child.pid, child)
    return list(found.values())


def _session_of(process: psutil.Process) -> int:
    """The session a process belongs to; each server leads one of its own. Windows has none."""
    try:
        return os.getsid(process.pid) if hasattr(os, "getsid") else process.pid
    except OSError:
        return -1


def _marker_of(process: psutil.Process) -> str | None:
    try:
        environment: Mapping[str, Any] = process.environ()
    except (psutil.Error, OSError):  # another user's process: not ours
        return None
    return environment.get(MARKER)


def _descendants(process: psutil.Process) -> list[psutil.Process]:
    try:
        return [child for child in process.children(recursive=True) if _marker_of(child) == _marker_of(process)]
    except psutil.Error:
        return []
