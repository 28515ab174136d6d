"""One running app a user."""

import json
import os
import signal
import stat
import subprocess
import sys
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path

import pytest
from PySide6.QtNetwork import QLocalSocket
from PySide6.QtWidgets import QApplication

from checks.waiting import until_sync
from mcp_patchbay.ui.instance import SingleInstance

PROGRAM = """
import json, sys
from pathlib import Path
from PySide6.QtCore import QCoreApplication
from mcp_patchbay.ui.instance import SingleInstance

folder, limit, *arguments = sys.argv[1:]
app = QCoreApplication([])
instance = SingleInstance(Path(folder))
outcome = instance.claim(arguments, float(limit))
print(json.dumps(outcome), flush=True)
if outcome == "first":
    instance.started_again.connect(lambda given: print(json.dumps(given), flush=True))
    app.exec()
"""


@contextmanager
def started(folder: Path, *arguments: str, limit: float = 20) -> Iterator[subprocess.Popen[str]]:
    """A program that claims the folder; as the first instance it prints what later starts hand over."""
    command = [sys.executable, "-c", PROGRAM, str(folder), str(limit), *arguments]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
        try:
            yield process
        finally:
            process.kill()


def next_line(process: subprocess.Popen[str]) -> object:
    assert process.stdout is not None
    return json.loads(process.stdout.readline())


def test_a_second_start_hands_its_arguments_over_and_ends(tmp_path: Path) -> None:
    with started(tmp_path) as first:
        assert next_line(first) == "first"
        for arguments in ([], ["--hidden"], ["with space", "ümläut"]):
            with started(tmp_path, *arguments) as second:
                assert next_line(second) == "handed_over"
                assert second.wait(10) == 0
            assert next_line(first) == arguments


def test_of_many_starts_at_once_exactly_one_is_first(tmp_path: Path) -> None:
    count = 6
    with ExitStack() as stack:
        processes = [stack.enter_context(started(tmp_path)) for _ in range(count)]
        outcomes = [next_line(process) for process in processes]
    assert sorted(map(str, outcomes)) == ["first"] + ["handed_over"] * (count - 1)


def test_what_a_crash_left_is_taken_over(tmp_path: Path) -> None:
    with started(tmp_path) as first:
        assert next_line(first) == "first"
        first.kill()
        first.wait(10)
        assert (tmp_path / "instance.lock").exists()
        with started(tmp_path) as second, started(tmp_path) as third:
            assert {str(next_line(second)), str(next_line(third))} == {"first", "handed_over"}


@pytest.mark.skipif(os.name == "nt", reason="POSIX signals")
def test_a_first_instance_that_hangs_is_not_replaced_silently(tmp_path: Path) -> None:
    with started(tmp_path) as first:
        assert next_line(first) == "first"
        first.send_signal(signal.SIGSTOP)
        with started(tmp_path, limit=0.3) as second:
            assert next_line(second) == "no_answer"
        with started(tmp_path, "late") as third:
            first.send_signal(signal.SIGCONT)
            assert next_line(third) == "handed_over"


def test_a_start_while_the_first_one_ends_becomes_the_first(tmp_path: Path, qapp: QApplication) -> None:
    ending = SingleInstance(tmp_path)
    assert ending.claim([]) == "first"
    ending._server.close()  # as in `release`, at the moment between its two steps
    with started(tmp_path) as second:
        with pytest.raises(subprocess.TimeoutExpired):
            second.wait(0.5)
        ending.release()
        assert next_line(second) == "first"


def test_each_folder_has_an_instance_of_its_own(tmp_path: Path, qapp: QApplication) -> None:
    instances = []
    for name in ("one", "two"):
        (tmp_path / name).mkdir()
        instances.append(SingleInstance(tmp_path / name))
        assert instances[-1].claim([]) == "first"
    for instance in instances:
        instance.release()


@pytest.mark.skipif(os.name == "nt", reason="POSIX modes")
def test_only_the_owner_may_connect(tmp_path: Path, qapp: QApplication) -> None:
    instance = SingleInstance(tmp_path)
    assert instance.claim([]) == "first"
    mode = os.stat(instance.address).st_mode
    assert stat.S_ISSOCK(mode)
    assert stat.S_IMODE(mode) & 0o077 == 0
    instance.release()
    assert not Path(instance.address).exists()


def test_a_folder_that_is_too_deep_for_a_socket_works_too(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    runtime = tmp_path / "rt"
    runtime.mkdir(mode=0o700)
    monkeypatch.setenv("XDG_RUNTIME_DIR", str(runtime))
    deep = tmp_path / ("d" * 80) / ("e" * 80)
    deep.mkdir(parents=True)
    with started(deep) as first:
        assert next_line(first) == "first"
        with started(deep, "x") as second:
            assert next_line(second) == "handed_over"


@pytest.mark.parametrize("message", [b"no json\n", b'{"a": 1}\n', b"[1]\n", b"x" * 100_000])
def test_nonsense_is_not_taken_for_a_start(tmp_path: Path, qapp: QApplication, message: bytes) -> None:
    instance = SingleInstance(tmp_path)
    assert instance.claim([]) == "first"
    heard: list[object] = []
    instance.started_again.connect(heard.append)
    stranger = QLocalSocket()
    stranger.connectToServer(instance.address)
    stranger.write(message)

    def ended() -> bool:
        qapp.processEvents()
        return stranger.state() is QLocalSocket.LocalSocketState.UnconnectedState

    until_sync(ended)
    assert heard == []
    instance.release()


def test_a_lock_that_cannot_be_written_does_not_keep_the_app_from_starting(
    tmp_path: Path, qapp: QApplication, expect_log: object
) -> None:
    expect_log("cannot be written")  # type: ignore[operator]
    expect_log("cannot be heard", must_come=False)  # type: ignore[operator]
    instance = SingleInstance(tmp_path / "missing")
    assert instance.claim([], limit=1) == "first"
    instance.release()
