"""What the engine's tests share: hubs that are cleaned up, and ears for their events."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable
from typing import Any, TypeVar

import pytest

from mcp_patchbay.domain.events import Event, StateChanged
from mcp_patchbay.domain.servers import ServerSpec
from mcp_patchbay.domain.state import ServerState, Snapshot
from mcp_patchbay.engine.hub import ServerHub

E = TypeVar("E")


class Listener:
    """Keeps a hub's events, and waits for what they tell."""

    def __init__(self, hub: ServerHub) -> None:
        self.hub = hub
        self.events: list[Event] = []
        self._news = asyncio.Event()
        hub.subscribe(self._hear)

    def of(self, kind: type[E]) -> list[E]:
        return [event for event in self.events if isinstance(event, kind)]

    def states(self, name: str) -> list[ServerState]:
        """The states a server went through, each once."""
        passed: list[ServerState] = []
        for event in self.of(StateChanged):
            if event.snapshot.name == name and passed[-1:] != [event.snapshot.state]:
                passed.append(event.snapshot.state)
        return passed

    async def until(self, name: str, holds: Callable[[Snapshot], bool], limit: float = 30.0) -> Snapshot:
        """Wait until a server's snapshot fulfils the condition."""
        async with asyncio.timeout(limit):
            while not holds(snapshot := self.hub.snapshot(name)):
                self._news.clear()
                await self._news.wait()
        return snapshot

    def _hear(self, event: Event) -> None:
        self.events.append(event)
        self._news.set()


@pytest.fixture
async def hub() -> AsyncIterator[Callable[..., ServerHub]]:
    """Makes hubs and cleans them up."""
    made: list[ServerHub] = []

    def make(*specs: ServerSpec, **settings: Any) -> ServerHub:
        made.append(ServerHub(specs, **settings))
        return made[-1]

    yield make
    for one in made:
        await one.cleanup()
