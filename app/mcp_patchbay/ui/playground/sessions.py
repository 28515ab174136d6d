"""What the playground remembers of each tool while it is there."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from mcp_patchbay.domain.catalog import ToolInfo, ToolResult
from mcp_patchbay.domain.json_text import json_text
from mcp_patchbay.stores.history import PastCall
from mcp_patchbay.ui.playground.failure import CallEnd, failure_note

if TYPE_CHECKING:
    from mcp_patchbay.ui.playground.call import RunningCall


@dataclass(slots=True)
class ToolSession:
    """One tool: its arguments as raw JSON (None: a fresh form), the call under way, and how the last one ended.

    `info` is what its server says of it now; None while the server is not ready or no longer has the tool.
    """

    server: str
    tool: str
    info: ToolInfo | None = None
    text: str | None = None
    call: RunningCall | None = None
    end: CallEnd | None = None

    @property
    def schema(self) -> Any:
        """The tool's inputSchema, or None when it is not known now."""
        return None if self.info is None else self.info.input_schema

    def recall(self, past: PastCall) -> None:
        """Bring back a call from the history: its arguments and, unless a call is under way, its end."""
        self.text = json_text(past.arguments, indent=2)
        if self.call is None:
            result = None if past.result is None else ToolResult(past.result, past.seconds)
            self.end = CallEnd(past.arguments, past.seconds, result, past=past.outcome, note=past.note)


def past_call(session: ToolSession, began_at: float, end: CallEnd) -> PastCall:
    """An ended call as the history keeps it."""
    return PastCall(
        at=began_at,
        server=session.server,
        tool=session.tool,
        arguments=end.arguments,
        outcome=end.outcome,
        seconds=end.seconds,
        note=failure_note(end),
        result=None if end.result is None else dict(end.result.raw),
    )
