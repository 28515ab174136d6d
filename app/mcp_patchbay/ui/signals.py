"""Signals of the operating system that end the program: SIGTERM, SIGINT, SIGHUP, logoff and shutdown."""

from __future__ import annotations

import contextlib
import signal
import socket
from typing import TYPE_CHECKING

from PySide6.QtCore import QObject, QSocketNotifier
from PySide6.QtGui import QGuiApplication, QSessionManager

if TYPE_CHECKING:
    from collections.abc import Callable

ENDING = tuple(getattr(signal, name) for name in ("SIGTERM", "SIGINT", "SIGHUP", "SIGBREAK") if hasattr(signal, name))


class EndingSignals(QObject):
    """Calls `on_end` when the system wants the program to end.

    Python runs signal handlers only between bytecodes, and Qt's loop may stay in C++ for long. So the handler's byte,
    which Python writes to a socket at once, wakes Qt.
    """

    def __init__(self, on_end: Callable[[], None], parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._on_end = on_end
        self._reader, self._writer = socket.socketpair()
        for end in (self._reader, self._writer):
            end.setblocking(False)
        self._notifier = QSocketNotifier(self._reader.fileno(), QSocketNotifier.Type.Read, self)
        self._notifier.activated.connect(self.on_notifier_activated)
        self._old_wakeup = signal.set_wakeup_fd(self._writer.fileno(), warn_on_full_buffer=False)
        self._old_handlers = {number: signal.signal(number, lambda *_: None) for number in ENDING}
        application = QGuiApplication.instance()
        if isinstance(application, QGuiApplication):
            application.commitDataRequest.connect(self.on_session_ending)

    def on_notifier_activated(self) -> None:
        with contextlib.suppress(BlockingIOError):
            numbers = self._reader.recv(64)
            if any(number in ENDING for number in numbers):
                self._on_end()

    def on_session_ending(self, _session: QSessionManager) -> None:
        self._on_end()

    def close(self) -> None:
        """Give the signals back to whoever had them."""
        self._notifier.setEnabled(False)
        signal.set_wakeup_fd(self._old_wakeup)
        for number, handler in self._old_handlers.items():
            signal.signal(number, handler)
        self._reader.close()
        self._writer.close()
