"""How a call ended, told so that one kind of failure is not taken for another."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from PySide6.QtCore import QCoreApplication

from mcp_patchbay.domain.errors import (
    BlockedError,
    ConnectionLostError,
    NetworkError,
    NotConnectedError,
    PatchbayError,
    ProtocolError,
    TimedOutError,
)
from mcp_patchbay.ui.texts import milliseconds, text_of

if TYPE_CHECKING:
    from mcp_patchbay.domain.catalog import ToolResult
    from mcp_patchbay.stores.history import Outcome


tr = QCoreApplication.translate


@dataclass(frozen=True, slots=True)
class CallEnd:
    """How one call ended: a result (which may be the tool's own "no"), an error, or neither when it was cancelled.

    `past` and `note` are set for a call from the history, of which not everything was kept.
    """

    arguments: dict[str, Any] = field(repr=False)
    seconds: float
    result: ToolResult | None = field(default=None, repr=False)
    error: Exception | None = None
    past: Outcome | None = None
    note: str = ""

    @property
    def outcome(self) -> Outcome:
        """The kind of its end, as the history keeps it."""
        if self.past is not None:
            return self.past
        if self.result is not None:
            return "tool_error" if self.result.is_error else "ok"
        return "cancelled" if self.error is None else failure_kind(self.error)


@dataclass(frozen=True, slots=True)
class EndWords:
    """What is said of an end: icon, its colour's role, and a few words."""

    icon: str
    role: str
    text: str


def failure_kind(error: Exception) -> Outcome:
    """Which kind of failure an error is."""
    if isinstance(error, TimedOutError):
        return "timeout"
    if isinstance(error, ProtocolError):
        return "protocol"
    if isinstance(error, BlockedError):
        return "blocked"
    if isinstance(error, NotConnectedError | ConnectionLostError | NetworkError):
        return "not_connected"
    return "failed"


def end_words(outcome: Outcome, seconds: float) -> EndWords:
    """The line above a result."""
    took = milliseconds(seconds * 1000)
    icon, role = END_ICONS[outcome]
    text = {
        "ok": tr("CallEnd", "Done in {0}"),
        "tool_error": tr("CallEnd", "The tool said no, after {0}"),
        "protocol": tr("CallEnd", "Protocol error, after {0}"),
        "timeout": tr("CallEnd", "Timed out, after {0}"),
        "not_connected": tr("CallEnd", "Not connected"),
        "blocked": tr("CallEnd", "Blocked"),
        "cancelled": tr("CallEnd", "Cancelled after {0}"),
        "failed": tr("CallEnd", "Failed"),
    }[outcome]
    return EndWords(icon, role, text.format(took))


END_ICONS: dict[Outcome, tuple[str, str]] = {
    "ok": ("circle-check", "ok"),
    "tool_error": ("comment-slash", "error"),
    "protocol": ("triangle-exclamation", "error"),
    "timeout": ("hourglass-end", "error"),
    "not_connected": ("plug-circle-xmark", "error"),
    "blocked": ("ban", "dim"),
    "cancelled": ("circle-stop", "dim"),
    "failed": ("circle-xmark", "error"),
}


def failure_note(end: CallEnd) -> str:
    """A failed call in one or two words, for the history; "" for a call that went well."""
    if isinstance(end.error, ProtocolError):
        return str(end.error.code)
    if isinstance(end.error, NetworkError) and end.error.status is not None:
        return str(end.error.status)
    return outcome_note(end.outcome)


def outcome_note(outcome: Outcome) -> str:
    """An end other than a good one, in one or two words."""
    return {
        "tool_error": tr("CallEnd", "said no"),
        "protocol": tr("CallEnd", "error"),
        "timeout": tr("CallEnd", "timed out"),
        "not_connected": tr("CallEnd", "not connected"),
        "blocked": tr("CallEnd", "blocked"),
        "cancelled": tr("CallEnd", "cancelled"),
        "failed": tr("CallEnd", "failed"),
    }.get(outcome, "")


@dataclass(frozen=True, slots=True)
class FailureTexts:
    """What is said of a failure: what kind, what happened, and what would help."""

    title: str
    text: str
    hint: str


def failure_texts(end: CallEnd) -> FailureTexts:
    """The words for a call without a result."""
    error = end.error
    if end.past is not None:
        title = end_words(end.past, end.seconds).text
        kept = tr("CallEnd", "Its result was too large to keep. Run it again to see it.")
        return FailureTexts(title, end.note, kept if end.past in ("ok", "tool_error") else "")
    if error is None:
        told = tr("CallEnd", "You stopped the call, and the server was told so.")
        return FailureTexts(tr("CallEnd", "Cancelled"), told, "")
    if isinstance(error, PatchbayError):
        return FailureTexts(text_of(error.title), text_of(error.message), text_of(error.hint))
    return FailureTexts(
        tr("CallEnd", "Something went wrong in Patchbay"),
        type(error).__name__,
        tr("CallEnd", "The app's log has the details."),
    )


def error_json(error: Exception | None) -> Any:
    """The JSON-RPC error that the server sent; None for a failure that has none."""
    if not isinstance(error, ProtocolError):
        return None
    answer: dict[str, Any] = {"code": error.code, "message": error.message.args.get("message", text_of(error.message))}
    if error.data is not None:
        answer["data"] = error.data
    return {"error": answer}
