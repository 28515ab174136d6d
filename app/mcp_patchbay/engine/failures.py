"""What an exception from a connection means for a person."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Literal, Protocol

from mcp.shared.exceptions import MCPError
from mcp_types import REQUEST_TIMEOUT

from mcp_patchbay.domain.errors import (
    ConnectionLostError,
    LaunchError,
    NotConnectedError,
    NotFoundError,
    PatchbayError,
    ProtocolError,
    TimedOutError,
)
from mcp_patchbay.domain.messages import message
from mcp_patchbay.engine.session import no_answer

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from mcp_patchbay.domain.state import ServerState


LAST_LINES = 40
"""Lines of stderr among which the reason of an exit is looked for."""
_REASON = re.compile(rb"^\W*[\w.]*(error|exception|fatal|panic)\b", re.IGNORECASE)


class SessionExpired(Exception):  # noqa: N818 - a signal between two layers of ours, never seen outside
    """The server forgot our session, so the request was not carried out. Holds the error for people."""

    def __init__(self, error: PatchbayError) -> None:
        super().__init__(error)
        self.error = error


class Explainer(Protocol):
    """A connection that knows more than its exceptions do."""

    def explain(self, causes: list[BaseException], limit: float | None) -> PatchbayError | None: ...


def describe(
    raised: BaseException, what: str, opening: Explainer | None = None, limit: float | None = None
) -> PatchbayError:
    """Put an exception into words.

    Args:
        raised: what came out of the SDK, a transport or our own code; groups are looked into.
        what: what was being done, such as "files: read_file".
        opening: the connection it happened on, whose process and output say more.
        limit: the limit in seconds that applied.
    """
    causes = list(_leaves(raised))
    for cause in causes:
        if isinstance(cause, PatchbayError):
            return cause
    if opening is not None and (error := opening.explain(causes, limit)) is not None:
        return error
    cause = causes[0]
    if isinstance(cause, TimeoutError) or _is_timeout(cause):
        return timed_out(what, limit)
    if isinstance(cause, MCPError):
        if no_answer(cause):
            return connection_closed()
        return ProtocolError(
            message("error.protocol.title"),
            message("error.protocol", message=cause.message, code=cause.code),
            message("error.protocol.hint"),
            code=cause.code,
            data=cause.data,
        )
    return PatchbayError(
        message("error.crash.title"),
        message("error.crash", reason=f"{type(cause).__name__}: {cause}".rstrip(": ")),
        message("error.crash.hint"),
    )


def connection_closed() -> ConnectionLostError:
    """The peer closed the connection, and nothing says why."""
    return ConnectionLostError(message("error.closed.title"), message("error.closed"), message("error.closed.hint"))


def process_exited(code: int | None, last_words: str) -> ConnectionLostError:
    """The server's process ended. `last_words` is its last line on stderr, or empty."""
    key = "error.exited_said" if last_words else "error.exited"
    return ConnectionLostError(
        message("error.exited.title"), message(key, code=code, line=last_words), message("error.exited.hint")
    )


def not_started(command: str, cause: BaseException) -> LaunchError:
    """The system refused to start the command. The cause's own text may hold arguments, so only its reason is said."""
    reason = getattr(cause, "strerror", None) or type(cause).__name__
    return LaunchError(
        message("error.spawn.title"),
        message("error.spawn", command=command, reason=reason),
        message("error.spawn.hint"),
    )


def not_mcp(limit: float, line: str) -> TimedOutError:
    """It wrote something, but nothing that is MCP. `line` is what it wrote first."""
    return TimedOutError(
        message("error.not_mcp.title"),
        message("error.not_mcp", seconds=limit, line=line),
        message("error.not_mcp.hint"),
    )


def silent(limit: float) -> TimedOutError:
    """It wrote nothing within the connect limit."""
    return TimedOutError(
        message("error.timeout.title"), message("error.silent", seconds=limit), message("error.silent.hint")
    )


_NPM = re.compile(rb"npm (?:error|ERR!) (?!code\b|errno\b|syscall\b|path\b)\S")


def last_words(lines: Sequence[bytes]) -> bytes:
    """The line that says most about why a process ended: the last one that names an error, else the last one.

    Node writes its stack and its version after the error, so that its very last line says nothing; npm says the reason
    first and advice after it.
    """
    if (from_npm := next((line for line in lines if _NPM.match(line)), None)) is not None:
        return from_npm
    return next((line for line in reversed(lines) if _REASON.match(line)), lines[-1] if lines else b"")


def timed_out(what: str, limit: float | None) -> TimedOutError:
    """No answer within the limit."""
    return TimedOutError(
        message("error.timeout.title"),
        message("error.timeout", what=what, seconds=limit or 0.0),
        message("error.timeout.hint"),
    )


def not_connected(name: str, state: ServerState) -> NotConnectedError:
    """There is no connection to call through."""
    return NotConnectedError(
        message("error.not_connected.title"),
        message("error.not_connected", name=name, state=state.value),
        message("error.not_connected.hint"),
    )


def unknown_server(name: str) -> NotFoundError:
    """There is no server of that name."""
    return NotFoundError(
        message("error.unknown_server.title"),
        message("error.unknown_server", name=name),
        message("error.unknown_server.hint"),
    )


def call_outcome(error: PatchbayError) -> Literal["timeout", "error"]:
    """How a failed call is counted."""
    return "timeout" if isinstance(error, TimedOutError) else "error"


def _leaves(raised: BaseException) -> Iterator[BaseException]:
    if isinstance(raised, BaseExceptionGroup):
        for inner in raised.exceptions:
            yield from _leaves(inner)
    elif isinstance(raised, SessionExpired):
        yield raised.error
    else:
        yield raised


def _is_timeout(cause: BaseException) -> bool:
    return isinstance(cause, MCPError) and cause.code == REQUEST_TIMEOUT and no_answer(cause)
