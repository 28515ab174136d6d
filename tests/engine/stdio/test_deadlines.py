"""The limits of calls, on a clock that the test turns."""

from __future__ import annotations

import asyncio
import heapq

import pytest

from mcp_patchbay.engine.stdio.pending import (
    PROGRESS_FACTOR,
    PROGRESS_SECONDS,
    Deadlines,
    Pending,
    RequestTimeoutError,
)


class TurnedClock:
    """The part of a loop that `Deadlines` uses."""

    def __init__(self) -> None:
        self.now = 100.0
        self.timers = []

    def time(self):
        return self.now

    def call_at(self, when, callback, *args):
        timer = asyncio.TimerHandle(when, callback, args, asyncio.get_running_loop())
        heapq.heappush(self.timers, timer)
        return timer

    def turn(self, seconds):
        """Let the time pass, and run what is due on the way."""
        end = self.now + seconds
        while self.timers and self.timers[0].when() <= end:
            timer = heapq.heappop(self.timers)
            self.now = max(self.now, timer.when())
            if not timer.cancelled():
                timer._run()
        self.now = end


@pytest.fixture
def clock():
    return TurnedClock()


@pytest.fixture
def calls():
    return {}


@pytest.fixture
def deadlines(clock, calls):
    return Deadlines(clock, calls)


async def begin(calls, deadlines, limit):
    call = Pending(asyncio.get_running_loop().create_future(), "tools/call")
    calls[len(calls)] = call
    deadlines.watch(call, limit)
    return call


def reason(call):
    """Why the call failed; empty while it waits."""
    error = call.future.exception() if call.future.done() else None
    assert error is None or isinstance(error, RequestTimeoutError)
    return str(error or "")


async def test_each_call_fails_at_its_own_limit(clock, calls, deadlines):
    long, short = await begin(calls, deadlines, 60), await begin(calls, deadlines, 5)
    clock.turn(4.9)
    assert not reason(short)
    clock.turn(0.2)
    assert reason(short) == "Request 'tools/call' timed out after 5 s"
    assert not reason(long)
    clock.turn(55)
    assert reason(long) == "Request 'tools/call' timed out after 60 s"


async def test_progress_counts_the_limit_anew(clock, calls, deadlines):
    call = await begin(calls, deadlines, 10)
    for _ in range(20):
        clock.turn(9)
        deadlines.renew(call)
    assert not reason(call)
    clock.turn(10.1)
    assert reason(call).endswith("timed out after 10 s")


@pytest.mark.parametrize("limit", [10, 600])
async def test_progress_does_not_keep_a_call_alive_for_ever(clock, calls, deadlines, limit):
    call = await begin(calls, deadlines, limit)
    cap = max(PROGRESS_FACTOR * limit, PROGRESS_SECONDS)
    steps = 0
    while not call.future.done():
        clock.turn(limit / 2)
        deadlines.renew(call)
        steps += 1
        assert steps < 1000
    assert reason(call).endswith(f"timed out after {cap:g} s")


async def test_the_clock_stands_still_while_it_is_held(clock, calls, deadlines):
    before = await begin(calls, deadlines, 10)
    clock.turn(4)
    release, other = deadlines.hold(), deadlines.hold()
    clock.turn(500)
    during = await begin(calls, deadlines, 10)
    release()
    release()  # once more does nothing
    clock.turn(500)
    assert not reason(before)
    other()
    clock.turn(5.9)
    assert not reason(before)
    clock.turn(0.2)
    assert reason(before)
    clock.turn(3.8)
    assert not reason(during)
    clock.turn(0.2)
    assert reason(during)


async def test_nothing_is_due_after_the_end(clock, calls, deadlines):
    call = await begin(calls, deadlines, 10)
    deadlines.close()
    clock.turn(100)
    assert not reason(call)
