"""One child process on asyncio's SubprocessProtocol, from its start to the end of its whole tree."""

from __future__ import annotations

import asyncio
import logging
from contextlib import suppress
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, cast

import anyio

from mcp_patchbay.engine import tasks
from mcp_patchbay.engine.stdio.framing import TextLines
from mcp_patchbay.engine.stdio.process_tree import SPAWN_OPTIONS, ProcessTree, tree_of

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from mcp_patchbay.domain.records import Direction

log = logging.getLogger(__name__)

STDIN_HIGH = 2**20
"""Bytes buffered for a server that does not read before senders wait."""
READ_SIZE = 2**16
GRACE = 1.5
"""Seconds that each step of ending may take: stdin closed, asked to end, killed."""
EXIT_CODE_WAIT = 0.25
"""Seconds to wait, after stdout has ended, for the exit code, so that the error can name it."""
LAST_ANSWERS_WAIT = 0.5
"""Seconds to wait, after the exit, for what is still in the pipe: a grandchild can hold stdout open for ever."""
PROMPT_WAIT = 1.0
"""Seconds after which an unfinished line on stderr is given out: a prompt has no newline."""
POLL = 0.02


@dataclass(frozen=True, slots=True)
class Launch:
    """A command to run: `argv` as it is, in `cwd` (None: ours), with `env` as its complete environment.

    For a Windows batch file, `batch_line` is what cmd.exe runs in the place of `argv`.

    Arguments and environment may hold secrets and stay out of the repr.
    """

    argv: tuple[str, ...] = field(repr=False)
    env: Mapping[str, str] = field(repr=False)
    cwd: str | None = None
    batch_line: str | None = field(default=None, repr=False)


