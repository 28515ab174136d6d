"""One running app a user: a second start hands its arguments to the first and ends.

A lock file decides who is first, since a local server alone lets two start at the same moment. It names its owner's
process, so that one left by a crash is taken over; the socket beside it is readable by its owner only.
"""

from __future__ import annotations

import hashlib
import json
import logging
import sys
import time
from pathlib import Path
from typing import TYPE_CHECKING, Literal

from PySide6.QtCore import QLockFile, QObject, QStandardPaths, Signal
from PySide6.QtNetwork import QLocalServer, QLocalSocket

if TYPE_CHECKING:
    from collections.abc import Sequence

log = logging.getLogger(__name__)

Outcome = Literal["first", "handed_over", "no_answer"]
REPLY = b"ok\n"
REPLY_LIMIT = 5.0
"""Seconds that the first instance may take to answer; it may still be starting."""
RETRY_PAUSE = 50
"""Milliseconds between two tries."""
MESSAGE_LIMIT = 64 * 1024
"""Bytes of a start's arguments."""
SOCKET_PATH_LIMIT = 90
"""Bytes of a socket's path; the systems allow 104 or 108, and Qt adds some while it makes one."""


class SingleInstance(QObject):
    """Ask `claim` first. Whoever is "first" keeps the object and hears later starts by `started_again`."""

    started_again = Signal(list)
    """The arguments of a later start, without the program's name."""

    def __init__(self, folder: Path, parent: QObject | None = None) -> None:
        """`folder` is the app's state folder; each has one instance of its own."""
        super().__init__(parent)
        self._lock = QLockFile(str(folder / "instance.lock"))
        self._lock.setStaleLockTime(0)  # only a lock whose process is gone is stale, however old it is
        self.address = _address(folder)
        self._server = QLocalServer(self)
        self._server.setSocketOptions(QLocalServer.SocketOption.UserAccessOption)
        self._server.newConnection.connect(self.on_server_new_connection)

    def claim(self, arguments: Sequence[str], limit: float = REPLY_LIMIT) -> Outcome:
        """Become the first instance, or hand the arguments over to it, within `limit` seconds.

        "no_answer": another holds the lock and does not answer; it hangs, or is just ending.
        """
        end = time.monotonic() + limit
        patience = 0
        while True:
            if self._lock.tryLock(patience):
                self._listen()
                return "first"
            if self._lock.error() is not QLockFile.LockError.LockFailedError:
                log.warning("the lock of the running instance cannot be written (%s)", self._lock.error().name)
                self._listen()
                return "first"  # better two than none
            left = end - time.monotonic()
            if left <= 0:
                return "no_answer"
            if self._hand_over(arguments, left):
                return "handed_over"
            patience = RETRY_PAUSE

    def release(self) -> None:
        """Let another be first. Called when the app ends."""
        self._server.close()
        self._lock.unlock()

    def on_server_new_connection(self) -> None:
        """A later start has connected: read what it was started with."""
        while (socket := self._server.nextPendingConnection()) is not None:
            socket.readyRead.connect(self.on_socket_ready_read)
            socket.disconnected.connect(socket.deleteLater)
            if socket.bytesAvailable():
                self._read(socket)

    def on_socket_ready_read(self) -> None:
        """More of a message has come."""
        socket = self.sender()
        if isinstance(socket, QLocalSocket):
            self._read(socket)

    def _read(self, socket: QLocalSocket) -> None:
        if not socket.canReadLine():
            if socket.bytesAvailable() > MESSAGE_LIMIT:
                socket.abort()
            return
        arguments = _arguments(bytes(socket.readLine().data()))
        if arguments is None:
            socket.abort()
            return
        socket.write(REPLY)
        socket.disconnectFromServer()
        self.started_again.emit(arguments)

    def _listen(self) -> None:
        QLocalServer.removeServer(self.address)  # the lock is ours, so this one was left by a crash
        if not self._server.listen(self.address):
            log.warning("later starts cannot be heard: %s", self._server.errorString())

    def _hand_over(self, arguments: Sequence[str], limit: float) -> bool:
        socket = QLocalSocket()
        milliseconds = max(1, int(limit * 1000))
        socket.connectToServer(self.address)
        if not socket.waitForConnected(milliseconds):
            return False
        if sys.platform == "win32":
            _let_it_come_to_the_front()
        socket.write(json.dumps(list(arguments)).encode() + b"\n")
        received = b""
        while not received.endswith(REPLY) and socket.waitForReadyRead(milliseconds):
            received += bytes(socket.readAll().data())
        socket.abort()
        return received.endswith(REPLY)


def _arguments(line: bytes) -> list[str] | None:
    try:
        arguments = json.loads(line)
    except ValueError:
        return None
    if isinstance(arguments, list) and all(isinstance(argument, str) for argument in arguments):
        return arguments
    return None


def _address(folder: Path) -> str:
    """A pipe's name on Windows; elsewhere a socket beside the lock, or in the user's runtime folder."""
    mark = hashlib.sha256(str(folder.absolute()).encode()).hexdigest()[:16]
    if sys.platform == "win32":
        return f"mcp-patchbay-{mark}"
    beside = str(folder.absolute() / "instance.socket")
    if len(beside.encode()) <= SOCKET_PATH_LIMIT:
        return beside
    runtime = QStandardPaths.writableLocation(QStandardPaths.StandardLocation.RuntimeLocation)
    return str(Path(runtime, f"mcp-patchbay-{mark}.socket"))


def _let_it_come_to_the_front() -> None:
    """Windows lets a program raise its window only when the one in front, which is us now, allows it."""
    import ctypes

    any_process = -1
    ctypes.windll.user32.AllowSetForegroundWindow(any_process)  # type: ignore[attr-defined]
