"""asyncio on Qt's event loop: qasync's loop, with what mcp and anyio need of it put right.

- Async generators are looked after while the loop runs; without that, HTTP streams break.
- All timers live in one heap behind one precise QTimer. They never fire early, and a cancelled one leaves nothing.
- Callbacks run in the order in which they were given, in slices of 8 ms, so that painting is not kept waiting.
- Callbacks from other threads keep their context.
- While it does not run, nothing of it does, whoever lets Qt handle events then.
- Threads are asyncio's own, which end with the loop.

It uses private names of asyncio and qasync; tests/ui/test_event_loop.py fails when one of them moves.
"""

from __future__ import annotations

import asyncio
import heapq
import math
import os
import sys
import time
from typing import TYPE_CHECKING, Any, TypeVar

os.environ.setdefault("QT_API", "pyside6")
from PySide6.QtCore import QObject, Qt, QTimer, Signal
from PySide6.QtWidgets import QApplication  # noqa: TC002 loading it decides the binding

import qasync  # isort: skip  it takes the Qt binding that is loaded already

if TYPE_CHECKING:
    from collections.abc import Callable, Coroutine
    from concurrent.futures import Executor
    from contextvars import Context

T = TypeVar("T")

SLICE = 0.008
"""Seconds that callbacks may take before Qt gets its turn."""
LONGEST = 2**31 - 1
"""Milliseconds that a QTimer can wait; a later deadline is waited for in several steps."""
PURGE_FROM = 100
"""Cancelled timers that may wait in the heap before it is cleaned."""


class _Waker(QObject):
    """Carries a wake-up from any thread to the loop's."""

    woken = Signal()


class _Timer(asyncio.TimerHandle):
    """Says to the type checker what the loop notes on a handle."""

    __slots__ = ()
    _scheduled: bool
    _when: float


