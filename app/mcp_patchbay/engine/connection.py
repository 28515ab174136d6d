"""One server's connection: its owner task, its state, and the calls that go through it."""

from __future__ import annotations

import asyncio
import itertools
import logging
from collections import deque
from contextlib import AsyncExitStack
from dataclasses import replace
from typing import TYPE_CHECKING, Any, TypeVar

from mcp_patchbay.domain.catalog import PromptInfo, ResourceInfo, ToolInfo, ToolResult, prompt_infos, tool_infos
from mcp_patchbay.domain.errors import PatchbayError
from mcp_patchbay.domain.events import (
    CallFinished,
    CallStarted,
    Event,
    ServerError,
    ServerStarted,
    ServerStopped,
    StateChanged,
    ToolsChanged,
)
from mcp_patchbay.domain.records import Call, Outcome
from mcp_patchbay.domain.servers import InvalidServer, ServerSpec
from mcp_patchbay.domain.state import ServerState, Snapshot, Step
from mcp_patchbay.engine import failures, tasks, transitions
from mcp_patchbay.engine.eras import forget_era
from mcp_patchbay.engine.opening import Opened, Opening, Ports
from mcp_patchbay.engine.recorder import Recorder
from mcp_patchbay.engine.transitions import Broke, Connected, Ended, Expired, PauseOver, Proved, Unwanted, Wanted

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Mapping

    from mcp.shared.dispatcher import ProgressFnT

log = logging.getLogger(__name__)
T = TypeVar("T")

PING_EVERY = 30.0
PING_LIMIT = 10.0
CLOSE_LIMIT = 10.0
RELIST_PAUSES = (0.25, 1.0, 3.0)
"""Seconds: how often an idle server is asked for a sign of life, how long it may take, how long closing may take, and
how long to wait between two listings when list_changed keeps coming."""
MAX_IN_FLIGHT = 64
LATENCIES_KEPT = 20
REST_STATES = frozenset({ServerState.STOPPED, ServerState.DISABLED})
MOVING_STATES = frozenset({ServerState.CONNECTING, ServerState.STOPPING})

_call_ids = itertools.count(1)


