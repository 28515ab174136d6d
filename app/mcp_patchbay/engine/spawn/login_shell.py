"""The PATH that a person's login shell sets up, which an app started from the Dock or autostart does not have."""

from __future__ import annotations

import asyncio
import contextlib
import logging
import os
import signal
import uuid
from typing import TYPE_CHECKING
from weakref import WeakKeyDictionary

from mcp_patchbay.engine import tasks

if TYPE_CHECKING:
    from collections.abc import Mapping

log = logging.getLogger(__name__)

LIMIT = 5.0
"""Seconds that the shell may take; rc files that fetch updates or ask questions never end."""

MOST_OUTPUT = 1 << 20
"""Bytes of output after which the shell is given up."""

QUIET = {"TERM": "dumb", "DISABLE_AUTO_UPDATE": "true", "ZSH_TMUX_AUTOSTART": "false", "PATCHBAY_LOGIN_SHELL": "1"}
"""Variables that keep well-known rc files from asking, updating or starting a multiplexer."""

Answers = dict[tuple[str, str], "asyncio.Task[str | None]"]
_asked: WeakKeyDictionary[asyncio.AbstractEventLoop, Answers] = WeakKeyDictionary()


async def login_path(environ: Mapping[str, str], *, limit: float = LIMIT) -> str | None:
    """The login shell's PATH, or None when it does not tell within `limit` seconds. POSIX only.

    The shell is asked once; callers that come meanwhile or later share the answer.
    """
    shell = login_shell(environ)
    answers = _asked.setdefault(asyncio.get_running_loop(), {})
    key = (shell, environ.get("HOME", ""))
    if key not in answers:
        answers[key] = tasks.start(_ask(shell, environ, limit), name="login shell")
    return await asyncio.shield(answers[key])


def login_shell(environ: Mapping[str, str]) -> str:
    """The person's shell: `SHELL`, else the one of the user database."""
    if shell := environ.get("SHELL"):
        return shell
    try:
        import pwd

        return pwd.getpwuid(os.getuid()).pw_shell or "/bin/sh"
    except (ImportError, KeyError):
        return "/bin/sh"


async def _ask(shell: str, environ: Mapping[str, str], limit: float) -> str | None:
    # What rc files print stands before the first marker or after the second one.
    marker = f"__patchbay_{uuid.uuid4().hex}__"
    line = f"echo {marker}; printenv PATH; echo {marker}"
    try:
        process = await asyncio.create_subprocess_exec(
            *(shell, "-ilc", line),
            stdin=asyncio.subprocess.DEVNULL,
            stdout=asyncio.subprocess.PIPE,
            stderr=asyncio.subprocess.DEVNULL,
            env={**environ, **QUIET},
            start_new_session=True,
        )
    except OSError as error:
        log.info("the login shell %s could not be started: %s", shell, error.strerror)
        return None
    assert process.stdout is not None
    try:
        async with asyncio.timeout(limit):
            return await _between(process.stdout, marker.encode())
    except TimeoutError:
        log.info("the login shell %s did not tell its PATH within %g s", shell, limit)
        return None
    finally:
        await _end(process)


async def _between(stream: asyncio.StreamReader, marker: bytes) -> str | None:
    """What the shell says between the markers. Not read to the end: a background job of an rc file may keep it open."""
    seen = b""
    while seen.count(marker) < 2:
        chunk = await stream.read(65536)
        if not chunk or len(seen) > MOST_OUTPUT:
            return None
        seen += chunk
    return os.fsdecode(seen.split(marker)[1].strip()) or None


async def _end(process: asyncio.subprocess.Process) -> None:
    """End the shell and all that its rc files started."""
    with contextlib.suppress(ProcessLookupError, PermissionError):
        os.killpg(process.pid, signal.SIGKILL)
    with contextlib.suppress(TimeoutError):
        async with asyncio.timeout(1):
            await process.wait()
    process._transport.close()  # type: ignore[attr-defined]  # else an inherited pipe end keeps it open
