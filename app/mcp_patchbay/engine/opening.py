"""One try to connect to a server, step by step, and what is known of the session that it opens."""

from __future__ import annotations

import asyncio
import os
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
)
from mcp_patchbay.domain.state import Step
from mcp_patchbay.engine import failures, orphans
from mcp_patchbay.engine.client import PatchbayClient, ping
from mcp_patchbay.engine.clock import Clock
from mcp_patchbay.engine.eras import mode_for, remember_era
from mcp_patchbay.engine.http import HttpTransport, http_transport, session_lost
from mcp_patchbay.engine.interaction import interaction_callbacks
from mcp_patchbay.engine.session import no_answer
from mcp_patchbay.engine.spawn.resolve import resolve
from mcp_patchbay.engine.spawn.runners import package_runner
from mcp_patchbay.engine.start_gate import StartGate
from mcp_patchbay.engine.stdio.process import Hooks, Launch
from mcp_patchbay.engine.transitions import MAX_ATTEMPTS

if TYPE_CHECKING:
    from collections.abc import Callable, Coroutine, Mapping
    from contextlib import AsyncExitStack

    from mcp_patchbay.domain.ports import Builtins, Interaction, Memory, Secrets, Tokens
    from mcp_patchbay.engine.recorder import Recorder
    from mcp_patchbay.engine.session import Listing, Raw
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


class Opened:
    """An open session: its client, what the server said of itself and what it offers."""

    def __init__(self, client: PatchbayClient, transport: HttpTransport | None, recorder: Recorder) -> None:
        info = client.server_info
        self.client = client
        self.protocol = client.protocol_version
        self.server_name = (info.title or info.name) if info else ""
        self.server_version = info.version if info else ""
        self.instructions = client.instructions or ""
        offered = client.server_capabilities.model_dump(exclude_none=True)
        self.capabilities = tuple(sorted(offered))
        self.tools: list[Raw] = []
        self.prompts: list[Raw] = []
        self.resources: list[Raw] = []
        self.resource_templates: list[Raw] = []
        self._transport = transport
        self._recorder = recorder

    async def list_all(self) -> None:
        """List everything anew, all pages. What is odd about a list is noted in the log and costs that part only."""
        self.tools = self._noted(await self.client.list_all_tools_raw())
        self.prompts = self._noted(await self.client.list_all_prompts_raw())
        self.resources = self._noted(await self.client.list_all_resources_raw())
        self.resource_templates = self._noted(await self.client.list_all_resource_templates_raw())

    async def ping(self, limit: float) -> None:
        """Ask for a sign of life, within `limit` seconds; a second time before the server is taken for deaf."""
        try:
            await ping(self.client, limit)
        except MCPError as error:
            if error.code == CONNECTION_CLOSED:  # there is nobody left to be asked a second time
                raise
            await ping(self.client, limit)

    def background(self) -> list[Coroutine[Any, Any, None]]:
        """What must run beside the session: the subscription to list changes."""
        return [self.client.watch_lists()]

    def session_lost(self, raised: BaseException) -> bool:
        """Whether the server forgot our session and so did not carry out the request."""
        return self._transport is not None and session_lost(raised)

    def _noted(self, listing: Listing) -> list[Raw]:
        entries, notes = listing
        for note in notes:
            self._recorder.note("warning", note)
        return entries


class Opening:
    """One try: from the settings to a session with its first lists.

    Attributes:
        limit: seconds that this try may take; output renews it, up to `FIRST_DOWNLOAD`.
        last_output: the last line the server wrote so far, redacted.
        pid, command: the process, and the resolved command line with secrets masked.
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
    ) -> None:
        self.spec = spec
        self.limit = spec.connect_timeout or DEFAULT_CONNECT_TIMEOUT
        self.last_output = ""
        self.pid: int | None = None
        self.command: tuple[str, ...] = ()
        self._ports = ports
        self._recorder = recorder
        self._on_moved = on_moved
        self._on_lost = on_lost
        self._on_list_changed = on_list_changed
        self._masks: tuple[str, ...] = ()
        self._stray = b""
        self._last_words = b""
        self._timeout: asyncio.Timeout | None = None
        self._aborted = False
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
        loop = asyncio.get_running_loop()
        self._latest = loop.time() + max(self.limit, FIRST_DOWNLOAD)
        async with asyncio.timeout(self.limit) as self._timeout:
            if self._aborted:
                raise TimeoutError
            self._begin("settings")
            target, self._masks = await resolve_target(
                self.spec.target, self._ports.secrets or NoSecrets(), self._ports.environ
            )
            self._recorder.hide(self._masks)
            self._done("settings")
            server = await self._server(target)
            self._client = PatchbayClient(
                server,
                mode=mode_for(self._ports.memory, self.spec, self._ports.clock.time()),
                hooks=Hooks(
                    on_traffic=self._recorder.message,
                    on_noise=self._on_noise,
                    on_stderr=self._on_stderr,
                    on_output=self._renew,
                ),
                on_list_changed=lambda _kind: self._on_list_changed(),
                on_process=self._on_process,
                logging_callback=self._on_server_log,
                **interaction_callbacks(self._ports.interaction, lambda: self.spec.name),
            )
            await self._connect(self._client, stack)
            opened = Opened(self._client, self._transport, self._recorder)
            self._begin("lists")
            await opened.list_all()
            self._done("lists", _counted(opened))
        self._timeout = None
        remember_era(self._ports.memory, self.spec, self._client, self._ports.clock.time())
        return opened

    def abort(self) -> None:
        """Give the try up: `open` ends with a TimeoutError soon."""
        self._aborted = True
        if self._timeout is not None and not self._timeout.expired():
            self._timeout.reschedule(asyncio.get_running_loop().time())

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
                on_eof=self._on_lost,
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
            client.dispatcher.ended.add_done_callback(lambda _ended: self._on_lost(self._exit_error()))
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
        if isinstance(cause, TimeoutError) and self._timeout is not None and self._timeout.expired():
            if self._stray:
                return failures.not_mcp(limit or self.limit, self._shown(self._stray))
            return failures.silent(limit or self.limit)
        if process is not None and process.closed and _is_closed(cause):
            return self._exit_error()
        if isinstance(cause, OSError | ValueError) and self._steps.get("process", _NONE).kind == "running":
            return failures.not_started(self.spec.target.summary(), cause)
        if self._transport is not None and self._timeout is None:
            return self._transport.failure_of(cause)
        if self._transport is not None and not isinstance(cause, TimeoutError | MCPError):
            return self._transport.describe(cause)
        if self._transport is not None:
            return self._transport.failure_of(cause)
        return None

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
        return failures.process_exited(process.returncode, self._shown(self._last_words))

    # ---- what the server says
    def _on_noise(self, line: bytes) -> None:
        self._stray = self._stray or line
        self._recorder.line("stdout", "warning", line)
        self._show_output(line)

    def _on_stderr(self, line: bytes) -> None:
        if line.strip():
            self._last_words = line
        self._recorder.line("stderr", "info", line)
        self._show_output(line)

    async def _on_server_log(self, params: LoggingMessageNotificationParams) -> None:
        text = params.data if isinstance(params.data, str) else str(params.data)
        logger = f"{params.logger}: " if params.logger else ""
        self._recorder.line("server", params.level, (logger + text).encode("utf-8", "replace"))

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
