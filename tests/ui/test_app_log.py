"""The app log: what nobody caught arrives in it and in one dialog, and no secret does."""

from __future__ import annotations

import asyncio
import gc
import logging
import os
import subprocess
import sys
import threading
from collections.abc import Iterator
from pathlib import Path
from stat import S_IMODE

import pytest
from PySide6.QtCore import QTimer, qWarning
from PySide6.QtGui import QGuiApplication
from PySide6.QtWidgets import QApplication

from checks.qt import QWait
from mcp_patchbay.domain.errors import field_error
from mcp_patchbay.engine import tasks
from mcp_patchbay.ui.app_log import FILE_NAME, MAX_BYTES, OLD_FILES, AppLog, without_secrets
from mcp_patchbay.ui.crash_dialog import CrashDialog

log = logging.getLogger("mcp_patchbay.test")
offscreen_noise = pytest.mark.expect_log("does not support propagateSizeHints", must_come=False)


@pytest.fixture
def app_log(qapp: QApplication, tmp_path: Path) -> Iterator[AppLog]:
    opened = AppLog(tmp_path, known_secrets=lambda: ("hunter2hunter2",))
    yield opened
    opened.close()


def dialogs() -> list[CrashDialog]:
    return [widget for widget in QApplication.topLevelWidgets() if isinstance(widget, CrashDialog)]


def shown() -> list[CrashDialog]:
    return [dialog for dialog in dialogs() if dialog.isVisible()]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("said hunter2hunter2 aloud", "said ••• aloud"),
        ("Authorization: Bearer abc.def-123", "Authorization: ••• •••"),
        ("sent Bearer abc.def-123 to it", "sent Bearer ••• to it"),
        ("http://me:pa55word@host/x", "http://•••@host/x"),
        ("GET http://host/x?api_key=12345678&page=2", "GET http://host/x?api_key=•••&page=2"),
        ('{"password": "correct horse"}', '{"password": "•••"}'),
        ("GITHUB_TOKEN=abcdefgh", "GITHUB_TOKEN=•••"),
        ("the key ghp_abcdefghijklmnop is here", "the key ••• is here"),
        ("Authorization: ${secret:0a/headers.Authorization}", "Authorization: ${secret:0a/headers.Authorization}"),
        ("server files: 11 tools", "server files: 11 tools"),
    ],
)
def test_secrets_are_hidden_by_value_by_name_and_by_form(text: str, expected: str) -> None:
    assert without_secrets(text, ["hunter2hunter2"]) == expected


@pytest.mark.expect_log("the key is")
def test_neither_messages_nor_tracebacks_in_the_file_hold_a_secret(app_log: AppLog) -> None:
    try:
        raise ValueError("password=swordfish and hunter2hunter2")
    except ValueError:
        log.exception("the key is %s", "hunter2hunter2")
    written = app_log.file.read_text()
    assert "ValueError: password=••• and •••" in written
    assert "the key is •••" in written
    assert "hunter2" not in written
    assert "swordfish" not in written


@pytest.mark.skipif(os.name != "posix", reason="modes are POSIX's")
def test_the_log_is_for_its_user_alone(app_log: AppLog) -> None:
    assert S_IMODE(app_log.file.stat().st_mode) == 0o600


