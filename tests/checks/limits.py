"""No test takes for ever: 60 s for each of its phases, or what `@pytest.mark.limit(seconds)` says.

An async test is cancelled at its limit (`loops`). What blocks is interrupted a little later by SIGALRM; what does not
even run Python any more ends the whole run, with the stacks of all threads on stderr.
"""

from __future__ import annotations

import faulthandler
import os
import signal
from collections.abc import Generator, Iterator
from contextlib import contextmanager
from typing import Any

import pytest

DEFAULT = 60.0
GRACE = 3.0  # seconds that an async test's own limit is ahead of the alarm
LAST_RESORT = 60.0  # seconds after the alarm
STDERR = pytest.StashKey[int]()  # the real one: while a test runs, 2 is captured


def pytest_configure(config: pytest.Config) -> None:
    config.addinivalue_line("markers", "limit(seconds): the time limit of each phase of this test, instead of 60")
    config.stash[STDERR] = os.dup(2)


def pytest_unconfigure(config: pytest.Config) -> None:
    os.close(config.stash[STDERR])


def seconds_allowed(item: pytest.Item) -> float:
    """The time limit of a test, in seconds."""
    marker = item.get_closest_marker("limit")
    return float(marker.args[0]) if marker else DEFAULT


@pytest.hookimpl(wrapper=True)
def pytest_runtest_setup(item: pytest.Item) -> Generator[None, Any, Any]:
    with _alarm(item):
        return (yield)


@pytest.hookimpl(wrapper=True)
def pytest_runtest_call(item: pytest.Item) -> Generator[None, Any, Any]:
    with _alarm(item):
        return (yield)


@pytest.hookimpl(wrapper=True)
def pytest_runtest_teardown(item: pytest.Item) -> Generator[None, Any, Any]:
    with _alarm(item):
        return (yield)


@contextmanager
def _alarm(item: pytest.Item) -> Iterator[None]:
    seconds = seconds_allowed(item) + GRACE

    def ring(*_: object) -> None:
        pytest.fail(f"blocked for longer than its time limit of {seconds_allowed(item):g} s")

    faulthandler.dump_traceback_later(seconds + LAST_RESORT, exit=True, file=item.config.stash[STDERR])
    try:
        if hasattr(signal, "SIGALRM"):
            previous = signal.signal(signal.SIGALRM, ring)
            signal.setitimer(signal.ITIMER_REAL, seconds)
        yield
    finally:
        if hasattr(signal, "SIGALRM"):
            signal.setitimer(signal.ITIMER_REAL, 0)
            signal.signal(signal.SIGALRM, previous)
        faulthandler.cancel_dump_traceback_later()
