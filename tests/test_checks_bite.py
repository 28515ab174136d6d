"""The checks of `tests/checks` fail a bad test: each of these bad tests must fail, in words that name the trouble."""

from __future__ import annotations

import re
import subprocess
import sys
import textwrap
import xml.etree.ElementTree as ElementTree
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
pytestmark = pytest.mark.slow

BAD = {
    "task_left": (
        "tasks left running: .*sleep",
        "async def test_task_left(): KEEP.append(asyncio.create_task(asyncio.sleep(60)))",
    ),
    "error_in_task": (
        "boom",
        """
        async def test_error_in_task():
            async def fail(): raise ValueError("boom")
            await asyncio.wait([asyncio.create_task(fail())])
        """,
    ),
    "error_in_callback": (
        "division by zero",
        """
        async def test_error_in_callback():
            asyncio.get_running_loop().call_soon(lambda: 1 / 0)
            await asyncio.sleep(0)
        """,
    ),
    "process_left": (
        "left behind: .*process.*sleep",
        "def test_process_left(): KEEP.append(subprocess.Popen(['sleep', '20']))",
    ),
    "file_left": ("left behind: .*file.*/dev/zero", "def test_file_left(): KEEP.append(open('/dev/zero'))"),
    "file_not_closed": ("unclosed file", "def test_file_not_closed(): open('/dev/zero')"),
    "thread_left": (
        "left behind: .*thread",
        "def test_thread_left(): threading.Thread(target=time.sleep, args=(20,), daemon=True).start()",
    ),
    "error_in_thread": (
        "PytestUnhandledThreadException",
        """
        def test_error_in_thread():
            thread = threading.Thread(target=lambda: 1 / 0)
            thread.start()
            thread.join()
        """,
    ),
    "hangs": (
        "took longer than its time limit of 0.2 s",
        """
        @pytest.mark.limit(0.2)
        async def test_hangs(): await asyncio.sleep(60)
        """,
    ),
    "blocks": (
        "blocked for longer than its time limit of 0.2 s",
        """
        @pytest.mark.limit(0.2)
        def test_blocks(): time.sleep(60)
        """,
    ),
    "fixture_hangs": (
        "took longer than its time limit of 0.2 s",
        """
        @pytest.fixture
        async def never(): await asyncio.sleep(60)
        @pytest.mark.limit(0.2)
        def test_fixture_hangs(never): pass
        """,
    ),
    "fixture_ends_badly": (
        "bad end",
        """
        @pytest.fixture
        async def ends_badly():
            yield
            raise ValueError("bad end")
        def test_fixture_ends_badly(ends_badly): pass
        """,
    ),
    "wide_async_fixture": (
        "must have function scope",
        """
        @pytest.fixture(scope="module")
        async def wide(): return 1
        def test_wide_async_fixture(wide): pass
        """,
    ),
    "logs_a_warning": (
        "unexpected: WARNING root: look out",
        "def test_logs_a_warning(): logging.warning('look out')",
    ),
    "expected_log_missing": (
        "never logged: look out",
        """
        @pytest.mark.expect_log("look out")
        def test_expected_log_missing(): pass
        """,
    ),
    "warns": ("DeprecationWarning: old", "def test_warns(): warnings.warn('old', DeprecationWarning)"),
    "asserts": ("assert 1 == 2", "async def test_asserts(): assert 1 == 2"),
    "never_awaited": ("never awaited", "def test_never_awaited(): asyncio.sleep(0)"),
}
BAD_WITH_QT = {
    "widget_left": (
        "left behind: .*widget.*QLabel",
        """
        def test_widget_left(qapp):
            KEEP.append(QLabel("x"))
            KEEP[-1].show()
        """,
    ),
    "qt_warns": ("qt is not amused", "def test_qt_warns(qapp): qWarning('qt is not amused')"),
    "slot_raises": (
        "in the slot",
        """
        async def test_slot_raises(qwait):
            done = []
            def slot():
                done.append(1)
                raise ValueError("in the slot")
            QTimer.singleShot(0, slot)
            await qwait.until(lambda: done)
        """,
    ),
    "loop_is_not_ours": (
        "assert not True",
        """
        async def test_loop_is_not_ours():
            from mcp_patchbay.ui.event_loop import AppEventLoop
            assert not isinstance(asyncio.get_running_loop(), AppEventLoop)
        """,
    ),
    "signal_never_comes": (
        "the signal did not come within 0.1 s",
        """
        async def test_signal_never_comes(qwait):
            timer = QTimer()
            await qwait.signal(timer.timeout, timeout=0.1)
        """,
    ),
    "qt_task_left": (
        "tasks left running: .*sleep",
        "async def test_qt_task_left(): KEEP.append(asyncio.create_task(asyncio.sleep(60)))",
    ),
    "qt_hangs": (
        "took longer than its time limit of 0.2 s",
        """
        @pytest.mark.limit(0.2)
        async def test_qt_hangs(): await asyncio.sleep(60)
        """,
    ),
    "qt_error_in_callback": (
        "division by zero",
        """
        async def test_qt_error_in_callback():
            asyncio.get_running_loop().call_soon(lambda: 1 / 0)
            await asyncio.sleep(0)
        """,
    ),
}
GOOD = """
    @pytest.fixture
    async def scope():
        async with anyio.create_task_group() as group:   # entered and left by one task
            yield group

    @pytest.fixture
    async def number(scope): return 5

    async def test_good(number): assert number == 5

    class TestGood:
        @pytest.fixture
        async def more(self, number): yield number + 1

        async def test_good_method(self, more): assert more == 6

    def test_good_sync(number): assert number == 5

    def test_good_log(expect_log):
        expect_log("look out")
        logging.warning("look out")
"""
IMPORTS = "import asyncio, logging, subprocess, threading, time, warnings\nimport anyio, pytest\nKEEP = []\n"
QT_IMPORTS = "from PySide6.QtCore import QTimer, qWarning\nfrom PySide6.QtWidgets import QLabel\n"


