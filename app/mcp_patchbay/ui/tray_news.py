"""What the tray has to tell: a server that fails, needs a sign-in, or is well again. Each thing once."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

from mcp_patchbay.domain.state import ServerState, Snapshot

if TYPE_CHECKING:
    from collections.abc import Iterable

Trouble = Literal["failed", "needs_auth"]
TROUBLES: dict[ServerState, Trouble] = {ServerState.FAILED: "failed", ServerState.NEEDS_AUTH: "needs_auth"}


@dataclass(frozen=True, slots=True)
class News:
    """A server that got into trouble, or (`trouble` is None) out of it."""

    snapshot: Snapshot
    trouble: Trouble | None


class NewsDesk:
    """Remembers what was told of each server.

    A server in trouble stays so while it is tried again; it is out of it when it is ready, or (silently) when it is
    stopped, switched off or deleted.
    """

    def __init__(self) -> None:
        self._told: dict[str, Trouble] = {}

    def hear(self, snapshots: Iterable[Snapshot]) -> list[News]:
        """What is new in the present state of all servers."""
        news = []
        present = list(snapshots)
        known = {snapshot.name for snapshot in present}
        self._told = {name: trouble for name, trouble in self._told.items() if name in known}
        for snapshot in present:
            before = self._told.get(snapshot.name)
            trouble = TROUBLES.get(snapshot.state)
            if trouble is not None and trouble != before:
                self._told[snapshot.name] = trouble
                news.append(News(snapshot, trouble))
            elif snapshot.state is ServerState.READY and before is not None:
                del self._told[snapshot.name]
                news.append(News(snapshot, None))
            elif snapshot.health.level == "off":
                self._told.pop(snapshot.name, None)
        return news
