"""A crash below Python leaves a trace that the next run finds."""

import logging
import signal
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from mcp_patchbay.ui.crash_trace import FILE_NAME, crash_trace

CRASH = """
import ctypes, pathlib, sys
from mcp_patchbay.ui.crash_trace import crash_trace
password = "hunter2"
def fault_in_a_library():
    ctypes.string_at(0)
with crash_trace(pathlib.Path(sys.argv[1])):
    {}
"""


def run(folder: Path, deed: str) -> int:
    command = [sys.executable, "-c", CRASH.format(deed), str(folder)]
    return subprocess.run(command, check=False, timeout=60, stderr=subprocess.DEVNULL).returncode


def test_a_crash_says_in_a_private_file_where_it_happened(tmp_path: Path) -> None:
    assert run(tmp_path, "fault_in_a_library()") == -signal.SIGSEGV
    written = tmp_path / FILE_NAME
    assert "fault_in_a_library" in written.read_text()
    assert "hunter2" not in written.read_text()
    assert written.stat().st_mode & 0o777 == 0o600


def test_the_next_run_puts_the_trace_into_the_log_once(
    tmp_path: Path, caplog: pytest.LogCaptureFixture, expect_log: Callable[..., None]
) -> None:
    expect_log("Patchbay crashed in its last run")
    run(tmp_path, "fault_in_a_library()")
    for _ in range(2):
        with caplog.at_level(logging.ERROR), crash_trace(tmp_path):
            pass
    (record,) = caplog.records
    assert "fault_in_a_library" in record.getMessage()
    assert not (tmp_path / FILE_NAME).exists()


def test_an_orderly_end_leaves_nothing(tmp_path: Path) -> None:
    assert run(tmp_path, "pass") == 0
    assert list(tmp_path.iterdir()) == []
