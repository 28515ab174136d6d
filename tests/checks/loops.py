"""Async tests and async fixtures, each test on a loop of its own, made by the fixture `loop_factory`.

A fixture that yields is set up and torn down by one and the same task, so that it may hold an anyio scope open.
"""

from __future__ import annotations

import asyncio
import contextvars
import functools
import inspect
from collections.abc import AsyncGenerator, Callable, Coroutine, Generator, Iterator
from typing import Any, ClassVar

import pytest

from checks.limits import seconds_allowed

SETTLE = 1.0  # seconds that a test's tasks get to end by themselves
LoopFactory = Callable[[], asyncio.AbstractEventLoop]


class LoopRunner:
    """Runs coroutines of one test on one loop, which is made when the first one comes.

    Attributes:
        waiting: the runners whose loop is made but not closed. Between two of their coroutines it stands still.
    """

    waiting: ClassVar[set[LoopRunner]] = set()

    def __init__(self, make_loop: LoopFactory, limit: float) -> None:
        self._make_loop = make_loop
        self._limit = limit
        self._loop: asyncio.AbstractEventLoop | None = None
        self._context = contextvars.copy_context()

    def run(self, work: Coroutine[Any, Any, Any]) -> Any:
        """The result of `work`. Fails the test when it takes longer than the test's time limit."""
        if self._loop is None:
            self._loop = self._make_loop()
            self.waiting.add(self)
            asyncio.set_event_loop(self._loop)
        return self._loop.run_until_complete(self._loop.create_task(self._bounded(work), context=self._context))

    async def _bounded(self, work: Coroutine[Any, Any, Any]) -> Any:
        try:
            async with asyncio.timeout(self._limit) as limit:
                return await work
        except TimeoutError:
            if limit.expired():
                pytest.fail(f"took longer than its time limit of {self._limit:g} s")
            raise

    def close(self) -> list[str]:
        """End the loop, in bounded time, and name the tasks that were still running."""
        if self._loop is None:
            return []
        loop, self._loop = self._loop, None
        try:
            left = loop.run_until_complete(_end_tasks())
            loop.run_until_complete(loop.shutdown_asyncgens())
            loop.run_until_complete(loop.shutdown_default_executor())
        finally:
            loop.close()
            self.waiting.discard(self)
            asyncio.set_event_loop(None)
        return left


async def _end_tasks() -> list[str]:
    others = asyncio.all_tasks() - {asyncio.current_task()}
    left = (await asyncio.wait(others, timeout=SETTLE))[1] if others else set()
    names = [repr(task) for task in left]
    for task in left:
        task.cancel()
    if left:
        await asyncio.wait(left, timeout=SETTLE)
    return names


@pytest.fixture
def loop_factory() -> LoopFactory:
    """How a loop is made; the UI's tests make the app's own loop instead."""
    return asyncio.new_event_loop


@pytest.fixture(autouse=True)
def loop_runner(
    request: pytest.FixtureRequest, nothing_left: None, no_unexpected_logs: None, loop_factory: LoopFactory
) -> Iterator[LoopRunner]:
    """What runs the async parts of this test. A task that outlives the test fails it."""
    runner = LoopRunner(loop_factory, seconds_allowed(request.node))
    yield runner
    if left := runner.close():
        pytest.fail("tasks left running: " + "; ".join(left))


@pytest.hookimpl(tryfirst=True)
def pytest_pyfunc_call(pyfuncitem: pytest.Function) -> bool | None:
    if not inspect.iscoroutinefunction(pyfuncitem.obj):
        return None
    arguments = {name: pyfuncitem.funcargs[name] for name in pyfuncitem._fixtureinfo.argnames}
    runner = pyfuncitem.funcargs["loop_runner"]
    assert isinstance(runner, LoopRunner)
    runner.run(pyfuncitem.obj(**arguments))
    return True


@pytest.hookimpl(wrapper=True)
def pytest_fixture_setup(fixturedef: Any, request: pytest.FixtureRequest) -> Generator[None, Any, Any]:
    function: Callable[..., Any] = fixturedef.func
    if inspect.isasyncgenfunction(function):
        adapt = _driven_by_one_task
    elif inspect.iscoroutinefunction(function):
        adapt = _run_to_its_end
    else:
        return (yield)
    if fixturedef.scope != "function":
        pytest.fail(f"async fixture {fixturedef.argname} must have function scope: each test has a loop of its own")
    fixturedef.func = adapt(function, request.getfixturevalue("loop_runner"))
    try:
        return (yield)
    finally:
        fixturedef.func = function


def _run_to_its_end(function: Callable[..., Any], runner: LoopRunner) -> Callable[..., Any]:
    @functools.wraps(function)
    def fixture(*args: Any, **kwargs: Any) -> Any:
        return runner.run(function(*args, **kwargs))

    return _sync(fixture)


def _driven_by_one_task(function: Callable[..., Any], runner: LoopRunner) -> Callable[..., Any]:
    @functools.wraps(function)
    def fixture(*args: Any, **kwargs: Any) -> Iterator[Any]:
        held = _Held(function(*args, **kwargs))
        yield runner.run(held.open())
        runner.run(held.close())

    return _sync(fixture)


def _sync(fixture: Callable[..., Any]) -> Callable[..., Any]:
    """Without `__wrapped__`, through which pytest would see the async function again."""
    del fixture.__wrapped__  # type: ignore[attr-defined]
    return fixture


class _Held:
    """An async fixture's generator between its two halves."""

    def __init__(self, generator: AsyncGenerator[Any]) -> None:
        self._generator = generator

    async def open(self) -> Any:
        ready: asyncio.Future[Any] = asyncio.get_running_loop().create_future()
        self._finish = asyncio.Event()
        self._task = asyncio.create_task(self._drive(ready), name="fixture")
        await asyncio.wait({ready, self._task}, return_when=asyncio.FIRST_COMPLETED)
        return ready.result() if ready.done() else await self._task

    async def close(self) -> None:
        self._finish.set()
        await self._task

    async def _drive(self, ready: asyncio.Future[Any]) -> None:
        ready.set_result(await anext(self._generator))
        await self._finish.wait()
        try:
            await anext(self._generator)
        except StopAsyncIteration:
            return
        raise RuntimeError("an async fixture must yield once")
