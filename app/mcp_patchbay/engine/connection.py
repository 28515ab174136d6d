"""One server's connection: its owner task, its state, and the calls that go through it."""

from __future__ import annotations

import asyncio
import logging
from contextlib import AsyncExitStack, suppress
from dataclasses import replace
from typing import TYPE_CHECKING

from mcp_patchbay.domain.catalog import PromptInfo, ResourceInfo, ToolInfo, prompt_infos, tool_infos
from mcp_patchbay.domain.events import (
    Event,
    ServerError,
    ServerStarted,
    ServerStopped,
    StateChanged,
    ToolsChanged,
)
from mcp_patchbay.domain.servers import InvalidServer, ServerSpec
from mcp_patchbay.domain.state import ServerState, Snapshot, Step
from mcp_patchbay.engine import failures, tasks, transitions
from mcp_patchbay.engine.calls import Calls
from mcp_patchbay.engine.eras import forget_era
from mcp_patchbay.engine.opening import Opening, Ports
from mcp_patchbay.engine.recorder import Recorder
from mcp_patchbay.engine.transitions import Broke, Connected, Ended, Expired, PauseOver, Proved, Unwanted, Wanted

if TYPE_CHECKING:
    from collections.abc import Callable

    from mcp_patchbay.domain.errors import PatchbayError
    from mcp_patchbay.engine.opened import Opened

log = logging.getLogger(__name__)

PING_EVERY = 30.0
PING_LIMIT = 10.0
CLOSE_LIMIT = 10.0
REFUSALS_WAIT = 2.0
RELIST_PAUSES = (0.25, 1.0, 3.0)
"""Seconds: how often an idle server is asked for a sign of life, how long it may take, how long closing may take, how
long a forgotten session is kept so that all calls on it can be refused, and how long to wait between two listings when
list_changed keeps coming."""
REST_STATES = frozenset({ServerState.STOPPED, ServerState.DISABLED})
MOVING_STATES = frozenset({ServerState.CONNECTING, ServerState.STOPPING})
LIVE_STATES = MOVING_STATES | {ServerState.READY}


