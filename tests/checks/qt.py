"""For tests with Qt: the app's own loop, no widget left behind. Imported by the conftest of the UI's folders."""

from __future__ import annotations

import os
from collections.abc import Callable

import pytest
import pytestqt.plugin

os.environ.setdefault("QT_API", "pyside6")
if not (os.environ.get("DISPLAY") or os.environ.get("QT_QPA_PLATFORM")):
    os.environ["QT_QPA_PLATFORM"] = "offscreen"

from PySide6.QtCore import QEvent
from PySide6.QtWidgets import QApplication

from checks import waiting
from checks.leaks import Inventory
from checks.loops import LoopFactory, LoopRunner

_pytest_qt_process_events = pytestqt.plugin._process_events


def _process_events_unless_a_loop_waits() -> None:
    """pytest-qt lets Qt handle events around each test's phases. While an asyncio loop on Qt stands still between two
    phases, a widget's timer would then start tasks on a loop that does not run, as can never happen in the app."""
    if not LoopRunner.waiting:
        _pytest_qt_process_events()


pytestqt.plugin._process_events = _process_events_unless_a_loop_waits


@pytest.fixture
def loop_factory(qapp: QApplication) -> LoopFactory:
    """The app's own loop. Imported when the first test needs it: most of the UI works without."""
    from mcp_patchbay.ui.event_loop import AppEventLoop

    qapp.setQuitOnLastWindowClosed(False)  # else closing the last window would stop the loop in mid test
    return lambda: AppEventLoop(qapp)


@pytest.fixture
def other_inventory(qapp: QApplication) -> tuple[Callable[[], Inventory], Callable[[], None]]:
    """Top-level widgets, which go with an event loop's help."""

    def take_widgets() -> Inventory:
        return {"widget": {id(widget): repr(widget) for widget in QApplication.topLevelWidgets()}}

    def pump() -> None:
        QApplication.sendPostedEvents(None, QEvent.Type.DeferredDelete.value)
        QApplication.processEvents()

    return take_widgets, pump


class QWait:
    """Awaitables for tests on the Qt loop: `await qwait.signal(x.changed)`, `await qwait.until(lambda: ...)`."""

    signal = staticmethod(waiting.emitted)
    until = staticmethod(waiting.until)


@pytest.fixture
def qwait() -> QWait:
    return QWait()
