"""Only one copy runs; a second start is heard by the first."""

import os
import subprocess
import sys

from mcp_patchbay.ui.instance import SingleInstance

SECOND = """
import sys
from pathlib import Path
from PySide6.QtCore import QCoreApplication
from mcp_patchbay.ui.instance import SingleInstance
app = QCoreApplication([])
one = SingleInstance(Path(sys.argv[1]))
print("first" if one.claim() else "heard" if one.hand_over({"hidden": False}) else "silence", flush=True)
if len(sys.argv) > 2:
    import os
    os._exit(1)
"""


def second_start(folder, *extra):
    command = [sys.executable, "-c", SECOND, str(folder), *extra]
    return subprocess.Popen(command, stdout=subprocess.PIPE, text=True, env=os.environ)


async def test_a_second_start_is_heard_by_the_first(qapp, tmp_path, qwait):
    first = SingleInstance(tmp_path)
    assert first.claim()
    process = second_start(tmp_path)
    try:
        (wish,) = await qwait.signal(first.raised, timeout=20)
        assert wish == {"hidden": False}
        await qwait.until(lambda: process.poll() is not None, timeout=20)
        assert process.stdout.read().strip() == "heard"
    finally:
        process.stdout.close()
        process.wait(10)
        first.close()


def test_two_copies_with_other_folders_do_not_know_each_other(qapp, tmp_path):
    (tmp_path / "a").mkdir()
    (tmp_path / "b").mkdir()
    copies = [SingleInstance(tmp_path / name) for name in ("a", "b")]
    assert [copy.claim() for copy in copies] == [True, True]
    for copy in copies:
        copy.close()


def test_what_a_crashed_copy_left_does_not_keep_the_next_one_from_starting(qapp, tmp_path):
    process = second_start(tmp_path, "crash")
    assert process.communicate(timeout=20)[0].strip() == "first"
    assert process.returncode == 1
    after = SingleInstance(tmp_path)
    assert after.claim()
    after.close()


def test_a_closed_copy_makes_room(qapp, tmp_path):
    first = SingleInstance(tmp_path)
    assert first.claim()
    assert not SingleInstance(tmp_path).claim()
    first.close()
    second = SingleInstance(tmp_path)
    assert second.claim()
    second.close()
