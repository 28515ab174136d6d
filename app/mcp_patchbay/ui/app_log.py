"""The app's own log: a rotating file without secrets, where everything ends that nobody caught."""

from __future__ import annotations

import contextlib
import logging
import os
import re
import sys
import threading
import traceback
from logging.handlers import RotatingFileHandler
from typing import IO, TYPE_CHECKING, Any, ClassVar

from PySide6.QtCore import QMessageLogContext, QObject, Qt, QtMsgType, Signal, qInstallMessageHandler

from mcp_patchbay.domain.errors import PatchbayError
from mcp_patchbay.domain.placeholders import MASK, looks_secret, redact
from mcp_patchbay.ui.crash_dialog import CrashDialog

if TYPE_CHECKING:
    import asyncio
    from collections.abc import Callable, Iterable, Iterator
    from pathlib import Path
    from types import TracebackType

log = logging.getLogger(__name__)
qt_log = logging.getLogger("qt")

FILE_NAME = "patchbay.log"
MAX_BYTES = 1_000_000
OLD_FILES = 3
FORMAT = "%(asctime)s %(levelname)s %(name)s: %(message)s"
TASKS_LOG = "mcp_patchbay.engine.tasks"

_SCHEME = re.compile(r"\b(Bearer|Basic)\s+[\w.~+/=-]{4,}", re.IGNORECASE)
_USER_INFO = re.compile(r"(?<=://)[^/\s@]+@")
_KNOWN_KEYS = re.compile(r"\b(?:sk|ghp|gho|ghs|github_pat|glpat|xox[abp])[-_][\w-]{10,}")
_NAMED_VALUE = re.compile(
    r"""(?<![\w-])(?<!\$\{)(?P<name>[\w-]+)["']?\s*[:=]\s*["']?(?P<value>(?<=["'])[^"']{4,}|(?!\$\{)[^\s"',;&}]{4,})"""
)


def without_secrets(text: str, known: Iterable[str] = ()) -> str:
    """`text` with known secret values, and with what looks like one by its name or form, replaced by •••."""

    text = redact(text, known)
    text = _SCHEME.sub(rf"\1 {MASK}", text)
    text = _USER_INFO.sub(f"{MASK}@", text)
    text = _KNOWN_KEYS.sub(MASK, text)
    return _without_named_values(text)


def _without_named_values(text: str) -> str:
    """Hide the values of names such as `api_key=` or `"password":`. A value of another name may hold a further pair."""
    kept, at = [], 0
    while match := _NAMED_VALUE.search(text, at):
        secret = looks_secret(match["name"])
        kept += [text[at : match.start("value")], MASK if secret else ""]
        at = match.end() if secret else match.start("value")
    return "".join(kept) + text[at:]


class RedactingFormatter(logging.Formatter):
    """Formats a record with its traceback, and hides the secrets in all of it."""

    def __init__(self, known: Callable[[], Iterable[str]]) -> None:
        super().__init__(FORMAT)
        self._known = known

    def format(self, record: logging.LogRecord) -> str:
        return without_secrets(super().format(record), self._known())


class PrivateRotatingFile(RotatingFileHandler):
    """A log file that only its user can read, as are its older parts."""

    def _open(self) -> IO[Any]:  # type: ignore[override]
        return open(  # the handler closes it
            self.baseFilename, self.mode, encoding=self.encoding, opener=lambda path, flags: os.open(path, flags, 0o600)
        )


