"""A child process with all it has started, and how that is ended: a process group, or a Job Object on Windows."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from collections.abc import Awaitable, Callable
from contextlib import suppress
from typing import Any, Protocol

from mcp.os.win32 import utilities as win32

Endings = tuple[Callable[[], Awaitable[None]], ...]


class ProcessTree(Protocol):
    """A started server and its descendants."""

    endings: Endings
    """The ways to end the tree, the gentlest first. Each is tried when the one before has not sufficed."""

    def alive(self) -> bool:
        """Whether anything of the tree may still run."""
        ...

    def leader_exited(self) -> None:
        """The process that was started has ended; its descendants may live on."""
        ...


class PosixTree:
    """A process group: `npx`, `sh -c` and `uv run` wrappers are ended together with what they started.

    A descendant that moves to a group of its own is on its own.
    """

    def __init__(self, pid: int) -> None:
        self._group = pid
        self._gone = False
        self.endings: Endings = (self.terminate, self.kill)

    def alive(self) -> bool:
        return not self._gone and self._signal(0)

    def leader_exited(self) -> None:
        # As long as the group has a member its id is not used again. Once it had none, it may be someone else's.
        self._gone = not self._signal(0)

    async def terminate(self) -> None:
        """Ask every member to end."""
        self._signal(signal.SIGTERM)

    async def kill(self) -> None:
        """End every member."""
        self._signal(signal.SIGKILL)

    def _signal(self, number: int) -> bool:
        if self._gone:
            return False
        with suppress(ProcessLookupError, PermissionError):
            os.killpg(self._group, number)
            return True
        return False


class WindowsTree:
    """A Job Object, made and ended by the SDK's helpers. Windows knows no gentle end for a tree, only the hard one.

    The job dies with its last handle, so nothing outlives a crash of ours.
    """

    def __init__(self, pid: int, end_leader: Callable[[], None]) -> None:
        self.pid = pid
        self.terminate = end_leader
        self.endings: Endings = (self.kill,)
        win32._maybe_assign_process_to_job(self._process(), win32._create_job_object())

    def alive(self) -> bool:
        return self._process() in win32._process_jobs

    def leader_exited(self) -> None:
        """Nothing to note: a job's handle cannot come to mean something else."""

    async def kill(self) -> None:
        """End every member of the job, and the leader if it was in none."""
        await win32.terminate_windows_process_tree(self._process())

    def _process(self) -> Any:
        """The helpers are typed for the SDK's own process class; all they use of it is `pid` and `terminate`."""
        return self


if sys.platform == "win32":
    SPAWN_OPTIONS: dict[str, Any] = {"creationflags": subprocess.CREATE_NO_WINDOW}
else:
    SPAWN_OPTIONS: dict[str, Any] = {"start_new_session": True}
"""What `subprocess_exec` has to be told so that `tree_of` works and no console window opens."""


def tree_of(pid: int, end_leader: Callable[[], None]) -> ProcessTree:
    """The tree of a process just started with `SPAWN_OPTIONS`; `end_leader` ends that process alone."""
    return WindowsTree(pid, end_leader) if sys.platform == "win32" else PosixTree(pid)