class Connection:
    """Everything about one server. Its owner task alone opens, serves and closes sessions."""

    def __init__(
        self, spec: ServerSpec, ports: Ports, emit: Callable[[Event], None], *, transient: bool = False
    ) -> None:
        self.spec = spec
        self.transient = transient
        self.position = transitions.Position(ServerState.STOPPED if spec.enabled else ServerState.DISABLED)
        self.recorder = Recorder(lambda: self.spec.name, emit, ports.clock)
        self.calls = Calls(self)
        self._ports = ports
        self._emit = emit
        self._dies_in_both_eras = False
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
            pid=opening.pid if opening and self.state in LIVE_STATES else None,
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
            latencies=tuple(self.calls.latencies),
            calls=self.calls.total,
            errors=self.calls.failed,
            connect_ms=self._connect_ms,
        )

    def now(self) -> float:
        """Unix time."""
        return self._ports.clock.time()

    @property
    def wanted(self) -> bool:
        """Whether it is to run: it does, is on its way there, or tried and failed."""
        return self._wanted

    # ---- what others ask for
    def start(self) -> None:
        """Want it to run; a retry that is due later happens now."""
        if isinstance(self.spec.target, InvalidServer) or self._closing:
            return
        self._wanted = True
        if self._owner is None or self._owner.done():
            self._owner = tasks.start(self._own(), name=f"server {self.spec.name}")
        self._feed(Wanted())

    async def stop(self) -> None:
        """Want it to end, and wait until its process is gone. DISABLED when the settings say so, else STOPPED."""
        self._wanted = False
        self._feed(Unwanted(not self.spec.enabled))
        await self._idle.wait()
        await self.until(lambda state: state is not ServerState.STOPPING)

    def restart(self) -> None:
        """Want it to end and then to run again, with the settings that it has by then."""
        self._wanted = False
        self._feed(Unwanted(not self.spec.enabled))
        self.start()

    def disown(self) -> None:
        """Want it to end for good. It says so, and then nothing any more: its name may be another's soon."""
        self._closing, self._wanted = True, False
        self._feed(Unwanted(not self.spec.enabled))
        self._emit = _to_nobody
        self.recorder.close()

    async def close(self) -> None:
        """Stop it for good, and end the owner task. Bounded by the time that ending its processes may take."""
        self._closing = True
        with suppress(TimeoutError):
            async with asyncio.timeout(2 * CLOSE_LIMIT):
                await self.stop()
        self._wake.set()
        if (owner := self._owner) is not None:
            done, _ = await asyncio.wait([owner], timeout=CLOSE_LIMIT)
            if not done:
                await tasks.stop([owner], within=CLOSE_LIMIT)
        if self._publishing is not None:
            self._publishing.cancel()
        self.recorder.close()

    def apply(self, spec: ServerSpec) -> None:
        """Take new settings that need no new connection: name, filters, time limits, description."""
        renamed, filtered = spec.name != self.spec.name, spec.filters != self.spec.filters
        self.spec = spec
        if renamed and self._opening is not None:
            self._opening.rename(spec.name)
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

    # ---- the owner task
    async def _own(self) -> None:
        while not self._closing or self.state not in REST_STATES:
            if self.state is ServerState.CONNECTING:
                await self._session()
            elif self.state is ServerState.STOPPING:
                self._feed(Ended(not self.spec.enabled))
                if self._wanted:
                    self._feed(Wanted())
            else:
                await self._rest()

    async def _rest(self) -> None:
        """Wait until something happens, or the next try is due."""
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
        self._opening = opening = self._new_opening()
        interrupted = False
        try:
            async with asyncio.timeout(None) as closing, AsyncExitStack() as stack:
                try:
                    await self._open(opening, stack)
                    await self._serve(opening)
                except asyncio.CancelledError:
                    interrupted = True
                    raise
                except BaseException as raised:
                    self._broke(raised, opening)
                finally:
                    closing.reschedule(asyncio.get_running_loop().time() + CLOSE_LIMIT)
        except asyncio.CancelledError:
            raise
        except BaseException as raised:
            if interrupted:  # by a task of the session itself, which failed
                self._broke(raised, opening)
            log.debug("closing %s: %r", self.spec.name, raised)
        finally:
            self._opened = None
            opening.ended()
            self._idle.set()

    def _new_opening(self) -> Opening:
        if self.position.attempt == 1:
            self._dies_in_both_eras = False
        mode = ""
        if self._dies_in_both_eras:
            # What it would be needs one process, not two: a crash is no reason to start everything twice each time.
            mode = "auto" if self.position.attempt % 2 else "legacy"
        return Opening(
            self.spec,
            self._ports,
            self.recorder,
            on_moved=self._on_opening_moved,
            on_lost=self._on_session_lost,
            on_list_changed=self._stale.set,
            single_mode=mode,
        )

    async def _open(self, opening: Opening, stack: AsyncExitStack) -> None:
        opened = await opening.open(stack)
        if self.state is not ServerState.CONNECTING:
            return
        if opening.lost is not None:  # while the last list was being read
            raise opening.lost
        self._connect_ms = opening.seconds * 1000
        self._opened = opened
        self._take_lists(opened)
        self._feed(Connected())

    async def _serve(self, opening: Opening) -> None:
        opened = self._opened
        if opened is None:
            return
        name = self.spec.name
        children = [
            tasks.start(self._relist(opened), name=f"lists of {name}"),
            tasks.start(self._ping(opened, opening), name=f"pings of {name}"),
            *(tasks.start(work, name=f"watch {name}") for work in opened.background()),
        ]
        try:
            while self.state is ServerState.READY:
                await self._wake.wait()
                self._wake.clear()
            if self.state is ServerState.CONNECTING:
                await opened.quiet(REFUSALS_WAIT)
        finally:
            await tasks.stop(children, within=CLOSE_LIMIT)

    async def _ping(self, opened: Opened, opening: Opening) -> None:
        """Ask for a sign of life now and then; silence is the end of the connection."""
        never = asyncio.Event()
        while True:
            await self._ports.clock.wait(never, PING_EVERY)
            if self.calls.running:  # a server that works on a call may be too busy to answer
                continue
            try:
                await opened.ping(PING_LIMIT)
            except Exception as raised:
                if self.state is ServerState.READY:
                    self._lose(Broke(failures.describe(raised, f"{self.spec.name}: ping", opening, PING_LIMIT)))
                return
            self._feed(Proved())
            self._publish()

    async def _relist(self, opened: Opened) -> None:
        """List anew when the server says that something changed; bursts are merged, storms slowed down."""
        clock = asyncio.get_running_loop().time
        pauses, rested = iter(RELIST_PAUSES), clock()
        while True:
            await self._stale.wait()
            if clock() - rested > RELIST_PAUSES[-1]:
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
            rested = clock()

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

    def _broke(self, raised: BaseException, opening: Opening) -> None:
        """The session failed, unless it was being ended anyway."""
        self._dies_in_both_eras |= opening.died_in_both_eras
        if self.state in (ServerState.CONNECTING, ServerState.READY):
            self._lose(Broke(failures.describe(raised, self.spec.name, opening, opening.limit)))

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

    def on_expired(self, opened: Opened) -> None:
        """A request was refused: the server has forgotten this session."""
        if opened is self.opened:
            self._lose(Expired())

    def _on_opening_moved(self, opening: Opening) -> None:
        if opening is self._opening:
            self._steps = opening.steps()
            self.publish_soon()

    def tell(self, event: Event) -> None:
        """Let the listeners hear it."""
        self._emit(event)

    def _publish(self) -> None:
        self._emit(StateChanged(self.snapshot()))

    def publish_soon(self) -> None:
        """For what changes often, such as call counts and a download's progress."""
        if self._publishing is None and not self._closing:
            self._publishing = asyncio.get_running_loop().call_later(0.05, self._publish_now)

    def _publish_now(self) -> None:
        self._publishing = None
        self._publish()


def _to_nobody(_event: Event) -> None:
    """What a deleted server still has to say."""
