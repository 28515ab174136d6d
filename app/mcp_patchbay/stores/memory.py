"""Small facts that survive a restart: `state.json` in the user's state folder."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from mcp_patchbay.stores.json_file import WRITE_DELAY, JsonFile

if TYPE_CHECKING:
    from pathlib import Path


class StateFile:
    """`domain.ports.Memory` on a file. Safe from any thread; a fact is written within half a second, by a thread."""

    def __init__(self, path: Path, delay: float = WRITE_DELAY) -> None:
        self._file = JsonFile(path, delay)

    def recall(self, topic: str, key: str) -> Any:
        """What was remembered, or None."""
        return self._file.get(topic, key)

    def remember(self, topic: str, key: str, value: Any) -> None:
        """Keep a JSON value; None forgets it."""
        self._file.put(topic, key, value=value)

    def topic(self, topic: str) -> dict[str, Any]:
        """Everything that is remembered of a topic, by key."""
        facts = self._file.get(topic)
        return dict(facts) if isinstance(facts, dict) else {}

    async def close(self) -> None:
        """Write what is not yet written."""
        await self._file.close()