def outcomes(folder: Path, source: str, inner_conftest: str = "") -> dict[str, str]:
    """Run the tests of `source` under the project's checks; test name to how it failed, empty when it passed."""
    inner = folder / "inner"
    inner.mkdir()
    (folder / "conftest.py").write_text((ROOT / "tests" / "conftest.py").read_text())
    (inner / "conftest.py").write_text(inner_conftest)
    (inner / "test_them.py").write_text(source)
    report = folder / "report.xml"
    command = [sys.executable, "-m", "pytest", "-c", str(ROOT / "pyproject.toml"), "--rootdir", str(folder)]
    run = subprocess.run(
        [*command, "-p", "no:cacheprovider", f"--junitxml={report}", str(inner)],
        cwd=folder,
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )
    assert report.exists(), run.stdout + run.stderr
    found: dict[str, str] = {}
    for case in ElementTree.parse(report).iter("testcase"):
        words = "\n".join(f"{part.get('message')}\n{part.text}" for part in case)
        found[case.attrib["name"]] = found.get(case.attrib["name"], "") + words
    return found


def written(bad: dict[str, tuple[str, str]]) -> str:
    return "\n".join(textwrap.dedent(source) for _, source in bad.values())


@pytest.fixture(scope="module")
def core_outcomes(tmp_path_factory: pytest.TempPathFactory) -> dict[str, str]:
    source = IMPORTS + written(BAD) + textwrap.dedent(GOOD)
    return outcomes(tmp_path_factory.mktemp("core"), source)


@pytest.fixture(scope="module")
def qt_outcomes(tmp_path_factory: pytest.TempPathFactory) -> dict[str, str]:
    pytest.importorskip("PySide6")
    source = IMPORTS + QT_IMPORTS + written(BAD_WITH_QT) + textwrap.dedent(GOOD)
    return outcomes(tmp_path_factory.mktemp("qt"), source, (ROOT / "tests" / "ui" / "conftest.py").read_text())


@pytest.mark.parametrize("name", BAD)
def test_a_bad_test_fails_and_says_why(name: str, core_outcomes: dict[str, str]) -> None:
    assert re.search(BAD[name][0], core_outcomes[f"test_{name}"], re.DOTALL)


@pytest.mark.parametrize("name", BAD_WITH_QT)
def test_a_bad_test_with_qt_fails_and_says_why(name: str, qt_outcomes: dict[str, str]) -> None:
    assert re.search(BAD_WITH_QT[name][0], qt_outcomes[f"test_{name}"], re.DOTALL)


@pytest.mark.parametrize("name", ["test_good", "test_good_method", "test_good_sync", "test_good_log"])
def test_a_good_test_passes(name: str, core_outcomes: dict[str, str]) -> None:
    assert core_outcomes[name] == ""


@pytest.mark.parametrize("name", ["test_good", "test_good_method", "test_good_sync", "test_good_log"])
def test_a_good_test_with_qt_passes(name: str, qt_outcomes: dict[str, str]) -> None:
    assert qt_outcomes[name] == ""
