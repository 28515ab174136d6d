"""The desktop that the tests run in is a real one, and ends without a trace."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from desk.notifications import recorded
from desk.session import desk_session, session_command

pytestmark = [pytest.mark.slow, pytest.mark.skipif(sys.platform != "linux", reason="an X session is for Linux")]

KEEP_A_SECRET = """
import keyring
keyring.set_password("desk-test", "me", "s3cret")
assert keyring.get_password("desk-test", "me") == "s3cret"
print(type(keyring.get_keyring()).__module__)
"""
NOTIFY = [
    "dbus-send", "--session", "--print-reply", "--dest=org.freedesktop.Notifications", "/org/freedesktop/Notifications",
    "org.freedesktop.Notifications.Notify", "string:test", "uint32:0", "string:", "string:Hello", "string:World",
    "array:string:", "dict:string:string:", "int32:-1",
]  # fmt: skip


def output(command: list[str], environment: dict[str, str]) -> str:
    done = subprocess.run(command, env=environment, capture_output=True, text=True, timeout=60, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


def processes_with(mark: str) -> list[str]:
    found = []
    for folder in Path("/proc").glob("[0-9]*"):
        try:
            if mark.encode() in (folder / "environ").read_bytes() and folder.name != str(os.getpid()):
                found.append((folder / "comm").read_text())
        except OSError:
            continue
    return found


def test_a_session_has_keyring_window_manager_tray_and_notifications_of_its_own() -> None:
    with desk_session(tray="sni", notify="log") as environment:
        assert environment["HOME"] == f"{environment['DESK_RUN']}/home"
        assert "SecretService" in output([sys.executable, "-c", KEEP_A_SECRET], environment)
        assert "Openbox" in output(["wmctrl", "-m"], environment)
        output(NOTIFY, environment)
        assert [(n["summary"], n["body"]) for n in recorded(environment["DESK_NOTIFY_LOG"])] == [("Hello", "World")]
        tray = [sys.executable, str(Path(__file__).with_name("status_notifier.py")), "items"]
        assert output(tray, environment).strip() == "[]"
    assert processes_with(environment["DESK_SESSION_ID"]) == []
    assert not Path(environment["DESK_RUN"]).exists()


def test_a_session_can_have_an_xembed_tray() -> None:
    with desk_session(tray="xembed", notify="none", keyring="off") as environment:
        assert "trayer" in output(["xdotool", "search", "--class", "trayer", "getwindowname"], environment)


def test_a_session_gives_the_status_of_its_command_and_ends_what_that_left() -> None:
    command, environment = session_command(
        "sh", "-c", "sleep 60 & echo $DESK_SESSION_ID; exit 7", tray="none", a11y="0"
    )
    done = subprocess.run(command, env=environment, capture_output=True, text=True, timeout=60, check=False)
    assert done.returncode == 7
    assert processes_with(done.stdout.strip()) == []


def test_a_locked_keyring_stays_locked() -> None:
    locked = "import keyring, secretstorage as s; c = s.dbus_init(); print(s.get_default_collection(c).is_locked())"
    with desk_session(keyring="locked", tray="none", notify="none") as environment:
        assert output([sys.executable, "-c", locked], environment).strip() == "True"
