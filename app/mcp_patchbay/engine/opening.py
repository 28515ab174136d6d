"""One try to connect to a server, step by step."""

from __future__ import annotations

import asyncio
import os
from collections import deque
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from mcp.shared.exceptions import MCPError
from mcp_types import CONNECTION_CLOSED, LoggingMessageNotificationParams

from mcp_patchbay.domain.errors import ConfigError, PatchbayError
from mcp_patchbay.domain.messages import message
from mcp_patchbay.domain.placeholders import redact, resolve_target
from mcp_patchbay.domain.servers import (
    DEFAULT_CONNECT_TIMEOUT,
    BuiltinServer,
    HttpServer,
    ServerSpec,
    StdioServer,
    renamed,
)
from mcp_patchbay.domain.state import Step
from mcp_patchbay.engine import failures, orphans
from mcp_patchbay.engine.client import PatchbayClient
from mcp_patchbay.engine.clock import Clock
from mcp_patchbay.engine.eras import mode_for, remember_era
from mcp_patchbay.engine.http import HttpTransport, http_transport
from mcp_patchbay.engine.interaction import interaction_callbacks
from mcp_patchbay.engine.opened import Opened
from mcp_patchbay.engine.session import no_answer
from mcp_patchbay.engine.spawn.resolve import resolve
from mcp_patchbay.engine.spawn.runners import package_runner
from mcp_patchbay.engine.start_gate import StartGate
from mcp_patchbay.engine.stdio.process import Hooks, Launch
from mcp_patchbay.engine.transitions import MAX_ATTEMPTS

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Callable, Mapping

    from mcp_patchbay.domain.ports import Builtins, Interaction, Memory, Secrets, Tokens
    from mcp_patchbay.engine.recorder import Recorder
    from mcp_patchbay.engine.stdio.dispatcher import StdioDispatcher

FIRST_DOWNLOAD = 300.0
"""Seconds that a package runner's first start may take, since it downloads, and to which output stretches any start."""


@dataclass(frozen=True)
class Ports:
    """What the hub was given, for all its connections."""

    secrets: Secrets | None = None
    builtins: Builtins | None = None
    memory: Memory | None = None
    tokens: Tokens | None = None
    interaction: Interaction | None = None
    environ: Mapping[str, str] = field(default_factory=lambda: os.environ)
    clock: Clock = field(default_factory=Clock)
    gate: StartGate = field(default_factory=StartGate)
    attempts: int = MAX_ATTEMPTS


class NoSecrets:
    """Where no secrets port was given, there are none."""

    async def get(self, server_id: str, field: str) -> str | None:
        return None


