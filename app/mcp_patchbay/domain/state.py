"""What state a server is in, and what that means for its user."""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum
from typing import TYPE_CHECKING, Literal

from mcp_patchbay.domain.errors import ConfigError, LaunchError, PatchbayError
from mcp_patchbay.domain.messages import Message, message, plain
from mcp_patchbay.domain.servers import InvalidServer, ServerSpec

if TYPE_CHECKING:
    from mcp_patchbay.domain.catalog import PromptInfo, ToolInfo

Level = Literal["ok", "busy", "warning", "error", "off"]
Action = Literal["", "start", "retry", "sign_in", "edit", "install", "show_log"]
StepKind = Literal["done", "failed", "running", "open"]


class ServerState(Enum):
    """Where a server is in its life."""

    DISABLED = "disabled"
    """Switched off by its user (`enabled: false`), or an entry that cannot be used."""
    STOPPED = "stopped"
    """Not running for now: stopped by hand, not confirmed yet, or the hub is not started or was cleaned up."""
    CONNECTING = "connecting"
    """Being started: process or connection, handshake, first lists."""
    READY = "ready"
    """Connected; its tools can be called."""
    RETRYING = "retrying"
    """The connection failed or was lost; another try is due after a pause."""
    NEEDS_AUTH = "needs_auth"
    """The server wants a sign-in (HTTP 401 or 403). It is not tried again until its user acts."""
    FAILED = "failed"
    """Given up, with a reason. Start or Retry tries again."""
    STOPPING = "stopping"
    """Being ended: session closed, process tree going down."""


@dataclass(frozen=True, slots=True)
class Health:
    """What a state means for a person: a level, one line, more of it, and the one thing that would help."""

    level: Level
    summary: Message
    detail: Message | None = None
    action: Action = ""


@dataclass(frozen=True, slots=True)
class Step:
    """One step on the way to a connection, for the Overview and for checks. `note` is a detail such as a path."""

    kind: StepKind
    title: Message
    note: str = ""


@dataclass(frozen=True, slots=True)
class Snapshot:
    """All that is known of one server's connection at one moment. Times are Unix seconds, `latencies` milliseconds."""

    spec: ServerSpec
    state: ServerState
    since: float = 0.0
    error: PatchbayError | None = None
    attempt: int = 0
    attempts: int = 0
    retry_at: float | None = None
    output: str = ""
    """The last line the server wrote while it is connecting, such as a download's progress."""
    steps: tuple[Step, ...] = ()
    transient: bool = False
    """From `MCP_SERVERS`: there for this run only, never saved."""
    pid: int | None = None
    command: tuple[str, ...] = ()
    """The command as it was resolved, with its arguments; secrets are masked."""
    protocol: str = ""
    server_name: str = ""
    server_version: str = ""
    instructions: str = ""
    capabilities: tuple[str, ...] = ()
    tools_visible: int = 0
    tools_total: int = 0
    prompts_visible: int = 0
    prompts_total: int = 0
    resources: int = 0
    latencies: tuple[float, ...] = ()
    calls: int = 0
    errors: int = 0
    connect_ms: float | None = None

    @property
    def name(self) -> str:
        return self.spec.name

    @property
    def health(self) -> Health:
        return health_of(self)


@dataclass(frozen=True, slots=True)
class CheckReport:
    """What a check of a server found, on a connection of its own."""

    snapshot: Snapshot
    tools: tuple[ToolInfo, ...] = ()
    prompts: tuple[PromptInfo, ...] = ()

    @property
    def ok(self) -> bool:
        return self.snapshot.state is ServerState.READY


def health_of(snapshot: Snapshot) -> Health:
    """Say what a snapshot means for a person. A disabled server is never red; one that waits for sign-in is calm."""
    state, error = snapshot.state, snapshot.error
    detail = error.hint if error else None
    if isinstance(snapshot.spec.target, InvalidServer):
        problem = snapshot.spec.target.error
        return Health("off", problem.message, problem.hint, "edit")
    if state is ServerState.DISABLED:
        return Health("off", message("health.disabled"))
    if state is ServerState.STOPPED:
        if snapshot.spec.unconfirmed:
            return Health("off", message("health.unconfirmed"), plain(snapshot.spec.target.summary()), "start")
        return Health("off", message("health.stopped"), None, "start")
    if state is ServerState.CONNECTING:
        if snapshot.output:
            return Health("busy", message("health.connecting_output", line=snapshot.output))
        return Health("busy", message("health.connecting"))
    if state is ServerState.READY:
        return Health("ok", message("health.ready"))
    if state is ServerState.STOPPING:
        return Health("busy", message("health.stopping"))
    reason = str(error) if error else ""
    if state is ServerState.RETRYING:
        summary = message("health.retrying", reason=reason, attempt=snapshot.attempt, attempts=snapshot.attempts)
        return Health("warning", summary, detail, "retry")
    if state is ServerState.NEEDS_AUTH:
        return Health("warning", message("health.needs_auth"), error.message if error else None, "sign_in")
    action: Action = "retry"
    if isinstance(error, LaunchError):
        action = "install"
    elif isinstance(error, ConfigError):
        action = "edit"
    return Health("error", message("health.failed", reason=reason), detail, action)


LEVEL_ORDER: tuple[Level, ...] = ("off", "ok", "busy", "warning", "error")


def worst_level(snapshots: list[Snapshot]) -> Level:
    """The level that the tray shows: the worst of all servers; "off" when none is on."""
    return max((s.health.level for s in snapshots), key=LEVEL_ORDER.index, default="off")
