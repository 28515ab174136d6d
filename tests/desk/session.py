"""A desktop session of its own for one test, such as one with another kind of tray host."""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from checks.waiting import until_sync

SCRIPT = Path(__file__).with_name("session.sh")
OWN_TO_A_SESSION = ("DISPLAY", "DBUS_SESSION_BUS_ADDRESS", "XDG_", "DESK_", "QT_LINUX_ACCESSIBILITY", "QT_QPA_PLATFORM")
START_LIMIT = 60.0
END_LIMIT = 20.0


def session_command(*command: str, **knobs: str) -> tuple[list[str], dict[str, str]]:
    """Argv and environment that run `command` in a new session; knobs as in session.sh: `tray="xembed"`."""
    inherited = {k: v for k, v in os.environ.items() if not k.startswith(OWN_TO_A_SESSION)}
    inherited.pop("PYTHON_KEYRING_BACKEND", None)
    wanted = {f"DESK_{name.upper()}": value for name, value in knobs.items()}
    return [str(SCRIPT), *command], inherited | {"DESK_PY": sys.executable} | wanted


@contextmanager
def desk_session(**knobs: str) -> Iterator[dict[str, str]]:
    """A new session; gives the environment in which programs are to be started that shall be part of it.

    Knobs are those of session.sh in lower case: `desk_session(tray="xembed", notify="none")`.
    """
    with tempfile.TemporaryDirectory(prefix="desk-env-") as folder:
        report = Path(folder, "environment")
        # The session lives until `read` meets the end of its stdin.
        hold = f'env -0 > "{report}.part" && mv "{report}.part" "{report}" && read -r _'
        command, environment = session_command("sh", "-c", hold, **knobs)
        with subprocess.Popen(command, env=environment, stdin=subprocess.PIPE, start_new_session=True) as session:
            try:
                until_sync(lambda: report.exists() or session.poll() is not None, START_LIMIT, "the desktop session")
                assert report.exists(), f"the desktop session ended with status {session.returncode}"
                pairs = (entry.partition("=") for entry in report.read_text().split("\0") if entry)
                yield {name: value for name, _, value in pairs}
            finally:
                assert session.stdin is not None
                session.stdin.close()
                try:
                    session.wait(END_LIMIT)
                except subprocess.TimeoutExpired:
                    session.terminate()
                    session.wait(END_LIMIT)