class Opening:
    """One try: from the settings to a session with its first lists.

    `single_mode` ("auto", "legacy" or nothing) is for a server that was seen to end in both protocol eras: one process
    is started, in that mode, and no second one when it ends on the probe.

    Attributes:
        limit: seconds that this try may take; output renews it, up to `FIRST_DOWNLOAD`.
        last_output: the last line the server wrote so far, redacted.
        pid, command: the process, and the resolved command line with secrets masked.
        seconds: how long connecting took, once it has.
        lost: why the connection ended by itself, once it has.
    """

    def __init__(
        self,
        spec: ServerSpec,
        ports: Ports,
        recorder: Recorder,
        *,
        on_moved: Callable[[Opening], None],
        on_lost: Callable[[PatchbayError], None],
        on_list_changed: Callable[[], None],
        single_mode: str = "",
    ) -> None:
        self.spec = spec
        self.limit = spec.connect_timeout or DEFAULT_CONNECT_TIMEOUT
        self.seconds = 0.0
        self.last_output = ""
        self.pid: int | None = None
        self.command: tuple[str, ...] = ()
        self.lost: PatchbayError | None = None
        self._ports = ports
        self._recorder = recorder
        self._on_moved = on_moved
        self._on_lost = on_lost
        self._on_list_changed = on_list_changed
        self._single_mode = single_mode
        self._masks: tuple[str, ...] = ()
        self._stray = b""
        self._last_lines: deque[bytes] = deque(maxlen=failures.LAST_LINES)
        self._timeout: asyncio.Timeout | None = None
        self._aborted = self._ran_out = self._connected = False
        self._latest = 0.0
        self._client: PatchbayClient | None = None
        self._transport: HttpTransport | None = None
        local = isinstance(spec.target, StdioServer)
        keys = ["settings", *(["command", "process"] if local else ["reach"]), "handshake", "lists"]
        if isinstance(spec.target, BuiltinServer):
            keys.remove("reach")
        self._steps = {key: Step("open", message(f"step.{key}")) for key in keys}

    # ---- opening
    async def open(self, stack: AsyncExitStack) -> Opened:
        """Connect; what is opened goes onto the stack, to be closed by the same task.

        Raises:
            whatever went wrong; `failures.describe` puts it into words. TimeoutError also after `abort`.
        """
        async with AsyncExitStack() as start:
            async with self._limited(None):
                await start.enter_async_context(self._ports.gate.place())
            began = asyncio.get_running_loop().time()
            self._latest = began + max(self.limit, FIRST_DOWNLOAD)
            async with self._limited(self.limit):
                opened = await self._steps_to_session(stack)
        self._connected, self.seconds = True, asyncio.get_running_loop().time() - began
        remember_era(self._ports.memory, self.spec, opened.client, self._ports.clock.time())
        return opened

    @asynccontextmanager
    async def _limited(self, seconds: float | None) -> AsyncIterator[None]:
        """A part of the way that `abort` ends at once, and that time ends after `seconds`."""
        if self._aborted:
            raise TimeoutError
        try:
            async with asyncio.timeout(seconds) as self._timeout:
                yield
        finally:
            self._ran_out = self._timeout is not None and self._timeout.expired()
            self._timeout = None  # a limit that is over can be moved no more, and output goes on coming

    async def _steps_to_session(self, stack: AsyncExitStack) -> Opened:
        self._begin("settings")
        target, self._masks = await resolve_target(
            self.spec.target, self._ports.secrets or NoSecrets(), self._ports.environ
        )
        self._recorder.hide(self._masks)
        self._done("settings")
        server = await self._server(target)
        self._client = client = PatchbayClient(
            server,
            mode=self._single_mode or mode_for(self._ports.memory, self.spec, self._ports.clock.time()),
            restart=not self._single_mode,
            hooks=Hooks(
                on_traffic=self._recorder.message,
                on_noise=self._on_noise,
                on_stderr=self._on_stderr,
                on_output=self._renew,
            ),
            on_list_changed=lambda _kind: self._on_list_changed(),
            on_asked=self._on_asked,
            on_process=self._on_process,
            logging_callback=self._on_server_log,
            **interaction_callbacks(self._ports.interaction, lambda: self.spec.name),
        )
        await self._connect(client, stack)
        opened = Opened(client, self._transport, self._recorder, self)
        self._begin("lists")
        await opened.list_all()
        self._done("lists", _counted(opened))
        return opened

    def abort(self) -> None:
        """Give the try up: `open` ends with a TimeoutError soon."""
        self._aborted = True
        if self._timeout is not None and not self._timeout.expired():
            self._timeout.reschedule(asyncio.get_running_loop().time())

    def rename(self, name: str) -> None:
        """The server has another name now."""
        self.spec = renamed(self.spec, name)

    @property
    def died_in_both_eras(self) -> bool:
        """Whether the process ended on the probe, and the one that was started again had not a word for us either."""
        client = self._client
        return client is not None and client.restarted and not (client.dispatcher and client.dispatcher.received)

    def ended(self) -> None:
        """The session is closed and the process gone."""
        if self.pid is not None and self._ports.memory is not None:
            orphans.forget(self._ports.memory, self.pid)

    async def _server(self, target: Any) -> Any:
        """What the client connects to: a launch, a transport, or a server object."""
        if isinstance(target, StdioServer):
            return await self._launch(target)
        if isinstance(target, HttpServer):
            self._transport = http_transport(
                target.url,
                target.type,
                target.headers,
                on_traffic=self._recorder.message,
                on_eof=self._lose,
                connect_timeout=self.limit,
                shown_as=self.spec.target.summary(),
            )
            return self._transport
        if isinstance(target, BuiltinServer):
            return await self._builtin(target)
        raise target.error

    async def _launch(self, target: StdioServer) -> Launch:
        self._begin("command")
        resolved = await resolve(target, environ=self._ports.environ)
        self.command = tuple(redact(part, self._masks) for part in resolved.argv)
        self._done("command", redact(resolved.found, self._masks))
        memory = self._ports.memory
        known = memory is not None and memory.recall("started", self.spec.id)
        if package_runner(resolved.argv) and not known:
            self.limit = max(self.limit, FIRST_DOWNLOAD)
            self._reschedule(asyncio.get_running_loop().time() + self.limit)
        return Launch(resolved.argv, {**resolved.env, **orphans.marker()}, resolved.cwd, resolved.batch_line)

    async def _builtin(self, target: BuiltinServer) -> Any:
        if not isinstance(target.builtin, str):
            return target.builtin
        builtins = self._ports.builtins
        if builtins is None or target.builtin not in builtins.names():
            raise ConfigError(
                message("error.builtin.title"),
                message("error.builtin", builtin=target.builtin),
                message("error.builtin.hint", known=", ".join(builtins.names() if builtins else ()) or "–"),
                field="builtin",
            )
        return await asyncio.to_thread(builtins.create, target.builtin, target.options)

    async def _connect(self, client: PatchbayClient, stack: AsyncExitStack) -> None:
        first = "process" if "process" in self._steps else "reach" if "reach" in self._steps else "handshake"
        self._begin(first)
        await stack.enter_async_context(client)
        if client.dispatcher is not None:
            client.dispatcher.ended.add_done_callback(lambda _ended: self._lose(self._exit_error()))
            if self._ports.memory is not None:
                self._ports.memory.remember("started", self.spec.id, True)
        elif self._transport is not None:
            self._done("reach", self.spec.target.summary())
        self._done("handshake", client.protocol_version)

    async def _on_process(self, process: StdioDispatcher) -> None:
        """A process was started; a second one when the first ended on the probe."""
        self.pid = process.pid
        self._done("process", f"PID {self.pid}")
        self._begin("handshake")
        if self._ports.memory is not None and process.pid is not None:
            await orphans.record(self._ports.memory, process.pid)

    # ---- what went wrong
    def explain(self, causes: list[BaseException], limit: float | None) -> PatchbayError | None:
        """Say what failed, where the process or the transport knows more than the exceptions do."""
        cause = causes[0]
        process = self._client.dispatcher if self._client else None
        if isinstance(cause, TimeoutError) and self._ran_out:
            if self._stray:
                return failures.not_mcp(limit or self.limit, self._shown(self._stray))
            return failures.silent(limit or self.limit)
        if process is not None and process.closed and _is_closed(cause):
            return self._exit_error()
        if isinstance(cause, OSError | ValueError) and self._steps.get("process", _NONE).kind == "running":
            return failures.not_started(self.spec.target.summary(), cause)
        if self._transport is None:
            return None
        if self._connected or isinstance(cause, TimeoutError | MCPError):
            return self._transport.failure_of(cause)
        return self._transport.describe(cause)

    def _lose(self, error: PatchbayError) -> None:
        self.lost = self.lost or error
        self._on_lost(error)

    def fail_step(self) -> None:
        """Mark the step that was under way, or the process of a ready server, as the one that failed."""
        running = [key for key, step in self._steps.items() if step.kind == "running"]
        for key in running or [key for key in ("process", "reach") if key in self._steps]:
            self._set(key, "failed", self._steps[key].note)

    def steps(self) -> tuple[Step, ...]:
        return tuple(self._steps.values())

    def _exit_error(self) -> PatchbayError:
        process = self._client.dispatcher if self._client else None
        if process is None or process.returncode is None:
            return failures.connection_closed()
        return failures.process_exited(process.returncode, self._shown(failures.last_words(self._last_lines)))

    # ---- what the server says
    def _on_noise(self, line: bytes) -> None:
        self._stray = self._stray or line
        self._recorder.line("stdout", "warning", line)
        self._show_output(line)

    def _on_stderr(self, line: bytes) -> None:
        if line.strip():
            self._last_lines.append(line)
        self._recorder.line("stderr", "info", line)
        self._show_output(line)

    async def _on_server_log(self, params: LoggingMessageNotificationParams) -> None:
        text = params.data if isinstance(params.data, str) else str(params.data)
        logger = f"{params.logger}: " if params.logger else ""
        self._recorder.line("server", params.level, (logger + text).encode("utf-8", "replace"))

    def _on_asked(self, method: str) -> None:
        if method != "ping":
            self._recorder.note("info", f"The server asked for {method}")

    def _show_output(self, line: bytes) -> None:
        if self._timeout is not None and line.strip():
            self.last_output = self._shown(line)
            self._on_moved(self)

    def _shown(self, line: bytes) -> str:
        return redact(line.decode("utf-8", "replace").strip(), self._masks)[:300]

    def _renew(self) -> None:
        """Output is a sign of life: the limit counts from now again, up to the longest that a start may take."""
        if self._timeout is not None and not self._aborted:
            self._reschedule(asyncio.get_running_loop().time() + self.limit)

    def _reschedule(self, when: float) -> None:
        timeout = self._timeout
        if timeout is not None and not timeout.expired() and not self._aborted:
            current = timeout.when() or 0.0
            timeout.reschedule(max(current, min(when, self._latest)))

    # ---- steps
    def _begin(self, key: str) -> None:
        self._set(key, "running", "")

    def _done(self, key: str, note: str = "") -> None:
        self._set(key, "done", note)

    def _set(self, key: str, kind: Any, note: str) -> None:
        self._steps[key] = Step(kind, self._steps[key].title, note)
        self._on_moved(self)


_NONE = Step("open", message("step.process"))


def _is_closed(cause: BaseException) -> bool:
    return not isinstance(cause, MCPError) or (cause.code == CONNECTION_CLOSED and no_answer(cause))


def _counted(opened: Opened) -> str:
    counts = ((len(opened.tools), "tool"), (len(opened.prompts), "prompt"), (len(opened.resources), "resource"))
    return ", ".join(f"{count} {word}{'' if count == 1 else 's'}" for count, word in counts if count) or "nothing"