def test_the_log_rotates_and_stays_bounded(app_log: AppLog, tmp_path: Path) -> None:
    line = "x" * 10_000
    for _ in range((OLD_FILES + 3) * MAX_BYTES // len(line)):
        log.info(line)
    files = sorted(path.name for path in tmp_path.iterdir())
    assert files == [FILE_NAME, *(f"{FILE_NAME}.{number}" for number in range(1, OLD_FILES + 1))]
    assert all(path.stat().st_size <= MAX_BYTES for path in tmp_path.iterdir())


def test_debug_raises_the_level_and_closing_lowers_it_again(qapp: QApplication, tmp_path: Path) -> None:
    before = log.getEffectiveLevel(), logging.getLogger("mcp").getEffectiveLevel()
    for debug in (False, True):
        folder = tmp_path / str(debug)
        folder.mkdir()
        opened = AppLog(folder, debug=debug)
        log.debug("a small thing")
        opened.close()
        assert ("a small thing" in opened.file.read_text()) is debug
    assert (log.getEffectiveLevel(), logging.getLogger("mcp").getEffectiveLevel()) == before


def test_debug_in_the_environment_takes_in_the_sdk(
    qapp: QApplication, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("DEBUG", "mcp")
    opened = AppLog(tmp_path)
    logging.getLogger("mcp.client").debug("sdk says")
    opened.close()
    assert "sdk says" in opened.file.read_text()


@pytest.mark.expect_log("no log file can be written")
def test_a_folder_that_cannot_be_written_is_said_and_does_no_harm(qapp: QApplication, tmp_path: Path) -> None:
    opened = AppLog(tmp_path / "missing")
    log.info("still here")
    opened.close()


@pytest.mark.no_qt_log
@offscreen_noise
@pytest.mark.expect_log("uncaught error in thread worker")
@pytest.mark.expect_log("event loop:")
@pytest.mark.expect_log("uncaught error [ValueError('in a slot')]")
@pytest.mark.expect_log("error ignored in")
@pytest.mark.expect_log("qt is not amused")
async def test_what_nobody_caught_is_logged_wherever_it_happened(app_log: AppLog, qwait: QWait) -> None:
    class BadEnd:
        def __del__(self) -> None:
            raise ValueError("in a destructor")

    def fail(text: str) -> None:
        raise ValueError(text)

    with app_log.catching(asyncio.get_running_loop()):
        thread = threading.Thread(target=fail, args=("in a thread",), name="worker")
        thread.start()
        thread.join()
        asyncio.get_running_loop().call_soon(fail, "in a callback")
        try:
            fail("in a slot")
        except ValueError as error:
            sys.excepthook(ValueError, error, error.__traceback__)
        BadEnd()
        gc.collect()
        qWarning("qt is not amused")
        await qwait.until(lambda: "in a callback" in app_log.file.read_text())
        await qwait.until(shown)
    written = app_log.file.read_text()
    for text in ("in a thread", "in a callback", "in a slot", "in a destructor", "qt is not amused"):
        assert text in written


@offscreen_noise
@pytest.mark.expect_log("task one failed")
@pytest.mark.expect_log("task two failed")
async def test_one_dialog_is_shown_for_many_failed_tasks_and_can_be_closed(app_log: AppLog, qwait: QWait) -> None:
    async def fail(text: str) -> None:
        raise ValueError(f"{text} token=swordfish")

    with app_log.catching(asyncio.get_running_loop()):
        for name in ("one", "two"):
            tasks.start(fail(name), name=name)
        await qwait.until(shown)
        await qwait.until(lambda: "task two failed" in app_log.file.read_text())
        (dialog,) = shown()
        assert dialog.reason.text() == "ValueError: one token=•••"
        dialog.copy.click()
        copied = QGuiApplication.clipboard().text()
        assert "ValueError: one token=•••" in copied
        assert "swordfish" not in copied
        assert dialog.parent() is None  # so that it blocks no other window
        dialog.reject()
        await qwait.until(lambda: not dialogs())
    assert app_log.file.read_text().count("swordfish") == 0


@pytest.mark.expect_log("task three failed")
async def test_a_failure_that_use_brings_about_opens_no_dialog(app_log: AppLog, qwait: QWait) -> None:
    async def fail() -> None:
        raise field_error("url", "is no address")

    with app_log.catching(asyncio.get_running_loop()):
        task = tasks.start(fail(), name="three")
        await asyncio.wait([task])
        passed: list[bool] = []
        QTimer.singleShot(0, lambda: passed.append(True))
        await qwait.until(lambda: passed)
        assert not dialogs()


async def test_hooks_are_given_back(app_log: AppLog) -> None:
    loop = asyncio.get_running_loop()
    before = sys.excepthook, threading.excepthook, sys.unraisablehook, loop.get_exception_handler()
    with app_log.catching(loop):
        assert sys.excepthook == app_log.on_exception
    assert (sys.excepthook, threading.excepthook, sys.unraisablehook, loop.get_exception_handler()) == before


def test_without_stdout_and_stderr_nothing_breaks(tmp_path: Path) -> None:
    """As in a windowed program on Windows."""
    program = """
import logging, sys
from pathlib import Path
sys.stdout = sys.stderr = None
from PySide6.QtWidgets import QApplication
from mcp_patchbay.ui import app_log, event_loop
app = QApplication([])
log = app_log.AppLog(Path(sys.argv[1]))
async def main():
    import asyncio
    with log.catching(asyncio.get_running_loop()):
        logging.getLogger("x").warning("hello")
        try:
            raise ValueError("boom")
        except ValueError as error:
            sys.excepthook(ValueError, error, error.__traceback__)
    return 7
sys.exit(event_loop.run(main(), app))
"""
    done = subprocess.run(
        [sys.executable, "-c", program, tmp_path],
        env={**os.environ, "QT_QPA_PLATFORM": "offscreen"},
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )
    assert done.returncode == 7, done.stderr
    assert "Traceback" not in done.stderr
    written = (tmp_path / FILE_NAME).read_text()
    assert "hello" in written
    assert "ValueError: boom" in written
