"""`ServerHub`: all servers of one user, their lifecycle and their tools. Usable without Qt."""

from __future__ import annotations

import asyncio
import logging
import os
from collections.abc import Callable, Iterable, Mapping
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from mcp_patchbay.domain.errors import BlockedError, ConfigError, NotFoundError
from mcp_patchbay.domain.events import Event, ServerAdded, ServerRemoved
from mcp_patchbay.domain.messages import message
from mcp_patchbay.domain.servers import DEFAULT_TIMEOUT, ServerSpec, renamed
from mcp_patchbay.domain.state import CheckReport, ServerState, Snapshot
from mcp_patchbay.engine import failures, orphans, tasks
from mcp_patchbay.engine.clock import Clock
from mcp_patchbay.engine.connection import Connection
from mcp_patchbay.engine.opening import Ports
from mcp_patchbay.engine.transitions import MAX_ATTEMPTS

if TYPE_CHECKING:
    from mcp.shared.dispatcher import ProgressFnT

    from mcp_patchbay.domain.catalog import PromptInfo, ResourceInfo, ToolInfo, ToolResult
    from mcp_patchbay.domain.ports import Builtins, Interaction, Memory, Secrets, Tokens
    from mcp_patchbay.engine.rings import LogRing, TrafficRing

log = logging.getLogger(__name__)

CLEANUP_LIMIT = 20.0
"""Seconds after which `cleanup` returns whatever a server does."""

Listener = Callable[[Event], None]


