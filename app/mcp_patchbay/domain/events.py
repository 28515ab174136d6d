"""What the hub tells its listeners. Past-tense nouns; frozen, so that they can cross threads and queues."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from mcp_patchbay.domain.errors import PatchbayError
    from mcp_patchbay.domain.records import Call
    from mcp_patchbay.domain.state import Snapshot


@dataclass(frozen=True, slots=True)
class ServerAdded:
    """A server is known now; it may be switched off."""

    name: str


@dataclass(frozen=True, slots=True)
class ServerRemoved:
    """A server is gone from the hub."""

    name: str


@dataclass(frozen=True, slots=True)
class ServerStarted:
    """A server became ready. Once for each connection."""

    name: str


@dataclass(frozen=True, slots=True)
class ServerStopped:
    """A ready server's connection ended, on purpose or not. Once for each connection."""

    name: str


@dataclass(frozen=True, slots=True)
class ServerError:
    """A server could not connect, or lost its connection."""

    name: str
    error: PatchbayError


@dataclass(frozen=True, slots=True)
class StateChanged:
    """Something of a server's snapshot changed."""

    snapshot: Snapshot


@dataclass(frozen=True, slots=True)
class ToolsChanged:
    """What a server offers (tools, prompts or resources), or what its filters let through, changed."""

    name: str


@dataclass(frozen=True, slots=True)
class LogGrew:
    """A server's log has new lines; read them from its ring. Bursts are merged."""

    name: str


@dataclass(frozen=True, slots=True)
class TrafficGrew:
    """A server's traffic has new entries; read them from its ring. Bursts are merged."""

    name: str


@dataclass(frozen=True, slots=True)
class CallStarted:
    """A tool call is under way."""

    call: Call


@dataclass(frozen=True, slots=True)
class CallFinished:
    """A tool call ended, one way or another."""

    call: Call


Event = (
    ServerAdded
    | ServerRemoved
    | ServerStarted
    | ServerStopped
    | ServerError
    | StateChanged
    | ToolsChanged
    | LogGrew
    | TrafficGrew
    | CallStarted
    | CallFinished
)
