"""How a server's state follows from what happens to it. Pure: (position, input) -> (position, action)."""

from __future__ import annotations

from dataclasses import dataclass, replace

from mcp_patchbay.domain.errors import AuthError, ConfigError, LaunchError, PatchbayError, SecretError
from mcp_patchbay.domain.state import ServerState

MAX_ATTEMPTS = 8
"""Starts in a row before a server is given up. A manual start counts anew."""
FIRST_PAUSE = 1.0
LONGEST_PAUSE = 60.0
"""Seconds of the first and the longest pause between two tries, before jitter."""

LASTING = (ConfigError, LaunchError, SecretError)
"""Errors that another try cannot mend: something on this machine must change first."""


@dataclass(frozen=True, slots=True)
class Position:
    """Where a server is: its state, how many starts in a row were made, and why it is not well."""

    state: ServerState = ServerState.STOPPED
    attempt: int = 0
    error: PatchbayError | None = None


# --- inputs
@dataclass(frozen=True, slots=True)
class Wanted:
    """Someone wants the server to run: at the hub's start, by Start, Retry or the switch."""


@dataclass(frozen=True, slots=True)
class Unwanted:
    """Someone wants it to end: for this run (Stop), or switched off (`disabled`)."""

    disabled: bool = False


@dataclass(frozen=True, slots=True)
class Connected:
    """The handshake and the first lists are done."""


@dataclass(frozen=True, slots=True)
class Proved:
    """The connection has held long enough to trust it."""


@dataclass(frozen=True, slots=True)
class Broke:
    """A try failed, or a ready connection was lost."""

    error: PatchbayError


@dataclass(frozen=True, slots=True)
class Expired:
    """The server forgot our session (HTTP 404): all that is needed is a new one."""


@dataclass(frozen=True, slots=True)
class PauseOver:
    """The pause before the next try has passed."""


@dataclass(frozen=True, slots=True)
class Ended:
    """Session closed, process gone."""

    disabled: bool = False


Input = Wanted | Unwanted | Connected | Proved | Broke | Expired | PauseOver | Ended


# --- actions
@dataclass(frozen=True, slots=True)
class Nothing:
    """There is nothing to do."""


@dataclass(frozen=True, slots=True)
class Connect:
    """Open a connection."""


@dataclass(frozen=True, slots=True)
class Disconnect:
    """Close the connection; say `Ended` when it is closed."""


@dataclass(frozen=True, slots=True)
class Pause:
    """Wait that many seconds (before jitter), then say `PauseOver`."""

    seconds: float


Action = Nothing | Connect | Disconnect | Pause

BUSY = (ServerState.CONNECTING, ServerState.READY, ServerState.STOPPING)


def advance(position: Position, happened: Input, attempts: int = MAX_ATTEMPTS) -> tuple[Position, Action]:
    """The next position, and what is to be done now. `attempts` is how many starts in a row are made at most."""
    state = position.state
    match happened:
        case Wanted() if state not in BUSY:
            return Position(ServerState.CONNECTING, attempt=1), Connect()
        case Unwanted() if state in (ServerState.CONNECTING, ServerState.READY):
            return Position(ServerState.STOPPING), Disconnect()
        case Unwanted(disabled) if state is not ServerState.STOPPING:
            return _resting(disabled), Nothing()
        case Ended(disabled):
            return _resting(disabled), Nothing()
        case Connected() if state is ServerState.CONNECTING:
            return replace(position, state=ServerState.READY, error=None), Nothing()
        case Proved() if state is ServerState.READY:
            return replace(position, attempt=0), Nothing()
        case Expired() if state is ServerState.READY:
            return Position(ServerState.CONNECTING, attempt=position.attempt + 1), Connect()
        case Broke(error) if state in (ServerState.CONNECTING, ServerState.READY):
            return _broken(position, error, attempts)
        case PauseOver() if state is ServerState.RETRYING:
            return replace(position, state=ServerState.CONNECTING, attempt=position.attempt + 1), Connect()
    return position, Nothing()


def pause_after(attempt: int) -> float:
    """Seconds to wait after that many starts in a row, before jitter: doubling, up to `LONGEST_PAUSE`."""
    return float(min(LONGEST_PAUSE, FIRST_PAUSE * 2 ** max(0, attempt - 1)))


def _broken(position: Position, error: PatchbayError, attempts: int) -> tuple[Position, Action]:
    if isinstance(error, AuthError):
        return Position(ServerState.NEEDS_AUTH, position.attempt, error), Nothing()
    if isinstance(error, LASTING) or position.attempt >= attempts:
        return Position(ServerState.FAILED, position.attempt, error), Nothing()
    return Position(ServerState.RETRYING, position.attempt, error), Pause(pause_after(position.attempt))


def _resting(disabled: bool) -> Position:
    return Position(ServerState.DISABLED if disabled else ServerState.STOPPED)