class ServerHub:
    """Keeps the connections of many servers.

    Args:
        specs: the servers; the enabled ones are started by `init`.
        default_timeout: seconds for one tool call of a server that has no limit of its own.
        secrets, builtins, memory, tokens, interaction: see `domain.ports`; what is not given is not there.
        environ: the environment that servers start from and `${env:...}` reads; None means the process's own.
        clock: the time, for tests.
        retry: whether a server that fails is tried again.
    """

    def __init__(
        self,
        specs: Iterable[ServerSpec] = (),
        *,
        default_timeout: float = DEFAULT_TIMEOUT,
        secrets: Secrets | None = None,
        builtins: Builtins | None = None,
        memory: Memory | None = None,
        tokens: Tokens | None = None,
        interaction: Interaction | None = None,
        environ: Mapping[str, str] | None = None,
        clock: Clock | None = None,
        retry: bool = True,
    ) -> None:
        self.default_timeout = default_timeout
        self._ports = Ports(
            secrets=secrets,
            builtins=builtins,
            memory=memory,
            tokens=tokens,
            interaction=interaction,
            environ=os.environ if environ is None else environ,
            clock=clock or Clock(),
            attempts=MAX_ATTEMPTS if retry else 1,
        )
        self._connections: dict[str, Connection] = {}
        self._listeners: list[Listener] = []
        self._initialised: asyncio.Task[None] | None = None
        self._paused: list[str] = []
        self._over = False
        self._checks: set[Connection] = set()
        self._ending: set[asyncio.Task[None]] = set()
        for spec in specs:
            self._know(spec)

    # ---- servers
    def servers(self) -> tuple[ServerSpec, ...]:
        """All servers' settings, in order."""
        return tuple(connection.spec for connection in self._connections.values())

    def get_server(self, name: str) -> ServerSpec | None:
        """One server's settings, or None when there is no such server."""
        connection = self._connections.get(name)
        return connection.spec if connection else None

    def snapshot(self, name: str) -> Snapshot:
        """What is known of one server now.

        Raises:
            NotFoundError: no such server.
        """
        return self._connection(name).snapshot()

    def snapshots(self) -> tuple[Snapshot, ...]:
        """What is known of all servers now, in order."""
        return tuple(connection.snapshot() for connection in self._connections.values())

    def log(self, name: str) -> LogRing:
        """The server's log."""
        return self._connection(name).recorder.log

    def traffic(self, name: str) -> TrafficRing:
        """The server's JSON-RPC traffic."""
        return self._connection(name).recorder.traffic

    def known_secrets(self) -> tuple[str, ...]:
        """What must not appear in any log: the secrets that connections were made with."""
        return tuple({mask for connection in self._connections.values() for mask in connection.recorder.log.masks})

    def subscribe(self, listener: Listener) -> Callable[[], None]:
        """Hear all events, on the event loop; a listener that fails costs the others nothing. Returns the way out."""
        self._listeners.append(listener)

        def unsubscribe() -> None:
            if listener in self._listeners:
                self._listeners.remove(listener)

        return unsubscribe

    # ---- lifecycle
    async def init(self) -> None:
        """Start every enabled server, side by side, and wait until each is ready or is known not to be.

        Idempotent; concurrent calls share one start. One bad server never stops the rest. Ended by `cleanup`, it
        returns.
        """
        if self._over:
            return
        if self._initialised is None:
            self._initialised = tasks.start(self._start_all(), name="hub init")
        await asyncio.wait([self._initialised])

    async def add_server(self, spec: ServerSpec, *, transient: bool = False, wait: bool = True) -> None:
        """Know another server and start it when it is enabled; with `wait`, until it is ready or known not to be.

        Raises:
            ConfigError: "Server with name X already exists".
        """
        if spec.name in self._connections:
            raise ConfigError(
                message("error.exists.title"),
                message("error.exists", name=spec.name),
                message("error.exists.hint"),
                field="name",
            )
        connection = self._know(spec, transient=transient)
        self._emit(ServerAdded(spec.name))
        await self._start_if_due(connection, wait)

    async def update_server(self, spec: ServerSpec, *, wait: bool = True) -> None:
        """Take new settings. It reconnects only when what it connects with changed; the rest applies at once.

        Raises:
            NotFoundError: no such server.
        """
        connection = self._connection(spec.name)
        before = connection.spec
        same_connection = spec.connects_like(before) and spec.enabled == before.enabled
        if same_connection and spec.unconfirmed == before.unconfirmed:
            connection.apply(spec)
            return
        connection.apply(spec)
        if spec.enabled and not spec.unconfirmed and not self._over:
            connection.restart()
            if wait:
                await connection.settled()
        else:
            self._forget_pause(spec.name)
            await connection.stop()

    async def rename_server(self, old: str, new: str) -> None:
        """Give a server another name; its connection stays.

        Raises:
            NotFoundError: no such server.
            ConfigError: the new name is taken.
        """
        connection = self._connection(old)
        if old == new:
            return
        if new in self._connections:
            raise ConfigError(
                message("error.exists.title"),
                message("error.exists", name=new),
                message("error.exists.hint"),
                field="name",
            )
        names = [new if name == old else name for name in self._connections]
        self._connections = dict(zip(names, self._connections.values(), strict=True))
        self._paused = [new if name == old else name for name in self._paused]
        self._emit(ServerRemoved(old))
        self._emit(ServerAdded(new))
        connection.apply(renamed(connection.spec, new))

    async def delete_server(self, name: str) -> None:
        """End a server and forget it. An unknown one is fine."""
        connection = self._connections.get(name)
        if connection is None:
            return
        connection.disown()
        del self._connections[name]
        self._forget_pause(name)
        self._emit(ServerRemoved(name))
        await self._end(connection)

    async def set_server_active(self, name: str, on: bool, *, wait: bool = True) -> None:
        """Switch a server on (it starts) or off (it ends).

        Raises:
            NotFoundError: no such server.
        """
        connection = self._connection(name)
        connection.apply(replace(connection.spec, enabled=on))
        if on:
            await self._start_if_due(connection, wait)
        else:
            self._forget_pause(name)
            await connection.stop()

    async def start(self, name: str, *, wait: bool = True) -> None:
        """Start a server for this run, or try again at once; also one that is switched off or was given up.

        Raises:
            NotFoundError: no such server.
        """
        connection = self._connection(name)
        if not self._over:
            connection.start()
        if wait:
            await connection.settled()

    async def stop(self, name: str) -> None:
        """End a server for this run; its settings stay.

        Raises:
            NotFoundError: no such server.
        """
        await self._connection(name).stop()

    async def restart(self, name: str, *, wait: bool = True) -> None:
        """End a server and start it again.

        Raises:
            NotFoundError: no such server.
        """
        connection = self._connection(name)
        if not self._over:
            connection.restart()
        if wait:
            await connection.settled()

    async def pause_all(self) -> None:
        """Stop every server that runs, for this run, and remember which; `resume` starts those again."""
        running = [name for name, connection in self._connections.items() if connection.wanted]
        self._paused += [name for name in running if name not in self._paused]
        await asyncio.gather(*(self._connections[name].stop() for name in running))

    async def resume(self) -> None:
        """Start what `pause_all` stopped."""
        paused, self._paused = self._paused, []
        for name in paused:
            if name in self._connections:
                self._connections[name].start()

    @property
    def paused(self) -> bool:
        """Whether `pause_all` stopped servers that `resume` would start."""
        return bool(self._paused)

    async def check_server_status(self, spec: ServerSpec, *, secrets: Secrets | None = None) -> CheckReport:
        """Try a server's settings on a connection of their own; the running one is not disturbed.

        `secrets` stands in for the hub's, for values that are not saved yet.
        """
        ports = replace(self._ports, secrets=secrets or self._ports.secrets, memory=None, attempts=1)
        connection = Connection(spec, ports, lambda _event: None)
        if self._over:
            return CheckReport(connection.snapshot())
        self._checks.add(connection)
        connection.start()
        try:
            await connection.until(lambda state: state is not ServerState.CONNECTING)
            return CheckReport(connection.snapshot(), connection.tools, connection.prompts)
        finally:
            self._checks.discard(connection)
            await self._end(connection)

    async def cleanup(self) -> None:
        """End every server and every check: each process gone, each task ended, all STOPPED. Bounded in time.

        Nothing starts any more after that.
        """
        self._over = True
        if self._initialised is not None:
            await tasks.stop([self._initialised], within=CLEANUP_LIMIT)
        for connection in (*self._connections.values(), *self._checks):
            self._begin_to_end(connection)
        if self._ending:
            await asyncio.wait(self._ending, timeout=CLEANUP_LIMIT)

    # ---- what they offer
    async def list_tools(self, name: str | None = None, *, include_hidden: bool = False) -> list[ToolInfo]:
        """The tools of one server or of all that are ready, all pages; an unknown or failing server has none.

        `include_hidden` adds what the filters hold back.
        """
        return [t for c in self._chosen(name) for t in c.tools if include_hidden or t.visible]

    async def list_prompts(self, name: str | None = None, *, include_hidden: bool = False) -> list[PromptInfo]:
        """The prompts, as for `list_tools`."""
        return [p for c in self._chosen(name) for p in c.prompts if include_hidden or p.visible]

    async def list_resources(self, name: str | None = None) -> list[ResourceInfo]:
        """The resources and resource templates, as for `list_tools`."""
        return [r for c in self._chosen(name) for r in c.resources]

    async def call_tool(
        self,
        name: str,
        tool: str,
        arguments: Mapping[str, Any] | None = None,
        *,
        timeout: float | None = None,
        on_progress: ProgressFnT | None = None,
    ) -> ToolResult:
        """Call a tool. `timeout` in seconds; None means the server's own, else the default.

        Cancelling the caller's task tells the server. A result with `is_error` is the tool's own "no".

        Raises:
            NotFoundError: "MCP Client X not found", or no such tool.
            BlockedError: a filter holds the tool back.
            NotConnectedError, TimedOutError, ProtocolError, ConnectionLostError
        """
        connection = self._ready(name)
        info = next((t for t in connection.tools if t.name == tool), None)
        if info is None:
            raise NotFoundError(
                message("error.unknown_tool.title"),
                message("error.unknown_tool", server=name, tool=tool),
                message("error.unknown.hint"),
            )
        self._refuse_blocked(info)
        limit = timeout or connection.spec.timeout or self.default_timeout
        return await connection.calls.call_tool(tool, arguments or {}, timeout=limit, on_progress=on_progress)

    async def get_prompt(self, name: str, prompt: str, arguments: Mapping[str, str] | None = None) -> Mapping[str, Any]:
        """A prompt filled with arguments, as the server sent it; errors as for `call_tool`."""
        connection = self._ready(name)
        info = next((p for p in connection.prompts if p.name == prompt), None)
        if info is None:
            raise NotFoundError(
                message("error.unknown_prompt.title"),
                message("error.unknown_prompt", server=name, prompt=prompt),
                message("error.unknown.hint"),
            )
        self._refuse_blocked(info)
        sent = dict(arguments or {})
        return await self._dump(connection, f"{name}: {prompt}", lambda client: client.get_prompt_raw(prompt, sent))

    async def read_resource(self, name: str, uri: str) -> Mapping[str, Any]:
        """A resource's contents, as the server sent them; errors as for `call_tool`."""
        connection = self._ready(name)
        return await self._dump(connection, f"{name}: {uri}", lambda client: client.read_resource_raw(uri))

    async def complete(self, name: str, reference: Mapping[str, Any], argument: str, value: str) -> Mapping[str, Any]:
        """Suggestions for an argument of a prompt or resource template; `reference` is MCP's `ref` object."""
        connection = self._ready(name)
        return await self._dump(
            connection, f"{name}: completion", lambda client: client.complete_raw(reference, argument, value)
        )

    # ---- inside
    def _know(self, spec: ServerSpec, *, transient: bool = False) -> Connection:
        connection = Connection(spec, self._ports, self._emit, transient=transient)
        self._connections[spec.name] = connection
        return connection

    async def _start_all(self) -> None:
        if self._ports.memory is not None:
            await orphans.end_orphans(self._ports.memory)
        due = list(self._connections.values())
        await asyncio.gather(*(self._start_if_due(connection, True) for connection in due))

    async def _start_if_due(self, connection: Connection, wait: bool) -> None:
        if not connection.spec.enabled or connection.spec.unconfirmed or self._over:
            return
        connection.start()
        if wait:
            await connection.settled()

    async def _end(self, connection: Connection) -> None:
        """End a connection for good; also when the caller is cancelled."""
        await asyncio.shield(self._begin_to_end(connection))

    def _begin_to_end(self, connection: Connection) -> asyncio.Task[None]:
        ending = tasks.start(connection.close(), name=f"close {connection.spec.name}")
        self._ending.add(ending)
        ending.add_done_callback(self._ending.discard)
        return ending

    def _forget_pause(self, name: str) -> None:
        """Let `resume` leave a server alone that was switched off or deleted meanwhile."""
        if name in self._paused:
            self._paused.remove(name)

    async def _dump(self, connection: Connection, what: str, send: Callable[[Any], Any]) -> Mapping[str, Any]:
        limit = connection.spec.timeout or self.default_timeout

        async def bounded(client: Any) -> Any:
            async with asyncio.timeout(limit):
                return await send(client)

        result = await connection.calls.request(what, bounded, limit)
        return result if isinstance(result, dict) else result.model_dump(mode="json", by_alias=True, exclude_none=True)

    def _connection(self, name: str) -> Connection:
        connection = self._connections.get(name)
        if connection is None:
            raise failures.unknown_server(name)
        return connection

    def _ready(self, name: str) -> Connection:
        connection = self._connection(name)
        if connection.state is not ServerState.READY:
            raise failures.not_connected(name, connection.state)
        return connection

    def _chosen(self, name: str | None) -> list[Connection]:
        if name is None:
            return list(self._connections.values())
        connection = self._connections.get(name)
        return [connection] if connection else []

    def _refuse_blocked(self, info: ToolInfo | PromptInfo) -> None:
        if not info.visible:
            raise BlockedError(
                message("error.blocked.title"),
                message("error.blocked", name=info.name, rule=info.decided_by, server=info.server),
                message("error.blocked.hint"),
            )

    def _emit(self, event: Event) -> None:
        for listener in tuple(self._listeners):
            try:
                listener(event)
            except Exception:
                log.exception("a listener failed on %s", type(event).__name__)