class AppLog(QObject):
    """Writes the log from the moment it is made; `catching` sends uncaught errors to it, and closes it at its end.

    Args:
        folder: where the log lies. When it cannot be written, the app goes on without a file.
        debug: write more; so does `mcp` in the environment's DEBUG, which also takes in the MCP SDK.
        known_secrets: values that must not appear in the log. Asked at each record; it may be replaced later.
    """

    error_uncaught = Signal(str, str)
    """What happened in one line, and the details; from any thread."""
    _LEVELS: ClassVar = {
        QtMsgType.QtDebugMsg: logging.DEBUG,
        QtMsgType.QtInfoMsg: logging.INFO,
        QtMsgType.QtWarningMsg: logging.WARNING,
        QtMsgType.QtCriticalMsg: logging.ERROR,
        QtMsgType.QtFatalMsg: logging.CRITICAL,
    }

    def __init__(
        self, folder: Path, *, debug: bool = False, known_secrets: Callable[[], Iterable[str]] = tuple
    ) -> None:
        super().__init__()
        self.folder = folder
        self.known_secrets = known_secrets
        self._dialog: CrashDialog | None = None
        self._closed = False
        self._formatter = RedactingFormatter(lambda: self.known_secrets())
        self._handlers: list[logging.Handler] = []
        self._levels: dict[str, int] = {}
        self._set_levels(debug, "mcp" in os.environ.get("DEBUG", "").split(","))
        # In a windowed program without a console there is no stderr.
        if sys.stderr is not None:
            self._add(logging.StreamHandler(sys.stderr), logging.DEBUG if debug else logging.WARNING)
        try:
            self._add(
                PrivateRotatingFile(folder / FILE_NAME, maxBytes=MAX_BYTES, backupCount=OLD_FILES, encoding="utf-8")
            )
        except OSError as error:
            log.warning("no log file can be written in %s: %s", folder, error)
        self.error_uncaught.connect(self.on_error_uncaught, Qt.ConnectionType.QueuedConnection)

    @property
    def file(self) -> Path:
        return self.folder / FILE_NAME

    @contextlib.contextmanager
    def catching(self, loop: asyncio.AbstractEventLoop) -> Iterator[None]:
        """While it is entered, what nobody catches (main thread, other threads, `loop`, Qt) is logged and shown."""
        before = sys.excepthook, threading.excepthook, sys.unraisablehook, loop.get_exception_handler()
        failures = _TaskFailures(self._tell)
        logging.getLogger(TASKS_LOG).addHandler(failures)
        sys.excepthook = self.on_exception
        threading.excepthook = self.on_thread_exception
        sys.unraisablehook = self.on_unraisable
        loop.set_exception_handler(self.on_loop_exception)
        qt_before = qInstallMessageHandler(self.on_qt_message)
        try:
            yield
        finally:
            sys.excepthook, threading.excepthook, sys.unraisablehook, loop_before = before
            loop.set_exception_handler(loop_before)
            qInstallMessageHandler(qt_before)
            logging.getLogger(TASKS_LOG).removeHandler(failures)
            self.close()

    def close(self) -> None:
        """Close the log's file and any dialog; levels are as they were before."""
        self._closed = True
        if self._dialog is not None:
            self._dialog.close()
        for handler in self._handlers:
            logging.getLogger().removeHandler(handler)
            handler.close()
        for name, level in self._levels.items():
            logging.getLogger(name).setLevel(level)
        self._handlers, self._levels = [], {}

    # ---- where uncaught errors arrive
    def on_exception(self, kind: type[BaseException], error: BaseException, trace: TracebackType | None) -> None:
        if not issubclass(kind, Exception):  # KeyboardInterrupt and SystemExit are no failures
            return
        self._caught("uncaught error", error)

    def on_thread_exception(self, failure: threading.ExceptHookArgs) -> None:
        if failure.exc_value is not None and not isinstance(failure.exc_value, SystemExit):
            self._caught(
                f"uncaught error in thread {failure.thread.name if failure.thread else '?'}", failure.exc_value
            )

    def on_unraisable(self, failure: sys.UnraisableHookArgs) -> None:
        """Errors while an object goes: nothing that a person could act on."""
        error = failure.exc_value
        log.error("%s: %r", failure.err_msg or "error ignored in", failure.object, exc_info=error)

    def on_loop_exception(self, _loop: asyncio.AbstractEventLoop, context: dict[str, Any]) -> None:
        error = context.get("exception")
        if error is None:
            log.error("event loop: %s", context.get("message"))
        else:
            self._caught(f"event loop: {context.get('message')}", error)

    def on_qt_message(self, kind: QtMsgType, context: QMessageLogContext, text: str) -> None:
        qt_log.log(self._LEVELS.get(kind, logging.WARNING), "%s: %s", context.category or "default", text)

    def on_error_uncaught(self, reason: str, details: str) -> None:
        """Show the first error; those that come while it is shown are in the log."""
        if self._dialog is None and not self._closed:
            self._dialog = CrashDialog(reason, details, self.folder)
            self._dialog.finished.connect(self.on_dialog_finished)
            self._dialog.open()

    def on_dialog_finished(self) -> None:
        self._dialog = None

    def _caught(self, where: str, error: BaseException) -> None:
        log.error(where, exc_info=error)
        self._tell(error)

    def _tell(self, error: BaseException) -> None:
        known = tuple(self.known_secrets())
        reason = without_secrets(f"{type(error).__name__}: {error}", known)
        self.error_uncaught.emit(reason, without_secrets("".join(traceback.format_exception(error)), known))

    # ---- handlers and levels
    def _add(self, handler: logging.Handler, level: int = logging.NOTSET) -> None:
        handler.setLevel(level)
        handler.setFormatter(self._formatter)
        self._handlers.append(handler)
        logging.getLogger().addHandler(handler)

    def _set_levels(self, debug: bool, debug_mcp: bool) -> None:
        wanted = {"mcp_patchbay": logging.DEBUG if debug or debug_mcp else logging.INFO, "qt": logging.INFO}
        if debug_mcp:
            wanted |= {"mcp": logging.DEBUG, "httpx2": logging.DEBUG}
        for name, level in wanted.items():
            self._levels[name] = logging.getLogger(name).level
            logging.getLogger(name).setLevel(level)


class _TaskFailures(logging.Handler):
    """Hears of tasks that failed with nobody to tell. What is expected to fail in use is in the log, and enough."""

    def __init__(self, on_failure: Callable[[BaseException], None]) -> None:
        super().__init__(logging.ERROR)
        self._on_failure = on_failure

    def emit(self, record: logging.LogRecord) -> None:
        error = record.exc_info[1] if record.exc_info else None
        if error is not None and not isinstance(error, PatchbayError | OSError):
            self._on_failure(error)