class Connection:
    """Everything about one server. Its owner task alone opens, serves and closes sessions."""

    def __init__(
        self, spec: ServerSpec, ports: Ports, emit: Callable[[Event], None], *, transient: bool = False
    ) -> None:
        self.spec = spec
        self.transient = transient
        self.position = transitions.Position(ServerState.STOPPED if spec.enabled else ServerState.DISABLED)
        self.recorder = Recorder(lambda: self.spec.name, emit, ports.clock)
        self._ports = ports
        self._emit = emit
        self._since = ports.clock.time()
        self._retry_at: float | None = None
        self._owner: asyncio.Task[None] | None = None
        self._wanted = False
        self._closing = False
        self._wake = asyncio.Event()
        self._moved = asyncio.Event()
        self._stale = asyncio.Event()
        self._idle = asyncio.Event()
        self._idle.set()
        self._opening: Opening | None = None
        self._opened: Opened | None = None
        self._steps: tuple[Step, ...] = ()
        self._connect_ms: float | None = None
        self._in_flight = asyncio.Semaphore(MAX_IN_FLIGHT)
        self._running_calls = 0
        self._calls = 0
        self._call_errors = 0
        self._latencies: deque[float] = deque(maxlen=LATENCIES_KEPT)
        self._publishing: asyncio.TimerHandle | None = None
        self._tools: tuple[ToolInfo, ...] = ()
        self._prompts: tuple[PromptInfo, ...] = ()
        self._resources: tuple[ResourceInfo, ...] = ()

    # ---- what others see
    @property
    def state(self) -> ServerState:
        return self.position.state

    @property
    def tools(self) -> tuple[ToolInfo, ...]:
        return self._tools if self.state is ServerState.READY else ()

    @property
    def prompts(self) -> tuple[PromptInfo, ...]:
        return self._prompts if self.state is ServerState.READY else ()

    @property
    def resources(self) -> tuple[ResourceInfo, ...]:
        return self._resources if self.state is ServerState.READY else ()

    @property
    def opened(self) -> Opened | None:
        """The open session's facts, while READY."""
        return self._opened if self.state is ServerState.READY else None

    def snapshot(self) -> Snapshot:
        opened, opening = self._opened, self._opening
        return Snapshot(
            spec=self.spec,
            state=self.state,
            since=self._since,
            error=self.position.error,
            attempt=self.position.attempt,
            attempts=self._ports.attempts,
            retry_at=self._retry_at,
            output=opening.last_output if opening and self.state is ServerState.CONNECTING else "",
            steps=self._steps,
            transient=self.transient,
            pid=opening.pid if opening else None,
            command=opening.command if opening else (),
            protocol=opened.protocol if opened else "",
            server_name=opened.server_name if opened else "",
            server_version=opened.server_version if opened else "",
            instructions=opened.instructions if opened else "",
            capabilities=opened.capabilities if opened else (),
            tools_visible=sum(tool.visible for tool in self.tools),
            tools_total=len(self.tools),
            prompts_visible=sum(prompt.visible for prompt in self.prompts),
            prompts_total=len(self.prompts),
            resources=sum(not resource.template for resource in self.resources),
            latencies=tuple(self._latencies),
            calls=self._calls,
            errors=self._call_errors,
            connect_ms=self._connect_ms,
        )

    # ---- what others ask for
    def start(self) -> None:
        """Want it to run; a retry that is due later happens now."""
        if isinstance(self.spec.target, InvalidServer) or self._closing:
            return
        self._wanted = True
        if self._owner is None:
            self._owner = tasks.start(self._own(), name=f"server {self.spec.name}")
        self._feed(Wanted())

    async def stop(self) -> None:
        """Want it to end, and wait until its process is gone. DISABLED when the settings say so, else STOPPED."""
        self._wanted = False
        self._feed(Unwanted(not self.spec.enabled))
        await self._idle.wait()
        await self.until(lambda state: state is not ServerState.STOPPING)

    async def restart(self) -> None:
        """Stop it, then want it to run."""
        await self.stop()
        self.start()

    async def close(self) -> None:
        """Stop it for good, and end the owner task. Bounded by the time that ending its processes may take."""
        self._closing = True
        await self.stop()
        self._wake.set()
        if self._owner is not None:
            done, _ = await asyncio.wait([self._owner], timeout=CLOSE_LIMIT)
            if not done:
                await tasks.stop([self._owner], within=CLOSE_LIMIT)
            self._owner = None
        if self._publishing is not None:
            self._publishing.cancel()
        self.recorder.close()

    def apply(self, spec: ServerSpec) -> None:
        """Take new settings that need no new connection: name, filters, time limits, description."""
        renamed, filtered = spec.name != self.spec.name, spec.filters != self.spec.filters
        self.spec = spec
        if renamed or filtered:
            self._tools = tool_infos(spec.name, [dict(tool.raw) for tool in self._tools], spec.filters.tools)
            self._prompts = prompt_infos(spec.name, [dict(p.raw) for p in self._prompts], spec.filters.prompts)
            self._resources = tuple(replace(resource, server=spec.name) for resource in self._resources)
            self._emit(ToolsChanged(spec.name))
        self._publish()

    async def settled(self) -> ServerState:
        """Wait until it is neither connecting nor stopping, and say what it is then."""
        return await self.until(lambda state: state not in MOVING_STATES)

    async def until(self, predicate: Callable[[ServerState], bool]) -> ServerState:
        """Wait until the state fulfils the predicate. The states' own limits bound it."""
        while not predicate(self.state):
            await self._moved.wait()
        return self.state

    # ---- calls
    async def call_tool(
        self, tool: str, arguments: Mapping[str, Any], *, timeout: float, on_progress: ProgressFnT | None
    ) -> ToolResult:
        """Call a tool whose name was checked. `timeout` is in seconds.

        Raises:
            TimedOutError, ProtocolError, ConnectionLostError, NotConnectedError
        """
        call = Call(next(_call_ids), self.spec.name, tool, self._ports.clock.time())
        clock = asyncio.get_running_loop().time
        self._emit(CallStarted(call))
        outcome: Outcome = "cancelled"
        began = clock()
        self._running_calls += 1
        try:
            async with self._in_flight:
                began = clock()
                raw, warnings = await self._call_once_or_renewed(tool, arguments, timeout, on_progress)
            result = ToolResult(raw, clock() - began, tuple(warnings))
            outcome = "tool_error" if result.is_error else "ok"
            self._latencies.append(result.seconds * 1000)
            return result
        except PatchbayError as error:
            outcome = failures.call_outcome(error)
            raise
        finally:
            self._running_calls -= 1
            self._calls += 1
            self._call_errors += outcome not in ("ok", "cancelled")
            self._emit(CallFinished(replace(call, seconds=clock() - began, outcome=outcome)))
            self._publish_soon()

    async def _call_once_or_renewed(
        self, tool: str, arguments: Mapping[str, Any], timeout: float, on_progress: ProgressFnT | None
    ) -> tuple[Mapping[str, Any], list[str]]:
        what = f"{self.spec.name}: {tool}"

        def send(opened: Opened) -> Awaitable[tuple[Mapping[str, Any], list[str]]]:
            return opened.client.call_tool_raw(tool, dict(arguments), timeout=timeout, on_progress=on_progress)

        try:
            return await self._request(what, send, timeout)
        except failures.SessionExpired:
            # The server forgot us and so never ran the call: once more in a new session, unseen by the caller.
            await self.settled()
        try:
            return await self._request(what, send, timeout)
        except failures.SessionExpired as twice:
            raise twice.error from None

    async def request(self, what: str, send: Callable[[Any], Awaitable[Any]], timeout: float | None = None) -> Any:
        """Send another request through the client (prompts, resources, completion); errors as for `call_tool`."""
        try:
            return await self._request(what, lambda opened: send(opened.client), timeout)
        except failures.SessionExpired as expired:
            raise expired.error from None

    async def _request(self, what: str, send: Callable[[Opened], Awaitable[T]], timeout: float | None) -> T:
        opened = self.opened
        if opened is None:
            raise failures.not_connected(self.spec.name, self.state)
        try:
            return await send(opened)
        except asyncio.CancelledError:
            raise
        except BaseException as raised:
            expired = opened.session_lost(raised)
            if expired and opened is self._opened:
                self._lose(Expired())
            error = failures.describe(raised, what, self._opening, timeout)
            raise (failures.SessionExpired(error) if expired else error) from None

    # ---- the owner task
    async def _own(self) -> None:
        while not self._closing or self.state not in REST_STATES:
            if self.state is ServerState.CONNECTING:
                await self._session()
                continue
            if self.state is ServerState.RETRYING and self._retry_at is not None:
                seconds = max(0.0, self._retry_at - self._ports.clock.time())
                if not await self._ports.clock.wait(self._wake, seconds):
                    self._feed(PauseOver())
            else:
                await self._wake.wait()
            self._wake.clear()

    async def _session(self) -> None:
        """One session from opening to closing. Ends with the position that follows from how it ended."""
        self._wake.clear()
        self._stale.clear()
        self._idle.clear()
        stack = AsyncExitStack()
        self._opening = opening = Opening(
            self.spec,
            self._ports,
            self.recorder,
            on_moved=self._on_opening_moved,
            on_lost=self._on_session_lost,
            on_list_changed=self._stale.set,
        )
        try:
            await self._open(opening, stack)
            await self._serve(opening)
        except asyncio.CancelledError:
            raise
        except BaseException as raised:
            if self.state in (ServerState.CONNECTING, ServerState.READY):
                self._lose(Broke(failures.describe(raised, self.spec.name, opening, opening.limit)))
        finally:
            self._opened = None
            await self._close(stack)
            opening.ended()
            self._idle.set()
        if self.state is ServerState.STOPPING:
            self._feed(Ended(not self.spec.enabled))
            if self._wanted:
                self._feed(Wanted())

    async def _open(self, opening: Opening, stack: AsyncExitStack) -> None:
        began = asyncio.get_running_loop().time()
        async with self._ports.gate.place():
            opened = await opening.open(stack)
        self._connect_ms = (asyncio.get_running_loop().time() - began) * 1000
        if self.state is not ServerState.CONNECTING:
            return
        self._opened = opened
        self._take_lists(opened)
        self._feed(Connected())

    async def _serve(self, opening: Opening) -> None:
        opened = self._opened
        if opened is None:
            return
        children = [tasks.start(self._relist(opened), name=f"lists of {self.spec.name}")]
        children += [tasks.start(work, name=f"watch {self.spec.name}") for work in opened.background()]
        try:
            while self.state is ServerState.READY:
                if await self._ports.clock.wait(self._wake, PING_EVERY):
                    self._wake.clear()
                elif not self._running_calls:  # a server that works on a call may be too busy to answer
                    await opened.ping(PING_LIMIT)
                    self._feed(Proved())
                    self._publish()
        finally:
            await tasks.stop(children, within=CLOSE_LIMIT)

    async def _relist(self, opened: Opened) -> None:
        """List anew when the server says that something changed; bursts are merged, storms slowed down."""
        pauses = iter(RELIST_PAUSES)
        while True:
            quiet = not self._stale.is_set()
            await self._stale.wait()
            if quiet:
                pauses = iter(RELIST_PAUSES)
            self._stale.clear()
            try:
                await opened.list_all()
            except Exception as error:
                self.recorder.note("warning", f"Could not list anew: {failures.describe(error, self.spec.name)}")
            else:
                self._take_lists(opened)
                self._emit(ToolsChanged(self.spec.name))
                self._publish()
            await asyncio.sleep(next(pauses, RELIST_PAUSES[-1]))

    async def _close(self, stack: AsyncExitStack) -> None:
        try:
            async with asyncio.timeout(CLOSE_LIMIT):
                await stack.aclose()
        except asyncio.CancelledError:
            raise
        except BaseException as error:  # closing tells us nothing that matters any more
            log.debug("closing %s: %r", self.spec.name, error)

    # ---- changes of state
    def _feed(self, happened: transitions.Input) -> None:
        before = self.position
        self.position, action = transitions.advance(before, happened, self._ports.attempts)
        if self.position == before:
            return
        if before.state is not self.position.state:
            self._since = self._ports.clock.time()
        self._retry_at = None
        match action:
            case transitions.Pause(seconds):
                self._retry_at = self._ports.clock.time() + self._ports.clock.jitter(seconds)
            case transitions.Disconnect() if self._opening is not None:
                self._opening.abort()
        self._tell(before)
        self._wake.set()
        moved, self._moved = self._moved, asyncio.Event()
        moved.set()

    def _tell(self, before: transitions.Position) -> None:
        name, state, error = self.spec.name, self.position.state, self.position.error
        if before.state is not state:
            self.recorder.note("info", f"{before.state.value} -> {state.value}")
        self._publish()
        if before.state is ServerState.READY and state is not ServerState.READY:
            self._emit(ServerStopped(name))
            self._emit(ToolsChanged(name))
        if error is not None and error is not before.error:
            self.recorder.note("error", str(error))
            self._emit(ServerError(name, error))
        if state is ServerState.READY and before.state is not ServerState.READY:
            self._emit(ServerStarted(name))
            self._emit(ToolsChanged(name))

    def _lose(self, how: Broke | Expired) -> None:
        if isinstance(how, Broke) and self._opening is not None:
            if self.state is ServerState.CONNECTING:
                forget_era(self._ports.memory, self.spec)
            self._opening.fail_step()
            self._steps = self._opening.steps()
        self._feed(how)

    def _take_lists(self, opened: Opened) -> None:
        name, filters = self.spec.name, self.spec.filters
        self._tools = tool_infos(name, opened.tools, filters.tools)
        self._prompts = prompt_infos(name, opened.prompts, filters.prompts)
        self._resources = tuple(
            [ResourceInfo(name, raw["uri"], raw) for raw in opened.resources]
            + [ResourceInfo(name, raw["uriTemplate"], raw, template=True) for raw in opened.resource_templates]
        )

    def _on_session_lost(self, error: PatchbayError) -> None:
        if self.state is ServerState.READY:
            self._lose(Broke(error))

    def _on_opening_moved(self, opening: Opening) -> None:
        if opening is self._opening:
            self._steps = opening.steps()
            self._publish_soon()

    def _publish(self) -> None:
        self._emit(StateChanged(self.snapshot()))

    def _publish_soon(self) -> None:
        """For what changes often, such as call counts and a download's progress."""
        if self._publishing is None and not self._closing:
            self._publishing = asyncio.get_running_loop().call_later(0.05, self._publish_now)

    def _publish_now(self) -> None:
        self._publishing = None
        self._publish()