def _ignore(*_: object) -> None:
    """Nobody listens."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Hooks:
    """Who hears what passes through a server's pipes. Called from the event loop; must return at once.

    Attributes:
        on_traffic: each JSON-RPC message as its bytes, without the newline, and which way it went.
        on_noise: a line on stdout that is no JSON-RPC message.
        on_stderr: a line on stderr.
        on_output: some bytes came, of whatever kind.
    """

    on_traffic: Callable[[Direction, bytes], None] = _ignore
    on_noise: Callable[[bytes], None] = _ignore
    on_stderr: Callable[[bytes], None] = _ignore
    on_output: Callable[[], None] = _ignore


class ServerProcess(asyncio.SubprocessProtocol):
    """A started server. Subclasses set what takes its output and what is to happen when it is lost.

    Attributes:
        pid: the process that was started; None before the start.
        returncode: its exit code, negative for a signal; None while it runs.
        exited: set when it has ended.
    """

    def __init__(self, hooks: Hooks) -> None:
        self.loop = asyncio.get_running_loop()
        self.hooks = hooks
        self.pid: int | None = None
        self.returncode: int | None = None
        self.exited = asyncio.Event()
        self.writable: asyncio.Future[None] | None = None  # there while stdin is backed up
        self._take_stdout: Callable[[bytes], None] = _ignore
        self._stdout_ended: Callable[[], None] = _ignore
        self._stdout_open = True
        self._stderr = TextLines(lambda line: self.tell(self.hooks.on_stderr, line))
        self._stderr_flush: asyncio.TimerHandle | None = None
        self._loss_due: asyncio.TimerHandle | None = None
        self._released = asyncio.Event()
        self._stopper: asyncio.Task[None] | None = None

    async def spawn(self, launch: Launch) -> None:
        """Start the command.

        Raises:
            OSError: it could not be started.
            ValueError: an argument or variable that no process can be given, such as one with a NUL.
        """
        options = {"cwd": launch.cwd, "env": dict(launch.env), **SPAWN_OPTIONS}
        if launch.batch_line is not None:
            await self.loop.subprocess_shell(lambda: self, launch.batch_line, **options)
        else:
            await self.loop.subprocess_exec(lambda: self, *launch.argv, **options)

    def lost(self) -> None:
        """There is no more talking to it. Called at least once; subclasses make it harmless to call again."""
        if self._loss_due is not None:
            self._loss_due.cancel()

    def tell(self, hook: Callable[..., None], *args: Any) -> None:
        """Call a hook; what it raises is its own trouble."""
        try:
            hook(*args)
        except Exception:
            log.exception("a hook raised")

    # ---- stopping
    async def stop(self, grace: float = GRACE) -> None:
        """Close stdin, wait, then end the whole tree, gently and then not. Takes at most about 3 * `grace` seconds.

        Finishes even when the caller is cancelled; later calls wait for the first.
        """
        if self._stopper is None:  # a task of its own: teardown often runs inside a cancelled anyio scope
            self._stopper = tasks.start(self._stop(grace), name=f"stop process {self.pid}")
        with anyio.CancelScope(shield=True):
            await asyncio.shield(self._stopper)

    async def _stop(self, grace: float) -> None:
        self.stdin.close()
        with suppress(TimeoutError):
            async with asyncio.timeout(grace):
                await self.exited.wait()
        for ending in self._tree.endings:
            if self._all_ended():
                break
            await ending()
            last = ending is self._tree.endings[-1]
            # After the last only the leader is awaited: without a quick reaper dead children stay as zombies.
            await self._until(self.exited.is_set if last else self._all_ended, grace)
        self.lost()
        if self.stdin.get_write_buffer_size():  # closing would wait for a reader that is gone
            self.stdin.abort()
        self._transport.close()
        with suppress(TimeoutError):
            async with asyncio.timeout(grace):
                await self._released.wait()

    def _all_ended(self) -> bool:
        return self.exited.is_set() and not self._tree.alive()

    async def _until(self, condition: Callable[[], bool], limit: float) -> None:
        end = self.loop.time() + limit
        while not condition() and self.loop.time() < end:
            await asyncio.sleep(POLL)

    def _lose_within(self, seconds: float) -> None:
        if self._loss_due is not None:
            self._loss_due.cancel()
        self._loss_due = self.loop.call_later(seconds, self.lost)

    def _flush_stderr(self) -> None:
        self._stderr_flush = None
        self._stderr.flush()

    # ---- called by asyncio
    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        # Here and not after subprocess_exec: a process that ends at once calls process_exited before that returns.
        self._transport = process = cast("asyncio.SubprocessTransport", transport)
        self.pid = process.get_pid()
        self._tree: ProcessTree = tree_of(self.pid, process.kill)
        self.stdin = cast("asyncio.WriteTransport", process.get_pipe_transport(0))
        self.stdin.set_write_buffer_limits(STDIN_HIGH)
        # asyncio reads pipes into fresh 256 KiB buffers, and malloc trimming those costs more than the read itself.
        if hasattr(stdout := process.get_pipe_transport(1), "max_size"):
            cast("Any", stdout).max_size = READ_SIZE

    def pipe_data_received(self, fd: int, data: bytes) -> None:
        self.hooks.on_output()
        if fd == 1:
            self._take_stdout(data)
            return
        self._stderr.feed(data)
        if self._stderr.pending and self._stderr_flush is None:
            self._stderr_flush = self.loop.call_later(PROMPT_WAIT, self._flush_stderr)

    def pipe_connection_lost(self, fd: int, exc: Exception | None) -> None:
        if fd == 2:
            self._stderr.flush()
            return
        if fd == 1:
            self._stdout_open = False
            self._stdout_ended()
        if fd == 1 and self.exited.is_set():
            self.lost()
        else:
            self._lose_within(EXIT_CODE_WAIT)

    def process_exited(self) -> None:
        self.returncode = self._transport.get_returncode()
        self._tree.leader_exited()
        self.exited.set()
        if self._stdout_open:
            self._lose_within(LAST_ANSWERS_WAIT)
        else:
            self.lost()

    def connection_lost(self, exc: Exception | None) -> None:
        if self._stderr_flush is not None:
            self._stderr_flush.cancel()
        self._stderr.flush()
        self._released.set()

    def pause_writing(self) -> None:
        if self.writable is None:
            self.writable = self.loop.create_future()

    def resume_writing(self) -> None:
        if self.writable is not None:
            self.writable.set_result(None)
            self.writable = None
