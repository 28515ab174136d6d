"""What a test starts it ends: child processes, threads and file descriptors are as before it, or it fails.

`@pytest.mark.leaves("thread", ...)` excuses a test from kinds of it, for what a library keeps by design.
"""

from __future__ import annotations

import gc
import os
import socket
import threading
import time
from collections.abc import Callable, Iterator

import psutil
import pytest

PATIENCE = 3.0  # seconds that what was ended gets to be gone
QT_OPENS = ("/bus", "at-spi", "X11-unix", "/dbus-", "/icon-theme.cache")  # when it likes, for good

Inventory = dict[str, dict[object, str]]
"""Kind ("process", "thread", "file") to what there is of it: a key, and words for people."""


def pytest_configure(config: pytest.Config) -> None:
    config.addinivalue_line("markers", "leaves(*kinds): may leave these behind: process, thread, file, widget")


def pytest_collection_finish() -> None:
    """All that was imported is here to stay: each later collection looks only at what the tests made."""
    gc.collect()
    gc.freeze()


def take_inventory() -> Inventory:
    """What this process has by now."""
    return {
        "process": {child.pid: _command(child) for child in psutil.Process().children(recursive=True)},
        "thread": {thread: repr(thread) for thread in threading.enumerate()},
        "file": _open_files(),
    }


def pump_nothing() -> None:
    """Outside of Qt, objects need no event loop to go."""


@pytest.fixture
def other_inventory() -> tuple[Callable[[], Inventory], Callable[[], None]]:
    """What else is counted, and what lets it go; the UI's tests count widgets."""
    return dict, pump_nothing


@pytest.fixture(autouse=True)
def nothing_left(
    request: pytest.FixtureRequest, other_inventory: tuple[Callable[[], Inventory], Callable[[], None]]
) -> Iterator[None]:
    take_others, pump = other_inventory
    excused = {kind for marker in request.node.iter_markers("leaves") for kind in marker.args}
    before = take_inventory() | take_others()
    yield
    deadline = time.monotonic() + PATIENCE
    while True:
        pump()
        gc.collect()
        after = take_inventory() | take_others()
        left = {
            kind: [words for key, words in there.items() if key not in before[kind]]
            for kind, there in after.items()
            if kind not in excused
        }
        left = {kind: words for kind, words in left.items() if words}
        if not left:
            return
        if time.monotonic() > deadline:
            pytest.fail(f"left behind: {left}")
        time.sleep(0.02)


def _command(process: psutil.Process) -> str:
    try:
        return f"{process.pid} {process.name()} ({process.status()})"
    except psutil.Error:
        return str(process.pid)


def _open_files() -> dict[object, str]:
    """Descriptor and target to words. Linux only; elsewhere nothing is counted."""
    found: dict[object, str] = {}
    try:
        descriptors = os.listdir("/proc/self/fd")
    except OSError:
        return found
    for descriptor in descriptors:
        try:
            target = os.readlink(f"/proc/self/fd/{descriptor}")
        except OSError:  # the one that listdir itself had open
            continue
        words = f"{target} {_socket_ends(int(descriptor))}" if target.startswith("socket:") else target
        if not any(mark in words for mark in QT_OPENS):
            found[descriptor, target] = words
    return found


def _socket_ends(descriptor: int) -> str:
    try:
        with socket.socket(fileno=os.dup(descriptor)) as end:
            return f"{end.getsockname()!r} -> {end.getpeername()!r}"
    except OSError:
        return ""
