"""One running copy for each user and config: the second start hands its arguments to the first and ends."""

from __future__ import annotations

import contextlib
import hashlib
import json
from pathlib import Path

from PySide6.QtCore import QLockFile, QObject, Signal
from PySide6.QtNetwork import QLocalServer, QLocalSocket

ANSWER_LIMIT = 3000
"""Milliseconds that the running copy may take to answer a second start."""
LONGEST_MESSAGE = 64 * 1024
TAKEN = b"taken\n"


class SingleInstance(QObject):
    """A lock file tells who is first; a local socket, which only its owner may open, lets the others be heard.

    The lock alone decides: two copies that start at once cannot both get it, and one that crashed is seen by its pid.
    """

    raised = Signal(dict)
    """A second start wants to be heard: what it was asked to do, such as {"hidden": false}."""

    def __init__(self, folder: Path, parent: QObject | None = None) -> None:
        """`folder` is where the lock lies; copies with other folders do not know each other."""
        super().__init__(parent)
        self._lock = QLockFile(str(folder / "running.lock"))
        self._lock.setStaleLockTime(0)  # never by age, only when the process is gone
        digest = hashlib.sha256(str(folder.resolve()).encode()).hexdigest()[:16]
        self._name = f"patchbay-{digest}"
        self._server = QLocalServer(self)
        self._server.setSocketOptions(QLocalServer.SocketOption.UserAccessOption)
        self._server.newConnection.connect(self.on_new_connection)

    def claim(self) -> bool:
        """Be the running copy. False when there is one already."""
        if not self._lock.tryLock(0):
            return False
        if not self._server.listen(self._name):
            QLocalServer.removeServer(self._name)  # left by a crash: the lock proves that nobody listens
            self._server.listen(self._name)
        return True

    def hand_over(self, wish: dict[str, bool]) -> bool:
        """Tell the running copy what this start was asked to do. False when it does not answer.

        Waits at most `ANSWER_LIMIT` for each step; only for a start that ends afterwards, before any event loop runs.
        """
        socket = QLocalSocket()
        socket.connectToServer(self._name)
        if not socket.waitForConnected(ANSWER_LIMIT):
            return False
        socket.write(json.dumps(wish).encode() + b"\n")
        answered = socket.waitForBytesWritten(ANSWER_LIMIT) and socket.waitForReadyRead(ANSWER_LIMIT)
        socket.disconnectFromServer()
        return answered

    def close(self) -> None:
        """Let the next start be first."""
        self._server.close()
        self._lock.unlock()

    def on_new_connection(self) -> None:
        while (socket := self._server.nextPendingConnection()) is not None:
            socket.readyRead.connect(lambda socket=socket: self._read(socket))
            socket.disconnected.connect(socket.deleteLater)

    def _read(self, socket: QLocalSocket) -> None:
        if not socket.canReadLine():
            if socket.bytesAvailable() > LONGEST_MESSAGE:
                socket.abort()
            return
        line = bytes(socket.readLine().data())
        with contextlib.suppress(ValueError):
            wish = json.loads(line)
            if isinstance(wish, dict):
                socket.write(TAKEN)
                socket.flush()
                self.raised.emit(wish)

