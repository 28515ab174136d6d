"""Waiting for what must happen, always bounded."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable
from typing import Any

LIMIT = 10.0  # seconds
STEP = 0.01


async def until(condition: Callable[[], Any], timeout: float = LIMIT, what: str = "") -> Any:
    """Wait until `condition()` is true, and give back what it said. Fails after `timeout` seconds, naming `what`."""
    deadline = time.monotonic() + timeout
    while not (said := condition()):
        assert time.monotonic() < deadline, f"did not come within {timeout:g} s: {what or condition}"
        await asyncio.sleep(STEP)
    return said


def until_sync(condition: Callable[[], Any], timeout: float = LIMIT, what: str = "") -> Any:
    """`until` for tests without a loop, about other processes."""
    deadline = time.monotonic() + timeout
    while not (said := condition()):
        assert time.monotonic() < deadline, f"did not come within {timeout:g} s: {what or condition}"
        time.sleep(STEP)
    return said


async def emitted(signal: Any, timeout: float = LIMIT) -> tuple[Any, ...]:
    """Wait for a Qt signal and give back its arguments (`qtbot.waitSignal` would nest a loop in a coroutine)."""
    future: asyncio.Future[tuple[Any, ...]] = asyncio.get_running_loop().create_future()

    def on_signal_emitted(*arguments: Any) -> None:
        if not future.done():
            future.set_result(arguments)

    signal.connect(on_signal_emitted)
    try:
        return await asyncio.wait_for(future, timeout)
    except TimeoutError:
        raise AssertionError(f"the signal did not come within {timeout:g} s: {signal}") from None
    finally:
        signal.disconnect(on_signal_emitted)