class AppEventLoop(qasync.QEventLoop):  # type: ignore[misc]  # qasync has no types
    """The app's event loop. Use `run`; tests make one by hand, with a QApplication."""

    _default_executor: Executor | None
    _scheduled: list[_Timer]

    def __init__(self, app: QApplication) -> None:
        self._drain_due = False
        self._deadline: float | None = None
        self._cancelled_timers = 0
        self._drain_timer = QTimer(singleShot=True, interval=0)
        self._drain_timer.timeout.connect(self._drain)
        self._deadline_timer = QTimer(singleShot=True, timerType=Qt.TimerType.PreciseTimer)
        self._deadline_timer.timeout.connect(self._on_deadline)
        self._waker = _Waker()
        self._waker.woken.connect(self._request_drain, Qt.ConnectionType.QueuedConnection)
        super().__init__(app)

    def run_forever(self) -> Any:
        """Run Qt's event loop until `stop`."""
        self._request_drain()
        self._wait_for_next()
        before = sys.get_asyncgen_hooks()
        sys.set_asyncgen_hooks(firstiter=self._asyncgen_firstiter_hook, finalizer=self._asyncgen_finalizer_hook)
        try:
            return super().run_forever()
        finally:
            sys.set_asyncgen_hooks(*before)

    def close(self) -> None:
        """Release what the loop holds; it must not be running."""
        super().close()
        self._drain_timer.stop()
        self._deadline_timer.stop()
        self._ready.clear()
        self._scheduled.clear()
        if (executor := self._default_executor) is not None:
            self._default_executor = None
            executor.shutdown(wait=False)

    # ---- callbacks for now

    def call_soon(self, callback: Callable[..., object], *args: Any, context: Context | None = None) -> asyncio.Handle:
        """Run the callback after those that are waiting already."""
        self._check_closed()
        return self._add_callback(asyncio.Handle(callback, args, self, context))

    def call_soon_threadsafe(
        self, callback: Callable[..., object], *args: Any, context: Context | None = None
    ) -> asyncio.Handle:
        """`call_soon` from any thread."""
        self._check_closed()
        handle = asyncio.Handle(callback, args, self, context)
        self._ready.append(handle)
        self._waker.woken.emit()
        return handle

    def _add_callback(self, handle: asyncio.Handle, delay: float = 0) -> asyncio.Handle:
        """Overrides qasync's, and asyncio's that signal handlers use."""
        self._ready.append(handle)
        self._request_drain()
        return handle

    def _request_drain(self) -> None:
        if not self._drain_due and not self.is_closed():
            self._drain_due = True
            self._drain_timer.start()

    def _drain(self) -> None:
        """Run the callbacks that are ready now; those that they add wait for the next turn."""
        self._drain_due = False
        if not self.is_running():  # someone else lets Qt work between two runs: a task's step needs a running loop
            return
        end = time.monotonic() + SLICE
        interrupted = asyncio.current_task(self)  # there is one only inside a Qt loop that a coroutine runs
        if interrupted is not None:
            asyncio.tasks._leave_task(self, interrupted)
        try:
            for _ in range(len(self._ready)):
                if not self._ready:  # a nested Qt loop ran them
                    break
                handle = self._ready.popleft()
                if not handle._cancelled:
                    handle._run()
                if time.monotonic() > end:
                    break
        finally:
            if interrupted is not None:
                asyncio.tasks._enter_task(self, interrupted)
            if self._ready:
                self._request_drain()

    # ---- callbacks for later

    def call_later(
        self, delay: float, callback: Callable[..., object], *args: Any, context: Context | None = None
    ) -> _Timer:
        """Run the callback in `delay` seconds; infinity means never."""
        return self.call_at(self.time() + delay, callback, *args, context=context)

    def call_at(
        self, when: float, callback: Callable[..., object], *args: Any, context: Context | None = None
    ) -> _Timer:
        """Run the callback when `time()` has reached `when`, never before."""
        self._check_closed()
        handle = _Timer(when, callback, args, self, context)
        heapq.heappush(self._scheduled, handle)
        handle._scheduled = True
        if self._deadline is None or when < self._deadline:
            self._wait_for_next()
        return handle

    def _timer_handle_cancelled(self, handle: _Timer) -> None:
        """Called by `TimerHandle.cancel`: clean the heap when most of it is cancelled."""
        if not handle._scheduled:
            return
        self._cancelled_timers += 1
        if self._cancelled_timers > PURGE_FROM and self._cancelled_timers * 2 > len(self._scheduled):
            for timer in self._scheduled:
                timer._scheduled = not timer._cancelled and timer is not handle  # it is marked only after this call
            self._scheduled[:] = [timer for timer in self._scheduled if timer._scheduled]
            heapq.heapify(self._scheduled)
            self._cancelled_timers = 0
            self._wait_for_next()

    def _pop_timer(self) -> _Timer:
        timer = heapq.heappop(self._scheduled)
        timer._scheduled = False
        if timer._cancelled:
            self._cancelled_timers -= 1
        return timer

    def _wait_for_next(self) -> None:
        """Set the QTimer to the next deadline, rounded up to its milliseconds."""
        while self._scheduled and self._scheduled[0]._cancelled:
            self._pop_timer()
        if not self._scheduled:
            self._deadline = None
            self._deadline_timer.stop()
            return
        self._deadline = when = self._scheduled[0]._when
        self._deadline_timer.start(math.ceil(min(LONGEST, max(0.0, (when - self.time()) * 1000))))

    def _on_deadline(self) -> None:
        self._deadline = None
        if not self.is_running():
            return
        now = self.time()
        while self._scheduled and self._scheduled[0]._when <= now:
            timer = self._pop_timer()
            if not timer._cancelled:
                self._add_callback(timer)
        self._wait_for_next()

    # ---- threads: asyncio's instead of qasync's, which the loop's end would wait for without a limit

    def run_in_executor(self, executor: Executor | None, function: Callable[..., T], *args: Any) -> asyncio.Future[T]:
        """Run the function in a thread."""
        return asyncio.BaseEventLoop.run_in_executor(self, executor, function, *args)

    def set_default_executor(self, executor: Any) -> None:
        """Take this executor for `run_in_executor(None, ...)`."""
        asyncio.BaseEventLoop.set_default_executor(self, executor)


def run(main: Coroutine[Any, Any, T], app: QApplication) -> T:
    """Run `main` on Qt's event loop until it returns, then end what is left: its tasks, generators and threads."""
    with asyncio.Runner(loop_factory=lambda: AppEventLoop(app)) as runner:
        return runner.run(main)
